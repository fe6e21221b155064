import type { AccountMessage } from '../../actors/accounts/account.js';
import type { Account } from '../../actors/accounts/account_state.js';
import type { AppSessionMessage, IssuedTokens } from '../../actors/accounts/app_session.js';
import type { Address } from '../../actors/actor.js';
import type { Binding, BindingMessage } from '../../actors/devices/binding.js';
import type { Claim, ClaimMessage } from '../../actors/devices/claim.js';
import type { DeviceMessage } from '../../actors/devices/device.js';
import type { EmailMessage } from '../../actors/emails/email.js';
import type { StreamMessage } from '../../actors/recordings/stream.js';
import type { ArrivalReply } from '../../actors/recordings/stream_arrivals.js';
import type { Chunk, ChunkIntent, Stream } from '../../actors/recordings/stream_state.js';
import { partitionOfId, streamOfChunk } from '../../src/domain/ids.js';
import type { Entitlement } from '../../src/domain/permissions.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { randomCode, randomId, randomPartition } from '../../src/engine/random/random.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { Fence } from '../../src/engine/store/store.js';
import { succeeded } from '../driver/history.js';
import type { Ask, Asker } from './asker.js';
import type { Ledger } from './ledger.js';
import { Members } from './membership_clients.js';
import { OauthApps } from './oauth_apps.js';
import { SessionHosts } from './session_hosts.js';
import type { SimulatedProcess } from './simulated_process.js';
import type { TallyMessage } from './tally.js';
import type { VirtualTime } from './virtual_time.js';
import { WebhookOwners } from './webhook_owners.js';

const TRIES_MAX = 6;
const REMOVAL_TRIES_MAX = 30;
const RETRY_MAX_MS = 900;
/** The answer got lost between the server and its client. */
const ANSWER_LOST = 0.03;
const LOST = refuse('UNAVAILABLE', 'No answer came.');
/** Through any process, at a name that was changed through one. */
const LOOKS_MAX = 5;
const CHUNK_MS = 1_000;
const MEMBERS_SHARE = 0.85;
const HOSTS_SHARE = 0.9;
const OWNERS_SHARE = 0.9;
/** Each is told apart in events by the fields it changes. */
const SWITCHED: readonly Entitlement[] = ['developer.tools', 'audio.access', 'workspace.sharing', 'agent.experimental'];

type Parts = {
  random: SeededRandom;
  time: VirtualTime;
  now: () => number;
  ledger: Ledger;
  processes: () => SimulatedProcess[];
  record: (line: string) => void;
  about: About;
  expireDeletions: () => void;
  slowDown: () => void;
  /** How much older than the newest commit an answer may be that no commit proves. */
  stale_max_ms: number;
};

/** What most operations of a run are about. */
export const ABOUTS = ['devices', 'workspaces', 'endpoints', 'sessions'] as const;
export type About = (typeof ABOUTS)[number];

type KnownIntent = { intent: ChunkIntent; content: string; number: number | null };
type KnownStream = { stream_id: string; device_id: string; intents: KnownIntent[] };

/** Users, staff and devices: they do what a client of the routes does, knowing no more than they were told. */
export class Clients {
  readonly #parts: Parts;
  readonly #emails: string[];
  readonly #devices: string[] = [];
  readonly #sessions: { session_id: string; account_id: string; generation: number; serial: number }[] = [];
  readonly #accounts = new Set<string>();
  readonly #claims: { claim_id: string; account_id: string }[] = [];
  readonly #bindings: { device_id: string; epoch: string; account_id: string; binding: Binding }[] = [];
  readonly #streams: KnownStream[] = [];
  readonly #tallies: string[];
  readonly #apps: OauthApps;
  readonly #members: Members | null;
  readonly #owners: WebhookOwners | null;
  readonly #hosts: SessionHosts | null;
  #drawn = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { random } = parts;
    this.#emails = Array.from({ length: 2 + random.below(3) }, (_, index) => `user${index}@example.test`);
    const asker: Parts & Asker = { ...parts, ask: (address, message, how) => this.#ask(address, message, how) };
    this.#apps = new OauthApps(asker);
    this.#tallies = Array.from({ length: 4 }, () => this.#id(randomPartition()));
    this.#members = parts.about === 'workspaces' ? new Members(asker) : null;
    this.#owners = parts.about === 'endpoints' ? new WebhookOwners(asker) : null;
    this.#hosts = parts.about === 'sessions' ? new SessionHosts(asker) : null;
  }

