import t, { type Test } from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import type { InputTurn, InsightInput } from '../../../../src/features/insights/engines/insight_input.js';
import { builtInEngine } from '../../../fixtures/built_in_engine.js';
import { inputOf } from '../../../fixtures/insight_input.js';

/** Short dialogues of Ann, Bob and Cleo, and the one item that is in each. */

const NAMES: Record<string, string> = { A: 'Ann', B: 'Bob', C: 'Cleo' };
const engine = builtInEngine();

/** `A: …` says who speaks; a small letter, that the engine writes no punctuation. */
function dialogue(lines: readonly string[], more: Partial<InsightInput> = {}): InsightInput {
  const input = inputOf(lines.map((line) => line.slice(3)));
  const turns = input.turns.map((turn, at): InputTurn => ({ ...turn, speaker: lines[at]?.[0]?.toUpperCase() ?? null }));
  const people = Object.entries(NAMES).map(([label, name], at) => ({
    ...{ label, name, contact_id: null, is_self: at === 0 },
    who: { stream_id: turns[0]?.stream_id ?? '', speaker: at + 1 },
  }));
  return { ...input, turns, people, ...more };
}

async function itemsOf(lines: readonly string[], more: Partial<InsightInput> = {}): Promise<string[]> {
  const { suggestions } = await engine.think(dialogue(lines, more));
  return suggestions.map(({ kind, owner, text }) => `${kind} ${owner ?? '-'} ${text}`);
}

type ItemRow = [lines: string, item: string | null];

async function hold(t: Test, rows: readonly ItemRow[]): Promise<void> {
  for (const [lines, item] of rows) t.same(await itemsOf(lines.split(' / ')), item === null ? [] : [item], lines);
}

t.test('K-201 who promises, accepts or takes something is its owner', async (t) => {
  await hold(t, [
    ["A: I'll have a word with the landlord. / B: Good.", "task A I'll have a word with the landlord."],
    ['A: Bob, can you order the chairs, please? / B: Sure.', 'task B Order the chairs.'],
    ['A: Cleo, will you feed the cat? / C: I will.', 'task C Feed the cat.'],
    ["A: Can you paint the fence? / B: I'd rather not. / A: All right.", null],
    ['A: Should I cancel the cleaners? / B: Yes please.', 'task A Cancel the cleaners.'],
    ['A: Do I have to bring a towel? / B: No.', null],
    ['A: I can water the plants. / B: Thank you.', 'task A I can water the plants.'],
    ['A: I can water the plants. / B: Hm.', null],
    ['A: Then Bob takes care of the tickets. / B: Fine with me.', 'task B Bob takes care of the tickets.'],
    ["A: Somebody has to clear the attic. / C: I'll do that.", "task C Somebody has to clear the attic: I'll do that."],
    ['A: Bob, you could ask the vet. / B: Good idea, I will.', 'task B Ask the vet.'],
    ['a: bob can you bring the drill / b: yeah sure', 'task B Bring the drill.'],
    [
      'A: I will get back to the bank about the loan. / B: Okay.',
      'follow_up A I will get back to the bank about the loan.',
    ],
  ]);
});

t.test('K-202 a decision is what people settle, and a proposal that others agree to', async (t) => {
  await hold(t, [
    ['A: Then we go with the oak table. / B: Yes.', 'decision - We go with the oak table.'],
    ["A: Let's cancel the second workshop. / B: Agreed.", "decision - Let's cancel the second workshop."],
    ["A: Let's cancel the second workshop. / B: No, people like it.", null],
    [
      'A: We could hold it in the gym. / B: The gym is fine. / A: Good, the gym.',
      'decision - We could hold it in the gym.',
    ],
    [
      'A: How about Tuesday? / B: Tuesday is bad. Wednesday? / A: Wednesday it is.',
      'decision - Tuesday is bad: Wednesday it is.',
    ],
    ['A: The lake or the hills? / B: The hills. / A: Okay, the hills.', 'decision - The lake or the hills? The hills.'],
    ['a: what about rice / b: we had rice yesterday / a: noodles then / b: yes noodles', 'decision - Noodles then.'],
    ['A: Shall we sell the van? / B: Good idea.', 'decision - Shall we sell the van?'],
    ['A: We could fly there. / B: No, too expensive.', null],
    ["A: Let's move on to the next topic. / B: Okay.", null],
    ['A: From now on the keys stay in the office. / B: Fine.', 'decision - From now on the keys stay in the office.'],
    [
      'A: If the rain stops by noon, we play outside. / B: Agreed.',
      'decision - If the rain stops by noon, we play outside.',
    ],
  ]);
});

