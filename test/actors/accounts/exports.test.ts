import t from 'tap';
import { type ExportsMessage, type ExportWork, exports } from '../../../actors/accounts/exports.js';
import type { Export, Exports } from '../../../actors/accounts/exports_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal, type Refusal } from '../../../src/domain/refusals.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const ANN = '019a0000-0000-7000-8000-0000000000aa';
const DAY_MS = 24 * 3_600_000;
const account_epoch = 1;
const archived = { bytes: 10, sha256: 'ab'.repeat(32), part_bytes: 8, layers: [] };
const lease_ms = LIMITS.export_lease_ms;
const progress = { records: 1, bytes: 2 };

class PlayedExports extends Played<Exports, ExportsMessage, unknown> {
  constructor() {
    super(exports as never, ANN);
  }

  request(export_id: string, by: Export['by'] = 'account'): string {
    return this.code({ type: 'request', export_id, by, audio: false, files: false, account_epoch });
  }

  code(message: ExportsMessage): string {
    const { reply } = this.send(message);
    return isRefusal(reply) ? (reply as Refusal).refused : 'done';
  }

  /** What a worker gets: what it is to do, and with which. */
  claim(claim: string): string {
    const work = this.ask({ type: 'claim', claim }) as ExportWork;
    if (work.work === 'make') return `make ${work.export.id} ${work.export.stage.attempt}`;
    return work.work === 'remove' ? `remove ${work.export_id}` : 'none';
  }

  status(export_id: string, by: Export['by'] = 'account'): string {
    const { reply } = this.decide({ type: 'view', export_id, by });
    return isRefusal(reply) ? reply.refused : (reply as Export).stage.status;
  }

  /** When the index says that a worker has something to do; null where it does not stand there. */
  get due_ms(): number | null {
    const last = this.effects.findLast(({ effect }) => effect.endsWith('_index'));
    return last?.effect === 'add_to_index' ? last.order : null;
  }

  make(export_id: string): void {
    this.request(export_id);
    this.claim(export_id);
    this.ask({ type: 'finish', export_id, claim: export_id, archived });
  }
}

t.test('K-047 K-130 an export from the request to its end', async (t) => {
  const played = new PlayedExports();
  t.equal(played.request('a'), 'done');
  t.equal(played.request('a'), 'done', 'the same again');
  t.equal(played.due_ms, START_MS);
  t.equal(played.claim('x'), 'make a 1');
  t.equal(played.due_ms, START_MS + LIMITS.export_lease_ms);
  t.equal(played.claim('y'), 'none');
  played.pass(1_000);
  t.equal(played.code({ type: 'prolong', export_id: 'a', claim: 'y', progress, lease_ms }), 'CONFLICT');
  t.equal(played.code({ type: 'prolong', export_id: 'a', claim: 'x', progress, lease_ms }), 'done');
  t.equal(played.due_ms, START_MS + 1_000 + LIMITS.export_lease_ms);
  for (const _ of [1, 2]) t.equal(played.code({ type: 'finish', export_id: 'a', claim: 'x', archived }), 'done');
  t.equal(played.code({ type: 'finish', export_id: 'a', claim: 'y', archived }), 'CONFLICT');
  t.equal(played.due_ms, null);
  t.match(played.state?.items, [{ stage: { status: 'ready', attempt: 1, ...archived } }]);
  played.pass(LIMITS.export_kept_ms - 1);
  t.equal(played.status('a'), 'ready');
  t.equal(played.claim('z'), 'none');
  played.pass(1);
  t.equal(played.status('a'), 'expired');
  t.equal(played.claim('z'), 'remove a');
  played.ask({ type: 'removed', export_id: 'a' });
  t.equal(played.claim('z'), 'none');
  played.pass(LIMITS.export_known_ms - LIMITS.export_kept_ms - 1_001);
  t.equal(played.status('a'), 'expired');
  played.pass(1);
  t.equal(played.status('a'), 'NOT_FOUND');
  t.equal(played.state, null, 'nothing is left of it');
  t.equal(played.reminders.size, 0);
  t.equal(played.due_ms, null);
});

