import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type InstallWishes, installModel } from '../../../../src/features/transcripts/speech_models/install_model.js';
import {
  chooseModel,
  chosenFolders,
  chosenModel,
  installedModels,
  ModelRefused,
  modelProblem,
  removeModel,
} from '../../../../src/features/transcripts/speech_models/installed_models.js';
import { CATALOGUE } from '../../../../src/features/transcripts/speech_models/model_catalogue.js';
import { withUsableEngines } from '../../../../src/host/server/usable_engines.js';
import { readSettings } from '../../../../src/host/settings.js';
import { packedModel, servedFile, sha256Hex, WHISPER_FILES } from '../../../fixtures/model_archive.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';
import { until } from '../../../fixtures/until.js';

const KEPT = ['LICENSE', 'installed.json', 'small-decoder.int8.onnx', 'small-encoder.int8.onnx', 'small-tokens.txt'];

function wishes(data_dir: string, from: string, more: Partial<InstallWishes> = {}): InstallWishes {
  const given = { data_dir, name: 'whisper-small', from: [from], sha256: null, now: () => 0 };
  return { ...given, onProgress: () => {}, prove: async () => {}, ...more };
}

t.test('K-430 an archive is fetched, unpacked beside, loaded, and then put at its place', async (t) => {
  const data_dir = tempFolder(t);
  const archive = packedModel(t);
  const { url } = await servedFile(t, archive);
  const proved: string[][] = [];
  const prove = async (folder: string) => {
    proved.push(readdirSync(folder).sort());
    t.notOk(existsSync(join(data_dir, 'models', 'whisper-small')), 'not there before it was loaded');
  };
  const progress: number[] = [];
  const onProgress = (_: string, bytes: number) => void progress.push(bytes);
  const manifest = await installModel(wishes(data_dir, url, { prove, onProgress }));
  t.same(proved, [KEPT.filter((name) => name !== 'installed.json')], 'of two precisions the one in use');
  t.same(readdirSync(join(data_dir, 'models', 'whisper-small')).sort(), KEPT);
  t.same(readdirSync(join(data_dir, 'models')), ['whisper-small'], 'nothing else is left');
  const bytes = readFileSync(archive);
  t.match(manifest, {
    sources: [{ from: url, bytes: bytes.length, sha256: sha256Hex(bytes) }],
    files: { 'small-tokens.txt': { bytes: 4, sha256: sha256Hex(Buffer.from('a 0\n')) } },
  });
  t.equal(progress.at(-1), bytes.length);
  t.match(await installedModels(data_dir), [{ name: 'whisper-small' }]);
});

t.test('K-430 archives by gzip and plain ones on this machine are taken as well, and stay', async (t) => {
  for (const packing of ['z', ''] as const) {
    const data_dir = tempFolder(t);
    const archive = packedModel(t, WHISPER_FILES, packing);
    await installModel(wishes(data_dir, archive, { name: `own${packing}` }));
    t.same(readdirSync(join(data_dir, 'models', `own${packing}`)).sort(), KEPT);
    t.ok(existsSync(archive));
  }
});

t.test('K-431 a broken download goes on from where it ended, and begins anew where the file has changed', async (t) => {
  const data_dir = tempFolder(t);
  const archive = packedModel(t, { ...WHISPER_FILES, README: 'x'.repeat(100_000) }, '');
  const part = join(data_dir, 'models', '.whisper-small.0.fetched');
  let is_broken = true;
  const { url, ranges } = await servedFile(t, archive, (serve, _, reply) => {
    if (!is_broken) return serve();
    const bytes = readFileSync(archive);
    reply.writeHead(200, { etag: `"${sha256Hex(bytes)}"`, 'content-length': bytes.length });
    reply.write(bytes.subarray(0, 50_000));
    void until('it is written', () => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) >= 50_000).then(() =>
      reply.destroy(),
    );
  });
  await t.rejects(installModel(wishes(data_dir, url)), { name: 'ModelRefused', message: /connection broke/ });
  t.same(readdirSync(join(data_dir, 'models')).sort(), ['.whisper-small.0.fetched', '.whisper-small.0.fetched.note']);
  is_broken = false;
  await installModel(wishes(data_dir, url));
  t.same(ranges, [undefined, 'bytes=50000-']);

  is_broken = true;
  await t.rejects(installModel(wishes(data_dir, url)), ModelRefused);
  is_broken = false;
  const other = packedModel(t, { ...WHISPER_FILES, LICENSE: 'another' }, '');
  writeFileSync(archive, readFileSync(other));
  const { files } = await installModel(wishes(data_dir, url));
  t.equal(files.LICENSE?.sha256, sha256Hex(Buffer.from('another')));
});

t.test('K-431 what is whole already is not fetched again', async (t) => {
  const data_dir = tempFolder(t);
  const { url, ranges } = await servedFile(t, packedModel(t));
  const prove = async () => {
    throw new ModelRefused('It does not run.');
  };
  await t.rejects(installModel(wishes(data_dir, url, { prove })), { message: 'It does not run.' });
  t.notOk(existsSync(join(data_dir, 'models', 'whisper-small')), 'a model that does not load is not installed');
  await installModel(wishes(data_dir, url));
  t.match(ranges, [undefined, /^bytes=\d+-$/]);
  t.match(await installedModels(data_dir), [{ name: 'whisper-small' }]);
});

