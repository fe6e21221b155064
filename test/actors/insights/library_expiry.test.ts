import t from 'tap';
import type { LibraryMessage } from '../../../actors/insights/library.js';
import { LIBRARIES } from '../../../actors/insights/library.js';
import { shownState } from '../../../src/edge/operations/shown_state.js';
import { START_MS } from '../../fixtures/decisions.js';
import { ANN, LIBRARY, OWN, PlayedLibrary, remember, SESSION, STREAM, suggest } from '../../fixtures/library.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const expire = (before_ms: number | null): LibraryMessage => ({
  ...{ type: 'expire', sweep_id: 's', before_ms, library_id: LIBRARY },
});
const sweep: LibraryMessage = {
  ...{ type: 'sweep', workspace_id: OWN, sweep_id: 's', began_at_ms: START_MS, cutoffs: { insights: null } },
};
const counts = (played: PlayedLibrary) => played.state?.sweep?.counts;
const result = {
  suggestions: [suggest('call eva soon', 0), suggest('write to max', 2_000)],
  memories: [remember('eva likes tea', 4_000)],
};

t.test(
  'I-022 an item goes by its last change, to the millisecond, and counts one with all its revisions',
  async (t) => {
    const played = new PlayedLibrary();
    played.make(0, MINUTE_MS, result, SESSION);
    const made_ms = played.now_ms;
    t.equal(played.oldest_ms, made_ms);
    played.pass(HOUR_MS);
    for (let n = 1; n <= 9; n++) played.say({ type: 'edit_suggestion', number: 1, state_version: n, due_at_ms: n });
    played.pass(HOUR_MS);
    played.say({ type: 'feedback', number: 2, rating: 'wrong', comment: 'no' });
    played.say(sweep);
    const told = played.recorded().length;
    t.same(played.say(expire(made_ms)), { removed: 0, left: false });
    t.same(played.say(expire(made_ms + 1)), { removed: 2, left: false }, 'the conversation and the memory');
    t.equal(played.oldest_ms, made_ms + HOUR_MS);
    t.same(played.say(expire(made_ms + HOUR_MS + 1)), { removed: 1, left: false });
    t.same(counts(played), { insights: 3 });
    t.equal(played.refusal({ type: 'item', kind: 'suggestion', number: 1 }), 'CONTENT_EXPIRED');
    t.equal(played.refusal({ type: 'edit_suggestion', number: 1, state_version: 10, text: 'x' }), 'CONTENT_EXPIRED');
    t.equal(played.refusal({ type: 'item', kind: 'memory', number: 1 }), 'CONTENT_EXPIRED');
    t.equal(played.refusal({ type: 'delete', kind: 'conversation', number: 1 }), 'CONTENT_EXPIRED');
    t.equal(played.suggestion(2).text, 'write to max', 'feedback counts as a change');
    t.same(played.say(expire(null)), { removed: 1, left: false });
    t.same(played.left(), { expired: 4, runs: 1 });
    t.equal(played.oldest_ms, null);
    t.equal(played.recorded().length, told, 'no event a record');
    t.same(played.say({ type: 'items_of', kind: 'suggestion', numbers: [1, 2] }), { items: [] });
    played.say(expire(null));
    t.same(counts(played), { insights: 4 });
  },
);

t.test('I-022 as many as one commit may, the oldest first; another sweep counts nothing', async (t) => {
  const played = new PlayedLibrary();
  const place = { account_id: ANN, workspace_id: OWN };
  for (let n = 0; n < 300; n++) {
    played.say({ type: 'create_memory', ...place, text: `fact ${n}`, kind: 'fact', stems: ['fact', String(n)] });
    played.pass(1);
  }
  played.say(sweep);
  t.same(played.say(expire(START_MS + 280)), { removed: 256, left: true });
  t.equal(played.oldest_ms, START_MS + 256);
  t.same(played.say(expire(START_MS + 280)), { removed: 24, left: false });
  t.same(counts(played), { insights: 280 });
  played.say({ ...expire(null), sweep_id: 'another' } as LibraryMessage);
  t.same(counts(played), { insights: 280 });
  t.equal(new PlayedLibrary().refusal(expire(null)), 'accepted');
});