  /** Devices leave the factory. */
  async provision(): Promise<void> {
    for (let count = 2 + this.#parts.random.below(3); count > 0; count--) {
      const id = this.#id(randomPartition());
      const certificate = { fingerprint: `f${count}`, not_after_ms: Number.MAX_SAFE_INTEGER };
      const message: DeviceMessage = { type: 'provision', kind: 'personal', ...certificate };
      if (!isRefusal(await this.#ask({ kind: 'device', id }, message, { tries_max: 100 }))) this.#devices.push(id);
    }
  }

  /** One operation, drawn from those that what is known allows. */
  async operate(): Promise<void> {
    const { random } = this.#parts;
    if (this.#members !== null && random.chance(MEMBERS_SHARE)) return this.#members.operate();
    if (this.#owners !== null && random.chance(OWNERS_SHARE)) return this.#owners.operate();
    if (this.#hosts !== null && random.chance(HOSTS_SHARE)) return this.#hosts.operate();
    if (random.chance(0.15)) return this.#tally();
    if (random.chance(0.2)) return this.#apps.operate(this.#emails);
    const accounts = [...this.#accounts];
    if (accounts.length === 0 || random.chance(0.12)) return this.#signIn();
    const account_id = random.pick(accounts);
    const roll = random.below(100);
    if (roll < 8 && this.#sessions.length > 0) return this.#refresh();
    if (roll < 12 && this.#sessions.length > 0) return this.#use();
    if (roll < 20) return this.#rename(account_id);
    if (roll < 24) return this.#view(account_id);
    if (roll < 26) return this.#listDevices(account_id);
    if (roll < 33) return this.#switch(account_id);
    if (roll < 37) return this.#claim(account_id);
    if (roll < 45 && this.#claims.length > 0) return this.#redeem();
    if (roll < 48 && this.#bindings.length > 0) return this.#remove();
    if (roll < 54 && this.#bindings.length > 0) return this.#register();
    if (this.#streams.length === 0) return this.#claims.length > 0 ? this.#redeem() : this.#claim(account_id);
    if (roll < 68) return this.#intend();
    if (roll < 76) return this.#arrive();
    if (roll < 87) return this.#store();
    if (roll < 90) return this.#work();
    if (roll < 95) return this.#list();
    return this.#end();
  }

  /** Asks some process, and again while the outcome stays unknown, as a client with a retry would. */
  async #ask<Reply>(
    address: Address,
    message: unknown,
    { settled = false, fences = [], tries_max = TRIES_MAX, onTry }: Ask = {},
  ): Promise<Reply | Refusal> {
    const { random, time, processes, record } = this.#parts;
    const number = ++this.#drawn;
    const type = (message as { type: string }).type;
    for (let tries = 1; ; tries++) {
      const alive = processes().filter((process) => process.alive);
      let reply: Reply | Refusal = LOST;
      if (alive.length > 0) {
        const process = random.pick(alive);
        record(`ask ${number} ${address.kind} ${address.id} ${type}`);
        onTry?.();
        const { runtime, connection } = process;
        const asked = new Promise<Reply | Refusal>((resolve) => {
          connection.whenAwake(() => {
            const answer = settled
              ? runtime.askDownstream<Reply>(address, message, fences)
              : runtime.ask<Reply>(address, message, fences);
            void answer.then(resolve);
          });
        });
        reply = await Promise.race([asked, process.crashed.then(() => LOST)]);
        if (random.chance(ANSWER_LOST)) reply = LOST;
      }
      record(`answer ${number} ${isRefusal(reply) ? reply.refused : 'ok'}`);
      if (!isUnknown(reply) || tries >= tries_max) return reply;
      await time.pause(random.between(0, RETRY_MAX_MS));
    }
  }

  async #signIn(): Promise<void> {
    const { random, ledger, now } = this.#parts;
    const email = random.pick(this.#emails);
    const address = { kind: 'email', id: email };
    const network = `n${random.below(3)}`;
    const code = randomCode();
    const mail_id = this.#id(0);
    const send: EmailMessage = {
      type: 'send_code',
      network,
      budgeted: true,
      code_hash: `hash ${code}`,
      key_id: 'k',
      mail_id,
      sealed: random.bytes(4),
    };
    const sent = await this.#ask<{ sent: boolean }>(address, send, { onTry: () => ledger.attempt('send_code') });
    if (isRefusal(sent) || !sent.sent) return;
    ledger.acknowledge('send_code');
    ledger.mails_sent.add(mail_id);
    if (random.chance(0.15)) return; // the mail is never opened
    if (random.chance(0.3)) {
      const wrong = await this.#verify(address, { network, code: `${code}0`, tries_max: 1 });
      ledger.mustHold(isRefusal(wrong), `a wrong code was taken for ${email}`);
    }
    const verified = await this.#verify(address, { network, code, tries_max: TRIES_MAX });
    if (isRefusal(verified)) return; // spent by a try whose answer was lost, or by a sign-in beside this one
    ledger.acknowledge('verify_code');
    const { account_id } = verified;
    ledger.signed_in.push({ email, account_id });
    const account = await this.#ask<Account>({ kind: 'account', id: account_id }, {
      type: 'view',
    } satisfies AccountMessage);
    if (isRefusal(account)) return;
    this.#accounts.add(account_id);
    const session_id = this.#id(partitionOfId(account_id));
    const { account: of_account, app_sessions } = account.epochs;
    const open: AppSessionMessage = {
      type: 'open',
      account_id,
      email,
      seed: random.bytes(16),
      key_id: 'k',
      issued_under: { account: of_account, app_sessions },
      verified_at_ms: now(),
    };
    const fence: Fence = { fence: 'epoch', account_id, epoch: 'app_sessions', value: app_sessions };
    const issued = await this.#ask<IssuedTokens>({ kind: 'app_session', id: session_id }, open, {
      fences: [fence],
      tries_max: 1,
    });
    if (isRefusal(issued)) return;
    ledger.acknowledge('open');
    this.#sessions.push({ session_id, account_id, generation: issued.session.generation, serial: issued.serial });
  }

  #verify(address: Address, { network, code, tries_max }: { network: string; code: string; tries_max: number }) {
    const partition = randomPartition();
    const message: EmailMessage = {
      type: 'verify_code',
      network,
      hashes: { k: `hash ${code}` },
      email: address.id,
      account: { account_id: this.#id(partition) },
    };
    return this.#ask<{ account_id: string; verified_at_ms: number }>(address, message, { settled: true, tries_max });
  }

  async #refresh(): Promise<void> {
    const { random, ledger } = this.#parts;
    const session = random.pick(this.#sessions);
    const generation = Math.max(1, session.generation - (random.chance(0.1) ? 1 + random.below(2) : 0));
    const message: AppSessionMessage = { type: 'refresh', generation };
    const issued = await this.#ask<IssuedTokens>({ kind: 'app_session', id: session.session_id }, message);
    if (isRefusal(issued)) return;
    ledger.acknowledge('refresh');
    const got = issued.session.generation;
    ledger.mustHold(got === generation + 1, `generation ${generation} of ${session.session_id} was followed by ${got}`);
    session.generation = Math.max(session.generation, got);
    session.serial = issued.serial;
    ledger.generations.set(session.session_id, session.generation);
  }

  async #use(): Promise<void> {
    const { random, ledger } = this.#parts;
    const session = random.pick(this.#sessions);
    const message: AppSessionMessage = random.chance(0.1) ? { type: 'end' } : { type: 'use', serial: session.serial };
    const used = await this.#ask({ kind: 'app_session', id: session.session_id }, message);
    if (!isRefusal(used)) ledger.acknowledge(message.type);
  }

  async #rename(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const name = `name ${++this.#drawn}`;
    const message: AccountMessage = { type: 'rename', name };
    // A retry after another rename would be a second change: each try is an operation of its own.
    for (let tries = random.chance(0.3) ? 2 : 1; tries > 0; tries--) {
      const call = ledger.time.begin(ledger.names(account_id), { op: 'write', value: name });
      const onTry = () => ledger.attempt(`${account_id} name`);
      const view = await this.#ask<Account>({ kind: 'account', id: account_id }, message, {
        fences: this.#fences(account_id),
        tries_max: 1,
        onTry,
      });
      if (isUnknown(view)) continue;
      ledger.mustHold(!isRefusal(view) && view.name === name, `renaming to ${name} answered ${JSON.stringify(view)}`);
      ledger.time.end(call, succeeded());
      ledger.acknowledge('rename');
      for (let looks = random.below(LOOKS_MAX); looks > 0; looks--) await this.#view(account_id);
      return;
    }
  }

  async #view(account_id: string): Promise<void> {
    const { ledger, stale_max_ms } = this.#parts;
    const call = ledger.time.begin(ledger.names(account_id), { op: 'read' }, stale_max_ms);
    const message: AccountMessage = { type: 'view' };
    const view = await this.#ask<Account>({ kind: 'account', id: account_id }, message, { tries_max: 1 });
    if (isUnknown(view)) return;
    ledger.mustHold(!isRefusal(view), `viewing ${account_id} answered ${JSON.stringify(view)}`);
    if (isRefusal(view)) return;
    ledger.time.end(call, succeeded(view.name ?? ''));
    ledger.acknowledge('view');
  }

  async #switch(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const entitlement = random.pick(SWITCHED);
    const enabled = random.chance(0.5);
    const message: AccountMessage = { type: 'switch_entitlement', entitlement, enabled };
    const onTry = () => ledger.attempt(`${account_id} ${entitlement}`);
    const view = await this.#ask<Account>({ kind: 'account', id: account_id }, message, { onTry });
    if (isUnknown(view)) return;
    ledger.mustHold(!isRefusal(view) && view.entitlements[entitlement] !== !enabled, `${entitlement} was not switched`);
    ledger.acknowledge('switch_entitlement');
  }

  async #claim(account_id: string): Promise<void> {
    const { ledger } = this.#parts;
    const partition = partitionOfId(account_id);
    const claim_id = this.#id(partition);
    const message: ClaimMessage = {
      type: 'create',
      account_id,
      secret_hash: 'h',
      binding_epoch: this.#id(partition),
      source_id: this.#id(partition),
    };
    const made = await this.#ask<Claim>({ kind: 'claim', id: claim_id }, message, { fences: this.#fences(account_id) });
    if (isRefusal(made)) return;
    ledger.acknowledge('claim');
    this.#claims.push({ claim_id, account_id });
  }

  /** By one device, or by two at the same time. */
  async #redeem(): Promise<void> {
    const { random } = this.#parts;
    const claim = random.chance(0.7) ? (this.#claims.at(-1) as { claim_id: string }) : random.pick(this.#claims);
    const devices = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => random.pick(this.#devices));
    await Promise.all(devices.map((device_id) => this.#redeemBy(claim.claim_id, device_id)));
  }

  async #redeemBy(claim_id: string, device_id: string): Promise<void> {
    const { ledger, time, random } = this.#parts;
    const address = { kind: 'claim', id: claim_id };
    const redeemed = await this.#ask<Claim>(address, { type: 'redeem', device_id } satisfies ClaimMessage, {
      settled: true,
    });
    if (isRefusal(redeemed)) return;
    if (random.chance(0.1)) await this.#removeOnArrival(redeemed.account_id, device_id);
    let outcome: Claim | Refusal = LOST;
    for (let tries = 0; tries < 10 && isUnknown(outcome); tries++) {
      if (tries > 0) await time.pause(random.between(0, RETRY_MAX_MS));
      outcome = await this.#ask<Claim>(address, { type: 'outcome', device_id } satisfies ClaimMessage, {
        tries_max: 1,
      });
    }
    if (isRefusal(outcome)) return;
    ledger.acknowledge('redeem');
    const epoch = outcome.binding_epoch;
    ledger.bound.push({ claim_id, device_id, epoch });
    const view: BindingMessage = { type: 'terms', device_id };
    const binding = await this.#ask<Binding>({ kind: 'binding', id: epoch }, view);
    if (!isRefusal(binding)) this.#bindings.push({ device_id, epoch, account_id: binding.account_id, binding });
  }

  async #remove(): Promise<void> {
    const { random, ledger } = this.#parts;
    const { account_id, device_id } = random.pick(this.#bindings);
    if (await this.#removeFrom(account_id, device_id)) ledger.acknowledge('remove_device');
  }

  /** Removes a device as soon as its account has it, before its binding may have opened. */
  async #removeOnArrival(account_id: string, device_id: string): Promise<void> {
    for (let tries = 0; tries < REMOVAL_TRIES_MAX; tries++)
      if (await this.#removeFrom(account_id, device_id)) return this.#parts.ledger.acknowledge('remove on arrival');
  }

  async #removeFrom(account_id: string, device_id: string): Promise<boolean> {
    const message: AccountMessage = { type: 'remove_device', device_id };
    const how = { settled: true, fences: this.#fences(account_id) };
    return !isRefusal(await this.#ask({ kind: 'account', id: account_id }, message, how));
  }

  async #register(): Promise<void> {
    const { random, ledger, now } = this.#parts;
    const { device_id, epoch, account_id, binding } = random.pick(this.#bindings);
    const ref = `ref ${random.below(3)}`;
    const fences = this.#fences(account_id);
    const stream_of: BindingMessage = {
      type: 'stream_of',
      device_id,
      source_stream_ref: ref,
      new_stream: { stream_id: this.#id(partitionOfId(epoch)), workspace_id: 'w' },
    };
    const found = await this.#ask<{ stream_id: string }>({ kind: 'binding', id: epoch }, stream_of, { fences });
    if (isRefusal(found)) return;
    const { stream_id } = found;
    const message: StreamMessage = {
      type: 'register',
      account_id,
      workspace_id: binding.workspace_id,
      source_id: binding.source_id,
      recorder: { device_id, binding_epoch: epoch, source_stream_ref: ref, clock_uncertainty_ms: 5 },
      captured_at: new Date(now()).toISOString(),
      title: null,
      silent: false,
      end_ms: random.chance(0.1) ? CHUNK_MS * random.below(9) : null,
    };
    const stream = await this.#ask<Stream>({ kind: 'stream', id: stream_id }, message, { fences });
    if (isRefusal(stream)) return;
    ledger.acknowledge('register');
    ledger.registered.push({ epoch, ref, stream_id });
    if (message.end_ms !== null) ledger.ends.push({ stream_id, end_ms: message.end_ms });
    if (!this.#streams.some((known) => known.stream_id === stream_id))
      this.#streams.push({ stream_id, device_id, intents: [] });
  }

  /** A new intent, one that was sent before, one with other content, or one of a sequence that may be taken. */
  #drawIntent(stream: KnownStream): KnownIntent {
    const { random } = this.#parts;
    const again = stream.intents.length > 0 && random.chance(0.4) ? random.pick(stream.intents) : null;
    let known = again;
    if (known === null || random.chance(0.2)) {
      const sequence = random.below(12);
      const intent: ChunkIntent = {
        source_chunk_ref: again?.intent.source_chunk_ref ?? `chunk ${++this.#drawn}`,
        sequence,
        source_start_ms: sequence * CHUNK_MS,
        publication_start_ms: sequence * CHUNK_MS,
        source_end_ms: (sequence + 1) * CHUNK_MS,
        codec: 'opus',
        container: 'ogg',
        size_bytes: 1 + random.below(9),
        sha256: 'aa',
      };
      known = { intent, content: JSON.stringify(intent), number: null };
      stream.intents.push(known);
    }
    return known;
  }

  async #intend(): Promise<void> {
    const { random, ledger } = this.#parts;
    const stream = random.pick(this.#streams.slice(-3));
    const known = this.#drawIntent(stream);
    const { intent, content } = known;
    // A device that did not wait for its answer, and one that went mad.
    const asks = random.chance(0.2) ? random.pick([2, 2, 3, 80]) : 1;
    const message: StreamMessage = { type: 'intend', intent, content };
    const address = { kind: 'stream', id: stream.stream_id };
    const replies = await Promise.all(
      Array.from({ length: asks }, () => this.#ask<{ chunk: Chunk }>(address, message)),
    );
    for (const reply of replies) {
      if (isRefusal(reply)) continue;
      ledger.acknowledge('intend');
      const { chunk_id, status } = reply.chunk;
      ledger.intents.push({ stream_id: stream.stream_id, ref: intent.source_chunk_ref, content, chunk_id, status });
      known.number = streamOfChunk(chunk_id)?.number ?? null;
    }
  }

  /** Chunks that come with their bytes, some once more or from two processes at once, with or without an end. */
  async #arrive(): Promise<void> {
    const { random } = this.#parts;
    const stream = random.pick(this.#streams.slice(-3));
    const count = 1 + random.below(4);
    const known = Array.from({ length: count }, () => this.#drawIntent(stream));
    const end_ms = random.chance(0.05) ? CHUNK_MS * random.below(9) : null;
    const asks = random.chance(0.2) ? 2 : 1;
    await Promise.all(Array.from({ length: asks }, () => this.#sendArrivals(stream, { known, end_ms })));
  }

  async #sendArrivals(
    { stream_id }: KnownStream,
    { known, end_ms }: { known: KnownIntent[]; end_ms: number | null },
  ): Promise<void> {
    const { random, ledger, now } = this.#parts;
    const address = { kind: 'stream', id: stream_id };
    const chunks = known.map(({ intent, content }) => {
      const result = random.chance(0.7) ? { status: 'processed' as const, checked: true } : undefined;
      return { intent, content, place: ledger.append(content), upload_started_at_ms: now(), result };
    });
    const end = end_ms === null ? undefined : { end_ms, silent: false };
    const reply = await this.#ask<ArrivalReply>(address, { type: 'store_chunks', chunks, end });
    if (isRefusal(reply)) return;
    ledger.acknowledge('store_chunks');
    if (end_ms !== null && reply.end_refusal === null) ledger.ends.push({ stream_id, end_ms });
    for (const [index, outcome] of reply.outcomes.entries()) {
      if (!('chunk' in outcome)) continue;
      const one = known[index] as KnownIntent;
      one.number = streamOfChunk(outcome.chunk.chunk_id)?.number ?? null;
      ledger.stored.push({ stream_id, number: one.number as number });
      const { chunk_id, status } = outcome.chunk;
      ledger.intents.push({
        ...{ stream_id, ref: one.intent.source_chunk_ref, content: one.content },
        ...{ chunk_id, status },
      });
    }
  }

  async #store(): Promise<void> {
    const { random, ledger, now } = this.#parts;
    const stream = random.pick(this.#streams.slice(-3));
    const known = stream.intents.filter(({ number }) => number !== null);
    if (known.length === 0) return this.#intend();
    const { number, content } = random.pick(known) as { number: number; content: string };
    const message: StreamMessage = {
      ...{ type: 'stored', number, place: ledger.append(content) },
      upload_started_at_ms: now(),
    };
    const stored = await this.#ask<{ chunk: Chunk }>({ kind: 'stream', id: stream.stream_id }, message);
    if (isRefusal(stored)) return;
    ledger.acknowledge('stored');
    ledger.stored.push({ stream_id: stream.stream_id, number });
  }

  /** A worker claims some chunks, may be late or lost, and says what came of them, once or twice. */
  async #work(): Promise<void> {
    const { random, ledger, time } = this.#parts;
    const { stream_id } = random.pick(this.#streams.slice(-3));
    const address = { kind: 'stream', id: stream_id };
    const token = `t${++this.#drawn}`;
    const claim: StreamMessage = { type: 'claim_chunks', token, limit: 1 + random.below(3), lease_ms: 2_000 };
    const answer = await this.#ask<{ claimed: { number: number }[] }>(address, claim, { tries_max: 1 });
    if (isRefusal(answer)) return;
    for (const { number } of answer.claimed) ledger.claimed.push({ stream_id, number, token });
    if (random.chance(0.2)) return; // it is not heard of again
    await time.pause(random.pick([0, 0, 1_000, 5_000]));
    const result = random.chance(0.7)
      ? { status: 'processed' as const, checked: true }
      : { status: 'failed' as const, failure: { code: 'BAD_AUDIO', message: 'bad' } };
    const results = answer.claimed.map(({ number }) => ({ number, result }));
    const message: StreamMessage = { type: 'chunk_results', token, results };
    const said = await Promise.all(
      Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => this.#ask<{ taken: number[] }>(address, message)),
    );
    for (const reply of said) {
      if (isRefusal(reply)) continue;
      for (const number of reply.taken) {
        ledger.acknowledge('processed');
        ledger.processed.push({ stream_id, number, token, status: result.status });
      }
    }
  }

  /** By several at once now and then, with ends that may lie before a chunk's. */
  async #end(): Promise<void> {
    const { random, ledger } = this.#parts;
    const { stream_id } = random.pick(this.#streams);
    const ends = Array.from({ length: random.chance(0.4) ? 3 : 1 }, () => CHUNK_MS * (6 + random.below(8)));
    await Promise.all(
      ends.map(async (end_ms) => {
        const message: StreamMessage = { type: 'end', end_ms, silent: false };
        const ended = await this.#ask<Stream>({ kind: 'stream', id: stream_id }, message);
        if (isRefusal(ended)) return;
        ledger.acknowledge('end');
        ledger.mustHold(ended.end_ms === end_ms, `ending ${stream_id} at ${end_ms} answered ${ended.end_ms}`);
        ledger.ends.push({ stream_id, end_ms });
      }),
    );
  }

  /** Bursts of outbox messages to a few receivers, and reminders that are due at once or after a while. */
  async #tally(): Promise<void> {
    const { random, ledger } = this.#parts;
    const id = random.pick(this.#tallies);
    const to = Array.from({ length: 1 + random.below(4) }, () => random.pick(this.#tallies));
    const message: TallyMessage = random.chance(0.7)
      ? { type: 'send', to }
      : { type: 'plan', delay_ms: random.pick([0, 500, 3_600_000]) };
    const settled = random.chance(0.5);
    if (!isRefusal(await this.#ask({ kind: 'tally', id }, message, { settled }))) ledger.acknowledge(message.type);
  }

  /** What a list says agrees with the snapshot that comes with it. */
  async #list(): Promise<void> {
    const { random, ledger } = this.#parts;
    const { stream_id } = random.pick(this.#streams);
    const message: StreamMessage = { type: 'list_chunks', range: { limit: 1_000 } };
    const listed = await this.#ask<{ chunks: Chunk[]; stream: Stream }>({ kind: 'stream', id: stream_id }, message);
    if (isRefusal(listed)) return;
    const { chunks, stream } = listed;
    const stored = chunks.filter(({ status }) => status === 'stored').length;
    const same = chunks.length === stream.chunks && stored === stream.stored_chunks;
    ledger.mustHold(
      same,
      `${chunks.length} chunks, ${stored} stored, are listed of ${stream.chunks}, ${stream.stored_chunks} stored`,
    );
    ledger.acknowledge('list_chunks');
  }

  async #listDevices(account_id: string): Promise<void> {
    const message: AccountMessage = { type: 'list_devices', range: { descending: true, limit: 100 } };
    const listed = await this.#ask<{ devices: unknown[] }>({ kind: 'account', id: account_id }, message);
    if (!isRefusal(listed)) this.#parts.ledger.acknowledge('list_devices');
  }

  #fences(account_id: string): Fence[] {
    return [{ fence: 'epoch', account_id, epoch: 'account', value: 0 }];
  }

  #id(partition: number): string {
    return randomId({ partition, now_ms: this.#parts.now() });
  }
}

/** Whether it took effect is not known. */
export function isUnknown(reply: unknown): boolean {
  return isRefusal(reply) && (reply.refused === 'UNAVAILABLE' || reply.refused === 'INTERNAL');
}
