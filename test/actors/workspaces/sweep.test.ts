import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type LibraryMessage, library } from '../../../actors/insights/library.js';
import type { Library } from '../../../actors/insights/library_state.js';
import { type Sweep, type SweepMessage, sweep } from '../../../actors/workspaces/sweep.js';
import { libraryId, makeId, privateWorkspaceId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { cutoffsOf, nextSweepAt, retentionApplied } from '../../../src/domain/retention.js';
import { KEEP_FOR_EVER, type Retention } from '../../../src/domain/workspaces.js';
import { decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DONE = { done: true } as const;
const idOf = (n: number) =>
  makeId({ partition: n % 256, now_ms: START_MS + n, random: new Uint8Array([n, n >> 8, 3, n, 5]) });
const ANN = idOf(1);
const OWN = privateWorkspaceId(ANN, 1);
const SHARED = idOf(9);
const month: Retention = { ...KEEP_FOR_EVER, audio: { days: 30 }, transcripts: { days: 0 } };
const cutoffs = { audio: START_MS - 30 * DAY_MS, transcripts: null };
const tell = (kind: string, id: string, message: unknown): Effect => ({ effect: 'notify', to: { kind, id }, message });

t.test('the id of a library follows from both ids, and no two are the same', async (t) => {
  const ids = new Set<string>();
  const accounts = Array.from({ length: 500 }, (_, n) => idOf(n * 256 + 1));
  for (const account of accounts)
    for (const workspace of [privateWorkspaceId(account, 1), privateWorkspaceId(account, 2), SHARED, idOf(77)]) {
      const id = libraryId(account, workspace);
      t.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{2}00000000[0-9a-f]{2}$/);
      t.equal(id.slice(-2), account.slice(-2), 'it lies with its account');
      ids.add(id);
    }
  t.equal(ids.size, accounts.length * 4);
});

t.test('I-018 I-019 cutoffs are by the certain time; the event has the buckets of which something went', async (t) => {
  t.same(cutoffsOf(month, START_MS), cutoffs);
  t.same(retentionApplied(cutoffs, { transcripts: 2 }), {
    changed_fields: ['transcripts'],
    buckets: { transcripts: { cutoff: null, count: 2 } },
  });
  t.same(retentionApplied(cutoffs, { transcripts: 1, audio: 3 }).changed_fields, ['audio', 'transcripts']);
  for (const now_ms of [START_MS, START_MS + HOUR_MS / 2, nextSweepAt(OWN, START_MS)]) {
    const at_ms = nextSweepAt(OWN, now_ms);
    t.ok(at_ms > now_ms && at_ms <= now_ms + HOUR_MS);
    t.equal(nextSweepAt(OWN, at_ms), at_ms + HOUR_MS);
  }
});

t.test('I-018 a sweep wakes while something is not kept for ever, and not while its account is deleted', async (t) => {
  const played = new Played<Sweep, SweepMessage, unknown>(sweep, OWN);
  played.send({ type: 'settings', retention: month, paused: false, owner: ANN });
  t.match(played.effects.slice(1, 3), [
    tell('library', libraryId(ANN, OWN), { type: 'open', account_id: ANN, workspace_id: OWN }),
    { effect: 'add_to_index', owner: ANN, index: 'sweeps', member: OWN },
  ]);
  t.equal(played.reminders.get('tick')?.at_ms, nextSweepAt(OWN, START_MS));
  played.send({ type: 'settings', retention: month, paused: true, owner: ANN });
  t.notOk(played.reminders.has('tick'));
  t.equal(played.effects.filter(({ effect }) => effect === 'put_record').length, 1, 'who records is told once');
  played.send({ type: 'settings', retention: KEEP_FOR_EVER, paused: false, owner: ANN });
  t.notOk(played.reminders.has('tick'));
  played.send({ type: 'tick' });
  t.equal(played.state?.running, null);
});

t.test('I-018 I-025 a sweep tells each library, and records what all of them removed', async (t) => {
  const played = new Played<Sweep, SweepMessage, unknown>(sweep, SHARED);
  const count = LIMITS.sweep_parts_told_max * 2 + 1;
  for (let n = 0; n < count; n++) played.send({ type: 'recorder', account_id: idOf(100 + n) });
  played.send({ type: 'settings', retention: month, paused: false });
  played.effects.length = 0;
  played.pass(HOUR_MS);
  const parts = played.effects.flatMap((one) =>
    one.effect === 'notify' && (one.message as { type: string }).type === 'sweep' ? [one.to.id] : [],
  );
  t.equal(new Set(parts).size, count, 'a hundred each turn, until all are told');
  t.equal(played.state?.running?.waiting, count);
  const began_at_ms = played.state?.running?.began_at_ms as number;
  played.pass(HOUR_MS);
  t.equal(played.state?.running?.began_at_ms, began_at_ms, 'none begins while one is running');
  played.effects.length = 0;
  played.send({ type: 'part_swept', sweep_id: 'other', counts: { audio: 9 } });
  for (let n = 0; n < count; n++)
    played.send({ type: 'part_swept', sweep_id: '1', counts: n % 2 === 0 ? {} : { audio: 2 } });
  t.equal(played.state?.running, null);
  const told = played.effects.filter(({ effect }) => effect === 'notify');
  t.match(told, [
    tell('workspace', SHARED, {
      type: 'retention_applied',
      data: { changed_fields: ['audio'], buckets: { audio: { count: count - 1 } } },
    }),
  ]);
  played.effects.length = 0;
  played.pass(HOUR_MS);
  for (let n = 0; n < count; n++) played.send({ type: 'part_swept', sweep_id: '2', counts: {} });
  t.notOk(
    played.effects.some((one) => one.effect === 'notify' && one.to.kind === 'workspace'),
    'a sweep that removed nothing says nothing',
  );
  played.send({ type: 'recorder_gone', account_id: idOf(100) });
  t.equal(played.records('recorders').size, count - 1);
  played.effects.length = 0;
  played.send({ type: 'workspace_gone' });
  played.pass(0);
  t.equal(played.records('recorders').size, 0);
  t.equal(played.effects.filter(({ effect }) => effect === 'notify').length, count - 1, 'libraries hear of the end');
  t.same(played.effects.at(-1), { effect: 'delete' });
});

t.test('I-018 a library counts what goes, and answers when nothing is left', async (t) => {
  const self = libraryId(ANN, OWN);
  const idle: Library = { account_id: ANN, workspace_id: OWN, sweep: null };
  const begun = { sweep_id: '1', began_at_ms: START_MS, cutoffs, counts: {}, drained: false };
  const sweeping: Library = { ...idle, sweep: begun };
  const counted: Library = { ...idle, sweep: { ...begun, counts: { audio: 5 } } };
  const drained: Library = { ...idle, sweep: { ...begun, counts: { audio: 5 }, drained: true } };
  const begin: LibraryMessage = { type: 'sweep', workspace_id: OWN, sweep_id: '1', began_at_ms: START_MS, cutoffs };
  const swept = (counts: object) => tell('sweep', OWN, { type: 'part_swept', sweep_id: '1', counts });
  const erase: LibraryMessage = { type: 'erase', account_id: ANN, list: 'libraries' };
  const gone = tell('sweep', OWN, { type: 'recorder_gone', account_id: ANN });
  const search_ends: Effect = { effect: 'delete_index', owner: self, index: 'search' };
  const leaves: Effect[] = [
    { effect: 'remove_from_index', owner: ANN, index: 'libraries', member: self },
    { effect: 'delete' },
  ];
  const job = { job: 'sweep_library', library_id: self, account_id: ANN, sweep_id: '1' } as const;
  decideRows(t, { kind: library, self }, [
    { says: 'erased already: nothing is there', state: null, message: begin, reply: DONE, effects: [swept({})] },
    {
      says: 'begun',
      state: idle,
      message: begin,
      reply: DONE,
      next: sweeping,
      effects: [
        { effect: 'delete_fence', id: self },
        { effect: 'enqueue_job', job_id: `${self}:1`, job },
      ],
    },
    { says: 'begun already', state: sweeping, message: begin, reply: DONE },
    {
      says: 'counted',
      state: { ...idle, sweep: { ...begun, counts: { audio: 2 } } },
      message: { type: 'swept', sweep_id: '1', bucket: 'audio', count: 3 },
      reply: DONE,
      next: counted,
    },
    {
      says: 'nothing is left',
      state: counted,
      message: { type: 'drain', sweep_id: '1' },
      reply: DONE,
      next: drained,
      effects: [{ effect: 'close_fence', id: self }, tell('library', self, { type: 'drained', sweep_id: '1' })],
    },
    { says: 'a second time', state: drained, message: { type: 'drain', sweep_id: '1' }, reply: DONE },
    { says: 'of another sweep', state: counted, message: { type: 'drain', sweep_id: '2' }, reply: DONE },
    {
      says: 'all counts have come',
      state: drained,
      message: { type: 'drained', sweep_id: '1' },
      reply: DONE,
      next: idle,
      effects: [swept({ audio: 5 })],
    },
    {
      says: 'erased within a sweep: it answers what was removed',
      state: counted,
      message: erase,
      reply: DONE,
      next: null,
      effects: [{ effect: 'delete_fence', id: self }, search_ends, swept({ audio: 5 }), gone, ...leaves],
    },
    {
      says: 'erased',
      state: idle,
      message: erase,
      reply: DONE,
      next: null,
      effects: [{ effect: 'delete_fence', id: self }, search_ends, gone, ...leaves],
    },
    {
      says: 'its workspace is gone',
      state: idle,
      message: { type: 'workspace_gone' },
      reply: DONE,
      next: null,
      effects: [
        { effect: 'delete_fence', id: self },
        search_ends,
        {
          ...{ effect: 'enqueue_job', job_id: `forget_voices:${self}` },
          job: { job: 'forget_voices', account_id: ANN, workspace_id: OWN },
        },
        ...leaves,
      ],
    },
  ]);
});