t.test('K-432 what is no model, not the wanted file, or no name is refused in words', async (t) => {
  const data_dir = tempFolder(t);
  const archive = packedModel(t);
  const { url } = await servedFile(t, archive, (_, __, reply) => void reply.writeHead(404).end());
  const rows: [InstallWishes, RegExp][] = [
    [wishes(data_dir, url), /answered 404/],
    [wishes(data_dir, 'http://127.0.0.1:1/x.tar'), /127.0.0.1:1 could not be reached .*--from FILE/],
    [wishes(data_dir, '/nonexistent'), /is no file/],
    [wishes(data_dir, archive, { sha256: '0'.repeat(64) }), /has the hash/],
    [wishes(data_dir, packedModel(t, { 'notes.txt': '' })), /no speech model of a known kind/],
    [wishes(data_dir, archive, { name: '../up' }), /NAME must be/],
    [wishes(data_dir, archive, { name: 'built-in' }), /NAME must be/],
    [wishes(data_dir, archive, { name: 'unknown', from: [] }), /no model of/],
    [wishes(data_dir, archive, { name: 'speakers' }), /--from must come 2 times/],
  ];
  for (const [wished, message] of rows) await t.rejects(installModel(wished), { name: 'ModelRefused', message });
  t.same(await installedModels(data_dir), []);
});

t.test('K-433 speakers are two models beside any other', async (t) => {
  const data_dir = tempFolder(t);
  const embedding = join(tempFolder(t), 'voices.onnx');
  writeFileSync(embedding, 'voices');
  const from = [packedModel(t, { 'model.onnx': 'parts', 'model.int8.onnx': 'small parts', LICENSE: 'MIT' }), embedding];
  await installModel(wishes(data_dir, '', { name: 'speakers', from }));
  t.same(readdirSync(join(data_dir, 'models', 'speakers')).sort(), [
    'LICENSE',
    'installed.json',
    'segmentation.onnx',
    'speaker.onnx',
  ]);
  const { settings } = await withUsableEngines(readSettings({ DATA_DIR: data_dir }));
  t.equal(settings.transcribe_speakers_dir, join(data_dir, 'models', 'speakers'));
});

t.test('K-434 the model in use is the one that was chosen, and a setting goes before it', async (t) => {
  const data_dir = tempFolder(t);
  await installModel(wishes(data_dir, packedModel(t)));
  const folders = (env = {}) => chosenFolders(readSettings({ DATA_DIR: data_dir, ...env }));
  t.match(await folders(), { transcribe_model_dir: null, transcribe_english_dir: null, problem: null });
  await chooseModel(data_dir, 'whisper-small');
  const folder = join(data_dir, 'models', 'whisper-small');
  t.match(await folders(), { transcribe_model_dir: folder, problem: null });
  const { TRANSCRIBE_MODEL_DIR } = { TRANSCRIBE_MODEL_DIR: join(packedModel(t), '..', 'model') };
  t.match(await folders({ TRANSCRIBE_MODEL_DIR }), { transcribe_model_dir: TRANSCRIBE_MODEL_DIR, problem: null });
  await t.rejects(removeModel(data_dir, 'whisper-small'), { message: /is in use/ });
  await chooseModel(data_dir, null);
  t.equal(await chosenModel(data_dir), null);
  await removeModel(data_dir, 'whisper-small');
  t.same(readdirSync(join(data_dir, 'models')), []);
});

t.test('K-435 a model that was changed, lacks a file or is not there is not used, and audio waits', async (t) => {
  const data_dir = tempFolder(t);
  await installModel(wishes(data_dir, packedModel(t)));
  await chooseModel(data_dir, 'whisper-small');
  const started = () => withUsableEngines(readSettings({ DATA_DIR: data_dir }));
  const file = join(data_dir, 'models', 'whisper-small', 'small-decoder.int8.onnx');
  appendFileSync(file, '!');
  t.match(await started(), {
    settings: { transcribe_built_in: false },
    problems: {
      speech: /whisper-small was changed or is damaged: small-decoder.*`spool models install whisper-small`/,
    },
  });
  await installModel(wishes(data_dir, packedModel(t)));
  t.equal(await modelProblem(data_dir, 'whisper-small'), null, 'installed again it is whole');
  await chooseModel(data_dir, 'gone');
  t.match((await started()).problems, { speech: /gone is not installed/ });
  writeFileSync(join(data_dir, 'model.json'), 'x');
  t.match((await started()).problems, { speech: /model\.json names no model/ });
});

t.test('K-430 the catalogue names what people choose by', async (t) => {
  const names = ['whisper-base', 'whisper-small', 'parakeet-v3', 'sense-voice', 'moonshine-base', 'speakers'];
  t.same(
    CATALOGUE.map(({ name }) => name),
    names,
  );
  for (const { sources, licence, download_mb } of CATALOGUE) {
    t.ok(licence !== '' && download_mb > 0);
    for (const { url } of sources) t.match(url, /^https:\/\/github\.com\/k2-fsa\/sherpa-onnx\/releases\/download\//);
  }
});