t.test('I-022 items with many revisions take several commits', async (t) => {
  const played = new PlayedLibrary();
  const texts = Array.from({ length: 45 }, (_, n) => suggest(`thing ${n} to do`, n * 1_000));
  played.make(0, MINUTE_MS, { suggestions: texts });
  for (let number = 1; number <= 45; number++)
    for (let n = 1; n <= 51; n++) played.say({ type: 'edit_suggestion', number, state_version: n, due_at_ms: n });
  played.pass(1);
  const first = played.say<{ removed: number; left: boolean }>(expire(null));
  t.ok(first.removed < 46 && first.left, `${first.removed} at once`);
  const second = played.say<{ removed: number; left: boolean }>(expire(null));
  t.same([first.removed + second.removed, second.left], [46, false]);
  t.same(played.left(), { expired: 46, runs: 1 });
});

t.test('I-022 what has expired is not made again by the job that was to come', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, result);
  played.hear(0, 1_000, false);
  played.pass(HOUR_MS);
  played.settle([{ parts: [], session_id: null, started_at_ms: 0, ended_at_ms: 0 }].slice(1));
  t.equal(played.refusal({ type: 'item', kind: 'conversation', number: 1 }), 'NOT_FOUND');
  played.make(0, MINUTE_MS);
  played.hear(0, 1_000, false);
  played.pass(HOUR_MS);
  const { unsettled } = played.say<{ unsettled: object[] }>({ type: 'due_work' });
  t.equal(unsettled.length, 1);
  played.say(expire(null));
  t.same([played.records('jobs').size, played.records('spans').size], [0, 0]);
});

t.test('nothing is left of a library that is erased, or whose workspace is gone', async (t) => {
  for (const end of [
    { type: 'erase', account_id: ANN, list: LIBRARIES },
    { type: 'workspace_gone' },
  ] as LibraryMessage[]) {
    const played = new PlayedLibrary();
    played.make(0, MINUTE_MS, result, SESSION);
    played.say({ type: 'edit_suggestion', number: 1, state_version: 1, status: 'dismissed' });
    played.say({ type: 'feedback', number: 2, rating: 'wrong', comment: 'no' });
    played.hear(MINUTE_MS, 2 * MINUTE_MS);
    t.ok(Object.keys(played.left()).length > 8);
    played.say(end);
    t.same(played.left(), {});
    t.equal(played.state, null);
    t.same([played.due_ms, played.oldest_ms], [null, null]);
  }
});

t.test('operators see of a library what is due, and no text of it', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, result, SESSION);
  const shown = JSON.stringify(shownState('library', played.state));
  t.match(shown, /"given":\{"conversation":1/);
  for (const text of ['eva', 'call', 't1', 'A talk']) t.notOk(JSON.stringify(shown).includes(`${text}"`), text);
  t.notOk(JSON.stringify(played.state).includes('eva'), 'nor does its state have any');
  t.ok(STREAM);
});

t.test('events of a library hold no text, name or value', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, result, SESSION);
  played.say({ type: 'edit_suggestion', number: 1, state_version: 1, text: 'marked words', stems: ['marked'] });
  played.say({ type: 'review', number: 1, state_version: 2, verdict: 'supported', note: 'marked note' });
  played.say({ type: 'edit_conversation', number: 1, title: 'marked title' });
  played.say({ type: 'edit_memory', number: 1, text: 'marked memory', stems: ['marked'] });
  for (const kind of ['suggestion', 'memory', 'conversation'] as const) played.say({ type: 'delete', kind, number: 1 });
  const events = JSON.stringify(played.recorded());
  for (const text of ['marked', 'eva', 'max', 'tea', 'A talk', 'supported']) t.notOk(events.includes(text), text);
});
