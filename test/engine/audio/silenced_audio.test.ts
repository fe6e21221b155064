import { Readable } from 'node:stream';
import t from 'tap';
import { pagesOf } from '../../../src/engine/audio/ogg.js';
import { readOpus } from '../../../src/engine/audio/opus.js';
import { type SilencedChunk, silencedAudio } from '../../../src/engine/audio/silenced_audio.js';
import { pcm16Format, plainFormat, writeWav } from '../../../src/engine/audio/wav.js';
import type { BlobStore, ByteRange } from '../../../src/engine/blobs/blob_store.js';
import { opusFile } from '../../fixtures/opus_file.js';

/** A store of one blob, which comes in small pieces. */
function storeOf(bytes: Buffer): BlobStore {
  const open = async (_: string, { start = 0, end = bytes.length - 1 }: ByteRange = {}) => {
    const part = bytes.subarray(start, end + 1);
    const pieces = Array.from({ length: Math.ceil(part.length / 37) }, (_, n) => part.subarray(n * 37, (n + 1) * 37));
    return { size_bytes: bytes.length, stream: Readable.from(pieces) };
  };
  return { open } as unknown as BlobStore;
}

type Announced = Pick<SilencedChunk, 'codec' | 'container' | 'sample_rate_hz' | 'channels' | 'length_ms'>;

async function silenced(bytes: Buffer, announced: Announced, [from_ms, to_ms]: [number, number]) {
  const chunk = { ...announced, key: 'k', size_bytes: bytes.length };
  const found = await silencedAudio(storeOf(bytes), chunk, { from_ms, to_ms });
  if (found === null) return null;
  const pieces: Buffer[] = [];
  for await (const piece of found()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* once(bytes: Buffer) {
  yield bytes;
}

t.test('samples of a WAV are zeros in the part, and as they were around it', async (t) => {
  const samples = Buffer.alloc(2_000, 7);
  const fmt = pcm16Format({ channels: 1, frames_per_second: 1_000 });
  const wav = writeWav({ fmt }, samples);
  const announced = { codec: 'pcm_s16le', container: 'wav', length_ms: 1_000 };
  const expected = Buffer.from(samples).fill(0, 400, 1_200);
  t.same(await silenced(wav, announced, [200, 600]), writeWav({ fmt }, expected));
  const to_end = Buffer.from(samples).fill(0, 400);
  t.same(await silenced(wav, { ...announced, length_ms: 990 }, [200, 990]), writeWav({ fmt }, to_end), 'to the end');
});

t.test('raw samples without a sign are silent in the middle', async (t) => {
  const bytes = Buffer.alloc(100, 7);
  const announced = { codec: 'pcm_u8', container: 'raw', sample_rate_hz: 1_000, channels: 1, length_ms: 100 };
  t.same(await silenced(bytes, announced, [0, 10]), Buffer.from(bytes).fill(128, 0, 10));
});

t.test('packets of Opus in the part are frames that were not sent, and the time stays', async (t) => {
  const bytes = opusFile({ pages: Array.from({ length: 10 }, () => Array(5).fill(300)), trimmed: 100, begins_at: 960 });
  const announced = { codec: 'opus', container: 'ogg', length_ms: 1_000 };
  const left = (await silenced(bytes, announced, [400, 500])) as Buffer;
  const [was, is] = [await readOpus(once(bytes)), await readOpus(once(left))];
  t.match(is, { samples: was.samples, trimmed: was.trimmed, pre_skip: was.pre_skip, lost: [] });
  const packets: number[] = [];
  for await (const page of pagesOf(once(left)))
    if (page.sequence >= 2) packets.push(...page.lacing.filter((length) => length < 255));
  t.equal(packets.length, 50, 'each packet is there');
  const unsent = packets.flatMap((length, nth) => (length === 1 ? [nth] : []));
  t.equal(unsent[0], 20, 'from 400 ms on');
  t.ok((unsent.at(-1) as number) >= 25 && (unsent.at(-1) as number) <= 29, 'to 500 ms, and what may repeat that');
  t.equal((await silenced(bytes, announced, [0, 1_000]))?.includes(Buffer.alloc(20, 4 * 31 + 2)), false);
  t.equal(bytes.includes(Buffer.alloc(20, 4 * 31 + 2)), true, 'it was there');
});

t.test('what is compressed otherwise can not be cut', async (t) => {
  const announced = { codec: 'mp3', container: 'mp3', length_ms: 1_000 };
  t.equal(await silenced(Buffer.alloc(100, 3), announced, [0, 10]), null);
  const mulaw = Buffer.from(plainFormat('pcm_u8', { channels: 1, frames_per_second: 8_000 }).fmt);
  mulaw.writeUInt16LE(7, 0);
  const wav = writeWav({ fmt: mulaw }, Buffer.alloc(80, 9));
  t.equal(await silenced(wav, { codec: 'x', container: 'wav', length_ms: 10 }, [0, 5]), null);
  t.equal(await silenced(Buffer.from('no ogg'), { codec: 'opus', container: 'ogg', length_ms: 10 }, [0, 5]), null);
});
