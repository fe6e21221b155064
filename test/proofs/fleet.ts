/* A fleet of 2,000 recorders with faults for ten minutes, and a smaller one while server and Redis are killed. */

import { readSettings } from '../../src/settings.js';
import { chooseServer } from '../../src/tools/demo/server_choice.js';
import { type FleetOptions, runFleet } from '../../src/tools/fleet/run.js';

const COMMON = { seed: 2026, shared_percent: 25, chunk_bytes: 16_384, faults: true, read_percent: 10 };
const RUNS: FleetOptions[] = [
  { ...COMMON, devices: 2_000, minutes: 10, chunk_ms: 20_000, kills: [] },
  { ...COMMON, devices: 500, minutes: 3, chunk_ms: 10_000, kills: ['server', 'redis'] },
];
/** Memory may grow by so much from the second quarter of the time to the last. */
const GROWTH_MAX = 1.15;

for (const options of RUNS) {
  const { devices, minutes, kills } = options;
  console.log(`\n${devices} recorders, ${minutes} minutes${kills.length > 0 ? `, ${kills.join(' and ')} killed` : ''}`);
  const server = await chooseServer(readSettings({ ...process.env, PORT: '1', DEVICE_PORT: '1', OPS_PORT: '1' }));
  try {
    const { lines, good, memory } = await runFleet(server, options, process.stdout);
    console.log(`\n${lines.join('\n')}`);
    const growth = memory.after_bytes / memory.before_bytes;
    const is_flat = kills.length > 0 || growth <= GROWTH_MAX;
    console.log(`memory is ${is_flat ? 'flat' : 'NOT flat'}: ${growth.toFixed(2)} times`);
    if (!good || !is_flat) process.exitCode = 1;
  } finally {
    await server.end();
  }
}
