import { type PlainText, say } from '../language/say.js';
import worklet_address from './capture.worklet.js';
import { microphone_id, sound } from './sounds.js';

/** The rate that speech engines expect; the browser converts. */
const SAMPLES_PER_S = 16_000;

/** In words for a person: why there is no microphone. */
export class NoMicrophone extends Error {
  override readonly name = 'NoMicrophone';
}

const REASONS: Record<string, PlainText> = {
  NotAllowedError: 'The browser may not use the microphone. Allow it in the address bar, then start again.',
  NotFoundError: 'No microphone was found. Connect one, then start again.',
  NotReadableError: 'Another program is using the microphone. Close it, then start again.',
};

/** The listeners of an open microphone. */
type MicrophoneEvents = {
  /** A piece of samples, and how long ago it was complete. */
  take(piece: Float32Array, age_ms: number): void;
  /** It was muted or interrupted, or that is over. */
  changed(): void;
  /** It was unplugged, or permission was withdrawn. */
  lost(): void;
};

/** The open microphone, or other sound that was chosen: hands on pieces of samples until it is closed. */
export class Microphone {
  readonly samples_per_s: number;
  readonly #context: AudioContext;
  readonly #media: readonly MediaStream[];
  /** Held here: while a context stands still, Chromium collects a source that nobody holds, and it is silent for ever. */
  readonly #inputs: readonly AudioNode[];

  private constructor({ context, inputs }: OpenAudio, media: readonly MediaStream[]) {
    this.#context = context;
    this.#inputs = inputs;
    this.#media = media;
    this.samples_per_s = context.sampleRate;
  }

  static async open({ take, changed, lost }: MicrophoneEvents): Promise<Microphone> {
    const media = await openMedia();
    try {
      const { context, inputs } = connected(media);
      const microphone = new Microphone({ context, inputs }, media);
      await context.audioWorklet.addModule(worklet_address);
      const capture = new AudioWorkletNode(context, 'capture', {
        numberOfOutputs: 0,
        channelCount: 1,
        channelCountMode: 'explicit',
      });
      capture.port.onmessage = ({ data }: MessageEvent<{ buffer: ArrayBuffer; at_ms: number }>) =>
        take(new Float32Array(data.buffer), Math.max(0, Date.now() - data.at_ms));
      for (const input of inputs) input.connect(capture);
      await context.resume();
      context.addEventListener('statechange', changed);
      const tracks = media.flatMap((one) => one.getAudioTracks());
      for (const track of tracks) {
        track.addEventListener('mute', changed);
        track.addEventListener('unmute', changed);
        // Of two sounds the other one goes on.
        track.addEventListener('ended', () => tracks.every(({ readyState }) => readyState === 'ended') && lost());
      }
      return microphone;
    } catch (error) {
      stop(media);
      throw error;
    }
  }

  /** By the system or a switch: what comes is silence. */
  get is_muted(): boolean {
    return this.#media.flatMap((one) => one.getAudioTracks()).every(({ muted }) => muted);
  }

  /** Goes on after a call or the like, where the system lets it. */
  async resume(): Promise<void> {
    const { state } = this.#context;
    if (state !== 'running' && state !== 'closed') await this.#context.resume().catch(() => {});
  }

  async close(): Promise<void> {
    stop(this.#media);
    for (const input of this.#inputs) input.disconnect();
    if (this.#context.state !== 'closed') await this.#context.close();
  }
}

type OpenAudio = { context: AudioContext; inputs: AudioNode[] };

function stop(media: readonly MediaStream[]): void {
  for (const track of media.flatMap((one) => one.getTracks())) track.stop();
}

async function openMedia(): Promise<MediaStream[]> {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices === undefined)
    throw new NoMicrophone(say('This browser allows no microphone at this address: it must be https, or localhost.'));
  const chosen = sound.peek();
  // Asked for first: browsers want a click shortly before.
  const shared = chosen === 'microphone' ? [] : [await openShared(devices)];
  if (chosen === 'shared') return shared;
  try {
    const id = microphone_id.peek();
    const audio = {
      channelCount: 1,
      noiseSuppression: true,
      autoGainControl: true,
      ...(id !== '' && { deviceId: id }),
    };
    return [await devices.getUserMedia({ audio }), ...shared];
  } catch (error) {
    stop(shared);
    const name = error instanceof Error ? error.name : '';
    throw new NoMicrophone(say(REASONS[name] ?? 'The microphone could not be opened.'));
  }
}

/** The sound of a tab or of the computer. Browsers share it with a picture alone, which nobody records. */
async function openShared(devices: MediaDevices): Promise<MediaStream> {
  const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const media = await devices.getDisplayMedia({ video: true, audio: plain }).catch(() => null);
  if (media === null) throw new NoMicrophone(say('Nothing was shared. Start again, and choose a tab or a screen.'));
  if (media.getAudioTracks().length > 0) return media;
  stop([media]);
  throw new NoMicrophone(
    say('No sound was shared. Start again, and tick that the sound of the tab or the system is shared.'),
  );
}

/** Not every browser converts what a microphone gives: then it is recorded at the rate that it comes in. */
function connected(media: readonly MediaStream[]): OpenAudio {
  const into = (context: AudioContext) => ({
    context,
    inputs: media.map((one) => context.createMediaStreamSource(new MediaStream(one.getAudioTracks()))),
  });
  const wanted = new AudioContext({ sampleRate: SAMPLES_PER_S });
  try {
    return into(wanted);
  } catch {
    void wanted.close();
    return into(new AudioContext());
  }
}
