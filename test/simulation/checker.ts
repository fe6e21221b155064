import { isDeepStrictEqual } from 'node:util';
import type { BoundDevice } from '../../actors/accounts/account_devices.js';
import type { Account } from '../../actors/accounts/account_state.js';
import type { AppSession } from '../../actors/accounts/app_session.js';
import type { Binding } from '../../actors/devices/binding.js';
import type { Claim } from '../../actors/devices/claim.js';
import type { Email } from '../../actors/emails/email.js';
import type { AuthSession } from '../../actors/oauth/auth_session.js';
import { type Grant, grantIndex, isLive } from '../../actors/oauth/grant.js';
import { PROCESSING_INDEX } from '../../actors/recordings/stream_processing.js';
import { type Chunk, chunkKey, type Stream } from '../../actors/recordings/stream_state.js';
import { chunkId, PARTITIONS, partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { ENTITLEMENT_DEFAULTS, type Entitlement } from '../../src/domain/permissions.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { decodeEvent } from '../../src/engine/store/event_body.js';
import type { EntityLocation } from '../../src/engine/store/store.js';
import { succeeded } from '../driver/history.js';
import { judge } from '../driver/linearizability.js';
import { register } from '../driver/models.js';
import { checkReminders, type Kind, type States } from './implied_reminders.js';
import type { Ledger } from './ledger.js';
import type { Applied, ModelStore } from './model_store.js';

type Event = { log_id: string; type: string; resource: { id: string }; data: { changed_fields?: string[] } };

const ALL = { from: '-', to: '+', descending: false, limit: 1_000_000 };
/** Telling fields of `account.updated`, by entitlement; a switch flips its entitlement, so their number tells its state. */
const TELLING_FIELDS: Partial<Record<Entitlement, string>> = {
  'developer.tools': 'developer_enabled',
  'workspace.sharing': 'sharing_enabled',
  'agent.experimental': 'agent_enabled',
};

/** What one commit may not do to what was there before. */
export function checkStep({ place, before, commit }: Applied, mustHold: (holds: boolean, text: string) => void): void {
  if (before === null) return;
  const { kind, id } = place.address;
  const [was, is] = [stateOf(before), stateOf(commit.snapshot)];
  if (was === null || is === null) return;
  const keeps = <State>(fields: (keyof State)[]) => {
    const [old, now] = [was as State, is as State];
    for (const field of fields) {
      mustHold(
        old[field] === null || isDeepStrictEqual(old[field], now[field]),
        `${kind} ${id} changed ${String(field)} from ${JSON.stringify(old[field])} to ${JSON.stringify(now[field])}`,
      );
    }
  };
  const grows = <State>(fields: (keyof State)[]) => {
    const [old, now] = [was as State, is as State];
    for (const field of fields) mustHold(now[field] >= old[field], `${kind} ${id} went back in ${String(field)}`);
  };
  switch (kind as Kind) {
    case 'email':
      keeps<Email>(['account_id']);
      return;
    case 'account':
      // A restored account whose data was erased is a fresh one; both may come in one commit.
      keeps<Account>(['id', 'email']);
      if (!['erasing', 'erased'].includes((was as Account).phase.status)) keeps<Account>(['created_at_ms']);
      grows<Account>(['deletion_attempts']);
      return;
    case 'app_session':
      keeps<AppSession>(['account_id', 'verified_at_ms']);
      grows<AppSession>(['generation', 'next_serial']);
      return;
    case 'auth_session':
      grows<AuthSession>(['wrong']);
      mustHold((was as AuthSession).step !== 'used' || (is as AuthSession).step === 'used', `${id} came back`);
      return;
    case 'grant': {
      keeps<Grant>(['account_id', 'client_id', 'verified_at_ms', 'created_at_ms']);
      const [old, now] = [was as Grant, is as Grant];
      if (!isLive(old)) return;
      mustHold(isLive(now) && now.stage.generation - old.stage.generation <= 1, `grant ${id} skipped a generation`);
      mustHold(isLive(now) && now.stage.generation >= old.stage.generation, `grant ${id} went back`);
      return;
    }
    case 'claim': {
      const [old, now] = [(was as Claim).redemption, (is as Claim).redemption];
      if (old.status === 'bound')
        mustHold(now.status === 'bound' && now.device_id === old.device_id, `claim ${id} moved on from bound`);
      return;
    }
    case 'binding':
      keeps<Binding>(['account_id', 'device_id', 'source_id', 'claim_id']);
      mustHold((was as Binding).status === 'active' || (is as Binding).status === 'ended', `binding ${id} came back`);
      return;
    case 'stream':
      keeps<Stream>(['id', 'account_id', 'workspace_id', 'source_id', 'recorder', 'end_ms']);
      grows<Stream>(['chunks', 'stored_chunks', 'stored_bytes', 'stored_until_ms']);
      return;
    default:
      return;
  }
}

function stateOf(snapshot: Uint8Array): unknown {
  return (decodeStored(snapshot) as { s: unknown }).s;
}

/** Holds the store against what clients were told, when nothing is under way any more. */
export class Checker {
  readonly #model: ModelStore;
  readonly #ledger: Ledger;
  readonly #states = new Map<string, Map<string, unknown>>();
  readonly #places = new Map<string, EntityLocation>();
  readonly #events = new Map<string, Event[]>();
  undecided = 0;

  constructor(model: ModelStore, ledger: Ledger) {
    this.#model = model;
    this.#ledger = ledger;
    for (const { address, partition, snapshot } of model.entities()) {
      const state = stateOf(snapshot);
      this.#places.set(address.id, { address, partition });
      if (state === null) continue;
      const states = this.#states.get(address.kind) ?? new Map<string, unknown>();
      this.#states.set(address.kind, states.set(address.id, state));
    }
  }

  async check(): Promise<void> {
    await this.#checkEvents();
    this.#checkAccounts();
    this.#checkDevices();
    this.#checkStreams();
    await this.#checkProcessing();
    this.#checkTallies();
    await this.#checkGrants();
    await this.#checkReminders();
    await this.#checkQueues();
  }

  /** After all that could ever fall due has: nothing is left to fall due. */
  async checkEnd(): Promise<void> {
    const sweeps = new Set([
      ...[...this.#all('endpoint').keys()].map((id) => `endpoint:${id}:sweep`),
      ...[...this.#all('sweep').keys()].map((id) => `sweep:${id}:tick`),
    ]);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const due = await this.#model.dueReminders(partition, Number.MAX_SAFE_INTEGER, 100);
      // An endpoint is swept for as long as it epochs, and so is a workspace that does not keep all for ever.
      const left = due.filter(({ member }) => !sweeps.has(member));
      this.#must(left.length === 0, `reminders never end: ${left.map(({ member }) => member)}`);
    }
    for (const [id, { open }] of this.#all('stream'))
      this.#must(open.length === 0, `stream ${id} still has open intents`);
    for (const [id, { account_id, invitations }] of this.#all('email'))
      this.#must(account_id !== null || invitations > 0, `email ${id} is never forgotten`);
    for (const [id, { planned, fired }] of this.#all('tally')) {
      const once = fired.length === planned && new Set(fired).size === planned;
      this.#must(once, `tally ${id} planned ${planned} reminders, and ${fired} fired`);
    }
    for (const kind of ['app_session', 'auth_session', 'grant', 'claim'] as const)
      this.#must(this.#all(kind).size === 0, `a ${kind} never ends`);
    await this.#checkQueues();
  }

  #must(holds: boolean, text: string): void {
    this.#ledger.mustHold(holds, text);
  }

  #all<K extends Kind>(kind: K): Map<string, States[K]> {
    return (this.#states.get(kind) ?? new Map()) as Map<string, States[K]>;
  }

  #records<Value>(id: string, collection: string): Map<string, Value> {
    const place = this.#places.get(id);
    if (place === undefined) return new Map();
    return new Map(
      [...this.#model.collection(place, collection)].map(({ id: record, value }) => [
        record,
        decodeStored(value) as Value,
      ]),
    );
  }

  /** Each that lives is listed under its epoch, and nothing else is; what has ended does not come back. */
  async #checkGrants(): Promise<void> {
    const { grants_ended } = this.#ledger;
    for (const [account_id, { epochs }] of this.#all('account')) {
      for (let epoch = 0; epoch <= epochs.grants; epoch++) {
        const place = { owner: account_id, partition: partitionOfId(account_id) };
        const listed = await this.#model.list(place, grantIndex(epoch), { descending: false, limit: 1_000 });
        const living = [...this.#all('grant')].filter(
          ([, grant]) => isLive(grant) && grant.account_id === account_id && grant.issued_under.grants === epoch,
        );
        const same =
          listed.length === living.length && living.every(([id]) => listed.some(({ member }) => member === id));
        this.#must(same, `${listed.length} grants of ${account_id} are listed, ${living.length} live`);
      }
    }
    for (const id of grants_ended) this.#must(!this.#all('grant').has(id), `grant ${id} lives after its end`);
  }

  async #checkEvents(): Promise<void> {
    for (const account_id of this.#all('account').keys()) {
      const log = await this.#model.events({ account_id, partition: partitionOfId(account_id) }, ALL);
      let last_ms = 0;
      const ids = new Set<string>();
      const events = log.map((logged, index) => {
        const { id, type } = logged;
        const [ms = 0, sequence = 0] = id.split('-').map(Number);
        this.#must(sequence === index + 1, `event ${id} of ${account_id} has place ${index + 1}`);
        this.#must(ms >= last_ms, `event ${id} of ${account_id} goes back in time`);
        last_ms = ms;
        const event = decodeEvent(logged) as unknown as Omit<Event, 'log_id'> & { id: string };
        this.#must(event.type === type && !ids.has(event.id), `event ${id} of ${account_id} is not itself`);
        ids.add(event.id);
        return { ...event, log_id: id };
      });
      this.#events.set(account_id, events);
    }
    for (const { account_id } of this.#all('source').values())
      this.#must(this.#events.has(account_id), 'a source without an account');
  }

  #count(account_id: string, type: string, holds: (event: Event) => boolean = () => true): number {
    return (this.#events.get(account_id) ?? []).filter((event) => event.type === type && holds(event)).length;
  }

  #checkAccounts(): void {
    const { signed_in, attempts, generations, time } = this.#ledger;
    const by_email = new Map<string, string>();
    for (const [id, account] of this.#all('account')) {
      this.#must(!by_email.has(account.email), `${account.email} has two accounts`);
      by_email.set(account.email, id);
      this.#must(
        this.#all('email').get(account.email)?.account_id === id,
        `${account.email} does not lead to its account`,
      );
      const was_erased = account.private_workspace.number > 1; // with its log
      if (was_erased) continue;
      this.#must(this.#count(id, 'account.created') === 1, `account ${id} was not created once`);
      this.#must(account.devices === this.#records(id, 'devices').size, `account ${id} has miscounted its devices`);

      const calls = [...this.#ledger.names(id)];
      time.end(time.begin(calls, { op: 'read' }), succeeded(account.name ?? ''));
      const { holds } = judge(calls, register(''));
      if (holds === 'undecided') this.undecided += 1;
      this.#must(holds !== 'no', `no order explains the names of ${id}: ${JSON.stringify(calls)}`);
      const renamed = this.#count(id, 'account.updated', ({ data }) => data.changed_fields?.includes('name') === true);
      const acknowledged = new Set(
        calls.flatMap(({ what, answer }) => (what.op === 'write' && answer !== null ? what.value : [])),
      );
      const tried = attempts.get(`${id} name`) ?? 0;
      this.#must(
        acknowledged.size <= renamed && renamed <= tried,
        `${renamed} events for ${acknowledged.size} to ${tried} renamings of ${id}`,
      );

      for (const [entitlement, field] of Object.entries(TELLING_FIELDS) as [Entitlement, string][]) {
        const switched = this.#count(
          id,
          'account.updated',
          ({ data }) => data.changed_fields?.includes(field) === true,
        );
        const on = account.entitlements[entitlement] ?? ENTITLEMENT_DEFAULTS[entitlement];
        this.#must((switched % 2 === 1) === on, `${switched} events for ${entitlement} of ${id}, which is ${on}`);
        this.#must(
          switched <= (attempts.get(`${id} ${entitlement}`) ?? 0),
          `more switches of ${entitlement} than tries`,
        );
      }
      const sources = [...this.#all('source').values()].filter(({ account_id }) => account_id === id).length;
      this.#must(
        this.#count(id, 'source.created') === sources,
        `events of ${id} do not agree with its ${sources} sources`,
      );
      const streams = [...this.#all('stream').values()].filter(({ account_id }) => account_id === id);
      const ended = streams.filter(({ end_ms }) => end_ms !== null).length;
      this.#must(
        this.#count(id, 'stream.created') === streams.length,
        `events of ${id} do not agree with its ${streams.length} streams`,
      );
      const ends = this.#count(id, 'stream.updated', ({ data }) => data.changed_fields?.includes('end_ms') === true);
      const begun_ended = streams.length - this.#endedLater(id);
      this.#must(ends <= ended && ends >= ended - begun_ended, `${ends} events for ${ended} ended streams of ${id}`);
    }
    for (const [id, { account_id }] of this.#all('email')) {
      this.#must(
        account_id === null || this.#all('account').get(account_id)?.email === id,
        `the account of ${id} was never made`,
      );
    }
    for (const { email, account_id } of signed_in) {
      this.#must(
        by_email.get(email) === account_id,
        `${email} was signed in to ${account_id}, which is not its account`,
      );
    }
    for (const [session_id, generation] of generations) {
      const session = this.#all('app_session').get(session_id);
      this.#must(session === undefined || session.generation >= generation, `session ${session_id} lost a generation`);
    }
  }

  /** Streams of an account without an end in their `stream.created`: a stream registered with its end emits only that. */
  #endedLater(account_id: string): number {
    const created = new Set(
      (this.#events.get(account_id) ?? []).flatMap(({ type, resource }) =>
        type === 'stream.updated' ? resource.id : [],
      ),
    );
    return [...this.#all('stream')].filter(
      ([id, stream]) => stream.account_id === account_id && (stream.end_ms === null || created.has(id)),
    ).length;
  }

  #checkDevices(): void {
    const { bound } = this.#ledger;
    const bound_by = new Map<string, string>();
    for (const { claim_id, device_id, epoch } of bound) {
      this.#must((bound_by.get(claim_id) ?? device_id) === device_id, `claim ${claim_id} was redeemed by two devices`);
      bound_by.set(claim_id, device_id);
      const binding = this.#all('binding').get(epoch);
      this.#must(binding?.device_id === device_id, `redeemed claim ${claim_id} left no binding`);
    }
    for (const [id, { redemption }] of this.#all('claim'))
      this.#must(redemption.status !== 'asked', `claim ${id} still waits for its device`);
    for (const [id, device] of this.#all('device')) {
      if (device.kind === 'shared') continue; // checkSessions
      const holders = [...this.#all('account')].flatMap(([account_id]) => {
        const record = this.#records<BoundDevice>(account_id, 'devices').get(id);
        return record === undefined ? [] : [{ account_id, record }];
      });
      if (device.binding === null) {
        this.#must(holders.length === 0, `device ${id} is bound to nobody, but an account lists it`);
      } else {
        const { epoch, account_id } = device.binding;
        const [holder] = holders;
        const agrees =
          holders.length === 1 && holder?.account_id === account_id && holder.record.binding_epoch === epoch;
        this.#must(agrees, `device ${id} is bound by ${epoch}; accounts say ${JSON.stringify(holders)}`);
        const binding = this.#all('binding').get(epoch);
        // Of claims of one account that come at once, any may be the one that opens the binding.
        const same = binding?.account_id === account_id && binding.source_id === holder?.record.source_id;
        this.#must(binding?.status === 'active' && same, `binding ${epoch} of device ${id} does not agree`);
        const source = binding && this.#all('source').get(binding.source_id);
        this.#must(
          source?.status === 'kept' && source.account_id === account_id && source.device_id === id,
          `device ${id} records to a source that is not there`,
        );
      }
      for (const [epoch, binding] of this.#all('binding')) {
        const active = binding.device_id === id && binding.status === 'active';
        this.#must(
          !active || device.binding?.epoch === epoch,
          `binding ${epoch} is active, device ${id} is bound otherwise`,
        );
      }
    }
  }

  #checkStreams(): void {
    const { registered, ends, intents, places, stored, processed } = this.#ledger;
    const chunks = new Map<string, Map<string, Chunk>>();
    for (const [id, stream] of this.#all('stream')) {
      const own = this.#records<Chunk>(id, 'chunks');
      chunks.set(id, own);
      const with_bytes = [...own.values()].filter(({ status }) => status === 'stored');
      const { end_ms } = stream;
      const counted = stream.chunks;
      this.#must(counted === own.size, `stream ${id} counts ${counted} chunks of ${own.size}`);
      this.#must(
        stream.stored_chunks === with_bytes.length,
        `stream ${id} counts ${stream.stored_chunks} stored chunks of ${with_bytes.length}`,
      );
      const waiting = this.#records<unknown>(id, 'unprocessed');
      const undone = with_bytes.filter(({ result }) => result === undefined);
      this.#must(
        stream.unprocessed === waiting.size && waiting.size === undone.length,
        `stream ${id} counts ${stream.unprocessed} unprocessed chunks, keeps ${waiting.size}, has ${undone.length}`,
      );
      for (const { number } of stream.claims)
        this.#must(waiting.has(chunkKey(number)), `stream ${id} has chunk ${number} in hand, which does not wait`);
      const bytes = with_bytes.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
      this.#must(stream.stored_bytes === bytes, `stream ${id} counts ${stream.stored_bytes} bytes of ${bytes}`);
      this.#must(
        with_bytes.every((chunk) => end_ms === null || chunk.source_end_ms <= end_ms),
        `stream ${id} has a stored chunk past its end`,
      );
      const alive = [...own.values()].filter(({ status }) => status !== 'expired');
      this.#must(
        new Set(alive.map(({ sequence }) => sequence)).size === alive.length,
        `stream ${id} has two chunks of one sequence`,
      );
      const open = [...own].filter(([, { status }]) => status === 'awaiting_upload').map(([key]) => key);
      const listed = stream.open.map(({ number }) => chunkKey(number));
      this.#must(
        open.sort().join() === listed.sort().join(),
        `stream ${id} lists ${listed} as open, chunks say ${open}`,
      );
      const pointer = this.#records<{ stream_id: string }>(stream.recorder?.binding_epoch ?? '', 'streams').get(
        stream.recorder?.source_stream_ref ?? '',
      );
      this.#must(pointer?.stream_id === id, `the binding of stream ${id} does not know it`);
    }
    for (const { epoch, ref, stream_id } of registered) {
      const known = this.#records<{ stream_id: string }>(epoch, 'streams').get(ref)?.stream_id;
      this.#must(
        known === stream_id && this.#all('stream').has(stream_id),
        `registered stream ${stream_id} is not there`,
      );
    }
    for (const { stream_id, end_ms } of ends) {
      const end = this.#all('stream').get(stream_id)?.end_ms;
      this.#must(end === end_ms, `stream ${stream_id} was told to end at ${end_ms} and ends at ${end}`);
    }
    for (const { stream_id, ref, content, chunk_id, status } of intents) {
      const pointer = this.#records<{ number: number; content: string }>(stream_id, 'refs').get(ref);
      const chunk = pointer && chunks.get(stream_id)?.get(chunkKey(pointer.number));
      const same =
        pointer?.content === content && chunk?.chunk_id === chunk_id && chunkId(stream_id, pointer.number) === chunk_id;
      this.#must(same && chunk.source_chunk_ref === ref, `acknowledged intent ${ref} of ${stream_id} is not there`);
      this.#must(
        status !== 'stored' || chunk?.status === 'stored',
        `intent ${ref} of ${stream_id} was called stored and is ${chunk?.status}`,
      );
    }
    for (const { stream_id, number } of stored) {
      const chunk = chunks.get(stream_id)?.get(chunkKey(number));
      this.#must(chunk?.status === 'stored', `chunk ${number} of ${stream_id} was stored and is ${chunk?.status}`);
    }
    const claimed = new Set<string>();
    for (const [stream_id, of_stream] of chunks) {
      for (const { place, status, source_chunk_ref } of of_stream.values()) {
        this.#must((status === 'stored') === (place !== null), `a chunk of ${stream_id} is ${status} at ${place}`);
        if (place === null) continue;
        const pointer = this.#records<{ content: string }>(stream_id, 'refs').get(source_chunk_ref);
        this.#must(places.get(place) === pointer?.content, `bytes of another chunk lie at a place of ${stream_id}`);
        this.#must(!claimed.has(place), `two chunks have the place ${place}`);
        claimed.add(place);
      }
    }
    for (const { stream_id, number, token, status } of processed) {
      const { result, processed_by } = chunks.get(stream_id)?.get(chunkKey(number)) ?? {};
      const same = result?.status === status && processed_by === token;
      this.#must(same, `chunk ${number} of ${stream_id} was ${status} by ${token} and is ${result?.status}`);
    }
  }

  /** A stream is on its partition's list while it has something to process, at a time at which that is due. */
  async #checkProcessing(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const place = { owner: PROCESSING_INDEX.owner, partition };
      const listed = await this.#model.list(place, PROCESSING_INDEX.index, { descending: false, limit: 1_000 });
      const waiting = [...this.#all('stream')].filter(
        ([id, { unprocessed }]) => unprocessed > 0 && partitionOfId(id) === partition,
      );
      this.#must(listed.length === waiting.length, `${listed.length} streams are listed, ${waiting.length} wait`);
      for (const [id, { unprocessed, claims }] of waiting) {
        const due_ms = listed.find(({ member }) => member === id)?.order ?? Number.POSITIVE_INFINITY;
        const may_claim = unprocessed > claims.length && claims.length < LIMITS.claims_per_stream_max;
        const last_ms = may_claim ? 0 : Math.min(...claims.map(({ until_ms }) => until_ms));
        this.#must(due_ms === last_ms, `stream ${id} is due at ${due_ms}, and has something from ${last_ms} on`);
      }
    }
  }

  /** Tells are applied once, in the order in which they were sent. */
  #checkTallies(): void {
    for (const [from, { sent }] of this.#all('tally')) {
      for (const to of new Set(sent.map((tell) => tell.to))) {
        const numbers = sent.filter((tell) => tell.to === to).map(({ number }) => number);
        const taken =
          this.#all('tally')
            .get(to)
            ?.taken.filter((tell) => tell.from === from) ?? [];
        const got = taken.map(({ number }) => number);
        this.#must(numbers.join() === got.join(), `${from} told ${to} ${numbers}, which took ${got}`);
      }
    }
  }

  async #checkReminders(): Promise<void> {
    const pending = new Map<string, number>();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      for (const { member, at_ms } of await this.#model.dueReminders(partition, Number.MAX_SAFE_INTEGER, 1_000_000))
        pending.set(member, at_ms);
    }
    const all = <K extends Kind>(kind: K) => this.#all(kind);
    checkReminders({ all, pending, mustHold: (holds, text) => this.#must(holds, text) });
  }

  async #checkQueues(): Promise<void> {
    const mails = new Set<string>();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const messages = await this.#model.outbox(partition, 0, 10);
      this.#must(messages.length === 0, `messages are left in the outbox of partition ${partition}`);
      const aside = await this.#model.listDeadLetters(partition);
      this.#must(aside.length === 0, `dead letters: ${aside.map(({ name }) => name)}`);
      for (const { id } of await this.#model.listQueued({ partition, queue: 'mails' })) mails.add(id);
    }
    for (const mail_id of this.#ledger.mails_sent)
      this.#must(mails.has(mail_id), `mail ${mail_id} was promised and is not there`);
    const asked = ['send_code', 'auth_session', 'mail'].reduce(
      (sum, what) => sum + (this.#ledger.attempts.get(what) ?? 0),
      0,
    );
    this.#must(mails.size <= asked, 'more mails than were asked for');
  }
}
