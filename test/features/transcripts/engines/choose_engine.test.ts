import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BUILT_IN_MODEL } from '../../../../src/engine/speech/speech_model.js';
import {
  openSpeechProcess,
  transcriberShown,
  transcriptionEngines,
} from '../../../../src/features/transcripts/engines/choose_engine.js';
import type { Engine } from '../../../../src/features/transcripts/engines/engine.js';
import { installModel } from '../../../../src/features/transcripts/speech_models/install_model.js';
import { chooseModel } from '../../../../src/features/transcripts/speech_models/installed_models.js';
import { transcribeWindow } from '../../../../src/features/transcripts/transcribe_window.js';
import { withUsableEngines } from '../../../../src/host/server/usable_engines.js';
import { readSettings, type Settings } from '../../../../src/host/settings.js';
import { TestAccount } from '../../../fixtures/account.js';
import { packedModel } from '../../../fixtures/model_archive.js';
import { NO_MODEL, SAID, SAID_MS, spokenFile } from '../../../fixtures/speech.js';
import { TestSpool } from '../../../fixtures/spool.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';
import { TestRecording } from '../../../fixtures/transcribing.js';
import { until } from '../../../fixtures/until.js';
import { StoredStream } from '../../../fixtures/window.js';

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
    voices_memory_bytes: null,
  });
});

t.test('K-472 metrics count who waits for each process that hears', async (t) => {
  const { spool } = await spanishSpool(t);
  const metrics = (await spool.operator.send('GET', '/metrics')).body.toString();
  for (const pool of ['speech', 'voices', 'file_speech'])
    for (const count of ['taken', 'waiting']) t.match(metrics, `spool_pool_${count}{pool="${pool}"} 0`);
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

/** The settings of a server whose operator has installed a model from files and uses it. */
async function settingsWith(
  t: Parameters<typeof tempFolder>[0],
  { name, files }: { name: string; files: Record<string, string | Buffer> },
): Promise<Settings> {
  const data_dir = tempFolder(t);
  const given = { data_dir, name, from: [packedModel(t, files, '')], sha256: null, now: () => 0 };
  await installModel({ ...given, onProgress: () => {}, prove: async () => {} });
  await chooseModel(data_dir, name);
  const { settings } = await withUsableEngines(readSettings({ DATA_DIR: data_dir, EMBED_BUILT_IN: '0' }));
  return settings;
}

const filesIn = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));

t.test(
  'K-470 English is heard by the model that comes with Spool, another or an unknown language by the installed one',
  { skip: NO_MODEL },
  async (t) => {
    // Its name says Spanish, its files are the English ones: what it hears is text, and said to be Spanish.
    const settings = await settingsWith(t, { name: 'moonshine-tiny-es', files: filesIn(BUILT_IN_MODEL) });
    const speech = openSpeechProcess(settings);
    t.teardown(() => speech.close());
    const engine = transcriptionEngines(settings, {}, { speech, now: Date.now }).get('default') as Engine;
    const stream = await StoredStream.open(t);
    const { bytes, codec, container } = spokenFile('said.opus');
    await stream.add([0, SAID_MS], bytes, { codec, container });
    const heard = async (language: string | null) => {
      const { signal } = new AbortController();
      const work = stream.work(0, SAID_MS, { language });
      const transcribed = await transcribeWindow({ engine, stores: stream.stores, work, signal });
      return transcribed.ok
        ? transcribed.result.turns.map(({ text, language }) => [language, text])
        : transcribed.failure.code;
    };
    const said = (language: string) => SAID.map((text) => [language, text]);
    t.same(await heard('en-GB'), said('en'));
    t.same(await heard('es'), said('es'));
    t.same(await heard(null), said('es'));
    t.same(await heard('en'), said('en'), 'both stay loaded');
    t.equal(await heard('de'), 'LANGUAGE_UNKNOWN');
    t.match(transcriberShown(settings, {}), {
      languages: ['en', 'es'],
      model: 'moonshine-tiny-es, English by moonshine-tiny',
    });
  },
);

t.test('K-470 an installed model that knows English alone hears English', { skip: NO_MODEL }, async (t) => {
  const files = Object.fromEntries(MOONSHINE.map((name) => [name, '']));
  const settings = await settingsWith(t, { name: 'moonshine-base', files });
  t.match(transcriberShown(settings, {}), { languages: ['en'], model: 'moonshine-base' });
});

t.test('K-470 the model that a setting names hears every language', async (t) => {
  const TRANSCRIBE_MODEL_DIR = modelFolder(t, 'moonshine-base-es', MOONSHINE);
  const { settings } = await withUsableEngines(readSettings({ TRANSCRIBE_MODEL_DIR, EMBED_BUILT_IN: '0' }));
  t.match(transcriberShown(settings, {}), { languages: ['es'], model: 'moonshine-base-es' });
});
