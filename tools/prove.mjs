/*
 * `npm run spool -- prove NAME [--option value …]`: a scenario in its full size; `npm run test:all` runs it in its smoke size.
 * Without a name it lists them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemOf, refuse, tableText, versionText } from './setup/command_line.mjs';
import { makeReady, root } from './setup.mjs';

const FORM = 'npm run spool -- prove NAME [options]';
const COMMON_ROWS = [
  ['--help', 'print this text, or what it says of NAME'],
  ['--version', 'print the version of Spool'],
];
const SOURCES = join(root, 'test', 'scenarios');

/** Files by the names of their scenarios. */
const files = new Map(readdirSync(SOURCES).map((file) => [file.replace(/(\.test)?\.ts$/, ''), file]));

/** Describes a scenario by its title. */
const describe = (name) => {
  const source = readFileSync(join(SOURCES, files.get(name)), 'utf8');
  return /\btitle:\s*(['"`])(.*?)\1,\n/s.exec(source)?.[2] ?? '';
};

const helpText = (names) => {
  const rows = names.map((name) => [name, describe(name)]);
  return `usage: ${FORM}\n\nRuns a scenario in its full size.\n\n${tableText(rows)}\n\n${tableText(COMMON_ROWS)}`;
};

const words = process.argv.slice(2);
const [name] = words;
if (name === undefined || words.includes('--help')) {
  console.log(helpText(files.has(name) ? [name] : [...files.keys()]));
} else if (words.includes('--version')) {
  console.log(versionText());
} else if (!files.has(name)) {
  refuse(`there is no scenario ${JSON.stringify(name)}`, FORM);
} else {
  makeReady({ with_dev: true });
  process.env.SPOOL_PROVE = name;
  await import(`../dist/test/scenarios/${files.get(name).replace(/\.ts$/, '.js')}`).catch((error) => {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    refuse(problemOf(error), FORM);
  });
}
