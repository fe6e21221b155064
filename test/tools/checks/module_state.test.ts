import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { tempFolder } from '../../fixtures/temp_folder.js';

const CHECK = fileURLToPath(new URL('../../../../tools/checks/module_state.mjs', import.meta.url));

t.test('state at the top of a module is refused', async (t) => {
  const folder = tempFolder(t);
  const check = (text: string) => {
    const path = join(folder, 'src/one.ts');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const { status, stdout } = spawnSync(process.execPath, [CHECK, folder], { encoding: 'utf8' });
    return { status, lines: stdout.split('\n').filter((line) => line !== '') };
  };
  const refused: [text: string, why: string][] = [
    ['export let is_on = true;', 'is_on is a variable'],
    ['const known = new WeakMap<object, string>();', 'known is a WeakMap'],
    ['export const pool = new SharedPool();', 'pool is a SharedPool'],
    ['const texts = new Map();\nexport function note() { texts.set(1, 2); }', 'texts is changed by a function'],
    ['const all: string[] = [];\nexport const add = () => all.push("one");', 'all is changed by a function'],
    ['const counts = { taken: 0 };\nexport const take = () => counts.taken++;', 'counts is changed by a function'],
    ['const room = [0];\nexport const put = (at: number) => { room[at] = 1; };', 'room is changed by a function'],
    ['export class One { static readonly known = new LRUCache(); }', 'One.known is a LRUCache'],
  ];
  for (const [text, why] of refused) t.same(check(text), { status: 1, lines: [`src/one.ts:1: ${why}`] }, why);
  const passed: [text: string, says: string][] = [
    ['const ONE = new Map([[1, 2]]);\nexport const of = (key: number) => ONE.get(key);', 'a table'],
    [
      'const ALL = new Map();\nfor (const one of [1, 2]) ALL.set(one, one);',
      'a table filled while the module is loaded',
    ],
    ['const texts = [1];\nexport function all() { const texts = [2]; texts.push(3); }', 'another of that name'],
    ['const MEMO = new PureMemo(10, (text: string) => text.trim());', 'what a pure function has answered'],
    ['export class One { readonly known = new LRUCache(); }', 'what each object has of its own'],
  ];
  for (const [text, says] of passed) t.same(check(text), { status: 0, lines: [] }, says);
});
