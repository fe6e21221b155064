import type { Redis } from 'ioredis';
import type { Library } from '../../actors/insights/library_state.js';
import type { Signals } from '../../actors/recordings/signals_state.js';
import type { StreamState } from '../../actors/recordings/stream_state.js';
import { ANNOUNCEMENT_INDEX } from '../../actors/transcripts/announcement_index.js';
import { readPage } from '../../actors/transcripts/transcript_page.js';
import { TRANSCRIBING_INDEX, type Transcript } from '../../actors/transcripts/transcript_state.js';
import { PARTITIONS, partitionOfId } from '../../src/domain/ids.js';
import { type DueList, dueIndex } from '../../src/domain/retention.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { keysOf } from '../../src/engine/store/partitions.js';
import { mastersOf } from '../../src/engine/store/redis_connection.js';
import { RedisStore } from '../../src/engine/store/redis_store.js';
import type { Servers } from '../driver/servers.js';
import type { AppClient } from '../fixtures/app_client.js';
import type { DeliveryView } from '../fixtures/endpoints.js';
import { until } from '../fixtures/until.js';
import { checkReminders, type Kind, type States } from '../simulation/implied_reminders.js';
import { searchFaults } from './search_blocks.js';
import type { Witness } from './witness.js';

/** What must be equal once nothing is under way any more; faults.md: "Equalities at the end of every run". */

const SETTLED_MAX_MS = 45_000;
const LATER_MS = Number.MAX_SAFE_INTEGER;
const ENTITY = /^\{[^}]+\}1:e:([a-z_]+):(.+)$/;
const SNAPSHOT_AT = 1;
const ENTRY_BYTES = 20;
/** Kinds whose reminders are judged; of others a reminder must only belong to something. */
const JUDGED: ReadonlySet<string> = new Set<Kind>([
  ...(['email', 'account', 'app_session', 'auth_session', 'grant', 'claim', 'stream'] as const),
  ...(['device_session', 'personal_access_token', 'endpoint', 'sweep'] as const),
]);

type EventPage = { items: { id: string; type: string }[]; cursor: string };

/** What is not as it must be in what is stored: outboxes and queues are empty, reminders are those that states imply. */
export async function storedFaults(redis: Redis): Promise<string[]> {
  const faults: string[] = [];
  await until('outboxes and queues are empty', async () => (await leftOver(redis)).length === 0, SETTLED_MAX_MS).catch(
    async () => void faults.push(...(await leftOver(redis))),
  );
  const states = await statesOf(redis);
  faults.push(...(await transcriptFaults(redis, states)), ...(await dueListFaults(redis, states)));
  faults.push(...(await searchFaultsOf(redis, states)));
  const store = new RedisStore(redis, () => '');
  const pending = new Map<string, number>();
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for (const { member, at_ms } of await store.dueReminders(partition, LATER_MS, 1_000_000)) {
      const [kind = '', id = ''] = member.split(':');
      if (JUDGED.has(kind)) pending.set(member, at_ms);
      else if (!states.get(kind)?.has(id)) faults.push(`reminder ${member} is nobody's`);
    }
  }
  const all = <K extends Kind>(kind: K) => (states.get(kind) ?? new Map()) as Map<string, States[K]>;
  checkReminders({ all, pending, mustHold: (holds, text) => void (holds || faults.push(text)) });
  return faults;
}

/** Of what search knows, where nothing is under way. */
export async function storedSearchFaults(redis: Redis): Promise<string[]> {
  return searchFaultsOf(redis, await statesOf(redis));
}

function searchFaultsOf(redis: Redis, states: AllStates): Promise<string[]> {
  const transcripts = statesOfKind<Transcript>(states, 'transcript');
  return searchFaults(redis, { transcripts, libraries: statesOfKind<Library>(states, 'library') });
}

/** Outbox messages, mails, jobs and dead letters; windows to claim and changes to report. */
async function leftOver(redis: Redis): Promise<string[]> {
  const found: string[] = [];
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const keys = keysOf(partition);
    const [messages, mails, jobs, dead_letters, transcribing, announcing] = await Promise.all([
      redis.xlen(keys.outbox),
      redis.zcard(keys.queue('mails').due),
      redis.zcard(keys.queue('jobs').due),
      redis.hlen(keys.deadLetters),
      redis.zcard(keys.index(TRANSCRIBING_INDEX.owner, TRANSCRIBING_INDEX.index)),
      redis.zcard(keys.index(ANNOUNCEMENT_INDEX.owner, ANNOUNCEMENT_INDEX.index)),
    ]);
    for (const [what, count] of Object.entries({ messages, mails, jobs, dead_letters, transcribing, announcing }))
      if (count > 0) found.push(`partition ${partition}: ${count} ${what} are left`);
  }
  return found;
}

type AllStates = Map<string, Map<string, unknown>>;

function statesOfKind<State>(states: AllStates, kind: string): Map<string, State> {
  return (states.get(kind) ?? new Map()) as Map<string, State>;
}

