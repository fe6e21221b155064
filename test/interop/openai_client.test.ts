import OpenAI, { toFile } from 'openai';
import t from 'tap';
import { disagreementOf } from '../../src/engine/speech/agreement.js';
import { TestAccount } from '../fixtures/account.js';
import { audioFixture, NO_MODEL, SAID } from '../fixtures/speech.js';
import { TestSpool } from '../fixtures/spool.js';

/** OpenAI's own client, and the built-in engine. */

const WORDS_WRONG_MAX = 0.1;
const MODEL = 'gpt-4o-mini-transcribe';

await t.test('K-400 K-403 K-404 the client of OpenAI gets what is said', { skip: NO_MODEL }, async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', TRANSCRIBE_BUILT_IN: '1' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const body = { name: 'Dictation', permissions: ['transcriptions:write'], expires_at: null };
  const { value: apiKey } = await ann.ask<{ value: string }>('POST', '/me/tokens', body);
  const client = new OpenAI({ apiKey, baseURL: `${spool.base_url}/v1`, maxRetries: 0 });
  const file = (name: string) => toFile(audioFixture(name), name);
  const isSaid = (text: string) => disagreementOf(SAID.join(' '), text) <= WORDS_WRONG_MAX;

  for (const name of ['said.mp3', 'said.m4a', 'said.webm', 'said.ogg', 'said.flac']) {
    const { text } = await client.audio.transcriptions.create({ model: MODEL, file: await file(name) });
    t.ok(isSaid(text), `${name}: ${text}`);
  }
  const verbose = await client.audio.transcriptions.create({
    ...{ model: 'whisper-1', file: await file('said.mp3'), language: 'en', response_format: 'verbose_json' },
  });
  t.equal(verbose.segments?.length, SAID.length);
  t.equal(verbose.language, 'english');
  const events = await client.audio.transcriptions.create({ model: MODEL, file: await file('said.mp3'), stream: true });
  let [deltas, done] = ['', ''];
  for await (const event of events) {
    if (event.type === 'transcript.text.delta') deltas += event.delta;
    if (event.type === 'transcript.text.done') done = event.text;
  }
  t.ok(isSaid(done), done);
  t.equal(deltas, done);
  const srt = await client.audio.transcriptions.create({
    ...{ model: 'whisper-1', file: await file('said.mp3'), response_format: 'srt' },
  });
  t.match(srt, /^1\n00:00:/);

  const german = client.audio.transcriptions.create({ model: MODEL, file: await file('said.mp3'), language: 'de' });
  const refused = await german.catch((error: unknown) => error);
  t.ok(refused instanceof OpenAI.BadRequestError);
  t.match(refused, { param: 'language', code: 'unsupported_value', type: 'invalid_request_error' });
  const stranger = new OpenAI({ apiKey: 'sk-none', baseURL: `${spool.base_url}/v1`, maxRetries: 0 });
  t.ok((await stranger.models.list().catch((error: unknown) => error)) instanceof OpenAI.AuthenticationError);
  const names = [];
  for await (const { id } of client.models.list()) names.push(id);
  t.match(names, [/moonshine/, 'whisper-1', 'spool-keep']);
});
