import t, { type Test } from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import {
  type Engine,
  EngineFailed,
  type HeardSegment,
  type Transcription,
} from '../../../src/features/transcripts/engines/engine.js';
import { transcribeWindow } from '../../../src/features/transcripts/transcribe_window.js';
import type { TranscriptionResult, WindowWork } from '../../../src/features/transcripts/transcription.js';
import { silentFlac } from '../../fixtures/flac_file.js';
import { counting, StoredStream, wav16 } from '../../fixtures/window.js';

type Said = Partial<HeardSegment> & { text: string; start_s: number; end_s: number };

/** An engine that says the same of every file, or what stands in the place of the file. */
function engineOf(files: Said[][], language?: string) {
  const asked: Parameters<Engine['hear']>[0][] = [];
  const hear = async (one: Parameters<Engine['hear']>[0]): Promise<Transcription> => {
    asked.push(one);
    const segments = (files[asked.length - 1] ?? files[0] ?? []).map((said) => ({ words: [], ...said }));
    return { language, segments };
  };
  return { asked, engine: { name: 'scripted', hear, close: async () => {} } satisfies Engine };
}

async function transcribe(t: Test, run: { stream: StoredStream; engine: Engine; work: WindowWork }) {
  const { stream, engine, work } = run;
  const made = await transcribeWindow({ engine, stores: stream.stores, work, signal: new AbortController().signal });
  if (!made.ok) t.fail('it failed', made.failure);
  return (made as { result: TranscriptionResult }).result;
}

/** So many letters that are no loop, from one on. */
function letters(count: number, first = 0x61): string {
  let state = 7;
  const next = () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return String.fromCodePoint(first + (state % 26));
  };
  return Array.from({ length: count }, next).join('');
}

/** A recording from 10 s to 20 s with a hole of 30 s in its middle. */
async function holedStream(t: Test): Promise<StoredStream> {
  const stream = await StoredStream.open(t);
  await stream.add([10_000, 15_000], wav16(counting(5_000)));
  await stream.add([45_000, 50_000], wav16(counting(5_000)));
  return stream;
}

const word = (text: string, start_s: number, end_s: number, speaker?: string) => ({ text, start_s, end_s, speaker });

t.test('turns lie on the timeline of the stream', async (t) => {
  const stream = await holedStream(t);
  const { engine, asked } = engineOf(
    [
      [
        { text: ' Good\u0000 morning. ', start_s: 1, end_s: 2, confidence: 0.87654, words: [word(' Good', 1, 1.4)] },
        { text: 'After the hole.', start_s: 5, end_s: 6, speaker: 'S1' },
        { text: ' ', start_s: 7, end_s: 8 },
      ],
    ],
    'de',
  );
  const work = stream.work(10_000, 50_000, {
    language: 'de',
    vocabulary: ['Spool', 'x'.repeat(60), 'Nact'],
    previous_text: `${letters(600)} and so on`,
    speech_before: { said_ms: 7, not_understood_ms: 8 },
  });
  t.same(await transcribe(t, { stream, engine, work }), {
    ...{ speaker_scope: 'numbered', mode: 'replace', dropped: 0 },
    turns: [
      {
        ...{ start_ms: 11_000, end_ms: 12_000, text: 'Good morning.', confidence: 0.877, language: 'de' },
        words: [['Good', 11_000, 11_400, null]],
      },
      { start_ms: 45_000, end_ms: 46_000, text: 'After the hole.', speaker: '1-S1', language: 'de' },
    ],
  });
  const [request] = asked;
  t.match(request, {
    language: 'de',
    speech_before: { said_ms: 7, not_understood_ms: 8 },
    vocabulary: work.vocabulary,
  });
  const prompt = request?.prompt ?? '';
  t.match(prompt, /^Spool, x{60}, Nact\. .*and so on$/);
  t.ok(prompt.length <= LIMITS.engine_prompt_chars_max + 2);
});

