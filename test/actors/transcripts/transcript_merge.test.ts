import assert from 'node:assert/strict';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type TranscriptMessage, transcript } from '../../../actors/transcripts/transcript.js';
import {
  type PageTurn,
  type PageWords,
  pageKey,
  readPage,
  readWords,
  type TranscriptPage,
} from '../../../actors/transcripts/transcript_page.js';
import type { PublishedTurn, Transcript, Word } from '../../../actors/transcripts/transcript_state.js';
import { makeId, placeOfTurn } from '../../../src/domain/ids.js';
import { Played, START_MS } from '../../fixtures/decisions.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';

/** Runs and corrections of one minute, in any order. */

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const END_MS = 60_000;
const STREAM = { account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: START_MS, end_ms: END_MS };
const WORDS = ['well', 'then', 'we', 'meet', 'on', 'tuesday', 'at', 'noon'];
const CONTACTS = ['c1', 'c2'];

type Said = PublishedTurn;
type Edit =
  | { edit: 'contact'; contact_id: string | null }
  | { edit: 'speaker'; speaker: number }
  | { edit: 'text'; text: string }
  | { edit: 'delete' }
  | { edit: 'split'; share: number };

class Minute {
  readonly played = new Played<Transcript, TranscriptMessage, unknown>(transcript, ID);
  #runs = 0;

  constructor() {
    this.played.send({ type: 'audio', stream: STREAM, window_ms: END_MS, intervals: [[0, END_MS]] });
  }

  get page(): TranscriptPage {
    return readPage(0, this.played.records('pages').get(pageKey(0)));
  }

  get words(): PageWords {
    return readWords(0, this.played.records('words').get(pageKey(0)));
  }

  run(turns: Said[], mode: 'replace' | 'attribute' = 'replace') {
    if (this.#runs > 0) this.played.send({ type: 'reprocess', from_ms: 0, to_ms: END_MS, only_failed: false });
    this.#runs += 1;
    this.played.pass(1_000);
    const token = `t${this.#runs}`;
    const run_id = makeId({ partition: 7, now_ms: START_MS + this.#runs, random: new Uint8Array(5) });
    const claimed = this.played.ask({ type: 'claim_window', token, run_id, lease_ms: 1_000, window_ms: END_MS });
    const { window } = claimed as { window: { number: number } };
    const began = this.played.effects.length;
    const reply = this.played.ask({
      ...{ type: 'publish', number: window.number, token, digest: token, speaker_scope: 'window', mode },
      ...{ turns, recognized: {}, final_pass: false },
    });
    return { ...(reply as { tally: Record<string, number> }), events: this.eventsSince(began) };
  }

  edit({ serial }: PageTurn, edit: Edit, said: PageTurn): unknown {
    const place = { page: 0, serial };
    switch (edit.edit) {
      case 'contact':
        return this.played.send({ type: 'change_turn', ...place, contact_id: edit.contact_id }).reply;
      case 'speaker':
        return this.played.send({ type: 'change_turn', ...place, speaker: edit.speaker }).reply;
      case 'text':
        return this.played.send({ type: 'change_turn', ...place, text: edit.text }).reply;
      case 'delete':
        return this.played.send({ type: 'delete_turn', ...place }).reply;
      case 'split': {
        const at_ms = Math.round(said.start_ms + (said.end_ms - said.start_ms) * edit.share);
        return this.played.send({ type: 'split_turn', ...place, at_ms }).reply;
      }
    }
  }

  eventsSince(began: number): string[] {
    return this.played.effects.slice(began).flatMap((one) => {
      if (one.effect !== 'append_event') return [];
      const { serial } = placeOfTurn(one.resource_id) ?? {};
      const fields = (one.data?.changed_fields as string[] | undefined) ?? [];
      return [[one.type, ...(one.type === 'run.published' ? [] : [serial]), ...fields].join(' ')];
    });
  }
}

/** Turns one after the other, whose words have times or not. */
const runs = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 0, max: 900 }),
      words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }),
      speaker: fc.constantFrom('A', 'B', undefined),
    }),
    { maxLength: 10 },
  )
  .chain((turns) =>
    fc.boolean().map((timed) => {
      let at_ms = 0;
      return turns.map(({ gap, words, speaker }): Said => {
        const start_ms = at_ms + gap;
        const end_ms = start_ms + words.length * 500;
        at_ms = end_ms;
        const times = words.map(
          (word, index): Word => [word, start_ms + index * 500, start_ms + index * 500 + 500, 0.5],
        );
        return {
          ...{ start_ms, end_ms, text: words.join(' ') },
          ...(speaker === undefined ? {} : { speaker }),
          ...(timed ? { words: times } : {}),
        };
      });
    }),
  );

