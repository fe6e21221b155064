import t from 'tap';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { importFile } from '../../fixtures/importing.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const importer = { app: ann.app, base_url: spool.base_url };
const bring = (name: string, text: string, more: object = {}) =>
  importFile(importer, Buffer.from(text), { name, captured_at: '2026-11-01T10:00:00.000Z', ...more });

type Turn = {
  id: string;
  start_ms: number;
  end_ms: number;
  text: string;
  speaker: string | null;
  speaker_name: string | null;
};
const turnsOf = async (id: string) => (await ann.ask<{ items: Turn[] }>('GET', `/turns?stream_id=${id}`)).items;
const contacts = async () => (await ann.ask<{ items: { id: string; name: string }[] }>('GET', '/contacts')).items;

const TALK = `WEBVTT

00:00:01.000 --> 00:00:04.000
<v Mira Holm>I will send the samples to the workshop on Friday.

00:00:05.000 --> 00:00:07.000
<v Tom>Good, the xylophone is in the cellar.

00:11:00.000 --> 00:11:03.000
<v Mira Holm>We decided to paint the hall green.
`;

await t.test('K-413 a transcript becomes a recording with its turns', async (t) => {
  const mira = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'mira holm' });
  const done = await bring('Talk with Tom.vtt', TALK);
  t.match(done, { status: 'done', captured_at: '2026-11-01T10:00:00.000Z', captured_at_by: 'caller', error: null });
  const id = done.stream_id as string;
  const stream = await ann.ask<Stream>('GET', `/audio/streams/${id}`);
  t.match(stream, { title: 'Talk with Tom', chunks: 0, end_ms: 663_000 });
  t.match(await turnsOf(id), [
    { start_ms: 1_000, end_ms: 4_000, text: /samples/, speaker: 'S1', speaker_name: 'mira holm' },
    { start_ms: 5_000, speaker: 'S2', speaker_name: 'Tom' },
    { start_ms: 660_000, speaker: 'S1', speaker_name: 'mira holm' },
  ]);
  t.same((await contacts()).map(({ name }) => name).sort(), ['Tom', 'mira holm']);
  t.ok(
    (await contacts()).some((one) => one.id === mira.id),
    'who is known stays who it is',
  );

  await t.test('it is found', async (t) => {
    const found = await ann.ask<{ items: { stream_id: string }[] }>('GET', '/search?q=xylophone');
    t.equal(found.items[0]?.stream_id, id);
  });
  await t.test('insights are made of it', async () => {
    await until('there is a task', async () => {
      const { items } = await ann.ask<{ items: { text: string }[] }>('GET', '/suggestions');
      return items.some(({ text }) => /samples/.test(text));
    });
  });
  await t.test('it is text to save', async (t) => {
    const answer = await ann.app.send('GET', `/audio/streams/${id}/transcript/text?format=txt`);
    t.match(answer.body.toString(), /Tom: Good/);
  });
  await t.test('events tell of it', async (t) => {
    const { items } = await ann.ask<{ items: { type: string }[] }>('GET', '/events?limit=100');
    const types = new Set(items.map(({ type }) => type));
    for (const type of ['stream.created', 'turn.created', 'stream.updated']) t.ok(types.has(type), type);
  });
  await t.test('the same file again is the same recording', async (t) => {
    t.equal((await bring('Talk with Tom.vtt', TALK)).stream_id, id);
    t.equal((await turnsOf(id)).length, 3);
  });
  await t.test('it is deleted like any other', async (t) => {
    await ann.ask('DELETE', `/audio/streams/${id}`);
    t.equal((await ann.app.send('GET', `/turns?stream_id=${id}`)).status, 404);
  });
});

await t.test('K-413 a file that says when it was recorded is believed; labels of programs are no people', async (t) => {
  const before = (await contacts()).length;
  const text = JSON.stringify({
    date: 1_767_225_600_000,
    sentences: [
      { text: 'Hello.', start_time: 0, end_time: 1, speaker_id: 0 },
      { text: 'Good morning.', start_time: 1, end_time: 2, speaker_id: 1 },
    ],
  });
  const done = await bring('call.json', text, { captured_at: undefined });
  t.match(done, { status: 'done', captured_at: '2026-01-01T00:00:00.000Z', captured_at_by: 'metadata' });
  t.match(await turnsOf(done.stream_id as string), [{ speaker: 'S1', speaker_name: null }, { speaker: 'S2' }]);
  t.equal((await contacts()).length, before);
});

await t.test('K-412 one that cannot be read becomes nothing, and says why', async (t) => {
  const { length } = (await ann.ask<{ items: unknown[] }>('GET', '/audio/streams')).items;
  const rows: [name: string, text: string, why: RegExp][] = [
    ['letter.txt', 'Dear Ann', /^The transcript has a form that is not known\.$/],
    ['half.json', '{"segments": [', /^The transcript is no JSON\.$/],
    ['dense.srt', dense(), /more than 1024 lines in ten minutes/],
    ['large.vtt', `WEBVTT\n\n${'x'.repeat(21 * 1024 * 1024)}`, /more than 20 MiB/],
  ];
  for (const [name, text, message] of rows)
    t.match(
      await bring(name, text),
      { status: 'failed', stream_id: null, error: { code: 'TRANSCRIPT_UNREADABLE', message } },
      name,
    );
  t.equal((await ann.ask<{ items: unknown[] }>('GET', '/audio/streams')).items.length, length);
});

/** More lines in ten minutes than can be read. */
function dense(): string {
  const at = (index: number) =>
    `00:0${Math.floor(index / 240)}:${String(Math.floor((index % 240) / 4)).padStart(2, '0')},${(index % 4) * 250}`;
  return Array.from(
    { length: 1_100 },
    (_, index) => `${index}\n${at(index)} --> ${at(index)}\nLine number ${index}.\n`,
  ).join('\n');
}
