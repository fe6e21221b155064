import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { serverEventsOf } from '../../../dist/app/api/server_events.js';
import { NO_SPEECH_BEFORE } from '../../../dist/src/domain/speech_before.js';
import { pcm16Format, writeWav } from '../../../dist/src/engine/audio/wav.js';
import { BUILT_IN_MODEL } from '../../../dist/src/engine/speech/speech_model.js';
import { SpeechProcess } from '../../../dist/src/engine/speech/speech_process.js';
import { wordErrors } from '../../../dist/src/engine/speech/word_errors.js';
import { quantile } from '../measure.mjs';
import { cpuMs, rssBytes, temporaryFolder } from '../processes.mjs';
import { startSpool } from '../spool_setup.mjs';

/** Programs that make the audio; each of a Debian package of its name. */
const PROGRAMS = ['flite', 'sox', 'ffmpeg'];
const PAUSE_S = 0.8;
const CALL = { owner: '', signal: new AbortController().signal };
const OPTIONS = {
  length_s_max: 600,
  language: null,
  preview: false,
  diarize: false,
  goes_on: false,
  speech_before: NO_SPEECH_BEFORE,
  vocabulary: [],
};
const MINUTES = 10;
const GETS_PER_SECOND = 200;
/** As the browser recorder sends. */
const LIVE_CHUNK_MS = 2_000;
const LIVE_RATE = 16_000;
/** A line that ends so near to the end of a sentence has its last word. */
const LINE_END_MS = 400;

/** Everyday sentences, without names. */
const SENTENCES = [
  'The meeting starts at ten on Thursday.',
  'Please bring the printed reports and two pens.',
  'We still need somebody to water the plants in the office.',
  'My sister moved to a smaller flat near the harbor.',
  'The train was late again because of the snow.',
  'Can you send me the photos from the weekend?',
  'I will call the dentist tomorrow morning.',
  'The new coffee machine is louder than the old one.',
  'Nobody knew where the key to the cellar was.',
  'They decided to paint the kitchen yellow.',
  'The children built a boat out of cardboard.',
  'Her doctor told her to walk for an hour every day.',
  'We should order the chairs before the end of the month.',
  'The price of bread has gone up twice this year.',
  'He forgot his umbrella at the restaurant.',
  'Let us meet in front of the library at half past six.',
  'The last bus leaves at eleven in the evening.',
  'I have never seen so many stars in the sky.',
  'The customer wants an answer by Friday.',
  'Turn left after the bridge and follow the river.',
  'Our neighbors are away until the second week of August.',
  'The soup needs a little more salt.',
  'She learned to swim when she was five years old.',
  'The software update took longer than we expected.',
  'Could you open the window for a moment?',
  'The garden looks beautiful after the rain.',
  'We will talk about the budget next week.',
  'There is a hole in the roof of the garage.',
  'The teacher asked the class to write a short story.',
  'I would like to return these shoes.',
];

/**
 * Prompts that a person read in a studio: the first by name of seven words or more, without the menus, whose texts are not
 * word for word. Of the Debian packages asterisk-core-sounds-en and asterisk-core-sounds-en-g722.
 */
const PROMPTS = {
  sounds: '/usr/share/asterisk/sounds/en_US_f_Allison',
  texts: '/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz',
  words_min: 7,
  count: 30,
};
const PROMPT_PACKAGES = ['asterisk-core-sounds-en', 'asterisk-core-sounds-en-g722'];

/** Recordings, each with the share of wrong words that was measured before a guard left anything out. */
const VOICES = [
  { voice: 'slt', wrong_max: 0.039 },
  { voice: 'rms', wrong_max: 0.046 },
  { voice: 'awb', wrong_max: 0.065 },
];
const CHANGES = [
  { name: 'as recorded', wrong_max: 0.047 },
  { name: 'at 8 kHz', rate: 8_000, wrong_max: 0.05 },
  { name: 'Opus at 12 kbit/s', opus: true, wrong_max: 0.04 },
  { name: 'pink noise 20 dB below', noise: true, wrong_max: 0.068 },
];

