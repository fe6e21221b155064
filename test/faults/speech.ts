import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { payloadOf } from '../../kits/typescript/src/call.js';
import { sha256Of } from '../../kits/typescript/src/device_client.js';
import { call } from '../../kits/typescript/src/http_call.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { LIMITS } from '../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { type Answer, answerOf } from '../driver/history.js';
import type { Servers } from '../driver/servers.js';
import type { AppClient } from '../fixtures/app_client.js';
import { allOf } from '../fixtures/colleagues.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import type { WorkView } from '../fixtures/transcribing.js';
import type { Witness } from './witness.js';

/**
 * A stream whose audio is transcribed: who records, a worker that publishes (some results twice, late, or not at all), and
 * a person who corrects meanwhile. What was published is told by its text, `RUN/TURN`, and by its events.
 */

const EMAIL = 'speaker@x.test';
const PATH = '/speaker';
const RECORDINGS_MAX = 10;
/** Each piece lies in a page of its own and is a window. */
const PIECES = 3;
const PIECE_MS = 2_000;
const TURNS = 4;
const TURN_MS = 400;
const STEP_MS = 500;
const PAUSE_MS = 50;
const RECORDINGS_FIRST = 3;
const WORKERS = 2;
const DOWN_PAUSE_MS = 100;
const REPROCESSED_MAX = 2;
/** Nobody was there, or not now; a session runs out where the clock jumps. */
const AGAIN: ReadonlySet<number> = new Set([0, 401, 429, 503]);
const SHORT_LEASE_S = 1;
const LEASE_S = 60;
/** What other processes left is looked for once a second. */
const LOOK_AGAIN_MS = 500;
const UPLOAD_MAX_MS = 10_000;
const DRAIN_ROUNDS_MAX = 30;
/** Of chunks that will become windows. */
const UNDER_WAY: ReadonlySet<string> = new Set(['stored', 'processing']);
const WAV = writeWav(
  { fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) },
  Buffer.alloc((PIECE_MS / 1_000) * 8_000 * 2, 7),
);

/** `pieces`: how many of its audio are there for certain. */
type Recording = { id: string; pieces: number; reprocessed: number; merged: Outcome | null };
type Outcome = 'done' | 'refused' | 'unknown';
type Tally = { turns: number; replaced: number };
/** A window that a worker had, with what came of its result; `tally`: where that was answered. */
type Run = { stream_id: string; run_id: string; number: number; page: number; outcome: Outcome; tally: Tally | null };
type TurnView = {
  id: string;
  stream_id: string;
  text: string;
  start_ms: number;
  speaker: string | null;
  contact_id: string | null;
};
/** By the turn's id: where it stood, and what came of its deletion. */
type Deletion = { stream_id: string; page: number; at: number; outcome: Outcome };
type EventView = { type: string; resource: { id: string }; data: Record<string, unknown> };
type Transcript = { waiting: unknown[]; failed: { from_ms: number }[] };

export class SpeechLoad {
  readonly problems: string[] = [];
  witness!: Witness;
  readonly #rig: Servers;
  readonly #random: SeededRandom;
  readonly #recordings: Recording[] = [];
  readonly #runs: Run[] = [];
  readonly #deletions = new Map<string, Deletion>();
  /** By the turn's id. */
  readonly #named = new Map<string, Outcome>();
  #token = '';
  #apps: AppClient[] = [];
  #source_id = '';
  #contact_id = '';
  #is_over = false;

  private constructor(rig: Servers, random: SeededRandom) {
    this.#rig = rig;
    this.#random = random;
  }

