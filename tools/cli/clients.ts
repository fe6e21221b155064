import type { OauthClient } from '../../kits/typescript/src/api.js';
import type { CommandGroup, CommandRow, Told } from './command.js';
import { moreOf, PAGE_OPTIONS, pageQuery } from './paging.js';
import { table } from './table.js';

const SHOWN_ONCE = 'The secret is shown this once. Keep it now; the server knows only its hash.';
const OF_A_CLIENT = ['CLIENT_ID'];
const NO_OPTIONS = {};

const list: CommandRow = {
  name: 'list',
  parameters: [],
  options: PAGE_OPTIONS,
  says: 'Lists OAuth clients: our own first, then the newest',
  async run({ operator, options }) {
    const page = await operator.call('GET /ops/clients', { query: pageQuery(options) });
    const rows = page.items.map((client) => [
      client.client_id,
      client.name,
      client.origin,
      client.token_endpoint_auth_method === 'none' ? 'public' : 'confidential',
      client.last_used_at?.slice(0, 10) ?? 'never',
      client.disabled_at === null ? 'enabled' : 'disabled',
    ]);
    const head = ['CLIENT ID', 'NAME', 'FROM', 'KIND', 'LAST USED', 'STATE'];
    return { json: page, lines: [...table([head, ...rows]), ...moreOf(page.cursor)] };
  },
};

const show: CommandRow = {
  name: 'show',
  parameters: OF_A_CLIENT,
  options: NO_OPTIONS,
  says: 'Shows one client',
  async run({ operator, parameters }) {
    return toldOf(await operator.call('GET /ops/clients/{client}', { path: clientIn(parameters) }));
  },
};

const create: CommandRow = {
  name: 'create',
  parameters: [],
  options: {
    name: { value: 'NAME', required: true, says: 'what people see when they are asked for their consent' },
    'redirect-uri': { value: 'URI', required: true, repeats: true, says: 'where they are sent back to' },
    scope: {
      value: 'SCOPE',
      repeats: true,
      says: 'what it may ask for; all that a third party can have when not given',
    },
    confidential: { says: 'it runs on a server and keeps a secret' },
  },
  says: 'Creates a third-party client, which does not expire when it is unused',
  async run({ operator, options }) {
    const body = {
      name: options.text('name') as string,
      redirect_uris: options.texts('redirect-uri'),
      // As one text with spaces, which is how OAuth writes them, too.
      scopes: options.texts('scope').flatMap((scopes) => scopes.split(' ').filter((scope) => scope !== '')),
      confidential: options.flag('confidential'),
    };
    const made = await operator.call('POST /ops/clients', { body });
    return toldOf(made, made.client_secret);
  },
};

const rotateSecret: CommandRow = {
  name: 'rotate-secret',
  parameters: OF_A_CLIENT,
  options: { 'at-once': { says: 'its present secrets stop working now; otherwise they work for another day' } },
  says: 'Gives a confidential client another secret',
  async run({ operator, parameters, options }) {
    const body = { at_once: options.flag('at-once') };
    const turned = await operator.call('POST /ops/clients/{client}/secret', { path: clientIn(parameters), body });
    return toldOf(turned, turned.client_secret);
  },
};

function turning(name: 'disable' | 'enable', says: string): CommandRow {
  return {
    name,
    parameters: OF_A_CLIENT,
    options: NO_OPTIONS,
    says,
    async run({ operator, parameters }) {
      return toldOf(await operator.call(`POST /ops/clients/{client}/${name}`, { path: clientIn(parameters) }));
    },
  };
}

export const CLIENT_COMMANDS: CommandGroup = {
  name: 'clients',
  says: 'OAuth clients and their secrets',
  commands: [
    list,
    show,
    create,
    rotateSecret,
    turning('disable', 'Disables a client, at once and everywhere'),
    turning('enable', 'Enables a disabled client'),
  ],
};

function clientIn({ CLIENT_ID = '' }: Record<string, string>): { client: string } {
  return { client: CLIENT_ID };
}

function toldOf(client: OauthClient, client_secret?: string): Told {
  const secrets = client.secrets.map(({ until }) => (until === null ? 'good' : `good until ${until}`));
  const rows: [string, string[]][] = [
    ['client id', [client.client_id]],
    ['name', [client.name]],
    ['from', [client.origin]],
    ['state', [client.disabled_at === null ? 'enabled' : `disabled since ${client.disabled_at}`]],
    ['signs in', [client.native ? 'natively' : 'in the browser']],
    ['authenticates', [client.token_endpoint_auth_method]],
    ['registered', [client.registered_at ?? 'in the file of first-party clients']],
    ['last used', [client.last_used_at?.slice(0, 10) ?? 'never']],
    ['redirect URIs', client.redirect_uris],
    ['scopes', inLines(client.scopes)],
  ];
  if (client.token_endpoint_auth_method !== 'none') rows.push(['secrets', secrets]);
  if (client_secret !== undefined) rows.push(['new secret', [client_secret]]);
  const lines = table(
    rows.flatMap(([what, values]) =>
      (values.length > 0 ? values : ['none']).map((value, index) => [index === 0 ? what : '', value]),
    ),
  );
  return { json: client, lines: client_secret === undefined ? lines : [...lines, '', SHOWN_ONCE] };
}

/** A few to a line. */
function inLines(words: string[]): string[] {
  const PER_LINE = 5;
  return words.flatMap((_, index) => (index % PER_LINE === 0 ? [words.slice(index, index + PER_LINE).join(' ')] : []));
}