export const title = 'speech: the built-in engine, its errors and what it costs';

export async function run(options) {
  const missing = PROGRAMS.filter((name) => spawnSync('which', [name]).status !== 0);
  if (!existsSync(PROMPTS.texts) || !existsSync(PROMPTS.sounds)) missing.push(...PROMPT_PACKAGES);
  if (missing.length > 0) throw new Error(`needs ${missing.join(', ')}`);
  const { folder, remove } = temporaryFolder();
  const speech = new SpeechProcess({
    model_folder: BUILT_IN_MODEL,
    idle_ms: 60_000,
    silence_ms_max: 300_000,
    memory_bytes_max: 2 ** 31,
    priority: 10,
  });
  try {
    return [
      ...(await errorRows(speech, folder)),
      ...(await costRows(speech, folder)),
      await latencyRow(folder, options),
      await liveRow(folder),
    ];
  } finally {
    await speech.close();
    remove();
  }
}

/** Sentences after each other, as the allowed figures were measured, and each in a file of its own; prompts alone. */
async function errorRows(speech, folder) {
  const rows = [];
  const row = (work, { share, words }, wrong_max = null) => ({
    work: `words wrong, ${work}`,
    beside: 'what was said',
    figure: `${(share * 100).toFixed(1)} % of ${words}`,
    ...{ peer: '', ratio: '' },
    goal: wrong_max === null ? '' : `≤ ${(wrong_max * 100).toFixed(1)} %`,
    // The allowed figures were rounded to tenths of a per cent.
    met: wrong_max === null ? '' : Math.round(share * 1_000) / 1_000 <= wrong_max,
  });
  for (const { voice, wrong_max } of VOICES) {
    const set = `${SENTENCES.length} sentences of flite ${voice}`;
    const together = await wrongIn(speech, [spokenFile(folder, SENTENCES, voice)], [SENTENCES.join(' ')]);
    const alone = SENTENCES.map((sentence) => spokenFile(folder, [sentence], voice));
    rows.push(row(`${set}, with pauses of ${PAUSE_S} s`, together, wrong_max));
    rows.push(row(`${set}, each alone`, await wrongIn(speech, alone, SENTENCES)));
  }
  const prompts = readPrompts();
  for (const { name, wrong_max, ...change } of CHANGES) {
    const files = prompts.map(({ file }) => changedFile(folder, file, change));
    const texts = prompts.map(({ text }) => text);
    rows.push(row(`${prompts.length} prompts of a person, ${name}`, await wrongIn(speech, files, texts), wrong_max));
  }
  return rows;
}

/** The prompts, by name: their files and what is said there. */
function readPrompts() {
  const { sounds, texts, words_min, count } = PROMPTS;
  const lines = gunzipSync(readFileSync(texts)).toString().split('\n');
  const said = lines.flatMap((line) => {
    const [, name, text] = /^([^;:/]+): (.+)$/.exec(line) ?? [];
    const is_prompt = name !== undefined && !name.includes('menu') && text.split(/\s+/).length >= words_min;
    return is_prompt ? [{ name, file: join(sounds, `${name}.g722`), text }] : [];
  });
  return said
    .filter(({ file }) => existsSync(file))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, count);
}

async function wrongIn(speech, files, said) {
  let [errors, words] = [0, 0];
  for (const [at, file] of files.entries()) {
    const { segments } = await speech.recognize(readFileSync(file), OPTIONS, CALL);
    const found = wordErrors(said[at], segments.map(({ text }) => text).join(' '));
    errors += found.errors;
    words += found.words;
  }
  return { share: errors / words, words };
}

