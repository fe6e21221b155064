import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { tone } from '../fixtures/transcribing.js';

/** Clients that ask for the text of a file: OpenAI's of Python, and requests as other programs build them. */

const SAID = 'Water the roses on Friday.';
const AUDIO = tone(4_000, [{ text: SAID, start_ms: 1_000, end_ms: 3_000 }], 16_000).bytes;
/** One that has the package `openai`. */
const PYTHON = process.env.OPENAI_PYTHON ?? '/usr/bin/python3';
const PROGRAM = fileURLToPath(new URL('../../../test/interop/openai_client.py', import.meta.url));

const engine = await ScriptedEngine.start(t);
const spool = await TestSpool.start({ RATE_LIMITS: 'off', TRANSCRIBE_URL: engine.url });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const body = { name: 'Dictation', permissions: ['transcriptions:write'], expires_at: null };
const { value: key } = await ann.ask<{ value: string }>('POST', '/me/tokens', body);
const url = `${spool.base_url}/v1/audio/transcriptions`;

await t.test('K-400 K-403 the client of OpenAI for Python', async (t) => {
  if (spawnSync(PYTHON, ['-c', 'import openai']).status !== 0) {
    console.log('not run: the client of OpenAI for Python, since OPENAI_PYTHON names no Python that has it');
    return;
  }
  const file = join(tempFolder(t), 'said.wav');
  writeFileSync(file, AUDIO);
  const given = JSON.stringify({ key, base_url: `${spool.base_url}/v1`, file });
  const { stdout } = await promisify(execFile)(PYTHON, [PROGRAM, given]);
  t.match(JSON.parse(stdout), {
    text: SAID,
    srt: /^1\n00:00:01,000 --> 00:00:03,000\nWater/,
    segments: [SAID],
    words: 5,
    deltas: SAID,
    done: SAID,
    refused: { param: 'response_format', code: 'unsupported_value' },
    stranger: 401,
    models: [/./, 'whisper-1', 'spool-keep'],
  });
});

type Part = { name: string; value: string | Uint8Array; file_name?: string; type?: string };

/** A form as programs write it that put it together by themselves. */
function formOf(boundary: string, parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ name, value, file_name, type }) => {
    const named = file_name === undefined ? '' : `; filename="${file_name}"`;
    const typed = type === undefined ? '' : `\r\nContent-Type: ${type}`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${named}${typed}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

type Program = { title: string; origin?: string; parts: Part[]; says: unknown };
const file = (file_name: string, type: string): Part => ({ name: 'file', value: AUDIO, file_name, type });
const PROGRAMS: Program[] = [
  {
    title: "Obsidian's Whisper plugin",
    origin: 'app://obsidian.md',
    parts: [file('2026-11-29T10-00-00.wav', 'audio/wav'), { name: 'model', value: 'whisper-1' }],
    says: { text: SAID },
  },
  {
    title: 'VoiceInk',
    parts: [
      file('audio.wav', 'audio/wav'),
      { name: 'model', value: 'large-v3' },
      { name: 'response_format', value: 'json' },
      { name: 'temperature', value: '0' },
      { name: 'language', value: 'en' },
    ],
    says: { text: SAID },
  },
  {
    title: 'n8n, the file last',
    parts: [
      { name: 'model', value: 'whisper-1' },
      { name: 'language', value: 'en' },
      { name: 'temperature', value: '0' },
      file('data', 'application/octet-stream'),
    ],
    says: { text: SAID },
  },
  {
    title: 'Home Assistant',
    parts: [
      { name: 'model', value: 'whisper-1' },
      { name: 'language', value: 'en' },
      { name: 'temperature', value: '0' },
      { name: 'prompt', value: '' },
      { name: 'response_format', value: 'json' },
      file('audio.wav', 'audio/wav'),
    ],
    says: { text: SAID },
  },
  {
    title: 'a client of whisper.cpp',
    parts: [
      file('audio.wav', 'audio/wav'),
      { name: 'model', value: 'x' },
      { name: 'temperature_inc', value: '0.2' },
      { name: 'response_format', value: 'verbose_json' },
    ],
    says: { text: SAID, segments: [{ text: SAID }] },
  },
];

for (const { title, origin, parts, says } of PROGRAMS)
  await t.test(`K-400 the request of ${title}`, async (t) => {
    const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW';
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        ...(origin !== undefined && { Origin: origin }),
      },
      body: new Uint8Array(formOf(boundary, parts)),
    });
    t.equal(answer.status, 200);
    if (origin !== undefined) t.equal(answer.headers.get('access-control-allow-origin'), '*');
    t.match(await answer.json(), says as object);
  });
