import t from 'tap';
import { NOTE_NAME, noteNames } from '../../../tools/note_folder/note_names.js';

const id = '01a22792-ca63-7696-bba6-6d000000008c';
const day = '2026-11-29';

t.test('K-425 a title makes a name that no file system takes for a path, and others with an id', async (t) => {
  const rows: [title: string, name: string][] = [
    ['Planning', '2026-11-29 Planning.md'],
    ['../../etc/passwd', '2026-11-29 .. .. etc passwd.md'],
    ['a/b\\c?d%e*f:g|h"i<j>k', '2026-11-29 a b c d e f g h i j k.md'],
    ['two\nlines\u2028and\u0000more', '2026-11-29 two lines and more.md'],
    ['[[Link]] #tag ^block', '2026-11-29 Link tag block.md'],
    ['CON ', '2026-11-29 CON.md'],
    ['ends with dots...', '2026-11-29 ends with dots.md'],
    ['\u202egnp.exe', '2026-11-29 gnp.exe.md'],
    ['', '2026-11-29 Recording.md'],
    ['???', '2026-11-29 Recording.md'],
    ['Größe 会議 🎉', '2026-11-29 Größe 会議 🎉.md'],
  ];
  for (const [title, name] of rows) {
    const [plain = '', short, whole] = noteNames({ id, day, title });
    t.equal(plain, name);
    t.match(plain, NOTE_NAME);
    t.equal(short, name.replace(/\.md$/, ' 0000008c.md'));
    t.equal(whole, `2026-11-29 ${id}.md`);
  }
  const [long = ''] = noteNames({ id, day, title: '会'.repeat(500) });
  t.ok(Buffer.byteLength(long) <= 200, 'short enough for every file system');
  for (const name of ['../a.md', 'a/b.md', '.hidden.md', 'a.txt', 'a\u0000.md', 'a\\b.md'])
    t.notMatch(name, NOTE_NAME, name);
});