/** Ten minutes in pieces of 15 s, as windows have them. */
async function costRows(speech, folder) {
  const windows = windowsOf(folder);
  await speech.recognize(windows[0], OPTIONS, CALL);
  const { pid } = speech;
  const [cpu_before_ms, began_ms] = [cpuMs([pid]), performance.now()];
  let audio_s = 0;
  for (let at = 0; audio_s < MINUTES * 60; at++) {
    await speech.recognize(windows[at % windows.length], OPTIONS, CALL);
    audio_s += 15;
  }
  const per_s = (cpuMs([pid]) - cpu_before_ms) / 1_000 / audio_s;
  const keeps_up = audio_s / ((performance.now() - began_ms) / 1_000);
  const memory = rssBytes(pid) / 1e6;
  const row = (work, figure, goal, met) => ({
    work,
    beside: 'windows of 15 s',
    figure,
    peer: '',
    ratio: '',
    goal,
    met,
  });
  return [
    row('CPU for a second of audio, decoded twice', `${per_s.toFixed(3)} s`, '≤ 0.10 s', per_s <= 0.1),
    row('memory of its process', `${memory.toFixed(0)} MB after ${MINUTES} min`, '≤ 500 MB', memory <= 500),
    row('speakers at once that one thread keeps up with', keeps_up.toFixed(1), '≥ 10', keeps_up >= 10),
  ];
}

/** GET /me at a fixed rate, with and without speech beside it, in turns. */
async function latencyRow(folder, { rounds, seconds }) {
  const spool = await startSpool(folder, { env: { TRANSCRIBE_BUILT_IN: '1' } });
  try {
    const { app } = await spool.signIn('bench@spool.example');
    const get = () => app.ask('GET', '/me');
    const [window] = windowsOf(folder);
    await spool.program.ask('hear', { bytes: window, options: OPTIONS, times: 1 });
    const measure = async (is_busy) => {
      const hearing = is_busy
        ? spool.program.ask('hear', { bytes: window, options: OPTIONS, until_ms: Date.now() + seconds * 1_000 })
        : null;
      const took = await paced(get, seconds);
      await hearing;
      return quantile(took, 0.99);
    };
    await measure(false);
    const ratios = [];
    const found = { idle: [], busy: [] };
    for (let round = 0; round < Math.max(5, rounds); round++) {
      const [idle, busy] = [await measure(false), await measure(true)];
      found.idle.push(idle);
      found.busy.push(busy);
      ratios.push(busy / idle);
    }
    const ratio = quantile(ratios, 0.5);
    const told = (values) => `p99 ${quantile(values, 0.5).toFixed(2)} ms`;
    return {
      work: `GET /me, ${GETS_PER_SECOND} a second, while speech is recognized on the same core`,
      ...{ beside: 'without', figure: told(found.busy), peer: told(found.idle) },
      ...{ ratio: `${ratio.toFixed(2)}x`, goal: '≤ 1.1x', met: ratio <= 1.1 },
    };
  } finally {
    await spool.stop();
  }
}