/** A run, and one of the same audio: some turns are heard the same, some with other words, some as one, some not at all. */
const reruns = runs.chain((first) =>
  fc
    .array(fc.constantFrom('same', 'same', 'other', 'joined', 'lost'), {
      minLength: first.length,
      maxLength: first.length,
    })
    .map((how) => {
      const second: Said[] = [];
      for (const [index, turn] of first.entries()) {
        const last = second.at(-1);
        const { words, ...rest } = turn;
        if (how[index] === 'same') second.push(turn);
        if (how[index] === 'other') second.push({ ...rest, text: 'something else' });
        if (how[index] !== 'joined' || last === undefined) continue;
        const all = last.words !== undefined && words !== undefined ? { words: [...last.words, ...words] } : {};
        const { words: _, ...of_last } = last;
        second[second.length - 1] = { ...of_last, end_ms: turn.end_ms, text: `${last.text} ${turn.text}`, ...all };
      }
      return [first, second] as const;
    }),
);

const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.constantFrom(...CONTACTS, null).map((contact_id) => ({ edit: 'contact' as const, contact_id })),
  fc.constant({ edit: 'speaker' as const, speaker: 1 }),
  fc.constantFrom('what I said', 'well then').map((text) => ({ edit: 'text' as const, text })),
  fc.constant({ edit: 'delete' as const }),
  fc.double({ min: 0.1, max: 0.9, noNaN: true }).map((share) => ({ edit: 'split' as const, share })),
);

const check = <Of>(t: Test, property: fc.IProperty<Of>, numRuns: number) =>
  fc.assert(property, { seed: drawSeed(t), numRuns: drawsOf(numRuns) });

/** What people read of a page, whichever turns these are by number. */
function shown({ turns }: TranscriptPage) {
  return turns.map(({ start_ms, end_ms, text, heard_text, contact_id, speaker_is_manual }) => {
    return { start_ms, end_ms, text, heard_text, contact_id, speaker_is_manual };
  });
}

t.test('K-038 a run that hears the same changes nothing', async (t) => {
  check(
    t,
    fc.property(runs, (said) => {
      const minute = new Minute();
      minute.run(said);
      const before = minute.page;
      const revision = minute.played.state?.revision;
      const again = minute.run(said);
      assert.deepEqual(minute.page.turns, before.turns);
      assert.deepEqual(again.events, []);
      assert.equal(minute.played.state?.revision, revision);
    }),
    100,
  );
});

t.test('K-038 a run that hears the same text tells what it knows of it', async (t) => {
  const words: Word[] = [
    ['well', 0, 600, 0.5],
    ['then', 600, 1_000, null],
  ];
  const bare: Said = { start_ms: 0, end_ms: 1_000, text: 'well then', speaker: 'A' };
  const told = { ...bare, language: 'de', confidence: 0.9, words };
  const other = { ...bare, language: 'nl', confidence: 0.5, words: words.map(([word]): Word => [word, 100, 200, 0.1]) };
  const known = (minute: Minute) => {
    const [turn] = minute.page.turns;
    return { ...turn, run: undefined, words: minute.words.get(turn?.serial ?? -1) };
  };
  const once = new Minute();
  once.run([told]);
  const expected = known(once);
  t.match(expected, { serial: 0, language: 'de', confidence: 0.9, words });
  for (const [title, first, second] of [
    ['where nothing was known', bare, told],
    ['in place of what the earlier one knew', other, told],
    ['a later one that knows nothing takes nothing away', told, bare],
  ] as const) {
    const minute = new Minute();
    minute.run([first]);
    const [run, revision = 0] = [minute.page.runs, minute.played.state?.revision];
    t.same(minute.run([second]).events, [], `${title}, without an event`);
    t.same(known(minute), expected, title);
    t.same(minute.page.runs, run, 'it stays the turn of its run');
    t.equal(minute.played.state?.revision, first === told ? revision : revision + 1);
  }
  const near = new Minute();
  near.run([bare]);
  const late = words.map(([word, from_ms, to_ms, sure]): Word => [word, from_ms + 40, to_ms + 40, sure]);
  near.run([{ ...told, start_ms: 40, end_ms: 1_040, words: late, speaker: 'B' }]);
  t.same(
    near.words.get(0),
    [
      ['well', 40, 640, 0.5],
      ['then', 640, 1_000, null],
    ],
    'words lie in the turn as it was',
  );
  t.match(near.page.turns, [{ serial: 0, start_ms: 0, end_ms: 1_000, language: 'de' }]);
});

