import t from 'tap';
import type { LibraryMessage } from '../../../actors/insights/library.js';
import {
  insightKey,
  SUGGESTION_STATUSES,
  type Suggestion,
  type SuggestionStatus,
} from '../../../actors/insights/library_state.js';
import { defaultPipelineId, insightId } from '../../../src/domain/ids.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { mayBecome, mayWithdraw } from '../../../src/domain/suggestions.js';
import { ANN, LIBRARY, PlayedLibrary, SOURCE, span, suggest } from '../../fixtures/library.js';

const edit = (number: number, state_version: number, more: object): LibraryMessage =>
  ({ type: 'edit_suggestion', number, state_version, ...more }) as LibraryMessage;
const MINUTE_MS = 60_000;

/** A library with so many suggestions of one conversation. */
function withSuggestions(count: number): PlayedLibrary {
  const played = new PlayedLibrary();
  const suggestions = Array.from({ length: count }, (_, n) => suggest(`call number ${n} soon now`, n * 2_000));
  played.make(0, MINUTE_MS, { suggestions });
  played.events();
  return played;
}

t.test('K-077 which status a person may lead a suggestion to, and which a run', async (t) => {
  const allowed: Record<SuggestionStatus, SuggestionStatus[]> = {
    open: ['accepted', 'completed', 'dismissed'],
    accepted: ['open', 'completed', 'dismissed'],
    completed: ['open', 'accepted', 'dismissed'],
    dismissed: ['open', 'accepted', 'completed'],
    withdrawn: ['open', 'accepted', 'dismissed'],
  };
  for (const from of SUGGESTION_STATUSES) {
    for (const to of SUGGESTION_STATUSES) {
      t.equal(mayBecome(from, to), allowed[from].includes(to), `${from} to ${to}`);
      const played = withSuggestions(1);
      const put = { ...played.suggestion(1), status: from, state_version: 7 };
      played.put('suggestions', insightKey(1), { value: put, order: put.updated_at_ms });
      const answer = played.refusal(edit(1, 7, { status: to }));
      t.equal(answer, from === to || allowed[from].includes(to) ? 'accepted' : 'CONFLICT', `asked: ${from} to ${to}`);
      t.equal(played.suggestion(1).status, answer === 'accepted' ? to : from);
    }
    for (const touched of [false, true])
      t.equal(mayWithdraw({ status: from, touched }), from === 'open' && !touched, `${from}, ${touched}`);
  }
});

t.test('K-075 a suggestion that was changed meanwhile is not changed again unseen', async (t) => {
  const played = withSuggestions(1);
  played.say(edit(1, 1, { text: 'ring them', stems: ['ring', 'them'] }));
  const { reply } = played.send(edit(1, 1, { status: 'accepted' }));
  t.match(reply, { refused: 'CONFLICT', extra: { state_version: 2 } });
  t.match(played.send({ type: 'review', number: 1, state_version: 1, verdict: 'supported', note: null }).reply, {
    ...{ refused: 'CONFLICT', extra: { state_version: 2 } },
  });
  t.equal(played.refusal(edit(2, 1, { text: 'x' })), 'NOT_FOUND');
  t.equal(new PlayedLibrary().refusal(edit(1, 1, { text: 'x' })), 'NOT_FOUND');
});

t.test('K-072 K-076 what a person sets is protected from then on, and its events name fields alone', async (t) => {
  const played = withSuggestions(1);
  const before = played.suggestion(1);
  t.match(before, { status: 'open', touched: false, state_version: 1, revision: 1, protected_fields: [] });
  const roles = { owner_contact_id: 'eva' };
  played.say(edit(1, 1, { text: 'ring them', stems: ['ring', 'them'], due_at_ms: 5, roles, status: 'accepted' }));
  const changed_fields = ['text', 'due_at', 'roles', 'status'];
  t.match(played.suggestion(1), {
    ...{ text: 'ring them', due_at_ms: 5, status: 'accepted', touched: true, state_version: 2, revision: 2 },
    ...{ roles: { owner_contact_id: 'eva', requester_contact_id: null }, protected_fields: changed_fields },
  });
  const [updated] = played.recorded().slice(-1);
  t.strictSame(updated, {
    ...{ effect: 'append_event', account_id: ANN, type: 'suggestion.updated' },
    resource_id: insightId(LIBRARY, 'suggestion', 1),
    data: { changed_fields, state_version: 2, pipeline_id: defaultPipelineId(ANN) },
  });
  const told = played.effects.length;
  played.say(edit(1, 2, { text: 'ring them', due_at_ms: 5, roles: { owner_contact_id: 'eva' }, status: 'accepted' }));
  t.equal(played.effects.length, told, 'nothing to change is no change');
  const { revisions } = played.say<{ revisions: object[] }>({
    ...{ type: 'revisions', kind: 'suggestion', number: 1, range: { limit: 10 } },
  });
  t.match(revisions, [{ revision: 1, by: 'person', changed_fields, item: { text: before.text } }]);
});

