import { basename, dirname, join } from 'node:path';
import { isTranscriptName, stemOf } from '../../src/domain/transcript_files/transcript_names.js';

/** The transcript of each audio file that has one beside it under the same name, by its path. */
export function textsBeside(paths: readonly string[]): Map<string, string> {
  const texts = new Map(
    paths.filter(isTranscriptName).map((path) => [join(dirname(path), stemOf(basename(path))), path]),
  );
  const found = new Map<string, string>();
  for (const path of paths) {
    if (isTranscriptName(path)) continue;
    const name = basename(path);
    const at = (stem: string) => texts.get(join(dirname(path), stem));
    const text = at(name.toLowerCase()) ?? at(stemOf(name));
    if (text !== undefined) found.set(path, text);
  }
  return found;
}
