import fc from 'fast-check';
import t from 'tap';
import { parseGiven } from '../../../src/engine/wire/schema_faults.js';
import { arrivalForm } from '../../../src/features/recordings/chunk_arrivals.js';
import { plainChunk } from '../../../src/features/recordings/plain_chunk.js';

const GOOD = {
  source_chunk_ref: '01970000-0000-7000-8000-000000000001',
  ...{ sequence: 3, source_start_ms: 0, publication_start_ms: -5, source_end_ms: 1_000 },
  ...{ codec: 'pcm_s16le', container: 'audio/wav' },
  bytes: new Uint8Array([1, 2]),
};

const odd = fc.constantFrom<unknown>(
  ...[null, '', 'é', 'A'.repeat(60), '0'.repeat(64), 'F'.repeat(64), Buffer.alloc(32, 7), Buffer.alloc(16, 7)],
  ...[-1, 0, -0, 1, 1.5, 8, 9, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, 768_000, 768_001, true, {}, [], 'AAAA'],
  ...[new Uint8Array(), new Uint8Array([9]), Object.create(null), { length: 1 }, 'opus', 'audio/ogg; codecs=opus'],
  ...['01970000-0000-7000-8000-000000000002', '01970000-0000-7000-8000-00000000000A', 'ogg\n', '\u202eogg'],
);
const changes = fc.dictionary(
  fc.constantFrom(...Object.keys(GOOD), 'sample_rate_hz', 'channels', 'sha256', 'more', '__proto__', 'toString'),
  odd,
  { maxKeys: 4 },
);

t.test('C-121 C-122 what the conditions take the form takes as well, and gives the same', async (t) => {
  let taken = 0;
  fc.assert(
    fc.property(changes, (changed) => {
      const chunk = { ...GOOD, ...changed };
      const plain = plainChunk(chunk);
      if (plain === null) return;
      taken += 1;
      const parsed = parseGiven(arrivalForm, chunk);
      if (!parsed.success) throw new Error(JSON.stringify(parsed.error.issues));
      t.strictSame({ ...plain, bytes: [...plain.bytes] }, { ...parsed.data, bytes: [...parsed.data.bytes] });
    }),
    { numRuns: 20_000 },
  );
  t.ok(taken > 1_000, `${taken} were taken`);
  t.ok(plainChunk(GOOD) !== null, 'what devices send is');
});
