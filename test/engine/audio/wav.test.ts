import t from 'tap';
import {
  cutWav,
  pcm16Format,
  readPiece,
  readWav,
  type Wav,
  wavBytes,
  withHead,
  writeWav,
} from '../../../src/engine/audio/wav.js';
import { bufferSource } from '../../../tools/demo/recording.js';
import { makeTone } from '../../../tools/demo/tone.js';

/** A RIFF chunk, padded to an even length. */
const chunk = (tag: string, body: Buffer, size = body.length) => {
  const header = Buffer.alloc(8);
  header.write(tag, 0, 'latin1');
  header.writeUInt32LE(size, 4);
  return Buffer.concat([header, body, Buffer.alloc(body.length % 2)]);
};
const riff = (...chunks: Buffer[]) => {
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  return chunk('RIFF', body);
};
const format = (fields: { number?: number; channels?: number; rate?: number; frame_bytes?: number; bits?: number }) => {
  const { number = 1, channels = 1, rate = 8_000, bits = 16 } = fields;
  const fmt = Buffer.alloc(16);
  fmt.writeUInt16LE(number, 0);
  fmt.writeUInt16LE(channels, 2);
  fmt.writeUInt32LE(rate, 4);
  fmt.writeUInt16LE(fields.frame_bytes ?? (channels * bits) / 8, 12);
  fmt.writeUInt16LE(bits, 14);
  return fmt;
};
const extensible = (number: number, options: { bits: number; channels: number; tail?: string }) => {
  const more = Buffer.alloc(24);
  more.writeUInt16LE(22, 0);
  more.writeUInt16LE(options.bits, 2);
  more.writeUInt16LE(number, 8);
  more.write(options.tail ?? '000000001000800000aa00389b71', 10, 'hex');
  return Buffer.concat([format({ number: 0xfffe, ...options }), more]);
};
const counting = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));

const read = async (file: Buffer): Promise<Wav> => {
  const found = await readWav(bufferSource(file));
  if (!found.ok) throw new Error(found.why);
  return found.wav;
};

t.test('pieces are WAV files whose samples, put together, are those of the file', async (t) => {
  const rows: [string, Buffer, string, number][] = [
    ['16 bit, one channel', format({}), 'pcm_s16le', 2],
    ['8 bit, three channels: frames of an odd size', format({ bits: 8, channels: 3 }), 'pcm_u8', 3],
    ['24 bit, one channel', format({ bits: 24 }), 'pcm_s24le', 3],
    ['20 bits in three bytes', format({ bits: 20, frame_bytes: 3 }), 'pcm_s24le', 3],
    ['floats', format({ number: 3, bits: 32, channels: 2 }), 'pcm_f32le', 8],
    ['extensible samples', extensible(1, { bits: 24, channels: 2 }), 'pcm_s24le', 6],
    ['extensible floats', extensible(3, { bits: 64, channels: 1 }), 'pcm_f64le', 8],
    ['a format chunk of odd length', Buffer.concat([format({}), Buffer.alloc(3)]), 'pcm_s16le', 2],
  ];
  for (const [title, fmt, codec, frame_bytes] of rows) {
    const samples = counting(frame_bytes * 1_003);
    const file = riff(
      chunk('JUNK', Buffer.alloc(5)),
      chunk('fmt ', fmt),
      chunk('LIST', Buffer.alloc(7)),
      chunk('data', samples),
    );
    const source = bufferSource(file);
    const wav = await read(file);
    t.match(wav, { frames: 1_003, format: { codec, frame_bytes } }, title);
    const pieces = cutWav(wav, 0.02);
    t.equal(pieces.length, Math.ceil(1_003 / 160), title);
    const back: Buffer[] = [];
    for (const piece of pieces) {
      const bytes = await readPiece(source, wav, piece);
      t.equal(bytes.length, wavBytes(wav.format, piece.frames), title);
      t.equal(bytes.length % 2, 0, title);
      t.equal(bytes.readUInt32LE(4), bytes.length - 8, title);
      const own = await read(bytes);
      t.same(own.format, wav.format, title);
      t.equal(own.frames, piece.frames, title);
      back.push(bytes.subarray(own.data_offset, own.data_offset + own.frames * frame_bytes));
    }
    t.ok(Buffer.concat(back).equals(samples), title);
  }
});

t.test('times of pieces meet without a gap, also at rates that no millisecond divides', async (t) => {
  for (const rate of [8_000, 11_025, 44_100, 48_000, 3]) {
    const frames = rate * 3 + 1;
    const wav = await read(riff(chunk('fmt ', format({ rate })), chunk('data', Buffer.alloc(frames * 2))));
    const pieces = cutWav(wav, 0.3);
    t.equal(pieces[0]?.start_ms, 0);
    t.equal(
      pieces.reduce((sum, piece) => sum + piece.frames, 0),
      frames,
    );
    for (const [index, { start_ms, end_ms, first_frame }] of pieces.entries()) {
      t.ok(start_ms < end_ms, `${rate} Hz, piece ${index}`);
      t.equal(start_ms, pieces[index - 1]?.end_ms ?? 0);
      t.ok(Math.abs(start_ms - (first_frame * 1000) / rate) <= 1);
    }
  }
});

const FMT = chunk('fmt ', format({ channels: 2 }));

t.test('samples go on to the end where their size is none', async (t) => {
  const samples = counting(40);
  for (const size of [0, 0x7fff_ffff, 0x7fff_f000, 0xffff_ffff, 1_000, 41])
    t.match(await read(riff(FMT, chunk('data', samples, size))), { frames: 10 }, `${size}`);
});

