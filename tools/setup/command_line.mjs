/*
 * What was typed behind the name of a program. Help, the version and mistakes are answered here, before anything is
 * installed or built.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './build.mjs';

const COLUMNS = 80;
const NOT_UNDERSTOOD = 2;

const COMMON_OPTIONS = {
  help: { says: 'print this text' },
  version: { says: 'print the version of Spool' },
};

export const versionText = () => `spool ${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}`;

/** For programs that read their own options, but only once there are packages: `--version` alone needs none. */
export const answerVersion = () => {
  if (process.argv.length !== 3 || process.argv[2] !== '--version') return;
  console.log(versionText());
  process.exit(0);
};

/**
 * Gives the options and the other words. Ends the process after --help and --version (exit code 0), and after what it
 * can't understand (2).
 * `form` is how the program is called, `says` what it does, `notes` are paragraphs below the options. An option has
 * `says`, and where it takes a value `value` (how help calls it) and `default`. With `number` that value becomes a
 * number of at least `min` (0), with `whole` a whole one; `one_of` lists the words it may be.
 */
export const readCommandLine = ({ form, says, options = {}, notes = [], words_max = 0 }) => {
  const all = { ...options, ...COMMON_OPTIONS };
  const { values, positionals } = parsed(all, form);
  if (values.help) {
    console.log(helpText({ form, says, options: all, notes }));
    process.exit(0);
  }
  if (values.version) {
    console.log(versionText());
    process.exit(0);
  }
  if (positionals.length > words_max) refuse(`unexpected argument ${JSON.stringify(positionals[words_max])}`, form);
  for (const [name, option] of Object.entries(options)) values[name] = checkedValue(name, option, values[name], form);
  return { values, positionals };
};

/** Ends the process with one line that says what was wrong. */
export const refuse = (problem, form) => {
  const [called] = /^npm (?:run (?:spool -- )?)?\S+/.exec(form);
  console.error(`${problem}; \`${called}${called.includes(' -- ') ? '' : ' --'} --help\` shows the usage`);
  process.exit(NOT_UNDERSTOOD);
};

const parsed = (options, form) => {
  const known = Object.entries(options).map(([name, option]) => {
    const { value, default: otherwise } = option;
    return [name, { type: value === undefined ? 'boolean' : 'string', ...(otherwise && { default: otherwise }) }];
  });
  try {
    return parseArgs({ allowPositionals: true, options: Object.fromEntries(known) });
  } catch (error) {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    return refuse(problemOf(error), form);
  }
};

/** Node's message without its advice. */
export const problemOf = ({ message }) => message.split(/\n|\. /)[0].replace(/^./, (first) => first.toLowerCase());

const checkedValue = (name, { number, whole, min = 0, one_of }, text, form) => {
  if (text === undefined) return undefined;
  if (one_of !== undefined && !one_of.includes(text)) refuse(`--${name} must be one of ${one_of.join(', ')}`, form);
  if (!number && !whole) return text;
  const value = Number(text);
  const fits = text.trim() !== '' && value >= min && (whole ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (!fits) refuse(`--${name} must be a ${whole ? 'whole ' : ''}number from ${min} on`, form);
  return value;
};

const helpText = ({ form, says, options, notes }) => {
  const rows = Object.entries(options).map(([name, { value, says, default: otherwise }]) => [
    value === undefined ? `--${name}` : `--${name} ${value}`,
    otherwise === undefined ? says : `${says} (default: ${otherwise})`,
  ]);
  const paragraphs = notes.flatMap((note) => ['', ...(note.includes('\n') ? [note] : wrapped(note))]);
  return [`usage: ${form}`, '', ...wrapped(says), '', tableText(rows), ...paragraphs].join('\n');
};

/** Names with texts beside them. */
export const tableText = (rows) => {
  const indent = Math.max(...rows.map(([name]) => name.length)) + 4;
  const lines = rows.flatMap(([name, text]) =>
    wrapped(text, COLUMNS - indent).map((line, at) => (at === 0 ? `  ${name}` : '').padEnd(indent) + line),
  );
  return lines.join('\n');
};

/** Lines of at most so many cells, broken between words. */
const wrapped = (text, cells = COLUMNS) => {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= cells) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};