/** The states of all entities, by kind and id. */
async function statesOf(redis: Redis): Promise<AllStates> {
  const states: AllStates = new Map();
  for (const master of mastersOf(redis)) {
    let cursor = '0';
    do {
      const [next, names] = await master.scan(cursor, 'MATCH', '*:e:*', 'COUNT', 1_000);
      cursor = next;
      const found = names.flatMap((name) => ENTITY.exec(name) ?? []);
      for (let at = 0; at + 2 < found.length; at += 3) {
        const [name, kind, id] = found.slice(at, at + 3) as [string, string, string];
        const value = await redis.getBuffer(name);
        if (value === null) continue;
        const state = (decodeStored(value.subarray(SNAPSHOT_AT + (value[0] ?? 0) * ENTRY_BYTES)) as { s: unknown }).s;
        if (state === null || state === undefined) continue;
        const of_kind = states.get(kind) ?? new Map<string, unknown>();
        states.set(kind, of_kind.set(id, state));
      }
    } while (cursor !== '0');
  }
  return states;
}

/** Turns of pages = the transcript's count, and no claim is open. */
async function transcriptFaults(redis: Redis, states: AllStates): Promise<string[]> {
  const faults: string[] = [];
  for (const [id, state] of statesOfKind<Transcript>(states, 'transcript')) {
    const pages = await redis.hgetallBuffer(keysOf(partitionOfId(id)).records({ kind: 'transcript', id }, 'pages'));
    const turns = Object.entries(pages).map(
      ([key, value]) => readPage(Number.parseInt(key, 16), decodeStored(value)).turns.length,
    );
    const count = turns.reduce((sum, one) => sum + one, 0);
    if (count !== state.turns) faults.push(`transcript ${id} counts ${state.turns} turns and has ${count}`);
    if (state.window !== null || state.waiting.length > 0) faults.push(`a claim of transcript ${id} has not ended`);
  }
  return faults;
}

/** On the due lists of retention stands what has something left, at its oldest clock. */
async function dueListFaults(redis: Redis, states: AllStates): Promise<string[]> {
  const expected = new Map<string, number>();
  const expect = (
    list: DueList,
    { account_id, workspace_id }: Place,
    [id, at_ms]: [id: string, at_ms: number | null],
  ) => {
    const key = keysOf(partitionOfId(account_id)).index(account_id, dueIndex(list, workspace_id));
    if (at_ms !== null) expected.set(`${key} ${id}`, at_ms);
  };
  for (const [id, state] of statesOfKind<Transcript>(states, 'transcript'))
    expect('transcripts', state, [id, state.oldest?.published_at_ms ?? null]);
  for (const [id, state] of statesOfKind<StreamState>(states, 'stream'))
    if (state.status === 'kept') expect('audio', state, [id, state.oldest_audio_ms]);
  for (const [id, { owner, oldest_ms }] of statesOfKind<Signals>(states, 'signals'))
    if (owner !== null) expect('signals', owner, [id, oldest_ms]);
  const faults: string[] = [];
  for (const master of mastersOf(redis)) {
    let cursor = '0';
    do {
      const [next, keys] = await master.scan(cursor, 'MATCH', '*:due:*', 'COUNT', 1_000);
      cursor = next;
      for (const key of keys) {
        const rows = await redis.zrange(key, '0', '-1', 'WITHSCORES');
        for (let at = 0; at + 1 < rows.length; at += 2) {
          const member = `${key} ${rows[at]}`;
          if (expected.get(member) !== Number(rows[at + 1])) faults.push(`${member} is due at ${rows[at + 1]}`);
          expected.delete(member);
        }
      }
    } while (cursor !== '0');
  }
  for (const member of expected.keys()) faults.push(`${member} is not due`);
  return faults;
}

type Place = { account_id: string; workspace_id: string };

/** Deliveries = events since the endpoint was made, each of them once; and each has arrived under one id. */
export async function deliveryFaults(rig: Servers, { email, endpoint, path, cursor }: Witness): Promise<string[]> {
  const app = rig.clients((await rig.signIn(email)).access_token, rig.at_hand)[0] as AppClient; // its session may have run out, where the clock jumped
  endpoint.app = app;
  const is_open = ({ status }: DeliveryView) => status === 'pending' || status === 'leased';
  let deliveries: DeliveryView[] = [];
  await until(
    'deliveries have ended',
    async () => {
      deliveries = await endpoint.deliveries();
      return !deliveries.some(is_open);
    },
    SETTLED_MAX_MS,
  ).catch(() => {});
  const events: string[] = [];
  for (let after = cursor; ; ) {
    const page = await app.ask<EventPage>('GET', `/events?limit=100&after=${encodeURIComponent(after)}`);
    events.push(...page.items.map(({ id }) => id));
    after = page.cursor;
    if (page.items.length < 100) break;
  }
  const faults: string[] = [];
  const must = (holds: boolean, text: string) => void (holds || faults.push(`${email}: ${text}`));
  const delivered = deliveries.map(({ event_id }) => event_id ?? '').toSorted();
  must(delivered.join() === events.toSorted().join(), `${delivered.length} deliveries of ${events.length} events`);
  const open = deliveries.filter(({ status }) => status !== 'succeeded').map(({ status }) => status);
  must(open.length === 0, `deliveries that did not succeed: ${open.join()}`);
  const came = new Set(rig.receiver.at(path).map(({ headers }) => String(headers['webhook-id'])));
  must(
    [...came].toSorted().join() ===
      deliveries
        .map(({ id }) => id)
        .toSorted()
        .join(),
    `${came.size} of ${deliveries.length} deliveries came`,
  );
  return faults;
}
