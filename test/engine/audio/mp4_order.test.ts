import t from 'tap';
import { mp4InOrder } from '../../../src/engine/audio/mp4_order.js';
import { openDecoders } from '../../../src/features/transcripts/engines/choose_engine.js';
import { audioFixture, decodedSamples } from '../../fixtures/speech.js';

const read = (bytes: Buffer) => async (offset: number, length: number) => bytes.subarray(offset, offset + length);

async function ordered(bytes: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of mp4InOrder({ size_bytes: bytes.length, read: read(bytes) }))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function samplesOf(t: { teardown(end: () => Promise<void>): void }, file: Buffer): Promise<Buffer> {
  const decoders = openDecoders({ transcribe_nice: 0 });
  t.teardown(() => decoders.close());
  return decodedSamples(decoders, file, 16_000);
}

t.test('an index behind the samples comes before them, and the samples stay the same', async (t) => {
  const file = audioFixture('said.m4a');
  t.ok(file.indexOf('moov') > file.indexOf('mdat'), 'as phones write it');
  const found = await ordered(file);
  t.ok(found.indexOf('moov') < found.indexOf('mdat'));
  t.equal(found.length, file.length);
  t.ok((await samplesOf(t, found)).equals(await samplesOf(t, file)));
  t.ok((await ordered(found)).equals(found), 'in order already');
});

t.test('files that are no MP4, or damaged ones, come as they are', async (t) => {
  const file = audioFixture('said.m4a');
  const moov = file.indexOf('moov');
  const damaged = [
    audioFixture('said.mp3'),
    Buffer.alloc(0),
    Buffer.from('ftyp'),
    file.subarray(0, moov + 100),
    Buffer.concat([file.subarray(0, moov + 4), Buffer.alloc(8, 255), file.subarray(moov + 12)]),
  ];
  for (const bytes of damaged) t.ok((await ordered(bytes)).equals(bytes));
});
