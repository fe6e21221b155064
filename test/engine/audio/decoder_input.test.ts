import t from 'tap';
import { audioFileKind, undecodedName, undecodedTrack } from '../../../src/engine/audio/audio_file.js';
import { audioLength, monoPieces } from '../../../src/engine/audio/decode_audio.js';
import { decoderInput } from '../../../src/engine/audio/decoder_input.js';
import { pcm16Format, plainFormat, writeWav } from '../../../src/engine/audio/wav.js';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { bufferSource } from '../../../tools/demo/recording.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';
import { audioFixture, SAID_MS } from '../../fixtures/speech.js';

/** Containers that decoders do not know by themselves. */

const FMT = pcm16Format({ channels: 1, frames_per_second: 8_000 });
const TONE = Buffer.alloc(2 * 8_000 * 2);
for (let at = 0; at < TONE.length / 2; at++) TONE.writeInt16LE(Math.round(9_000 * Math.sin(at / 4)), at * 2);
const WAV = writeWav({ fmt: FMT }, TONE);

const little = (value: number, bytes: number) => {
  const written = Buffer.alloc(bytes);
  written.writeUIntLE(value, 0, Math.min(6, bytes));
  return written;
};
const big = (value: number, bytes: number) => {
  const written = Buffer.alloc(bytes);
  written.writeUIntBE(value, bytes - Math.min(6, bytes), Math.min(6, bytes));
  return written;
};

/** As writers do that can't know whether it becomes longer than 4 GiB. */
function longWav(form: string, bytes = WAV): Buffer {
  const sizes = [little(bytes.length, 8), little(bytes.length - 44, 8), little(0, 12)];
  const long = Buffer.concat([bytes.subarray(0, 12), Buffer.from('ds64'), little(28, 4), ...sizes, bytes.subarray(12)]);
  long.write(form, 0, 'latin1');
  long.writeUInt32LE(0xffff_ffff, 4);
  long.writeUInt32LE(0xffff_ffff, 36 + bytes.indexOf('data') + 4);
  return long;
}

function wave64(fmt: Buffer, samples: Buffer, said_bytes = samples.length + 24): Buffer {
  const tail = Buffer.from('f3acd3118cd100c04f8edb8a', 'hex');
  const chunk = (tag: string, body: Buffer, size = body.length + 24) =>
    Buffer.concat([Buffer.from(tag), tail, little(size, 8), body, Buffer.alloc((8 - (body.length % 8)) % 8)]);
  const chunks = [chunk('junk', Buffer.alloc(13)), chunk('fmt ', fmt), chunk('data', samples, said_bytes)];
  const body = Buffer.concat([Buffer.from('wave'), tail, ...chunks]);
  return Buffer.concat([
    Buffer.from('riff2e91cf11a5d628db04c10000', 'latin1').subarray(0, 4),
    Buffer.from('2e91cf11a5d628db04c10000', 'hex'),
    little(body.length + 24, 8),
    body,
  ]);
}

/** The packets of `said.aac` as iPhones put them into CAF. */
function aacInCaf(): Buffer {
  const adts = audioFixture('said.aac');
  const packets: Buffer[] = [];
  for (let at = 0; at + 7 <= adts.length; ) {
    const length = ((adts.readUInt8(at + 3) & 3) << 11) | (adts.readUInt8(at + 4) << 3) | (adts.readUInt8(at + 5) >> 5);
    packets.push(adts.subarray(at + 7, at + length));
    at += length;
  }
  const rate = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000][(adts.readUInt8(2) >> 2) & 15];
  const config = Buffer.from([
    (2 << 3) | (((adts.readUInt8(2) >> 2) & 15) >> 1),
    (((adts.readUInt8(2) >> 2) & 1) << 7) | (1 << 3),
  ]);
  const specific = Buffer.concat([Buffer.from([5, 2]), config]);
  const decoder = Buffer.concat([Buffer.from([4, 13 + specific.length, 0x40, 0x15]), Buffer.alloc(11), specific]);
  const cookie = Buffer.concat([Buffer.from([3, 3 + decoder.length, 0, 0, 0]), decoder]);
  const desc = Buffer.concat([
    Buffer.alloc(8),
    Buffer.from('aac '),
    ...[0, 0, 1_024, 1, 0].map((value) => big(value, 4)),
  ]);
  desc.writeDoubleBE(rate as number, 0);
  const sizes = packets.map(({ length }) =>
    Buffer.from(length < 128 ? [length] : [0x80 | (length >> 7), length & 0x7f]),
  );
  const table = Buffer.concat([big(packets.length, 8), big(packets.length * 1_024, 8), big(0, 8), ...sizes]);
  const chunk = (tag: string, body: Buffer) => Buffer.concat([Buffer.from(tag), big(body.length, 8), body]);
  const data = chunk('data', Buffer.concat([big(0, 4), ...packets]));
  return Buffer.concat([
    Buffer.from('caff'),
    big(0x1_0000, 4),
    chunk('desc', desc),
    chunk('kuki', cookie),
    chunk('pakt', table),
    data,
  ]);
}

