import type { Command, CommandGroup } from './command.js';
import { table } from './table.js';

const STORAGE_TEXTS: Record<string, string | undefined> = { away: 'does not answer', refusing: 'takes no writes' };

const check: Command = {
  name: 'check',
  parameters: [],
  options: {},
  says: 'Says how the server is and what is wrong with it now; exit code 1 when anything is',
  async run({ operator }) {
    const { now, clock, process, storage, disk, troubles } = await operator.call('GET /ops/overview', {
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
    const wrong = troubles.map(({ severity, text }) => [severity, text]);
    const lines = [...table(rows), '', ...(wrong.length === 0 ? ['Nothing is wrong.'] : table(wrong))];
    return {
      json: { now, clock, process, storage, disk, troubles },
      lines,
      ...(wrong.length > 0 ? { failed: true } : {}),
    };
  },
};

export const SERVER_COMMANDS: CommandGroup = {
  name: 'server',
  says: 'How the server is',
  commands: [check],
};

function megabytes(bytes: number | null): string {
  return bytes === null ? 'unknown' : `${Math.round(bytes / 1_000_000)} MB`;
}
