import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { tempFolder } from '../../fixtures/temp_folder.js';

const CHECK = fileURLToPath(new URL('../../../../tools/checks/names.mjs', import.meta.url));

t.test('a name of a type that more than three files declare is refused', async (t) => {
  const folder = tempFolder(t);
  for (const name of ['src', 'actors', 'routes', 'certs', 'app', 'tools']) mkdirSync(join(folder, name));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const check = () => {
    const { status, stdout } = spawnSync(process.execPath, [CHECK, folder], { encoding: 'utf8' });
    return { status, lines: stdout.split('\n').filter((line) => line !== '') };
  };
  for (const name of ['a', 'b', 'c']) write(`src/${name}.ts`, 'type Deps = { now: () => number };\n');
  write('app/d.tsx', 'export const Deps = 1;\n');
  t.same(check(), { status: 0, lines: [] }, 'three may, and a value is no type');
  write('app/d.tsx', 'export class Deps {}\n');
  t.same(check(), {
    status: 1,
    lines: ['Deps is declared in 4 files: src/a.ts, src/b.ts, src/c.ts, app/d.tsx'],
  });
});
