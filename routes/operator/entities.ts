import { z } from 'zod';
import { ACTOR_KINDS } from '../../actors/index.js';
import { emailAddress } from '../../src/access/request_schemas.js';
import { count, moment, no_cursor, serverNow } from '../../src/access/response_schemas.js';
import { endpointOfDelivery, isId, ownerOfPrivateWorkspace, streamOfChunk } from '../../src/domain/ids.js';
import { orRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { activationShape, quarantineReason } from '../../src/edge/operations/activation_schema.js';
import { shownName, shownState } from '../../src/edge/operations/shown_state.js';
import { isRetryable } from '../../src/engine/store/store.js';
import { accountIdOf } from '../../src/features/accounts/account_of_email.js';
import { entityLabels } from '../../src/features/accounts/entity_labels.js';
import { deviceActivityShape, deviceActivityView } from '../../src/features/devices/device_activity_shape.js';
import { mergeDevice } from '../../src/features/devices/merged_activity.js';
import { endpointForStaff, endpointForStaffShape } from '../../src/features/webhooks/endpoint_for_staff.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** One entity: what is stored of it, what of that may be seen, and what it did last. */

const ENTITY_LABELS_MAX = 50; // ours: entities of one request that operators' pages want labels of

const ID_CHARS_MAX = 300;
const NO_KIND = refuse('NOT_FOUND', 'There is no such kind of actor.');
const KINDS: readonly string[] = ACTOR_KINDS.map(({ kind }) => kind);

const entityId = z
  .string('must be the id of an entity')
  .trim()
  .min(1, 'must be the id of an entity')
  .max(ID_CHARS_MAX, `must be at most ${ID_CHARS_MAX} characters`);

const kindOfActor = z.string().describe('The kind of actor, such as account.');
const shownNameShape = z.string().describe('The id, or as much of it as may be shown.');

const version = count.describe('How often its state was saved.');
const storedShape = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('absent').describe('Nothing is stored.') }),
  z.strictObject({ is: z.literal('ended').describe('Nothing is left but what says so.'), version }),
  z.strictObject({
    is: z.literal('kept').describe('It is there.'),
    version,
    bytes: count.describe('How much that is in storage.'),
    state: z.unknown().describe('What of it may be seen.'),
  }),
  z.strictObject({
    is: z.literal('unusable').describe('What is stored can not be read.'),
    reason: z.string().describe('Why.'),
  }),
]);

const entityShape = z.strictObject({
  now: serverNow,
  kind: kindOfActor,
  id: z.string(),
  name: shownNameShape,
  partition: count.describe('Of the 256, where its state lies.'),
  stored: storedShape.describe('Of the state, what is not meant to be shown is named by its type and size.'),
  memory: activationShape
    .extend({
      quarantined: z
        .strictObject({
          reason: quarantineReason,
          since: moment.describe('Since when.'),
        })
        .nullable()
        .describe('Null unless it is out of service.'),
    })
    .nullable()
    .describe('As it is in this process; null while it is at rest.'),
  recent: z
    .array(
      z.strictObject({
        type: z.string().describe('What it was asked.'),
        outcome: z.string().describe('How that ended.'),
        took_ms: z.number().describe('How long its batch took, in ms.'),
        at: moment.describe('When.'),
      }),
    )
    .describe('Its last messages, the newest first.'),
  versions: z
    .array(
      z.strictObject({
        version: count.describe('Of its state.'),
        type: z.string().describe('The message that made it.'),
        at: moment.describe('When.'),
      }),
    )
    .describe('Of these messages, those that changed it.'),
  endpoint: endpointForStaffShape.nullable().describe('Of an endpoint: why it gets what it gets.'),
  device: z
    .strictObject({
      watched_since: moment.describe('Since when this process watches.'),
      seen: deviceActivityShape.nullable().describe('Null while it has not called.'),
    })
    .nullable()
    .describe('Of a device: what this process has seen of it.'),
});

