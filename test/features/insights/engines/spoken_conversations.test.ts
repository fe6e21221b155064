import t, { type Test } from 'tap';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { Extractive } from '../../../../src/features/insights/engines/extractive.js';
import type { InsightInput, RawSuggestion } from '../../../../src/features/insights/engines/insight_input.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { inputOf } from '../../../fixtures/insight_input.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

/** Whole conversations, and all that is to be found in them. */

type Expected = { turns: number[]; kind: string; owner?: string | null; due?: string; text: RegExp };

/** Lines such as `Ida: Hello.`; five seconds each. */
function conversation(began_at: string, time_zone: string, lines: readonly string[]): InsightInput {
  const names = [...new Set(lines.map((line) => line.split(': ', 1)[0] ?? ''))];
  const input = inputOf(lines.map((line) => line.slice(line.indexOf(': ') + 2)));
  const began_ms = Date.parse(began_at);
  const turns = input.turns.map((turn, at) => ({
    ...turn,
    at_ms: began_ms + turn.start_ms,
    speaker: lines[at]?.split(': ', 1)[0] ?? null,
  }));
  const people = names.map((name, at) => ({
    ...{ label: name, name, contact_id: null, is_self: at === 0 },
    who: { stream_id: turns[0]?.stream_id ?? '', speaker: at + 1 },
  }));
  return { ...input, started_at_ms: began_ms, ended_at_ms: began_ms + lines.length * 6_000, turns, people, time_zone };
}