t.test('a segment is cut where its speaker changes and where the recording has a hole', async (t) => {
  const stream = await holedStream(t);
  const { engine } = engineOf([
    [
      {
        ...{ text: 'Are you there? Yes, I am.', start_s: 0, end_s: 4 },
        words: [
          ...[word('Are', 0, 0.5, 'A'), word('you', 0.5, 1), word('there', 1, 1.5, 'A')],
          ...[word('yes', 2, 2.5, 'B'), word('I', 2.5, 3, 'B'), word('am', 3, 3.9, 'B')],
        ],
      },
      { text: 'before, after', start_s: 4, end_s: 6, words: [word('before', 4.5, 5), word('after', 5, 6)] },
      { text: 'not the same', start_s: 7, end_s: 9, words: [word('other', 7, 8, 'A'), word('words', 8, 9, 'B')] },
    ],
  ]);
  const { turns } = await transcribe(t, { stream, engine, work: stream.work(10_000, 50_000) });
  t.match(turns, [
    { text: 'Are you there?', speaker: 'A', start_ms: 10_000, end_ms: 11_500, words: { length: 3 } },
    { text: 'Yes, I am.', speaker: 'B', start_ms: 12_000, end_ms: 13_900, words: { length: 3 } },
    { text: 'before,', start_ms: 14_500, end_ms: 15_000 },
    { text: 'after', start_ms: 45_000, end_ms: 46_000 },
    { text: 'other', speaker: 'A' },
    { text: 'words', speaker: 'B' },
  ]);
  t.equal(turns.length, 6);
});

t.test('text that is longer than a turn may be becomes several, and none of it is lost', async (t) => {
  const stream = await holedStream(t);
  const text = letters(7_000).replace(/.{7}/g, '$& ').trim();
  for (const long of [text, letters(5_000), letters(2_500, 0x1d400)]) {
    const { engine } = engineOf([[{ text: long, start_s: 0, end_s: 5 }]]);
    const { turns } = await transcribe(t, { stream, engine, work: stream.work(10_000, 15_000) });
    t.ok(turns.length > 2);
    t.equal(turns.map((turn) => turn.text).join(long === text ? ' ' : ''), long);
    t.ok(turns.every((turn) => turn.text.length <= LIMITS.turn_text_chars_max && turn.text.isWellFormed()));
    t.same([turns[0]?.start_ms, turns.at(-1)?.end_ms], [10_000, 15_000]);
  }
});

t.test('K-040 an utterance that the end of a window may have cut is left to the next one', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 10_000], wav16(counting(10_000)));
  const last = (start_s: number, end_s: number): Said[] => [
    { text: 'Whole.', start_s: 0, end_s: 4 },
    { text: 'And then we', start_s, end_s },
  ];
  const rows: [string, Said[], boolean, number | undefined, number][] = [
    ['it ends with the audio', last(8, 9.9), false, 8_000, 1],
    ['the stream is over', last(8, 9.9), true, undefined, 2],
    ['it ends before', last(8, 8.9), false, undefined, 2],
    ['it is most of the window', last(4.5, 10), false, undefined, 2],
    ['it is all there is', last(8, 9.9).slice(1), false, undefined, 1],
  ];
  for (const [title, said, final, consumed_to_ms, turns] of rows) {
    const { engine } = engineOf([said]);
    const found = await transcribe(t, { stream, engine, work: stream.work(0, 10_000, { final }) });
    t.same([found.consumed_to_ms, found.turns.length], [consumed_to_ms, turns], title);
  }
});

t.test('a last line whose times do not fit is not left to the next window', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 10_000], wav16(counting(10_000)));
  await stream.add([10_000, 20_000], Buffer.from('a'), { codec: 'opus', container: 'webm' });
  const long = 'So long a line was said before, and not in the tenth of a second that is left.';
  const rows: [string, Said][] = [
    ['it begins at the end', { text: 'Last.', start_s: 10, end_s: 10 }],
    ['there is no room for it', { text: long, start_s: 9.9, end_s: 10 }],
    ['nobody knows when it began', { text: long, start_s: 6, end_s: 10, guessed: true }],
  ];
  for (const [says, last] of rows)
    for (const from_ms of [0, 10_000]) {
      const { engine } = engineOf([[{ text: 'Whole.', start_s: 0, end_s: 4 }, last]]);
      const work = stream.work(from_ms, from_ms + 10_000, { final: false });
      const { turns, consumed_to_ms } = await transcribe(t, { stream, engine, work });
      t.same(
        [turns.map(({ text }) => text), consumed_to_ms],
        [['Whole.', last.text], undefined],
        `${says}, ${from_ms}`,
      );
    }
});

