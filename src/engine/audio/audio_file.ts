import audioType from 'audio-type';

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

/** Files that browsers play, by the names of their containers without `audio/` before them. */
const PLAYED: ReadonlyMap<string, { content_type: string; extension: string }> = new Map([
  ...['wav', 'wave', 'x-wav'].map((name) => [name, { content_type: 'audio/wav', extension: 'wav' }] as const),
  ...['ogg', 'oga', 'opus'].map((name) => [name, { content_type: 'audio/ogg', extension: 'ogg' }] as const),
  ...['mp3', 'mpeg'].map((name) => [name, { content_type: 'audio/mpeg', extension: 'mp3' }] as const),
  ...['mp4', 'm4a', 'x-m4a'].map((name) => [name, { content_type: 'audio/mp4', extension: 'm4a' }] as const),
  ...['aac', 'flac', 'webm'].map((name) => [name, { content_type: `audio/${name}`, extension: name }] as const),
]);

/** The codec and the container of a file that begins with these bytes; null where nothing here decodes it. */
export function audioFileKind(head: Uint8Array): { codec: string; container: string } | null {
  // A copy: the package reads the memory behind a view from its beginning.
  const kind = audioType(Uint8Array.from(head));
  return (kind === undefined ? undefined : KINDS[kind]) ?? null;
}

/** As what a file in a container is sent and saved; null for one that browsers do not play. */
export function playedType(container: string): { content_type: string; extension: string } | null {
  const [name = ''] = container.toLowerCase().split(';', 1);
  return PLAYED.get(name.trim().replace(/^audio\//, '')) ?? null;
}
