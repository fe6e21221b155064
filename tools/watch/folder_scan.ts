import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isTranscriptName } from '../../src/domain/transcript_files/transcript_names.js';

/** A file as a look at the folder finds it; two that are equal hold the same. */
export type FoundFile = { size: number; mtime_ms: number };
export type FolderLook = { files: Map<string, FoundFile>; folders: string[] };

/** More are not looked at. */
const FILES_MAX = 100_000;
const FOLDERS_MAX = 10_000;
const AUDIO =
  /\.(?:3g2|3gp|aac|aif|aifc|aiff|amr|au|avi|caf|flac|m4a|m4b|mka|mkv|mov|mp2|mp3|mp4|mpga|oga|ogg|opus|qta|rf64|snd|w64|wav|wave|webm|wma)$/i;
/** Of those who copy and write files. */
const UNFINISHED = /^[.~]|~$|\.(?:tmp|part|partial|crdownload|download|filepart)$/i;

/** Whether a file of this name may become a recording. */
function isWanted(name: string): boolean {
  return !UNFINISHED.test(name) && (AUDIO.test(name) || isTranscriptName(name));
}

/** The files of a folder and its subfolders that may become recordings, by their paths in it. Links are not followed. */
export async function lookAt(folder: string, except: ReadonlySet<string>): Promise<FolderLook> {
  const files = new Map<string, FoundFile>();
  const folders = [''];
  for (let at = 0; at < folders.length && files.size < FILES_MAX; at++) {
    const within = folders[at] as string;
    for (const entry of await entriesOf(folder, within)) {
      const path = join(within, entry.name);
      if (entry.isDirectory() && !UNFINISHED.test(entry.name) && folders.length < FOLDERS_MAX) folders.push(path);
      if (!entry.isFile() || !isWanted(entry.name) || except.has(join(folder, path))) continue;
      const found = await lstat(join(folder, path)).catch(() => null);
      if (found?.isFile()) files.set(path, { size: found.size, mtime_ms: found.mtimeMs });
    }
  }
  return { files, folders };
}

/** A subfolder that has gone, or may not be read, has none. */
function entriesOf(folder: string, within: string) {
  const entries = readdir(join(folder, within), { withFileTypes: true });
  return within === '' ? entries : entries.catch(() => []);
}

export function isSameFile(one: FoundFile, other: FoundFile): boolean {
  return one.size === other.size && one.mtime_ms === other.mtime_ms;
}
