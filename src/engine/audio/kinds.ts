import { plainFormat, type WavFormat } from './wav.js';

/** The format of a chunk's audio, as its intent states it. */
export type AnnouncedAudio = {
  codec: string;
  container: string;
  sample_rate_hz?: number | undefined;
  channels?: number | undefined;
};

/** The server's support for it: `other` is kept and handed out as it came, and `why` says what can not be done. */
export type AudioKind =
  | { kind: 'wav' }
  | { kind: 'ogg' }
  | { kind: 'pcm'; format: WavFormat }
  | { kind: 'other'; why: string };

/** By the container's name, in lower case and without parameters. */
const CONTAINERS: ReadonlyMap<string, 'wav' | 'ogg' | 'raw'> = new Map([
  ...['wav', 'wave', 'audio/wav', 'audio/wave', 'audio/x-wav', 'audio/vnd.wave'].map((name) => [name, 'wav'] as const),
  ...['ogg', 'oga', 'opus', 'audio/ogg', 'audio/opus'].map((name) => [name, 'ogg'] as const),
  ...['raw', 'pcm', 'none', 'audio/raw', 'audio/x-raw', 'audio/pcm'].map((name) => [name, 'raw'] as const),
]);

/** Names of samples without a header, as ffmpeg has them, and what else they are called. */
const SAMPLES: ReadonlyMap<string, string> = new Map([
  ...['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le'].flatMap((codec) => [
    [codec, codec] as const,
    [codec.slice('pcm_'.length), codec] as const,
  ]),
  ...['pcm', 'pcm16', 'pcm_s16', 'linear16'].map((name) => [name, 'pcm_s16le'] as const),
]);

/** Codecs other than plain samples, in whatever container: a WAV of these is not joined. */
const COMPRESSED = /^(pcm_mulaw|pcm_alaw|mulaw|ulaw|alaw|adpcm.*|gsm|mp3|aac|opus|vorbis|flac|speex)$/;
const NOT_OPUS = /^(vorbis|flac|speex|pcm.*)$/;

export function audioKindOf({ codec, container, sample_rate_hz, channels }: AnnouncedAudio): AudioKind {
  const coded = baseOf(codec);
  const other = (why: string): AudioKind => ({ kind: 'other', why });
  switch (CONTAINERS.get(baseOf(container))) {
    case 'wav':
      if (COMPRESSED.test(coded)) return other(`Chunks of ${codec} in ${container} ${ONE_BY_ONE}`);
      return { kind: 'wav' };
    case 'ogg':
      if (NOT_OPUS.test(coded)) return other(`Chunks of ${codec} in ${container} ${ONE_BY_ONE}`);
      return { kind: 'ogg' };
    case 'raw': {
      const known = SAMPLES.get(coded);
      if (known === undefined)
        return other(`${container} of ${codec} can not be joined or played: the codec is not one of raw PCM.`);
      if (sample_rate_hz === undefined || channels === undefined)
        return other('Raw PCM can not be joined or played without sample_rate_hz and channels.');
      return { kind: 'pcm', format: plainFormat(known, { channels, frames_per_second: sample_rate_hz }) };
    }
    default:
      return other(`Chunks in ${container} ${ONE_BY_ONE}`);
  }
}

const ONE_BY_ONE = 'can not be joined; fetch them one by one.';

/** `audio/ogg; codecs=opus` is audio/ogg. */
function baseOf(name: string): string {
  return (name.split(';', 1)[0] as string).trim().toLowerCase();
}
