import t from 'tap';
import type { LibraryMessage } from '../../../actors/insights/library.js';
import type { InsightRun, Unsettled } from '../../../actors/insights/library_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { START_MS } from '../../fixtures/decisions.js';
import {
  ANN,
  found,
  LIBRARY,
  OTHER_STREAM,
  OWN,
  PlayedLibrary,
  SOURCE,
  STREAM,
  span,
  suggest,
} from '../../fixtures/library.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const dueIn = (played: PlayedLibrary) => {
  const work = played.say<{ unsettled: Unsettled[]; has_job: boolean }>({ type: 'due_work' });
  return { unsettled: work.unsettled.map(({ from_ms, to_ms }) => [from_ms, to_ms]), has_job: work.has_job };
};
const NOTHING = { unsettled: [], has_job: false };
const waits = (played: PlayedLibrary, stream_id = STREAM) =>
  played.say<{ waiting: boolean }>({ type: 'waiting', stream_ids: [stream_id] }).waiting;
const asked = { account_id: ANN, workspace_id: OWN, stream_id: STREAM, source_id: SOURCE };

/** A library that waits for its first conversation, found in the first minute. */
function withJob(): PlayedLibrary {
  const played = new PlayedLibrary();
  played.hear(0, MINUTE_MS);
  played.pass(LIMITS.settle_ms);
  played.settle([found(0, MINUTE_MS)]);
  return played;
}

t.test('K-064 what was heard is looked through ten seconds after the last of it', async (t) => {
  const played = new PlayedLibrary();
  t.same(dueIn(played), NOTHING);
  played.hear(0, 20_000, false);
  t.equal(played.state, null, 'a correction begins no library');
  played.hear(0, 20_000);
  t.match(played.effects, [{ effect: 'add_to_index', owner: ANN, index: 'libraries', member: LIBRARY }]);
  t.equal(played.due_ms, START_MS + 10_000);
  played.pass(5_000);
  played.hear(20_000, 40_000);
  played.pass(5_000);
  t.same(dueIn(played), NOTHING);
  t.equal(played.due_ms, START_MS + 15_000, 'who finds nothing corrects when to look');
  played.pass(5_000);
  t.same(dueIn(played), { unsettled: [[0, 40_000]], has_job: false });
  t.ok(waits(played));
  t.notOk(waits(played, OTHER_STREAM));
});

t.test('K-064 what may go on is looked at again; what is said meanwhile is not lost', async (t) => {
  const played = new PlayedLibrary();
  played.hear(0, 40_000);
  played.pass(10_000);
  const { unsettled } = played.say<{ unsettled: Unsettled[] }>({ type: 'due_work' });
  played.hear(40_000, 60_000);
  played.say({
    type: 'settled',
    ...(unsettled[0] as Unsettled),
    found: [found(0, 40_000)],
    expired: [],
    left: null,
    recheck_ms: null,
  });
  t.equal(played.records('jobs').size, 0, 'it was looked at too early');
  played.pass(10_000);
  played.settle([], { left: { from_ms: 10_000, to_ms: 60_000 } });
  t.same(dueIn(played), NOTHING);
  t.equal(played.due_ms, played.now_ms + MINUTE_MS);
  played.pass(MINUTE_MS);
  t.same(dueIn(played), { unsettled: [[10_000, 60_000]], has_job: false });
  played.settle([found(10_000, 60_000)]);
  t.same(dueIn(played), { unsettled: [], has_job: true });
  t.ok(waits(played));
  const job = played.claim();
  t.match(job, { number: 1, conversation: 1, tries: 1, parts: [span(10_000, 60_000)], conversation_item: null });
  played.publish(job as NonNullable<typeof job>);
  t.same(dueIn(played), NOTHING);
  t.equal(played.due_ms, null);
  t.notOk(waits(played));
});

t.test('K-045 a job is one worker’s at a time, and comes back when its lease ends', async (t) => {
  const played = withJob();
  const first = played.claim(MINUTE_MS);
  if (first === null) throw new Error('no job');
  t.equal(played.claim(), null);
  t.match(played.say({ type: 'prolong_job', job: 1, token: first.token, lease_ms: 2 * MINUTE_MS }), {
    until_ms: played.now_ms + 2 * MINUTE_MS,
  });
  t.equal(played.refusal({ type: 'prolong_job', job: 1, token: 'x', lease_ms: 1 }), 'CONFLICT');
  played.pass(2 * MINUTE_MS);
  t.equal(played.refusal({ type: 'prolong_job', job: 1, token: first.token, lease_ms: 1 }), 'CONFLICT');
  const second = played.claim();
  t.match(second, { number: 1, tries: 2 });
  t.throws(() => played.publish(first), /CONFLICT/);
  if (second === null) throw new Error('no job');
  played.say({ type: 'release_job', job: 1, token: second.token });
  const third = played.claim();
  t.match(third, { tries: 2 }, 'to let go is no try');
  if (third === null) throw new Error('no job');
  played.pass(10 * MINUTE_MS);
  t.match(played.publish(third), { tally: {} }, 'late, and nobody else has it');
});

