import type { AccountMessage } from '../../actors/accounts/account.js';
import { type Account, isOpen } from '../../actors/accounts/account_state.js';
import type { Claim, ClaimMessage } from '../../actors/devices/claim.js';
import type { DeviceMessage } from '../../actors/devices/device.js';
import type { DeviceSessionMessage } from '../../actors/devices/device_session.js';
import { type DeviceSession, recorderOf } from '../../actors/devices/device_session_state.js';
import type { EmailMessage } from '../../actors/emails/email.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { randomId, randomPartition } from '../../src/engine/random/random.js';
import type { Fence } from '../../src/engine/store/store.js';
import type { Ask, Asker } from './asker.js';

const ADDRESSES = ['AAAAAAAAAAAA', 'BBBBBBBBBBBB'];
const MINUTE_MS = 60_000;
const ACCOUNTS_MAX = 3;
const RECORDERS = 3;
const REMOVAL_TRIES_MAX = 30;

type HostedClaim = { claim_id: string; account_id: string };

/** What each operation is drawn for, in a hundred. */
const OPERATIONS: readonly [share: number, operation: (hosts: SessionHosts, account_id: string) => Promise<void>][] = [
  [22, (hosts, account_id) => hosts.host(account_id)],
  [34, (hosts) => hosts.redeem()],
  [10, (hosts) => hosts.record()],
  [6, (hosts) => hosts.endByHost()],
  [6, (hosts) => hosts.endByRecorder()],
  [5, (hosts) => hosts.extend()],
  [6, (hosts, account_id) => hosts.join(account_id)],
  [3, (hosts) => hosts.leave()],
  [4, (hosts) => hosts.removeRecorder()],
  [4, (hosts, account_id) => hosts.deleteAccount(account_id)],
];

/** Each must be acknowledged now and then: a run in which all of it fails proves nothing. */
export const SESSION_OPERATIONS = [
  ...['host_session', 'redeem session', 'address taken', 'stream_of', 'end by host', 'end by recorder', 'extend'],
  ...['join', 'leave', 'remove recorder', 'remove on arrival'],
];

/** People who host recorder sessions, take part in each other's, and the recorders: they do what the routes do. */
export class SessionHosts {
  readonly #parts: Asker;
  readonly #accounts: string[] = [];
  readonly #recorders: string[] = [];
  readonly #claims: HostedClaim[] = [];
  readonly #sessions: string[] = [];

  constructor(parts: Asker) {
    this.#parts = parts;
  }

