import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type TranscriptMessage, transcript } from '../../../actors/transcripts/transcript.js';
import type { TranscriptRun } from '../../../actors/transcripts/transcript_runs.js';
import { NOT_UNDERSTOOD, type Transcript, type Window } from '../../../actors/transcripts/transcript_state.js';
import { makeId } from '../../../src/domain/ids.js';
import type { Interval } from '../../../src/domain/intervals.js';
import { LIMITS } from '../../../src/domain/limits.js';
import type { SpeechBefore } from '../../../src/domain/speech_before.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

/** How audio becomes windows for workers. Rule K-039; docs/areas.md, "Transcripts". */

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const WINDOW_MS = 60_000;
const QUIET_MS = LIMITS.window_quiet_ms;
const PAGE_MS = LIMITS.transcript_page_ms;
const RUN = makeId({ partition: 7, now_ms: START_MS + 1, random: new Uint8Array(5) });

type Refused = { refused: string };
type Unheard = Partial<Pick<Extract<TranscriptMessage, { type: 'publish' }>, 'turns' | 'failed' | 'stopped'>>;

class Recording extends Played<Transcript, TranscriptMessage, unknown> {
  #tokens = 0;

  constructor() {
    super(transcript, ID);
  }

  audio(intervals: Interval[], end_ms: number | null = null): void {
    const stream = { account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: START_MS, end_ms };
    this.ask({ type: 'audio', stream, window_ms: WINDOW_MS, intervals });
  }

  claim(lease_ms = 60_000): (Window & { token: string }) | null {
    return this.claimed(lease_ms).window;
  }

  claimed(lease_ms = 60_000): { window: (Window & { token: string }) | null; speech_before?: SpeechBefore } {
    this.#tokens += 1;
    const token = `t${this.#tokens}`;
    const asked = { type: 'claim_window', token, run_id: RUN, lease_ms, window_ms: WINDOW_MS } as const;
    return this.ask(asked) as { window: Window | null; speech_before?: SpeechBefore };
  }

  /** Says that nothing was heard, up to there. */
  publish({ number, token }: Window, consumed_to_ms?: number, final_pass = false, more: Unheard = {}): unknown {
    return this.send({
      ...{ type: 'publish', number, token, digest: token, speaker_scope: 'window', mode: 'replace' },
      ...{ turns: [], recognized: {}, final_pass, consumed_to_ms, ...more },
    }).reply;
  }

  /** When a worker may claim next, as the partition's index says. */
  get due_ms(): number | null {
    const last = this.effects.filter((one) => 'index' in one && one.index === 'transcribing').at(-1) as
      | Effect
      | undefined;
    return last?.effect === 'add_to_index' ? last.order : null;
  }
}

const span = (window: Window | null) => (window === null ? null : [window.from_ms, window.to_ms, window.final]);

t.test('K-039 when a window is due, and how far it goes', async (t) => {
  const cases: [says: string, audio: Interval[], end_ms: number | null, at_once: unknown, when_quiet: unknown][] = [
    ['a full one at once', [[0, 70_000]], null, [0, 60_000, false], [0, 60_000, false]],
    ['a short one when nothing joins it', [[0, 5_000]], null, null, [0, 5_000, false]],
    ['the end of the recording at once, and all of it', [[0, 5_000]], 5_000, [0, 5_000, true], [0, 5_000, true]],
    [
      'gaps are left out',
      [
        [0, 20_000],
        [50_000, 100_000],
      ],
      null,
      [0, 90_000, false],
      [0, 90_000, false],
    ],
    [
      'the end of a page, which is whole',
      [[590_000, 650_000]],
      null,
      [590_000, PAGE_MS, true],
      [590_000, PAGE_MS, true],
    ],
    [
      'what begins behind a page',
      [
        [590_000, 595_000],
        [610_000, 612_000],
      ],
      null,
      [590_000, 595_000, false],
      [590_000, 595_000, false],
    ],
  ];
  for (const [says, audio, end_ms, at_once, when_quiet] of cases) {
    const early = new Recording();
    early.audio(audio, end_ms);
    t.same(span(early.claim()), at_once, `${says}: at once`);
    const late = new Recording();
    late.audio(audio, end_ms);
    t.ok((late.due_ms as number) <= START_MS + QUIET_MS, says);
    late.pass(QUIET_MS);
    t.same(span(late.claim()), when_quiet, `${says}: later`);
  }
});

