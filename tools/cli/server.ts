import type { CommandGroup, CommandRow } from './command.js';
import { table } from './table.js';

const STORAGE_TEXTS: Record<string, string | undefined> = { away: 'does not answer', refusing: 'refuses writes' };

const check: CommandRow = {
  name: 'check',
  parameters: [],
  options: {},
  says: 'Shows the state of the server and its health problems; exit code 1 when there are any',
  async run({ operator }) {
    const { now, clock, process, storage, disk, health_problems } = await operator.call('GET /ops/overview', {
      query: { after_ms: Date.now() },
    });
    const rows = [
      ['process', `${process.pid}, Node ${process.node}, up ${process.up_s} s`],
      ['refuses for load', process.shedding],
      ['storage', STORAGE_TEXTS[storage.status] ?? `answers in ${storage.round_trip_ms?.toFixed(1) ?? '?'} ms`],
      ['memory of Redis', megabytes(storage.memory_bytes)],
      ['disk free', disk === null ? 'unknown' : `${megabytes(disk.free_bytes)} of ${megabytes(disk.size_bytes)}`],
      ['clock', clock.movable ? `${now}, can be moved` : now],
    ];
    const problems = health_problems.map(({ severity, text, advice }) => [severity, `${text} ${advice}`]);
    const lines = [...table(rows), '', ...(problems.length === 0 ? ['No health problems.'] : table(problems))];
    return {
      json: { now, clock, process, storage, disk, health_problems },
      lines,
      ...(problems.length > 0 ? { failed: true } : {}),
    };
  },
};

export const SERVER_COMMANDS: CommandGroup = {
  name: 'server',
  says: 'The state of the server',
  commands: [check],
};

function megabytes(bytes: number | null): string {
  return bytes === null ? 'unknown' : `${Math.round(bytes / 1_000_000)} MB`;
}
