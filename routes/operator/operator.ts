import { z } from 'zod';
import type { AccountMessage } from '../../actors/account.js';
import { type Account, eraseAtMs } from '../../actors/account_state.js';
import { isLiving } from '../../actors/account_tokens.js';
import type { Address } from '../../actors/actor.js';
import type { CertificateMessage, CertificateStatus } from '../../actors/certificate.js';
import type { Device, DeviceMessage } from '../../actors/device.js';
import type { DeviceCertificatesReply } from '../../actors/device_certificates.js';
import { type DeviceCertificate, makeDeviceKey } from '../../certs/authority.js';
import { renewAfterMs } from '../../certs/renewal.js';
import { accountNamed } from '../../src/accounts/account_of_email.js';
import { ownerOfPrivateWorkspace, PARTITIONS } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { ENTITLEMENT_DEFAULTS, ENTITLEMENTS, type Entitlement, permissionsOf } from '../../src/domain/permissions.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { listLimit, whole } from '../../src/http/request_schemas.js';
import { count, deviceKind, id, moment, no_cursor, permission, serverNow } from '../../src/http/response_schemas.js';
import { openRoute, operatorRoute, type Route } from '../../src/http/route.js';
import { outboxFolder } from '../../src/mail/outbox_folder.js';
import { listOutbox } from '../../src/mail/outbox_mailer.js';
import { activationShape, parkedReason } from '../../src/operator/activation_schema.js';
import { shownName } from '../../src/operator/entity_fields.js';
import { randomId, randomPartition } from '../../src/random.js';
import type { Services } from '../../src/services.js';
import { decodeStored } from '../../src/store/codec.js';
import { VERSION } from '../../src/version.js';
import { askWorkspace } from '../../src/workspaces/workspace_calls.js';

/** The operator port. docs/operators.md, "Routes". Answers are plain JSON; refusals keep the envelope. */

const HOUR_MS = 3_600_000;
const ADVANCE_MAX_MS = 10 * 365 * 24 * HOUR_MS;

const csrPem = z
  .string('must be a PEM certificate request')
  .max(16_384)
  .optional()
  .describe('A certificate request (PKCS #10); without one the private key is made here.');

const activeShape = activationShape.extend({
  kind: z.string().describe('The kind of actor.'),
  id: z.string().nullable().describe('Null where it is an email, an address or a fingerprint.'),
  name: z.string().describe('The id, or as much of it as may be shown.'),
  partition: count.describe('Of the 256, where its state lies.'),
  parked: z
    .strictObject({
      reason: parkedReason,
      since_ms: count.describe('Since when, in ms since 1970.'),
    })
    .nullable()
    .describe('Null unless it is out of service.'),
});

const latelyShape = activeShape.extend({
  messages: count.describe('Within that time.'),
  turn_ms_max: z.number().describe('Of the slowest turn, in ms.'),
});
const actorsShape = z.strictObject({
  now: serverNow,
  kinds: z
    .record(
      z.string(),
      z.strictObject({
        active: count.describe('Entities in memory.'),
        waiting: count.describe('Messages that wait for their turn.'),
        parked: count.describe('Entities out of service.'),
        oldest_ms: z.number().describe('How long the oldest message has waited, in ms.'),
        turns: count.optional().describe('Of the last minute; absent where there were none.'),
        turn_ms_mean: z.number().nullable().optional().describe('How long these took on average, in ms.'),
        turn_ms_p99: z.number().nullable().optional().describe('What 99 of 100 stayed within, in ms.'),
      }),
    )
    .describe('By kind of actor.'),
  busiest: z.array(activeShape).describe('Entities with the most messages waiting, then the most turns.'),
  parked: z.array(activeShape.extend({ id: z.string() })).describe('Entities out of service.'),
  lately: z
    .strictObject({
      within_ms: count.describe('How far back that looks.'),
      busiest: z.array(latelyShape).describe('Those with the most messages.'),
      slowest: z.array(latelyShape).describe('Those with the slowest turns.'),
    })
    .describe('Entities by what they did last.'),
  set_aside: z
    .array(
      z.strictObject({
        partition: count.describe('Of the 256, where it lies.'),
        name: z.string().describe('What a retry calls it.'),
        to: z
          .strictObject({ kind: z.string().describe('The kind of actor.'), name: z.string() })
          .describe('Whom it is for.'),
        type: z.string().nullable().describe('What sort of message it is; null where that can not be told.'),
      }),
    )
    .describe('Messages whose decision threw too often.'),
});

const entitlementsShape = z.record(z.enum(ENTITLEMENTS), z.boolean());

