/* Which test files run, and which of them alone. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup/build.mjs';

/** Have a process to themselves: they measure it or change it. */
const ALONE = [/[\\/]simulation[\\/]/, /misbehaving/, /bad_input/, /in_s3/, /s3_blob_store/];

/**
 * Files that `npm test` leaves out and `npm run test:all` runs: folders of `test/`, and four files, whose tests start whole
 * programs (a browser, servers as processes of their own, kits and clients of others, an object store, the build, the
 * command line), or draw many cases and kills. A rule or an operation that a test there covers has a smaller test
 * elsewhere as well; the counts at the end hold that.
 */
const LARGER = [
  ...[
    'browser/',
    'driver/',
    'examples/',
    'faults/',
    'fuzz/',
    'host/primary/',
    'interop/',
    'kits/',
    'scenarios/',
    'server/',
  ],
  ...['simulation/', 'tools/cli/', 'tools/demo/', 'tools/fleet/', 'tools/listen/'],
  ...['engine/blobs/s3_blob_store', 'tools/build.test', 'tools/command_lines.test', 'guide_programs.test'],
];

/** Files of those folders that `npm test` runs all the same: nothing else covers their rules and operations. */
const QUICK = [
  'interop/flows.test',
  'server/told_speakers.test',
  'tools/cli/import_from.test',
  'tools/listen/listen.test',
];

const isIn = (path, parts) => parts.some((part) => path.startsWith(join('dist', 'test', part)));
const isLarger = (path) => isIn(path, LARGER) && !isIn(path, QUICK);

/**
 * Built test files whose path contains one of `parts`, wherever they are; `parts` may name sources. Without parts those
 * of `npm test`, or with `all` every file.
 */
export const selectFiles = (parts, { all = false } = {}) => {
  const wanted = parts.map((part) => part.replace(/^.*\bdist\//, '').replace(/\.ts$/, '.js'));
  const isWanted = (path) =>
    wanted.length === 0 ? all || !isLarger(path) : wanted.some((part) => path.includes(part));
  return readdirSync(join(root, 'dist', 'test'), { recursive: true })
    .map((path) => join('dist', 'test', path))
    .filter((path) => path.endsWith('.test.js') && isWanted(path))
    .sort();
};

export const needsBrowser = (path) => path.startsWith(join('dist', 'test', 'browser'));

export const isAlone = (path) => ALONE.some((pattern) => pattern.test(path));

/** Files with a browser, which take the most CPU, evenly between those that wait more than they compute. */
export const mixed = (paths) => {
  const groups = [paths.filter(needsBrowser), paths.filter((path) => !needsBrowser(path))];
  return groups
    .flatMap((group) => group.map((path, at) => ({ path, share: at / group.length })))
    .sort((a, b) => a.share - b.share)
    .map(({ path }) => path);
};
