import type { InputTurn, InsightInput } from '../../src/features/insights/engines/insight_input.js';
import type { CorpusTalk, CorpusTurn, Label } from './corpus.js';
import { type Conversation, stems } from './score.js';

/** A labelled talk as an engine of the server sees it, and as the scorer does. */

const WORD_MS = 290;
const PAUSE_MS = 350;
const FIRST_MS = 800;
const TURN_MS_MIN = 600;

/** `knows_speakers`: false as if the speech engine told nobody apart. */
export function inputOf(talk: CorpusTalk, { knows_speakers }: { knows_speakers: boolean }): InsightInput {
  const began_ms = Date.parse(talk.at);
  const timed = timedTurns(talk);
  const turns = timed.map(
    ({ n, speaker, text, start_ms, end_ms }): InputTurn => ({
      ...{ number: n, text, start_ms, end_ms, stream_id: talk.id, source_id: talk.id, language: 'en' },
      ...{ at_ms: began_ms + start_ms, utc_offset_min: 0, speaker: knows_speakers ? speaker : null },
    }),
  );
  const people = Object.entries(talk.speakers).map(([label, name], at) => ({
    ...{ label, name, contact_id: `contact-${label}`, is_self: at === 0 },
    who: { stream_id: talk.id, speaker: label } as unknown as InsightInput['people'][number]['who'],
  }));
  return {
    ...{ started_at_ms: began_ms, ended_at_ms: began_ms + (timed.at(-1)?.end_ms ?? 0), title: null, turns },
    people: knows_speakers ? people : [],
    ...{ suggestions: [], memories: [], about: null, languages: ['en'], vocabulary: [], context: [] },
    ...{ suggestion_kinds: ['task', 'follow_up', 'reminder', 'decision', 'question'], memory_kinds: [] },
    ...{ instructions: '', time_zone: talk.zone },
  };
}

/** Turns with the times that people would take to say them. */
export function timedTurns({ turns }: CorpusTalk): (CorpusTurn & { start_ms: number; end_ms: number })[] {
  let ms = FIRST_MS;
  return turns.map((turn) => {
    const start_ms = ms;
    const end_ms = start_ms + Math.max(TURN_MS_MIN, turn.text.split(' ').length * WORD_MS);
    ms = end_ms + PAUSE_MS;
    return { ...turn, start_ms, end_ms };
  });
}

export function conversationOf(talk: CorpusTalk): Conversation {
  const ownerOf = ({ owner }: Label) => (owner === undefined ? null : (talk.speakers[owner] ?? owner));
  const of = (kind: Label['kind']) =>
    talk.labels
      .filter((label) => label.kind === kind)
      .map((label) => ({ turns: label.turns, gist: label.gist, owner: ownerOf(label), due: label.due ?? null }));
  return {
    ...{ id: talk.id, captured_at: talk.at, time_zone: talk.zone, speakers: talk.speakers, turns: talk.turns },
    labels: {
      tasks: of('task'),
      decisions: of('decision'),
      open_questions: of('question'),
      reminders: of('reminder'),
      not_items: talk.labels.flatMap(({ kind, turns }) => (kind === 'trap' ? (turns.at(-1) ?? []) : [])),
      optional: talk.labels.flatMap(({ kind, turns }) => (kind === 'optional' ? turns : [])),
      title_words: [...new Set(talk.title.flatMap((words) => words.toLowerCase().split(/\s+/)))],
      summary_must: talk.must.map((gist) => ({ gist, turns: nearest(talk, gist) })),
      summary_must_not: talk.must_not,
    },
    questions: talk.questions,
  };
}

/** The turn that shares most words with a point. */
function nearest({ turns }: CorpusTalk, gist: string): number[] {
  const own = new Set(stems(gist));
  let [place, most] = [0, 0];
  for (const { n, text } of turns) {
    const shared = stems(text).filter((stem) => own.has(stem)).length;
    if (shared > most) [place, most] = [n, shared];
  }
  return place === 0 ? [] : [place];
}