const accountForStaffShape = z.strictObject({
  id,
  email: z.string(),
  status: z
    .enum(['active', 'leaving', 'deleted', 'erasing', 'erased'])
    .describe('leaving: its deletion waits for shared workspaces. deleted: it can be restored.'),
  permissions: z.array(permission).describe('What its credentials can hold at most.'),
  devices: count.describe('Bound to it.'),
  created_at: moment,
  erase_at: moment.nullable().describe('When a deleted one is erased; null otherwise.'),
  entitlements: entitlementsShape.describe('What staff have switched on and off, or the default.'),
  shared_workspaces: count.describe('That it belongs to.'),
  personal_access_tokens: count.describe('That are still good.'),
});

const entitledShape = z.strictObject({
  account_id: id.describe('Whose it is.'),
  entitlements: z.partialRecord(z.enum(ENTITLEMENTS), z.boolean()).describe('Those that were ever switched.'),
  permissions: z.array(permission).describe('What its credentials can hold at most from now on.'),
});

const certificateShape = z.strictObject({
  certificate_pem: z.string().describe('The certificate.'),
  private_key_pem: z.string().optional().describe('Only where it was made here.'),
  ca_pem: z.string().describe('What signs devices and the listener: issuing CA and root.'),
  not_after: moment.describe('When it expires.'),
});
const provisionedShape = certificateShape.extend({
  device_id: id.describe('What the device is called from now on.'),
  kind: deviceKind,
  renew_after: moment.describe('From here on the device should renew.'),
});
const proxyShape = certificateShape.extend({
  proxy_id: id.describe('What the proxy is called in its certificate.'),
  fingerprint: z.string().describe('SHA-256 of the certificate, in hexadecimal: what revokes it.'),
});

const erasureShape = z.strictObject({
  account_id: id.describe('Whose data goes.'),
  began_at: moment.describe('When it was begun.'),
  removed: z.record(z.string(), count).describe('How much of what is gone.'),
  in_hand: z.boolean().describe('Whether this process is at it.'),
});

const mailShape = z.strictObject({
  file: z.string().describe('Its name in the outbox.'),
  to: z.string().describe('The address that it is for.'),
  subject: z.string().describe('What stands above it.'),
  text: z.string().describe('All of it, without formatting.'),
  date: z.string().describe('When it was written, as mails say it (RFC 5322).'),
});

