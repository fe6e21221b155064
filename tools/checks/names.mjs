/*
 * A name of a type means one thing in the whole project. `node tools/checks/names.mjs [ROOT]`: a line for each name that
 * more than three files declare; exit code 1 if there is one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'actors', 'routes', 'certs', 'app', 'tools'];
const FILES_MAX = 3;

/** Files by the names of types that they declare. */
const declaring = new Map();
for (const path of FOLDERS.flatMap(sourcesIn)) noteTypes(path);

for (const [name, files] of [...declaring].sort()) {
  if (files.size <= FILES_MAX) continue;
  console.log(`${name} is declared in ${files.size} files: ${[...files].join(', ')}`);
  process.exitCode = 1;
}

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/node_modules/.test(entry.parentPath))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function noteTypes(path) {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest);
  const visit = (node) => {
    if (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) {
      const name = node.name?.text;
      if (name !== undefined) declaring.set(name, (declaring.get(name) ?? new Set()).add(path));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