async function decoded(file: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const options = { rate: 8_000, length_s_max: 60 };
  for await (const piece of monoPieces(decoderInput(bufferSource(file)), options))
    pieces.push(Buffer.from(Uint8Array.from(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))));
  return Buffer.concat(pieces);
}

t.test('K-271 RF64, BW64 and Wave64 are decoded as WAV', async (t) => {
  const plain = await decoded(WAV);
  t.equal(plain.length, (TONE.length / 2) * 4);
  for (const [says, file, container] of [
    ['RF64', longWav('RF64'), 'wav'],
    ['BW64', longWav('BW64'), 'wav'],
    ['Wave64', wave64(FMT, TONE), 'w64'],
    ['Wave64 whose writer was cut off', wave64(FMT, TONE, 0), 'w64'],
  ] as const) {
    t.same(audioFileKind(file), { codec: 'pcm', container }, says);
    t.ok((await decoded(file)).equals(plain), says);
  }
  const precise = wave64(
    plainFormat('pcm_f32le', { channels: 2, frames_per_second: 48_000 }).fmt,
    Buffer.alloc(384_000),
  );
  const length_s = await audioLength(decoderInput(bufferSource(precise)), { length_s_max: 9 });
  t.ok(Math.abs(length_s - 1) < 1e-6, `${length_s} s of numbers of 32 bits`);
});

t.test('K-271 Opus, ALAC and AAC in CAF are decoded', async (t) => {
  for (const [says, file, codec, length_s] of [
    ['Opus', audioFixture('begins_opus.caf'), 'opus', 3],
    ['ALAC', audioFixture('begins_alac.caf'), 'alac', 3],
    ['AAC', aacInCaf(), 'aac', SAID_MS / 1_000],
    ['samples', audioFixture('said.caf'), audioFileKind(audioFixture('said.caf'))?.codec, SAID_MS / 1_000],
  ] as const) {
    t.same(audioFileKind(file), { codec, container: 'caf' }, says);
    const found = await audioLength(decoderInput(bufferSource(file)), { length_s_max: 60 });
    t.ok(Math.abs(found - length_s) < 0.1, `${says}: ${found} s`);
  }
  const cut = audioFixture('begins_alac.caf').subarray(0, 20_000);
  t.equal(audioFileKind(cut)?.codec, 'alac');
  await t.rejects(decoded(cut), { name: 'NotDecoded' }, 'its table of packets was behind them');
});

t.test('K-150 what a file in Ogg holds behind damage is decoded', async (t) => {
  for (const name of ['said.ogg', 'said.opus']) {
    const sound = audioFixture(name);
    const half = sound.length >> 1;
    const damaged = Buffer.concat([sound.subarray(0, half), sound.subarray(half + 500)]);
    const length_s = await audioLength(decoderInput(bufferSource(damaged)), { length_s_max: 60 });
    t.ok(length_s > (0.75 * SAID_MS) / 1_000, `${name}: ${length_s} s`);
  }
});

t.test('K-271 what is damaged harms nobody', async (t) => {
  const random = new SeededRandom(drawSeed(t));
  const files = [longWav('RF64'), wave64(FMT, TONE), audioFixture('begins_opus.caf'), aacInCaf()];
  for (const file of files)
    for (let draw = 0; draw < drawsOf(200); draw++) {
      const damaged = Buffer.from(file);
      for (let change = random.below(9); change >= 0; change--) damaged[random.below(400)] = random.below(256);
      let bytes = 0;
      for await (const piece of decoderInput(bufferSource(damaged.subarray(0, 1 + random.below(file.length)))))
        bytes += piece.length;
      if (bytes > 2 * file.length) t.fail(`${bytes} bytes of ${file.length}`);
    }
  t.pass();
});

t.test('K-271 what is not decoded is called by its name', async (t) => {
  const tagged = (format: number) => {
    const file = Buffer.from(WAV);
    file.writeUInt16LE(format, 20);
    return file;
  };
  const ogg = (first: string) => Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from(first, 'latin1')]);
  const caf = (codec: string) =>
    Buffer.concat([
      Buffer.from('caff'),
      Buffer.alloc(4),
      Buffer.from('desc'),
      Buffer.alloc(16),
      Buffer.from(codec),
      Buffer.alloc(30),
    ]);
  for (const [name, head] of [
    ['GSM 6.10', tagged(49)],
    ['format 0x1234', tagged(0x1234)],
    [null, WAV],
    ['Speex', ogg('Speex   1.2')],
    [null, ogg('OpusHead')],
    ['QDM2', caf('QDM2')],
    [null, caf('alac')],
    ['A_TTA1', Buffer.from('\x1aE\xdf\xa3 \x86\x86A_TTA1', 'latin1')],
    [null, Buffer.from('\x1aE\xdf\xa3 \x86\x86A_OPUS', 'latin1')],
    ['MIDI', Buffer.from('MThd')],
    [null, Buffer.from('just text')],
  ] as const)
    t.equal(undecodedName(head), name, String(name));
  const track = (kind: string) => Buffer.from(`moov hdlr soun minf stsd${'\0'.repeat(12)}${kind}`, 'latin1');
  t.equal(undecodedTrack(track('nmos')), 'nmos');
  t.equal(undecodedTrack(track('mp4a')), null);
});
