import t from 'tap';
import { countInWords, durationInWords, sizeInWords } from '../../src/domain/limit_text.js';

t.test('limits are said as prose says them', async (t) => {
  t.same([2, 10, 12, 13, 1_000].map(countInWords), ['two', 'ten', 'twelve', '13', '1,000']);
  const durations: [ms: number, text: string][] = [
    [250, '250 ms'],
    [10_000, 'ten seconds'],
    [600_000, 'ten minutes'],
    [90_000, '90 seconds'],
    [86_400_000, '24 hours'],
    [7 * 86_400_000, 'seven days'],
    [30 * 86_400_000, '30 days'],
  ];
  for (const [ms, text] of durations) t.equal(durationInWords(ms), text);
  const sizes: [bytes: number, text: string][] = [
    [500, '500 bytes'],
    [65_536, '64 KiB'],
    [1024 ** 3, '1 GiB'],
    [1536 * 1024, '1,536 KiB'],
  ];
  for (const [bytes, text] of sizes) t.equal(sizeInWords(bytes), text);
});