/** A day, or a minute of it, there. */
function dueThere({ due_at, due_date }: RawSuggestion, time_zone: string): string | undefined {
  if (due_date !== undefined && due_date !== null) return due_date;
  if (due_at === null || due_at === undefined) return undefined;
  const format = { timeZone: time_zone, dateStyle: 'short', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat('sv-SE', format).format(new Date(due_at));
}

async function holds(t: Test, input: InsightInput, expected: readonly Expected[]): Promise<void> {
  const raw = await new Extractive().think(input);
  const found = raw.suggestions.map((one) => ({
    kind: one.kind,
    text: one.text ?? '',
    owner: one.owner ?? null,
    due: dueThere(one, input.time_zone ?? 'UTC'),
    turns: one.evidence?.map(({ turn }) => turn) ?? [],
  }));
  for (const { turns, kind, owner, due, text } of expected) {
    const at = found.findIndex((one) => one.kind === kind && one.turns.some((turn) => turns.includes(turn)));
    const [one] = at < 0 ? [] : found.splice(at, 1);
    t.match(one, { kind, text, ...(owner !== undefined && { owner }) }, `${kind} in turn ${turns.join(', ')}`);
    t.equal(one?.due, due, `due of turn ${turns.join(', ')}`);
  }
  t.same(found, [], 'nothing else');
  const keys = await openServerKeys(tempFolder(t));
  t.match(checkedInsights(raw, { input, keys, made_by: 'extractive' }), { ok: true, insights: { unsupported: 0 } });
}

t.test('K-201 neighbours prepare a street party', async (t) => {
  const input = conversation('2026-06-10T18:00:00+01:00', 'Europe/London', [
    'Ida: Hello everyone, can you all hear the music from next door?',
    'Tom: Sadly, yes.',
    'Ida: So, the street party. Last year it rained and we all stood in my hall.',
    'Tom: If I had a barn I would offer it.',
    'Raj: What about the church garden? They have a roof.',
    'Ida: I like that. Raj, would you ask the vicar?',
    'Raj: Sure, I see him on Sunday anyway.',
    'Ida: And the date. The fourth of July?',
    'Tom: Half the street is away then. Could we do the eleventh?',
    'Ida: The eleventh is fine for me.',
    'Raj: Works for me too.',
    'Ida: Good, then we meet on Saturday the eleventh of July at three.',
    'Tom: I will bring the long tables and the benches.',
    'Ida: Somebody has to tell the council about the closed road.',
    'Raj: I can write to them by Friday.',
    'Ida: Thank you. Who pays for the sausages?',
    'Tom: No idea. My butcher is cheap, though.',
    'Raj: My wife says I eat too many of them.',
    "Ida: And don't forget, the loudspeakers must be off before the night.",
    "Tom: I'd be the last to forget that.",
  ]);
  await holds(t, input, [
    { turns: [6, 7], kind: 'task', owner: 'Raj', due: '2026-06-14', text: /vicar/ },
    { turns: [5, 6], kind: 'decision', text: /church garden/ },
    { turns: [9, 10, 11, 12], kind: 'decision', due: '2026-07-11 15:00', text: /eleventh/ },
    { turns: [13], kind: 'task', owner: 'Tom', text: /^I will bring the long tables and the benches\.$/ },
    { turns: [14, 15], kind: 'task', owner: 'Raj', due: '2026-06-12', text: /council/ },
    { turns: [16, 17], kind: 'question', text: /^Who pays for the sausages\?$/ },
    { turns: [19], kind: 'reminder', text: /^Don't forget, the loudspeakers must be off before the night\.$/ },
  ]);
});

t.test('K-201 an office moves, with a task that one person hands on and another that is refused', async (t) => {
  const input = conversation('2026-09-14T09:00:00-04:00', 'America/New_York', [
    'Mara: Morning. Two weeks until the move, so let us go through the list.',
    'Olek: I still have boxes from the last one.',
    'Mara: Olek, can you order the lockers?',
    "Olek: I'd rather not, I have the cables. Maybe Sue.",
    'Sue: Fine, I will order them tomorrow.',
    'Mara: Great. What about the old desks?',
    'Olek: We could sell them.',
    "Sue: Nobody buys those. Let's give them to the school.",
    'Olek: Agreed.',
    'Mara: Good. Who has the keys of the new place?',
    'Sue: The landlord, until the first.',
    "Mara: I'm going to fetch them on the thirtieth, in the afternoon.",
    'Olek: Should I cancel the cleaners?',
    'Mara: Yes please, by the end of the month.',
    'Olek: Do we keep the plants?',
    "Sue: I honestly don't know yet. It depends on the light.",
    'Mara: Sue takes care of the signs from now on.',
    'Sue: Okay, happy to.',
    "Olek: I need a coffee, I'll be honest.",
    "Mara: Then that's it. We meet again next Monday at half past nine.",
  ]);
  await holds(t, input, [
    { turns: [3, 5], kind: 'task', owner: 'Sue', due: '2026-09-15', text: /lockers/ },
    { turns: [8, 9], kind: 'decision', text: /school/ },
    { turns: [12], kind: 'task', owner: 'Mara', due: '2026-09-30', text: /fetch/ },
    { turns: [13, 14], kind: 'task', owner: 'Olek', due: '2026-09-30', text: /^Cancel the cleaners\.$/ },
    { turns: [15, 16], kind: 'question', text: /^Do we keep the plants\?$/ },
    { turns: [17, 18], kind: 'task', owner: 'Sue', text: /signs/ },
    { turns: [17, 18], kind: 'decision', text: /signs/ },
    { turns: [20], kind: 'reminder', due: '2026-09-21 09:30', text: /^We meet again next Monday at half past nine\.$/ },
  ]);
});

t.test('K-201 a band on the road, as an engine writes it that knows no punctuation', async (t) => {
  const input = conversation('2026-03-05T20:00:00+01:00', 'Europe/Rome', [
    'Lea: so the concert in bologna is on the twentieth who drives',
    'Nico: i can drive but my van has no heating',
    'Lea: okay ben can you ask your uncle for the big one',
    "Ben: yes i'll ask him tonight",
    'Nico: what do we play first',
    'Lea: the slow one maybe',
    'Ben: no not the slow one again',
    "Nico: let's open with the waltz",
    'Ben: sounds good',
    'Lea: all right the waltz it is',
    'Lea: and somebody needs to print the posters',
    "Ben: i'll do that on monday",
    'Nico: i used to print them at school',
    'Lea: is the hotel paid for',
    'Ben: no idea',
    "Nico: i have to feed my cat that's why i can't stay",
    "Lea: please don't forget your passports the border is strict",
    'Ben: very funny',
  ]);
  await holds(t, input, [
    { turns: [3, 4], kind: 'task', owner: 'Ben', due: '2026-03-05', text: /uncle/ },
    { turns: [8, 9, 10], kind: 'decision', text: /waltz/ },
    { turns: [11, 12], kind: 'task', owner: 'Ben', due: '2026-03-09', text: /posters/ },
    { turns: [14, 15], kind: 'question', text: /^Is the hotel paid for\?$/ },
    { turns: [17], kind: 'reminder', text: /passports/ },
  ]);
});