t.test('K-040 K-045 a window is in one hand at a time, and what it leaves over goes with the next', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 100_000]]);
  const first = recording.claim() as Window;
  t.equal(recording.claim(), null, 'the next one begins where this ends');
  t.equal(recording.due_ms, first.until_ms, 'nobody asks before its lease is over');
  recording.publish(first, 55_000);
  t.same(recording.state?.covered, [[0, 55_000]]);
  t.equal(recording.claim(), null, 'not full yet');
  recording.audio([[100_000, 130_000]]);
  t.same(span(recording.claim()), [55_000, 115_000, false]);
});

t.test('K-040 what is left over and gets no more is final', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 30_000]]);
  recording.pass(QUIET_MS);
  recording.publish(recording.claim() as Window, 28_000);
  recording.pass(QUIET_MS);
  const rest = recording.claim() as Window;
  t.same(span(rest), [28_000, 30_000, true]);
  t.match(recording.publish(rest, 29_000), { refused: 'BAD_REQUEST' });
  recording.publish(rest);
  t.same(recording.state?.waiting, []);
  t.equal(recording.due_ms, null);
});

t.test('K-041 audio that comes late or twice', async (t) => {
  const recording = new Recording();
  recording.audio([[60_000, 120_000]]);
  recording.publish(recording.claim() as Window);
  recording.audio([[60_000, 120_000]]);
  t.same(recording.state?.waiting, [], 'what was transcribed is not transcribed again');
  recording.audio([
    [0, 60_010],
    [100_000, 130_000],
  ]);
  t.same(span(recording.claim()), [0, 60_000, false]);
  const { waiting = [] } = recording.state ?? {};
  t.same(
    waiting.map(({ from_ms, to_ms }) => [from_ms, to_ms]),
    [
      [0, 60_000],
      [120_000, 130_000],
    ],
  );
});

t.test('K-044 K-045 K-046 a worker that is lost, fails, or comes too late', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]]);
  const lost = recording.claim() as Window;
  recording.pass(60_000);
  const second = recording.claim() as Window;
  t.equal(second.tries, 2);
  t.match(recording.publish(lost), { refused: 'CONFLICT' }, 'somebody else has it');
  const failed = (window: Window, retry: boolean) =>
    recording.send({ type: 'window_failed', number: window.number, token: window.token, code: 'X', retry }).reply;
  t.same(failed(second, true), { again: true, tries: 2 });
  t.equal(recording.claim(), null, 'it rests');
  recording.pass(LIMITS.window_retries_ms[1] as number);
  const third = recording.claim() as Window;
  t.same(failed(third, false), { again: false, tries: 3 });
  t.same(recording.state?.failed, [{ from_ms: 0, to_ms: 60_000, code: 'X' }]);
  t.equal(recording.due_ms, null);
  recording.ask({ type: 'reprocess', from_ms: 0, to_ms: 1e9, only_failed: true });
  t.same(span(recording.claim()), [0, 60_000, false], 'an operator has it tried again');
  t.same(recording.state?.failed, []);
});

t.test('K-133 how windows ended is kept for debugging, the newest of them', async (t) => {
  const recording = new Recording();
  const runs = () => (recording.ask({ type: 'runs' }) as { runs: TranscriptRun[] }).runs;
  recording.audio([[0, 120_000]]);
  recording.publish(recording.claim() as Window);
  const { number, token } = recording.claim() as Window;
  recording.pass(1_000);
  recording.ask({ type: 'window_failed', number, token, code: 'X', retry: false, engine: 'e' });
  t.match(runs(), [
    {
      ...{ from_ms: 60_000, to_ms: 120_000, status: 'failed', engine: 'e', failure: 'X' },
      ended_at_ms: START_MS + 1_000,
    },
    {
      from_ms: 0,
      to_ms: 60_000,
      run_id: RUN,
      pass: 'first',
      status: 'published',
      engine: null,
      queued_at_ms: START_MS,
    },
  ]);
  for (let more = 0; more < LIMITS.runs_kept_per_stream; more++) {
    recording.ask({ type: 'reprocess', from_ms: 0, to_ms: 60_000, only_failed: false });
    recording.publish(recording.claim() as Window);
  }
  t.equal(runs().length, LIMITS.runs_kept_per_stream);
  t.ok(runs().every(({ pass, status }) => pass === 'reprocess' && status === 'published'));
});

