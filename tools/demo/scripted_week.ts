import { SPEAKERS, WEEK } from './week.js';

/** phone: recorded in the app. pocket: by a device of one's own. table: by a shared recorder, in a session. */
type RecordedBy = 'phone' | 'pocket' | 'table';

/**
 * A conversation of the scripted week. Times are ms since midnight, or since it begins.
 *
 * `day`: 0 is its first day; on `TODAY` `at_ms` is how long ago it began. `title`, `tags`, `is_starred`: what a person
 * wrote; the title is null for most.
 */
export type ScriptedConversation = {
  day: number;
  at_ms: number;
  place: string;
  title: string | null;
  tags: string[];
  is_starred: boolean;
  is_shared: boolean;
  by: RecordedBy;
  turns: ScriptedTurn[];
};

/** `questions`: what it is the answer to. */
export type ScriptedTurn = { start_ms: number; end_ms: number; speaker: string; text: string; questions: string[] };

/** The day after the seven of the week. */
export const TODAY = 7;
const MONDAY = 1;
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** Not the habits: "Mondays". */
const WEEKDAY = new RegExp(`\\b(?:${WEEKDAYS.join('|')})\\b`, 'g');
const MINUTE_MS = 60_000;
/** Of speech, and between turns. */
const [WORD_MS, PAUSE_MS] = [380, 600];

/**
 * The whole of it, in the order in which it is written. `first_weekday`: that of its first day, 0 for Sunday; the days of
 * the week that people name move with it.
 */
export function scriptedWeek(first_weekday = MONDAY): ScriptedConversation[] {
  const conversations: ScriptedConversation[] = [];
  const moved = WEEK.replace(WEEKDAY, (name) => weekdayAfter(name, first_weekday - MONDAY));
  for (const line of moved.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# ')) conversations.push(conversationOf(line));
    else addLine(conversations.at(-1), line);
  }
  return conversations;
}

function weekdayAfter(name: string, days: number): string {
  return WEEKDAYS[(WEEKDAYS.indexOf(name) + days + WEEKDAYS.length) % WEEKDAYS.length] as string;
}

function conversationOf(line: string): ScriptedConversation {
  const [, day, hours, minutes, place] = /^# (\d) (\d\d):(\d\d) (.+)$/.exec(line) ?? [];
  if (place === undefined) throw new Error(`no conversation: ${line}`);
  return {
    ...{ day: Number(day), at_ms: (Number(hours) * 60 + Number(minutes)) * MINUTE_MS, place },
    ...{ title: null, tags: [], is_starred: false, is_shared: false, by: 'phone', turns: [] },
  };
}

function addLine(conversation: ScriptedConversation | undefined, line: string): void {
  if (conversation === undefined) throw new Error(`nobody talks yet: ${line}`);
  const text = line.slice(2);
  if (line.startsWith('= ')) conversation.title = text;
  else if (line.startsWith('+ ')) conversation.tags = text.split(', ');
  else if (line.startsWith('@ ')) conversation.by = text as RecordedBy;
  else if (line === '*') conversation.is_starred = true;
  else if (line === '&') conversation.is_shared = true;
  else if (line.startsWith('? ')) conversation.turns.at(-1)?.questions.push(text);
  else conversation.turns.push(turnOf(line, conversation.turns.at(-1)?.end_ms ?? 0));
}

function turnOf(line: string, before_ms: number): ScriptedTurn {
  const [, letter = '', text = ''] = /^([A-Z]): (.+)$/.exec(line) ?? [];
  const speaker = SPEAKERS[letter];
  if (speaker === undefined) throw new Error(`no turn: ${line}`);
  const start_ms = before_ms + PAUSE_MS;
  return { start_ms, end_ms: start_ms + text.split(' ').length * WORD_MS, speaker, text, questions: [] };
}
