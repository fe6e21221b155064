import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { dateText, dayOf, localText, momentOf, profile_zone } from '../../app/language/formats.js';
import { GERMAN } from '../../app/language/german.js';
import { locale, table, tagOf } from '../../app/language/language.js';
import { say, sayCount, sayWith } from '../../app/language/say.js';
import { workspaceName } from '../../app/shell/workspace_name.js';
import { languageOf } from '../../src/domain/language/text_table.js';

/** The texts of the app and their table: docs/contributing.md, "Languages of the app". */

const APP = fileURLToPath(new URL('../../../app/', import.meta.url));
const SCOPE_TEXTS = fileURLToPath(new URL('../../../src/edge/pages/scope_texts.ts', import.meta.url));
/** Operators' pages are in English alone, workers show nothing, and icons are drawings. */
const LEFT_OUT = /^(operator|worker)\/|^language\/german\.ts$|^parts\/icon\.tsx$|\.d\.ts$/;
const READ_ATTRIBUTES =
  'alt aria-label aria-description aria-valuetext placeholder title label lead hint what words submit';
/** Begin with a capital letter, and are no text: names of headers, keys, errors, products and parts of addresses. */
const NO_TEXTS = [
  ...['Authorization', 'Content-Disposition', 'Content-Length', 'Content-Type', 'Last-Event-ID', 'Retry-After'],
  ...['ArrowDown', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'End', 'Enter', 'Escape', 'Home', 'PageDown', 'PageUp'],
  ...['AbortError', 'ApiError', 'NoMicrophone', 'SignInRefused', 'SignedOut', 'Files'],
  ...['Edg/', 'Edge', 'Firefox/', 'Firefox', 'Chrome/', 'Chrome', 'Safari/', 'Safari'],
  ...['Android', 'Macintosh', 'Windows', 'Linux', 'Spool', 'English', 'Deutsch', 'webhook-id'],
];

type Fault = string;
const keys = new Set<string>(Object.keys(GERMAN));
const used = new Set<string>();
const faults: Fault[] = [];

for (const file of filesOfApp()) look(file);
for (const text of literalsIn(SCOPE_TEXTS)) if (keys.has(text)) used.add(text);

t.test('K-362 every text of the app is passed through the table', async (t) => {
  t.same(faults, []);
});

t.test('K-362 the table has every text that is used, and no other', async (t) => {
  t.same(
    [...keys].filter((key) => !used.has(key)),
    [],
  );
});

t.test('K-362 a translation has the places of its text', async (t) => {
  for (const [key, translation] of Object.entries(GERMAN)) {
    const forms = typeof translation === 'string' ? [translation] : Object.values(translation);
    for (const form of forms) {
      const places = new Set([...placesOf(form), ...(typeof translation === 'string' ? [] : ['n'])]);
      t.same([...places].sort(), [...new Set(placesOf(key))].sort(), key);
    }
  }
});

t.test('K-362 dates, numbers and lists are written in one place', async (t) => {
  const written = filesOfApp().filter((file) => /\bnew Intl\.|\bIntl\.[A-Z]\w+\(|\.toLocale/.test(sourceOf(file)));
  t.same(written, ['language/formats.ts']);
});

t.test('K-363 the language is the first of the browser’s that the app speaks, in the person’s own form', async (t) => {
  t.equal(languageOf(['fr-FR', 'de-AT', 'en'], ['en', 'de']), 'de');
  t.equal(languageOf(['fr'], ['en', 'de']), null);
  t.equal(tagOf('de', ['en-US', 'de-AT', 'de']), 'de-AT');
  t.equal(tagOf('de', ['en-US']), 'de');
});

t.test('K-457 the private workspace has its first name in the language, until it is renamed', async (t) => {
  t.teardown(() => inEnglish());
  t.equal(workspaceName({ name: 'Private', private: true }), 'Private');
  [table.value, locale.value] = [GERMAN, 'de'];
  t.equal(workspaceName({ name: 'Private', private: true }), 'Privat');
  t.equal(workspaceName({ name: 'Private', private: false }), 'Private', 'a shared one is called as its owner says');
  t.equal(workspaceName({ name: 'Mine', private: true }), 'Mine');
});

t.test('K-363 texts, places and plurals are in the language', async (t) => {
  const forms = { one: '{n} recording', other: '{n} recordings' } as const;
  t.equal(say('Delete {name}?', { name: 'Ann' }), 'Delete Ann?');
  t.equal(say('Done|button'), 'Done');
  t.same(
    [1, 1_200].map((n) => sayCount(n, forms)),
    ['1 recording', '1,200 recordings'],
  );
  t.teardown(() => inEnglish());
  [table.value, locale.value] = [GERMAN, 'de'];
  t.equal(say('Delete {name}?', { name: 'Ann' }), 'Ann löschen?');
  t.same(
    [1, 1_200].map((n) => sayCount(n, forms)),
    ['1 Aufnahme', '1.200 Aufnahmen'],
  );
  t.same(sayWith('Ends {time}', { time: 'NODE' }), ['Gilt bis ', 'NODE', '']);
});

t.test('K-364 times are those of the profile’s zone, there and back', async (t) => {
  t.teardown(() => {
    profile_zone.value = null;
  });
  const at = '2026-11-03T23:30:00.000Z';
  for (const [zone, day, local] of [
    ['Europe/Berlin', '2026-11-04', '2026-11-04T00:30'],
    ['America/New_York', '2026-11-03', '2026-11-03T18:30'],
    ['Asia/Kathmandu', '2026-11-04', '2026-11-04T05:15'],
  ] as const) {
    profile_zone.value = zone;
    t.equal(dayOf(at), day, zone);
    t.equal(localText(at), local, zone);
    t.equal(momentOf(local), Date.parse(at), zone);
    t.match(dateText(at, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }), local.slice(11));
  }
  profile_zone.value = 'Europe/Berlin';
  t.equal(momentOf('2026-03-29T12:00'), Date.parse('2026-03-29T10:00:00Z'), 'on the day on which clocks change');
  t.equal(momentOf('2026-03-29'), Date.parse('2026-03-28T23:00:00Z'));
  t.equal(momentOf('2026-03-30'), Date.parse('2026-03-29T22:00:00Z'));
  t.ok(Number.isNaN(momentOf('2026-13-41')));
});