t.test('K-180 a day and a time take each other’s place, and are one choice of a person', async (t) => {
  const noon_ms = Date.parse('2026-12-07T11:00:00Z');
  const due = (number: number) => {
    const item = played.suggestion(number);
    return [item.due_at_ms, item.due_date, item.protected_fields];
  };
  const played = withSuggestions(1);
  played.say(edit(1, 1, { due_at_ms: noon_ms, due_date: '2026-12-07' }));
  t.same(due(1), [noon_ms, '2026-12-07', ['due_at', 'due_date']]);
  played.say(edit(1, 2, { due_at_ms: noon_ms, due_date: '2026-12-07' }));
  t.equal(played.suggestion(1).state_version, 2, 'the same day is no change');
  played.say(edit(1, 2, { text: 'ring them', stems: [] }));
  t.same(due(1).slice(0, 2), [noon_ms, '2026-12-07'], 'a text leaves the day');
  played.say(edit(1, 3, { due_at_ms: noon_ms }));
  t.same(due(1).slice(0, 2), [noon_ms, null], 'a time is no day any more');
  played.say(edit(1, 4, { due_at_ms: null, due_date: null }));
  t.same(due(1).slice(0, 2), [null, null]);
  t.same(played.events(), [
    'suggestion.updated 1 due_at due_date',
    'suggestion.updated 1 text',
    'suggestion.updated 1 due_date',
    'suggestion.updated 1 due_at',
  ]);
});

t.test('K-078 K-081 a review is a change; feedback is none, but it counts for retention', async (t) => {
  const played = withSuggestions(2);
  played.say({ type: 'review', number: 1, state_version: 1, verdict: 'contradicted', note: 'It was Tuesday.' });
  t.match(played.suggestion(1).review, { verdict: 'contradicted', note: 'It was Tuesday.', at_ms: played.now_ms });
  played.say({ type: 'review', number: 1, state_version: 2, verdict: 'contradicted', note: 'It was Tuesday.' });
  t.same(played.events(), ['suggestion.updated 1 review']);
  played.pass(1_000);
  for (let n = 0; n < 105; n++)
    played.say({ type: 'feedback', number: 2, rating: n % 2 ? 'wrong' : 'helpful', comment: `c${n}` });
  t.same(played.events(), []);
  const item = played.suggestion(2);
  t.match(item, { feedback: { helpful: 53, wrong: 52, not_helpful: 0 }, touched: true, state_version: 1, revision: 1 });
  t.equal(item.updated_at_ms, played.now_ms);
  const kept = [...played.records<{ comment: string }>('feedback').values()].map(({ comment }) => comment);
  t.equal(kept.length, 100);
  t.notOk(kept.includes('c4'), 'the oldest go');
  t.ok(kept.includes('c104') && kept.includes('c5'));
});

t.test('K-079 suggestions are put together and taken apart, each with an event of its own', async (t) => {
  const played = withSuggestions(4);
  t.match(played.say({ type: 'group', numbers: [1, 2], group: null }), {
    group: 1,
    items: [{ number: 1 }, { number: 2 }],
  });
  t.same(played.events(), ['suggestion.updated 1 group_id', 'suggestion.updated 2 group_id']);
  played.say({ type: 'group', numbers: [1, 2], group: null });
  t.same(played.events(), [], 'they are together already');
  played.say({ type: 'group', numbers: [2, 3], group: 1 });
  t.same(played.events(), ['suggestion.updated 3 group_id']);
  t.match(played.say({ type: 'group', numbers: [3, 4], group: null }), { group: 2 });
  t.equal(played.refusal({ type: 'group', numbers: [1, 2], group: 3 }), 'NOT_FOUND');
  t.equal(played.refusal({ type: 'group', numbers: [1, 9], group: null }), 'NOT_FOUND');
  t.equal(
    played.refusal({ type: 'group', numbers: Array.from({ length: 51 }, (_, n) => n + 1), group: null }),
    'CONFLICT',
  );
  played.events();
  played.say({ type: 'separate', numbers: [1, 2] });
  t.same(played.events(), ['suggestion.updated 1 group_id', 'suggestion.updated 2 group_id']);
  t.match(played.suggestion(1), { group: null, touched: true, state_version: 3 });
});