const LABELS_MAX = ENTITY_LABELS_MAX;
const entityNames = z
  .string('must be entities as kind:id, with commas between them')
  .transform((text) => text.split(',').map((one) => one.trim()))
  .refine((names) => names.length <= LABELS_MAX, `must name at most ${LABELS_MAX} entities`)
  .refine(
    (names) => names.every((name) => /^[a-z_]+:./.test(name)),
    'must be entities as kind:id, with commas between them',
  )
  .transform((names) => names.map((name) => ({ kind: kindOf(name), id: name.slice(kindOf(name).length + 1) })));

function kindOf(name: string): string {
  return name.slice(0, name.indexOf(':'));
}

export const ENTITY_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/entities',
    summary: 'Entities of an id, or of an email.',
    answer: z.strictObject({
      items: z.array(z.strictObject({ kind: kindOfActor, id: z.string(), name: shownNameShape })),
      cursor: no_cursor,
    }),
    credential: 'operator',
    query: z.object({
      find: entityId.describe(
        '`kind:id`, an id alone (of a chunk, a delivery and a private workspace too), or an email for its account.',
      ),
    }),
    handler: async ({ services, query }) => ({ items: await find(services, query.find), cursor: null }),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/labels',
    summary: 'Short texts by which one tells entities apart: an email, a host, whose a device or a recording is.',
    answer: z.strictObject({
      items: z.array(
        z.strictObject({
          kind: kindOfActor,
          id: z.string(),
          label: z.string().nullable().describe('Null for a kind without labels, and where nothing is stored.'),
        }),
      ),
      cursor: no_cursor,
    }),
    credential: 'operator',
    query: z.object({
      entities: entityNames.meta({
        type: 'string',
        description: `At most ${LABELS_MAX}, each as \`kind:id\`, with commas between them.`,
      }),
    }),
    async handler({ services, query: { entities } }) {
      const labels = await entityLabels(services, entities);
      return { items: entities.map((one, nth) => ({ ...one, label: labels[nth] ?? null })), cursor: null };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/entity',
    summary: 'One entity: what is stored of it, and what it did last.',
    answer: entityShape,
    refusals: ['NOT_FOUND'],
    credential: 'operator',
    query: z.object({
      kind: z.string('must be a kind of actor').max(100).describe('The kind of actor, such as account.'),
      id: entityId.describe('As the search gives it.'),
    }),
    handler: async ({ services, query }) => entityView(services, query),
  }),
];

type Address = { kind: string; id: string };

async function find(services: Services, text: string): Promise<(Address & { name: string })[]> {
  const candidates = await candidatesFor(services, text);
  const found = await Promise.all(
    candidates.map(async (address) =>
      (await isThere(services, address)) ? [{ ...address, name: shownName(address) }] : [],
    ),
  );
  return found.flat();
}

async function candidatesFor(services: Services, text: string): Promise<Address[]> {
  const { runtime } = services;
  const [kind = '', ...rest] = text.split(/[:\s]+/);
  if (KINDS.includes(kind) && rest.length > 0) return [{ kind, id: rest.join(':') }];
  const id = text.toLowerCase();
  if (isId(id)) return candidatesOfId(id).flatMap((one) => (runtime.homeOf(one.kind) === 'id' ? [one] : []));
  const typed = emailAddress.safeParse(text);
  if (typed.success) {
    const email = typed.data;
    const account_id = await accountIdOf(services, email).catch(orRefused(null));
    const account = account_id === null ? [] : [{ kind: 'account', id: account_id }];
    return [...account, { kind: 'email', id: email }];
  }
  return KINDS.filter((one) => runtime.homeOf(one) === 'hash').map((one) => ({ kind: one, id: text }));
}

/** Ids of parts link to the entity that they belong to. */
function candidatesOfId(id: string): Address[] {
  const owners: Address[] = [
    { kind: 'stream', id: streamOfChunk(id)?.stream_id ?? '' },
    { kind: 'endpoint', id: endpointOfDelivery(id)?.endpoint_id ?? '' },
    { kind: 'account', id: ownerOfPrivateWorkspace(id)?.account_id ?? '' },
  ];
  return [...KINDS.map((kind) => ({ kind, id })), ...owners.filter((owner) => owner.id !== '')];
}

