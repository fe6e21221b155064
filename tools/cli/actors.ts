import { LIMITS } from '../../src/domain/limits.js';
import type { CommandGroup, CommandRow } from './command.js';
import { limitQuery } from './paging.js';
import { table } from './table.js';

const list: CommandRow = {
  name: 'list',
  parameters: [],
  options: { limit: { value: 'N', says: 'how many entities, 1 to 100; 25 when not given' } },
  says: 'What is in memory: kinds of actors, and the busiest entities',
  async run({ operator, options }) {
    const found = await operator.call('GET /ops/actors', { query: limitQuery(options) });
    const kinds = Object.entries(found.kinds)
      .toSorted(([, a], [, b]) => b.active - a.active)
      .map(([kind, { active, waiting, quarantined }]) => [kind, ...[active, waiting, quarantined].map(String)]);
    const busiest = found.busiest.map(({ kind, name, waiting, batches, batch_ms_mean }) => [
      ...[kind, name, String(waiting), String(batches)],
      batch_ms_mean.toFixed(1),
    ]);
    const lines = [
      ...table([['KIND', 'IN MEMORY', 'WAITING', 'QUARANTINED'], ...kinds]),
      '',
      ...table([['ENTITY', 'ID', 'WAITING', 'TURNS', 'MS A TURN'], ...busiest]),
    ];
    return { json: found, lines };
  },
};

const quarantined: CommandRow = {
  name: 'quarantined',
  parameters: [],
  options: {},
  says: 'Lists quarantined entities and dead letters; exit code 1 when there are any',
  async run({ operator }) {
    const found = await operator.call('GET /ops/actors', { query: { limit: LIMITS.list_limit_max } });
    const json = { quarantined: found.quarantined, dead_letters: found.dead_letters };
    if (found.quarantined.length + found.dead_letters.length === 0) return { json, lines: ['None.'] };
    const lines = [
      ...table(
        found.quarantined.map(({ kind, id, quarantined }) => ['quarantined', kind, id, quarantined?.reason ?? '']),
      ),
      ...table(
        found.dead_letters.map(({ partition, name, to, type }) => [
          ...['dead letter', String(partition), name, `${type ?? 'a message'} to ${to.kind} ${to.name}`],
        ]),
      ),
    ];
    return { json, lines, failed: true };
  },
};

const retry: CommandRow = {
  name: 'retry',
  parameters: ['KIND', 'ID'],
  options: {},
  says: 'Lets a quarantined entity try again, with its next message',
  async run({ operator, parameters }) {
    const body = { kind: parameters.KIND as string, id: parameters.ID as string };
    await operator.call('POST /ops/quarantined/retry', { body });
    return { json: { retried: body }, lines: ['The entity tries again with its next message.'] };
  },
};

const retryDeadLetter: CommandRow = {
  name: 'retry-dead-letter',
  parameters: ['PARTITION', 'NAME'],
  options: {},
  says: 'Delivers a dead letter once more',
  async run({ operator, parameters }) {
    const body = { partition: Number(parameters.PARTITION), name: parameters.NAME as string };
    await operator.call('POST /ops/dead-letters/retry', { body });
    return { json: { retried: body }, lines: ['The entity took the message.'] };
  },
};

export const ACTOR_COMMANDS: CommandGroup = {
  name: 'actors',
  says: 'Entities in memory, quarantined entities and dead letters',
  commands: [list, quarantined, retry, retryDeadLetter],
};
