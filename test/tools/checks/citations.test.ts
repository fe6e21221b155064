import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { tempFolder } from '../../fixtures/temp_folder.js';

const PROGRAM = fileURLToPath(new URL('../../../../tools/checks/citations.mjs', import.meta.url));
const DOCS = {
  'docs/rules.md': '# Rules\n\n- A-001: One.\n- A-002: Two. *Open: not yet.*\n- X-01: A reading.\n',
  'docs/guide.md': '# Guide\n\n## The commit\n\n```sh\n# Not a heading\n```\n',
};

/** What the check says of a repository with these texts beside the docs. */
function faultsOf(t: Test, texts: Record<string, string>): string[] {
  const root = tempFolder(t);
  for (const [path, text] of Object.entries({ ...DOCS, ...texts })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, root], { encoding: 'utf8' });
  const faults = stdout.split('\n').filter((line) => line !== '');
  t.equal(status, faults.length === 0 ? 0 : 1, 'the exit code says whether there are faults');
  return faults;
}

t.test('citations that lead somewhere pass, also over the end of a line', async (t) => {
  const faults = faultsOf(t, {
    'src/a.ts': '/** Rule A-001; rules A-001, A-002 and X-01; rules A-001 to\n * A-002. */\n',
    'src/b.lua': '--[[\n  Why (docs/guide.md, "The\n  commit"); see docs/guide.md, "Guide" and "The commit".\n]]\n',
    'src/c.ts': '/**\n * In docs/guide.md,\n * "The commit".\n */\n',
    'test/a.test.ts': "t.test('A-001 X-01 a title', async () => {});\n",
  });
  t.same(faults, []);
});

t.test('what leads nowhere is named with its file and line', async (t) => {
  const cases: [text: string, fault: string][] = [
    ['docs/other.md', 'there is no docs/other.md'],
    ['docs/guide.md, "Nothing"', 'docs/guide.md has no heading "Nothing"'],
    ['docs/guide.md, "The commit" and "Nothing"', 'docs/guide.md has no heading "Nothing"'],
    ['docs/guide.md, "Not a heading"', 'docs/guide.md has no heading "Not a heading"'],
    ['rule A-003', 'docs/rules.md has no rule A-003'],
    ['rules A-001 to K-999', 'docs/rules.md has no rule K-999'],
    ['as A-001 says', 'A-001 is cited as "rule A-001"'],
  ];
  for (const [text, fault] of cases) {
    t.same(faultsOf(t, { 'src/a.ts': `\n// ${text}\n` }), [`src/a.ts:2: ${fault}`], text);
    if (!text.startsWith('as ')) t.same(faultsOf(t, { 'README.md': `\n${text}\n` }), [`README.md:2: ${fault}`], text);
  }
  t.same(faultsOf(t, { 'test/a.test.ts': "t.test('A-009 a title')" }), [
    'test/a.test.ts:1: docs/rules.md has no rule A-009',
  ]);
});

t.test('files and folders that documents name are there', async (t) => {
  const texts = { 'src/a.ts': '', 'docs/more.md': 'Open `src/a.ts` in `src/`; `tools/list` is a method.\n' };
  t.same(faultsOf(t, texts), []);
  t.same(faultsOf(t, { 'docs/more.md': '# More\n\nOpen `src/b.ts`, then `actors/c/`.\n' }), [
    'docs/more.md:3: there is no src/b.ts',
    'docs/more.md:3: there is no actors/c/',
  ]);
});

t.test('documents that the repository does not hold are not cited', async (t) => {
  for (const text of [
    'Interface: "Errors".',
    'Choices: "Devices".',
    'choices: Devices',
    'see design section 4',
    'design.md section 12',
    'notes/devices rule 27',
    'requirements K-001',
    'as interface.md has it',
  ]) {
    const faults = faultsOf(t, { 'src/a.ts': `/* ${text} */`, 'src/page.css': `/* ${text} */`, 'src/page.eta': text });
    t.ok(
      ['src/a.ts', 'src/page.css', 'src/page.eta'].every((file) => faults.some((one) => one.startsWith(file))),
      text,
    );
  }
  t.match(faultsOf(t, { 'src/limits.ts': 'a: 80, // Limits' }), [/^src\/limits\.ts:1: "\/\/ Limits" cites/]);
  t.match(faultsOf(t, { 'src/limits.ts': 'a: 80, // choices' }), [/^src\/limits\.ts:1: /]);
});

t.test('without rules nothing can be looked up', async (t) => {
  t.match(faultsOf(t, { 'docs/rules.md': '# Rules\n' }), [/^docs\/rules\.md: it holds no rules/]);
});
