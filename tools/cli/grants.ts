import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { OperatorApi } from '../../kits/typescript/src/api.js';
import { LIMITS } from '../../src/domain/limits.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import type { CommandGroup, CommandRow, Told } from './command.js';
import { moreOf, PAGE_OPTIONS, pageQuery } from './paging.js';
import { table } from './table.js';

type Import = OperatorApi['POST /ops/grants/import'];
type ImportResult = Import['answer']['results'][number];

const OF_AN_ACCOUNT = ['ACCOUNT'];
const PROBLEMS_SHOWN_MAX = 100;

const list: CommandRow = {
  name: 'list',
  parameters: OF_AN_ACCOUNT,
  options: PAGE_OPTIONS,
  says: 'Lists the living grants of an account (its id or email), the newest first',
  async run({ operator, parameters, options }) {
    const page = await operator.call('GET /ops/accounts/{account}/grants', {
      path: accountIn(parameters),
      query: pageQuery(options),
    });
    const rows = page.items.map(({ id, client_id, name, audience, issuer, created_at, scopes }) => [
      id,
      client_id,
      name,
      audience,
      issuer,
      created_at.slice(0, 10),
      scopes.join(' '),
    ]);
    const head = ['GRANT ID', 'CLIENT', 'NAME', 'AUDIENCE', 'ISSUER', 'MADE', 'SCOPES'];
    return { json: page, lines: [...table([head, ...rows]), ...moreOf(page.cursor)] };
  },
};

const revoke: CommandRow = {
  name: 'revoke',
  parameters: OF_AN_ACCOUNT,
  options: {
    grant: { value: 'GRANT_ID', says: 'only this one' },
    all: { says: 'all of them, and the sessions in browsers' },
  },
  says: "Ends an account's grants: their tokens stop working at once",
  async run({ operator, parameters, options }) {
    const grant = options.text('grant');
    if ((grant === undefined) === !options.flag('all'))
      throw new UserError('Say either --grant GRANT_ID or --all.', WRONG_USAGE);
    const path = accountIn(parameters);
    if (grant === undefined) await operator.call('DELETE /ops/accounts/{account}/grants', { path });
    else await operator.call('DELETE /ops/accounts/{account}/grants/{id}', { path: { ...path, id: grant } });
    return { json: { revoked: grant ?? 'all' }, lines: ['Revoked.'] };
  },
};

const bringIn: CommandRow = {
  name: 'import',
  parameters: ['FILE'],
  options: { 'dry-run': { says: 'say what is wrong, and change nothing' } },
  says: 'Brings in grants of an earlier system: a JSON object a line, see docs/oauth.md',
  async run({ operator, parameters, options }) {
    const file = parameters.FILE as string;
    await access(file).catch((error: NodeJS.ErrnoException) => {
      throw new UserError(`FILE can't be read: ${error.message}`, WRONG_USAGE);
    });
    const count: Record<ImportResult['outcome'], number> = { imported: 0, known: 0, right: 0, wrong: 0 };
    const problems: { line: number; problem: string }[] = [];
    const take = (line: number, one: ImportResult) => {
      count[one.outcome] += 1;
      if (one.outcome === 'wrong' && problems.length < PROBLEMS_SHOWN_MAX)
        problems.push({ line, problem: one.problem });
    };
    let batch: { line: number; grant: unknown }[] = [];
    const send = async () => {
      if (batch.length === 0) return;
      // What each of them is, the server judges.
      const grants = batch.map(({ grant }) => grant) as Import['body']['grants'];
      const body = { grants, dry_run: options.flag('dry-run') };
      const { results } = await operator.call('POST /ops/grants/import', { body });
      for (const [index, outcome] of results.entries()) take(batch[index]?.line ?? 0, outcome);
      batch = [];
    };
    let line = 0;
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1;
      if (text.trim() === '') continue;
      const grant = objectOf(text);
      if (grant === null) take(line, { outcome: 'wrong', problem: 'is no JSON object' });
      else batch.push({ line, grant });
      if (batch.length === LIMITS.import_rows_max) await send();
    }
    await send();
    return toldOf(count, problems);
  },
};

export const GRANT_COMMANDS: CommandGroup = {
  name: 'grants',
  says: 'The apps that accounts have connected',
  commands: [list, revoke, bringIn],
};

function accountIn({ ACCOUNT }: Record<string, string>): { account: string } {
  return { account: ACCOUNT as string };
}

function objectOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function toldOf(count: Record<ImportResult['outcome'], number>, problems: { line: number; problem: string }[]): Told {
  const { imported, known, right, wrong } = count;
  const parts = [
    `${imported} imported`,
    `${known} known from before`,
    ...(right > 0 ? [`${right} could be imported`] : []),
    `${wrong} wrong`,
  ];
  const lines = [...problems.map(({ line, problem }) => `line ${line}: ${problem}`), `${parts.join(', ')}.`];
  return { json: { ...count, problems }, lines, ...(wrong > 0 ? { failed: true } : {}) };
}
