import audioType from 'audio-type';
import { cafCodec } from './caf.js';
import { isWave64 } from './decoder_input.js';

/** Audio files as they are, by their first bytes and by the names of their containers. */

/** So much of a file tells its kind. */
export const KIND_BYTES = 65_536;

/** By what `audio-type` calls a file. Where a container may hold several codecs, the usual one. */
const KINDS: Record<string, { codec: string; container: string }> = {
  aac: { codec: 'aac', container: 'aac' },
  ac3: { codec: 'ac3', container: 'ac3' },
  aiff: { codec: 'pcm', container: 'aiff' },
  amr: { codec: 'amr', container: 'amr' },
  avi: { codec: 'mp3', container: 'avi' },
  caf: { codec: 'pcm', container: 'caf' },
  eac3: { codec: 'eac3', container: 'eac3' },
  flac: { codec: 'flac', container: 'flac' },
  m4a: { codec: 'aac', container: 'm4a' },
  mkv: { codec: 'opus', container: 'mkv' },
  mp3: { codec: 'mp3', container: 'mp3' },
  oga: { codec: 'vorbis', container: 'ogg' },
  opus: { codec: 'opus', container: 'ogg' },
  wav: { codec: 'pcm', container: 'wav' },
  webm: { codec: 'opus', container: 'webm' },
  wma: { codec: 'wma', container: 'wma' },
};

/** WAV files whose sizes stand elsewhere. */
const LONG_WAVS: ReadonlySet<string> = new Set(['RF64', 'BW64']);
const EXTENSIBLE = 0xfffe;
/** Files of kinds that nothing here decodes, by how they begin. */
const SIGNATURES: readonly [string, string][] = [
  ['.RMF', 'RealAudio'],
  ['.ra\xfd', 'RealAudio'],
  ['MThd', 'MIDI'],
  ['MAC ', "Monkey's Audio"],
  ['wvpk', 'WavPack'],
  ['TTA', 'TTA'],
  ['MPCK', 'Musepack'],
  ['MP+', 'Musepack'],
  ['DSD ', 'DSD'],
  ['FRM8', 'DSD'],
  ['.snd', 'Sun audio (AU)'],
  ['#!SILK', 'SILK'],
  ['\x02#!SILK', 'SILK'],
  ['#!EVRC', 'EVRC'],
];
/** In Ogg, by how the first packet begins. */
const OGG_CODECS: readonly [string, string][] = [
  ['Speex   ', 'Speex'],
  ['\x80theora', 'Theora'],
  ['CELT    ', 'CELT'],
  ['fishead', 'Ogg Skeleton'],
  ['PCM     ', 'PCM in Ogg'],
];
/** In WAV and AVI, by the number of the format (RFC 2361). */
const WAVE_CODECS: Record<number, string> = {
  34: 'TrueSpeech',
  49: 'GSM 6.10',
  64: 'G.721 ADPCM',
  66: 'G.723.1',
  69: 'G.726 ADPCM',
  80: 'MPEG layer 2',
  85: 'MP3',
  131: 'G.729',
  304: 'ACELP.net',
  353: 'WMA',
  354: 'WMA Pro',
  355: 'WMA Lossless',
  624: 'ATRAC3',
  655: 'G.722',
  8192: 'AC-3',
  8193: 'DTS',
  41225: 'Speex',
};

/** Read by decoders: where such a file is not decoded, it is damaged. */
const DECODED_WAVES: ReadonlySet<number> = new Set([1, 2, 3, 6, 7, 17]);
const DECODED_IN_MKV = /^A_(OPUS|VORBIS|AAC|MPEG\/L3|FLAC|PCM)/;
const DECODED = new Set([
  ...['lpcm', 'alac', 'opus', 'aac', 'ulaw', 'alaw', 'ima4', 'mp4a', '.mp3', 'fLaC', 'Opus', 'sowt', 'twos'],
  ...['in24', 'in32', 'fl32', 'fl64', 'ipcm', 'fpcm', 'raw', 'NONE', 'samr', 'sawb', 'ac-3', 'ec-3'],
]);

