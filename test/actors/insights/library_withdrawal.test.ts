import t from 'tap';
import type { DeletedSpeech, Revision, SummarySentence } from '../../../actors/insights/library_state.js';
import { found, PlayedLibrary, STREAM, span, suggest } from '../../fixtures/library.js';

/** What becomes of items whose speech people delete. docs/areas.md, "Deleted speech". */

const SENTENCE = 'I will call Zoe';

function made(more: { made_by?: 'extractive' | 'model'; sentences?: SummarySentence[] } = {}) {
  const library = new PlayedLibrary();
  const number = library.make(0, 60_000, { made_by: 'extractive', suggestions: [suggest(SENTENCE, 1_000)], ...more });
  library.events();
  return { library, conversation: () => library.conversation(number), number };
}

const next = (library: PlayedLibrary) =>
  library.say<{ next: DeletedSpeech | null }>({ type: 'deleted_speech' }).next as DeletedSpeech;

t.test('K-096 whoever has a conversation in hand loses it when a turn of it is deleted', async (t) => {
  const library = new PlayedLibrary();
  library.hear(0, 60_000);
  library.pass(10_000);
  library.settle([found(0, 60_000)]);
  const job = library.claim();
  library.deleteTurn(1_000, 2_000);
  t.throws(
    () => library.publish(job as NonNullable<typeof job>, { suggestions: [suggest(SENTENCE, 1_000)] }),
    /CONFLICT/,
  );
  t.match(library.claim(), { conversation: job?.conversation, tries: 1 }, 'it can be had at once, as the first try');
});

t.test('K-093 a conversation of the built-in engine says nothing when a turn of it is deleted', async (t) => {
  const { library, conversation, number } = made();
  library.deleteTurn(1_000, 2_000);
  t.match(conversation(), { title: null, summary: null, topics: [] });
  t.same(library.events(), [`conversation.updated ${number} summary summary_sentences title topics`]);
});

t.test('K-095 a title that a person gave stays', async (t) => {
  const { library, conversation, number } = made();
  library.say({ type: 'edit_conversation', number, title: 'Zoe' });
  library.deleteTurn(1_000, 2_000);
  t.match(conversation(), { title: 'Zoe', summary: null });
});

t.test('K-095 nothing is kept of what such a conversation was before', async (t) => {
  const { library, number } = made();
  library.say({ type: 'edit_conversation', number, title: 'Zoe' });
  library.deleteTurn(1_000, 2_000);
  t.same([...library.records<Revision>('revisions').values()], []);
});

t.test('K-094 what a model says of a conversation waits for its next look', async (t) => {
  const { library, conversation } = made({ made_by: 'model' });
  library.deleteTurn(1_000, 2_000);
  t.match(conversation(), { title: 'A talk' });
});

t.test('K-181 a sentence of a summary goes alone, and nothing is kept of what the summary was', async (t) => {
  const sentences = ['Zoe is called.', 'Bread is baked.'].map((text, at) => ({
    text,
    evidence: [span(at * 2_000, at * 2_000 + 1_000)],
  }));
  const { library, conversation, number } = made({ made_by: 'model', sentences });
  t.match(conversation(), { summary: 'Zoe is called. Bread is baked.', sentences });
  const { revision } = conversation();
  const items = [{ kind: 'conversation' as const, number, revision, is_left: true, gone_sentences: [0] }];
  library.say({ type: 'withdraw', items, silent: false });
  t.match(conversation(), { title: 'A talk', summary: 'Bread is baked.', topics: ['talk'] });
  t.same(conversation().sentences, sentences.slice(1));
  t.same(library.events(), [`conversation.updated ${number} summary summary_sentences`]);
  t.equal(library.records('revisions').size, 0);
});

t.test('K-093 a conversation that says nothing is looked at after ten seconds', async (t) => {
  const { library } = made();
  library.deleteTurn(1_000, 2_000);
  library.pass(10_000);
  t.equal(library.say<{ unsettled: unknown[] }>({ type: 'due_work' }).unsettled.length, 1);
});

t.test('K-096 an item that changed since a worker read it is left for its next look', async (t) => {
  const { library } = made();
  const revision = library.suggestion(1).revision;
  library.say({ type: 'edit_suggestion', number: 1, state_version: 1, status: 'accepted' });
  const items = [{ kind: 'suggestion' as const, number: 1, revision }];
  library.say({ type: 'withdraw', items, silent: false });
  t.match(library.suggestion(1), { status: 'accepted', text: SENTENCE });
});

t.test('K-093 a withdrawn suggestion keeps neither text nor time nor what it was', async (t) => {
  const { library } = made();
  library.say({ type: 'review', number: 1, state_version: 1, verdict: 'unclear', note: null });
  const items = [{ kind: 'suggestion' as const, number: 1, revision: library.suggestion(1).revision }];
  library.events();
  library.say({ type: 'withdraw', items, silent: false });
  t.match(library.suggestion(1), { status: 'withdrawn', text: '', stems: [], due_at_ms: null, state_version: 3 });
  t.same(library.events(), ['suggestion.updated 1 status text']);
  t.equal(library.records('revisions').size, 0);
});

t.test('K-096 what is deleted while a worker sees to earlier deletions is seen to as well', async (t) => {
  const { library } = made();
  library.deleteTurn(1_000, 2_000);
  const first = next(library);
  t.match(first, { of: 'stream', id: STREAM });
  library.deleteTurn(3_000, 4_000);
  library.say({ type: 'withdrawn', ...first });
  t.match(next(library), { id: STREAM });
  library.say({ type: 'withdrawn', ...next(library) });
  t.equal(next(library), null);
});
