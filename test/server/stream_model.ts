import { sha256Of } from '../../src/tools/client/device_client.js';
import type { Answer, Call } from '../faults/history.js';

/** What may be answered while many calls for one stream are under way at once. */

/** Whether one of these was in effect when the call was sent. */
function wasBefore<What>(calls: Call<What>[], call: Call, fits: (what: What) => boolean = () => true): boolean {
  return calls.some(({ what, ended, outcome }) => outcome === 'done' && ended < call.began && fits(what));
}

/** Whether one of these could be in effect when the call was answered. */
function mayBe<What>(calls: Call<What>[], call: Call, fits: (what: What) => boolean = () => true): boolean {
  return calls.some(
    (other) => other !== call && other.outcome !== 'refused' && other.began < call.ended && fits(other.what),
  );
}

export type Intent = {
  source_chunk_ref: string;
  sequence: number;
  source_start_ms: number;
  publication_start_ms: number;
  source_end_ms: number;
  codec: string;
  container: string;
  size_bytes: number;
  sha256: string;
};
export type Signal = { ref: string; type: string; start_ms: number; payload: { text: string } };

/** What a recorder writes under: a binding, or a session. */
export type Epoch = { id: string; closes: Call[]; is_over: boolean };

/** A chunk that somebody announced: whichever of its contents came first counts. */
export type Announced = { intent: Intent; bytes: Buffer };

export class StreamModel {
  readonly registrations: Call<{ end_ms: number | null }>[] = [];
  readonly ends: Call<number>[] = [];
  readonly intents: Call<Intent>[] = [];
  readonly uploads: Call<string>[] = [];
  readonly signals: Call<Signal[]>[] = [];
  /** By reference, what was drawn for it first. */
  readonly announced = new Map<string, Announced>();
  readonly chunk_ids = new Map<string, string>();
  readonly signal_ids = new Map<string, string>();
  id: string | null = null;
  next_sequence = 0;

  constructor(
    readonly ref: string,
    readonly epoch: Epoch,
  ) {}

  /** What is wrong with an answer, or null; `faults` are looked for in the data of a success. */
  judge(call: Call, { status, code, data }: Answer, rules: { must: number[]; may: number[] }): string | null {
    if (status === 503) return null;
    const { closes } = this.epoch;
    if (wasBefore(closes, call)) return code === 'DEVICE_UNBOUND' ? null : `${status} ${code} after its epoch closed`;
    if (code === 'DEVICE_UNBOUND') return mayBe(closes, call) ? null : 'DEVICE_UNBOUND while its epoch goes on';
    const { must, may } = rules;
    if (must.length > 0 && !must.includes(status)) return `${status} ${code} instead of ${must}`;
    if (must.length === 0 && !may.includes(status)) return `${status} ${code}, none of ${may}`;
    return status < 300 ? this.#wrongStream(data) : null;
  }

