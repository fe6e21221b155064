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

/** The open microphone: hands on pieces of samples until it is closed. */
export class Microphone {
  readonly samples_per_s: number;
  readonly #context: AudioContext;
  readonly #media: MediaStream;

  private constructor(context: AudioContext, media: MediaStream) {
    this.#context = context;
    this.#media = media;
    this.samples_per_s = context.sampleRate;
  }

  /** `lost`: it was unplugged, or permission was withdrawn. */
  static async open(take: (piece: Float32Array) => void, lost: () => void): Promise<Microphone> {
    const media = await openMedia();
    try {
      const { context, input } = connected(media);
      await context.audioWorklet.addModule(worklet_address);
      const capture = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0, channelCount: 1 });
      capture.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => take(new Float32Array(data));
      input.connect(capture);
      await context.resume();
      media.getAudioTracks()[0]?.addEventListener('ended', lost);
      return new Microphone(context, media);
    } catch (error) {
      for (const track of media.getTracks()) track.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const track of this.#media.getTracks()) track.stop();
    await this.#context.close();
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
