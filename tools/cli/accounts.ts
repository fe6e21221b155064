import { ENTITLEMENTS } from '../../src/domain/permissions.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import type { CommandGroup, CommandRow } from './command.js';
import { exportCommand } from './export.js';
import { table } from './table.js';

const show: CommandRow = {
  name: 'show',
  parameters: ['ACCOUNT'],
  options: {},
  says: 'Shows the state of an account (its id or email) and its entitlements',
  async run({ operator, parameters }) {
    const account = await operator.call('GET /ops/accounts/{account}', { path: accountIn(parameters) });
    const { id, email, status, erase_at, entitlements, devices, shared_workspaces, personal_access_tokens } = account;
    const rows = [
      ['id', id],
      ['email', email],
      ['status', erase_at === null ? status : `${status}, to be erased at ${erase_at}`],
      ['devices', String(devices)],
      ['shared workspaces', String(shared_workspaces)],
      ['personal access tokens', String(personal_access_tokens)],
      ...Object.entries(entitlements).map(([name, enabled]) => [name, enabled ? 'on' : 'off']),
    ];
    return { json: account, lines: table(rows) };
  },
};

const enable = switching({ name: 'enable', enabled: true, says: 'Switches an entitlement of an account on' });
const disable = switching({ name: 'disable', enabled: false, says: 'Switches an entitlement of an account off' });

const erasures: CommandRow = {
  name: 'erasures',
  parameters: [],
  options: {},
  says: 'Lists the accounts that are being erased, and how far each has come',
  async run({ operator }) {
    const found = await operator.call('GET /ops/erasures');
    if (found.items.length === 0) return { json: found, lines: ['No account is being erased.'] };
    const rows = found.items.map(({ account_id, began_at, removed }) => {
      const counts = Object.entries(removed).map(([what, count]) => `${count} ${what}`);
      return [account_id, began_at, counts.join(', ') || 'nothing yet'];
    });
    return { json: found, lines: table([['ACCOUNT ID', 'BEGAN', 'REMOVED SO FAR'], ...rows]) };
  },
};

export const ACCOUNT_COMMANDS: CommandGroup = {
  name: 'accounts',
  says: 'Accounts and their entitlements',
  commands: [show, enable, disable, exportCommand, erasures],
};

function switching({ name, enabled, says }: { name: string; enabled: boolean; says: string }): CommandRow {
  return {
    name,
    parameters: ['ACCOUNT', 'ENTITLEMENT'],
    options: {},
    says: `${says}: ${ENTITLEMENTS.join(', ')}`,
    async run({ operator, parameters }) {
      const entitlement = ENTITLEMENTS.find((known) => known === parameters.ENTITLEMENT);
      if (entitlement === undefined)
        throw new UserError(`ENTITLEMENT must be one of ${ENTITLEMENTS.join(', ')}.`, WRONG_USAGE);
      const path = { ...accountIn(parameters), name: entitlement };
      const switched = await operator.call('PUT /ops/accounts/{account}/entitlements/{name}', {
        path,
        body: { enabled },
      });
      return { json: switched, lines: [`${entitlement} is ${enabled ? 'on' : 'off'} for ${parameters.ACCOUNT}.`] };
    },
  };
}

function accountIn({ ACCOUNT }: Record<string, string>): { account: string } {
  return { account: ACCOUNT as string };
}