t.test('words whose times are out of order stay in the order of the text', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 10_000], wav16(counting(10_000)));
  const said = { text: 'You know. I know you.', start_s: 0, end_s: 3 };
  const words = [
    word('You', 0.5, 0.6, 'A'),
    word('know.', 0.6, 0.9, 'A'),
    word('I', 0.85, 0.87, 'B'),
    word('know', 0.84, 1.2, 'B'),
    word('you.', 1.2, 1.4, 'B'),
  ];
  const { engine } = engineOf([[{ ...said, words }]]);
  const { turns } = await transcribe(t, { stream, engine, work: stream.work(0, 10_000) });
  t.match(turns, [
    { text: 'You know.' },
    {
      text: 'I know you.',
      words: [
        ['I', 850],
        ['know', 850],
        ['you.', 1_200],
      ],
    },
  ]);
});

t.test('files of one window: speakers of their own, and what lies outside is not of it', async (t) => {
  const stream = await StoredStream.open(t);
  const webm = { codec: 'opus', container: 'webm' };
  await stream.add([0, 10_000], Buffer.from('a'), webm);
  await stream.add([10_000, 20_000], Buffer.from('b'), webm);
  const said: Said[] = [
    { text: 'first half', start_s: 1, end_s: 3, speaker: 'A' },
    { text: 'second half', start_s: 6, end_s: 8, speaker: 'A' },
  ];
  const { engine, asked } = engineOf([said]);
  const { turns } = await transcribe(t, { stream, engine, work: stream.work(5_000, 20_000) });
  t.equal(asked.length, 2);
  t.match(turns, [
    { text: 'second half', start_ms: 6_000, speaker: 'A' },
    { text: 'first half', start_ms: 11_000, speaker: '2-A' },
    { text: 'second half', start_ms: 16_000, speaker: '2-A' },
  ]);
  t.equal(turns.length, 3);
});

t.test('silence is not sent, and invented text is dropped and counted', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 10_000], wav16(Buffer.alloc(20_000)));
  const { engine, asked } = engineOf([
    [
      { text: 'Thanks for watching!', start_s: 0, end_s: 1, no_speech_prob: 0.9, avg_logprob: -2 },
      { text: 'Hello.', start_s: 1, end_s: 2 },
    ],
  ]);
  const silent = await transcribe(t, { stream, engine, work: stream.work(0, 10_000) });
  t.same(silent, { speaker_scope: 'numbered', mode: 'replace', turns: [], dropped: 0 });
  t.equal(asked.length, 0);
  await stream.add([10_000, 20_000], wav16(counting(10_000)));
  const { turns, dropped } = await transcribe(t, { stream, engine, work: stream.work(10_000, 20_000) });
  t.match([turns, dropped], [[{ text: 'Hello.' }], 1]);
});

/** Six files that no two can be one, of ten seconds each; the engine answers as `answers` says, by the file's number. */
async function sixFiles(t: Test, answers: Record<number, EngineFailed>, more: Partial<WindowWork> = {}) {
  const stream = await StoredStream.open(t);
  const webm = { codec: 'opus', container: 'webm' };
  for (let at = 0; at < 6; at++) await stream.add([at * 10_000, at * 10_000 + 10_000], Buffer.from(`${at}`), webm);
  const asked: number[] = [];
  const hear = async ({ file }: Parameters<Engine['hear']>[0]): Promise<Transcription> => {
    const at = Number(file.bytes.toString());
    asked.push(at);
    const failed = answers[at];
    if (failed !== undefined) throw failed;
    return { segments: [{ start_s: 1, end_s: 2, text: `Piece ${at}.`, words: [] }] };
  };
  const engine: Engine = { name: 'scripted', hear, close: async () => {} };
  const work = stream.work(0, 60_000, more);
  const signal = new AbortController().signal;
  return { made: await transcribeWindow({ engine, stores: stream.stores, work, signal }), asked };
}

const pieces = (...numbers: number[]) => numbers.map((at) => ({ text: `Piece ${at}.` }));
const refused = () => new EngineFailed('ENGINE_REFUSED', 'The engine answered 400.');
const broken = () => new EngineFailed('ENGINE_ERROR', 'The engine answered 500.');
const away = () =>
  new EngineFailed('ENGINE_UNREACHABLE', 'The engine could not be reached.', { retry_after_ms: 7_000 });
const LAST_TRY = { tries: LIMITS.window_tries_max };

t.test('K-043 a file that the engine refuses fails alone', async (t) => {
  const { made, asked } = await sixFiles(t, { 1: refused(), 2: refused(), 5: refused() });
  t.same(asked, [0, 1, 2, 3, 4, 5]);
  t.match(made, {
    ok: true,
    result: {
      turns: pieces(0, 3, 4),
      ...{ consumed_to_ms: undefined, stopped: undefined },
      failed: [
        { from_ms: 10_000, to_ms: 20_000, code: 'ENGINE_REFUSED' },
        { from_ms: 20_000, to_ms: 30_000 },
        { from_ms: 50_000, to_ms: 60_000 },
      ],
    },
    failures: { length: 3 },
  });
});

