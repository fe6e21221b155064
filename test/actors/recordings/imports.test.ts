import t from 'tap';
import { type ImportsMessage, type ImportWork, imports } from '../../../actors/recordings/imports.js';
import type { Import, Imports } from '../../../actors/recordings/imports_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal, type Refusal } from '../../../src/domain/refusals.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const ANN = '019a0000-0000-7000-8000-0000000000aa';
const DAY_MS = 24 * 3_600_000;
const SIZE = LIMITS.import_piece_bytes + 5;
const measured = { length_ms: 10_000, codec: 'mp3', container: 'mp3' };
const lease_ms = LIMITS.import_lease_ms;
const damaged = { code: 'DECODING_FAILED', message: 'It ended.', retry: true };

class PlayedImports extends Played<Imports, ImportsMessage, unknown> {
  constructor() {
    super(imports as never, ANN);
  }

  register(id: string, more: object = {}): string {
    const announced = { import_ref: id, name: 'x.mp3', size_bytes: SIZE, sha256: 'ab', captured_at: null };
    return this.code({ type: 'register', id, source_id: 's', workspace_id: 'w', ...announced, ...more });
  }

  /** Registers an import and gets all its bytes. */
  receive(id: string): void {
    this.register(id);
    for (const offset of [0, LIMITS.import_piece_bytes])
      this.ask({ type: 'received', import_id: id, offset, stream_id: `stream of ${id}` });
  }

  code(message: ImportsMessage): string {
    const { reply } = this.send(message);
    return isRefusal(reply) ? (reply as Refusal).refused : 'done';
  }

  /** What a worker gets: what it is to do, and with which. */
  claim(claim: string): string {
    const work = this.ask({ type: 'claim', claim }) as ImportWork;
    if (work.work === 'process') return `process ${work.item.id} ${work.item.stage.tries}`;
    return work.work === 'remove' ? `remove ${work.import_id} ${work.pieces}` : 'none';
  }

  status(import_id: string): string {
    const { reply } = this.decide({ type: 'view', import_id });
    return isRefusal(reply) ? reply.refused : (reply as Import).stage.status;
  }

  /** When the index says that a worker has something to do; null where it does not stand there. */
  get due_ms(): number | null {
    const last = this.effects.findLast(({ effect }) => effect.endsWith('_index'));
    return last?.effect === 'add_to_index' ? last.order : null;
  }
}

t.test('K-150 K-156 an import from its announcement to its end', async (t) => {
  const played = new PlayedImports();
  t.equal(played.register('a'), 'done');
  t.equal(played.due_ms, null);
  t.equal(played.claim('x'), 'none');
  played.receive('a');
  t.equal(played.status('a'), 'waiting');
  t.equal(played.due_ms, START_MS);
  t.equal(played.claim('x'), 'process a 1');
  t.equal(played.due_ms, START_MS + lease_ms);
  played.ask({ type: 'measured', import_id: 'a', claim: 'x', measured });
  played.ask({ type: 'finish', import_id: 'a', claim: 'x' });
  t.equal(played.status('a'), 'done');
  t.equal(played.due_ms, START_MS, 'its pieces are to be removed');
  t.equal(played.claim('y'), 'remove a 2');
  t.equal(played.claim('y'), 'remove a 2', 'until they are');
  played.ask({ type: 'removed', import_id: 'a' });
  t.equal(played.due_ms, null);
  t.equal(played.register('a'), 'done');
  t.equal(played.status('a'), 'done', 'the same reference again');
  t.equal(played.register('b', { import_ref: 'a', sha256: 'cd' }), 'CONFLICT');
  played.pass(30 * DAY_MS + 1);
  t.equal(played.status('a'), 'NOT_FOUND', 'forgotten');
  t.equal(played.register('b', { import_ref: 'a', sha256: 'cd' }), 'done', 'with its reference');
});

t.test('K-152 a worker that is lost is followed by another, a bounded number of times', async (t) => {
  const played = new PlayedImports();
  played.receive('a');
  for (let tries = 1; tries <= LIMITS.import_tries_max; tries++) {
    t.equal(played.claim(`worker ${tries}`), `process a ${tries}`);
    t.equal(played.claim('early'), 'none');
    played.pass(lease_ms);
  }
  t.equal(played.code({ type: 'measured', import_id: 'a', claim: 'worker 1', measured }), 'CONFLICT');
  t.equal(played.claim('late'), 'none');
  t.equal(played.status('a'), 'failed');
});

t.test('K-152 a failure that may pass rests, one that stays ends it, and a release is no try', async (t) => {
  const played = new PlayedImports();
  played.receive('a');
  played.claim('x');
  played.ask({ type: 'fail', import_id: 'a', claim: 'x', ...damaged });
  t.equal(played.claim('y'), 'none');
  played.pass(LIMITS.import_retries_ms[0] as number);
  t.equal(played.claim('y'), 'process a 2');
  played.ask({ type: 'release', import_id: 'a', claim: 'y' });
  t.equal(played.claim('z'), 'process a 2');
  played.ask({ type: 'fail', import_id: 'a', claim: 'z', ...damaged, retry: false });
  t.equal(played.status('a'), 'failed');
});

t.test('K-156 one that is decoded can be given up, one that becomes a recording can not', async (t) => {
  const played = new PlayedImports();
  played.receive('a');
  played.receive('b');
  t.equal(played.claim('x'), 'process a 1');
  t.equal(played.code({ type: 'delete', import_id: 'a' }), 'done');
  t.equal(played.code({ type: 'measured', import_id: 'a', claim: 'x', measured }), 'NOT_FOUND');
  t.equal(played.claim('y'), 'remove a 2');
  played.ask({ type: 'removed', import_id: 'a' });
  t.equal(played.claim('y'), 'process b 1');
  played.ask({ type: 'measured', import_id: 'b', claim: 'y', measured });
  t.equal(played.code({ type: 'delete', import_id: 'b' }), 'CONFLICT');
  played.ask({ type: 'finish', import_id: 'b', claim: 'y' });
  t.equal(played.code({ type: 'delete', import_id: 'b' }), 'done');
  t.equal(played.status('b'), 'NOT_FOUND');
});

t.test('K-156 uploads that get no more pieces end, each a day after its last one', async (t) => {
  const played = new PlayedImports();
  played.register('a');
  played.pass(DAY_MS / 2);
  played.register('b');
  played.ask({ type: 'received', import_id: 'a', offset: 0, stream_id: 's' });
  played.pass(DAY_MS - 1);
  t.same([played.status('a'), played.status('b')], ['uploading', 'uploading']);
  played.pass(1);
  t.same([played.status('a'), played.status('b')], ['failed', 'failed']);
  t.equal(played.claim('x'), 'remove a 2', 'what has come, and what may be on its way');
  played.pass(30 * DAY_MS);
  t.same([played.status('a'), played.status('b')], ['NOT_FOUND', 'NOT_FOUND']);
  t.equal(played.reminders.size, 0);
});
