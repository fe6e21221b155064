import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { DecodedAudio } from '../../../src/engine/speech/decoded_audio.js';
import { openDecoder } from '../../../src/features/transcripts/engines/choose_engine.js';
import { audioFixture } from '../../fixtures/speech.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const KEY = '07/said/1';

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

t.test('K-256 what is played does not wait for a long file', async (t) => {
  const folder = tempFolder(t);
  const blobs = await openFolderBlobStore(join(folder, 'blobs'));
  const [decoder, second_decoder] = [openDecoder({ transcribe_nice: 0 }), openDecoder({ transcribe_nice: 0 })];
  const decoded = new DecodedAudio({ decoder, second_decoder, blobs, folder });
  t.teardown(async () => {
    decoded.close();
    await Promise.all([decoder.close(), second_decoder.close(), blobs.close()]);
  });
  const said = audioFixture('said.mp3');
  const sha256_hex = createHash('sha256').update(said).digest('hex');
  await blobs.put(KEY, once(said), { size_bytes: said.length, sha256_hex });
  const blob = { key: KEY, size_bytes: said.length };
  const samplesAt = (rate: number, urgent: boolean) =>
    decoded.use(blob, { rate, urgent }, async ({ samples }) => samples / rate);

  t.ok(Number(await samplesAt(8_000, true)) > 10);
  t.equal(second_decoder.pid, null, 'one process is enough while nothing else is decoded');

  let endFile = () => {};
  const rest = new Promise<void>((resolve) => {
    endFile = resolve;
  });
  async function* long(): AsyncGenerator<Buffer> {
    yield said;
    await rest;
  }
  const { signal } = new AbortController();
  const measured = decoder.measure(long(), { length_s_max: 60 }, signal);
  let is_transcribed = false;
  const transcribed = samplesAt(16_000, false).then((length_s) => {
    is_transcribed = true;
    return length_s;
  });
  t.ok(Number(await samplesAt(32_000, true)) > 10);
  t.notOk(is_transcribed, 'audio for engines waits');
  endFile();
  t.ok((await measured) > 10);
  t.ok(Number(await transcribed) > 10);
});