t.test('K-129 one at a time, three a day', async (t) => {
  const played = new PlayedExports();
  t.equal(played.request('a'), 'done');
  t.equal(played.request('b'), 'CONFLICT');
  t.equal(played.request('s', 'staff'), 'done', 'what staff ask for is their own');
  t.equal(played.request('s2', 'staff'), 'CONFLICT');
  t.equal(played.code({ type: 'delete', export_id: 'a', by: 'staff' }), 'NOT_FOUND');
  t.equal(played.code({ type: 'delete', export_id: 'a', by: 'account' }), 'done');
  t.equal(played.code({ type: 'delete', export_id: 's', by: 'staff' }), 'done');
  played.pass(3_600_000);
  played.make('c');
  played.make('d');
  const { reply } = played.send({
    type: 'request',
    export_id: 'e',
    by: 'account',
    audio: false,
    files: false,
    account_epoch,
  });
  t.match(reply, { refused: 'TOO_MANY_REQUESTS', retry_after_s: 23 * 3_600 });
  played.pass(DAY_MS - 3_600_000);
  t.equal(played.request('e'), 'done', 'a day after the first');
});

t.test('K-132 whoever is lost is followed, so many times; whoever gives it back is not lost', async (t) => {
  const played = new PlayedExports();
  played.request('a');
  for (let n = 1; n <= 20; n++) {
    t.equal(played.claim(`stopped ${n}`), `make a ${n}`);
    played.ask({ type: 'release', export_id: 'a', claim: `stopped ${n}` });
    t.equal(played.due_ms, played.now_ms);
  }
  for (let n = 1; n <= LIMITS.export_tries_max; n++) {
    t.equal(played.claim(`lost ${n}`), `make a ${20 + n}`);
    t.same((played.ask({ type: 'keeping' }) as { kept: object }).kept, { a: 20 + n });
    played.pass(LIMITS.export_lease_ms);
    t.equal(played.code({ type: 'prolong', export_id: 'a', claim: `lost ${n}`, progress, lease_ms }), 'CONFLICT');
  }
  t.equal(played.status('a'), 'failed');
  t.equal(played.claim('x'), 'remove a');
  t.match(played.ask({ type: 'view', export_id: 'a', by: 'account' }), { stage: { code: 'INTERRUPTED' } });
});

t.test('K-130 what may have bytes is removed before it is forgotten', async (t) => {
  for (const [how, to] of [
    ['waits', []],
    ['runs', ['a']],
    ['given back', ['a']],
    ['ready', ['a']],
  ] as const) {
    const played = new PlayedExports();
    played.request('a');
    if (how !== 'waits') played.claim('x');
    if (how === 'given back') played.ask({ type: 'release', export_id: 'a', claim: 'x' });
    if (how === 'ready') played.ask({ type: 'finish', export_id: 'a', claim: 'x', archived });
    t.equal(played.code({ type: 'delete', export_id: 'a', by: 'account' }), 'done');
    t.same(played.state?.removing, to, how);
    t.equal(played.code({ type: 'prolong', export_id: 'a', claim: 'x', progress, lease_ms }), 'NOT_FOUND');
    t.equal(played.claim('y'), to.length > 0 ? 'remove a' : 'none');
  }
  const failed = new PlayedExports();
  failed.request('a');
  failed.claim('x');
  failed.ask({ type: 'fail', export_id: 'a', claim: 'x', code: 'ACCOUNT_DELETED', message: 'm', retry: false });
  t.same([failed.status('a'), failed.claim('y')], ['failed', 'remove a']);
  failed.ask({ type: 'erase' });
  t.equal(failed.state, null);
  t.equal(failed.due_ms, null);
  t.equal(failed.reminders.size, 0);
});
