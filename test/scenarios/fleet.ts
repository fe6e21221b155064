import { readSettings } from '../../src/host/settings.js';
import { chooseServer } from '../../tools/demo/server_choice.js';
import { type FleetOptions, runFleet } from '../../tools/fleet/run.js';
import { scenario } from '../driver/scenario.js';

const COMMON = { seed: 2026, shared_percent: 25, chunk_bytes: 16_384, speech: false, faults: true, read_percent: 10 };

type Size = { devices: number; minutes: number; killed_devices: number; killed_minutes: number; growth_max: number };

/** `growth_max`: so many times may memory grow from the second quarter of the time to the last. */
scenario<Size>({
  title: 'a fleet of recorders with faults, and a smaller one while server and Redis are killed',
  smoke: null, // test/tools/fleet has a fleet of eight
  full: { devices: 2_000, minutes: 10, killed_devices: 500, killed_minutes: 3, growth_max: 1.15 },
  async run(t, { devices, minutes, killed_devices, killed_minutes, growth_max }) {
    const RUNS: FleetOptions[] = [
      { ...COMMON, devices, minutes, chunk_ms: 20_000, kills: [] },
      {
        ...{ ...COMMON, devices: killed_devices, minutes: killed_minutes, chunk_ms: 10_000 },
        kills: ['server', 'redis'],
      },
    ];
    for (const options of RUNS) {
      const { devices, minutes, kills } = options;
      await t.test(`${devices} recorders, ${minutes} minutes, killed: ${kills.join(' and ') || 'none'}`, async (t) => {
        const server = await chooseServer(readSettings({ ...process.env, PORT: '1', DEVICE_PORT: '1', OPS_PORT: '1' }));
        t.teardown(() => server.end());
        const { lines, good, memory } = await runFleet(server, options, process.stderr);
        t.ok(good, 'the server holds what was sent');
        if (kills.length === 0) {
          const growth = memory.after_bytes / memory.before_bytes;
          t.ok(growth <= growth_max, `memory grew ${growth.toFixed(2)} times`);
        }
        t.comment(lines.join('\n'));
      });
    }
  },
});