  /** With some recordings, made while nothing goes wrong yet. */
  static async open(rig: Servers, random: SeededRandom): Promise<SpeechLoad> {
    const speech = new SpeechLoad(rig, random);
    await speech.#signIn();
    const app = speech.#app();
    const { cursor } = await app.ask<{ cursor: string }>('GET', '/events?after=latest');
    const endpoint = await TestEndpoint.open(app, rig.receiver.url(PATH));
    rig.secrets.set(`signing secret of ${EMAIL}`, endpoint.secret);
    speech.witness = { email: EMAIL, app: () => speech.#app(), endpoint, path: PATH, cursor };
    speech.#source_id = (await app.ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
    speech.#contact_id = (await app.ask<{ id: string }>('POST', '/contacts', { name: 'Ann' })).id;
    for (let n = 0; n < RECORDINGS_FIRST; n++) await speech.#record();
    return speech;
  }

  async run(stop: Promise<unknown>): Promise<void> {
    this.#is_over = false;
    const again = async (act: () => Promise<unknown>) => {
      while (!this.#is_over) {
        await act();
        await pause(PAUSE_MS);
      }
    };
    const working = [
      again(async () => this.#recordings.length < RECORDINGS_MAX && (await this.#record())),
      ...Array.from({ length: WORKERS }, () => again(() => this.#work())),
      again(() => this.#correct()),
    ];
    try {
      await stop;
    } finally {
      this.#is_over = true;
      await Promise.all(working);
    }
  }

  async #signIn(): Promise<void> {
    const { access_token: token } = await this.#rig.signIn(EMAIL);
    this.#token = token;
    this.#apps = this.#rig.clients(token, this.#rig.at_hand);
  }

  #app(): AppClient {
    return this.#random.pick(this.#apps);
  }

  #operator(): OperatorClient {
    return this.#random.pick(this.#rig.at_hand).operator();
  }

  /** Asks until there is an answer; null where the load is over before. */
  async #answered<T>(ask: () => Promise<T>): Promise<T | null> {
    for (;;) {
      const answer = await this.#answer(ask);
      if (answer.status === 200) return answer.data as T;
      if (this.#is_over || (answer.status !== 0 && answer.status !== 503)) return null;
    }
  }

  /** The answer to one call; any that is not expected is a problem. */
  async #answer(ask: () => Promise<unknown>, expected: readonly number[] = []): Promise<Answer> {
    const answer = await answerOf(ask());
    const { status, code } = answer;
    if (AGAIN.has(status)) await pause(DOWN_PAUSE_MS);
    else if (status !== 200 && !expected.includes(status)) this.problems.push(`${status} ${code}`);
    return answer;
  }

  async #record(): Promise<void> {
    const stream = { source_id: this.#source_id, captured_at: '2026-11-01T10:00:00.000Z' };
    const made = await this.#answered(() => this.#app().ask<{ id: string }>('POST', '/audio/streams', stream));
    if (made === null) return;
    const recording: Recording = { id: made.id, pieces: 0, reprocessed: 0, merged: null };
    this.#recordings.push(recording);
    const path = `/audio/streams/${made.id}`;
    for (let piece = 0; piece < PIECES; piece++) {
      const from_ms = piece * LIMITS.transcript_page_ms;
      const intent = {
        ...{ source_chunk_ref: randomUUID(), sequence: piece, source_start_ms: from_ms, publication_start_ms: from_ms },
        ...{ source_end_ms: from_ms + PIECE_MS, codec: 'pcm_s16le', container: 'wav', size_bytes: WAV.length },
        sha256: sha256Of(WAV),
      };
      const chunk = await this.#answered(() =>
        this.#app().ask<{ upload_path: string }>('POST', `${path}/chunks/intents`, intent),
      );
      if (chunk === null) return;
      if ((await this.#answered(() => this.#upload(chunk.upload_path))) === null) return;
      recording.pieces += 1;
    }
    const end_ms = (PIECES - 1) * LIMITS.transcript_page_ms + PIECE_MS;
    await this.#answered(() => this.#app().ask('POST', `${path}/end`, { end_ms }));
  }

  async #upload(path: string): Promise<unknown> {
    const { base_url } = this.#random.pick(this.#rig.at_hand);
    const put = await call({
      ...{ method: 'PUT', url: new URL(path, base_url), body: WAV },
      headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/octet-stream' },
      signal: AbortSignal.timeout(UPLOAD_MAX_MS),
    });
    return payloadOf(put, JSON.parse(put.body.toString()));
  }

  /** Claims windows and does with each what workers do. */
  async #work(): Promise<void> {
    // Of a claim whose answer was lost the window soon comes again, mostly.
    for (const work of await this.#claim(this.#random.chance(0.8) ? SHORT_LEASE_S : LEASE_S)) {
      const run = this.#runOf(work);
      const way = this.#random.below(10);
      if (way === 0) {
        await this.#tell(work, 'failed', { code: 'ENGINE', message: 'It did not answer.', retry: true });
        continue;
      }
      if (way === 1) continue; // it is never heard of again
      if (way === 2) await pause(SHORT_LEASE_S * 1_000 + this.#random.below(600));
      if (way === 3) await this.#tell(work, 'progress', { lease_s: LEASE_S });
      await this.#publish(work, run);
      if (way === 4) await this.#publish(work, run);
    }
  }

  async #claim(lease_s: number): Promise<WorkView[]> {
    const asked = { limit: 3, lease_s };
    const answer = await this.#answer(() => this.#operator().ask('POST', '/ops/jobs/claim', asked));
    return answer.status === 200 ? (answer.data as { items: WorkView[] }).items : [];
  }

