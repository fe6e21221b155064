import t from 'tap';
import { BUILT_IN_MODEL } from '../../../../src/engine/speech/speech_model.js';
import { SpeechProcess } from '../../../../src/engine/speech/speech_process.js';
import { BuiltInEngine } from '../../../../src/features/transcripts/engines/built_in.js';
import { transcribeWindow } from '../../../../src/features/transcripts/transcribe_window.js';
import { NO_MODEL, SAID, SAID_MS, spokenFile } from '../../../fixtures/speech.js';
import { StoredStream } from '../../../fixtures/window.js';

const ENOUGH = 2 ** 31;

t.test('K-252 a window whose process took too much memory is heard at the next try', { skip: NO_MODEL }, async (t) => {
  const stream = await StoredStream.open(t);
  const { bytes, codec, container } = spokenFile('said.mp3');
  const times = 5;
  await stream.add([0, times * SAID_MS], Buffer.concat(Array.from({ length: times }, () => bytes)), {
    ...{ codec, container },
  });
  const bounds = {
    model_folder: BUILT_IN_MODEL,
    idle_ms: 60_000,
    silence_ms_max: 120_000,
    memory_bytes_max: 1,
    priority: 0,
  };
  const speech = new SpeechProcess(bounds);
  t.teardown(() => speech.close());
  const engine = new BuiltInEngine(speech, { name: 'moonshine-tiny', languages: ['en'] });
  const { signal } = new AbortController();
  const transcribe = (tries: number) =>
    transcribeWindow({ engine, stores: stream.stores, work: stream.work(0, times * SAID_MS, { tries }), signal });

  const first = await transcribe(1);
  t.match(first, { ok: false, failure: { code: 'ENGINE_EXITED', retry: true } });
  t.match(first.failures, [{ message: /more memory than it may/ }]);
  t.equal(speech.pid, null, 'the process is ended');

  bounds.memory_bytes_max = ENOUGH;
  const second = await transcribe(2);
  t.same(second.ok && second.result.turns.map(({ text }) => text), Array.from({ length: times }, () => SAID).flat());
});
