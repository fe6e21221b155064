import t from 'tap';
import { nameInArchive } from '../../../src/features/exports/export_contents.js';

t.test('K-127 a file has a name in an archive that every system can unpack', async (t) => {
  const rows: [name: string, saved: string][] = [
    ['plain.txt', 'plain.txt'],
    ['résumé 2.0.pdf', 'résumé 2.0.pdf'],
    ['a:b*c?.txt', 'a_b_c_.txt'],
    ['a"b<c>|.txt', 'a_b_c__.txt'],
    ['ends with dot.', 'ends with dot_'],
    ['dots. .', 'dots___'],
    ['CON', '_CON'],
    ['aux.', 'aux_'],
    ['NUL.tar.gz', '_NUL.tar.gz'],
    ['com1', '_com1'],
    ['LPT².txt', '_LPT².txt'],
    ['conin$', '_conin$'],
    ['console.log', 'console.log'],
    ['com10', 'com10'],
    ['a/../b\\c', 'a_.._b_c'],
  ];
  for (const [name, saved] of rows) t.equal(nameInArchive(name), saved, name);
});