/** Whether an entity exists. A quarantined one does, whatever its fault. */
async function isThere({ runtime }: Services, address: Address): Promise<boolean> {
  try {
    return (await runtime.stored(address)) !== null;
  } catch (error) {
    if (isRetryable(error)) throw error;
    return true;
  }
}

async function entityView(services: Services, { kind, id }: Address): Promise<unknown> {
  const { runtime, clock } = services;
  const home = runtime.homeOf(kind);
  if (home === null) throw new Refused(NO_KIND);
  if (home === 'id' && !isId(id)) throw new Refused(refuse('NOT_FOUND', `The id of a ${kind} is a UUID.`));
  const address = { kind, id };
  // In the process that was asked last, where it is in the memory of several.
  const [memory = null] = (await services.processes.askAll('look', address)).sort(
    (a, b) => agoOf(a.recent) - agoOf(b.recent),
  );
  const stored = await storedView(services, address);
  if (memory === null && stored.is === 'absent')
    throw new Refused(refuse('NOT_FOUND', `There is no ${kind} of this id.`));
  const { partition } = runtime.locate(address);
  const recent = memory?.recent ?? [];
  const now_ms = clock.unmoved();
  const at = (ago_ms: number) => new Date(now_ms - ago_ms).toISOString();
  return {
    now: new Date(clock.now()).toISOString(),
    kind,
    id,
    name: shownName(address),
    partition,
    stored,
    memory: memory === null ? null : inMemory(memory),
    recent: recent.map(({ type, outcome, took_ms, ago_ms }) => ({ type, outcome, took_ms, at: at(ago_ms) })),
    versions: versionsOf(recent).map(({ version, type, ago_ms }) => ({ version, type, at: at(ago_ms) })),
    endpoint:
      kind === 'endpoint' && stored.is === 'kept' ? await endpointForStaff(services, id).catch(orRefused(null)) : null,
    device: kind === 'device' ? await deviceSeen(services, id) : null,
  };
}

/** Of messages with the newest first, those that began a new version; what the oldest one found there is no new one. */
function versionsOf<One extends { version: number }>(recent: readonly One[]): One[] {
  const known = recent.filter(({ version }) => version > 0);
  return known.filter(({ version }, nth) => version > (known[nth + 1]?.version ?? (version === 1 ? 0 : version)));
}

type StoredView =
  | { is: 'absent' }
  /** The header is left; the state has ended. */
  | { is: 'ended'; version: number }
  | { is: 'kept'; version: number; bytes: number; state: unknown }
  | { is: 'unusable'; reason: string };

async function storedView({ runtime }: Services, address: Address): Promise<StoredView> {
  try {
    const stored = await runtime.stored(address);
    if (stored === null) return { is: 'absent' };
    const { version, bytes, state } = stored;
    if (state === null) return { is: 'ended', version };
    return { is: 'kept', version, bytes, state: shownState(address.kind, state) };
  } catch (error) {
    if (isRetryable(error)) throw error;
    return { is: 'unusable', reason: error instanceof Error ? error.message : String(error) };
  }
}

function inMemory({
  version,
  waiting,
  batches,
  batch_ms_mean,
  quarantined,
}: NonNullable<ReturnType<Services['runtime']['look']>>) {
  return {
    version,
    waiting,
    batches,
    batch_ms_mean,
    quarantined:
      quarantined === null ? null : { reason: quarantined.reason, since: new Date(quarantined.since_ms).toISOString() },
  };
}

function agoOf([newest]: readonly { ago_ms: number }[]): number {
  return newest?.ago_ms ?? Number.POSITIVE_INFINITY;
}

async function deviceSeen({ clock, processes }: Services, device_id: string) {
  const { since_ms, seen } = await mergeDevice(processes, device_id, clock.now());
  const watched_since = new Date(since_ms).toISOString();
  return { watched_since, seen: seen === null ? null : deviceActivityView(seen) };
}