  async operate(): Promise<void> {
    const { random } = this.#parts;
    if (this.#recorders.length < RECORDERS) return this.#provision();
    if (this.#accounts.length === 0 || (this.#accounts.length < ACCOUNTS_MAX && random.chance(0.2)))
      return this.#arrive();
    const account_id = random.pick(this.#accounts);
    const account = await this.#view(account_id);
    if (account === null) return;
    if (!isOpen(account)) return this.#restore(account_id);
    let roll = random.below(100);
    for (const [share, operation] of OPERATIONS) {
      if (roll < share) return operation(this, account_id);
      roll -= share;
    }
    throw new Error('shares do not add up to a hundred');
  }

  async #provision(): Promise<void> {
    const id = this.#id(randomPartition());
    const message: DeviceMessage = {
      type: 'provision',
      kind: 'shared',
      fingerprint: id,
      not_after_ms: Number.MAX_SAFE_INTEGER,
    };
    if (!isRefusal(await this.#parts.ask({ kind: 'device', id }, message))) this.#recorders.push(id);
  }

  async #arrive(): Promise<void> {
    const email = `host${this.#accounts.length}@example.test`;
    const account = { account_id: this.#id(randomPartition()) };
    const enter: EmailMessage = { type: 'enter', network: null, email, account };
    const entered = await this.#parts.ask<{ account_id: string }>({ kind: 'email', id: email }, enter, {
      settled: true,
    });
    if (isRefusal(entered)) return;
    this.#parts.ledger.signed_in.push({ email, account_id: entered.account_id });
    if (!this.#accounts.includes(entered.account_id)) this.#accounts.push(entered.account_id);
  }

  async host(account_id: string): Promise<void> {
    const { random, now } = this.#parts;
    const account = await this.#view(account_id);
    if (account === null) return;
    const partition = partitionOfId(account_id);
    const [session_id, claim_id, source_id] = [this.#id(partition), this.#id(partition), this.#id(partition)];
    const message: AccountMessage = {
      type: 'host_session',
      session_id,
      workspace_id: null,
      expires_at_ms: now() + Math.floor(random.between(MINUTE_MS, 60 * MINUTE_MS)),
      join_seed: { key_id: 'k', seed: new Uint8Array(1) },
      claim: { claim_id, secret_hash: 'h', source_id },
    };
    const how = { fences: fencesOf(account), settled: true, tries_max: 1 };
    if (isRefusal(await this.#parts.ask({ kind: 'account', id: account_id }, message, how))) return;
    this.#parts.ledger.acknowledge('host_session');
    this.#claims.push({ claim_id, account_id });
    this.#sessions.push(session_id);
  }

  /** By one recorder, or by two at the same time with one address. */
  async redeem(): Promise<void> {
    const { random } = this.#parts;
    const claims = this.#claims.slice(-3);
    if (claims.length === 0) return;
    const ble_address = random.pick(ADDRESSES);
    const redeemers = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () =>
      this.#redeemBy(random.pick(claims), ble_address),
    );
    await Promise.all(redeemers);
  }

  async #redeemBy({ claim_id, account_id }: HostedClaim, ble_address: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const device_id = random.pick(this.#recorders);
    const address = { kind: 'claim', id: claim_id };
    const message: ClaimMessage = { type: 'redeem', device_id, ble_address };
    const redeemed = await this.#parts.ask<Claim>(address, message, { settled: true });
    if (isRefusal(redeemed)) return;
    if (random.chance(0.15)) await this.#removeOnArrival(account_id, device_id);
    const outcome = await this.#parts.ask<Claim>(address, { type: 'outcome', device_id } satisfies ClaimMessage);
    if (!isRefusal(outcome)) ledger.acknowledge('redeem session');
    else if (outcome.message.includes('ble_address')) ledger.acknowledge('address taken');
  }

  /** Removes a recorder as soon as its account has it, before its session may have begun. */
  async #removeOnArrival(account_id: string, device_id: string): Promise<void> {
    const account = await this.#view(account_id);
    if (account === null) return;
    for (let tries = 0; tries < REMOVAL_TRIES_MAX; tries++)
      if (await this.#remove(account, device_id)) return this.#parts.ledger.acknowledge('remove on arrival');
  }

  async record(): Promise<void> {
    const session = await this.#anySession();
    const recorder = session && recorderOf(session);
    if (session === null || recorder === null) return;
    const { random } = this.#parts;
    const message: DeviceSessionMessage = {
      type: 'stream_of',
      device_id: recorder.device_id,
      source_stream_ref: `ref ${random.below(2)}`,
      new_stream: { stream_id: this.#id(partitionOfId(session.id)), workspace_id: 'w' },
    };
    const found = await this.#tell<{ stream_id: string }>(session.id, message);
    if (isRefusal(found)) return;
    this.#parts.ledger.acknowledge('stream_of');
    this.#parts.ledger.session_streams.push({
      session_id: session.id,
      ref: message.source_stream_ref,
      stream_id: found.stream_id,
    });
  }

  async endByHost(): Promise<void> {
    const session = await this.#anySession();
    if (session === null) return;
    const message: DeviceSessionMessage = { type: 'end', by: session.host_account_id };
    if (!isRefusal(await this.#tell(session.id, message, { settled: true })))
      this.#parts.ledger.acknowledge('end by host');
  }

  async endByRecorder(): Promise<void> {
    const session = await this.#anySession();
    const recorder = session && recorderOf(session);
    if (session === null || recorder === null) return;
    const message: DeviceSessionMessage = { type: 'end_by_recorder', device_id: recorder.device_id };
    const ended = await this.#tell<DeviceSession>(session.id, message, { settled: true });
    if (!isRefusal(ended)) this.#parts.ledger.acknowledge('end by recorder');
  }

  async extend(): Promise<void> {
    const session = await this.#anySession();
    if (session === null) return;
    const expires_at_ms = session.expires_at_ms + 10 * MINUTE_MS;
    const message: DeviceSessionMessage = { type: 'extend', by: session.host_account_id, expires_at_ms };
    if (!isRefusal(await this.#tell(session.id, message))) this.#parts.ledger.acknowledge('extend');
  }

  async join(by: string): Promise<void> {
    const session = await this.#anySession();
    if (session === null) return;
    const joined = await this.#tell<DeviceSession>(session.id, { type: 'join', by }, { settled: true });
    if (!isRefusal(joined)) this.#parts.ledger.acknowledge('join');
  }

  async leave(): Promise<void> {
    const { random } = this.#parts;
    const session = await this.#anySession();
    if (session === null || session.participants.length === 0) return;
    const { account_id: by } = random.pick(session.participants);
    const left = await this.#tell(session.id, { type: 'leave', by }, { tries_max: 1 });
    if (!isRefusal(left)) this.#parts.ledger.acknowledge('leave');
  }

  async removeRecorder(): Promise<void> {
    const session = await this.#anySession();
    const recorder = session && recorderOf(session);
    if (session === null || recorder === null) return;
    const account = await this.#view(session.host_account_id);
    if (account === null) return;
    if (await this.#remove(account, recorder.device_id)) this.#parts.ledger.acknowledge('remove recorder');
  }

  async #remove(account: Account, device_id: string): Promise<boolean> {
    const message: AccountMessage = { type: 'remove_device', device_id };
    const how = { fences: fencesOf(account), settled: true, tries_max: 1 };
    return !isRefusal(await this.#parts.ask({ kind: 'account', id: account.id }, message, how));
  }

  async deleteAccount(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account)) return;
    ledger.attempt('mail');
    const mail = { mail_id: this.#id(0), sealed: random.bytes(4) };
    const message: AccountMessage = { type: 'delete', mail };
    const how = { fences: fencesOf(account), settled: true };
    if (!isRefusal(await this.#parts.ask({ kind: 'account', id: account_id }, message, how)))
      ledger.acknowledge('delete account');
  }

  async #restore(account_id: string): Promise<void> {
    const message: AccountMessage = { type: 'restore' };
    const restored = await this.#parts.ask({ kind: 'account', id: account_id }, message, { settled: true });
    if (!isRefusal(restored)) this.#parts.ledger.acknowledge('restore');
  }

  /** One of the newest, as its host sees it. */
  async #anySession(): Promise<DeviceSession | null> {
    const { random } = this.#parts;
    if (this.#sessions.length === 0) return null;
    const id = random.pick(this.#sessions.slice(-4));
    for (const by of this.#accounts) {
      const found = await this.#tell<DeviceSession>(id, { type: 'view', by });
      if (!isRefusal(found)) return found;
    }
    return null;
  }

  #tell<Reply = unknown>(id: string, message: DeviceSessionMessage, how?: Ask) {
    return this.#parts.ask<Reply>({ kind: 'device_session', id }, message, how);
  }

  async #view(account_id: string): Promise<Account | null> {
    const message: AccountMessage = { type: 'view' };
    const account = await this.#parts.ask<Account>({ kind: 'account', id: account_id }, message);
    return isRefusal(account) ? null : account;
  }

  #id(partition: number): string {
    return randomId({ partition, now_ms: this.#parts.now() });
  }
}

/** Times that a run about sessions lets pass now and then: waits, ends and drains fall due in between. */
export const SESSION_PASSES_MS = [MINUTE_MS, 5 * MINUTE_MS, LIMITS.session_wait_ms, LIMITS.session_drain_ms];

function fencesOf({ id, epochs }: Account): Fence[] {
  return [{ fence: 'epoch', account_id: id, epoch: 'account', value: epochs.account }];
}
