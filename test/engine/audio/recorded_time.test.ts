import t from 'tap';
import { OggPage } from '../../../src/engine/audio/ogg.js';
import { type RecordedTime, recordedTime } from '../../../src/engine/audio/recorded_time.js';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { bufferSource } from '../../../tools/demo/recording.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';

/** When a recording began, as its file tells. */

const AT = Date.parse('2026-03-02T09:45:00Z');
const QUICKTIME_S = AT / 1_000 + 2_082_844_800;

const text = (said: string) => Buffer.from(said, 'latin1');
const number = (value: number, bytes = 4) => {
  const written = Buffer.alloc(bytes);
  written.writeUIntBE(value, bytes > 6 ? bytes - 6 : 0, Math.min(bytes, 6));
  return written;
};
const box = (type: string | Buffer, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([number(body.length + 8), Buffer.from(type), body]);
};
const header = (seconds: number, version = 0) =>
  box('mvhd', Buffer.from([version, 0, 0, 0]), number(seconds, version === 1 ? 8 : 4), Buffer.alloc(90));
const keyed = (said: string) =>
  box(
    'meta',
    box('hdlr', Buffer.alloc(25)),
    box(
      'keys',
      number(0),
      number(2),
      ...['com.apple.quicktime.make', 'com.apple.quicktime.creationdate'].map((name) => box('mdta', text(name))),
    ),
    box(
      'ilst',
      ...['Apple', said].map((value, at) => box(number(at + 1), box('data', number(1), number(0), text(value)))),
    ),
  );
const movie = (...boxes: Buffer[]) =>
  Buffer.concat([box('ftyp', text('M4A ')), box('mdat', Buffer.alloc(5_000)), box('moov', ...boxes)]);

const chunk = (tag: string, body: Buffer) => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([text(tag), size, body, Buffer.alloc(body.length % 2)]);
};
const wav = (...chunks: Buffer[]) => {
  const body = Buffer.concat([text('WAVE'), chunk('fmt ', Buffer.alloc(16)), ...chunks]);
  return chunk('RIFF', body);
};
const data = chunk('data', Buffer.alloc(2_001));
const bext = (date: string, time: string) =>
  chunk('bext', Buffer.concat([Buffer.alloc(320), text(date + time), Buffer.alloc(264)]));
const info = (date: string) =>
  chunk('LIST', Buffer.concat([text('INFO'), chunk('INAM', text('Desk\0')), chunk('ICRD', text(`${date}\0`))]));

const little = (value: number) => number(value).reverse();
const comments = (...tags: string[]) =>
  Buffer.concat([
    ...[little(3), text('lib'), little(tags.length)],
    ...tags.flatMap((tag) => [little(Buffer.byteLength(tag)), Buffer.from(tag)]),
  ]);
const ogg = (head: string, tags: Buffer) => {
  const pages = [text(head), tags].flatMap((packet, at) => {
    const lacing = [...Array<number>(Math.floor(packet.length / 255)).fill(255), packet.length % 255];
    const place = { serial: 7, sequence: at, granule: 0n };
    const half = Math.ceil(lacing.length / 2);
    const page = OggPage.of({ lacing: Buffer.from(lacing), body: packet }, { ...place, flags: at === 0 ? 2 : 0 });
    return lacing.length < 2 ? [page] : [page.partsOf(0, half), page.partsOf(half, lacing.length)];
  });
  return Buffer.concat(pages.map(({ bytes }) => bytes));
};
const flac = (...tags: string[]) => {
  const block = (kind: number, body: Buffer) => Buffer.concat([Buffer.from([kind]), number(body.length, 3), body]);
  return Buffer.concat([text('fLaC'), block(0, Buffer.alloc(34)), block(0x84, comments(...tags)), Buffer.alloc(99)]);
};

const UTC: RecordedTime = { ms: AT, zone: 'utc' };
const LOCAL: RecordedTime = { ms: AT, zone: 'local' };
const FILES: [says: string, bytes: Buffer, found: RecordedTime | null][] = [
  ['MP4', movie(header(QUICKTIME_S)), UTC],
  ['MP4 with long times', movie(header(QUICKTIME_S, 1)), UTC],
  ['QuickTime with a zone', movie(header(QUICKTIME_S + 99), keyed('2026-03-02T10:45:00+0100')), { ms: AT, zone: 60 }],
  ['QuickTime with a date that is none', movie(header(QUICKTIME_S), keyed('yesterday')), UTC],
  ['MP4 without a time', movie(header(0)), null],
  ['MP4 of a recorder without a clock', movie(header(2_082_844_800 + 60)), null],
  ['WAV with bext', wav(bext('2026-03-02', '09:45:00'), data), LOCAL],
  ['bext with other separators, behind the samples', wav(data, bext('2026:03:02', '09-45-00')), LOCAL],
  ['bext without a date', wav(bext('\0'.repeat(10), '\0'.repeat(8)), data), null],
  ['WAV with INFO', wav(data, info('2026-03-02 09:45:00')), LOCAL],
  ['WAV with a day alone', wav(info('2026-03-02'), data), null],
  ['WAV without either', wav(data), null],
  [
    'Opus',
    ogg(
      'OpusHead',
      Buffer.concat([text('OpusTags'), comments('TITLE=x', 'creation_time=2026-03-02T09:45:00.000000Z')]),
    ),
    UTC,
  ],
  [
    'Opus with large tags',
    ogg('OpusHead', Buffer.concat([text('OpusTags'), comments(`A=${'x'.repeat(3_000)}`, 'DATE=2026-03-02 09:45')])),
    LOCAL,
  ],
  [
    'Vorbis',
    ogg('\x01vorbis', Buffer.concat([text('\x03vorbis'), comments('DATE=2026-03-02T04:45:00-05:00')])),
    { ms: AT, zone: -300 },
  ],
  ['a year of a song', ogg('OpusHead', Buffer.concat([text('OpusTags'), comments('DATE=2026')])), null],
  ['FLAC', flac('date=2026', 'Creation_Time=2026-03-02T09:45:00Z'), UTC],
  ['a time that is none', flac('DATE=2026-02-30T09:45:00Z'), null],
  ['MP3', Buffer.concat([text('ID3'), Buffer.alloc(500)]), null],
  ['nothing', Buffer.alloc(0), null],
];

t.test('K-270 files tell when they began', async (t) => {
  for (const [says, bytes, found] of FILES) t.same(await recordedTime(bufferSource(bytes)), found, says);
});

t.test('K-270 damaged files tell something or nothing', async (t) => {
  const random = new SeededRandom(drawSeed(t));
  for (const [says, bytes] of FILES.filter((file) => file[1].length > 0))
    for (let draw = 0; draw < drawsOf(200); draw++) {
      const damaged = Buffer.from(bytes);
      for (let change = random.below(6); change >= 0; change--) damaged[random.below(bytes.length)] = random.below(256);
      const cut = damaged.subarray(0, 1 + random.below(bytes.length));
      await recordedTime(bufferSource(cut)).catch((error: Error) => t.fail(`${says}: ${error.stack}`));
    }
  t.pass();
});
