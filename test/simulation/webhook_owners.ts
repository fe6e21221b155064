import type { AccountMessage } from '../../actors/accounts/account.js';
import { type Account, isOpen } from '../../actors/accounts/account_state.js';
import type { EmailMessage } from '../../actors/emails/email.js';
import type { EndpointMessage } from '../../actors/webhooks/endpoint.js';
import type { Endpoint } from '../../actors/webhooks/endpoint_state.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { ENDPOINT_STATUSES } from '../../src/domain/webhooks.js';
import { randomId, randomPartition } from '../../src/engine/random/random.js';
import type { Fence } from '../../src/engine/store/store.js';
import type { Asker } from './asker.js';

const TOPICS = [[], [], ['account.updated'], ['workspace.updated'], ['account.restored', 'account.updated']] as const;
const ENDPOINTS_MAX = 4;

/** What each operation is drawn for, in a hundred. */
const OPERATIONS: readonly [share: number, operation: (owners: WebhookOwners, account_id: string) => Promise<void>][] =
  [
    [10, (owners, account_id) => owners.add(account_id)],
    [58, (owners, account_id) => owners.happen(account_id)],
    [20, (owners, account_id) => owners.setStatus(account_id)],
    [4, (owners, account_id) => owners.remove(account_id)],
    [2, (owners, account_id) => owners.removeAndSet(account_id)],
    [6, (owners, account_id) => owners.deleteAccount(account_id)],
  ];

/** Each must be acknowledged now and then: a run in which all of it fails proves nothing. */
export const WEBHOOK_OPERATIONS = [
  ...['add_endpoint', 'event', 'active', 'paused', 'disabled', 'remove_endpoint', 'delete account', 'restore'],
];

/** People with webhook endpoints: they do what src/features/webhooks/endpoints.ts and src/features/accounts/account.ts do. */
export class WebhookOwners {
  readonly #parts: Asker;
  readonly #emails: string[];
  readonly #accounts: string[] = [];
  #drawn = 0;

  constructor(parts: Asker) {
    this.#parts = parts;
    this.#emails = Array.from({ length: 2 + parts.random.below(2) }, (_, index) => `owner${index}@example.test`);
  }