t.test('K-046 a job that fails rests 1, 4, 16 and 60 minutes, and then has failed', async (t) => {
  const played = withJob();
  const rests: number[] = [];
  for (let n = 1; n <= 5; n++) {
    const job = played.claim();
    if (job === null) throw new Error(`no job at ${n}`);
    const failed = { type: 'job_failed', job: 1, token: job.token, code: 'TIMEOUT', retry: true, engine: 'e' } as const;
    t.same(played.say(failed), { again: n < 5, tries: n });
    const began_ms = played.now_ms;
    while (n < 5 && !dueIn(played).has_job) played.pass(MINUTE_MS);
    rests.push((played.now_ms - began_ms) / MINUTE_MS);
  }
  t.same(rests, [1, 4, 16, 60, 0]);
  t.same(dueIn(played), NOTHING);
  const { runs } = played.say<{ runs: InsightRun[] }>({ type: 'runs', stream_id: STREAM });
  t.match(runs, [{ status: 'failed', failure: 'TIMEOUT', tries: 5, engine: 'e', conversation: 1 }]);
});

t.test('K-046 a job that its workers lose five times has failed; one that need not be retried at once', async (t) => {
  const played = withJob();
  for (let n = 1; n <= 5; n++) {
    t.match(played.claim(), { tries: n });
    played.pass(MINUTE_MS);
  }
  t.equal(played.claim(), null);
  t.match(played.say({ type: 'runs', stream_id: STREAM }), { runs: [{ failure: 'GIVEN_UP', run_id: 'run t5' }] });
  const other = withJob();
  const job = other.claim();
  const failed = {
    type: 'job_failed',
    job: 1,
    token: job?.token ?? '',
    code: 'BAD_ANSWER',
    retry: false,
    engine: null,
  } as const;
  t.same(other.say(failed), { again: false, tries: 1 });
  t.equal(other.refusal(failed), 'CONFLICT');
  other.say({ type: 'request_run', ...asked, from_ms: 0, to_ms: MINUTE_MS, pipeline_id: null });
  other.settle([found(0, MINUTE_MS)]);
  t.match(other.claim(), { number: 1, tries: 1 }, 'asked for, it begins anew under the same number');
});

t.test('K-065 a corrected conversation is made anew after ten quiet minutes, at most once an hour', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS);
  played.make(10 * MINUTE_MS, 11 * MINUTE_MS);
  const made_ms = played.now_ms;
  played.hear(5 * MINUTE_MS, 5 * MINUTE_MS + 1, false);
  t.notOk(waits(played), 'no conversation lies there');
  played.pass(2 * HOUR_MS);
  const corrected_ms = played.now_ms;
  played.hear(30_000, 31_000, false);
  played.pass(5 * MINUTE_MS);
  played.hear(32_000, 33_000, false);
  played.pass(10 * MINUTE_MS - 1);
  t.same(dueIn(played), NOTHING);
  played.pass(1);
  t.same(dueIn(played), { unsettled: [[0, MINUTE_MS]], has_job: false }, 'the whole conversation');
  t.equal(played.now_ms, corrected_ms + 15 * MINUTE_MS);
  played.settle([found(0, MINUTE_MS), found(10 * MINUTE_MS, 11 * MINUTE_MS)]);
  const job = played.claim();
  t.match(job, { conversation: 1, conversation_item: { title: 'A talk' } });
  t.equal(played.claim(), null, 'the other one is what it was');
  played.publish(job as NonNullable<typeof job>);
  const looked_ms = played.now_ms;
  played.hear(30_000, 31_000, false);
  played.pass(HOUR_MS - 1);
  t.same(dueIn(played), NOTHING);
  played.pass(1);
  t.equal(dueIn(played).unsettled.length, 1);
  t.equal(played.now_ms, looked_ms + HOUR_MS);
  t.ok(made_ms < looked_ms);
});

t.test('K-065 what is heard later inside of a conversation changes that one', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS);
  played.hear(30_000, 40_000);
  played.pass(HOUR_MS);
  t.same(dueIn(played), { unsettled: [[0, MINUTE_MS]], has_job: false });
  played.settle([found(0, MINUTE_MS)]);
  t.match(played.claim(), { conversation: 1 });
});