t.test('K-203 an open question is one of which somebody says that nobody knows', async (t) => {
  await hold(t, [
    ['A: Who pays for the damage? / B: No idea.', 'question - Who pays for the damage?'],
    ['A: Will the bridge be open by spring? / B: Hard to say.', 'question - Will the bridge be open by spring?'],
    ['a: is the hotel paid for / b: no idea', 'question - Is the hotel paid for?'],
    ['A: How old is the roof? / B: Forty years.', null],
  ]);
});

t.test('K-204 reminders, meetings and deadlines', async (t) => {
  await hold(t, [
    ["A: And don't forget, the gas must be off. / B: Right.", "reminder - Don't forget, the gas must be off."],
    ['A: Keep in mind that the bridge is closed. / B: True.', 'reminder - Keep in mind that the bridge is closed.'],
    ['A: We meet again next Monday at nine. / B: Good.', 'reminder - We meet again next Monday at nine.'],
    ['A: The licence expires at the end of April. / B: Noted.', 'reminder - The licence expires at the end of April.'],
    ['A: Before I forget, how was the film? / B: Long.', null],
    ["A: Don't remind me. / B: Ha.", null],
    ['A: Do you remember the old office? / B: Yes.', null],
  ]);
});

t.test('K-206 a text is a whole sentence with what it speaks of', async (t) => {
  await hold(t, [
    ["A: Okay, so, um, I'll, I'll send the, the keys, okay? / B: Yes.", "task A I'll send the keys."],
    ['A: And I will paint the door, / B: Good.', 'task A I will paint the door.'],
    ["a: okay i'll ring bob's mother on sunday / b: right", "task A I'll ring Bob's mother on Sunday."],
    [
      'A: The cellar door is broken. I will fix it on Monday. / B: Good.',
      'task A The cellar door is broken: I will fix it on Monday.',
    ],
  ]);
});

t.test('K-207 no matter comes twice', async (t) => {
  await hold(t, [
    [
      "A: I'll send the contract to the lawyer. / B: So who sends it? / A: I'll send the contract to the lawyer.",
      "task A I'll send the contract to the lawyer.",
    ],
    ["A: Bob, can you book the boat? / B: Sure, I'll book the boat.", 'task B Book the boat.'],
    ["A: Let's take the train. / B: Agreed. / A: Good, then we take the train.", 'decision - We take the train.'],
  ]);
});

t.test('K-208 hypotheticals, excuses, answers and courtesies are no items', async (t) => {
  await hold(t, [
    ['A: If I had a boat I would sail to Malta. / B: Ha.', null],
    ['A: I have to leave at four, my son has a match. / B: Okay.', null],
    ["A: I'll be honest, I hated it. / B: Me too.", null],
    ["A: I'll write that down. / B: Do.", null],
    ['A: Can you hear me? / B: Yes.', null],
    ["A: I'll never understand this. / B: No.", null],
    ['A: You should have called me. / B: I know.', null],
    ['A: I used to send them by post. / B: Really?', null],
    ["A: We'll see. / B: Yes.", null],
    ["A: I'll look at it at some point. / B: Fine.", null],
  ]);
});

