/*
 * Rooms of one storey do not import each other in a circle. A room is a folder of a storey, with the folders in it, or a
 * file that lies in the storey's own folder. The rooms of features are those of FEATURE_ORDER. `node tools/checks/rooms.mjs [ROOT]`: each
 * circle with the imports that make it (imports of types count), and each import of a later feature; exit code 1 if there
 * is one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const STOREYS = ['actors', 'routes', 'src/access', 'src/edge', 'src/engine', 'src/features', 'src/host'];

/** A feature imports only those before it. */
const FEATURES = 'src/features';
const FEATURE_ORDER = [
  'accounts',
  'devices',
  'workspaces',
  'recordings',
  'transcripts',
  'insights/learned',
  'insights/engines',
  'insights/library',
  'insights/reading',
  'insights/context',
  'search/index',
  'search/questions',
  'links',
  'due',
  'omi',
  'webhooks',
  'oauth',
  'exports',
];

for (const storey of STOREYS.filter((folder) => existsSync(join(root, folder)))) {
  const imports = importsBetweenRooms(storey);
  for (const rooms of circlesIn(imports)) {
    console.log(`${storey}: ${rooms.join(', ')} import each other in a circle`);
    for (const { file, imported, from, to } of imports) {
      if (rooms.includes(from) && rooms.includes(to)) console.log(`  ${file} imports ${imported}`);
    }
    process.exitCode = 1;
  }
  if (storey === FEATURES) checkOrder(imports);
}

function checkOrder(imports) {
  const rooms = new Set(imports.flatMap(({ from, to }) => [from, to]).filter((room) => !room.endsWith('.ts')));
  for (const room of rooms) {
    if (FEATURE_ORDER.includes(room)) continue;
    console.log(`${FEATURES}: ${room} has no place in FEATURE_ORDER of tools/checks/rooms.mjs`);
    process.exitCode = 1;
  }
  const place = (room) => FEATURE_ORDER.indexOf(room);
  for (const { file, imported, from, to } of imports) {
    if (place(from) < 0 || place(from) > place(to)) continue;
    console.log(`${FEATURES}: ${file} imports ${imported}, which comes later in FEATURE_ORDER`);
    process.exitCode = 1;
  }
}

/** The imports of a storey's files that lead to another room of it. */
function importsBetweenRooms(storey) {
  const roomOf = (path) => {
    const inside = path.slice(storey.length + 1);
    return FEATURE_ORDER.find((feature) => inside.startsWith(`${feature}/`)) ?? inside.split('/')[0];
  };
  return sourcesIn(storey).flatMap((file) =>
    importedBy(file)
      .filter((imported) => imported.startsWith(`${storey}/`))
      .map((imported) => ({ file, imported, from: roomOf(file), to: roomOf(imported) }))
      .filter(({ from, to }) => from !== to),
  );
}

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

function importedBy(file) {
  return ts
    .preProcessFile(readFileSync(join(root, file), 'utf8'))
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => join(dirname(file), name).replace(/\.js$/, '.ts'));
}

/** The largest sets of rooms of which each reaches every other one, by names. */
function circlesIn(imports) {
  const reached = new Map(imports.map(({ from }) => [from, reachedFrom(from, imports)]));
  const circles = new Map();
  for (const [room, others] of reached) {
    const circle = [...others].filter((other) => reached.get(other)?.has(room)).sort();
    if (circle.length > 0) circles.set(circle.join(), circle);
  }
  return circles.values();
}

/** The rooms that a room imports, directly or over others; itself only where a circle leads back. */
function reachedFrom(room, imports) {
  const found = new Set();
  const waiting = [room];
  for (const next of waiting) {
    for (const { from, to } of imports) {
      if (from !== next || found.has(to)) continue;
      found.add(to);
      waiting.push(to);
    }
  }
  return found;
}