function inEnglish(): void {
  [table.value, locale.value] = [null, 'en'];
}

function filesOfApp(): string[] {
  return readdirSync(APP, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !LEFT_OUT.test(file))
    .sort();
}

function sourceOf(file: string): string {
  return readFileSync(APP + file, 'utf8');
}

function literalsIn(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isStringLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function look(file: string): void {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, sourceOf(file), ts.ScriptTarget.Latest, true, kind);
  const fault = (node: ts.Node, why: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    faults.push(`${file}:${line + 1}: ${why}: ${node.getText().trim()}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text) && !NO_TEXTS.includes(node.text.trim()))
      fault(node, 'bare text');
    if (ts.isStringLiteralLike(node)) lookAtLiteral(node, fault);
    if (ts.isTemplateExpression(node) && isWorded(node)) fault(node, 'a text that is put together');
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function lookAtLiteral(node: ts.StringLiteralLike, fault: (node: ts.Node, why: string) => void): void {
  const { text, parent } = node;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return;
  if (keys.has(text)) used.add(text);
  else if (isCountedSingular(node)) lookAtSingular(node, fault);
  else if (isArgumentOfSay(node)) fault(node, 'not in the table');
  else if (ts.isJsxAttribute(parent) && READ_ATTRIBUTES.split(' ').includes(parent.name.getText())) {
    if (/\p{L}{2}/u.test(text) && !/^https:/.test(text)) fault(node, 'bare attribute');
  } else if (/^\p{Lu}\p{Ll}/u.test(text) && !NO_TEXTS.includes(text) && !isNameOfPage(node)) {
    fault(node, 'a text that is not in the table');
  }
}

/** The `one` of `sayCount`, which other languages have in their own way. */
function isCountedSingular({ parent }: ts.StringLiteralLike): boolean {
  return ts.isPropertyAssignment(parent) && parent.name.getText() === 'one';
}

function lookAtSingular(node: ts.StringLiteralLike, fault: (node: ts.Node, why: string) => void): void {
  const forms = node.parent.parent as ts.ObjectLiteralExpression;
  const [other] = forms.properties.filter(ts.isPropertyAssignment).filter(({ name }) => name.getText() === 'other');
  const plural = other !== undefined && ts.isStringLiteralLike(other.initializer) ? other.initializer.text : '';
  if (placesOf(node.text).some((place) => !placesOf(plural).includes(place))) fault(node, 'other places');
}

function isArgumentOfSay({ parent }: ts.StringLiteralLike): boolean {
  return ts.isCallExpression(parent) && ['say', 'sayWith'].includes(parent.expression.getText());
}

/** Pages are called by the name of their component in `routes.ts`. */
function isNameOfPage({ parent }: ts.StringLiteralLike): boolean {
  return ts.isCallExpression(parent) && ['content', 'setup'].includes(parent.expression.getText());
}

/** Words with a space between, but no names of classes. */
function isWorded(node: ts.TemplateExpression): boolean {
  const text = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('□');
  if (/^(Bearer |npm run |\/)|^(□ (h|min) ?)+□?$/.test(text) || isOfMarkup(node)) return false;
  return /\p{Lu}\p{Ll}+ |\p{Ll}{2,} \p{Ll}{2,}|□ \p{Ll}{3,}|\p{Ll}{3,} □/u.test(text);
}

function isOfMarkup(node: ts.Node): boolean {
  const attribute = ts.findAncestor(node, ts.isJsxAttribute);
  return attribute !== undefined && ['class', 'id', 'href', 'key'].includes(attribute.name.getText());
}

function placesOf(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}
