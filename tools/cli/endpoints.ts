import type { TroubledEndpoint } from '../../kits/typescript/src/api.js';
import type { CommandGroup, CommandRow } from './command.js';
import { limitQuery } from './paging.js';
import { table } from './table.js';

const list: CommandRow = {
  name: 'list',
  parameters: ['ACCOUNT'],
  options: {},
  says: 'Lists the endpoints of an account (its id or email), with their status',
  async run({ operator, parameters }) {
    const path = { account: parameters.ACCOUNT as string };
    const found = await operator.call('GET /ops/accounts/{account}/endpoints', { path });
    if (found.items.length === 0) return { json: found, lines: ['It has no endpoints.'] };
    const rows = found.items.map(({ endpoint_id, host, status, headline }) => [endpoint_id, host, status, headline]);
    return { json: found, lines: table([['ENDPOINT ID', 'HOST', 'STATUS', 'SUMMARY'], ...rows]) };
  },
};

const show: CommandRow = {
  name: 'show',
  parameters: ['ENDPOINT_ID'],
  options: {},
  says: 'Explains what an endpoint gets and why, with its last deliveries',
  async run({ operator, parameters }) {
    const path = { endpoint_id: parameters.ENDPOINT_ID as string };
    const one = await operator.call('GET /ops/endpoints/{endpoint_id}', { path });
    const rows = [
      ['account', one.account_id],
      ['host', one.host],
      ['status', one.status],
      ['failures in a row', String(one.failure_count)],
      ['last success', one.last_success_at ?? 'none yet'],
    ];
    const deliveries = one.deliveries.map(({ event_type, status, next_attempt_at, attempts }) => {
      const last = attempts.at(-1);
      const said = last === undefined ? 'not tried' : (last.error ?? String(last.status_code));
      return [event_type, status, String(attempts.length), said, next_attempt_at ?? ''];
    });
    const lines = [one.headline, ...one.reasons.map(({ text }) => `  ${text}`), '', ...table(rows)];
    if (deliveries.length > 0) {
      lines.push('', ...table([['EVENT', 'STATUS', 'ATTEMPTS', 'LAST', 'NEXT AT'], ...deliveries]));
    }
    return { json: one, lines };
  },
};

const test: CommandRow = {
  name: 'test',
  parameters: ['ENDPOINT_ID'],
  options: {},
  says: 'Sends a signed test delivery to an endpoint, and says how it was answered',
  async run({ operator, parameters }) {
    const path = { endpoint_id: parameters.ENDPOINT_ID as string };
    const one = await operator.call('POST /ops/endpoints/{endpoint_id}/test', { path });
    const answered = one.status_code === null ? `no answer: ${one.error}` : `${one.status_code} ${one.reason ?? ''}`;
    const said = one.is_accepted ? 'It was accepted' : 'It was not accepted';
    return { json: one, lines: [`${said}: ${answered.trim()}, after ${one.duration_ms} ms.`] };
  },
};

const failing: CommandRow = {
  name: 'failing',
  parameters: [],
  options: { limit: { value: 'N', says: 'how many of each, 1 to 100; 25 when not given' } },
  says: 'Lists endpoints that fail, that are late, and that were disabled or paused',
  async run({ operator, options }) {
    const found = await operator.call('GET /ops/endpoints', { query: limitQuery(options) });
    const lastOf = ({ last }: TroubledEndpoint) => last?.error ?? String(last?.status_code ?? '');
    const failures = (one: TroubledEndpoint) => [one.endpoint_id, `${one.failures} in a row`, lastOf(one)];
    const since = (one: TroubledEndpoint) => [one.endpoint_id, `since ${one.since}`, lastOf(one)];
    const rows = [
      ...found.circuit_open.map((one) => ['circuit open', ...failures(one)]),
      ...found.failing.map((one) => ['failing', ...failures(one)]),
      ...found.due.map(({ endpoint_id, due_s }) => ['due', endpoint_id, `for ${due_s} s`, '']),
      ...found.disabled.map((one) => ['disabled', ...since(one)]),
      ...found.stopped.map((one) => ['by its owner', ...since(one)]),
    ];
    return { json: found, lines: rows.length === 0 ? ['None.'] : table(rows) };
  },
};

export const ENDPOINT_COMMANDS: CommandGroup = {
  name: 'endpoints',
  says: 'Webhook endpoints, and why one gets nothing',
  commands: [list, show, test, failing],
};
