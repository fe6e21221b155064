import t from 'tap';
import { isTooDeep, JSON_DEPTH_MAX } from '../../src/domain/json_depth.js';

t.test('K-412 levels of JSON are counted before it is parsed', async (t) => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  t.equal(isTooDeep(nested(JSON_DEPTH_MAX)), false);
  t.equal(isTooDeep(nested(JSON_DEPTH_MAX + 2)), true);
  t.equal(isTooDeep('['.repeat(1_000_000)), true);
  t.equal(isTooDeep('[{}]'.repeat(1_000)), false, 'beside each other');
  t.equal(
    isTooDeep(JSON.stringify({ text: '[{'.repeat(100), more: '\\"[[['.repeat(100), end: '\\' })),
    false,
    'in texts',
  );
});