  #wrongStream(data: unknown): string | null {
    const { source_stream_ref: ref, id } = data as { source_stream_ref?: string; id?: string };
    if (ref === undefined || id === undefined) return null;
    if (ref !== this.ref) return `the stream of ${ref}`;
    this.id ??= id;
    return id === this.id ? null : `another stream, ${id}`;
  }

  /** A registration or an end. */
  judgeEnd(call: Call, answer: Answer, end_ms: number | null): string | null {
    const other = (end: number) => end !== end_ms;
    const past = ({ source_end_ms }: Intent) => end_ms !== null && source_end_ms > end_ms;
    const must = end_ms !== null && (wasBefore(this.ends, call, other) || wasBefore(this.intents, call, past));
    const may = end_ms !== null && (mayBe(this.ends, call, other) || mayBe(this.intents, call, past));
    const fault = this.judge(call, answer, { must: must ? [409] : may ? [] : [200], may: [200, 409] });
    if (fault !== null || answer.status !== 200) return fault;
    const said = (answer.data as { end_ms?: number }).end_ms;
    if (end_ms !== null && said !== end_ms) return `an end of ${said} instead of ${end_ms}`;
    const kept = this.#endBefore(call);
    return kept === null || said === kept ? null : `an end of ${said} after one of ${kept}`;
  }

  #endBefore(call: Call): number | null {
    const before = this.ends.find(({ outcome, ended }) => outcome === 'done' && ended < call.began);
    return before?.what ?? null;
  }

  judgeIntent(call: Call<Intent>, answer: Answer): string | null {
    const { source_chunk_ref: ref, sequence, source_end_ms } = call.what;
    const content = JSON.stringify(call.what);
    const same = (other: Intent) => JSON.stringify(other) === content;
    const clashes = (other: Intent) => (other.source_chunk_ref === ref ? !same(other) : other.sequence === sequence);
    const is_past = (end: number) => end < source_end_ms;
    const is_refused = wasBefore(this.intents, call, clashes) || wasBefore(this.ends, call, is_past);
    const may_be = mayBe(this.intents, call, clashes) || mayBe(this.ends, call, is_past);
    const must = wasBefore(this.intents, call, same) ? [200] : is_refused ? [409] : may_be ? [] : [200];
    const fault = this.judge(call, answer, { must, may: [200, 409] });
    if (fault !== null || answer.status !== 200) return fault;
    const { chunk_id, source_chunk_ref } = answer.data as { chunk_id: string; source_chunk_ref: string };
    if (source_chunk_ref !== ref) return `the chunk of ${source_chunk_ref}`;
    const known = this.chunk_ids.get(ref) ?? chunk_id;
    this.chunk_ids.set(ref, known);
    return chunk_id === known ? null : `chunk ${chunk_id} instead of ${known}`;
  }

  judgeSignals(call: Call<Signal[]>, answer: Answer): string | null {
    const clash = (one: Signal, other: Signal) =>
      one.ref === other.ref && JSON.stringify(one) !== JSON.stringify(other);
    const clashes = (others: Signal[]) => others.some((one) => call.what.some((other) => clash(one, other)));
    const is_refused = clashes(call.what) || wasBefore(this.signals, call, clashes);
    const must = is_refused ? [409] : mayBe(this.signals, call, clashes) ? [] : [200];
    // An account's call, which no epoch stops. Large batches are staged, a few at once.
    const { status } = answer;
    if (status === 503 || status === 429) return null;
    if (must.length > 0 ? !must.includes(status) : ![200, 409].includes(status)) return `${status} instead of ${must}`;
    if (status !== 200) return null;
    const { items } = answer.data as { items: { id: string; ref: string }[] };
    if (items.map(({ ref }) => ref).join() !== call.what.map(({ ref }) => ref).join()) return 'other signals';
    for (const { id, ref } of items) {
      const known = this.signal_ids.get(ref) ?? id;
      this.signal_ids.set(ref, known);
      if (known !== id) return `signal ${id} instead of ${known}`;
    }
    return null;
  }

  judgeStatus(call: Call<string[]>, answer: Answer): string | null {
    const fault = this.judge(call, answer, { must: [200], may: [] });
    if (fault !== null || answer.status !== 200) return fault;
    const { items } = answer.data as { items: { source_chunk_ref: string; chunk_id: string; status: string }[] };
    for (const ref of call.what) {
      const item = items.find(({ source_chunk_ref }) => source_chunk_ref === ref);
      const of = (uploaded: string) => uploaded === ref;
      if (item === undefined) {
        if (wasBefore(this.intents, call, (intent) => intent.source_chunk_ref === ref)) return `nothing about ${ref}`;
      } else if (item.status === 'awaiting_upload') {
        if (wasBefore(this.uploads, call, of)) return `${ref} was stored and awaits its upload`;
      } else if (!KEPT.has(item.status) || !mayBe(this.uploads, call, of)) return `${ref} is ${item.status}`;
    }
    return null;
  }

  judgeGaps(call: Call, answer: Answer): string | null {
    const fault = this.judge(call, answer, { must: [200], may: [] });
    if (fault !== null || answer.status !== 200) return fault;
    const { missing } = answer.data as { missing: [number, number][] };
    for (const { what: ref, outcome, ended } of this.uploads) {
      const { source_start_ms, source_end_ms } = (this.announced.get(ref) as Announced).intent;
      const is_missing = missing.some(([from, to]) => from < source_end_ms && to > source_start_ms);
      if (outcome === 'done' && ended < call.began && is_missing) return `${ref} was stored and is a gap`;
    }
    return null;
  }

  /** What was acknowledged, once nothing is under way any more. */
  get acknowledged() {
    const doneOf = <What>(calls: Call<What>[]) => calls.filter(({ outcome }) => outcome === 'done');
    const contents = new Map(doneOf(this.intents).map(({ what }) => [what.source_chunk_ref, what]));
    const signals = new Map(
      doneOf(this.signals)
        .flatMap(({ what }) => what)
        .map((signal) => [signal.ref, signal]),
    );
    const ends = new Set(doneOf(this.ends).map(({ what }) => what));
    return { contents, stored: new Set(doneOf(this.uploads).map(({ what }) => what)), signals, ends };
  }

  /** Whether anything may be in effect that was not acknowledged. */
  get is_unclear(): boolean {
    const calls: Call[] = [...this.registrations, ...this.ends, ...this.intents, ...this.uploads, ...this.signals];
    return calls.some(({ outcome }) => outcome === 'unknown');
  }

  /** How many events tell that it has ended: none when it came with its end, null when either may be. */
  get end_events(): number | null {
    if (this.acknowledged.ends.size === 0) return 0;
    const done = this.registrations.filter(({ outcome }) => outcome === 'done');
    const first_ended = Math.min(...done.map(({ ended }) => ended));
    const first = this.registrations.filter(({ began }) => began < first_ended);
    if (first.every(({ what }) => what.end_ms === null)) return 1;
    return first.every(({ what, outcome }) => what.end_ms !== null && outcome === 'done') ? 0 : null;
  }

  /** What no stored chunk covers, up to the end. */
  get gaps(): [number, number][] {
    const { contents, stored, ends } = this.acknowledged;
    const chunks = [...contents.values()].toSorted((a, b) => a.source_start_ms - b.source_start_ms);
    const [end_ms = Math.max(0, ...chunks.map(({ source_end_ms }) => source_end_ms))] = ends;
    const gaps: [number, number][] = [];
    let covered_ms = 0;
    for (const { source_chunk_ref, source_start_ms, source_end_ms } of chunks) {
      if (!stored.has(source_chunk_ref)) continue;
      if (source_start_ms > covered_ms) gaps.push([covered_ms, source_start_ms]);
      covered_ms = Math.max(covered_ms, source_end_ms);
    }
    if (covered_ms < end_ms) gaps.push([covered_ms, end_ms]);
    return gaps;
  }
}

/** What a stored chunk may be called, as workers take it. */
export const KEPT: ReadonlySet<string> = new Set(['stored', 'processing', 'processed', 'failed']);

/** An intent for these bytes. */
export function intentOf(
  bytes: Buffer,
  place: Pick<Intent, 'source_chunk_ref' | 'sequence' | 'source_start_ms' | 'source_end_ms'>,
): Intent {
  const publication_start_ms = place.source_start_ms;
  const media = { codec: 'opus', container: 'ogg' };
  return { ...place, publication_start_ms, ...media, size_bytes: bytes.length, sha256: sha256Of(bytes) };
}