/** Files that browsers play, by the names of their containers without `audio/` before them. */
const PLAYED: ReadonlyMap<string, { content_type: string; extension: string }> = new Map([
  ...['wav', 'wave', 'x-wav'].map((name) => [name, { content_type: 'audio/wav', extension: 'wav' }] as const),
  ...['ogg', 'oga', 'opus'].map((name) => [name, { content_type: 'audio/ogg', extension: 'ogg' }] as const),
  ...['mp3', 'mpeg'].map((name) => [name, { content_type: 'audio/mpeg', extension: 'mp3' }] as const),
  ...['mp4', 'm4a', 'x-m4a'].map((name) => [name, { content_type: 'audio/mp4', extension: 'm4a' }] as const),
  ...['aac', 'flac', 'webm'].map((name) => [name, { content_type: `audio/${name}`, extension: name }] as const),
]);

/** By the four letters that CAF has for them. */
const CAF_CODECS: Record<string, string> = { lpcm: 'pcm', 'aac ': 'aac' };

/** The codec and the container of a file that begins with these bytes; null where nothing here decodes it. */
export function audioFileKind(head: Uint8Array): { codec: string; container: string } | null {
  if (isWave64(head)) return { codec: 'pcm', container: 'w64' };
  if (LONG_WAVS.has(Buffer.from(head.subarray(0, 4)).toString('latin1'))) return { codec: 'pcm', container: 'wav' };
  const of_caf = cafCodec(head);
  if (of_caf !== null) return { codec: CAF_CODECS[of_caf] ?? of_caf.trim(), container: 'caf' };
  // A copy: the package reads the memory behind a view from its beginning.
  const kind = audioType(Uint8Array.from(head));
  return (kind === undefined ? undefined : KINDS[kind]) ?? null;
}

/** The name of what nothing here decodes, by the bytes that a file begins with; null where it is not known. */
export function undecodedName(head: Uint8Array): string | null {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  const signed = SIGNATURES.find(([signature]) => text.startsWith(signature))?.[1];
  if (signed !== undefined) return signed;
  if (text.startsWith('OggS')) return OGG_CODECS.find(([signature]) => text.startsWith(signature, 28))?.[1] ?? null;
  const of_caf = cafCodec(head);
  if (of_caf !== null) return letters(of_caf);
  const wave = /^(?:RIFF|RF64|BW64)....WAVE.*?fmt ....(..)(?:.{22}(..))?/s.exec(text);
  if (wave !== null) return waveName(wave[1] as string, wave[2]);
  const of_avi = /auds.*?strf....(..)/s.exec(text.startsWith('RIFF') ? text : '');
  if (of_avi !== null) return waveName(of_avi[1] as string);
  const of_mkv = /\x86.(A_[A-Z0-9_/]+)/s.exec(text.startsWith('\x1aE\xdf\xa3') ? text : '');
  return of_mkv === null || DECODED_IN_MKV.test(of_mkv[1] as string) ? null : (of_mkv[1] as string);
}

/** Of a movie's index, the kind of its first audio track. */
export function undecodedTrack(index: Uint8Array): string | null {
  const text = Buffer.from(index.buffer, index.byteOffset, index.byteLength).toString('latin1');
  const found = /soun.*?stsd.{12}(....)/s.exec(text);
  return found === null ? null : letters(found[1] as string);
}

function waveName(tag: string, of_extensible = ''): string | null {
  const number = (of: string) => of.charCodeAt(0) + 256 * of.charCodeAt(1);
  const format = number(tag) === EXTENSIBLE && of_extensible.length === 2 ? number(of_extensible) : number(tag);
  if (DECODED_WAVES.has(format)) return null;
  return WAVE_CODECS[format] ?? `format 0x${format.toString(16).padStart(4, '0')}`;
}

/** Null for what is no name, or is decoded. */
function letters(code: string): string | null {
  const name = /^[\x20-\x7e]{4}$/.test(code) ? code.trim() : '';
  return name.length < 2 || DECODED.has(name) ? null : name;
}

/** As what a file in a container is sent and saved; null for one that browsers do not play. */
export function playedType(container: string): { content_type: string; extension: string } | null {
  const [name = ''] = container.toLowerCase().split(';', 1);
  return PLAYED.get(name.trim().replace(/^audio\//, '')) ?? null;
}