t.test('samples end with their chunk, and half a frame at the end is none', async (t) => {
  t.match(await read(riff(FMT, chunk('data', counting(43)))), { frames: 10 });
  t.match(await read(riff(FMT, chunk('data', counting(40)), chunk('LIST', counting(8)))), { frames: 10 });
  const empty = riff(FMT, chunk('data', Buffer.alloc(0)), chunk('LIST', counting(8)));
  t.match(await readWav(bufferSource(empty)), { ok: false, why: 'holds no audio' });
});

t.test('a pad byte may be missing, or be one too many', async (t) => {
  const data = chunk('data', counting(40));
  const pad = Buffer.alloc(1);
  const rows: [string, Buffer][] = [
    ['as it should be', riff(FMT, chunk('LIST', counting(21)), data)],
    ['missing', riff(FMT, chunk('LIST', counting(21)).subarray(0, -1), data)],
    ['missing twice', riff(FMT, ...Array(2).fill(chunk('LIST', counting(33)).subarray(0, -1)), data)],
    ['one too many', riff(FMT, chunk('LIST', counting(22)), pad, data)],
    ['before samples without a size', riff(FMT, chunk('LIST', counting(22)), pad, chunk('data', counting(40), 0))],
  ];
  for (const [says, file] of rows)
    t.match(await read(file), { frames: 10, data_offset: file.indexOf('data') + 8 }, says);
});

t.test('RF64 and BW64 have the size of the samples in ds64', async (t) => {
  for (const form of ['RF64', 'BW64'])
    for (const [size, frames] of [
      [40n, 10],
      [0n, 14],
      [1n << 40n, 14],
    ] as const) {
      const sizes = Buffer.alloc(28);
      sizes.writeBigUInt64LE(size, 8);
      const file = riff(chunk('ds64', sizes), FMT, chunk('data', counting(40), 0xffff_ffff), counting(16));
      file.write(form, 0, 'latin1');
      t.match(await read(file), { frames }, `${form} ${size}`);
    }
});

t.test('the head of a file is read once', async (t) => {
  const file = riff(FMT, chunk('LIST', counting(5_000)), chunk('data', counting(40)));
  const reads: [number, number][] = [];
  const source = bufferSource(file);
  const counted = await withHead({
    ...source,
    read: (offset, length) => {
      reads.push([offset, length]);
      return source.read(offset, length);
    },
  });
  t.match(await readWav(counted), { ok: true, wav: { frames: 10 } });
  t.match(reads, [
    [0, 4_096],
    [5_044, 9],
    [5_044, 8],
  ]);
  t.equal((await counted.read(file.length + 10, 8)).length, 0);
});

t.test('what is not a WAV file, or none that can be cut, is refused with the reason', async (t) => {
  const fmt = chunk('fmt ', format({}));
  const data = chunk('data', Buffer.alloc(8));
  const rows: [string, Buffer, boolean, RegExp][] = [
    ['nothing', Buffer.alloc(0), false, /does not begin/],
    ['text', Buffer.from('no audio in here at all'), false, /does not begin/],
    ['another RIFF', chunk('RIFF', Buffer.from('AVI LIST')), false, /does not begin/],
    ['no chunks', riff(), true, /no fmt/],
    ['no data', riff(fmt), true, /no data/],
    ['data first', riff(data, fmt), true, /before its format/],
    ['empty data', riff(fmt, chunk('data', Buffer.alloc(0))), true, /no audio/],
    ['less than a frame', riff(fmt, chunk('data', Buffer.alloc(1))), true, /no audio/],
    ['short format', riff(chunk('fmt ', Buffer.alloc(14)), data), true, /too short/],
    ['format cut off', riff(fmt).subarray(0, 24), true, /too short/],
    ['long format', riff(chunk('fmt ', Buffer.alloc(2_000)), data), true, /too long/],
    ['compressed', riff(chunk('fmt ', format({ number: 85 })), data), true, /format 85/],
    ['half extensible', riff(chunk('fmt ', format({ number: 0xfffe })), data), true, /extensible/],
    [
      'unknown sub-format',
      riff(chunk('fmt ', extensible(1, { bits: 16, channels: 1, tail: '00'.repeat(14) })), data),
      true,
      /extensible/,
    ],
    ['no channels', riff(chunk('fmt ', format({ channels: 0 })), data), true, /no channels/],
    ['no rate', riff(chunk('fmt ', format({ rate: 0 })), data), true, /sample rate/],
    ['wrong frame size', riff(chunk('fmt ', format({ frame_bytes: 5 })), data), true, /frames of 5/],
  ];
  for (const [title, file, is_wav, why] of rows) {
    t.match(await readWav(bufferSource(file)), { ok: false, is_wav, why }, title);
  }
  const endless = riff(...Array.from({ length: 10_001 }, () => chunk('JUNK', Buffer.alloc(0))));
  t.match(await readWav(bufferSource(endless)), { ok: false, why: /more than/ });
});

t.test('the tone and the header we write are read back', async (t) => {
  const wav = await read(makeTone({ seconds: 2, hertz: 440 }));
  t.match(wav, {
    frames: 32_000,
    format: { codec: 'pcm_s16le', frames_per_second: 16_000, channels: 1 },
  });
  const fmt = pcm16Format({ channels: 2, frames_per_second: 44_100 });
  t.match(await read(writeWav({ fmt }, Buffer.alloc(44_100 * 4))), { frames: 44_100 });
});
