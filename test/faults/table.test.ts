import { existsSync } from 'node:fs';
import t from 'tap';
import { CONTRACT } from './cluster_faults.js';
import { FAULTS } from './table.js';

t.test('each fault names test files that there are', async (t) => {
  for (const name of [...FAULTS.flatMap(({ tests }) => tests), ...CONTRACT])
    t.ok(existsSync(new URL(`../${name}.test.js`, import.meta.url)), name);
});
