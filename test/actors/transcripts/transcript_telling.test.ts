import t from 'tap';
import { type TranscriptMessage, transcript } from '../../../actors/transcripts/transcript.js';
import { pageKey, readPage } from '../../../actors/transcripts/transcript_page.js';
import type { Transcript, Window } from '../../../actors/transcripts/transcript_state.js';
import type { ToldSpan } from '../../../actors/transcripts/transcript_telling.js';
import { makeId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { onTimeline } from '../../../src/features/transcripts/telling_worker.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const PAGE_MS = LIMITS.transcript_page_ms;
const PAGES = 3;
/** Two turns on each page: the first speaker's, then the second one's. */
const SPANS: ToldSpan[] = [0, 1, 2].flatMap((page): ToldSpan[] => [
  [page * PAGE_MS, page * PAGE_MS + 1_000, 0],
  [page * PAGE_MS + 1_000, page * PAGE_MS + 3_000, 1],
]);

class Told extends Played<Transcript, TranscriptMessage, unknown> {
  #tokens = 0;

  constructor({ speaker, ended = true }: { speaker?: string; ended?: boolean } = {}) {
    super(transcript, ID);
    const stream = { account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: START_MS, end_ms: null };
    this.send({ type: 'audio', stream, window_ms: PAGE_MS, intervals: [[0, PAGES * PAGE_MS]] });
    for (let page = 0; page < PAGES; page++) this.publish(page, speaker);
    if (ended) this.send({ type: 'ended', end_ms: PAGES * PAGE_MS });
  }

  publish(page: number, speaker?: string): void {
    const token = `window ${page}`;
    this.send({ type: 'claim_window', token, run_id: token, lease_ms: 1, window_ms: PAGE_MS });
    const { number } = (this.state as Transcript).window as Window;
    const begins_ms = page * PAGE_MS;
    const turns = [0, 1_000].map((at_ms) => ({
      ...{ start_ms: begins_ms + at_ms, end_ms: begins_ms + at_ms + 1_000, text: `at ${at_ms}` },
      ...(speaker !== undefined && { speaker }),
    }));
    this.send({
      ...{ type: 'publish', number, token, digest: token, speaker_scope: 'window', mode: 'replace' },
      ...{ turns, recognized: {}, final_pass: false },
    });
  }

  /** The refusal's message, or how far it is. */
  tell(count: number): string {
    return this.#outcome(this.send({ type: 'tell_speakers', count }).reply);
  }

  undo(): string {
    return this.#outcome(this.send({ type: 'undo_speakers' }).reply);
  }

  #outcome(reply: unknown): string {
    const { message, telling } = reply as { message?: string; telling?: { status: string } };
    return message ?? telling?.status ?? '';
  }

  claim(): { token: string; job: unknown } {
    this.#tokens += 1;
    const token = `t${this.#tokens}`;
    const { job } = this.send({ type: 'claim_telling', token, lease_ms: 1_000 }).reply as { job: unknown };
    return { token, job };
  }

  name(token: string, page: number): unknown {
    return this.send({ type: 'name_speakers', token, page, spans: SPANS }).reply;
  }

  /** Does what is due. */
  work(): void {
    const { token } = this.claim();
    for (let page = 0; page < PAGES; page++) this.name(token, page);
    this.send({ type: 'finish_telling', token });
  }

  get speakers(): number[] {
    return Array.from({ length: PAGES }, (_, page) => readPage(page, this.records('pages').get(pageKey(page)))).flatMap(
      ({ turns }) => turns.map(({ speaker }) => speaker),
    );
  }

  /** The turns of which events told that their speaker changed. */
  get told(): number {
    return this.effects.filter((effect) => effect.effect === 'append_event' && effect.type === 'turn.updated').length;
  }

  get is_due(): boolean {
    const last = this.effects.filter((effect) => 'index' in effect && effect.owner === 'telling').at(-1);
    return last?.effect === 'add_to_index';
  }
}

t.test('K-460 turns get whoever speaks most of them, and each change has one event', async (t) => {
  const told = new Told();
  t.equal(told.tell(2), 'telling');
  t.ok(told.is_due);
  told.work();
  t.same(told.speakers, [1, 2, 1, 2, 1, 2]);
  t.equal(told.told, 6);
  t.equal(told.state?.telling?.status, 'told');
  t.notOk(told.is_due);
});

