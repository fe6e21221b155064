import t from 'tap';
import { SettledFiles } from '../../../tools/watch/settled_files.js';

const file = (size: number, mtime_ms = 1) => new Map([['a.wav', { size, mtime_ms }]]);

t.test('K-421 a file is ready when size and time stand still for so long, and at a second look', async (t) => {
  const settled = new SettledFiles(10_000);
  t.same(settled.look(file(1), 0), { ready: [], wait_ms: 10_000 });
  t.same(settled.look(file(1), 4_000), { ready: [], wait_ms: 6_000 });
  t.same(settled.look(file(2), 9_000), { ready: [], wait_ms: 10_000 }, 'it grows');
  t.same(settled.look(file(2, 2), 18_000), { ready: [], wait_ms: 10_000 }, 'it was written again');
  t.same(settled.look(new Map(), 27_000), { ready: [], wait_ms: null }, 'it has gone');
  t.same(settled.look(file(2, 2), 29_000), { ready: [], wait_ms: 10_000 });
  t.same(settled.look(file(2, 2), 39_000), { ready: ['a.wav'], wait_ms: null });
  const at_once = new SettledFiles(0);
  t.same(at_once.look(file(1), 0), { ready: [], wait_ms: 0 }, 'one look is not enough');
  t.same(at_once.look(file(1), 0), { ready: ['a.wav'], wait_ms: null });
});
