/* `npm run prove`: a proof in its full size; `npm test` holds it in its smallest. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemOf, refuse, tableText, versionText } from './setup/command_line.mjs';
import { makeReady, root } from './setup.mjs';

const FORM = 'npm run prove -- NAME [options]';
const COMMON_ROWS = [
  ['--help', 'print this text, or what it says of NAME'],
  ['--version', 'print the version of Spool'],
];
const SOURCES = join(root, 'test', 'proofs');

/** What a proof says of itself: its first comment. */
const describe = (name) => {
  const [, text = ''] = /\/\*\*?([\s\S]*?)\*\//.exec(readFileSync(join(SOURCES, `${name}.ts`), 'utf8')) ?? [];
  const lines = text.split('\n').map((line) => line.replace(/^ *\*? ?/, '').trimEnd());
  return lines.join(' ').trim();
};

const helpText = (names) => {
  const rows = names.map((name) => [name, describe(name)]);
  return `usage: ${FORM}\n\nHolds a proof in its full size.\n\n${tableText(rows)}\n\n${tableText(COMMON_ROWS)}`;
};

const names = readdirSync(SOURCES).flatMap((file) => (file.endsWith('.ts') ? [file.slice(0, -3)] : []));
const words = process.argv.slice(2);
const [name] = words;
if (name === undefined || words.includes('--help')) {
  console.log(helpText(names.includes(name) ? [name] : names));
} else if (words.includes('--version')) {
  console.log(versionText());
} else if (!names.includes(name)) {
  refuse(`there is no proof ${JSON.stringify(name)}`, FORM);
} else {
  makeReady();
  await import(`../dist/test/proofs/${name}.js`).catch((error) => {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    refuse(problemOf(error), FORM);
  });
}
