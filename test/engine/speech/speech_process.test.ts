import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { NO_SPEECH_BEFORE } from '../../../src/domain/speech_before.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { ProcessFailed } from '../../../src/engine/process/framed_process.js';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { BUILT_IN_MODEL } from '../../../src/engine/speech/speech_model.js';
import { SpeechProcess } from '../../../src/engine/speech/speech_process.js';
import { drawSeed } from '../../fixtures/seed.js';
import { audioFixture, NO_MODEL, SAID } from '../../fixtures/speech.js';
import { until } from '../../fixtures/until.js';

const SIGNAL = new AbortController().signal;
const CALL = { owner: 'a', signal: SIGNAL };
const OPTIONS = {
  length_s_max: 60,
  language: null,
  preview: false,
  diarize: false,
  goes_on: false,
  speech_before: NO_SPEECH_BEFORE,
  vocabulary: [],
};

function open(
  t: { teardown(end: () => Promise<void>): void },
  more: Partial<ConstructorParameters<typeof SpeechProcess>[0]> = {},
): SpeechProcess {
  const made = new SpeechProcess({
    model_folder: BUILT_IN_MODEL,
    idle_ms: 60_000,
    silence_ms_max: 120_000,
    memory_bytes_max: 2 ** 31,
    priority: 0,
    ...more,
  });
  t.teardown(() => made.close());
  return made;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no failure',
    (error: unknown) => (error instanceof ProcessFailed ? error.code : String(error)),
  );
}

const isGone = (pid: number | null) => {
  try {
    process.kill(pid as number, 0);
    return false;
  } catch {
    return true;
  }
};

t.test('K-161 speech is recognized in every format that phones and recorders write', { skip: NO_MODEL }, async (t) => {
  const speech = open(t);
  for (const name of ['opus', 'webm', 'mp3', 'm4a', 'aac', 'flac', 'ogg', 'caf']) {
    const { segments, not_understood } = await speech.recognize(audioFixture(`said.${name}`), OPTIONS, CALL);
    t.same(
      segments.map(({ text }) => text),
      SAID,
      name,
    );
    t.same(not_understood, [], name);
    for (const { start_s, end_s, words } of segments) {
      t.ok((words[0]?.start_s ?? -1) >= start_s && (words.at(-1)?.end_s ?? 99) <= end_s, `${name}: words lie within`);
    }
  }
  const preview = await speech.recognize(audioFixture('said.opus'), { ...OPTIONS, preview: true }, CALL);
  t.match(preview.segments, [{ text: SAID[0], confidence: null }, { text: SAID[1] }]);
});

t.test('K-162 other languages are no text, but speech that was not understood', { skip: NO_MODEL }, async (t) => {
  const speech = open(t);
  for (const name of ['de', 'fr', 'es']) {
    const { segments, not_understood } = await speech.recognize(audioFixture(`${name}.opus`), OPTIONS, CALL);
    t.same(segments, [], name);
    t.equal(not_understood.length, 1, name);
  }
});

t.test('K-162 silence, noise and music are no text', { skip: NO_MODEL }, async (t) => {
  const speech = open(t);
  const random = new SeededRandom(drawSeed(t));
  const noise = () => (random.below(2_001) - 1_000) / 1_000;
  const chord = (at: number) => {
    const beat = Math.floor(at / 8_000) % 4;
    const tones = [220, 277, 330].map((hertz) => Math.sin((2 * Math.PI * hertz * (1 + beat / 8) * at) / 16_000));
    return (tones.reduce((sum, one) => sum + one, 0) / 6) * Math.exp(-(at % 8_000) / 6_000);
  };
  const sounds: Record<string, (at: number) => number> = {
    silence: () => 0,
    noise: () => noise() * 0.2,
    hiss: () => noise() * 0.005,
    hum: (at) => 0.3 * Math.sin((2 * Math.PI * 50 * at) / 16_000),
    music: chord,
    clicks: (at) => (at % 9_000 < 20 ? 0.9 : 0),
  };
  for (const [name, sound] of Object.entries(sounds)) {
    const samples = Buffer.alloc(20 * 16_000 * 2);
    for (let at = 0; at < samples.length / 2; at++) samples.writeInt16LE(Math.round(sound(at) * 32_000), at * 2);
    const wav = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) }, samples);
    t.same((await speech.recognize(wav, OPTIONS, CALL)).segments, [], name);
  }
});

