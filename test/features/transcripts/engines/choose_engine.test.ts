import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { transcriberShown } from '../../../../src/features/transcripts/engines/choose_engine.js';
import { readSettings } from '../../../../src/host/settings.js';
import { TestAccount } from '../../../fixtures/account.js';
import { TestSpool } from '../../../fixtures/spool.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';
import { TestRecording } from '../../../fixtures/transcribing.js';

const MOONSHINE = ['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokens.txt'];
const WHISPER = ['small-encoder.onnx', 'small-decoder.onnx', 'small-tokens.txt'];

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
  t.equal(shown({ TRANSCRIBE_URL: 'http://speech.example/v1' }).languages, null);
  t.equal(shown({ TRANSCRIBE_BUILT_IN: '0' }).languages, null);
});

t.test('K-253 so do transcripts', async (t) => {
  const TRANSCRIBE_MODEL_DIR = modelFolder(t, 'moonshine-base-es', MOONSHINE);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', TRANSCRIBE_BUILT_IN: '1', TRANSCRIBE_MODEL_DIR });
  t.teardown(() => spool.end());

  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { id } = await TestRecording.begin(ann);
  t.match(await ann.ask('GET', `/audio/streams/${id}/transcript`), { engine: 'built_in', engine_languages: ['es'] });
});