t.test('K-209 a long conversation is looked through in slices, and long turns cost little', async (t) => {
  const lines = [
    'A: Bob, can you call the mayor tomorrow at nine?',
    'B: Sure.',
    'A: Then we go with the oak.',
    'B: Who knows?',
  ];
  const turns = dialogue(lines).turns;
  const many = Array.from({ length: LIMITS.conversation_turns_max }, (_, at): InputTurn => {
    const turn = turns[at % turns.length] as InputTurn;
    return { ...turn, number: at + 1, start_ms: at * 6_000, end_ms: at * 6_000 + 5_000, text: `${turn.text} ${at}` };
  });
  let ended = false;
  let between = 0;
  const count = () => {
    between += 1;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  const { suggestions } = await engine.think(dialogue(lines, { turns: many }));
  ended = true;
  t.ok(suggestions.length <= LIMITS.suggestions_per_result_max);
  t.ok(between > 20, 'others had their turn meanwhile');
  for (const word of ['so ', 'no ', "i'll ", 'if ', 'okay, ', 'the ', 'at nine ', 'please ', 'a'])
    t.same(await itemsOf([`A: ${word.repeat(5_000 / word.length)}`, 'B: Yes.']), [], word);
});

t.test('K-208 what somebody else said is no task of whoever tells it', async (t) => {
  await hold(t, [
    ['A: He said, I will call you tomorrow. / B: Good.', null],
    ['A: She texted, sorry, I will bring the keys on Monday. / B: Good.', null],
    ['A: My brother wrote, we will bring the tent on Friday. / B: Good.', null],
    ['A: The landlord was like, yes, I will fix the heating tomorrow. / B: Good.', null],
    ['A: And then Peter goes, I will repair the car on Monday. / B: Good.', null],
    ['A: She said I will send the contract on Monday. / B: Good.', null],
    ['A: "I will fix the heating tomorrow," he told me. / B: Good.', null],
    ['A: “We will paint it on Monday,” the neighbours said. / B: Good.', null],
    ['A: I will fix it tomorrow, she promised. / B: Good.', null],
    ['A: He told me, please send the papers on Monday. / B: Good.', null],
    ['a: he said i will call you tomorrow / b: good', null],
    [
      'A: I told him that I will call the bank on Monday. / B: Good.',
      'task A I told him that I will call the bank on Monday.',
    ],
    ['A: I said, I will call the bank on Monday. / B: Good.', 'task A I said, I will call the bank on Monday.'],
    [
      'A: He said that he is late, so I will call the bank on Monday. / B: Good.',
      'task A He said that he is late, so I will call the bank on Monday.',
    ],
    [
      'A: The desk looks like new, I will sell it on Monday. / B: Good.',
      'task A The desk looks like new, I will sell it on Monday.',
    ],
  ]);
});

t.test('K-201 what was done already, refused or taken back is no task', async (t) => {
  for (const done of [
    'I did that already.',
    'Already done.',
    'I already watered them.',
    "Yes, that's done.",
    'We did that.',
    'Cleo has watered them already.',
    'No, I will not.',
    "I'm not going to.",
  ])
    t.same(await itemsOf(['A: Bob, please water the plants tomorrow.', `B: ${done}`, 'A: Great.']), [], done);
  for (const taken of ['Yes, I will.', "I'm already on it.", "It's already late, but I'll do it."])
    t.match(
      await itemsOf(['A: Bob, please water the plants tomorrow.', `B: ${taken}`]),
      [/^task B Water the plants/],
      taken,
    );
  for (const back of [
    'Actually, do not, he came this morning.',
    "Don't, he is away.",
    'No need, he came.',
    "You don't have to.",
  ])
    t.same(await itemsOf(['A: I will call the plumber tomorrow.', `B: ${back}`]), [], back);
  t.match(await itemsOf(['A: I will call the plumber tomorrow.', "B: Don't forget the sink."]), [/^(?:task|reminder)/]);
});

t.test('K-201 a request that names a day counts without an answer', async (t) => {
  for (const asked of [
    'Can you send me the invoice by Friday?',
    'Could you call the roofer tomorrow?',
    'Would you bring the ladder on Saturday?',
    'Bob, will you return the drill by the end of the month?',
  ]) {
    const lines = ['A: The roof has to be ready.', `A: ${asked}`, 'B: The wood is dry this year.', 'A: It was.'];
    t.equal((await itemsOf(lines)).length, 1, asked);
    t.same(await itemsOf([...lines.slice(0, 2), 'B: No, I have no time.', 'A: It was.']), [], asked);
  }
  for (const asked of ['How was the weather on Friday?', 'Were you there on Monday?', 'Can you hear me today?'])
    t.same(await itemsOf([`A: ${asked}`, 'B: The wood is dry this year.', 'A: It was.']), [], asked);
});
