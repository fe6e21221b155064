/*
 * What comments and texts cite is there. `node tools/checks/citations.mjs [ROOT]`: a line for each fault; exit code 1 if
 * there is one. There are two forms: `docs/architecture.md, "The commit"` for a heading, and `rule H-009` for a rule of
 * docs/rules.md. Titles and data of tests name rules by their id alone. Files that documents name in backticks are there.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));

const FOLDERS = ['src', 'actors', 'routes', 'certs', 'app', 'tools', 'test', 'docs', 'kits', 'examples', 'deploy'];
const TEXT = /\.(ts|mts|mjs|js|lua|css|eta|md|py|sh|yml)$/;
const SKIPPED = /(^|\/)(node_modules|dist)\//;
/** This file and its test name the forms that are refused. */
const EXEMPT = new Set(['citations.mjs', 'citations.test.ts']);

/** Between the parts of a citation a line of a comment may end. */
const GAP = String.raw`(?:\s|\n\s*(?:\*|//|--|#))*\s`;
const FILE = new RegExp(String.raw`\bdocs/[\w-]+\.md((?:(?:,|${GAP}and)${GAP}"[^"]+")*)`, 'g');
const BROKEN_LINE = /\s*\n\s*(?:\*|\/\/|--|#)?\s*/g;
const RULE_ID = /\b(?:[A-K]-\d{3}|X-\d{2})\b/g;
const CITED_RULES = /\b[Rr]ules?\s(?:[*/\s]*(?:,|and|or|to)?[*/\s]*\b(?:[A-K]-\d{3}|X-\d{2})\b)+/g;

/** A file or a folder of the repository, as documents name it. */
const NAMED_FILE = new RegExp(String.raw`\`((?:${FOLDERS.join('|')})/(?:[\w./-]+\.\w+|[\w./-]*/))\``, 'g');

/** Forms that name documents which this repository does not hold. */
const REFUSED = [
  /\bdesign(?:\.md)?,? section\b/gi,
  /\binterface(?:\.md\b|,? section\b)/gi,
  /\b[Ii]nterface: (?=[A-Z"])/g,
  /(?<!docs\/)\bchoices\.md\b(?!\))/gi,
  /\bchoices: |\/\/ choices\b|\brequirements(?:\.md\b| [A-K]-)/gi,
  /\/\/ Limits\b|(?<!\w)notes\/\w/g,
];

const faults = [];
const headings = new Map();
const rules = new Set([...read('docs/rules.md').matchAll(/^- ((?:[A-K]-\d{3}|X-\d{2})): \S/gm)].map(([, id]) => id));
if (rules.size === 0) faults.push('docs/rules.md: it holds no rules');
for (const path of textsBelow()) checkText(path, read(path));
for (const fault of faults) console.log(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

function textsBelow() {
  const found = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name))),
  );
  const beside = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...found, ...beside].filter((path) => TEXT.test(path) && !SKIPPED.test(path) && !EXEMPT.has(basename(path)));
}

function checkText(path, text) {
  const fault = (at, what) => faults.push(`${path}:${text.slice(0, at).split('\n').length}: ${what}`);
  for (const form of REFUSED) {
    for (const { 0: found, index } of text.matchAll(form)) {
      fault(index, `"${found.trim()}" cites what this repository does not hold`);
    }
  }
  for (const { 0: found, 1: cited, index } of text.matchAll(FILE)) {
    const [file] = found.split(/[,\s]/, 1);
    if (!existsSync(join(root, file))) fault(index, `there is no ${file}`);
    else
      for (const [, quoted] of cited.matchAll(/"([^"]+)"/g)) {
        const heading = quoted.replaceAll(BROKEN_LINE, ' ');
        if (!headingsOf(file).has(heading)) fault(index, `${file} has no heading "${heading}"`);
      }
  }
  if (/^docs\/|^README\.md$/.test(path)) {
    for (const { 1: named, index } of text.matchAll(NAMED_FILE)) {
      if (!existsSync(join(root, named))) fault(index, `there is no ${named}`);
    }
  }
  for (const { 0: id, index } of text.matchAll(RULE_ID)) {
    if (!rules.has(id)) fault(index, `docs/rules.md has no rule ${id}`);
  }
  if (/^(test|docs)\/|\.md$/.test(path)) return;
  const uncited = text.replaceAll(CITED_RULES, (found) => found.replaceAll(/[^\n]/g, ' '));
  for (const { 0: id, index } of uncited.matchAll(RULE_ID)) fault(index, `${id} is cited as "rule ${id}"`);
}

function headingsOf(file) {
  let found = headings.get(file);
  if (found === undefined) {
    const prose = read(file).replaceAll(/^```.*?^```/gms, '');
    found = new Set([...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading));
    headings.set(file, found);
  }
  return found;
}

function read(path) {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
}
