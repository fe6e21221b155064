import {
  type CheckedInsights,
  LEFT_OUT_REASONS,
  type LeftOut,
  type MadeBy,
  type MEMORY_KINDS,
  type MemoryOp,
  type Span,
  type StoredParticipant,
  type SUGGESTION_KINDS,
  type SuggestionOp,
  type SummarySentence,
} from '../../../../actors/insights/library_state.js';
import { summaryOf } from '../../../../actors/insights/summary.js';
import { LIMITS } from '../../../domain/limits.js';
import type { ServerKeys } from '../../../engine/secrets/server_keys.js';
import { noonOf } from '../../../engine/time/time_zone.js';
import { parseAsSent } from '../../../engine/wire/schema_faults.js';
import { cleanText, comparedWords, foreignAddresses, wordsInOrder } from '../engines/clean_text.js';
import {
  contactCalled,
  type InputTurn,
  type InsightInput,
  type RawEvidence,
  type RawInsights,
  type RawMemory,
  type RawSentence,
  type RawSuggestion,
  rolesOf,
} from '../engines/insight_input.js';
import { languageOf } from '../engines/spoken_language.js';
import { stemsOf } from '../engines/stems.js';
import { FORM, type Refused, refusedOf } from './insight_form.js';

/**
 * Checks an engine's answer. An item is kept if turns support it, if every address in it was said by somebody, and if
 * it concerns this conversation. docs/choices.md, "Insights".
 */

const INSIGHT_SUMMARY_CHARS_MAX = 2_000; // ours
const CONVERSATION_PARTICIPANTS_MAX = 100; // ours: those who spoke most
const DUE_BEFORE_MS_MAX = 365 * 86_400_000; // ours: so long before a conversation something may have been due
const DUE_AFTER_MS_MAX = 10 * 365 * 86_400_000; // ours

/** The share of a known memory's stems that another memory must have to take its place. */
const SUPERSEDES_SHARED_MIN = 0.25;
export type Checked = { ok: true; insights: CheckedInsights } | { ok: false; refused: Refused };

type Checking = {
  input: InsightInput;
  keys: Pick<ServerKeys, 'keyIds' | 'keyedHashWith'>;
  made_by: MadeBy;
  /** Counts of parts that the reader of the answer has left out already. */
  left_out?: LeftOut | undefined;
};

/** Why a part of an answer is left out. */
type Reason = 'unsupported' | keyof LeftOut;

/** The publishable part of an answer, or its first fault. */
export function checkedInsights(raw: unknown, { input, keys, made_by, left_out = {} }: Checking): Checked {
  const parsed = parseAsSent(FORM, raw);
  if (!parsed.success) return { ok: false, refused: refusedOf(parsed.error) };
  const said: RawInsights = parsed.data;
  const wrong = wrongNumbers(said, input);
  if (wrong !== null) return { ok: false, refused: wrong };
  const language = languageOf(input.turns);
  const stems = (of: string) => stemsOf(keys, of, language);
  const suggestions = said.suggestions.map((item) => suggestionOp(item, { input, stems }));
  const memories = said.memories.map((item) => memoryOp(item, { input, stems }));
  const { title, topics } = said.conversation;
  const sentences = said.conversation.sentences.map((one) => sentenceOf(one, input));
  const borne = sentences.filter((one) => typeof one !== 'string');
  const standing = fitting(borne);
  const told = [title, ...topics].filter((text) => text !== null && text.trim() !== '' && shown(text, input) === null);
  const reasons = [
    ...[...suggestions, ...memories, ...sentences].filter((one) => typeof one === 'string'),
    ...told.map(() => 'address' as const),
    ...borne.slice(standing.length).map(() => 'too_many' as const),
  ];
  return {
    ok: true,
    insights: {
      made_by,
      conversation: {
        title: shown(title, input),
        summary: summaryOf(standing),
        sentences: standing,
        topics: [...new Set(topics.map((topic) => shown(topic, input)))].filter((topic) => topic !== null),
        participants: participantsOf(input),
        language,
      },
      suggestions: suggestions.filter((op) => typeof op !== 'string'),
      memories: memories.filter((op) => typeof op !== 'string'),
      unsupported: reasons.filter((reason) => reason === 'unsupported').length,
      left_out: leftOutOf(reasons, left_out),
    },
  };
}

function leftOutOf(reasons: readonly Reason[], before: LeftOut): LeftOut {
  const counted = LEFT_OUT_REASONS.map((reason): [keyof LeftOut, number] => {
    return [reason, reasons.filter((one) => one === reason).length + (before[reason] ?? 0)];
  });
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}

