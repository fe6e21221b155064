import fc from 'fast-check';
import t from 'tap';
import { type StreamMessage, stream } from '../../../actors/recordings/stream.js';
import type { ArrivalReply } from '../../../actors/recordings/stream_arrivals.js';
import type { StreamState } from '../../../actors/recordings/stream_state.js';
import { makeId } from '../../../src/domain/ids.js';
import type { Interval } from '../../../src/domain/intervals.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { checkPlays, Played, START_MS } from '../../fixtures/decisions.js';

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const EVERY_MS = LIMITS.audio_told_every_ms;
const CHUNK_MS = 1_000;

/** A stream whose chunks come one after the other, each checked, and what its transcript is told. */
class ToldStream {
  readonly played = new Played<StreamState, StreamMessage, unknown>(stream, ID);
  #chunks = 0;

  constructor() {
    const of = { account_id: 'a', workspace_id: 'w', source_id: 's', recorder: null, title: null };
    this.played.ask({ ...of, type: 'register', captured_at: '2026-01-31T08:29:00.000Z', end_ms: null, silent: false });
  }

  get end_ms(): number {
    return this.#chunks * CHUNK_MS;
  }

  store(end?: { end_ms: number; silent: boolean }): void {
    const at_ms = this.end_ms;
    const intent = {
      ...{ source_chunk_ref: `c${this.#chunks}`, sequence: this.#chunks, source_start_ms: at_ms },
      ...{ publication_start_ms: at_ms, source_end_ms: at_ms + CHUNK_MS },
      ...{ codec: 'pcm_s16le', container: 'wav', size_bytes: 100, sha256: '00' },
    };
    this.#chunks += 1;
    const result = { status: 'processed' as const, checked: true };
    const chunk = { intent, content: intent.source_chunk_ref, place: 'p@0', upload_started_at_ms: START_MS, result };
    const message: StreamMessage = { type: 'store_chunks', chunks: [chunk], transcribes: { window_ms: 15_000 }, end };
    this.played.ask<ArrivalReply>(message);
  }

  /** Messages to the transcript, in their order. */
  get told(): (Interval[] | 'ended')[] {
    return this.played.effects.flatMap((effect) => {
      if (effect.effect !== 'notify' || effect.to.kind !== 'transcript') return [];
      const message = effect.message as { type: string; intervals: Interval[] };
      return [message.type === 'ended' ? 'ended' : message.intervals];
    });
  }
}

t.test('K-258 a transcript hears of audio at once, and of what follows soon after together', async (t) => {
  const one = new ToldStream();
  one.store();
  t.same(one.told, [[[0, 1_000]]], 'the first at once');
  for (let count = 0; count < 3; count++) {
    one.played.pass(100);
    one.store();
  }
  t.equal(one.told.length, 1);
  one.played.pass(EVERY_MS - 300);
  t.same(one.told.at(-1), [[1_000, 4_000]], 'without another request');
  one.played.pass(EVERY_MS);
  one.store();
  t.same(one.told.at(-1), [[4_000, 5_000]], 'after a while at once again');
  t.equal(one.told.length, 3);
  t.equal(one.played.reminders.size, 0);
});

t.test('K-258 it hears of all audio before the end', async (t) => {
  const [apart, together] = [new ToldStream(), new ToldStream()];
  for (const one of [apart, together]) {
    one.store();
    one.store();
  }
  apart.played.ask({ type: 'end', end_ms: 2_000, silent: false });
  together.store({ end_ms: 3_000, silent: false });
  t.same(apart.told, [[[0, 1_000]], [[1_000, 2_000]], 'ended']);
  t.same(together.told, [[[0, 1_000]], [[1_000, 3_000]], 'ended']);
  for (const { played } of [apart, together]) t.equal(played.reminders.size, 0);
});

t.test('K-258 in any play each piece of audio is told once, at most so late', async (t) => {
  const plays = fc.array(fc.integer({ min: 0, max: EVERY_MS * 2 }), { maxLength: 30 });
  checkPlays(t, { plays, runs: 300 }, (waits) => {
    const one = new ToldStream();
    for (const wait_ms of waits) {
      one.store();
      one.played.pass(wait_ms);
      const heard_ms = one.told.reduce((sum, told) => sum + (told === 'ended' ? 0 : lengthOf(told)), 0);
      if (wait_ms >= EVERY_MS && heard_ms !== one.end_ms) throw new Error(`${heard_ms} of ${one.end_ms} ms are told`);
      if (heard_ms > one.end_ms) throw new Error('something is told twice');
    }
  });
});

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [from_ms, to_ms]) => sum + to_ms - from_ms, 0);
}