t.test('K-079 a group of one is dissolved, however it came to be one', async (t) => {
  const played = withSuggestions(6);
  const groupOf = (number: number) => played.suggestion(number).group;
  const leaves: [says: string, number: number, leave: () => unknown][] = [
    ['separated', 1, () => played.say({ type: 'separate', numbers: [1] })],
    ['put into another group', 3, () => played.say({ type: 'group', numbers: [3, 4], group: null })],
    ['deleted', 5, () => played.say({ type: 'delete', kind: 'suggestion', number: 5 })],
  ];
  for (const [says, number, leave] of leaves) {
    played.say({ type: 'group', numbers: [number, 6], group: null });
    played.events();
    leave();
    t.equal(groupOf(6), null, says);
    t.ok(played.events().includes('suggestion.updated 6 group_id'), says);
  }
  t.match([groupOf(3), groupOf(4)], [groupOf(4), groupOf(3)], 'others stay together');
});

t.test('K-079 a group of three stays one when one of them is separated', async (t) => {
  const played = withSuggestions(3);
  played.say({ type: 'group', numbers: [1, 2, 3], group: null });
  played.events();
  played.say({ type: 'separate', numbers: [3] });
  t.same(played.events(), ['suggestion.updated 3 group_id']);
  t.not(played.suggestion(1).group, null);
});

t.test('K-079 a suggestion that retention removed is in no group any more', async (t) => {
  const played = withSuggestions(3);
  played.say({ type: 'group', numbers: [1, 2, 3], group: null });
  played.drop('suggestions', insightKey(1));
  played.say({ type: 'separate', numbers: [2] });
  t.equal(played.suggestion(3).group, null);
});

t.test('K-074 what is deleted is gone with all that lies beside it', async (t) => {
  const played = withSuggestions(1);
  played.say(edit(1, 1, { status: 'accepted' }));
  played.say({ type: 'feedback', number: 1, rating: 'wrong', comment: null });
  played.events();
  played.say({ type: 'delete', kind: 'suggestion', number: 1 });
  t.same(played.events(), ['suggestion.deleted 1']);
  t.equal(played.refusal({ type: 'item', kind: 'suggestion', number: 1 }), 'NOT_FOUND');
  t.equal(played.refusal({ type: 'delete', kind: 'suggestion', number: 1 }), 'NOT_FOUND');
  t.same(played.left(), { conversations: 1, suppressed: 1, spans: 1, runs: 1 });
});

t.test('K-081 the newest fifty revisions are kept', async (t) => {
  const played = withSuggestions(1);
  for (let n = 0; n < 60; n++) played.say(edit(1, n + 1, { due_at_ms: n }));
  const page = (after?: { order: number; id: string }) =>
    played.say<{ revisions: { revision: number; item: Suggestion }[]; last: { order: number; id: string } | null }>({
      ...{ type: 'revisions', kind: 'suggestion', number: 1, range: { after, limit: 30, descending: true } },
    });
  const first = page();
  t.same([first.revisions[0]?.revision, first.revisions.at(-1)?.revision], [60, 31]);
  const second = page(first.last ?? undefined);
  t.same([second.revisions[0]?.revision, second.revisions.at(-1)?.revision, second.revisions.length], [30, 11, 20]);
});

t.test('K-115 a suggestion of another pipeline has events that name it; its conversation has none', async (t) => {
  const played = new PlayedLibrary();
  const place = { account_id: ANN, workspace_id: 'w', stream_id: span(0, 1).stream_id, source_id: SOURCE };
  played.say({ type: 'request_run', ...place, from_ms: 0, to_ms: MINUTE_MS, pipeline_id: 'p2' });
  played.settle([{ parts: [span(0, MINUTE_MS)], session_id: null, started_at_ms: 0, ended_at_ms: 1 }]);
  const job = played.claim();
  if (job === null || isRefusal(job)) throw new Error('no job');
  t.equal(job.pipeline_id, 'p2');
  played.publish(job, { suggestions: [suggest('call them now', 0)] });
  const [event, ...others] = played.recorded();
  t.same(others, []);
  t.match(event, {
    type: 'suggestion.created',
    data: { pipeline_id: 'p2', run_id: 'run t1', state_version: 1, source_id: SOURCE },
  });
});
