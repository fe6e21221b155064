import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Slices } from '../../../../src/engine/time/slices.js';
import { chosenItems, itemChances } from '../../../../src/features/insights/learned/item_finder.js';
import { isMemo, memoItems } from '../../../../src/features/insights/learned/memo_finder.js';
import { readTalkModel, TALK_MODEL, talkModelBytes } from '../../../../src/features/insights/learned/talk_model.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const model = readTalkModel(TALK_MODEL);
const NONE = { task: 0.01, decision: 0.01, question: 0.01, reminder: 0.01 };
const talk = {
  utterances: [
    { speaker: 'A', text: 'Can you send the samples to the lab?' },
    { speaker: 'B', text: 'Yes, I will send them on Thursday.' },
    { speaker: 'A', text: 'And do not forget, the gate is closed on Friday.' },
  ],
  names: ['Ann', 'Bob'],
};

t.test('a model that was written and read again answers the same', async (t) => {
  const path = join(tempFolder(t), 'talks.model');
  const bytes = talkModelBytes(model);
  t.ok(bytes.length <= 2_000_000, `${bytes.length} bytes`);
  writeFileSync(path, bytes);
  const chances = await itemChances(model.items, talk, new Slices());
  const again = await itemChances(readTalkModel(path).items, talk, new Slices());
  for (const [kind, own] of Object.entries(chances))
    for (const [at, chance] of own.entries())
      t.ok(Math.abs(chance - (again[kind as keyof typeof again][at] as number)) < 1e-6, `${kind} ${at}`);
  const noted = ['Sharpen the chisels.', 'It rained.', 'Dentist on Monday at ten.'].map((text) => ({
    text,
    chances: NONE,
  }));
  const items = memoItems(model.memos, noted);
  t.same(items, [
    { at: 0, kind: 'task' },
    { at: 2, kind: 'reminder' },
  ]);
  t.same(memoItems(readTalkModel(path).memos, noted), items);
});

t.test('a file of another version is refused', async (t) => {
  const path = join(tempFolder(t), 'talks.model');
  const bytes = gunzipSync(talkModelBytes(model));
  const length = bytes.readUInt32BE(0);
  const header = { ...JSON.parse(bytes.toString('utf8', 4, 4 + length)), version: 1 };
  const json = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(json.length);
  writeFileSync(path, gzipSync(Buffer.concat([size, json, bytes.subarray(4 + length)])));
  t.throws(() => readTalkModel(path), /version 1, not 2/);
});

t.test('K-207 of one kind there is one item within two utterances, the likeliest', async (t) => {
  const none = [0, 0, 0, 0, 0, 0];
  const chances = { task: [0.45, 0.2, 0.8, 0.1, 0.1, 0.7], decision: none, question: none, reminder: none };
  const bounds = { task: 0.4, decision: 0.4, question: 0.4, reminder: 0.4 };
  t.same(
    chosenItems(chances, bounds).map(({ at }) => at),
    [2, 5],
  );
  const both = { ...chances, reminder: [0, 0, 0.49, 0, 0, 0] };
  t.same(
    chosenItems(both, bounds).map(({ kind }) => kind),
    ['task', 'task'],
    'an utterance is of one kind unless both are sure',
  );
});

t.test('K-475 a piece of a conversation is no memo, although nobody knows who spoke', (t) => {
  for (const [said, is_memo] of [
    [['Call the dentist.'], true],
    [['Moth trap report.', 'Forty two species, two of them new.', 'Order more egg boxes.'], true],
    [['Can you send the samples?', 'Yeah, I can do that.', 'Great, thanks.'], false],
    [['Did you call the dentist?', 'No, not yet.', "Okay, I'll do it then."], false],
  ] as const)
    t.equal(isMemo(model.memos, said), is_memo, said.join(' '));
  t.end();
});