t.test('K-046 nobody gets a window for ever', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]]);
  for (let tries = 1; tries <= LIMITS.window_tries_max; tries++) {
    t.equal(recording.claim()?.tries, tries);
    recording.pass(60_000);
  }
  t.equal(recording.claim(), null);
  t.same(recording.state?.failed, [{ from_ms: 0, to_ms: 60_000, code: 'GIVEN_UP' }]);
  t.equal(recording.due_ms, null);
});

t.test('K-044 a recording is run once more after its end, a page at a time', async (t) => {
  const recording = new Recording();
  recording.audio(
    [
      [0, 50_000],
      [PAGE_MS, PAGE_MS + 30_000],
    ],
    PAGE_MS + 30_000,
  );
  for (let windows = 0; windows < 2; windows++) recording.publish(recording.claim() as Window, undefined, true);
  const passes: unknown[] = [];
  for (let window = recording.claim(); window !== null; window = recording.claim()) {
    passes.push([window.pass, ...(span(window) as unknown[])]);
    recording.publish(window, undefined, true);
  }
  t.same(passes, [
    ['final_pass', 0, 50_000, false],
    ['final_pass', PAGE_MS, PAGE_MS + 30_000, true],
  ]);
  t.equal(recording.state?.final_pass, 'done');
});

t.test('K-048 what a worker says must lie in its window, in order', async (t) => {
  const recording = new Recording();
  recording.audio([[60_000, 120_000]]);
  const window = recording.claim() as Window;
  const says = (turns: [number, number][], consumed_to_ms?: number) => {
    const { number, token } = window;
    const said = turns.map(([start_ms, end_ms]) => ({ start_ms, end_ms, text: 'x' }));
    return (
      recording.decide({
        ...{ type: 'publish', number, token, digest: 'd', speaker_scope: 'window', mode: 'replace' },
        ...{ turns: said, recognized: {}, final_pass: false, consumed_to_ms },
      }).reply as Refused
    ).refused;
  };
  t.equal(says([[57_999, 60_000]]), 'BAD_REQUEST', 'too early');
  t.equal(says([[58_000, 60_000]]), undefined);
  t.equal(says([[119_000, 122_001]]), 'BAD_REQUEST', 'too late');
  t.equal(
    says([
      [70_000, 71_000],
      [69_999, 72_000],
    ]),
    'BAD_REQUEST',
    'out of order',
  );
  t.equal(says([], 60_000), 'BAD_REQUEST', 'nothing consumed');
  t.equal(says([], 120_001), 'BAD_REQUEST', 'more than there is');
  t.equal(says([[60_000, 61_000]], 90_000), undefined);
});

t.test('K-041 many small pieces of audio stay few intervals', async (t) => {
  const recording = new Recording();
  const pieces = Array.from(
    { length: LIMITS.transcript_intervals_max + 50 },
    (_, at): Interval => [at * 1_000, at * 1_000 + 500 + (at % 7)],
  );
  recording.audio(pieces);
  t.equal(recording.state?.waiting.length, LIMITS.transcript_intervals_max);
});

const bad = (from_ms: number, to_ms: number, code = 'ENGINE_REFUSED') => ({ from_ms, to_ms, code });

t.test('K-043 a part that could not be heard stands in failed, and the rest is covered', async (t) => {
  const recording = new Recording();
  recording.audio(
    [
      [0, 40_000],
      [50_000, 60_000],
    ],
    60_000,
  );
  const failed = [bad(10_000, 20_000), bad(20_000, 30_000), bad(35_000, 55_000, 'ENGINE_ERROR')];
  recording.publish(recording.claim() as Window, undefined, false, { failed });
  t.match(recording.state, {
    ...{ waiting: [], retry: null },
    covered: [
      [0, 10_000],
      [30_000, 35_000],
      [55_000, 60_000],
    ],
    failed: [bad(10_000, 30_000), bad(35_000, 40_000, 'ENGINE_ERROR'), bad(50_000, 55_000, 'ENGINE_ERROR')],
  });
});

t.test('K-043 where a result says that the engine stopped, the rest waits for its next try', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]], 60_000);
  const stopped = { code: 'ENGINE_BUSY' };
  recording.publish(recording.claim() as Window, 20_000, false, { stopped });
  t.match(recording.state, { covered: [[0, 20_000]], retry: { from_ms: 20_000, tries: 1 } });
  t.equal(recording.claim(), null, 'it rests');
  recording.pass(LIMITS.window_retries_ms[0] as number);
  const second = recording.claim();
  t.same([span(second), second?.tries], [[20_000, 60_000, true], 2]);
});

