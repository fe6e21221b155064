import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { GERMAN } from '../../../src/domain/language/german.js';
import { acceptedLanguage, languageAmong, namesLanguage, textsIn } from '../../../src/domain/language/texts.js';

/** The texts of the server's pages and mails, and their table: docs/contributing.md, "Languages of pages and mails". */

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const FOLDERS = ['actors', 'routes', 'src'];
const TEMPLATES = 'src/edge/pages/templates/';
/** Templates of pages for operators and for those who write programs, which are in English alone. */
const ENGLISH = /^(app|document|example|fields|guides?|operat\w+|reference\w*|start|type)\.eta$/;
/** In the layout, and parts of names. */
const NO_TEXTS = ['Spool'];

const keys = new Set<string>(Object.keys(GERMAN));
const used = new Set<string>();
const faults: string[] = [];

for (const folder of FOLDERS) for (const file of filesOf(folder)) lookAtSource(file);
for (const file of readdirSync(ROOT + TEMPLATES)) if (!ENGLISH.test(file)) lookAtTemplate(file);

t.test('K-441 every text of pages and mails is passed through the table', async (t) => {
  t.same(faults, []);
});

t.test('K-441 the table has every text that is used, and no other', async (t) => {
  t.same(
    [...keys].filter((key) => !used.has(key)),
    [],
  );
});

t.test('K-441 a translation has the places of its text', async (t) => {
  for (const [key, translation] of Object.entries(GERMAN)) {
    if (typeof translation === 'string') t.same(placesOf(translation), placesOf(key), key);
    else for (const form of Object.values(translation)) t.same(placesOf(`${form}{n}`), placesOf(`${key}{n}`), key);
  }
});

t.test('K-440 the language is the one that Accept-Language prefers, of those that there are', async (t) => {
  for (const [header, language] of [
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en-GB, de;q=0.9', 'en'],
    ['fr-FR, de;q=0.5, en;q=0.4', 'de'],
    ['en;q=0.1, DE ; q=0.2', 'de'],
    ['de;q=0, en', 'en'],
    ['de;q=x, en;q=0.1', 'en'],
    ['fr', 'en'],
    [';;,,=;q', 'en'],
  ] as const)
    t.equal(acceptedLanguage(header), language, `${header}`);
  t.equal(languageAmong(['constructor']), 'en');
  for (const header of [undefined, '', '*', '*;q=0.5']) t.equal(namesLanguage(header), false, `${header}`);
  for (const header of ['de', 'fr', '*, de;q=0.1']) t.equal(namesLanguage(header), true, header);
});

t.test('K-441 texts, numbers, dates and durations are in the language', async (t) => {
  const [english, german] = [textsIn('en'), textsIn('de')];
  const at = Date.UTC(2026, 1, 3, 8, 30);
  t.equal(english.momentText(at), '3 February 2026, 08:30 UTC');
  t.equal(german.momentText(at), '3. Februar 2026, 08:30 UTC');
  t.equal(german.timeText(at, 'Europe/Berlin'), '09:30');
  t.equal(english.durationText(600_000), 'ten minutes');
  t.equal(german.durationText(600_000), '10 Minuten');
  const forms = { one: '{n} second', other: '{n} seconds' } as const;
  t.same(
    [1, 1_200].flatMap((n) => [english.sayCount(n, forms), german.sayCount(n, forms)]),
    ['1 second', '1 Sekunde', '1,200 seconds', '1.200 Sekunden'],
  );
  t.same(german.sayWith('to continue to {app}', { app: 'NODE' }), ['um mit ', 'NODE', ' fortzufahren']);
  t.same(german.sayKnown('This sign-in is over.'), { text: 'Diese Anmeldung ist vorbei.', language: 'de' });
  t.same(german.sayKnown('toString'), { text: 'toString', language: 'en' });
});

function filesOf(folder: string): string[] {
  return readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^domain\/language\/german(_scopes)?\.ts$/.test(file))
    .map((file) => `${folder}/${file}`);
}

function lookAtSource(file: string): void {
  const source = ts.createSourceFile(file, readFileSync(ROOT + file, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && keys.has(node.text)) used.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** Types don't see templates: each text that they pass must be in the table, and no other may stand between their tags. */
function lookAtTemplate(file: string): void {
  const template = readFileSync(ROOT + TEMPLATES + file, 'utf8');
  for (const [, text = ''] of template.matchAll(/\b(?:say|sayWith)\('([^']*)'/g)) use(file, text);
  for (const [, text = ''] of template.matchAll(/\bother: '([^']*)'/g)) use(file, text);
  const shown = template.replace(/<%[\s\S]*?%>/g, ' ').replace(/<[^>]*>/g, ' ');
  for (const word of shown.match(/\p{L}{2,}/gu) ?? [])
    if (!NO_TEXTS.includes(word)) faults.push(`${file}: bare text: ${word}`);
  for (const [attribute] of template.matchAll(/\b(?:alt|title|aria-label|placeholder)="[^"<]*\p{L}[^"]*"/gu))
    faults.push(`${file}: bare attribute: ${attribute}`);
}

function use(file: string, text: string): void {
  used.add(text);
  if (!keys.has(text)) faults.push(`${file}: not in the table: ${text}`);
}

function placesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].sort();
}
