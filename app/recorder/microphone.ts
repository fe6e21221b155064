import worklet_address from './capture.worklet.js';

/** The rate that speech engines expect; the browser converts. */
const SAMPLES_PER_S = 16_000;

/** In words for a person: why there is no microphone. */
export class NoMicrophone extends Error {
  override readonly name = 'NoMicrophone';
}

const REASONS: Record<string, string> = {
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

/** The open microphone: hands on pieces of samples until it is closed. */
export class Microphone {
  readonly samples_per_s: number;
  readonly #context: AudioContext;
  readonly #media: MediaStream;
  /** Held here: while a context stands still, Chromium collects a source that nobody holds, and it is silent for ever. */
  readonly #input: AudioNode;

  private constructor({ context, input }: { context: AudioContext; input: AudioNode }, media: MediaStream) {
    this.#context = context;
    this.#input = input;
    this.#media = media;
    this.samples_per_s = context.sampleRate;
  }

  static async open({ take, changed, lost }: MicrophoneEvents): Promise<Microphone> {
    const media = await openMedia();
    try {
      const { context, input } = connected(media);
      const microphone = new Microphone({ context, input }, media);
      await context.audioWorklet.addModule(worklet_address);
      const capture = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0, channelCount: 1 });
      capture.port.onmessage = ({ data }: MessageEvent<{ buffer: ArrayBuffer; at_ms: number }>) =>
        take(new Float32Array(data.buffer), Math.max(0, Date.now() - data.at_ms));
      input.connect(capture);
      await context.resume();
      context.addEventListener('statechange', changed);
      const [track] = media.getAudioTracks();
      track?.addEventListener('mute', changed);
      track?.addEventListener('unmute', changed);
      track?.addEventListener('ended', lost);
      return microphone;
    } catch (error) {
      for (const track of media.getTracks()) track.stop();
      throw error;
    }
  }

  /** By the system or a switch: what comes is silence. */
  get is_muted(): boolean {
    return this.#media.getAudioTracks().some(({ muted }) => muted);
  }

  /** Goes on after a call or the like, where the system lets it. */
  async resume(): Promise<void> {
    const { state } = this.#context;
    if (state !== 'running' && state !== 'closed') await this.#context.resume().catch(() => {});
  }

  async close(): Promise<void> {
    for (const track of this.#media.getTracks()) track.stop();
    this.#input.disconnect();
    if (this.#context.state !== 'closed') await this.#context.close();
  }
}

async function openMedia(): Promise<MediaStream> {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices === undefined)
    throw new NoMicrophone('This browser allows no microphone at this address: it must be https, or localhost.');
  try {
    return await devices.getUserMedia({ audio: { channelCount: 1, noiseSuppression: true, autoGainControl: true } });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    throw new NoMicrophone(REASONS[name] ?? 'The microphone could not be opened.');
  }
}

/** Not every browser converts what a microphone gives: then it is recorded at the rate that it comes in. */
function connected(media: MediaStream): { context: AudioContext; input: AudioNode } {
  const wanted = new AudioContext({ sampleRate: SAMPLES_PER_S });
  try {
    return { context: wanted, input: wanted.createMediaStreamSource(media) };
  } catch {
    void wanted.close();
    const context = new AudioContext();
    return { context, input: context.createMediaStreamSource(media) };
  }
}
