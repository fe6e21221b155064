import { mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { speakerFiles, speechModelOf } from '../../../engine/speech/speech_model.js';
import { fetchArchive } from './fetch_archive.js';
import {
  checkModelName,
  fileHash,
  type ModelManifest,
  ModelRefused,
  modelsFolder,
  writeManifest,
} from './installed_models.js';
import { catalogueModel, type ModelSource, SPEAKERS } from './model_catalogue.js';
import { copyFileTo, unpackArchive } from './unpack_archive.js';

/** Installs a speech model: fetches it, unpacks it beside, loads it once, and only then puts it at its place. */

/** Stays free on the disk: the server writes there as well. */
const RESERVE_BYTES = 512 * 1024 * 1024;
/** How much larger than its archive a model may become. */
const UNPACKED_FACTOR = 3;

/** `from`: files or addresses in place of the catalogue's, as many. `sha256`: of the first of them. */
export type InstallWishes = {
  data_dir: string;
  name: string;
  from: readonly string[];
  sha256: string | null;
  now: () => number;
  onProgress: (what: string, bytes: number, bytes_total: number | null) => void;
  /** Loads what lies in a folder; throws ModelRefused where that fails. */
  prove: (folder: string) => Promise<void>;
};

/** Throws ModelRefused. The caller holds the folder of models. */
export async function installModel(wishes: InstallWishes): Promise<ModelManifest> {
  const { data_dir, name, prove, now } = wishes;
  checkModelName(name);
  const folder = modelsFolder(data_dir);
  const unpacked = join(folder, `.${name}.unpacked`);
  await rm(unpacked, { recursive: true, force: true });
  await mkdir(unpacked, { recursive: true, mode: 0o755 });
  try {
    const sources: ModelManifest['sources'] = [];
    for (const [index, source] of sourcesOf(wishes).entries()) {
      const path = await archiveOf(source.url, index, wishes);
      const found = await fileHash(path);
      if (index === 0 && wishes.sha256 !== null && found.sha256 !== wishes.sha256.toLowerCase()) {
        await removeFetched(path, folder);
        throw new ModelRefused(`${source.url} has the hash ${found.sha256} instead of ${wishes.sha256}.`);
      }
      await checkRoom(folder, found.bytes * UNPACKED_FACTOR);
      await unpackSource(path, source, unpacked);
      sources.push({ from: source.url, ...found });
    }
    await keepUsed(unpacked, name);
    await prove(unpacked);
    const manifest = { name, installed_at: new Date(now()).toISOString(), sources, files: await hashesOf(unpacked) };
    await writeManifest(unpacked, manifest);
    await putInPlace(unpacked, join(folder, name));
    await removeFetchedOf(name, folder);
    return manifest;
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
}

function sourcesOf({ name, from }: InstallWishes): readonly ModelSource[] {
  const known = catalogueModel(name)?.sources;
  if (known === undefined) {
    if (from.length !== 1)
      throw new ModelRefused(
        `${name} is no model of \`spool models list\`. --from FILE|URL installs another under that name.`,
      );
    return [{ url: from[0] as string }];
  }
  if (from.length !== 0 && from.length !== known.length)
    throw new ModelRefused(
      `${name} is made of ${known.length} files: --from must come ${known.length === 1 ? 'once' : `${known.length} times`}.`,
    );
  return known.map((source, index) => ({ ...source, url: from[index] ?? source.url }));
}

/** The path of an archive on this machine; fetched where it is not. */
async function archiveOf(from: string, index: number, { data_dir, name, onProgress }: InstallWishes): Promise<string> {
  const folder = modelsFolder(data_dir);
  if (!/^https?:\/\//i.test(from)) {
    const found = await stat(from).catch(() => null);
    if (!found?.isFile()) throw new ModelRefused(`${from} is no file.`);
    return from;
  }
  const to = join(folder, `.${name}.${index}.fetched`);
  const room = (bytes: number) => checkRoom(folder, bytes);
  const what = basename(URL.canParse(from) ? new URL(from).pathname : from);
  await fetchArchive({ url: from, to, room, onProgress: (...progress) => onProgress(what, ...progress) });
  return to;
}

async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const missing = bytes + RESERVE_BYTES - bavail * bsize;
  if (missing > 0) throw new ModelRefused(`${folder} lacks ${Math.ceil(missing / 1_000_000)} MB of free space for it.`);
}

async function unpackSource(path: string, source: ModelSource, folder: string): Promise<void> {
  if ('file' in source) return copyFileTo(path, join(folder, source.file));
  if (source.kept === undefined) return unpackArchive(path, folder);
  const own = join(folder, 'own');
  await mkdir(own);
  await unpackArchive(path, own);
  for (const [file, kept] of Object.entries(source.kept)) {
    if ((await stat(join(own, file)).catch(() => null)) !== null) await rename(join(own, file), join(folder, kept));
  }
  await rm(own, { recursive: true });
}

/** Removes networks that are not used, such as those of the larger precision. */
async function keepUsed(folder: string, name: string): Promise<void> {
  if (name === SPEAKERS) {
    if (speakerFiles(folder) === null) throw new ModelRefused('The archives hold no models of voices.');
    return;
  }
  const model = speechModelOf(folder);
  if (model === null) throw new ModelRefused('The archive holds no speech model of a known kind.');
  const used = JSON.stringify([model.config, model.speakers]);
  for (const file of await readdir(folder))
    if (/\.(onnx|ort)$/.test(file) && !used.includes(JSON.stringify(join(folder, file)))) await rm(join(folder, file));
}

async function hashesOf(folder: string): Promise<ModelManifest['files']> {
  const files: ModelManifest['files'] = {};
  for (const file of (await readdir(folder)).sort()) files[file] = await fileHash(join(folder, file));
  return files;
}

async function putInPlace(unpacked: string, place: string): Promise<void> {
  const before = `${unpacked}.before`;
  await rm(before, { recursive: true, force: true });
  await rename(place, before).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(unpacked, place);
  await rm(before, { recursive: true, force: true });
}

/** An archive that was named as a file stays where it is. */
async function removeFetched(path: string, folder: string): Promise<void> {
  if (!path.startsWith(join(folder, '.'))) return;
  await rm(path, { force: true });
  await rm(`${path}.note`, { force: true });
}

async function removeFetchedOf(name: string, folder: string): Promise<void> {
  for (const index of catalogueModel(name)?.sources.keys() ?? [0])
    await removeFetched(join(folder, `.${name}.${index}.fetched`), folder);
}