t.test('K-043 K-046 what nobody has tried has all of its tries before it', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]], 60_000);
  let window = recording.claim() as Window;
  for (let tries = 1; tries < LIMITS.window_tries_max; tries++) {
    const { number, token } = window;
    recording.ask({ type: 'window_failed', number, token, code: 'ENGINE_BUSY', retry: true });
    recording.pass(LIMITS.window_retries_ms[tries - 1] as number);
    window = recording.claim() as Window;
  }
  t.equal(window.tries, LIMITS.window_tries_max);
  recording.publish(window, 10_000, false, {
    failed: [bad(0, 10_000, 'ENGINE_BUSY')],
    stopped: { code: 'ENGINE_BUSY' },
  });
  t.equal(recording.claim()?.tries, 1);
});

t.test('K-048 a part that is said to have failed must lie in the window', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]], 60_000);
  const window = recording.claim() as Window;
  for (const failed of [[bad(-1, 10)], [bad(10, 10)], [bad(59_000, 60_001)]])
    t.match(recording.publish(window, undefined, false, { failed }), { refused: 'BAD_REQUEST' });
});

t.test('K-043 K-044 where a later pass could not hear, what stands there stays', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]], 60_000);
  const turns = [5_000, 15_000, 25_000].map((start_ms) => ({
    start_ms,
    end_ms: start_ms + 1_000,
    text: `at ${start_ms}`,
  }));
  recording.publish(recording.claim() as Window, undefined, true, { turns });
  const pass = recording.claim() as Window;
  t.equal(pass.pass, 'final_pass');
  const heard = [{ start_ms: 5_000, end_ms: 6_000, text: 'better' }];
  t.match(recording.publish(pass, undefined, true, { turns: heard, failed: [bad(10_000, 20_000)] }), {
    tally: { turns: 1, replaced: 2 },
  });
  t.equal(recording.state?.turns, 2);
  t.match(recording.state, { failed: [bad(10_000, 20_000)], final_pass: 'done' });
});

t.test('K-044 of a range that failed, only what is asked for is tried again', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 60_000]], 60_000);
  const { number, token } = recording.claim() as Window;
  recording.ask({ type: 'window_failed', number, token, code: 'ENGINE_REFUSED', retry: false });
  recording.ask({ type: 'reprocess', from_ms: 10_000, to_ms: 20_000, only_failed: true });
  t.match(recording.state, {
    waiting: [{ from_ms: 10_000, to_ms: 20_000 }],
    failed: [bad(0, 10_000), bad(20_000, 60_000)],
  });
});

t.test('K-261 a window comes with how much of the two minutes before it was understood', async (t) => {
  const recording = new Recording();
  recording.audio([[0, 300_000]]);
  const said = (start_ms: number, end_ms: number) => ({ start_ms, end_ms, text: 'Two new chairs.' });
  const missed = (from_ms: number, to_ms: number, code = NOT_UNDERSTOOD) => ({ from_ms, to_ms, code });
  const parts: [speech_before: SpeechBefore, Unheard][] = [
    [
      { said_ms: 0, not_understood_ms: 0 },
      { turns: [said(1_000, 5_000)], failed: [missed(10_000, 40_000)] },
    ],
    [{ said_ms: 4_000, not_understood_ms: 30_000 }, { failed: [missed(60_000, 70_000, 'UNSUPPORTED_AUDIO')] }],
    [
      { said_ms: 4_000, not_understood_ms: 30_000 },
      { turns: [said(130_000, 133_000)], failed: [missed(150_000, 151_000)] },
    ],
    [
      { said_ms: 3_000, not_understood_ms: 1_000 },
      {
        turns: [
          { ...said(181_000, 182_000), confidence: 0.59 },
          { ...said(183_000, 185_000), confidence: 0.6 },
        ],
      },
    ],
    [{ said_ms: 5_000, not_understood_ms: 2_000 }, {}],
  ];
  for (const [expected, heard] of parts) {
    const { window, speech_before } = recording.claimed();
    t.same(speech_before, expected);
    recording.publish(window as Window, undefined, false, heard);
  }
});