t.test('K-161 audio is decoded to samples of one channel, up to a length', async (t) => {
  const speech = open(t, { model_folder: null });
  const lengthOf = async (name: string, length_s_max: number) => {
    let bytes = 0;
    const onPiece = async (piece: Buffer) => {
      bytes += piece.length;
    };
    const options = { rate: 16_000, length_s_max };
    const { samples } = await speech.decode([audioFixture(name)], options, { ...CALL, onPiece });
    t.equal(bytes, samples * 2, name);
    return samples / 16_000;
  };
  for (const name of ['opus', 'webm', 'mp3', 'm4a', 'aac', 'flac', 'ogg', 'caf']) {
    const found = await lengthOf(`said.${name}`, 60);
    t.ok(Math.abs(found - 10.38) < 0.2, `${name}: ${found}`);
  }
  t.equal(await lengthOf('said.mp3', 2), 2);
});

t.test('files that nothing decodes are refused, and the process goes on', async (t) => {
  const speech = open(t, { model_folder: null });
  const decode = (bytes: Buffer) =>
    speech.decode([bytes], { rate: 16_000, length_s_max: 60 }, { ...CALL, onPiece: async () => {} });
  t.equal(await codeOf(decode(Buffer.alloc(0))), 'NOT_DECODED');
  t.equal(await codeOf(decode(Buffer.from('plain text that goes on and on'))), 'NOT_DECODED');
  const { pid } = speech;
  t.equal(await codeOf(decode(audioFixture('said.m4a').subarray(0, 300))), 'NOT_DECODED');
  t.equal((await decode(audioFixture('said.opus'))).samples > 0, true);
  t.equal(speech.pid, pid, 'one process for all of them');
});

t.test('K-163 a process that dies fails one call; the next one gets another', { skip: NO_MODEL }, async (t) => {
  const speech = open(t);
  await speech.check();
  const { pid } = speech;
  const first = codeOf(speech.recognize(audioFixture('said.mp3'), OPTIONS, CALL));
  const second = speech.recognize(audioFixture('said.opus'), OPTIONS, CALL);
  process.kill(pid as number, 'SIGKILL');
  t.equal(await first, 'EXITED');
  t.same(
    (await second).segments.map(({ text }) => text),
    SAID,
  );
  t.not(speech.pid, pid);
});

t.test('one that is silent for too long, or takes too much memory, is killed', { skip: NO_MODEL }, async (t) => {
  const silent = open(t, { silence_ms_max: 1 });
  t.equal(await codeOf(silent.recognize(audioFixture('said.mp3'), OPTIONS, CALL)), 'TIMEOUT');
  const small = open(t, { memory_bytes_max: 1 });
  const sound = audioFixture('said.mp3');
  const long = Buffer.concat(Array.from({ length: 20 }, () => sound));
  t.equal(await codeOf(small.recognize(long, { ...OPTIONS, length_s_max: 600 }, CALL)), 'EXITED');
});

t.test('it ends when nothing is asked of it, when its call is given up, and with its server', async (t) => {
  const idle = open(t, { model_folder: null, idle_ms: 50 });
  const decode = (speech: SpeechProcess, signal: AbortSignal) =>
    speech.decode(
      [audioFixture('said.opus')],
      { rate: 16_000, length_s_max: 60 },
      { owner: 'a', signal, onPiece: async () => {} },
    );
  await decode(idle, SIGNAL);
  await until('it has ended', () => idle.pid === null);
  await decode(idle, SIGNAL);

  const given_up = open(t, { model_folder: null });
  await decode(given_up, SIGNAL);
  const { pid } = given_up;
  const controller = new AbortController();
  const asked = codeOf(decode(given_up, controller.signal));
  controller.abort();
  t.equal(await asked, 'STOPPED');
  await until('the process is gone', () => isGone(pid));

  const closed = open(t, { model_folder: null });
  const running = codeOf(decode(closed, SIGNAL));
  await delay(0);
  await closed.close();
  t.match(await running, /STOPPED|EXITED/);
  t.equal(await codeOf(decode(closed, SIGNAL)), 'STOPPED');
});