export const OPERATOR_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process runs, and which version of Spool it is.',
    credential: 'none',
    answer: z.strictObject({
      alive: z.literal(true).describe('It answers, so it is.'),
      version: z.string().describe('The version of Spool.'),
    }),
    handler: async () => ({ alive: true, version: VERSION }),
  }),

  openRoute({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether it can serve requests: all, or those that the part of a Redis Cluster answers that is there.',
    notes: 'It writes something, as requests do, and waits two seconds at most; what was found counts for a second.',
    credential: 'none',
    answer: z.strictObject({
      ready: z.literal(true).describe('Storage takes writes.'),
      storage: z.enum(['ok', 'slow']).describe('slow: a write takes over half a second.'),
    }),
    async handler({ services: { storage_health } }) {
      const { status } = await storage_health.current();
      if (status === 'ok' || status === 'slow') return { ready: true, storage: status };
      const text = status === 'away' ? 'Storage does not answer.' : 'Storage takes no writes.';
      return refuse('UNAVAILABLE', text, { retry_after_s: 2 });
    },
  }),

  openRoute({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus.',
    credential: 'none',
    answer: 'text',
    async handler({ services: { deliveries, metrics }, reply }) {
      await deliveries.measure().catch(() => {}); // storage is away: the rest is worth having all the same
      return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/actors',
    summary: 'What is active in this process, and what is parked or set aside.',
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    answer: actorsShape,
    async handler({ services: { clock, runtime, store, watch }, query: { limit } }) {
      const aside = await setAside(store, limit);
      const { kinds, busiest, parked, lately } = runtime.inspect(limit);
      const times = watch.turnTimes(Object.keys(kinds));
      return {
        now: new Date(clock.now()).toISOString(),
        kinds: Object.fromEntries(Object.entries(kinds).map(([kind, row]) => [kind, { ...row, ...times.get(kind) }])),
        busiest: busiest.map(named),
        // With its id, whatever that is: without it nobody could have it try again.
        parked: parked.map((one) => ({ ...one, name: shownName(one) })),
        lately: { ...lately, busiest: lately.busiest.map(named), slowest: lately.slowest.map(named) },
        set_aside: aside,
      };
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/parked/retry',
    summary: 'Lets a parked entity try again.',
    credential: 'operator',
    status: 204,
    body: z.object({
      kind: z.string('must be a kind of actor').max(100).describe('The kind of actor, such as account.'),
      id: z.string('must be the id of a parked entity').max(300),
    }),
    refusals: ['NOT_FOUND'],
    async handler({ services: { runtime }, body }) {
      return runtime.releaseQuarantine(body) ? null : refuse('NOT_FOUND', 'No such entity is parked in this process.');
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/set-aside/retry',
    summary: 'Hands what was set aside to its entity once more.',
    credential: 'operator',
    status: 204,
    body: z.object({
      partition: whole({ min: 0, max: PARTITIONS - 1 }).describe('As the list says it.'),
      name: z.string('must be the name of what was set aside').max(500).describe('As the list says it.'),
    }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: async ({ services, body }) => retrySetAside(services, body),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account',
    summary: 'How an account stands, by its id or email.',
    notes: 'Nothing of what is in it.',
    credential: 'operator',
    answer: accountForStaffShape,
    refusals: ['NOT_FOUND'],
    async handler({ services, params }) {
      const account = await accountNamed(services, params.account as string);
      return isRefusal(account) ? account : accountForStaff(account, services.clock.now());
    },
  }),

  operatorRoute({
    method: 'PUT',
    path: '/ops/accounts/:account/entitlements/:name',
    summary: 'Switches an entitlement.',
    credential: 'operator',
    body: z.object({ enabled: z.boolean('must be true or false').describe('Whether the account has it.') }),
    answer: entitledShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body: { enabled } }) {
      const entitlement = ENTITLEMENTS.find((name) => name === params.name);
      if (entitlement === undefined)
        return refuse('NOT_FOUND', `There is no such entitlement; they are ${ENTITLEMENTS.join(', ')}.`);
      const account = await accountNamed(services, params.account as string);
      if (isRefusal(account)) return account;
      return switchEntitlement(services, { account_id: account.id, entitlement, enabled });
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/devices',
    summary: 'Provisions a device.',
    notes:
      'With a certificate request the private key stays where it is; otherwise it is made here, and is in this answer alone.',
    credential: 'operator',
    status: 201,
    body: z.object({
      kind: z
        .enum(['personal', 'shared'], 'must be personal or shared')
        .describe('personal: bound to one account; shared: records for whoever hosts a session on it.'),
      csr_pem: csrPem,
    }),
    answer: provisionedShape,
    example: { kind: 'personal' },
    handler: async ({ services, body }) => provision(services, body),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/devices/:id/certificate',
    summary: "Revokes a device's certificates.",
    credential: 'operator',
    status: 204,
    handler: async ({ services, params }) => revokeDevice(services, params.id as string),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/device-proxies',
    summary: 'Gives a proxy the certificate with which it may pass devices on.',
    credential: 'operator',
    status: 201,
    body: z.object({ csr_pem: csrPem }),
    answer: proxyShape,
    example: {},
    handler: async ({ services, body }) => admitProxy(services, body.csr_pem),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/device-proxies/:fingerprint',
    summary: "Revokes a proxy's certificate.",
    credential: 'operator',
    status: 204,
    refusals: ['NOT_FOUND'],
    handler: async ({ services, params }) => revokeProxy(services, params.fingerprint as string),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/keys/rotate',
    summary: 'Lets another key sign access tokens.',
    notes: 'Tokens that are out stay good.',
    credential: 'operator',
    answer: z.strictObject({ kid: z.string().describe('The id of the key that signs now.') }),
    refusals: ['CONFLICT'],
    handler: async ({ services: { signing_keys } }) => signing_keys.rotate(),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/keys/server/rotate',
    summary: 'Introduces another server key.',
    notes:
      'All processes read it at once and write with it after a minute. What older keys made stays good: their files must stay in KEYS_DIR. While one is introduced, the same again.',
    credential: 'operator',
    answer: z.strictObject({
      key_id: z.string().describe('The id of the new key.'),
      active_at: moment.describe('When it is written with.'),
    }),
    async handler({ services: { server_key_rotation } }) {
      const { key_id, active_at_ms } = await server_key_rotation.rotate();
      return { key_id, active_at: new Date(active_at_ms).toISOString() };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/erasures',
    summary: 'Erasures of accounts that are under way.',
    credential: 'operator',
    answer: z.strictObject({ items: z.array(erasureShape), cursor: no_cursor }),
    handler: async ({ services: { erasures } }) => ({ items: await erasures.list(), cursor: null }),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/workspaces/:id',
    summary: 'Deletes a shared workspace.',
    credential: 'operator',
    status: 204,
    refusals: ['CONFLICT'],
    handler: async ({ services, params }) => deleteWorkspace(services, params.id as string),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/clock',
    summary: 'Moves the clock forward, where `TEST_CLOCK=1` allows it.',
    credential: 'operator',
    body: z.object({ advance_ms: whole({ min: 0, max: ADVANCE_MAX_MS }).describe('How far, in ms.') }),
    answer: z.strictObject({ now: serverNow }),
    refusals: ['NOT_FOUND'],
    async handler({ services, body: { advance_ms } }) {
      if (!services.settings.test_clock) return refuse('NOT_FOUND', 'The clock can be moved only with TEST_CLOCK=1.');
      await services.clock.advance(advance_ms);
      await services.handleDue();
      return { now: new Date(services.clock.now()).toISOString() };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/inbox',
    summary: 'Mails that were written instead of sent, newest first.',
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    answer: z.strictObject({ items: z.array(mailShape), cursor: no_cursor }),
    refusals: ['NOT_FOUND'],
    async handler({ services: { settings }, query: { limit } }) {
      if (settings.smtp_url !== null) return refuse('NOT_FOUND', 'Mails are sent over SMTP; nothing is kept here.');
      return { items: await listOutbox(outboxFolder(settings), { limit }), cursor: null };
    },
  }),
];

async function provision(
  services: Services,
  { kind, csr_pem }: { kind: 'personal' | 'shared'; csr_pem?: string | undefined },
): Promise<z.infer<typeof provisionedShape> | Refusal> {
  const { certificates, clock, metrics, runtime, settings } = services;
  const now_ms = clock.now();
  const device_id = randomId({ partition: randomPartition(), now_ms });
  const made = issue(services, { subject: device_id, days: settings.device_cert_days, csr_pem });
  if (isRefusal(made)) return made;
  const { fingerprint, not_after_ms } = made.issued;
  const message: DeviceMessage = { type: 'provision', kind, fingerprint, not_after_ms };
  const device = await runtime.ask<Device>({ kind: 'device', id: device_id }, message);
  if (isRefusal(device)) return device;
  await certificates.save({ fingerprint, device_id, kind, not_after_ms, is_renewal: 0 }, now_ms);
  metrics.device_certificates.inc({ what: 'provisioned' });
  return { device_id, kind, ...made.view, renew_after: new Date(renewAfterMs(made.issued)).toISOString() };
}

/** Its own device's purpose would do for TLS; that it is a proxy's stands in its record alone. */
async function admitProxy(
  services: Services,
  csr_pem: string | undefined,
): Promise<z.infer<typeof proxyShape> | Refusal> {
  const { certificates, clock, metrics } = services;
  const now_ms = clock.now();
  const proxy_id = randomId({ partition: randomPartition(), now_ms });
  const made = issue(services, { subject: proxy_id, days: LIMITS.proxy_certificate_days, csr_pem });
  if (isRefusal(made)) return made;
  const { fingerprint, not_after_ms } = made.issued;
  const record = { fingerprint, device_id: proxy_id, kind: 'proxy' as const, not_after_ms, is_renewal: 0 };
  await certificates.save(record, now_ms);
  metrics.device_certificates.inc({ what: 'proxy_provisioned' });
  return { proxy_id, fingerprint, ...made.view };
}

type Made = {
  issued: DeviceCertificate;
  /** The private key only where it was made here. */
  view: z.infer<typeof certificateShape>;
};

function issue(
  { authority, clock }: Services,
  { subject, days, csr_pem }: { subject: string; days: number; csr_pem: string | undefined },
): Made | Refusal {
  const key = csr_pem === undefined ? makeDeviceKey() : null;
  const proof = key === null ? { csr_pem: csr_pem as string } : { public_key: key.public_key };
  const issued = authority.issueDeviceCertificate({ device_id: subject, now_ms: clock.now(), days, ...proof });
  if (!issued.ok)
    return refuse('BAD_REQUEST', `csr_pem: ${issued.message}.`, {
      details: [{ path: 'csr_pem', message: issued.message }],
    });
  const { certificate_pem, ca_pem, not_after_ms } = issued;
  const private_key = key === null ? {} : { private_key_pem: key.private_key_pem };
  const not_after = new Date(not_after_ms).toISOString();
  return { issued, view: { certificate_pem, ...private_key, ca_pem, not_after } };
}

/** From the device's own turn on none can be renewed or used for the first time; each is then ended before the answer. */
async function revokeDevice(services: Services, device_id: string): Promise<null | Refusal> {
  const { runtime } = services;
  const message: DeviceMessage = { type: 'revoke' };
  const device = await runtime.ask<DeviceCertificatesReply>({ kind: 'device', id: device_id }, message);
  if (isRefusal(device)) return device;
  const ended = await Promise.all(device.named.map((one) => revoke(services, one)));
  return ended.find(isRefusal) ?? null;
}

async function revokeProxy(services: Services, fingerprint: string): Promise<null | Refusal> {
  const issued = await services.certificates.find(fingerprint.toLowerCase());
  if (issued?.kind !== 'proxy') return refuse('NOT_FOUND', 'No proxy has a certificate with this fingerprint.');
  return revoke(services, issued);
}

async function revoke(
  { connections, metrics, runtime }: Services,
  { fingerprint, not_after_ms }: { fingerprint: string; not_after_ms: number | null },
): Promise<null | Refusal> {
  const message: CertificateMessage = { type: 'revoke', not_after_ms };
  const ended = await runtime.ask<CertificateStatus>({ kind: 'certificate', id: fingerprint }, message);
  if (isRefusal(ended)) return ended;
  metrics.device_certificates.inc({ what: 'revoked' });
  connections.revoked(fingerprint);
  return null;
}

/** How an account stands, without what is in it. */
function accountForStaff(account: Account, now_ms: number): z.infer<typeof accountForStaffShape> {
  const { email, created_at_ms, phase, entitlements, devices, memberships, tokens } = account;
  const erase_at_ms = eraseAtMs(account);
  return {
    ...{ id: account.id, email, status: phase.status, devices, permissions: [...permissionsOf(entitlements)] },
    created_at: new Date(created_at_ms).toISOString(),
    erase_at: erase_at_ms === null ? null : new Date(erase_at_ms).toISOString(),
    entitlements: { ...ENTITLEMENT_DEFAULTS, ...entitlements },
    shared_workspaces: memberships.length,
    personal_access_tokens: tokens.filter((token) => isLiving(token, now_ms)).length,
  };
}

async function switchEntitlement(
  { runtime }: Services,
  { account_id, entitlement, enabled }: { account_id: string; entitlement: Entitlement; enabled: boolean },
): Promise<z.infer<typeof entitledShape> | Refusal> {
  const message: AccountMessage = { type: 'switch_entitlement', entitlement, enabled };
  const account = await runtime.ask<Account>({ kind: 'account', id: account_id }, message);
  if (isRefusal(account)) return account;
  return { account_id, entitlements: account.entitlements, permissions: [...permissionsOf(account.entitlements)] };
}

async function deleteWorkspace(services: Services, id: string): Promise<unknown | Refusal> {
  const owner = ownerOfPrivateWorkspace(id);
  if (owner !== null) {
    const account = await accountNamed(services, owner.account_id);
    const is_private = !isRefusal(account) && account.private_workspace.id === id;
    if (is_private) return refuse('CONFLICT', 'A private workspace goes with its account alone.');
  }
  return askWorkspace(services, id, (workspace) => workspace.staff_delete());
}

/** An entity in a list: its id where that may be seen, and how it is called. */
function named<Row extends Address>(row: Row): Omit<Row, 'id'> & { id: string | null; name: string } {
  const name = shownName(row);
  return { ...row, id: name === row.id ? row.id : null, name };
}

/** What threw too often, over all partitions: for whom it was and of what type, without its content. */
async function setAside(store: Services['store'], limit: number) {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const found = await Promise.all(
    partitions.map(async (partition) =>
      (await store.listSetAside(partition)).map(({ name, content }) => {
        const { to, message } = decodeStored(content) as { to: Address; message: { type?: string } };
        return { partition, name, to: { kind: to.kind, name: shownName(to) }, type: message.type ?? null };
      }),
    ),
  );
  return found.flat().slice(0, limit);
}

/** Hands what was set aside to its entity once more, as a new message; on success it is gone from the list. */
async function retrySetAside(
  { runtime, store }: Services,
  { partition, name }: { partition: number; name: string },
): Promise<null | Refusal> {
  const found = (await store.listSetAside(partition)).find((aside) => aside.name === name);
  if (found === undefined) return refuse('NOT_FOUND', 'Nothing of this name is set aside.');
  const { to, message } = decodeStored(found.content) as { to: Address; message: unknown };
  const { outcome, reply } = await runtime.deliver(to, { message, source: { from: 'ask', fences: [] } });
  if (outcome !== 'decided') return isRefusal(reply) ? reply : refuse('CONFLICT', 'It was refused once more.');
  await store.removeSetAside(partition, name);
  return null;
}
