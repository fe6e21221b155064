import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type TranscriptMessage, transcript } from '../../../actors/transcripts/transcript.js';
import { contactOf, speakerShown } from '../../../actors/transcripts/transcript_attribution.js';
import {
  oldestIn,
  pageOf,
  putPage,
  readPage,
  type TranscriptPage,
} from '../../../actors/transcripts/transcript_page.js';
import type {
  PublishedTurn,
  Speaker,
  SpeakerBlock,
  Transcript,
  Window,
} from '../../../actors/transcripts/transcript_state.js';
import { makeId, turnId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { checkPlays, Played, START_MS } from '../../fixtures/decisions.js';

/** Corrections, their events, and what retention takes. Rules K-005, K-011 and K-031. */

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const RUN = makeId({ partition: 7, now_ms: START_MS + 1, random: new Uint8Array(5) });
const PAGE_MS = LIMITS.transcript_page_ms;
const END_MS = 12 * PAGE_MS;

type Publication = Partial<Extract<TranscriptMessage, { type: 'publish' }>>;
type Answer = { refused?: string; message?: string } & Record<string, unknown>;

class Recording extends Played<Transcript, TranscriptMessage, unknown> {
  #tokens = 0;
  #seen = 0;

  /** With all of its audio waiting, page by page. */
  constructor() {
    super(transcript, ID);
    const stream = { account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: START_MS, end_ms: END_MS };
    this.ask({ type: 'audio', stream, window_ms: PAGE_MS, intervals: [[0, END_MS]] });
  }

  claim(): Window {
    this.#tokens += 1;
    const asked = {
      type: 'claim_window',
      token: `t${this.#tokens}`,
      run_id: RUN,
      lease_ms: 1,
      window_ms: PAGE_MS,
    } as const;
    const { window } = this.ask(asked) as { window: Window | null };
    if (window === null) throw new Error('no window');
    return window;
  }

  publish(turns: PublishedTurn[], more: Publication = {}): Answer {
    const { number, token } = this.claim();
    return this.send({
      ...{ type: 'publish', number, token, digest: token, speaker_scope: 'window', mode: 'replace' },
      ...{ turns, recognized: {}, final_pass: false, ...more },
    }).reply as Answer;
  }

  /** What is transcribed waits once more. */
  again(page = 0): void {
    this.ask({ type: 'reprocess', from_ms: page * PAGE_MS, to_ms: (page + 1) * PAGE_MS, only_failed: false });
  }

  tell(message: TranscriptMessage): Answer {
    return this.send(message).reply as Answer;
  }

  page(number = 0): TranscriptPage {
    return readPage(number, this.records('pages').get(number.toString(16).padStart(4, '0')));
  }

  get pages(): TranscriptPage[] {
    return [...this.records('pages').keys()].map((key) => this.page(Number.parseInt(key, 16)));
  }

  get speakers(): Map<number, Speaker> {
    const blocks = [...this.records<SpeakerBlock>('speakers').values()];
    return new Map(blocks.flatMap((block) => Object.entries(block).map(([number, one]) => [Number(number), one])));
  }

  /** Each turn as `text speaker contact`. */
  get shown(): string[] {
    const { speakers } = this;
    return this.pages
      .flatMap(({ turns }) => turns)
      .map((turn) => `${turn.text} ${speakerShown(speakers, turn)} ${contactOf(speakers, turn)}`);
  }

  /** Events since the last call, as `type serial changed_fields`. */
  events(): string[] {
    const fresh = this.effects.slice(this.#seen);
    this.#seen = this.effects.length;
    return fresh.flatMap((effect) => {
      if (effect.effect !== 'append_event') return [];
      const fields = (effect.data as { changed_fields?: string[] }).changed_fields ?? [];
      return [[effect.type, serialOf(effect.resource_id), ...fields].join(' ')];
    });
  }

  /** All that is still to be announced; gives how many events each commit had. */
  announceAll(): number[] {
    const steps: number[] = [];
    for (;;) {
      const { effects = [], reply } = this.send({ type: 'announce' });
      steps.push(effects.filter(({ effect }) => effect === 'append_event').length);
      if (!(reply as { left: boolean }).left) return steps;
      if (steps.length > 1_000) throw new Error('announcements without end');
    }
  }

  /** Whether and where it stands in an index, as its effects say. */
  placeIn(index: string): number | null {
    const last = this.effects.filter((one) => 'index' in one && one.index === index).at(-1);
    return last?.effect === 'add_to_index' ? last.order : null;
  }
}

const serialOf = (id: string) => {
  for (let page = 0; page < 12; page++)
    for (let serial = 0; serial < 1_100; serial++) if (turnId(ID, { page, serial }) === id) return `${page}.${serial}`;
  return 'run';
};

const heard = (text: string, start_ms: number, speaker?: string): PublishedTurn => {
  const words = text.split(' ').map((word, at): [string, number, number, number | null] => {
    return [word, start_ms + at * 100, start_ms + at * 100 + 90, 1];
  });
  return {
    start_ms,
    end_ms: start_ms + words.length * 100,
    text,
    words,
    ...(speaker === undefined ? {} : { speaker }),
  };
};

const spoken = () => {
  const recording = new Recording();
  recording.publish([heard('one two', 0, 'A'), heard('three four', 1_000, 'B'), heard('five', 2_000, 'C')]);
  recording.events();
  return recording;
};

t.test('K-028 K-031 corrections of one turn, and what is refused first', async (t) => {
  const place = { page: 0, serial: 1 };
  const change = { type: 'change_turn', ...place } as const;
  const nothing = new Played(transcript, ID);
  const rows: [says: string, message: TranscriptMessage, refused: string][] = [
    ['no transcript', { ...change, speaker: 9 }, 'NOT_FOUND'],
    ['no such page', { ...change, page: 5, speaker: 1 }, 'NOT_FOUND'],
    ['no such serial', { ...change, serial: 3, speaker: 1 }, 'NOT_FOUND'],
    ['no such speaker', { ...change, speaker: 4 }, 'NOT_FOUND'],
    ['nobody is no speaker', { ...change, speaker: 0 }, 'NOT_FOUND'],
    ['no turn to split', { type: 'split_turn', page: 0, serial: 9, at_ms: 1 }, 'NOT_FOUND'],
    ['split before it', { type: 'split_turn', ...place, at_ms: 1_000 }, 'CONFLICT'],
    ['split behind its last word', { type: 'split_turn', ...place, at_ms: 1_150 }, 'CONFLICT'],
    ['split where it ends', { type: 'split_turn', ...place, at_ms: 1_200 }, 'CONFLICT'],
    ['split of one word', { type: 'split_turn', page: 0, serial: 2, at_ms: 2_050 }, 'CONFLICT'],
    ['no turn to delete', { type: 'delete_turn', page: 0, serial: 9 }, 'NOT_FOUND'],
  ];
  for (const [index, [says, message, refused]] of rows.entries()) {
    const played = index === 0 ? nothing : spoken();
    const decision = played.decide(message);
    t.match(decision.reply, { refused }, says);
    t.same([decision.next, decision.effects], [undefined, undefined], `${says}: nothing is done`);
  }

  const recording = spoken();
  recording.tell({ ...change, contact_id: 'eva' });
  recording.tell({ ...change, contact_id: 'eva' });
  recording.tell({ ...change, speaker: 3 });
  recording.tell({ ...change, speaker: 3 });
  t.same(recording.events(), ['turn.updated 0.1 contact_id', 'turn.updated 0.1 speaker'], 'what is so is not told');
  t.same(recording.shown, ['one two S1 null', 'three four S3 eva', 'five S3 null']);
  t.same(recording.state?.contacts, ['eva']);
  t.equal(recording.state?.revision, 3);
  recording.tell({ type: 'split_turn', ...place, at_ms: 1_100 });
  t.same(recording.events(), ['turn.updated 0.1 end_ms text', 'turn.created 0.3']);
  t.same(recording.shown, ['one two S1 null', 'three S3 eva', 'four S3 eva', 'five S3 null']);
  recording.tell({ type: 'delete_turn', page: 0, serial: 3 });
  recording.tell({ type: 'delete_turn', page: 0, serial: 3 });
  t.same(recording.events(), ['turn.deleted 0.3']);
  t.equal(recording.state?.turns, 3);
  recording.again();
  t.match(recording.publish([heard('one two', 0), heard('three four', 1_000), heard('five', 2_000)]), {
    tally: { turns: 3, protected: 1, suppressed: 0 },
  });
  t.same(
    recording.shown.map((text) => text.replace(/ S\d/, '')),
    ['one two null null', 'three eva', 'five null null'],
  );
});

t.test('K-034 a page holds so many turns and corrections, and refuses more as a whole', async (t) => {
  const many = Array.from({ length: LIMITS.page_turns_max }, (_, n) => heard(`a${n} b`, n * 500));
  const recording = new Recording();
  t.match(recording.publish(many), { tally: { turns: LIMITS.page_turns_max } });
  const before = JSON.stringify([recording.state, recording.page()]);
  t.match(recording.tell({ type: 'split_turn', page: 0, serial: 0, at_ms: 100 }), {
    refused: 'CONFLICT',
    message: /1024/,
  });
  t.equal(JSON.stringify([recording.state, recording.page()]), before);
  const corrections = Array.from({ length: LIMITS.page_corrections_max }, (_, n) => {
    return { start_ms: n, end_ms: n + 1, at_ms: 0, kind: 'deleted' as const };
  });
  const stored = putPage({ ...recording.page(), corrections });
  if (stored.effect === 'put_record') recording.put('pages', stored.id, stored);
  t.match(recording.tell({ type: 'delete_turn', page: 0, serial: 0 }), { refused: 'CONFLICT', message: /corrections/ });
  t.equal(recording.state?.turns, LIMITS.page_turns_max);
  const other = new Recording();
  other.publish(many.slice(0, 600));
  other.ask({ type: 'reprocess', from_ms: PAGE_MS / 2, to_ms: PAGE_MS, only_failed: false });
  const { number, token } = other.claim();
  const at = JSON.stringify([other.state, other.page()]);
  const second_half = Array.from({ length: 600 }, (_, n) => heard('a', PAGE_MS / 2 + n * 400));
  const result = { type: 'publish', number, token, digest: 'd', turns: second_half, recognized: {} } as const;
  const refused = other.tell({ ...result, speaker_scope: 'window', mode: 'replace', final_pass: false });
  t.match(refused, { refused: 'CONFLICT', message: /1024 turns/ });
  t.equal(JSON.stringify([other.state, other.page()]), at, 'nothing of it is there');
});

t.test('K-005 K-035 speakers: who they are, and which are one', async (t) => {
  const assign = (speaker: number, contact_id: string | null) =>
    ({ type: 'assign_speaker', speaker, contact_id }) as const;
  const merge = (speaker: number, into: number) => ({ type: 'merge_speaker', speaker, into }) as const;
  const recording = spoken();
  const refused: [TranscriptMessage, string][] = [
    [assign(0, 'eva'), 'NOT_FOUND'],
    [assign(4, 'eva'), 'NOT_FOUND'],
    [merge(0, 1), 'NOT_FOUND'],
    [merge(1, 4), 'NOT_FOUND'],
    [merge(4, 4), 'NOT_FOUND'],
    [merge(1, 1), 'CONFLICT'],
  ];
  for (const [message, code] of refused) t.match(recording.tell(message), { refused: code }, JSON.stringify(message));
  recording.tell(assign(1, 'eva'));
  recording.tell(assign(1, 'eva'));
  t.same(recording.announceAll(), [1]);
  recording.tell(merge(2, 1));
  recording.tell(merge(2, 1));
  t.same(recording.announceAll(), [1]);
  t.same(recording.shown, ['one two S1 eva', 'three four S1 eva', 'five S3 null']);
  for (const message of [assign(2, 'x'), merge(2, 3), merge(3, 2)])
    t.match(recording.tell(message), { refused: 'NOT_FOUND' }, 'a merged speaker is none any more');
  recording.tell(merge(1, 3));
  t.same(recording.announceAll(), [2], 'with those that were merged into it');
  t.same(recording.shown, ['one two S3 null', 'three four S3 null', 'five S3 null']);
  recording.tell(assign(3, 'carl'));
  t.same(recording.announceAll(), [3]);
  recording.tell({ type: 'change_turn', page: 0, serial: 0, contact_id: 'dora' });
  recording.tell(assign(3, null));
  t.same(recording.announceAll(), [2], 'but for what a person said of a turn alone');
  t.same(recording.shown, ['one two S3 dora', 'three four S3 null', 'five S3 null']);
  t.equal(recording.placeIn('announcing'), null);
});

t.test('K-005 events of a change follow in commits of 256, each turn once a change', async (t) => {
  const recording = new Recording();
  const turns = (page: number) =>
    Array.from({ length: 300 }, (_, n) => heard('a', page * PAGE_MS + n * 500, n % 3 === 0 ? 'B' : 'A'));
  for (let page = 0; page < 6; page++)
    recording.publish(turns(page), { speaker_scope: 'stream', consumed_to_ms: (page + 1) * PAGE_MS });
  recording.events();
  recording.tell({ type: 'assign_speaker', speaker: 2, contact_id: 'eva' });
  recording.tell({ type: 'merge_speaker', speaker: 1, into: 2 });
  recording.tell({ type: 'contact_changed', contact_id: 'nobody', into: null, number: 1 });
  for (let times = 0; times < 2; times++)
    recording.tell({ type: 'contact_changed', contact_id: 'eva', into: 'dora', number: 2 });
  t.same(recording.state?.contacts, ['eva', 'dora']);
  t.type(recording.placeIn('announcing'), 'number');
  const steps = recording.announceAll();
  t.ok(
    steps.every((count) => count <= LIMITS.announced_per_commit_max),
    steps.join(),
  );
  const events = recording.events();
  const count = (field: string) => events.filter((event) => event.endsWith(` ${field}`));
  t.equal(count('speaker').length, 600);
  t.equal(new Set(count('speaker')).size, 600, 'each once');
  // First the 1,200 turns of one speaker or the other; then all of them, as both are one and show the contact.
  const of_contact = count('contact_id');
  t.equal(of_contact.length, 1_200 + 1_800);
  t.equal(new Set(of_contact).size, 1_800);
  t.same(
    steps.reduce((sum, one) => sum + one, 0),
    events.length,
  );
  t.same(recording.state?.announcing, []);

  recording.tell({ type: 'assign_speaker', speaker: 2, contact_id: 'carl' });
  t.same(recording.ask({ type: 'announce', silent: true }), { left: false });
  t.same(recording.events(), [], 'of a deleted source nothing is told');
  for (let n = 0; n < LIMITS.announcements_max; n++)
    recording.ask({ type: 'assign_speaker', speaker: 2, contact_id: n % 2 === 0 ? 'eva' : 'carl' });
  t.match(recording.tell({ type: 'assign_speaker', speaker: 2, contact_id: null }), { refused: 'TOO_MANY_REQUESTS' });
  t.match(recording.tell({ type: 'contact_changed', contact_id: 'carl', into: null, number: 3 }), {
    refused: 'TOO_MANY_REQUESTS',
  });
});

t.test('K-036 a later result fills in who spoke, and whose voice it was', async (t) => {
  const recording = new Recording();
  recording.publish([heard('one', 0), heard('two', 1_000), heard('three', 2_000)]);
  recording.tell({ type: 'change_turn', page: 0, serial: 1, contact_id: 'eva' });
  recording.events();
  recording.again();
  const said = [heard('x', 0, 'A'), heard('y', 1_000, 'B'), heard('z', 2_000, 'A')];
  t.match(recording.publish(said, { mode: 'attribute' }), { tally: { turns: 3, replaced: 0 } });
  t.same(
    recording.events(),
    [0, 1, 2].map((serial) => `turn.updated 0.${serial} speaker`),
    'and no run.published',
  );
  t.same(recording.shown, ['one S1 null', 'two S2 eva', 'three S1 null']);
  recording.again();
  const before = recording.state?.revision ?? 0;
  recording.publish(said, { recognized: { A: 'carl', Z: 'nobody', constructor: 'x' }, speaker_scope: 'window' });
  t.same(recording.shown, ['x S1 carl', 'y S2 eva', 'z S1 carl']);
  t.equal(recording.state?.revision, before + 1);
  t.same(recording.state?.contacts, ['eva', 'carl']);
  recording.tell({ type: 'assign_speaker', speaker: 1, contact_id: 'dora' });
  recording.again();
  recording.publish(said, { recognized: { A: 'carl' } });
  t.same(recording.shown, ['x S1 dora', 'y S2 eva', 'z S1 dora'], 'a person knows better');
});

t.test('K-037 labels mean the same in all of a stream where a worker says so', async (t) => {
  const recording = new Recording();
  const labels = ['constructor', '__proto__', 'A'];
  const said = (page: number) => labels.map((label, n) => heard('a', page * PAGE_MS + n * 1_000, label));
  recording.publish(said(0), { speaker_scope: 'stream' });
  recording.publish(said(1), { speaker_scope: 'stream' });
  recording.publish(said(2), { speaker_scope: 'window' });
  const of = (page: number) => recording.page(page).turns.map(({ speaker }) => speaker);
  t.same(of(0), [1, 2, 3]);
  t.same(of(1), [1, 4, 3], 'one name no storage keeps');
  t.same(of(2), [5, 6, 7]);
  t.same(recording.state?.labels, { constructor: 1, A: 3 });
});

t.test('K-064 K-065 the library is told what is heard where insights are made, and of every correction', async (t) => {
  const recording = new Recording();
  let seen = 0;
  const told = () => {
    const fresh = recording.effects.slice(seen);
    seen = recording.effects.length;
    return fresh.flatMap((one) => (one.effect === 'notify' && one.to.kind === 'library' ? [one.message] : []));
  };
  const place = { type: 'heard', account_id: 'a', workspace_id: 'w', source_id: 's', stream_id: ID };
  recording.publish([heard('a b', 1_000, 'A')]);
  t.same(told(), [], 'nobody makes anything of it');
  recording.publish([heard('a b', PAGE_MS + 1_000, 'A'), heard('c', PAGE_MS + 3_000, 'A')], { insights: true });
  const [said, ...others] = told() as { from_ms: number; to_ms: number }[];
  t.match(said, { ...place, from_ms: PAGE_MS + 1_000, is_new: true });
  t.ok(said !== undefined && said.to_ms > PAGE_MS + 3_000 && said.to_ms < PAGE_MS + 10_000);
  t.same(others, []);
  recording.tell({ type: 'change_turn', page: 1, serial: 0, contact_id: 'eva' });
  t.match(told(), [{ ...place, from_ms: PAGE_MS + 1_000, is_new: false }]);
  recording.tell({ type: 'delete_turn', page: 1, serial: 1 });
  t.match(told(), [{ ...place, from_ms: PAGE_MS + 3_000, is_new: false }]);
  recording.tell({ type: 'assign_speaker', speaker: 1, contact_id: 'max' });
  t.match(told(), [{ ...place, from_ms: 0, to_ms: 2 * PAGE_MS, is_new: false }]);
  recording.tell({ type: 'assign_speaker', speaker: 1, contact_id: 'max' });
  t.same(told(), []);
  recording.again(1);
  recording.publish([heard('d e', PAGE_MS + 1_000, 'A')], { insights: true });
  t.match(told(), [{ ...place, from_ms: PAGE_MS, to_ms: 2 * PAGE_MS, is_new: false }], 'a later run replaces');
  recording.again(1);
  recording.publish([heard('d e', PAGE_MS + 1_000, 'A')], { insights: true });
  t.same(told(), [], 'it heard the same');
  recording.again(1);
  recording.publish([{ ...heard('d e', PAGE_MS + 1_000, 'A'), language: 'de' }], { insights: true });
  t.match(told(), [{ ...place, from_ms: PAGE_MS, to_ms: 2 * PAGE_MS, is_new: false }], 'in another language');
  recording.again(1);
  recording.publish([{ ...heard('d e', PAGE_MS + 1_000, 'A'), confidence: 0.7 }], { insights: true });
  t.same(told(), [], 'how sure an engine is concerns nobody there');
});

t.test('K-143 a corrected text holds for one turn of the same stretch of audio', async (t) => {
  const recording = new Recording();
  const texts = () => recording.page().turns.map(({ text, heard_text = null }) => [text, heard_text]);
  const rerun = (...turns: PublishedTurn[]) => {
    recording.again();
    recording.publish(turns);
    return texts();
  };
  const at = (text: string, start_ms: number, end_ms: number, speaker = 'A') => ({ text, start_ms, end_ms, speaker });
  recording.publish([at('we meat', 0, 4_000), at('yes', 4_500, 5_000, 'B')]);
  recording.tell({ type: 'change_turn', page: 0, serial: 0, text: 'We meet.' });
  t.same(texts(), [
    ['We meet.', 'we meat'],
    ['yes', null],
  ]);
  const first = recording.page().turns[0]?.serial;
  t.same(rerun(at('we meat', 0, 4_000))[0], ['We meet.', 'we meat']);
  t.equal(recording.page().turns[0]?.serial, first, 'heard as before, it is the same turn');
  t.same(rerun(at('we met', 20, 4_040))[0], ['We meet.', 'we met'], 'heard with other words');
  t.not(recording.page().turns[0]?.serial, first, 'it is another turn');
  t.same(rerun(at('me met', 300, 4_500))[0], ['We meet.', 'me met'], 'heard a little later');
  t.same(rerun(at('we', 0, 2_000), at('met', 2_000, 4_000)), [
    ['we', null],
    ['met', null],
  ]);
  t.same(rerun(at('we met and so on', 0, 8_000)), [['we met and so on', null]], 'what is longer has other words');
  t.same(rerun(at('we met', 0, 4_000), at('mm', 100, 4_000, 'C')), [
    ['We meet.', 'we met'],
    ['mm', null],
  ]);
  t.same(rerun(at('We meet.', 0, 4_000)), [['We meet.', null]], 'what is heard as it was corrected is what was heard');
  t.same(rerun(at('we met', 0, 4_000)), [['We meet.', 'we met']]);
  const [turn] = recording.page().turns;
  recording.tell({ type: 'change_turn', page: 0, serial: turn?.serial as number, text: null });
  t.same(texts(), [['we met', null]]);
  t.same(recording.page().corrections, [], 'nothing of the text is left');
});

t.test('K-143 two turns of one time have a text of their own', async (t) => {
  const recording = new Recording();
  recording.publish(['a', 'b'].map((text) => ({ text, start_ms: 0, end_ms: 1_000 })));
  recording.tell({ type: 'change_turn', page: 0, serial: 1, text: 'B' });
  recording.tell({ type: 'change_turn', page: 0, serial: 0, text: 'A' });
  t.same(
    recording.page().turns.map(({ text }) => text),
    ['A', 'B'],
  );
});

t.test('K-146 a corrected text goes with its turn, and no turn takes that of another', async (t) => {
  const recording = new Recording();
  const kept = () => recording.page().corrections.flatMap((one) => (one.kind === 'text' ? [one.text] : []));
  const heardAt = (text: string, start_ms: number, end_ms: number) => ({ text, start_ms, end_ms });
  recording.publish([
    heardAt('a', 0, 4_000),
    heardAt('b', 100, 4_000),
    heardAt('c', 5_000, 6_000),
    heardAt('d', 9_000, 9_500),
  ]);
  for (const serial of [0, 2]) recording.tell({ type: 'change_turn', page: 0, serial, text: `text ${serial}` });
  recording.ask({ type: 'delete_turn', page: 0, serial: 0 });
  t.same(
    recording.page().turns.map(({ text }) => text),
    ['b', 'text 2', 'd'],
  );
  t.same(kept(), ['text 2']);

  const expire = (before_ms: number | null) =>
    recording.ask({ type: 'expire', sweep_id: 'x', before_ms, library_id: 'l' });
  recording.pass(10);
  recording.again();
  recording.publish([heardAt('c and more', 5_000, 9_000), heardAt('d', 9_000, 9_500)]);
  t.same(kept(), ['text 2'], 'it waits for a turn of its stretch');
  expire(START_MS + 1);
  t.equal(recording.state?.turns, 1, 'the turn that stayed as it was has expired');
  t.same(kept(), [], 'and so has the text that no turn shows');

  recording.ask({ type: 'change_turn', page: 0, serial: recording.page().turns[0]?.serial as number, text: 'new' });
  t.same(kept(), ['new']);
  recording.again();
  recording.publish([]);
  t.same(kept(), [], 'nothing would tell retention of it');
});

t.test('K-147 what ten minutes have no room for is refused, and a corrected turn is not split', async (t) => {
  const recording = new Recording();
  recording.publish(Array.from({ length: 80 }, (_, n) => heard('a b', n * 1_000, 'A')));
  const most = LIMITS.page_corrected_chars_max / LIMITS.corrected_text_chars_max;
  const text = 'x'.repeat(LIMITS.corrected_text_chars_max);
  for (let serial = 0; serial < Math.floor(most); serial++)
    recording.ask({ type: 'change_turn', page: 0, serial, text });
  const more = { type: 'change_turn', page: 0, serial: 79, text } as const;
  t.match(recording.tell(more), { refused: 'CONFLICT', message: /at most 262144 characters of corrected text/ });
  recording.ask({ type: 'change_turn', page: 0, serial: 0, text: null });
  t.notMatch(recording.tell(more), { refused: 'CONFLICT' });
  t.match(recording.tell({ type: 'split_turn', page: 0, serial: 79, at_ms: 79_500 }), {
    ...{ refused: 'CONFLICT', message: /was corrected/ },
  });
});

t.test('I-018 I-020 I-023 retention takes 256 turns a commit, by the millisecond, and none twice', async (t) => {
  const expire = (before_ms: number | null) => ({ type: 'expire', sweep_id: 'x', before_ms, library_id: 'l' }) as const;
  const recording = new Recording();
  t.same(recording.ask(expire(null)), { removed: 0, left: false });
  recording.publish(Array.from({ length: 600 }, (_, n) => heard('a b', n * 500, 'A')));
  recording.tell({ type: 'change_turn', page: 0, serial: 0, contact_id: 'eva' });
  recording.tell({ type: 'delete_turn', page: 0, serial: 599 });
  recording.events();
  t.same(recording.ask(expire(START_MS)), { removed: 0, left: false }, 'not before its time');
  t.equal(recording.placeIn('due:transcripts:w'), START_MS);
  t.same(recording.ask(expire(START_MS + 1)), { removed: 256, left: true });
  t.same(recording.ask(expire(START_MS + 1)), { removed: 256, left: true });
  t.same(recording.ask(expire(null)), { removed: 87, left: false });
  t.same(recording.ask(expire(null)), { removed: 0, left: false });
  const notified = recording.effects.filter(
    (one): one is Extract<Effect, { effect: 'notify' }> => one.effect === 'notify' && one.to.id === 'l',
  );
  t.same(
    notified.map(({ to, message }) => [to, (message as { count: number }).count]),
    [256, 256, 87].map((count) => [{ kind: 'library', id: 'l' }, count]),
  );
  t.same(recording.events(), [], 'no event a record');
  t.equal(recording.placeIn('due:transcripts:w'), null);
  t.equal(recording.placeIn('transcripts'), null);
  t.match(recording.state, { turns: 0, oldest: null });
  t.same([recording.page().turns, recording.records('words').size], [[], 0]);
  t.match(recording.tell({ type: 'turn', page: 0, serial: 0 }), { refused: 'CONTENT_EXPIRED' });
  t.match(recording.tell({ type: 'turn', page: 0, serial: 599 }), { refused: 'NOT_FOUND' }, 'it was deleted before');
  t.same(
    recording.page().corrections.map(({ kind }) => kind),
    ['deleted'],
    'what was said of expired turns went with them',
  );
  recording.again();
  recording.publish([heard('new', 0), heard('new', 599 * 500)]);
  t.same(recording.shown, ['new S1 null'.replace('S1', 'null')], 'and what was deleted stays away');
});

t.test('I-018 K-146 the due list is never later than the oldest turn, whatever comes', async (t) => {
  type Act = { do: 'publish' | 'again' | 'delete' | 'expire' | 'split' | 'correct'; page: number; at: number };
  const acts: fc.Arbitrary<Act[]> = fc.array(
    fc.record({
      do: fc.constantFrom('publish', 'again', 'delete', 'expire', 'split', 'correct'),
      page: fc.integer({ min: 0, max: 2 }),
      at: fc.integer({ min: 0, max: 6 }),
    }),
    { maxLength: 40, size: 'max' },
  );
  checkPlays(t, { plays: acts, runs: 150 }, (drawn) => {
    const recording = new Recording();
    for (const { do: what, page, at } of drawn) {
      recording.pass(1);
      if (what === 'again') recording.again(page);
      if (what === 'publish' && recording.state?.waiting.length !== 0) {
        const from_ms = recording.state?.waiting[0]?.from_ms ?? 0;
        recording.publish(Array.from({ length: at }, (_, n) => heard(`w${n} x${at % 2}`, from_ms + n * 1_000, 'A')));
      }
      const found = recording.page(page).turns[at];
      if (what === 'delete' && found) recording.ask({ type: 'delete_turn', page, serial: found.serial });
      if (what === 'split' && found)
        recording.tell({ type: 'split_turn', page, serial: found.serial, at_ms: found.start_ms + 100 });
      if (what === 'correct' && found)
        recording.ask({ type: 'change_turn', page, serial: found.serial, text: `corrected ${at}` });
      if (what === 'expire')
        recording.ask({ type: 'expire', sweep_id: 'x', before_ms: recording.now_ms - at * 2, library_id: 'l' });
      const pages = recording.pages;
      const turns = pages.flatMap((one) => one.turns);
      const oldest = turns.length === 0 ? null : Math.min(...turns.map(({ run }) => run.published_at_ms));
      const due = recording.placeIn('due:transcripts:w');
      if (recording.state?.turns !== turns.length) throw new Error('turns are not counted');
      if ((due === null) !== (oldest === null) || (due ?? 0) > (oldest ?? 0))
        throw new Error(`due ${due}, oldest ${oldest}`);
      if ((recording.placeIn('transcripts') === null) !== (oldest === null))
        throw new Error('listed without turns, or not');
      const published = new Map(
        [...recording.records('published').keys()].map((key) => [Number.parseInt(key, 16), true]),
      );
      for (const one of pages)
        if (published.has(one.number) !== (oldestIn(one) !== null)) throw new Error(`page ${one.number} in published`);
      for (const one of pages)
        if (one.turns.some(({ start_ms }) => pageOf(start_ms) !== one.number))
          throw new Error('a turn in another page');
    }
    // Then a sweep takes all of it.
    for (let steps = 0; ; steps++) {
      const reply = recording.ask({ type: 'expire', sweep_id: 'x', before_ms: null, library_id: 'l' });
      if (isRefusal(reply) || steps > 100) throw new Error('a sweep without end');
      if (!(reply as { left: boolean }).left) break;
    }
    if (JSON.stringify(recording.pages).includes('corrected')) throw new Error('a corrected text is left');
    if (recording.state?.turns !== 0 || recording.placeIn('due:transcripts:w') !== null)
      throw new Error('turns are left');
  });
});
