import t from 'tap';
import { type FilesMessage, files, type KeptFile } from '../../../actors/accounts/files.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { Played } from '../../fixtures/decisions.js';

const ANN = '019a0000-0000-7000-8000-0000000000aa';
const idOf = (n: number) => `019a0000-0000-7000-8000-${n.toString(16).padStart(10, '0')}aa`;
const about = { name: 'a.txt', media_type: 'text/plain', sha256: 'ab'.repeat(32) };
const declare = (n: number, size_bytes = 10): FilesMessage => ({
  type: 'declare',
  file_id: idOf(n),
  size_bytes,
  ...about,
});

class PlayedFiles extends Played<{ count: number; bytes: number }, FilesMessage, unknown> {
  constructor() {
    super(files as never, ANN);
  }

  code(message: FilesMessage): string {
    const { reply } = this.send(message);
    return isRefusal(reply) ? reply.refused : 'done';
  }
}

t.test('K-125 what is announced counts at once, up to the bounds of an account', async (t) => {
  const many = new PlayedFiles();
  for (let n = 1; n <= LIMITS.files_per_account_max; n++) many.ask(declare(n, 0));
  t.same(many.state, { count: 1_000, bytes: 0 });
  t.match(many.send(declare(1_001, 0)).reply, { refused: 'CONFLICT', message: /1000 files/ });
  t.equal(many.code(declare(7, 0)), 'done', 'the same again is no other');
  t.equal(many.code({ type: 'delete', file_id: idOf(7) }), 'done');
  t.equal(many.code(declare(1_001, 0)), 'done');

  const large = new PlayedFiles();
  const whole = Math.floor(LIMITS.file_bytes_per_account_max / LIMITS.file_bytes_max);
  for (let n = 1; n <= whole; n++) large.ask(declare(n, LIMITS.file_bytes_max));
  const left = LIMITS.file_bytes_per_account_max - whole * LIMITS.file_bytes_max;
  t.match(large.send(declare(100, left + 1)).reply, { refused: 'CONFLICT', message: /1073741824 bytes/ });
  t.equal(large.code(declare(100, left)), 'done');
  t.equal(large.state?.bytes, LIMITS.file_bytes_per_account_max);
});

t.test('K-126 bytes have a day to come', async (t) => {
  const played = new PlayedFiles();
  for (const n of [1, 2, 3]) played.ask(declare(n, n));
  t.match(played.ask<KeptFile>({ type: 'stored', file_id: idOf(2) } as never), { status: 'stored' });
  t.equal(played.code({ type: 'delete', file_id: idOf(3) }), 'done');
  t.equal(played.reminders.size, 1);
  played.pass(LIMITS.file_upload_life_ms - 1);
  t.equal(played.records('files').size, 2);
  played.pass(1);
  t.same([...played.records('files').keys()], [idOf(2)]);
  t.same(played.state, { count: 1, bytes: 2 });
  t.equal(played.code({ type: 'stored', file_id: idOf(1) }), 'NOT_FOUND');
  t.equal(played.code({ type: 'drop_upload', file_id: idOf(2) }), 'done');
  t.equal(played.records('files').size, 1, 'one that is here stays');
});

t.test('K-126 an erasure leaves neither files nor reminders', async (t) => {
  const played = new PlayedFiles();
  for (const n of [1, 2]) played.ask(declare(n));
  played.ask({ type: 'stored', file_id: idOf(2) });
  t.same(played.ask({ type: 'erase' }), { left: false });
  t.equal(played.state, null);
  t.equal(played.records('files').size, 0);
  t.equal(played.reminders.size, 0);
  t.same(played.ask({ type: 'erase' }), { left: false });
});
