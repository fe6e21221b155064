import { join } from 'node:path';
import { interleave, rateRow, verify } from '../measure.mjs';
import { cpuMs, LOAD_CORE, startProgram, startRedis, temporaryFolder } from '../processes.mjs';

const IN_FLIGHT = 256;

export const title = 'durable commits, over many entities and on one';

export async function run(options) {
  const { folder, remove } = temporaryFolder();
  // Here the askers are inside the measured process, so Redis has the other core.
  const redis = await startRedis(folder, LOAD_CORE);
  const stops = [remove, () => redis.stop()];
  try {
    const program = await startProgram('commits', { socket_path: redis.socket_path });
    stops.push(() => program.stop());
    const claimed = { many: 0, bare: 0, hot: 0 };
    const variant = (question, in_flight) => ({
      cpuMs: () => cpuMs([program.pid, redis.pid]),
      async run(seconds) {
        const done = await program.ask(question, { in_flight, seconds });
        claimed[question] += done.ops;
        return done;
      },
    });
    if (options.profile !== undefined) await program.ask('profile_start');
    const many = await interleave({ many: variant('many', IN_FLIGHT), bare: variant('bare', IN_FLIGHT) }, options);
    if (options.profile !== undefined)
      await program.ask('profile_stop', { file: join(options.profile, 'commits.cpuprofile') });
    const hot = await interleave({ hot: variant('hot', IN_FLIGHT), single: variant('hot', 1) }, options);
    const stored = await program.ask('stored');
    for (const name of Object.keys(claimed)) verify(`commits, ${name}`, stored[name], claimed[name]);
    return [
      rateRow({
        ...{
          work: `durable commits, many entities, ${IN_FLIGHT} in flight`,
          beside: 'the same function through ioredis',
        },
        ...{ ours: many.many, peer: many.bare, goal: 1.3 },
      }),
      rateRow({
        ...{ work: `durable commands on one entity, ${IN_FLIGHT} askers`, beside: 'one commit a message' },
        ...{ ours: hot.hot, peer: hot.single, goal: 15 },
      }),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
