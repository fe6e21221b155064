import t from 'tap';
import type { Conversation, Suggestion } from '../../../../actors/insights/library_state.js';
import type { Correction, PageTurn, TranscriptPage } from '../../../../actors/transcripts/transcript_page.js';
import { Caches } from '../../../../src/engine/runtime/caches.js';
import { EvidenceReader } from '../../../../src/features/insights/library/evidence_reader.js';
import type { ReadableTranscript, TranscriptReader } from '../../../../src/features/transcripts/transcript_pages.js';

const SENTENCE = 'I will call Zoe tomorrow.';
const STREAM = '01999999-1111-7111-8111-1111110000aa';
const RUN = { id: STREAM, published_at_ms: 1 };

function turn(serial: number, text: string, [start_ms, end_ms]: [number, number]): PageTurn {
  return { serial, start_ms, end_ms, text, language: 'en', confidence: null, speaker: serial + 1, run: RUN };
}

function deleted([start_ms, end_ms]: [number, number]): Correction {
  return { kind: 'deleted', start_ms, end_ms, at_ms: 1 };
}

/** Reads a transcript of one page. */
function readerOf(page: Partial<TranscriptPage>): EvidenceReader {
  const whole: TranscriptPage = {
    ...{ number: 0, next_serial: 9, turns: [], runs: [RUN], corrections: [] },
    ...{ expired: { serials: [], spans: [] }, ...page },
  };
  const reader = {
    actors: { transcript: () => ({ pages: async () => ({ pages: [whole], revision: 1 }) }) },
    runtime: { invalidations: 0, caches: new Caches() },
  } as unknown as TranscriptReader;
  const scene = { id: STREAM, transcript: { revision: 1 }, speakers: new Map() } as unknown as ReadableTranscript;
  return new EvidenceReader(reader, async () => scene);
}

/** What is read of a suggestion whose evidence is there. */
async function readOf(page: Partial<TranscriptPage>, more: Partial<Suggestion> = {}): Promise<string | null> {
  const span = { stream_id: STREAM, source_id: STREAM, start_ms: 0, end_ms: 4_000 };
  const suggestion = {
    ...{ text: SENTENCE, status: 'open', made_by: 'extractive', evidence: [span], pipeline_id: null },
    ...{ protected_fields: [], due_at_ms: null, ...more },
  } as unknown as Suggestion;
  const found = await readerOf(page).standing('suggestion', suggestion);
  if (found === null) throw new Error('it is not there');
  return found.item.text;
}

/** The summary that is read of a conversation which a model worded, of one sentence each for two seconds. */
async function summaryOf(page: Partial<TranscriptPage>, texts: string[]): Promise<string | null> {
  const spanAt = (start_ms: number, end_ms: number) => ({ stream_id: STREAM, source_id: STREAM, start_ms, end_ms });
  const sentences = texts.map((text, at) => ({ text, evidence: [spanAt(at * 2_000, at * 2_000 + 2_000)] }));
  const conversation = {
    ...{ made_by: 'model', pipeline_id: null, parts: [spanAt(0, 4_000)], title: 'A talk', topics: [] },
    ...{ protected_fields: [], summary: texts.join(' '), sentences },
  } as unknown as Conversation;
  const found = await readerOf(page).standing('conversation', conversation);
  if (found === null) throw new Error('it is not there');
  t.equal(found.item.title, 'A talk');
  return found.item.summary;
}

t.test(
  'K-181 a sentence that a model worded goes when nothing is left of what bears it, and people deleted some',
  async (t) => {
    const texts = ['Zoe is called.', 'Bread is baked.'];
    const [first, second] = [turn(0, 'I call Zoe.', [0, 2_000]), turn(1, 'I bake bread.', [2_000, 4_000])];
    const whole = 'Zoe is called. Bread is baked.';
    t.equal(await summaryOf({ turns: [first, second] }, texts), whole);
    t.equal(await summaryOf({ turns: [second], corrections: [deleted([0, 2_000])] }, texts), 'Bread is baked.');
    t.equal(await summaryOf({ corrections: [deleted([0, 4_000])] }, texts), null);
    t.equal(
      await summaryOf({ expired: { serials: [[0, 1]], spans: [[0, 4_000]] } }, texts),
      whole,
      'retention takes none',
    );
  },
);

t.test('K-093 a sentence goes with its turn', async (t) => {
  t.equal(await readOf({ corrections: [deleted([0, 4_000])] }), '');
});

t.test('K-093 a sentence stays when somebody else is deleted who spoke meanwhile', async (t) => {
  const turns = [turn(0, `Well. ${SENTENCE}`, [0, 4_000])];
  t.equal(await readOf({ turns, corrections: [deleted([1_000, 3_000])] }), SENTENCE);
});

t.test('K-093 K-145 a sentence stays that was said before its turn was corrected', async (t) => {
  const turns = [{ ...turn(0, 'Well. I will.', [0, 4_000]), heard_text: `Well. ${SENTENCE}` }];
  t.equal(await readOf({ turns, corrections: [deleted([1_000, 3_000])] }), SENTENCE);
});

t.test('K-093 a sentence goes with its turn when somebody else stays who spoke just then', async (t) => {
  const turns = [turn(0, 'Well.', [0, 4_000])];
  t.equal(await readOf({ turns, corrections: [deleted([0, 4_000])] }), '');
});

t.test('K-093 a sentence goes with the half of its turn in which it ends', async (t) => {
  const turns = [turn(0, 'I will call', [0, 2_000])];
  t.equal(await readOf({ turns, corrections: [deleted([2_000, 4_000])] }), '');
});

t.test('K-093 a sentence goes with a turn that a later run has put elsewhere', async (t) => {
  t.equal(await readOf({ corrections: [deleted([3_000, 9_000])] }), '');
});

t.test('K-093 a sentence stays when retention removed its turn', async (t) => {
  t.equal(await readOf({ expired: { serials: [[0, 1]], spans: [[0, 4_000]] } }), SENTENCE);
});

t.test('K-093 a sentence stays when a later run has heard nothing there', async (t) => {
  t.equal(await readOf({}), SENTENCE);
});

t.test('K-094 what a model worded goes when what is left only touches its evidence', async (t) => {
  const turns = [turn(0, 'Next.', [3_900, 9_000])];
  t.equal(await readOf({ turns, corrections: [deleted([0, 4_000])] }, { made_by: 'model', text: 'Call Zoe' }), '');
});
