import t from 'tap';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { importFile } from '../../fixtures/importing.js';
import { audioFixture } from '../../fixtures/speech.js';
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
const chunkOf = async (id: string) =>
  (await ann.ask<{ items: { id: string }[] }>('GET', `/audio/streams/${id}/chunks`)).items[0]?.id;
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
  ];
  for (const [name, text, message] of rows)
    t.match(
      await bring(name, text),
      { status: 'failed', stream_id: null, error: { code: 'TRANSCRIPT_UNREADABLE', message } },
      name,
    );
  t.equal((await ann.ask<{ items: unknown[] }>('GET', '/audio/streams')).items.length, length);
});

await t.test(
  'K-412 K-447 hostile transcripts get a clear error, or harmless text, and leave nothing behind',
  async (t) => {
    const cue = (from: string, to: string, text: string) => `${from} --> ${to}\n${text}\n\n`;
    const million = `WEBVTT\n\n${'00:00.000 --> 00:01.000\nx\n\n'.repeat(700_000)}`.slice(0, 20 * 1024 * 1024 - 1);
    const nested = `${'['.repeat(5_000_000)}`;
    const rows: [name: string, text: string | Buffer, why: RegExp][] = [
      ['million.vtt', million, /more than 100000 cues/],
      ['nested.json', nested, /is JSON in more than 64 levels/],
      ['times.srt', `1\n99:59:59,000 --> 99:59:59,500\nLate.\n`, /times beyond 24 hours/],
      [
        'speakers.vtt',
        `WEBVTT\n\n${Array.from({ length: 70 }, (_, at) => cue('00:00.000', '00:01.000', `<v Person ${at}>Hi.`)).join('')}`,
        /more than 64 speakers/,
      ],
      ['zip.vtt', Buffer.from('PK\u0003\u0004not text'), /form that is not known/],
    ];
    const { length } = (await ann.ask<{ items: unknown[] }>('GET', '/audio/streams')).items;
    for (const [name, text, message] of rows)
      t.match(
        await importFile(importer, Buffer.from(text), { name }),
        { status: 'failed', stream_id: null, error: { code: 'TRANSCRIPT_UNREADABLE', message } },
        name,
      );
    t.equal((await ann.ask<{ items: unknown[] }>('GET', '/audio/streams')).items.length, length);
    const about = { import_ref: 'x', size_bytes: 10, sha256: 'a'.repeat(64) };
    for (const name of ['../a.vtt', 'a/b.vtt', '..\\a.vtt', '\u202ea.vtt', 'a\n.vtt'])
      t.equal(await ann.says('POST', '/audio/imports', { ...about, name }), '400 BAD_REQUEST', JSON.stringify(name));
    const large = { ...about, name: 'large.vtt', size_bytes: 2 ** 40 };
    t.equal(await ann.says('POST', '/audio/imports', large), '400 BAD_REQUEST');
    const answer = await ann.app.send('POST', '/audio/imports', { body: { ...large, size_bytes: 100_000_000 } });
    t.match(JSON.parse(answer.body.toString()), {
      error: { details: [{ path: 'size_bytes', message: 'must be at most 20971520 where the file is a transcript' }] },
    });

    const overlapping = `WEBVTT\n\n${cue('00:00.000', '00:09.000', '<v Ann>All the time.')}${cue('00:01.000', '00:00.500', '<v Tom>Backwards.')}${cue('00:01.000', '00:02.000', '<script>alert(1)</script>')}`;
    const done = await bring('--- title: x.vtt', overlapping);
    t.match(done, { status: 'done' });
    t.match(await turnsOf(done.stream_id as string), [
      { text: 'All the time.' },
      { text: 'Backwards.' },
      { text: 'alert(1)' },
    ]);
    await until('no piece of a file is left', async () => {
      const { blobs } = spool.server.services;
      for await (const key of blobs.list()) if (key.includes('imports')) return false;
      return true;
    });
  },
);

await t.test('K-427 K-458 a transcript behind its audio is its text, and no engine is asked', async (t) => {
  const audio = audioFixture('said.m4a');
  const joined = (text: string) => Buffer.concat([audio, Buffer.from(text)]);
  const bringBoth = (text: string, more: object = {}) =>
    importFile(importer, joined(text), {
      ...{ name: 'said.m4a', captured_at: '2026-11-01T10:00:00.000Z' },
      ...{ transcript_bytes: Buffer.byteLength(text), ...more },
    });
  const words = 'WEBVTT\n\n00:00.100 --> 00:01.000\n<v Tom>The xylophone is in the cellar.\n';
  const done = await bringBoth(words);
  t.match(done, { status: 'done', error: null, transcript_bytes: Buffer.byteLength(words) });
  const id = done.stream_id as string;
  const stream = await ann.ask<Stream>('GET', `/audio/streams/${id}`);
  t.match(stream, { title: 'said', chunks: 1, stored_chunks: 1, stored_bytes: audio.length });
  t.match(await turnsOf(id), [{ start_ms: 100, text: 'The xylophone is in the cellar.', speaker_name: 'Tom' }]);
  const content = await ann.app.send('GET', `/audio/chunks/${await chunkOf(id)}/content`);
  t.ok(audio.equals(content.body), 'the audio is as it was');
  const { waiting, covered } = await spool.server.services.actors.transcript(id).view();
  t.same(waiting, [], 'nothing waits for an engine');
  t.same(covered, [[0, stream.end_ms]]);
  t.equal((await bringBoth(words)).stream_id, id, 'the same again');

  const failed = await bringBoth('WEBVTT\n\n00:00.100 --> 05:00.000\nLonger.\n');
  t.match(failed, { status: 'failed', error: { code: 'TRANSCRIPT_UNREADABLE', message: /goes on after the audio/ } });
  t.match(await bringBoth('Dear Ann'), { status: 'failed', error: { message: /a form that is not known/ } });
  const about = { import_ref: 'x', size_bytes: 10, sha256: 'a'.repeat(64) };
  const says = (body: object) => ann.says('POST', '/audio/imports', { ...about, ...body });
  t.equal(await says({ name: 'a.m4a', transcript_bytes: 10 }), '400 BAD_REQUEST');
  t.equal(await says({ name: 'a.vtt', transcript_bytes: 5 }), '400 BAD_REQUEST');
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
