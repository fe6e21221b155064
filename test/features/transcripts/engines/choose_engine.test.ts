import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { transcriberShown } from '../../../../src/features/transcripts/engines/choose_engine.js';
import { readSettings } from '../../../../src/host/settings.js';
import { TestAccount } from '../../../fixtures/account.js';
import { TestSpool } from '../../../fixtures/spool.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';
import { TestRecording } from '../../../fixtures/transcribing.js';
import { until } from '../../../fixtures/until.js';

const MOONSHINE = ['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokens.txt'];
const WHISPER = ['small-encoder.onnx', 'small-decoder.onnx', 'small-tokens.txt'];
const PARAKEET = ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'];

function modelFolder(t: Parameters<typeof tempFolder>[0], name: string, files: readonly string[]): string {
  const folder = join(tempFolder(t), name);
  mkdirSync(folder);
  for (const file of files) writeFileSync(join(folder, file), '');
  return folder;
}

t.test('K-253 a server says which languages its model knows', async (t) => {
  const shown = (env: Record<string, string>) => transcriberShown(readSettings(env), {});
  const of = (name: string, files: readonly string[]) =>
    shown({ TRANSCRIBE_MODEL_DIR: modelFolder(t, name, files) }).languages;
  t.same(of('moonshine-base', MOONSHINE), ['en']);
  t.same(of('moonshine-base-es', MOONSHINE), ['es']);
  t.equal(of('whisper-small', WHISPER), null, 'it knows many');
  t.equal(of('parakeet-v3', PARAKEET)?.length, 25);
  t.equal(of('parakeet-v2', PARAKEET), null, 'nothing is known of it');
  t.equal(shown({ TRANSCRIBE_URL: 'http://speech.example/v1' }).languages, null);
  t.equal(shown({ TRANSCRIBE_BUILT_IN: '0' }).languages, null);
});

async function spanishSpool(t: Parameters<typeof tempFolder>[0]): Promise<{ spool: TestSpool; ann: TestAccount }> {
  const TRANSCRIBE_MODEL_DIR = modelFolder(t, 'moonshine-base-es', MOONSHINE);
  const env = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1', TRANSCRIBE_MODEL_DIR };
  const spool = await TestSpool.start(env);
  t.teardown(() => spool.end());
  return { spool, ann: await TestAccount.open(spool, 'ann@x.test') };
}

t.test('K-253 so do transcripts', async (t) => {
  const { ann } = await spanishSpool(t);
  const { id } = await TestRecording.begin(ann);
  t.match(await ann.ask('GET', `/audio/streams/${id}/transcript`), { engine: 'built_in', engine_languages: ['es'] });
});

t.test('K-437 operators see the model, its languages, and its memory while it runs', async (t) => {
  const { spool } = await spanishSpool(t);
  t.match(await spool.operator.call('GET /ops/content'), {
    transcriber: { model: 'moonshine-base-es', languages: ['es'] },
    speech_memory_bytes: null,
  });
});

t.test('K-438 a recording in a language that the model does not know says so, and which it knows', async (t) => {
  const { ann } = await spanishSpool(t);
  await ann.ask('PUT', '/profile', { revision: 0, languages: ['de'] });
  const recording = await TestRecording.begin(ann);
  await recording.add(5_000);
  await recording.end();
  const transcript = () => ann.ask<{ failed: unknown[] }>('GET', `/audio/streams/${recording.id}/transcript`);
  await until('it failed', async () => (await transcript()).failed.length > 0);
  t.match(await transcript(), { failed: [{ code: 'LANGUAGE_UNKNOWN' }], engine_languages: ['es'] });
});
