import { existsSync, readFileSync } from 'node:fs';

/** The version in the nearest package.json above: beside `dist/`, also where all of a program is one file. */
export const VERSION = versionAbove(new URL('./', import.meta.url));

function versionAbove(folder: URL): string {
  const file = new URL('package.json', folder);
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  const above = new URL('../', folder);
  if (above.href === folder.href) throw new Error('there is no package.json above the program');
  return versionAbove(above);
}
