import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BUILT_IN_MODEL, speechModelOf } from '../../../engine/speech/speech_model.js';
import { BUILT_IN, SPEAKERS } from './model_catalogue.js';

/** Speech models that an operator installed: `DATA_DIR/models/NAME`. `DATA_DIR/model.json` names the one in use. */

/** The person at the terminal can set this right. */
export class ModelRefused extends Error {
  override readonly name = 'ModelRefused';
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const fileName = z.string().regex(/^[\w.+-]{1,128}$/);
const manifestShape = z.object({
  name: z.string(),
  installed_at: z.string(),
  sources: z.array(z.object({ from: z.string(), bytes: z.number(), sha256: hash })),
  files: z.record(fileName, z.object({ bytes: z.number(), sha256: hash })),
});
const choiceShape = z.object({ name: z.string() });

/** The note on an installed model, in its folder. */
export type ModelManifest = z.infer<typeof manifestShape>;

const MANIFEST = 'installed.json';
const CHOICE = 'model.json';
const NAME = /^(?!lock\.)[a-z0-9][a-z0-9._-]{0,63}$/;

/** Throws ModelRefused where it can be no name of a model to install. */
export function checkModelName(name: string): void {
  if (!NAME.test(name) || name === BUILT_IN)
    throw new ModelRefused(
      `NAME must be up to 64 of a-z, 0-9, ".", "_" and "-", begin with a letter or digit, and not be ${BUILT_IN}.`,
    );
}

export function modelsFolder(data_dir: string): string {
  return join(data_dir, 'models');
}

/** The installed models, by name. Folders without a manifest are left out. */
export async function installedModels(data_dir: string): Promise<ModelManifest[]> {
  const names = (await orNothing(readdir(modelsFolder(data_dir)))) ?? [];
  const found = await Promise.all(
    names.filter((name) => NAME.test(name)).map((name) => installedModel(data_dir, name)),
  );
  return found.filter((one) => one !== null).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null where it is not installed. */
async function installedModel(data_dir: string, name: string): Promise<ModelManifest | null> {
  const text = await orNothing(readFile(join(modelsFolder(data_dir), name, MANIFEST), 'utf8'));
  const read = text === null ? null : manifestShape.safeParse(parsed(text));
  return read?.success ? read.data : null;
}

export async function writeManifest(folder: string, manifest: ModelManifest): Promise<void> {
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The name of the model in use; null for the one that comes with Spool. Throws ModelRefused where it cannot be read. */
export async function chosenModel(data_dir: string): Promise<string | null> {
  const text = await orNothing(readFile(join(data_dir, CHOICE), 'utf8'));
  if (text === null) return null;
  const { success, data } = choiceShape.safeParse(parsed(text));
  if (!success || !NAME.test(data.name)) throw new ModelRefused(`${join(data_dir, CHOICE)} names no model`);
  return data.name;
}

/** Makes a model the one in use; null for the one that comes with Spool. */
export async function chooseModel(data_dir: string, name: string | null): Promise<void> {
  const path = join(data_dir, CHOICE);
  if (name === null) return rm(path, { force: true });
  await mkdir(data_dir, { recursive: true, mode: 0o700 });
  const written = join(data_dir, `.${CHOICE}.tmp`);
  await writeFile(written, `${JSON.stringify({ name })}\n`);
  await rename(written, path);
}

/** Size and hash of a file. */
export async function fileHash(path: string): Promise<{ bytes: number; sha256: string }> {
  const sum = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 })) sum.update(piece);
  return { bytes: (await stat(path)).size, sha256: sum.digest('hex') };
}

/** Why an installed model is not to be used, in words; null where it is as it was installed. Reads all of its files. */
export async function modelProblem(data_dir: string, name: string): Promise<string | null> {
  const manifest = await installedModel(data_dir, name);
  if (manifest === null) return `the model ${name} is not installed`;
  for (const [file, wanted] of Object.entries(manifest.files)) {
    const found = await orNothing(fileHash(join(modelsFolder(data_dir), name, file)));
    if (found === null) return `the model ${name} lacks its file ${file}`;
    if (found.bytes !== wanted.bytes || found.sha256 !== wanted.sha256)
      return `the model ${name} was changed or is damaged: ${file} is not as it was installed`;
  }
  return null;
}

type ModelFolders = {
  transcribe_model_dir: string | null;
  transcribe_speakers_dir: string | null;
  transcribe_english_dir: string | null;
};

/**
 * The folders of the models in use, where settings name none. `problem`: why the one that is chosen is not used, to go on
 * behind "none: ".
 */
export async function chosenFolders({
  data_dir,
  transcribe_model_dir,
  transcribe_speakers_dir,
}: Omit<ModelFolders, 'transcribe_english_dir'> & { data_dir: string }): Promise<
  ModelFolders & { problem: string | null }
> {
  const folderOf = (name: string) => join(modelsFolder(data_dir), name);
  const given = { transcribe_model_dir, transcribe_speakers_dir, transcribe_english_dir: null };
  try {
    const name = transcribe_model_dir === null ? await chosenModel(data_dir) : null;
    const has_speakers = transcribe_speakers_dir === null && (await installedModel(data_dir, SPEAKERS)) !== null;
    for (const one of [...(name === null ? [] : [name]), ...(has_speakers ? [SPEAKERS] : [])]) {
      const problem = await modelProblem(data_dir, one);
      if (problem !== null)
        return { ...given, problem: `${problem}; \`spool models install ${one}\` fetches it again` };
    }
    return {
      transcribe_model_dir: name === null ? transcribe_model_dir : folderOf(name),
      transcribe_speakers_dir: has_speakers ? folderOf(SPEAKERS) : transcribe_speakers_dir,
      transcribe_english_dir: name === null ? null : englishBeside(folderOf(name)),
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ModelRefused)) throw error;
    return { ...given, problem: `${error.message}; \`spool models use NAME\` writes it anew` };
  }
}

/** The folder of the model that comes with Spool, where English goes to it rather than to the one in a folder; null elsewhere. */
function englishBeside(folder: string): string | null {
  const languages = speechModelOf(folder)?.languages ?? [];
  const is_english = languages.length === 1 && languages[0] === 'en';
  return is_english || speechModelOf(BUILT_IN_MODEL) === null ? null : BUILT_IN_MODEL;
}

/** Removes an installed model. Throws ModelRefused where it is in use or not there. */
export async function removeModel(data_dir: string, name: string): Promise<void> {
  checkModelName(name);
  if ((await chosenModel(data_dir)) === name)
    throw new ModelRefused(`${name} is in use. \`spool models use ${BUILT_IN}\`, or another name, first.`);
  const folder = join(modelsFolder(data_dir), name);
  if ((await orNothing(stat(folder))) === null) throw new ModelRefused(`${name} is not installed.`);
  const removed = join(modelsFolder(data_dir), `.${name}.removed`);
  await rm(removed, { recursive: true, force: true });
  await rename(folder, removed);
  await rm(removed, { recursive: true, force: true });
}

async function orNothing<Found>(looking: Promise<Found>): Promise<Found | null> {
  return looking.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
