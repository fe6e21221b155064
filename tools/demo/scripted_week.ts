import { SPEAKERS, WEEK } from './week.js';

/** A conversation of the scripted week. `day`: 0 is its Monday. Times are ms since midnight, or since it begins. */
export type ScriptedConversation = {
  day: number;
  at_ms: number;
  place: string;
  turns: ScriptedTurn[];
};

/** `questions`: what it is the answer to. */
export type ScriptedTurn = { start_ms: number; end_ms: number; speaker: string; text: string; questions: string[] };

const MINUTE_MS = 60_000;
/** Of speech, and between turns. */
const [WORD_MS, PAUSE_MS] = [380, 600];

/** The whole of it, in the order in which it is written. */
export function scriptedWeek(): ScriptedConversation[] {
  const conversations: ScriptedConversation[] = [];
  for (const line of WEEK.split('\n')) {
    if (line === '') continue;
    const conversation = conversations.at(-1);
    if (line.startsWith('# ')) conversations.push(conversationOf(line));
    else if (conversation === undefined) throw new Error(`nobody talks yet: ${line}`);
    else if (line.startsWith('? ')) conversation.turns.at(-1)?.questions.push(line.slice(2));
    else conversation.turns.push(turnOf(line, conversation.turns.at(-1)?.end_ms ?? 0));
  }
  return conversations;
}

function conversationOf(line: string): ScriptedConversation {
  const [, day, hours, minutes, place] = /^# (-?\d+) (\d\d):(\d\d) (.+)$/.exec(line) ?? [];
  if (place === undefined) throw new Error(`no conversation: ${line}`);
  return { day: Number(day), at_ms: (Number(hours) * 60 + Number(minutes)) * MINUTE_MS, place, turns: [] };
}

function turnOf(line: string, before_ms: number): ScriptedTurn {
  const [, letter = '', text = ''] = /^([A-Z]): (.+)$/.exec(line) ?? [];
  const speaker = SPEAKERS[letter];
  if (speaker === undefined) throw new Error(`no turn: ${line}`);
  const start_ms = before_ms + PAUSE_MS;
  return { start_ms, end_ms: start_ms + text.split(' ').length * WORD_MS, speaker, text, questions: [] };
}
