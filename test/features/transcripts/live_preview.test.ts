import pino from 'pino';
import t from 'tap';
import type { LivePreview } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { LiveReader } from '../../fixtures/live_text.js';
import { LENGTHS_MS, NO_MODEL, SAID, SAID_MS, spokenFile } from '../../fixtures/speech.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const SPEAKS = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1' };

t.test('K-173 preliminary lines come before turns, and nothing keeps them', { skip: NO_MODEL }, async (t) => {
  const lines: string[] = [];
  const spool = await TestSpool.start(SPEAKS, pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }));
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await TestRecording.begin(ann);
  const reader = await LiveReader.open(ann, recording.id);
  await ann.newEvents();
  await recording.add(SAID_MS, { file: spokenFile('said.opus') });
  await until('preliminary lines are there', () => reader.preview.lines.length > 0);
  const textOf = ({ lines: shown }: LivePreview) => shown.map(({ text }) => text).join(' ');
  t.equal(textOf(reader.preview), SAID.join(' '));
  t.same(reader.turns, [], 'before any turn');
  t.same(await ann.newEvents(), [], 'and no event');
  t.same(await ann.ask('GET', '/search?q=supplier'), { items: [], cursor: null }, 'nor are they found');

  await recording.add(SAID_MS, { file: spokenFile('said.mp3') });
  await recording.end();
  await reader.hasEnded();
  t.same(reader.texts, [...SAID, ...SAID]);
  t.same(reader.preview.lines, [], 'turns took the place of all lines');
  const kinds = reader.events.map(({ event }) => event);
  t.ok(kinds.indexOf('preview') < kinds.indexOf('turns'));
  t.equal(kinds.at(-1), 'end');
  t.notOk(
    lines.some((line) => line.includes('supplier')),
    'no log says what was said',
  );
});

t.test('K-173 two readers share the lines, and what no model knows has none', { skip: NO_MODEL }, async (t) => {
  const spool = await TestSpool.start(SPEAKS);
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await TestRecording.begin(ann);
  const [one, other] = [await LiveReader.open(ann, recording.id), await LiveReader.open(ann, recording.id)];
  await recording.add(SAID_MS, { file: spokenFile('said.opus') });
  await until('both have lines', () => [one, other].every(({ preview }) => preview.lines.length > 0));
  t.same(one.preview, other.preview);
  one.close();
  other.close();

  await ann.ask('PUT', '/profile', { revision: 0, languages: ['de'] });
  const german = await TestRecording.begin(ann);
  const reader = await LiveReader.open(ann, german.id);
  await german.add(LENGTHS_MS.de as number, { file: spokenFile('de.opus') });
  await german.end();
  await reader.hasEnded();
  t.same(
    reader.events.map(({ event }) => event),
    ['end'],
  );
});