  #runOf({ job, stream_id, run_id, from_ms }: WorkView): Run {
    const page = Math.floor(from_ms / LIMITS.transcript_page_ms);
    const number = Number(job.split('.')[1]);
    const run: Run = { stream_id, run_id, number, page, outcome: 'refused', tally: null };
    this.#runs.push(run);
    return run;
  }

  #tell({ job, claim }: WorkView, what: string, body: object): Promise<Answer> {
    const ask = () => this.#operator().ask('POST', `/ops/jobs/${job}/${what}`, { claim, ...body });
    return this.#answer(ask, [409]);
  }

  /** The same result until there is an answer: what was taken already is answered as before, or 409 once more has followed. */
  async #publish(work: WorkView, run: Run): Promise<void> {
    const turns = Array.from({ length: TURNS }, (_, at) => {
      const start_ms = work.from_ms + at * STEP_MS;
      return { start_ms, end_ms: start_ms + TURN_MS, text: `${run.run_id}/${at}`, speaker: 'AB'[at % 2] };
    });
    for (let is_first = true; is_first || !this.#is_over; is_first = false) {
      const { status, data } = await this.#tell(work, 'publish', { speaker_scope: 'stream', turns });
      if (status === 200) {
        const { published: tally } = data as { published: Tally };
        if (run.tally !== null && JSON.stringify(tally) !== JSON.stringify(run.tally))
          this.problems.push(`the same result of ${run.run_id} was answered otherwise`);
        Object.assign(run, { outcome: 'done', tally });
        return;
      }
      if (!AGAIN.has(status)) return;
      if (run.outcome === 'refused') run.outcome = 'unknown';
    }
  }

  /** One correction of a recording. */
  async #correct(): Promise<void> {
    const recording = this.#random.pick(this.#recordings);
    const read = await this.#answer(() => this.#turnsOf(recording.id));
    const turns = read.status === 200 ? (read.data as TurnView[]) : [];
    if (turns.length === 0) return;
    const turn = this.#random.pick(turns);
    const way = this.#random.below(10);
    if (way === 0 && recording.merged !== 'done' && turns.some(({ speaker }) => speaker === 'S2')) {
      const path = `/audio/streams/${recording.id}/speakers/S2/merge`;
      recording.merged = outcomeOf(await this.#answer(() => this.#app().ask('POST', path, { into: 'S1' }), [409]));
    } else if (way === 1 && recording.reprocessed < REPROCESSED_MAX) {
      recording.reprocessed += 1;
      const path = `/ops/streams/${recording.id}/reprocess`;
      await this.#answer(() => this.#operator().ask('POST', path, {}));
    } else if (way < 4) {
      const page = Math.floor(turn.start_ms / LIMITS.transcript_page_ms);
      const answer = await this.#answer(() => this.#app().ask('DELETE', `/turns/${turn.id}`), [404]);
      const was = this.#deletions.get(turn.id)?.outcome;
      // Gone by an attempt that nobody knows of, or by a later run.
      const outcome = was === 'unknown' && answer.status === 404 ? 'unknown' : outcomeOf(answer);
      const at = Number(turn.text.split('/')[1]);
      this.#deletions.set(turn.id, { stream_id: recording.id, page, at, outcome });
    } else if (!this.#named.has(turn.id) && turn.contact_id !== this.#contact_id) {
      // One that took the place of a turn that was named shows the contact already, and nothing would change.
      const named = { contact_id: this.#contact_id };
      const answer = await this.#answer(() => this.#app().ask('PATCH', `/turns/${turn.id}`, named), [404]);
      this.#named.set(turn.id, outcomeOf(answer));
    }
  }

  #turnsOf(stream_id: string): Promise<TurnView[]> {
    // Fewer than one page of a list has.
    const path = `/turns?stream_id=${stream_id}&limit=100`;
    return this.#app()
      .ask<{ items: TurnView[] }>('GET', path)
      .then(({ items }) => items);
  }

  /** After the fault: every window is claimed and published, and every change is reported. */
  async finish(): Promise<void> {
    await this.#signIn(); // its session may have run out, where the clock jumped
    this.#is_over = true;
    for (let round = 0; round < DRAIN_ROUNDS_MAX; round++) {
      let works: WorkView[];
      do {
        works = await this.#claim(LEASE_S);
        for (const work of works) await this.#publish(work, this.#runOf(work));
      } while (works.length > 0);
      if (await this.#isDone()) return;
      // Leases end, and what failed comes again.
      await this.#answer(() => this.#operator().advanceClock(LEASE_S * 1_000 + 1_000));
      await pause(LOOK_AGAIN_MS);
    }
    this.problems.push('some audio still waits for a worker');
  }

  async #isDone(): Promise<boolean> {
    for (const { id } of this.#recordings) {
      const path = `/audio/streams/${id}/chunks`;
      const stored = await this.#answer(() => allOf<{ status: string }>(this.#app(), path));
      if (stored.status !== 200) return false;
      if ((stored.data as { status: string }[]).some(({ status }) => UNDER_WAY.has(status))) return false;
      const { status, data } = await this.#answer(() => this.#transcriptOf(id));
      if (status !== 200 || (data as Transcript).waiting.length > 0) return false;
    }
    return true;
  }

  #transcriptOf(stream_id: string): Promise<Transcript> {
    return this.#app().ask('GET', `/audio/streams/${stream_id}/transcript`);
  }

  /** What it did, in words. */
  get summary(): string {
    const of = (wanted: Outcome) => this.#runs.filter(({ outcome }) => outcome === wanted).length;
    const corrections = this.#deletions.size + this.#named.size;
    return `speech: ${this.#recordings.length} recordings, ${this.#runs.length} claims, ${of('done')} results, ${of('unknown')} of unknown outcome, ${corrections} corrections`;
  }

  /** What is not as it must be in what is shown and reported. */
  async faults(): Promise<string[]> {
    const faults = [...this.problems];
    const must = (holds: boolean, text: string) => void (holds || faults.push(text));
    const events = await allOf<EventView>(this.#app(), '/events');
    const of = (type: string, has: (event: EventView) => boolean = () => true) =>
      events.filter((event) => event.type === type && has(event));
    must(
      this.#runs.some(({ outcome }) => outcome === 'done'),
      'nothing was published',
    );
    // Each run is reported once: its turns one by one, or together where they took the place of others.
    for (const run of this.#runs) {
      const { run_id, outcome, tally } = run;
      const created = of('turn.created', ({ data }) => data.run_id === run_id).length;
      const replaced = of('run.published', ({ resource }) => resource.id === run_id).length;
      const told = `${created} turn.created and ${replaced} run.published of ${outcome} run ${run_id}`;
      if (tally !== null && tally.replaced > 0) must(created === 0 && replaced === 1, told);
      else if (tally !== null) must(created === tally.turns && replaced === 0, told);
      else if (outcome === 'refused') must(created + replaced === 0, told);
      else must((created === 0 && replaced <= 1) || (created <= TURNS && replaced === 0), told);
      if (outcome === 'unknown' && created + replaced > 0) run.outcome = 'done';
    }
    for (const type of ['turn.created', 'turn.deleted', 'run.published']) {
      const ids = of(type).map(({ resource }) => resource.id);
      must(new Set(ids).size === ids.length, `a ${type} came twice`);
    }
    const known = new Set(this.#runs.map(({ run_id }) => run_id));
    for (const { type, data, resource } of events) {
      const is_run = type === 'turn.created' || type === 'run.published';
      must(!is_run || known.has(String(data.run_id)), `${type} of ${resource.id} is of no run`);
    }
    for (const [turn_id, { outcome }] of this.#deletions) {
      const count = of('turn.deleted', ({ resource }) => resource.id === turn_id).length;
      must(counts(outcome).includes(count), `${count} turn.deleted of ${turn_id}: ${outcome}`);
    }
    const updates = (turn_id: string, field: string) =>
      of('turn.updated', ({ resource, data }) => resource.id === turn_id && String(data.changed_fields) === field)
        .length;
    for (const [turn_id, outcome] of this.#named) {
      const count = updates(turn_id, 'contact_id');
      must(counts(outcome).includes(count), `${count} turn.updated of ${turn_id}: ${outcome}`);
    }
    for (const recording of this.#recordings) {
      const turns = await this.#turnsOf(recording.id);
      const { failed } = await this.#transcriptOf(recording.id);
      for (const { id, speaker } of turns) {
        if (recording.merged === 'done') must(speaker !== 'S2', `turn ${id} shows a speaker that was merged`);
        must(updates(id, 'speaker') <= 1, `more than one turn.updated of ${id} for one merge`);
      }
      for (let page = 0; page < recording.pieces; page++) {
        const has_failed = failed.some(({ from_ms }) => Math.floor(from_ms / LIMITS.transcript_page_ms) === page);
        faults.push(...this.#pageFaults(recording.id, { page, turns, has_failed }));
      }
    }
    return faults;
  }

  /** A page shows the run that was published last, less what was deleted. */
  #pageFaults(
    stream_id: string,
    { page, turns, has_failed }: { page: number; turns: TurnView[]; has_failed: boolean },
  ): string[] {
    const begins_ms = page * LIMITS.transcript_page_ms;
    const here = turns.filter(
      ({ start_ms }) => start_ms >= begins_ms && start_ms < begins_ms + LIMITS.transcript_page_ms,
    );
    const last = this.#runs
      .filter((run) => run.stream_id === stream_id && run.page === page && run.outcome === 'done')
      .toSorted((a, b) => a.number - b.number)
      .at(-1);
    const where = `page ${page} of ${stream_id}`;
    if (last === undefined) {
      // Audio of which every claim was lost is given up.
      const is_told = has_failed && here.length === 0;
      return is_told ? [] : [`${where}: nothing was published, ${here.length} turns are shown`];
    }
    const expected = Array.from({ length: TURNS }, (_, at) => `${last.run_id}/${at}`).filter((text, at) => {
      const deletions = [...this.#deletions.values()].filter(
        (one) => one.stream_id === stream_id && one.page === page && one.at === at,
      );
      if (deletions.some(({ outcome }) => outcome === 'done')) return false;
      return here.some((turn) => turn.text === text) || !deletions.some(({ outcome }) => outcome === 'unknown');
    });
    const shown = here.map(({ text }) => text).join();
    return shown === expected.join() ? [] : [`${where} shows ${shown}, not ${expected}`];
  }
}

function outcomeOf({ status }: Answer): Outcome {
  return status === 0 || status >= 500 ? 'unknown' : status < 300 ? 'done' : 'refused';
}

/** How often a change may be reported. */
function counts(outcome: Outcome): number[] {
  return { done: [1], refused: [0], unknown: [0, 1] }[outcome];
}
