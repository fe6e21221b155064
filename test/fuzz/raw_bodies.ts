import type { Route } from '../../src/edge/http/route.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { omiConversation, segment } from '../fixtures/omi.js';
import { hurt, spoil } from './drawn_values.js';

/** Bodies that handlers read by themselves: bytes, forms with a file, and what omi sends. */

type RawBody = { bytes: Buffer; type: string | null };

export function rawBodyOf(random: SeededRandom, { path }: Route): RawBody {
  if (path.endsWith('/audio/transcriptions') && random.chance(0.9)) return formOf(random);
  if (path.startsWith('/omi/') && random.chance(0.7)) return omiBodyOf(random);
  return { bytes: bytesOf(random), type: 'application/octet-stream' };
}

function bytesOf(random: SeededRandom): Buffer {
  return random.chance(0.3) ? Buffer.from('audio that was recorded') : Buffer.from(random.bytes(random.below(2_000)));
}

const FIELDS: [name: string, values: string[]][] = [
  ['model', ['whisper-1', 'spool-keep', '', 'x'.repeat(20_000)]],
  ['response_format', ['json', 'text', 'srt', 'verbose_json', 'diarized_json', 'xml']],
  ['language', ['en', 'de', 'not a tag', '']],
  ['stream', ['true', 'false', '1']],
  ['timestamp_granularities[]', ['word', 'segment', '__proto__']],
  ['temperature', ['0', 'NaN', '-1']],
  ['__proto__', ['x']],
  ['prompt', ['Words', '\u0000', 'x'.repeat(17_000)]],
];
const FILE_NAMES = ['audio.wav', '../../etc/passwd', '', 'a"b', '\u202e.wav', 'x'.repeat(5_000)];

function formOf(random: SeededRandom): RawBody {
  const parts: (string | Buffer)[] = [];
  const part = (head: string, content: string | Buffer) =>
    parts.push(`--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n`, content, '\r\n');
  while (random.chance(0.6)) {
    const [name, values] = random.pick(FIELDS);
    part(`name="${name}"`, random.pick(values));
  }
  while (random.chance(0.7)) part(`name="file"; filename="${random.pick(FILE_NAMES)}"`, bytesOf(random));
  if (random.chance(0.9)) parts.push('--x--\r\n');
  const bytes = Buffer.concat(parts.map((one) => Buffer.from(one)));
  const type = random.chance(0.95) ? 'multipart/form-data; boundary=x' : 'multipart/form-data';
  return { bytes: random.chance(0.2) ? hurt(random, bytes) : bytes, type };
}

function omiBodyOf(random: SeededRandom): RawBody {
  const segments = Array.from({ length: random.below(4) }, (_, at) => segment('one two three', at * 4));
  let value: unknown = random.chance(0.8)
    ? omiConversation(`c${random.below(5)}`, segments, { discarded: random.chance(0.2) })
    : random.pick<unknown>([{ segments, session_id: 's' }, segments, { summary: 'x' }, null, 'x', 1]);
  if (random.chance(0.5)) value = spoil(random, value);
  const bytes = Buffer.from(JSON.stringify(value) ?? '');
  return { bytes: random.chance(0.15) ? hurt(random, bytes) : bytes, type: 'application/json' };
}
