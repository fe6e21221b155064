import { existsSync } from 'node:fs';
import { holdDataFolder } from '../../src/engine/process/data_folder.js';
import { SPEECH_PROGRAM } from '../../src/engine/speech/speech_process.js';
import { builtInFolders, transcriberOf } from '../../src/features/transcripts/engines/choose_engine.js';
import { installModel } from '../../src/features/transcripts/speech_models/install_model.js';
import {
  checkModelName,
  chooseModel,
  chosenFolders,
  chosenModel,
  installedModels,
  type ModelManifest,
  ModelRefused,
  modelProblem,
  modelsFolder,
  removeModel,
} from '../../src/features/transcripts/speech_models/installed_models.js';
import {
  BUILT_IN,
  CATALOGUE,
  type CatalogueModel,
  catalogueModel,
  SPEAKERS,
} from '../../src/features/transcripts/speech_models/model_catalogue.js';
import { proveModel } from '../../src/features/transcripts/speech_models/prove_model.js';
import { readSettings, type Settings } from '../../src/host/settings.js';
import { UserError } from '../user_error.js';
import type { CommandCall, CommandGroup, CommandRow, Told } from './command.js';
import { table } from './table.js';

const MEGABYTE = 1_000_000;
const PROGRESS_PERCENT = 10;
const RESTART = 'Restart the server, and it does so; with PROCESSES of 2 or more, SIGHUP is enough.';

const HEAD = ['NAME', 'LANGUAGES', 'DOWNLOAD', 'MEMORY', 'CPU', 'LICENCE', 'STATE'];
const BUILT_IN_ROW = [BUILT_IN, 'English', '27 MB', '400 MB', '0.09 s', 'MIT'];
const LIST_NOTES = [
  '',
  'CPU is for each second of speech, on one core. All figures but those of built-in are estimates.',
  `${SPEAKERS} tells speakers apart, beside any model.`,
  '`spool models install NAME` fetches a model and uses it.',
];

const list: CommandRow = {
  name: 'list',
  parameters: [],
  options: {},
  says: 'Lists the speech models that are installed, and those that can be',
  async run() {
    const settings = readSettings(process.env);
    const [installed, chosen] = [await installedModels(settings.data_dir), await chosenModel(settings.data_dir)];
    const names = new Set([...CATALOGUE, ...installed].map(({ name }) => name));
    const models = [...names].map((name) => {
      const manifest = installed.find((one) => one.name === name) ?? null;
      const is_used = manifest !== null && (name === SPEAKERS || name === chosen);
      return { name, catalogue: catalogueModel(name), manifest, state: stateOf(manifest, is_used) };
    });
    const rows = models.map(({ name, catalogue, state }) => [name, ...cellsOf(catalogue), state]);
    const built_in = [...BUILT_IN_ROW, chosen === null ? 'in use' : ''];
    return {
      json: {
        in_use: chosen ?? BUILT_IN,
        models: models.map(({ name, catalogue, manifest, state }) => ({
          name,
          state: state === '' ? 'not installed' : state,
          ...(catalogue !== null && figuresOf(catalogue)),
          installed: manifest,
        })),
      },
      lines: [...table([HEAD, built_in, ...rows]), ...LIST_NOTES, ...overruled(settings)],
    };
  },
};

const install: CommandRow = {
  name: 'install',
  parameters: ['NAME'],
  options: {
    from: { value: 'FILE|URL', repeats: true, says: 'an archive elsewhere, or on this machine' },
    sha256: { value: 'HASH', says: 'the hash that the archive must have' },
  },
  says: 'Fetches a speech model, loads it once, and uses it from the next start on',
  async run({ parameters, options }) {
    if (!existsSync(SPEECH_PROGRAM))
      throw new UserError('This spool has no speech engine: run that of the server, in its checkout or its image.');
    const settings = readSettings(process.env);
    const { data_dir } = settings;
    const name = parameters.NAME as string;
    let memory_bytes: number | null = null;
    const manifest = await withModels(settings, () =>
      installModel({
        data_dir,
        name,
        ...given(options),
        now: Date.now,
        onProgress: progress(),
        prove: async (folder) => {
          console.error('loading it once');
          memory_bytes = await proveModel(await provedFolders(settings, name, folder));
        },
      }),
    );
    const before = await chosenModel(data_dir).catch(() => null);
    if (name !== SPEAKERS) await chooseModel(data_dir, name);
    const bytes = Object.values(manifest.files).reduce((sum, file) => sum + file.bytes, 0);
    const size = `${megabytes(bytes)}${memory_bytes === null ? '' : `, takes ${megabytes(memory_bytes)} of memory`}`;
    return {
      json: { ...manifest, memory_bytes },
      lines: [
        `${name} is installed (${size}).`,
        ...manifest.sources.map(({ from, sha256 }) => `sha256 ${sha256} ${from}`),
        ...(await changes(settings, name, before)),
      ],
    };
  },
};