t.test('K-043 where every file is refused, the window fails', async (t) => {
  const { made } = await sixFiles(t, Object.fromEntries([0, 1, 2, 3, 4, 5].map((at) => [at, refused()])));
  t.match(made, { ok: false, failure: { code: 'ENGINE_REFUSED', retry: false } });
});

t.test('an engine that refuses whoever asks is asked once', async (t) => {
  const denied = new EngineFailed('ENGINE_REFUSED', 'The engine answered 401.', { of_file: false });
  const { made, asked } = await sixFiles(t, { 1: denied });
  t.same(asked, [0, 1]);
  t.match(made, {
    result: {
      turns: pieces(0),
      failed: [{ from_ms: 10_000, to_ms: 60_000, code: 'ENGINE_REFUSED' }],
      stopped: undefined,
    },
  });
});

t.test('K-043 what was heard before the engine failed counts, and the rest of a final window waits', async (t) => {
  const { made, asked } = await sixFiles(t, { 0: refused(), 3: away() }, { final: true });
  t.same(asked, [0, 1, 2, 3]);
  t.match(made, {
    result: {
      turns: pieces(1, 2),
      ...{ consumed_to_ms: 30_000, stopped: { code: 'ENGINE_UNREACHABLE', rest_ms: 7_000 } },
      failed: [{ from_ms: 0, to_ms: 10_000 }],
    },
  });
});

t.test('K-043 where the first file fails, the window is tried again', async (t) => {
  const { made, asked } = await sixFiles(t, { 0: broken() });
  t.same(asked, [0]);
  t.match(made, { ok: false, failure: { code: 'ENGINE_ERROR', retry: true } });
});

t.test('K-043 at its last try a file that the engine fails at fails alone', async (t) => {
  const { made, asked } = await sixFiles(t, { 0: broken(), 2: broken() }, LAST_TRY);
  t.same(asked, [0, 1, 2, 3, 4, 5]);
  t.match(made, {
    result: {
      ...{ turns: pieces(1, 3, 4, 5), consumed_to_ms: undefined, stopped: undefined },
      failed: [{ from_ms: 0, to_ms: 10_000, code: 'ENGINE_ERROR' }, { from_ms: 20_000 }],
    },
  });
});

t.test('K-043 at its last try a file for which the engine is away fails alone, and those behind it wait', async (t) => {
  const { made, asked } = await sixFiles(t, { 0: away() }, LAST_TRY);
  t.same(asked, [0]);
  t.match(made, {
    result: {
      turns: [],
      consumed_to_ms: 10_000,
      failed: [{ from_ms: 0, to_ms: 10_000 }],
      stopped: { code: 'ENGINE_UNREACHABLE' },
    },
  });
});

t.test('of a server that stops nothing is published: the window is given back', async (t) => {
  const { made } = await sixFiles(t, { 0: refused(), 3: new EngineFailed('ENGINE_STOPPED', 'The server stopped.') });
  t.match(made, { ok: false, failure: { code: 'ENGINE_STOPPED', retry: true } });
});

/** Three chunks, of which the second has lost its bytes. */
async function withLoss(t: Test, hear: () => Promise<Transcription>) {
  const stream = await StoredStream.open(t);
  await stream.add([0, 5_000], wav16(counting(5_000)));
  const gone = await stream.add([5_000, 10_000], wav16(counting(5_000)));
  await stream.add([10_000, 15_000], Buffer.from('a'), { codec: 'opus', container: 'webm' });
  await stream.remove(gone);
  const lost: string[] = [];
  const engine: Engine = { name: 'scripted', hear, close: async () => {} };
  const asking = { engine, stores: stream.stores, work: stream.work(0, 15_000), signal: new AbortController().signal };
  const made = await transcribeWindow({ ...asking, onLost: (chunk_id) => lost.push(chunk_id) });
  return { made, gone, lost };
}

t.test('K-023 K-043 a chunk whose bytes are gone fails, and the others are heard', async (t) => {
  const heard: Transcription = { segments: [{ start_s: 1, end_s: 2, text: 'There.', words: [] }] };
  const { made, gone, lost } = await withLoss(t, async () => heard);
  t.match(made, {
    result: { turns: { length: 2 }, failed: [{ from_ms: 5_000, to_ms: 10_000, code: 'AUDIO_GONE' }] },
    failures: [],
  });
  t.same(lost, [gone]);
});