t.test('K-460 the same number again changes nothing, another one is refused until it is undone', async (t) => {
  const told = new Told();
  told.tell(2);
  t.equal(told.tell(2), 'telling');
  t.match(told.tell(3), /undo that first/);
  told.work();
  t.equal(told.tell(2), 'told');
  t.match(told.tell(3), /told apart already/);
  t.equal(told.told, 6);
});

t.test('K-461 undoing takes the speakers away, and others may be told apart then', async (t) => {
  const told = new Told();
  told.tell(2);
  told.work();
  t.equal(told.undo(), 'undoing');
  told.work();
  t.same(told.speakers, [0, 0, 0, 0, 0, 0]);
  t.equal(told.told, 12);
  t.equal(told.undo(), 'undone');
  t.equal(told.tell(3), 'telling');
  told.work();
  t.same(told.speakers, [3, 4, 3, 4, 3, 4]);
});

t.test('K-461 undoing ends a job that is under way: its worker names nobody any more', async (t) => {
  const told = new Told();
  told.tell(2);
  const { token } = told.claim();
  told.name(token, 0);
  told.undo();
  t.match(told.name(token, 1), { refused: 'CONFLICT' });
  told.work();
  t.same(told.speakers, [0, 0, 0, 0, 0, 0]);
});

t.test('K-461 what a person said of a turn stays, told apart and undone', async (t) => {
  const told = new Told();
  told.send({ type: 'change_turn', page: 0, serial: 0, contact_id: 'zoe' });
  told.tell(2);
  told.work();
  told.send({ type: 'change_turn', page: 0, serial: 1, speaker: 1 });
  told.undo();
  told.work();
  const [first, second] = readPage(0, told.records('pages').get(pageKey(0))).turns;
  t.match(first, { contact_id: 'zoe', speaker: 0 });
  t.match(second, { speaker: 1, speaker_is_manual: true });
});

t.test('K-462 a recording is refused while it goes on, without text, and with speakers of an engine', async (t) => {
  t.match(new Told({ ended: false }).tell(2), /has not ended/);
  t.match(new Told({ speaker: 'A' }).tell(2), /told apart already/);
  const waits = new Told();
  const stream = { account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: START_MS, end_ms: null };
  waits.send({ type: 'audio', stream, window_ms: PAGE_MS, intervals: [[PAGES * PAGE_MS, (PAGES + 1) * PAGE_MS]] });
  t.match(waits.tell(2), /still being made/);
  t.match(new Told().undo(), /No speakers/);
});

t.test('K-463 a job whose worker was lost is done by another, up to three times', async (t) => {
  const told = new Told();
  told.tell(2);
  const lost = told.claim();
  told.name(lost.token, 0);
  t.equal(told.claim().job, null, 'while the lease lasts');
  told.now_ms += 1_000;
  told.work();
  t.same(told.speakers, [1, 2, 1, 2, 1, 2]);
  t.equal(told.told, 6, 'the page that was named has no second events');

  const given_up = new Told();
  given_up.tell(2);
  for (let tries = 0; tries < LIMITS.telling_tries_max; tries++) {
    t.not(given_up.claim().job, null);
    given_up.now_ms += 1_000;
  }
  t.equal(given_up.claim().job, null);
  t.match(given_up.state?.telling, { status: 'failed', code: 'GIVEN_UP' });
  t.equal(given_up.tell(2), 'telling', 'a person may ask again');
});

t.test('K-463 a failure that may pass is tried again after a rest, another one is final', async (t) => {
  const told = new Told();
  told.tell(2);
  const { token } = told.claim();
  told.send({ type: 'fail_telling', token, code: 'ENGINE_ERROR', retry: true });
  t.equal(told.claim().job, null);
  told.now_ms += LIMITS.telling_retries_ms[0] as number;
  const again = told.claim();
  told.send({ type: 'fail_telling', token: again.token, code: 'FEWER_VOICES', retry: false });
  t.match(told.state?.telling, { status: 'failed', code: 'FEWER_VOICES' });
  t.notOk(told.is_due);
});

t.test('K-460 times in the file are those of the timeline, with its holes', async (t) => {
  const spans: [number, number][] = [
    [0, 1_000],
    [5_000, 7_000],
  ];
  t.same(onTimeline(spans, [200, 400]), [[200, 400]]);
  t.same(onTimeline(spans, [900, 1_500]), [
    [900, 1_000],
    [5_000, 5_500],
  ]);
  t.same(onTimeline(spans, [3_000, 4_000]), []);
});