const use: CommandRow = {
  name: 'use',
  parameters: ['NAME'],
  options: {},
  says: `Uses an installed model from the next start on; "${BUILT_IN}" is the one that comes with Spool`,
  async run({ parameters }) {
    const settings = readSettings(process.env);
    const { data_dir } = settings;
    const name = parameters.NAME as string;
    if (name === SPEAKERS) throw new UserError(`${SPEAKERS} is used beside any model, once it is installed.`);
    if (name !== BUILT_IN) {
      checkModelName(name);
      const problem = await modelProblem(data_dir, name);
      if (problem !== null) throw new ModelRefused(`Not used: ${problem}.`);
    }
    const before = await chosenModel(data_dir).catch(() => null);
    await chooseModel(data_dir, name === BUILT_IN ? null : name);
    return { json: { in_use: name }, lines: await changes(settings, name, before) };
  },
};

const remove: CommandRow = {
  name: 'remove',
  parameters: ['NAME'],
  options: {},
  says: 'Removes an installed model that is not in use',
  async run({ parameters }) {
    const settings = readSettings(process.env);
    const name = parameters.NAME as string;
    await withModels(settings, () => removeModel(settings.data_dir, name));
    return { json: { removed: name }, lines: [`${name} is removed.`] };
  },
};

export const MODEL_COMMANDS: CommandGroup = {
  name: 'models',
  says: 'Speech models of the built-in engine, in DATA_DIR',
  commands: [list, install, use, remove],
};

/** One command at a time changes the folder of models. */
async function withModels<Done>({ data_dir }: Settings, change: () => Promise<Done>): Promise<Done> {
  const held = await holdDataFolder(modelsFolder(data_dir));
  try {
    return await change();
  } finally {
    await held.release();
  }
}

function given(options: CommandCall['options']): { from: string[]; sha256: string | null } {
  const sha256 = options.text('sha256') ?? null;
  if (sha256 !== null && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UserError('--sha256 must be 64 hexadecimal digits.');
  return { from: options.texts('from'), sha256 };
}

/** The models of voices are loaded beside the model in use, a model beside those that are there. */
async function provedFolders(settings: Settings, name: string, folder: string) {
  const { problem: _, ...chosen } = await chosenFolders(settings);
  const { model_folder, speakers_folder } = builtInFolders({ ...settings, ...chosen });
  return name === SPEAKERS ? { model_folder, speakers_folder: folder } : { model_folder: folder, speakers_folder };
}

/** Writes a line to stderr for each tenth that has come. */
function progress(): (what: string, bytes: number, bytes_total: number | null) => void {
  let said = '';
  return (what, bytes, bytes_total) => {
    const tenth = bytes_total === null ? null : Math.floor(((bytes / bytes_total) * 100) / PROGRESS_PERCENT);
    const step = `${what} ${tenth ?? Math.floor(bytes / (100 * MEGABYTE))}`;
    if (step === said) return;
    said = step;
    const part = tenth === null ? '' : ` of ${megabytes(bytes_total as number)} (${tenth * PROGRESS_PERCENT} %)`;
    console.error(`fetching ${what}: ${megabytes(bytes)}${part}`);
  };
}

/** Says what a model changes that is now the one in use. */
async function changes(settings: Settings, name: string, before: string | null): Promise<Told['lines']> {
  if (name === SPEAKERS) return [`The built-in engine tells speakers apart. ${RESTART}`, ...overruled(settings)];
  const known = catalogueModel(name)?.languages_text ?? (name === BUILT_IN ? 'English' : null);
  const hears = known === null ? '' : `, which knows ${known}`;
  const was = before ?? BUILT_IN;
  const { transcribe_english_dir } = await chosenFolders(settings);
  return [
    `New audio is transcribed by ${name}${hears}${was === name ? '' : `, instead of ${was}`}. ${RESTART}`,
    ...(was === name
      ? []
      : [`\`spool models use ${was}\` takes it back. Transcripts that there are stay as they are.`]),
    ...(transcribe_english_dir === null ? [] : [`Audio whose language is set to English stays with ${BUILT_IN}.`]),
    ...overruled(settings),
  ];
}

/** The settings that have something else transcribe. */
function overruled(settings: Settings): string[] {
  const names = {
    server: 'TRANSCRIBE_URL',
    program: 'TRANSCRIBE_COMMAND',
    workers: 'CONTENT_WORKER',
    nobody: 'TRANSCRIBE_BUILT_IN',
  };
  const { by } = transcriberOf(settings);
  const name = by === 'built_in' ? settings.transcribe_model_dir && 'TRANSCRIBE_MODEL_DIR' : names[by];
  return name ? [`But ${name} is set, and goes before the model in use here.`] : [];
}

function stateOf(manifest: ModelManifest | null, is_used: boolean): string {
  if (manifest === null) return '';
  return is_used ? 'in use' : 'installed';
}

function cellsOf(model: CatalogueModel | null): string[] {
  if (model === null) return ['', '', '', '', ''];
  const { languages_text, download_mb, memory_mb, speed_s, licence } = model;
  return [languages_text, `${download_mb} MB`, `${memory_mb} MB`, speed_s === null ? '' : `${speed_s} s`, licence];
}

function figuresOf({ sources, name: _, languages_text: __, ...figures }: CatalogueModel) {
  return { ...figures, urls: sources.map(({ url }) => url) };
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0)} MB`;
}
