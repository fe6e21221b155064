import { codeOf } from '../../domain/language/text_table.js';
import { audioLength, monoPieces, NotDecoded } from '../audio/decode_audio.js';
import { writeFrame } from '../process/frames.js';
import { serveRequests } from '../process/served_requests.js';
import { SpeakerTeller } from './speaker_teller.js';
import { speechModelOf, VOICE_MODEL } from './speech_model.js';
import type { ModelFolders, ProcessAnswer, ProcessRequest } from './speech_process.js';
import { SpeechRecognizer } from './speech_recognizer.js';
import { SPEECH_RATE } from './utterances.js';

/*
 * The process that decodes audio and recognizes speech, one request at a time. It gets the folders of models and
 * its priority as arguments, and ends when its input does. A crash here is one failed request.
 */

const PIECE_SAMPLES = 256 * 1024;
const [, , folders = '[null,null,null]', priority = '0'] = process.argv;
const [model_folder, speakers_folder, english_folder] = JSON.parse(folders) as ModelFolders;

/** Throws with a reason for operators. */
async function loadSherpa(): Promise<typeof import('sherpa-onnx-node')> {
  try {
    const loaded = (await import('sherpa-onnx-node')) as unknown as { default: typeof import('sherpa-onnx-node') };
    return loaded.default;
  } catch (error) {
    const is_missing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    throw new Error(`sherpa-onnx-node ${is_missing ? 'is not installed' : 'has no program that runs on this system'}`);
  }
}

/** Each model is opened by the first request that needs it. */
class Recognizing {
  #recognizer: SpeechRecognizer | null = null;
  #english: SpeechRecognizer | null = null;

  async open(language: string | null): Promise<SpeechRecognizer> {
    if (english_folder !== null && language !== null && codeOf(language) === 'en') {
      // The folder of the other model may hold those that tell speakers apart.
      this.#english ??= await openRecognizer(english_folder, speakers_folder ?? model_folder);
      return this.#english;
    }
    this.#recognizer ??= await openRecognizer(model_folder ?? '', speakers_folder);
    return this.#recognizer;
  }
}

/** Opened by the first request that needs it. */
class Telling {
  #teller: SpeakerTeller | null = null;

  async open(): Promise<SpeakerTeller> {
    this.#teller ??= await openTeller();
    return this.#teller;
  }
}

async function openTeller(): Promise<SpeakerTeller> {
  const models = speechModelOf(model_folder ?? '', speakers_folder)?.speakers ?? null;
  if (models === null) throw new Error('there are no models that tell speakers apart');
  return new SpeakerTeller(await loadSherpa(), models);
}

async function openRecognizer(folder: string, voices_folder: string | null): Promise<SpeechRecognizer> {
  const model = speechModelOf(folder, voices_folder);
  if (model === null) throw new Error(`${folder} holds no known speech model`);
  return new SpeechRecognizer(await loadSherpa(), model, VOICE_MODEL);
}

async function answer(
  { recognizing, telling }: { recognizing: Recognizing; telling: Telling },
  request: ProcessRequest,
  audio: AsyncIterable<Uint8Array>,
): Promise<ProcessAnswer> {
  switch (request.kind) {
    case 'check':
      await loadSherpa();
      return { kind: 'checked' };
    case 'recognize': {
      const { length_s_max, ...options } = request;
      const samples = await samplesOf(audio, length_s_max);
      const recognizer = await recognizing.open(options.language);
      return { kind: 'recognized', ...recognizer.recognize(samples, options) };
    }
    case 'tell': {
      const samples = await samplesOf(audio, request.length_s_max);
      const teller = await telling.open();
      return { kind: 'told', spans: teller.tell(samples, request.count) };
    }
    case 'measure':
      return { kind: 'measured', length_s: await audioLength(audio, request) };
    case 'decode': {
      let samples = 0;
      for await (const piece of monoPieces(audio, request)) {
        samples += piece.length;
        for (let at = 0; at < piece.length; at += PIECE_SAMPLES)
          await writeFrame(
            process.stdout,
            { kind: 'piece' } satisfies ProcessAnswer,
            pcm16(piece.subarray(at, at + PIECE_SAMPLES)),
          );
      }
      return { kind: 'decoded', samples, is_cut: samples >= Math.round(request.length_s_max * request.rate) };
    }
  }
}

async function samplesOf(audio: AsyncIterable<Uint8Array>, length_s_max: number): Promise<Float32Array> {
  const pieces: Float32Array[] = [];
  for await (const piece of monoPieces(audio, { rate: SPEECH_RATE, length_s_max })) pieces.push(piece);
  return joined(pieces);
}

function joined(pieces: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function pcm16(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (let at = 0; at < samples.length; at++) {
    const value = Math.round((samples[at] as number) * 0x8000);
    bytes.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, value)), at * 2);
  }
  return bytes;
}

function failureOf(error: unknown): ProcessAnswer {
  if (!(error instanceof NotDecoded)) throw error;
  return { kind: 'failed', code: 'NOT_DECODED', message: `The audio ${error.message}.` };
}

const opened = { recognizing: new Recognizing(), telling: new Telling() };
await serveRequests<ProcessRequest, ProcessAnswer>(Number(priority), (request, audio) =>
  answer(opened, request, audio).catch(failureOf),
);
