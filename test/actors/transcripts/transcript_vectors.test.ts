import t from 'tap';
import { type TranscriptMessage, transcript } from '../../../actors/transcripts/transcript.js';
import { pageKey, readPage } from '../../../actors/transcripts/transcript_page.js';
import type { Transcript, Window } from '../../../actors/transcripts/transcript_state.js';
import { fingerprintOfTurns } from '../../../actors/transcripts/transcript_vectors.js';
import { makeId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { encodeVectors, modelOfVectors, VECTORS, VECTORS_DUE } from '../../../src/domain/search/vectors.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const PAGE_MS = LIMITS.transcript_page_ms;
const PAGES = 40;
const [OLD, NEW] = [1, 2];

class Vectors extends Played<Transcript, TranscriptMessage, unknown> {
  #tokens = 0;

  /** A turn on each page. */
  constructor() {
    super(transcript, ID);
    const stream = { account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: START_MS, end_ms: null };
    this.send({ type: 'audio', stream, window_ms: PAGE_MS, intervals: [[0, PAGES * PAGE_MS]] });
    for (let page = 0; page < PAGES; page++) {
      const token = `window ${page}`;
      this.send({ type: 'claim_window', token, run_id: token, lease_ms: 1, window_ms: PAGE_MS });
      const { number } = (this.state as Transcript).window as Window;
      const turns = [{ start_ms: page * PAGE_MS, end_ms: page * PAGE_MS + 1_000, text: `of page ${page}` }];
      this.send({
        ...{ type: 'publish', number, token, digest: token, speaker_scope: 'window', mode: 'replace' },
        ...{ turns, recognized: {}, final_pass: false },
      });
    }
  }

  claim(): { token: string; pages: number[] } {
    this.#tokens += 1;
    const token = `t${this.#tokens}`;
    const { pages } = this.send({ type: 'claim_vectors', token, lease_ms: 1_000 }).reply as { pages: number[] };
    return { token, pages };
  }

  publish({ token, pages }: { token: string; pages: number[] }, model: number): unknown {
    const made = pages.map((page) => {
      const { turns } = readPage(page, this.records('pages').get(pageKey(page)));
      const vectors = encodeVectors(model, [{ first: 0, last: 0, vector: new Int8Array(4) }]);
      return { page, fingerprint: fingerprintOfTurns(turns), vectors };
    });
    return this.send({ type: 'publish_vectors', token, made }).reply;
  }

  /** All that is due. */
  make(model: number): void {
    for (let claimed = this.claim(); claimed.pages.length > 0; claimed = this.claim()) this.publish(claimed, model);
  }

  /** Gives in how many commits. */
  dropAll(how: { keeps: number | null; wanted: boolean }): number {
    let after: { order: number; id: string } | null | undefined;
    for (let commits = 1; ; commits++) {
      const reply = this.send({ type: 'drop_vectors', ...how, after: after ?? undefined }).reply as {
        after: { order: number; id: string } | null;
      };
      after = reply.after;
      if (after === null) return commits;
    }
  }

  get made(): number[] {
    return [...this.records<Uint8Array>(VECTORS).values()].map((stored) => modelOfVectors(stored) ?? -1);
  }

  get due(): number {
    return this.records(VECTORS_DUE).size;
  }

  /** Whether a worker finds it. */
  get is_listed(): boolean {
    const last = this.effects.filter((effect) => 'index' in effect && effect.owner === 'vectors').at(-1);
    return last?.effect === 'add_to_index';
  }
}

t.test('K-275 vectors that an account does not want go, and stay due until it wants them', async (t) => {
  const vectors = new Vectors();
  vectors.make(OLD);
  t.same([vectors.made.length, vectors.due, vectors.is_listed], [PAGES, 0, false]);
  t.equal(vectors.dropAll({ keeps: null, wanted: false }), 2, 'some at a time');
  t.same([vectors.made.length, vectors.due, vectors.is_listed], [0, PAGES, false]);
  vectors.dropAll({ keeps: null, wanted: true });
  t.equal(vectors.is_listed, true);
  vectors.make(OLD);
  t.same([vectors.made.length, vectors.due], [PAGES, 0]);
});

t.test('K-275 what is being made while they go is refused', async (t) => {
  const vectors = new Vectors();
  const claimed = vectors.claim();
  vectors.dropAll({ keeps: null, wanted: false });
  t.match(vectors.publish(claimed, OLD), { refused: 'CONFLICT' });
  t.same(vectors.made, []);
});

t.test('K-276 vectors of another model are due, and those of this one stay', async (t) => {
  const vectors = new Vectors();
  vectors.publish(vectors.claim(), NEW);
  vectors.make(OLD);
  const kept = vectors.made.filter((model) => model === NEW).length;
  t.ok(kept > 0 && kept < PAGES);
  vectors.dropAll({ keeps: NEW, wanted: true });
  t.same(vectors.made, Array(kept).fill(NEW));
  t.same([vectors.due, vectors.is_listed], [PAGES - kept, true]);
  vectors.make(NEW);
  const before = vectors.effects.length;
  vectors.dropAll({ keeps: NEW, wanted: true });
  t.equal(vectors.effects.length, before, 'where there are none nothing is written');
});

t.test('K-276 nothing is said or done of a transcript that is not there', async (t) => {
  const nothing = new Played(transcript, ID);
  t.same(nothing.send({ type: 'drop_vectors', keeps: null, wanted: true }), { reply: { after: null } });
});