/** Somebody speaks into an app that sends chunks as the browser recorder does, and reads the live text. */
async function liveRow(folder) {
  const { samples, ends_ms } = talkOf(folder);
  const own_folder = join(folder, 'live');
  mkdirSync(own_folder);
  const spool = await startSpool(own_folder, { env: { TRANSCRIBE_BUILT_IN: '1', CHUNK_WORKER: '1' } });
  try {
    const { app } = await spool.signIn('bench@spool.example');
    const source = await app.ask('POST', '/sources', { name: 'Bench' });
    const captured_at = new Date().toISOString();
    const { id } = await app.ask('POST', '/audio/streams', { source_id: source.id, captured_at });
    const stop = new AbortController();
    const shown = new Map();
    const began = performance.now();
    const reading = readLive(spool, { app, id, signal: stop.signal }, (from_ms, to_ms) => {
      const at_ms = performance.now() - began;
      for (const end_ms of ends_ms)
        if (!shown.has(end_ms) && from_ms < end_ms && to_ms > end_ms - LINE_END_MS) shown.set(end_ms, at_ms - end_ms);
    });
    const chunk_bytes = (LIVE_CHUNK_MS / 1_000) * LIVE_RATE * 2;
    for (let sequence = 0; sequence * chunk_bytes < samples.length; sequence++) {
      const wait_ms = began + (sequence + 1) * LIVE_CHUNK_MS - performance.now();
      if (wait_ms > 0) await delay(wait_ms);
      await sendSamples(
        spool,
        { app, id, sequence },
        samples.subarray(sequence * chunk_bytes, (sequence + 1) * chunk_bytes),
      );
    }
    await delay(5_000);
    stop.abort();
    await reading;
    const missing = ends_ms.filter((end_ms) => !shown.has(end_ms)).length;
    const took = [...shown.values()];
    const [p50, p99] = [quantile(took, 0.5) / 1_000, quantile(took, 0.99) / 1_000];
    return {
      work: `end of a sentence to its preliminary line, ${ends_ms.length} sentences of one speaker`,
      ...{ beside: `chunks of ${LIVE_CHUNK_MS / 1_000} s`, peer: '', ratio: '' },
      figure: `p50 ${p50.toFixed(1)} s, p99 ${p99.toFixed(1)} s${missing === 0 ? '' : `, ${missing} without one`}`,
      ...{ goal: 'p50 ≤ 2 s, p99 ≤ 4 s', met: p50 <= 2 && p99 <= 4 && missing === 0 },
    };
  } finally {
    await spool.stop();
  }
}

/** Calls back with the time of each line and turn that comes. */
async function readLive({ base_url }, { app, id, signal }, onText) {
  const headers = { authorization: `Bearer ${app.access_token}` };
  const answer = await fetch(`${base_url}/audio/streams/${id}/live`, { headers, signal });
  try {
    for await (const { data } of serverEventsOf(answer.body)) {
      const { lines = [], turns = [] } = JSON.parse(data);
      for (const { start_ms, end_ms } of [...lines, ...turns]) onText(start_ms, end_ms);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function sendSamples({ base_url }, { app, id, sequence }, samples) {
  const bytes = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: LIVE_RATE }) }, samples);
  const start_ms = sequence * LIVE_CHUNK_MS;
  const { upload_path } = await app.ask('POST', `/audio/streams/${id}/chunks/intents`, {
    ...{ source_chunk_ref: randomUUID(), sequence, codec: 'pcm_s16le', container: 'wav' },
    ...{ source_start_ms: start_ms, publication_start_ms: start_ms },
    source_end_ms: start_ms + Math.round(samples.length / 2 / (LIVE_RATE / 1_000)),
    ...{ size_bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
  });
  const headers = { authorization: `Bearer ${app.access_token}`, 'content-type': 'application/octet-stream' };
  const put = await fetch(base_url + upload_path, { method: 'PUT', headers, body: bytes });
  if (!put.ok) throw new Error(`the upload got ${put.status}`);
}

/** All sentences one after the other, as samples, and where each ends. */
function talkOf(folder) {
  const pieces = [];
  const ends_ms = [];
  let reached = 0;
  for (const [at, sentence] of SENTENCES.entries()) {
    const [said, raw] = [join(folder, `talk-${at}.wav`), join(folder, `talk-${at}.raw`)];
    execFileSync('flite', ['-voice', 'slt', '-t', sentence, '-o', said]);
    // Without the silence that the voice itself leaves.
    const form = ['-r', String(LIVE_RATE), '-c', '1', '-b', '16', '-e', 'signed'];
    execFileSync('sox', [said, ...form, raw, 'reverse', 'silence', '1', '0.05', '1%', 'reverse']);
    const spoken = readFileSync(raw);
    pieces.push(spoken, Buffer.alloc(PAUSE_S * LIVE_RATE * 2));
    ends_ms.push((reached + spoken.length) / 2 / (LIVE_RATE / 1_000));
    reached += spoken.length + PAUSE_S * LIVE_RATE * 2;
  }
  return { samples: Buffer.concat(pieces), ends_ms };
}