t.test('K-011 a run that replaces turns is one event, and one that only adds has one a turn', async (t) => {
  check(
    t,
    fc.property(fc.oneof(reruns, fc.tuple(runs, runs)), ([first, second]) => {
      const minute = new Minute();
      const made = minute.run(first);
      assert.deepEqual(
        made.events,
        first.map((_, serial) => `turn.created ${serial}`),
      );
      const before = minute.page.turns;
      const { tally, events } = minute.run(second);
      const after = minute.page.turns;
      const gone = before.filter(({ serial }) => !after.some((other) => other.serial === serial));
      assert.equal(tally.replaced, gone.length);
      if (gone.length > 0) assert.deepEqual(events, ['run.published']);
      else
        t.ok(
          events.every((event) => event.startsWith('turn.created') || event.endsWith('speaker')),
          String(events),
        );
    }),
    150,
  );
});

t.test('K-033 K-143 a correction and a run come to the same, whichever is first', async (t) => {
  let compared = 0;
  check(
    t,
    fc.property(reruns, fc.nat(), edits, ([first, second], which, edit) => {
      const one = new Minute();
      const other = new Minute();
      one.run(first);
      other.run(first);
      const { turns } = one.page;
      const corrected = turns[which % Math.max(1, turns.length)];
      // Whoever "corrects" a text to what stands there changes nothing.
      if (corrected === undefined || (edit.edit === 'text' && edit.text === corrected.text)) return;
      other.run(second);
      const same = other.page.turns.find(
        ({ start_ms, end_ms }) => start_ms === corrected.start_ms && end_ms === corrected.end_ms,
      );
      if (same === undefined) return;
      if (edit.edit === 'split' && same.text !== corrected.text) return;
      one.edit(corrected, edit, corrected);
      one.run(second);
      other.edit(same, edit, same);
      compared += 1;
      assert.deepEqual(shown(one.page), shown(other.page));
    }),
    600,
  );
  t.ok(compared > drawsOf(600) / 6, `${compared} could be compared`);
});

t.test('K-033 K-143 no run loses a correction or brings back what was deleted', async (t) => {
  check(
    t,
    fc.property(
      fc.array(fc.tuple(runs, fc.array(fc.tuple(fc.nat(), edits), { maxLength: 3 })), { minLength: 2, maxLength: 5 }),
      (steps) => {
        const minute = new Minute();
        for (const [said, changes] of steps) {
          const before = minute.page.corrections;
          minute.run(said);
          const stays = ({ kind }: { kind: string }) => kind !== 'text' || minute.page.turns.length > 0;
          assert.deepEqual(minute.page.corrections, before.filter(stays), 'a run takes no correction away');
          const deleted = before.filter(({ kind }) => kind === 'deleted');
          for (const { start_ms, end_ms } of minute.page.turns)
            assert.ok(
              !deleted.some((span) => span.start_ms === start_ms && span.end_ms === end_ms),
              'what was deleted is not there again',
            );
          for (const [which, edit] of changes) {
            const { turns } = minute.page;
            const turn = turns[which % Math.max(1, turns.length)];
            if (turn !== undefined) minute.edit(turn, edit, turn);
          }
          assert.equal(minute.played.state?.turns, minute.page.turns.length);
        }
      },
    ),
    200,
  );
});