t.test('K-065 corrections without end are looked at after an hour', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS);
  played.pass(2 * HOUR_MS);
  for (let n = 0; n < 12; n++) {
    played.hear(30_000, 31_000, false);
    t.same(dueIn(played), NOTHING);
    played.pass(5 * MINUTE_MS);
  }
  t.equal(dueIn(played).unsettled.length, 1);
});

t.test('K-066 a conversation of which nothing is left goes, but for what people have set', async (t) => {
  const played = new PlayedLibrary();
  const suggestions = [suggest('call eva soon', 0), suggest('write to max', 2_000)];
  played.make(0, MINUTE_MS, { suggestions });
  played.make(10 * MINUTE_MS, 11 * MINUTE_MS);
  played.say({ type: 'edit_suggestion', number: 2, state_version: 1, status: 'accepted' });
  played.say({ type: 'edit_conversation', number: 2, title: 'Ours' });
  played.events();
  for (const [from_ms, to_ms] of [
    [0, MINUTE_MS],
    [10 * MINUTE_MS, 11 * MINUTE_MS],
  ] as const)
    played.hear(from_ms, to_ms, false);
  played.pass(HOUR_MS);
  played.settle([]);
  t.same(played.events(), ['suggestion.updated 1 status', 'conversation.deleted 1']);
  t.match(played.suggestion(1), { status: 'withdrawn', state_version: 2 });
  t.match(played.suggestion(2), { status: 'accepted' });
  t.match(played.conversation(2), { title: 'Ours' });
  t.equal(played.refusal({ type: 'item', kind: 'conversation', number: 1 }), 'NOT_FOUND');
  t.equal(played.claim(), null);
});

t.test('K-068 K-089 a deleted conversation is not found again, nor is what was in hand published', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS);
  played.hear(30_000, 31_000, false);
  played.pass(HOUR_MS);
  played.settle([found(0, MINUTE_MS)]);
  const job = played.claim();
  if (job === null) throw new Error('no job');
  played.events();
  played.say({ type: 'delete', kind: 'conversation', number: 1 });
  t.same(played.events(), ['conversation.deleted 1']);
  t.throws(() => played.publish(job), /CONFLICT/);
  played.say({ type: 'request_run', ...asked, from_ms: 0, to_ms: MINUTE_MS, pipeline_id: null });
  played.settle([found(5_000, MINUTE_MS + 20_000)]);
  t.equal(played.claim(), null);
  played.say({ type: 'request_run', ...asked, from_ms: 0, to_ms: 3 * MINUTE_MS, pipeline_id: null });
  played.settle([found(50_000, 3 * MINUTE_MS)]);
  t.match(played.claim(), { conversation: 2 }, 'another one, which only begins there');
});

t.test('K-089 what a job holds changes while it is in hand: its result is not wanted any more', async (t) => {
  const played = withJob();
  const job = played.claim();
  if (job === null) throw new Error('no job');
  played.say({ type: 'request_run', ...asked, from_ms: 0, to_ms: 2 * MINUTE_MS, pipeline_id: null });
  played.settle([found(0, 2 * MINUTE_MS)]);
  t.throws(() => played.publish(job), /CONFLICT/);
  t.match(played.claim(), { number: 1, tries: 1, parts: [span(0, 2 * MINUTE_MS)] });
});

t.test('K-090 nothing is made of a recording that is gone, nor where nobody wants it', async (t) => {
  const played = withJob();
  const job = played.claim();
  if (job === null) throw new Error('no job');
  played.hear(MINUTE_MS, 2 * MINUTE_MS);
  played.say({ type: 'forget_stream', stream_id: STREAM });
  t.same(played.left(), { deleted_speech: 1 }, 'a worker looks for what was made of it');
  t.throws(() => played.publish(job), /CONFLICT/);
  t.same(dueIn(played), NOTHING);
  t.equal(played.due_ms, null);
  const other = withJob();
  other.hear(MINUTE_MS, 2 * MINUTE_MS);
  other.say({ type: 'drop_work' });
  t.equal(other.due_ms, null);
  t.same(dueIn(other), NOTHING);
  t.notOk(waits(other));
  for (const message of [{ type: 'drop_work' }, { type: 'forget_stream', stream_id: STREAM }] as LibraryMessage[])
    t.equal(new PlayedLibrary().refusal(message), 'accepted');
});

