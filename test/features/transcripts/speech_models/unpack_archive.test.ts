import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { unpackArchive } from '../../../../src/features/transcripts/speech_models/unpack_archive.js';
import { packedModel } from '../../../fixtures/model_archive.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

function packed(t: Test, make: (folder: string) => void, args: readonly string[]): string {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'model'));
  writeFileSync(join(folder, 'model', 'tokens.txt'), 'a');
  make(folder);
  const path = join(tempFolder(t), 'made.tar');
  execFileSync('tar', ['cf', path, '-C', folder, ...args]);
  return path;
}

t.test('K-436 links, devices and names that lead out are refused, and nothing is written outside', async (t) => {
  const link = packed(t, (folder) => symlinkSync('/etc/passwd', join(folder, 'model', 'b.txt')), ['model']);
  const pipe = packed(t, (folder) => execFileSync('mkfifo', [join(folder, 'model', 'p')]), ['model']);
  const up = packed(t, () => {}, ['--transform=s,^model/,../,', 'model/tokens.txt']);
  const absolute = packed(t, () => {}, ['--absolute-names', '--transform=s,^model,/tmp/model,', 'model/tokens.txt']);
  const twice = packed(t, () => {}, ['model/tokens.txt', 'model/tokens.txt', '--hard-dereference']);
  const rows: [string, RegExp][] = [
    [link, /neither a file nor a folder/],
    [pipe, /neither a file nor a folder/],
    [up, /leads out of its folder/],
    [absolute, /leads out of its folder/],
    [twice, /two files tokens\.txt|neither a file nor a folder/],
  ];
  for (const [path, message] of rows) {
    const folder = join(tempFolder(t), 'into');
    mkdirSync(folder);
    await t.rejects(unpackArchive(path, folder), { name: 'ModelRefused', message });
    t.same(readdirSync(join(folder, '..')), ['into']);
  }
});

/** The header of a file in a tar archive. `size` is octal. */
function header(name: string, size: string): Buffer {
  const block = Buffer.alloc(512);
  const fields: [string, number][] = [
    [name, 0],
    ['0000644', 100],
    [size, 124],
    ['        ', 148],
    ['0', 156],
    ['ustar', 257],
    ['00', 263],
  ];
  for (const [text, at] of fields) block.write(text, at);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

t.test('K-436 more files or bytes than a model has are refused', async (t) => {
  const many = Array.from({ length: 10_001 }, (_, at) => header(`model/samples/${at}.wav`, '0'));
  const rows: [Buffer, RegExp][] = [
    [Buffer.concat(many), /more than 10000 files/],
    [header('model/a.onnx', '100000000001'), /more than 8 GiB/],
    [header('model/a.onnx', '777777777'), /damaged/],
  ];
  for (const [bytes, message] of rows) {
    const [path, folder] = [join(tempFolder(t), 'made.tar'), tempFolder(t)];
    writeFileSync(path, bytes);
    await t.rejects(unpackArchive(path, folder), { name: 'ModelRefused', message });
  }
});

t.test('K-436 an archive that is cut off or none at all is refused', async (t) => {
  for (const packing of ['j', 'z', ''] as const) {
    const files = { 'tokens.txt': Array.from({ length: 20_000 }, (_, at) => `${at}`).join('\n') };
    const whole = packedModel(t, files, packing);
    truncateSync(whole, Math.floor(readFileSync(whole).length / 2));
    await t.rejects(
      unpackArchive(whole, tempFolder(t)),
      { name: 'ModelRefused', message: /damaged/ },
      `packed ${packing}`,
    );
  }
  const none = join(tempFolder(t), 'none');
  writeFileSync(none, 'hello');
  await t.rejects(unpackArchive(none, tempFolder(t)), { name: 'ModelRefused', message: /damaged/ });
});
