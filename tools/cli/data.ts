import { backUp, type DataPlaces } from '../../src/engine/backup/back_up.js';
import type { Manifest } from '../../src/engine/backup/manifest.js';
import { restore, verifyBackup } from '../../src/engine/backup/restore.js';
import { readSettings, type Settings } from '../../src/host/settings.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import type { CommandGroup, CommandRow } from './command.js';

const backup: CommandRow = {
  name: 'backup',
  parameters: ['FOLDER'],
  options: {},
  says: 'Copies DATA_DIR into a new folder, while its server runs or not; the copy holds all keys, so keep it safe',
  async run({ parameters }) {
    const settings = ownData();
    const to = parameters.FOLDER as string;
    const audio_elsewhere = settings.blob_url !== null;
    const made = await backUp({ ...places(settings), to, audio_elsewhere, now_ms: Date.now() });
    const lines = [`${to} holds ${sizeOf(made)}.`];
    if (audio_elsewhere) lines.push('Audio lies at BLOB_URL and is not part of it.');
    return { json: { folder: to, ...made }, lines };
  },
};

const verify: CommandRow = {
  name: 'verify',
  parameters: ['FOLDER'],
  options: {},
  says: 'Reads all of a backup and says whether it is complete and unchanged',
  async run({ parameters }) {
    const folder = parameters.FOLDER as string;
    const { manifest, damage } = await verifyBackup(folder);
    const json = { folder, ...manifest, damage };
    if (damage.length === 0) return { json, lines: [`Whole: ${sizeOf(manifest)}.`] };
    return { json, lines: damage.map(({ path, what }) => `${path}: ${what}`), failed: true };
  },
};

const restoreCommand: CommandRow = {
  name: 'restore',
  parameters: ['FOLDER'],
  options: {},
  says: 'Restores a backup, which it verifies first, into DATA_DIR, which must be empty',
  async run({ parameters }) {
    const settings = ownData();
    const manifest = await restore(parameters.FOLDER as string, places(settings));
    const lines = [
      `${settings.data_dir} is restored to ${manifest.made_at}: ${sizeOf(manifest)}.`,
      'What came later is lost. Programs that poll events should start from the beginning. Start the server now.',
    ];
    return { json: { data_dir: settings.data_dir, ...manifest }, lines };
  },
};

export const DATA_COMMANDS: CommandGroup = {
  name: 'data',
  says: 'The data folder: backup and restore',
  commands: [backup, verify, restoreCommand],
};

/** Settings, where all data is in a folder of ours. */
function ownData(): Settings {
  const settings = readSettings(process.env);
  if (settings.redis_url !== null) {
    throw new UserError(
      'With REDIS_URL the data is in that Redis; back it up by its own means, and KEYS_DIR beside it.',
      WRONG_USAGE,
    );
  }
  return settings;
}

function places({ data_dir, keys_dir }: Settings): DataPlaces {
  return { data_dir, keys_dir };
}

function sizeOf({ files, bytes }: Manifest): string {
  return `${files} files, ${(bytes / 1_000_000).toFixed(1)} MB`;
}