t.test('K-064 of very many conversations some are taken at a time, and none is lost', async (t) => {
  const played = new PlayedLibrary();
  const all = Array.from({ length: 700 }, (_, n) => found(n * 10 * MINUTE_MS, n * 10 * MINUTE_MS + MINUTE_MS));
  played.hear(0, 7_000 * MINUTE_MS);
  played.pass(10_000);
  const sizes: number[] = [];
  for (let from = 0; from < all.length && sizes.length < 9; from = played.records('jobs').size) {
    played.settle(all.slice(from));
    sizes.push(played.records('jobs').size);
  }
  t.same(sizes, [300, 600, 700]);
  t.same(dueIn(played), { unsettled: [], has_job: true });
  played.say({ type: 'request_run', ...asked, from_ms: 0, to_ms: 7_000 * MINUTE_MS, pipeline_id: null });
  for (let looks = 0; looks < 3; looks++) played.settle(all.slice(looks * LIMITS.found_conversations_max));
  t.equal(played.records('jobs').size, 700, 'all are known again');
  t.equal(played.state?.insights?.given.conversation, 700);
});

t.test('K-064 a conversation that runs over two recordings is one', async (t) => {
  const played = new PlayedLibrary();
  const both = { ...found(0, MINUTE_MS), parts: [span(0, MINUTE_MS), span(0, 30_000, OTHER_STREAM)] };
  played.hear(0, MINUTE_MS);
  played.pass(10_000);
  played.settle([both]);
  const job = played.claim();
  if (job === null) throw new Error('no job');
  played.publish(job);
  played.hear(10_000, 11_000, false, OTHER_STREAM);
  played.pass(HOUR_MS);
  played.settle([both]);
  t.match(played.claim(), { conversation: 1 });
  for (const stream_id of [STREAM, OTHER_STREAM])
    t.match(played.say({ type: 'runs', stream_id }), { runs: [{ conversation: 1 }], jobs: [{ conversation: 1 }] });
});

t.test('K-067 a conversation of which retention removed turns stays as it is', async (t) => {
  const played = new PlayedLibrary();
  const suggestions = [suggest('call eva soon', 0)];
  played.make(0, 10 * MINUTE_MS, { suggestions });
  played.make(20 * MINUTE_MS, 21 * MINUTE_MS);
  played.make(30 * MINUTE_MS, 31 * MINUTE_MS);
  const was = played.conversation(1);
  played.events();
  const correct = () => {
    for (const at_ms of [8, 20, 30]) played.hear(at_ms * MINUTE_MS, at_ms * MINUTE_MS + 1, false);
    played.pass(HOUR_MS);
  };
  correct();
  const expired = [span(0, 5 * MINUTE_MS), span(6 * MINUTE_MS, 7 * MINUTE_MS), span(30 * MINUTE_MS, 31 * MINUTE_MS)];
  const left = [found(5 * MINUTE_MS, 6 * MINUTE_MS), found(7 * MINUTE_MS, 10 * MINUTE_MS)];
  played.settle([...left, found(20 * MINUTE_MS, 21 * MINUTE_MS)], { expired });
  t.match(played.claim(), { conversation: 2 }, 'that one alone lost nothing');
  t.equal(played.claim(), null);
  t.same(played.events(), [], 'and what has lost all of its turns is not deleted');
  t.same(played.conversation(1), was);
  t.match(played.conversation(3), { title: 'A talk' });
  t.match(played.suggestion(1), { status: 'open' });
  correct();
  played.settle([], {});
  t.same(played.events(), ['suggestion.updated 1 status', ...[1, 2, 3].map((n) => `conversation.deleted ${n}`)]);
});

t.test('K-067 so does one whose turns of another recording retention removed', async (t) => {
  const played = new PlayedLibrary();
  const both = { ...found(0, MINUTE_MS), parts: [span(0, MINUTE_MS), span(0, 30_000, OTHER_STREAM)] };
  played.hear(0, MINUTE_MS);
  played.pass(10_000);
  played.settle([both]);
  const job = played.claim();
  if (job === null) throw new Error('no job');
  const correct = () => {
    played.hear(10_000, 11_000, false);
    played.pass(HOUR_MS);
  };
  correct();
  const expired = [span(0, 30_000, OTHER_STREAM)];
  played.settle([found(0, MINUTE_MS)], { expired });
  const again = played.claim();
  t.match(again, { conversation: 1, parts: [span(0, MINUTE_MS)] }, 'it is not made yet: of what is there');
  if (again === null) return;
  played.publish(again);
  correct();
  played.settle([both]);
  const last = played.claim();
  if (last === null) throw new Error('no job');
  played.publish(last);
  correct();
  played.settle([found(0, MINUTE_MS)], { expired });
  t.equal(played.claim(), null);
});