/** Measures each GET, in ms, from when it was to be sent. */
async function paced(get, seconds) {
  const took = [];
  const began = performance.now();
  const lane = async (number) => {
    for (let count = 0; count < (seconds * GETS_PER_SECOND) / 4; count++) {
      const due = began + (count * 4 + number) * (1_000 / GETS_PER_SECOND);
      const wait = due - performance.now();
      if (wait > 0) await delay(wait);
      const sent = performance.now();
      await get();
      took.push(performance.now() - sent);
    }
  };
  await Promise.all([0, 1, 2, 3].map(lane));
  return took;
}

/** A new file in which somebody says the sentences. */
function spokenFile(folder, sentences, voice) {
  const said = join(folder, 'said.wav');
  const parts = sentences.map((sentence, at) => {
    const part = join(folder, `${voice}-${at}.wav`);
    execFileSync('flite', ['-voice', voice, '-t', sentence, '-o', said]);
    execFileSync('sox', [said, part, 'pad', '0.3', String(PAUSE_S - 0.3)]);
    return part;
  });
  const file = join(folder, `${randomUUID()}.wav`);
  execFileSync('sox', [...parts, file]);
  return file;
}

/** A new file with what a prompt says, in another form. */
function changedFile(folder, prompt, { rate = LIVE_RATE, opus = false, noise = false }) {
  const wav = join(folder, 'prompt.wav');
  const convert = (from, to, ...how) => execFileSync('ffmpeg', ['-loglevel', 'error', '-y', '-i', from, ...how, to]);
  convert(prompt, wav, '-ar', String(rate));
  const file = join(folder, `${randomUUID()}.${opus ? 'opus' : 'wav'}`);
  if (opus) convert(wav, file, '-c:a', 'libopus', '-b:a', '12k');
  else copyFileSync(noise ? withNoise(wav, folder) : wav, file);
  return file;
}

/** Pink noise whose loudness (RMS) is 20 dB below that of the file. */
function withNoise(file, folder) {
  const [noise, mixed] = [join(folder, 'noise.wav'), join(folder, 'mixed.wav')];
  const seconds = execFileSync('soxi', ['-D', file]).toString().trim();
  execFileSync('sox', ['-R', '-n', '-r', '16000', '-c', '1', '-b', '16', noise, 'synth', seconds, 'pinknoise']);
  const gain = (rmsOf(file) / rmsOf(noise)) * 0.1;
  execFileSync('sox', ['-m', '-v', '1', file, '-v', gain.toFixed(5), noise, mixed]);
  return mixed;
}

function rmsOf(file) {
  const { stderr } = spawnSync('sox', [file, '-n', 'stat'], { encoding: 'utf8' });
  return Number(/RMS\s+amplitude:\s+([\d.]+)/.exec(stderr)?.[1]);
}

/** WAVs of 15 s in which somebody speaks with short pauses. */
function windowsOf(folder) {
  const all = join(folder, 'all.wav');
  const files = SENTENCES.map((sentence, at) => {
    const file = join(folder, `window-${at}.wav`);
    execFileSync('flite', ['-voice', 'slt', '-t', sentence, '-o', join(folder, 'one.wav')]);
    execFileSync('sox', [join(folder, 'one.wav'), file, 'pad', '0', String(PAUSE_S)]);
    return file;
  });
  execFileSync('sox', [...files, all]);
  return [0, 15, 30, 45].map((from) => {
    const file = join(folder, `cut-${from}.wav`);
    execFileSync('sox', [all, file, 'trim', String(from), '15']);
    return readFileSync(file);
  });
}
