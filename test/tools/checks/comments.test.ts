import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { tempFolder } from '../../fixtures/temp_folder.js';

const CHECK = fileURLToPath(new URL('../../../../tools/checks/comments.mjs', import.meta.url));

t.test('a doc comment that begins with "What" is refused', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'src'));
  const write = (name: string, text: string) => writeFileSync(join(folder, 'src', name), text);
  const check = () => {
    const { status, stdout } = spawnSync(process.execPath, [CHECK, folder], { encoding: 'utf8' });
    return { status, lines: stdout.split('\n').filter((line) => line !== '') };
  };
  write('a.ts', '/** Counts what came in. */\nconst a = 1;\n// What is left.\nconst b = 2;\n');
  t.same(check(), { status: 0, lines: [] }, 'it may hold the word, and so may other comments');
  write('a.tsx', 'const a = 1;\n\n/** What is left. */\nconst b = 2;\n');
  write('b.mjs', '/**\n * What came in,\n * and when.\n */\n');
  t.same(check(), {
    status: 1,
    lines: ['src/a.tsx:3: What is left. */', 'src/b.mjs:1: What came in,'],
  });
});