t.test('K-256 a chunk that is much longer than its intent says fails, and the others are heard', async (t) => {
  const stream = await StoredStream.open(t);
  const flac = { codec: 'flac', container: 'flac' };
  await stream.add([0, 1_000], silentFlac({ seconds: 3_600 }), flac);
  await stream.add([1_000, 3_000], silentFlac({ seconds: 2 }), flac);
  const engine: Engine = { name: 'scripted', hear: async () => ({ segments: [] }), close: async () => {} };
  const signal = new AbortController().signal;
  const made = await transcribeWindow({ engine, stores: stream.stores, work: stream.work(0, 3_000), signal });
  t.match(made, { ok: true, result: { failed: [{ from_ms: 0, to_ms: 1_000, code: 'WRONG_DURATION' }] }, failures: [] });
});

t.test('K-023 K-043 where the engine stops before a chunk whose bytes are gone, that waits as well', async (t) => {
  const { made } = await withLoss(t, () => Promise.reject(away()));
  t.match(made, { ok: false, failure: { code: 'ENGINE_UNREACHABLE', retry: true } });
});

t.test('K-043 of a file of several chunks that the engine refuses, each chunk is asked for by itself', async (t) => {
  const stream = await StoredStream.open(t);
  for (let at = 0; at < 3; at++)
    await stream.add([at * 5_000, at * 5_000 + 5_000], wav16(counting(5_000, at === 1 ? 20_000 : 1)));
  const lengths: number[] = [];
  const hear = async ({ file }: Parameters<Engine['hear']>[0]): Promise<Transcription> => {
    lengths.push(file.wav?.frames ?? 0);
    if (file.bytes.includes(counting(1, 20_000))) throw refused();
    return { segments: [{ start_s: 1, end_s: 2, text: 'Readable.', words: [] }] };
  };
  const engine: Engine = { name: 'scripted', hear, close: async () => {} };
  const { turns, failed } = await transcribe(t, { stream, engine, work: stream.work(0, 15_000) });
  t.same(lengths, [15_000, 5_000, 5_000, 5_000]);
  t.match(turns, [{ start_ms: 1_000 }, { start_ms: 11_000 }]);
  t.match(failed, [{ from_ms: 5_000, to_ms: 10_000 }]);
});

t.test('what loops is no prompt', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 10_000], wav16(counting(10_000)));
  for (const previous_text of ['Thanks for watching! '.repeat(9), '[BLANK_AUDIO]', '...']) {
    const { engine, asked } = engineOf([[]]);
    await transcribe(t, { stream, engine, work: stream.work(0, 10_000, { vocabulary: ['Spool'], previous_text }) });
    t.equal(asked[0]?.prompt, 'Spool.');
  }
});

t.test('a turn has a letter or a digit, also where a segment becomes several', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 10_000], wav16(counting(10_000)));
  const said = { text: 'Yes. ...', start_s: 0, end_s: 3, words: [word('Yes.', 0, 1, 'A'), word('...', 1, 2, 'B')] };
  const { engine } = engineOf([[said]]);
  t.match((await transcribe(t, { stream, engine, work: stream.work(0, 10_000) })).turns, [{ text: 'Yes.' }]);
});

t.test('what fails is said', async (t) => {
  const stream = await holedStream(t);
  const work = stream.work(10_000, 50_000);
  const signal = new AbortController().signal;
  const hear = async (): Promise<Transcription> => {
    throw new EngineFailed('ENGINE_BUSY', 'The engine answered 429.', { retry_after_ms: 7_000 });
  };
  const BUSY = {
    code: 'ENGINE_BUSY',
    message: 'The engine answered 429.',
    retry: true,
    of_file: false,
    retry_after_ms: 7_000,
  };
  const busy: Engine = { name: 'busy', hear, close: async () => {} };
  t.same(await transcribeWindow({ engine: busy, stores: stream.stores, work, signal }), {
    ok: false,
    failure: BUSY,
    failures: [BUSY],
  });
  const many = Array.from({ length: LIMITS.window_turns_max + 1 }, (_, index) => ({
    ...{ text: `t${index}`, start_s: index / 1_000, end_s: index / 1_000 },
  }));
  const { engine } = engineOf([many]);
  t.match(await transcribeWindow({ engine, stores: stream.stores, work, signal }), {
    failure: { code: 'ENGINE_BAD_ANSWER', retry: true },
  });
});