function sentenceOf(raw: RawSentence, input: InsightInput): SummarySentence | Reason {
  const borne = bornBy(raw.evidence, input);
  if (borne === null) return 'unsupported';
  const { text: plain = '', reason } = itemText(raw.text, borne.turns);
  return reason ?? { text: plain, evidence: borne.spans };
}

/** The first sentences, as many as a summary may hold. */
function fitting(sentences: readonly SummarySentence[]): SummarySentence[] {
  const kept: SummarySentence[] = [];
  for (const one of sentences)
    if ((summaryOf([...kept, one]) ?? '').length <= INSIGHT_SUMMARY_CHARS_MAX) kept.push(one);
  return kept;
}

/** A turn or item number that the input does not have: the answer belongs to another input. */
function wrongNumbers({ conversation, suggestions, memories }: RawInsights, input: InsightInput): Refused | null {
  const wrongTurn = (cited: readonly RawEvidence[] | undefined, path: string): Refused | null => {
    const at = (cited ?? []).findIndex(({ turn }) => turn > input.turns.length);
    return at < 0 ? null : { path: `${path}.evidence.${at}.turn`, message: 'must be the number of a turn of the job' };
  };
  for (const [at, sentence] of conversation.sentences.entries()) {
    const wrong = wrongTurn(sentence.evidence, `conversation.sentences.${at}`);
    if (wrong !== null) return wrong;
  }
  const lists = [
    { name: 'suggestions', items: suggestions, known: input.suggestions },
    { name: 'memories', items: memories, known: input.memories },
  ];
  for (const { name, items, known } of lists)
    for (const [at, item] of items.entries()) {
      const path = `${name}.${at}`;
      const wrong = wrongTurn(item.evidence, path);
      if (wrong !== null) return wrong;
      const is_named = item.ref !== null && item.ref !== undefined;
      if (!is_named && item.op !== 'new') return { path: `${path}.ref`, message: `must be there to ${item.op} one` };
      if (is_named && !known.some((one) => one.ref === item.ref))
        return { path: `${path}.ref`, message: 'must be the ref of an item of the job' };
      if (item.op !== 'new') continue;
      if (item.kind === null || item.kind === undefined) return { path: `${path}.kind`, message: 'must be there' };
      if (item.text === null || item.text === undefined) return { path: `${path}.text`, message: 'must be there' };
    }
  return null;
}

type Making = { input: InsightInput; stems: (text: string) => string[] };

function suggestionOp(raw: RawSuggestion, { input, stems }: Making): SuggestionOp | Reason {
  const { op, ref, kind } = raw;
  if (op === 'withdraw') return { op, number: ref as number };
  const borne = bornBy(raw.evidence, input);
  if (borne === null) return 'unsupported';
  if (!isAsked(kind, input.suggestion_kinds)) return 'unwanted';
  const { turns, spans } = borne;
  const due = dueOf(raw, input, turns[0] as InputTurn);
  const { text: plain, reason } = itemText(raw.text, turns);
  if (reason !== undefined) return reason;
  if (op === 'new') {
    if (plain === undefined) return 'malformed';
    return {
      op,
      kind: kind as (typeof SUGGESTION_KINDS)[number],
      text: plain,
      stems: stems(plain),
      ...(due ?? NO_DUE),
      ...rolesOf(input.people, raw),
      evidence: spans,
    };
  }
  return {
    op,
    number: ref as number,
    evidence: spans,
    ...(kind != null && { kind }),
    ...(plain !== undefined && { text: plain, stems: stems(plain) }),
    ...due,
    ...rolesOf(input.people, raw),
  };
}

function memoryOp(raw: RawMemory, { input, stems }: Making): MemoryOp | Reason {
  const { op, ref, kind } = raw;
  const known = input.memories.find((memory) => memory.ref === ref);
  // What came of other conversations is theirs: it can be contradicted, and stays readable.
  if (op !== 'new' && known?.own !== true) return 'unsupported';
  if (op === 'withdraw') return { op, number: ref as number };
  const borne = bornBy(raw.evidence, input);
  if (borne === null) return 'unsupported';
  if (!isAsked(kind, input.memory_kinds)) return 'unwanted';
  const { turns, spans } = borne;
  const { text: plain, reason } = itemText(raw.text, turns);
  if (reason !== undefined) return reason;
  if (op === 'new') {
    if (plain === undefined) return 'malformed';
    const own = stems(plain);
    const supersedes = known !== undefined && contradicts(own, stems(known.text)) ? known.ref : null;
    return {
      op,
      kind: kind as (typeof MEMORY_KINDS)[number],
      text: plain,
      stems: own,
      contact_id: contactCalled(input.people, raw.about),
      evidence: spans,
      ...(supersedes !== null && { supersedes }),
    };
  }
  return {
    op,
    number: ref as number,
    evidence: spans,
    ...(kind != null && { kind }),
    ...(plain !== undefined && { text: plain, stems: stems(plain) }),
  };
}

