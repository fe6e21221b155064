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
  const engineWith = (memory_bytes_max: number) => {
    const bounds = { model_folder: BUILT_IN_MODEL, idle_ms: 60_000, silence_ms_max: 120_000, priority: 0 };
    const speech = new SpeechProcess({ ...bounds, memory_bytes_max });
    t.teardown(() => speech.close());
    return { speech, engine: new BuiltInEngine(speech, { name: 'moonshine-tiny', languages: ['en'] }) };
  };
  const { signal } = new AbortController();
  const transcribe = (engine: BuiltInEngine, tries: number) =>
    transcribeWindow({ engine, stores: stream.stores, work: stream.work(0, times * SAID_MS, { tries }), signal });

  const small = engineWith(1);
  const first = await transcribe(small.engine, 1);
  t.match(first, { ok: false, failure: { code: 'ENGINE_EXITED', retry: true } });
  t.match(first.failures, [{ message: /more memory than it may/ }]);
  t.equal(small.speech.pid, null, 'the process is ended');

  const second = await transcribe(engineWith(ENOUGH).engine, 2);
  t.same(second.ok && second.result.turns.map(({ text }) => text), Array.from({ length: times }, () => SAID).flat());
});
