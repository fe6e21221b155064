/*
 * A doc comment says what the code does ("Counts the jobs", "The state of a delivery"), not "What …". `node
 * tools/checks/comments.mjs [ROOT]`: a line for each doc comment that begins with "What"; exit code 1 if there is one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'actors', 'routes', 'certs', 'app', 'tools'];
const BEGINS_WITH_WHAT = /\/\*\*[\s*]*What\b.*/g;

for (const path of FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap(sourcesIn)) {
  const text = readFileSync(join(root, path), 'utf8');
  for (const { 0: found, index } of text.matchAll(BEGINS_WITH_WHAT)) {
    console.log(`${path}:${text.slice(0, index).split('\n').length}: ${found.slice(found.indexOf('What'))}`);
    process.exitCode = 1;
  }
}

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.([cm]?js|tsx?)$/.test(entry.name) && !/node_modules/.test(entry.parentPath))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