  async operate(): Promise<void> {
    const { random } = this.#parts;
    const [email] = this.#emails;
    if (email !== undefined && (this.#accounts.length === 0 || random.chance(0.2))) return this.#arrive(email);
    if (this.#accounts.length === 0) return;
    const account_id = random.pick(this.#accounts);
    const account = await this.#view(account_id);
    if (account === null) return;
    if (!isOpen(account)) return this.restore(account_id);
    if (account.endpoints.length === 0) return this.add(account_id);
    let roll = random.below(100);
    for (const [share, operation] of OPERATIONS) {
      if (roll < share) return operation(this, account_id);
      roll -= share;
    }
    throw new Error('shares do not add up to a hundred');
  }

  async #arrive(email: string): Promise<void> {
    const enter: EmailMessage = {
      type: 'enter',
      network: null,
      email,
      account: { account_id: this.#id(randomPartition()) },
    };
    const address = { kind: 'email', id: email };
    const entered = await this.#parts.ask<{ account_id: string }>(address, enter, { settled: true });
    if (isRefusal(entered)) return;
    this.#parts.ledger.signed_in.push({ email, account_id: entered.account_id });
    if (this.#accounts.includes(entered.account_id)) return;
    this.#accounts.push(entered.account_id);
    this.#emails.splice(this.#emails.indexOf(email), 1);
  }

  async add(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account) || account.endpoints.length >= ENDPOINTS_MAX) return;
    const endpoint_id = this.#id(partitionOfId(account_id));
    const endpoint = {
      url: `https://${endpoint_id}.test/`,
      topics: [...random.pick(TOPICS)],
      sealed_secret: random.bytes(4),
    };
    const message: AccountMessage = { type: 'add_endpoint', endpoint_id, endpoint };
    const how = { fences: fencesOf(account), settled: random.chance(0.7), tries_max: 1 };
    if (!isRefusal(await this.#parts.ask({ kind: 'account', id: account_id }, message, how)))
      ledger.acknowledge('add_endpoint');
  }

  /** One event, or a few at once. */
  async happen(account_id: string): Promise<void> {
    const { random } = this.#parts;
    const times = random.chance(0.15) ? 6 : 1;
    await Promise.all(Array.from({ length: times }, () => this.#change(account_id)));
  }

  async #change(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account)) return;
    const change = random.chance(0.5)
      ? { name: `private ${++this.#drawn}` }
      : { retention: { audio: { days: 1 + (++this.#drawn % 1_000) } } };
    const message: AccountMessage = { type: 'change_private_workspace', change };
    const how = { fences: fencesOf(account) };
    if (!isRefusal(await this.#parts.ask({ kind: 'account', id: account_id }, message, how)))
      ledger.acknowledge('event');
  }

  /** As a rule to another status than it has; now and then by two at once. */
  async setStatus(account_id: string): Promise<void> {
    const { random } = this.#parts;
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account) || account.endpoints.length === 0) return;
    const id = random.pick(account.endpoints);
    await Promise.all(Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => this.#setOne(account, id)));
  }

  async remove(account_id: string): Promise<void> {
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account) || account.endpoints.length === 0) return;
    await this.#removeOne(account, this.#parts.random.pick(account.endpoints));
  }

  /** By one who sets it active while another removes it. */
  async removeAndSet(account_id: string): Promise<void> {
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account) || account.endpoints.length === 0) return;
    const id = this.#parts.random.pick(account.endpoints);
    await this.#ask(id, { type: 'set_status', status: 'paused' }, fencesOf(account));
    await Promise.all([this.#removeOne(account, id), this.#activate(account, id), this.#activate(account, id)]);
  }

  async deleteAccount(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const account = await this.#view(account_id);
    if (account === null || !isOpen(account)) return;
    const mail = { mail_id: this.#id(0), sealed: random.bytes(4) };
    ledger.attempt('mail');
    const message: AccountMessage = { type: 'delete', mail };
    const how = { fences: fencesOf(account), settled: true };
    if (!isRefusal(await this.#parts.ask({ kind: 'account', id: account_id }, message, how)))
      ledger.acknowledge('delete account');
  }

  async restore(account_id: string): Promise<void> {
    const message: AccountMessage = { type: 'restore' };
    const restored = await this.#parts.ask({ kind: 'account', id: account_id }, message, { settled: true });
    if (!isRefusal(restored)) this.#parts.ledger.acknowledge('restore');
  }

  async #setOne(account: Account, id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const status = random.chance(0.5) ? 'active' : random.pick(ENDPOINT_STATUSES);
    const set = await this.#ask(id, { type: 'set_status', status }, fencesOf(account));
    if (!isRefusal(set)) ledger.acknowledge(status);
  }

  async #activate(account: Account, id: string): Promise<void> {
    await this.#ask(id, { type: 'set_status', status: 'active' }, fencesOf(account));
  }

  async #removeOne(account: Account, endpoint_id: string): Promise<void> {
    const message: AccountMessage = { type: 'remove_endpoint', endpoint_id };
    const how = { fences: fencesOf(account), settled: true };
    if (!isRefusal(await this.#parts.ask({ kind: 'account', id: account.id }, message, how)))
      this.#parts.ledger.acknowledge('remove_endpoint');
  }

  #ask(id: string, message: EndpointMessage, fences: Fence[]) {
    return this.#parts.ask<Endpoint>({ kind: 'endpoint', id }, message, { fences });
  }

  async #view(account_id: string): Promise<Account | null> {
    const view: AccountMessage = { type: 'view' };
    const account = await this.#parts.ask<Account>({ kind: 'account', id: account_id }, view);
    return isRefusal(account) ? null : account;
  }

  #id(partition: number): string {
    return randomId({ partition, now_ms: this.#parts.now() });
  }
}

/** What a credential's commits are held to. */
function fencesOf({ id, epochs }: Account): Fence[] {
  return [{ fence: 'epoch', account_id: id, epoch: 'account', value: epochs.account }];
}
