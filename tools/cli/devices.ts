import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { OperatorApi } from '../../kits/typescript/src/api.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import type { CommandGroup, CommandRow, GivenOptions, OptionRow, Told } from './command.js';
import { limitQuery } from './paging.js';
import { table } from './table.js';

/** The common answer of both kinds of provisioning. */
type Provisioned = Pick<
  OperatorApi['POST /ops/devices']['answer'],
  'certificate_pem' | 'private_key_pem' | 'ca_pem' | 'not_after'
>;

const CERTIFICATE_OPTIONS: Record<string, OptionRow> = {
  csr: { value: 'FILE', says: 'a certificate request (PEM), whose key then never leaves where it was made' },
  out: { value: 'NAME', required: true, says: 'writes NAME.cert.pem with its chain, NAME.ca.pem, and NAME.key.pem' },
};

const seen: CommandRow = {
  name: 'seen',
  parameters: [],
  options: {
    silent: { value: 'MINUTES', says: 'only those not heard of for so long' },
    recording: { says: 'only those with an open stream, or a chunk that was announced and did not come' },
    limit: { value: 'N', says: 'how many, 1 to 100; 25 when not given' },
  },
  says: 'Lists devices as this process has heard of them, the most silent first',
  async run({ operator, options }) {
    const found = await operator.call('GET /ops/devices', {
      query: {
        ...limitQuery(options),
        // What is no number is for the server to say.
        silent_min: options.text('silent') as unknown as number | undefined,
        recording: options.flag('recording') ? '1' : '0',
      },
    });
    const rows = found.items.map((one) => [
      ...[one.device_id, one.kind ?? '', `${one.silent_s} s`, one.last_upload_at ?? 'none'],
      ...[String(one.open_streams.length), String(one.awaited_chunks), one.last_refusal?.reason ?? ''],
    ]);
    const head = ['DEVICE ID', 'KIND', 'SILENT', 'LAST UPLOAD', 'OPEN STREAMS', 'AWAITED CHUNKS', 'LAST REFUSAL'];
    const lines = rows.length === 0 ? ['None.'] : table([head, ...rows]);
    return { json: found, lines: [...lines, '', `Watched since ${found.watched_since}.`] };
  },
};

const add: CommandRow = {
  name: 'add',
  parameters: [],
  options: {
    kind: { value: 'KIND', required: true, says: 'personal or shared' },
    ...CERTIFICATE_OPTIONS,
  },
  says: 'Provisions a device, bound to nobody yet',
  async run({ operator, options }) {
    // What it is not is for the server to say.
    const kind = options.text('kind') as 'personal' | 'shared';
    const made = await operator.call('POST /ops/devices', { body: { kind, ...requestOf(options) } });
    return printed(made, options, { device_id: made.device_id, called: `Device ${made.device_id}` });
  },
};

const revoke: CommandRow = {
  name: 'revoke',
  parameters: ['DEVICE_ID'],
  options: {},
  says: 'Revokes all certificates of a device, for good; its connections close at once',
  async run({ operator, parameters }) {
    const id = parameters.DEVICE_ID as string;
    await operator.call('DELETE /ops/devices/{id}/certificate', { path: { id } });
    return { json: { revoked: id }, lines: ['Revoked.'] };
  },
};

const proxyCertificate: CommandRow = {
  name: 'proxy-certificate',
  parameters: [],
  options: CERTIFICATE_OPTIONS,
  says: 'Makes a certificate for a proxy of DEVICE_PROXIES, by which its Client-Cert headers are believed',
  async run({ operator, options }) {
    const made = await operator.call('POST /ops/device-proxies', { body: requestOf(options) });
    const { proxy_id, fingerprint } = made;
    return printed(made, options, { proxy_id, fingerprint, called: `Proxy certificate ${fingerprint}` });
  },
};

const proxyRevoke: CommandRow = {
  name: 'proxy-revoke',
  parameters: ['FINGERPRINT'],
  options: {},
  says: 'Revokes the certificate of a proxy',
  async run({ operator, parameters }) {
    const fingerprint = parameters.FINGERPRINT as string;
    await operator.call('DELETE /ops/device-proxies/{fingerprint}', { path: { fingerprint } });
    return { json: { revoked: fingerprint }, lines: ['Revoked.'] };
  },
};

export const DEVICE_COMMANDS: CommandGroup = {
  name: 'devices',
  says: 'Recorders, and proxies that stand before them',
  commands: [add, seen, revoke, proxyCertificate, proxyRevoke],
};

/** Also looks whether what will be made can be written, before anything is made. */
function requestOf(options: GivenOptions): { csr_pem?: string } {
  const [taken] = Object.values(filesOf(options)).filter((path) => existsSync(path));
  if (taken !== undefined) throw new UserError(`--out: ${taken} is there already.`, WRONG_USAGE);
  const file = options.text('csr');
  if (file === undefined) return {};
  try {
    return { csr_pem: readFileSync(file, 'utf8') };
  } catch (error) {
    throw new UserError(`--csr: ${(error as Error).message}`, WRONG_USAGE);
  }
}

function filesOf(options: GivenOptions): { certificate: string; ca: string; private_key?: string } {
  const out = options.text('out') as string;
  const private_key = options.text('csr') === undefined ? { private_key: `${out}.key.pem` } : {};
  return { certificate: `${out}.cert.pem`, ca: `${out}.ca.pem`, ...private_key };
}

/** Writes what was made; a key goes to its file alone, for its owner alone. */
function printed(
  { certificate_pem, private_key_pem, ca_pem, not_after }: Provisioned,
  options: GivenOptions,
  { called, ...named }: { called: string } & Record<string, string>,
): Told {
  const files = filesOf(options);
  if (private_key_pem !== undefined && files.private_key !== undefined) {
    writeFileSync(files.private_key, private_key_pem, { mode: 0o600, flag: 'wx' });
  }
  writeFileSync(files.certificate, certificate_pem + ca_pem, { flag: 'wx' });
  writeFileSync(files.ca, ca_pem, { flag: 'wx' });
  return {
    json: { ...named, not_after, files },
    lines: [`${called}, until ${not_after}.`, ...Object.values(files).map((file) => `  ${file}`)],
  };
}