function isAsked<Kind>(kind: Kind | null | undefined, asked: readonly Kind[]): boolean {
  return kind === null || kind === undefined || asked.includes(kind);
}

/** Two texts without common stems do not contradict each other. */
function contradicts(own: readonly string[], known: readonly string[]): boolean {
  const shared = known.filter((stem) => own.includes(stem)).length;
  return shared > 0 && shared >= known.length * SUPERSEDES_SHARED_MIN;
}

/** The turns that support an item; null without any, or if one does not contain its quotation. */
function bornBy(
  cited: readonly RawEvidence[] | undefined,
  { turns }: InsightInput,
): { turns: InputTurn[]; spans: Span[] } | null {
  if (cited === undefined || cited.length === 0) return null;
  const numbers = new Set(cited.map(({ turn }) => turn));
  const turnOf = (number: number) => turns[number - 1] as InputTurn;
  const isBorne = ({ turn, quote }: RawEvidence) => {
    const own = comparedWords(turnOf(turn).text);
    if (isQuoteOf(quote, own)) return true;
    return numbers.has(turn + 1) && isQuoteOf(quote, [...own, ...comparedWords(turnOf(turn + 1).text)]);
  };
  if (!cited.every(isBorne)) return null;
  const bearing = [...numbers].sort((a, b) => a - b).map(turnOf);
  return {
    turns: bearing,
    spans: bearing.map(({ stream_id, source_id, start_ms, end_ms }) => ({ stream_id, source_id, start_ms, end_ms })),
  };
}

/** Whether a quotation stands in a text. */
export function isQuoteOf(quote: string, said: readonly string[]): boolean {
  const words = comparedWords(quote);
  if (words.length < Math.min(LIMITS.quote_words_min, said.length) || words.length === 0) return false;
  return wordsInOrder(words, said) >= words.length * LIMITS.quote_borne_min;
}

/** Empty without a text; with the reason if the text may not be shown. */
function itemText(
  said: string | null | undefined,
  turns: readonly InputTurn[],
): { text?: string; reason?: 'malformed' | 'address' } {
  if (said === null || said === undefined) return {};
  const plain = cleanText(said);
  if (plain === '') return { reason: 'malformed' };
  return foreignAddresses(plain, turns).length > 0 ? { reason: 'address' } : { text: plain };
}

/** A member of the conversation itself, which all its turns support. */
function shown(said: string | null, { turns }: InsightInput): string | null {
  const plain = cleanText(said ?? '');
  return plain === '' || foreignAddresses(plain, turns).length > 0 ? null : plain;
}

type Due = { due_at_ms: number | null; due_date: string | null };
const NO_DUE: Due = { due_at_ms: null, due_date: null };

/**
 * Undefined if the answer says nothing; an impossible time or day counts as none. A day is by the clocks of its turn.
 */
function dueOf(
  { due_at, due_date }: Pick<RawSuggestion, 'due_at' | 'due_date'>,
  { started_at_ms, ended_at_ms, time_zone }: InsightInput,
  { utc_offset_min }: InputTurn,
): Due | undefined {
  if (due_at === undefined && due_date === undefined) return undefined;
  if (due_at == null && due_date == null) return NO_DUE;
  const day = due_at == null ? (due_date as string) : null;
  const at_ms = day === null ? Date.parse(due_at as string) : noonOf(day, { time_zone, utc_offset_min });
  const is_near = at_ms >= started_at_ms - DUE_BEFORE_MS_MAX && at_ms <= ended_at_ms + DUE_AFTER_MS_MAX;
  return is_near ? { due_at_ms: at_ms, due_date: day } : NO_DUE;
}

/** The speakers with their talking time, the longest first. */
function participantsOf({ turns, people }: InsightInput): StoredParticipant[] {
  const talked = new Map<string, number>();
  for (const { speaker, start_ms, end_ms } of turns)
    if (speaker !== null) talked.set(speaker, (talked.get(speaker) ?? 0) + end_ms - start_ms);
  return people
    .flatMap(({ label: name, who }) => {
      const talk_ms = talked.get(name);
      return talk_ms === undefined ? [] : [{ ...who, talk_ms }];
    })
    .sort((a, b) => b.talk_ms - a.talk_ms)
    .slice(0, CONVERSATION_PARTICIPANTS_MAX);
}
