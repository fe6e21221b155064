import type { AccountMessage } from '../../actors/accounts/account.js';
import { type Account, isOpen } from '../../actors/accounts/account_state.js';
import type { Address } from '../../actors/actor.js';
import type { EmailMessage, ListedInvitation } from '../../actors/emails/email.js';
import type { WorkspaceMessage } from '../../actors/workspaces/workspace.js';
import type { Invitation, Member, Workspace } from '../../actors/workspaces/workspace_state.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { isRefusal, type Refusal } from '../../src/domain/refusals.js';
import type { Role } from '../../src/domain/workspaces.js';
import { randomId, randomPartition } from '../../src/engine/random/random.js';
import type { Fence } from '../../src/engine/store/store.js';
import type { Ask, Asker } from './asker.js';
import type { VirtualTime } from './virtual_time.js';

const TRIES_MAX = 8;
const LOOK_EVERY_MS = 50;
const TOKEN_LIFE_MS = 3_600_000;
const HASTE_MAX_MS = 300;
const ROLES = ['member', 'admin'] as const;

/** `expireDeletions` lets their time run out at once; `slowDown` keeps what they ask on its way for a while. */
type Parts = Asker & { time: VirtualTime; expireDeletions: () => void; slowDown: () => void };
type Known = { account_id: string; email: string };

/** What each operation is drawn for, in a hundred. */
const OPERATIONS: readonly [share: number, operation: (members: Members, who: Known) => Promise<void>][] = [
  [5, (members, { account_id }) => members.create(account_id)],
  [20, (members, { account_id }) => members.invite(account_id)],
  [24, (members, who) => members.answer(who)],
  [4, (members, { account_id }) => members.withdraw(account_id)],
  [8, (members, { account_id }) => members.changeRole(account_id)],
  [6, (members, { account_id }) => members.remove(account_id)],
  [4, (members, { account_id }) => members.leave(account_id)],
  [7, (members, { account_id }) => members.transfer(account_id)],
  [5, (members, { account_id }) => members.rename(account_id)],
  [2, (members, { account_id }) => members.end(account_id)],
  [1, (members) => members.staffEnd()],
  [5, (members, { account_id }) => members.deleteAccount(account_id)],
  [1, (members, { account_id }) => members.restore(account_id)],
  [4, (members, { account_id }) => members.addToken(account_id)],
  [3, (members, { account_id }) => members.revokeToken(account_id)],
  [1, (members, { account_id }) => members.signOutEverywhere(account_id)],
];

/** Each must be acknowledged now and then: a run in which all of it fails proves nothing. */
export const MEMBER_OPERATIONS = [
  ...['create_workspace', 'invite', 'accept', 'decline', 'withdraw', 'change_role', 'remove', 'leave', 'transfer'],
  ...['change', 'change_private_workspace', 'delete', 'staff_delete', 'delete account', 'deletion refused', 'restore'],
  ...['restore erased', 'add_token', 'revoke_token', 'sign_out_everywhere'],
];

/** People who share workspaces: they do what src/features/workspaces and src/features/accounts do, and know what those answer. */
export class Members {
  readonly #parts: Parts;
  readonly #emails: string[];
  readonly #accounts = new Map<string, Known>();
  readonly #workspaces: string[] = [];
  #drawn = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#emails = Array.from({ length: 3 + parts.random.below(3) }, (_, index) => `member${index}@example.test`);
  }

  async operate(): Promise<void> {
    const { random } = this.#parts;
    const accounts = [...this.#accounts.values()];
    if (accounts.length === 0 || (accounts.length < this.#emails.length && random.chance(0.4))) return this.#arrive();
    const who = random.pick(accounts);
    // Somebody who is mad at everything, and others who come at the same moment.
    const others = random.chance(0.15) ? [random.pick(accounts), random.pick(accounts)] : [];
    await Promise.all([who, ...others].map((one) => this.#draw(one)));
  }

  async #draw(who: Known): Promise<void> {
    const account = await this.#askAccount<Account>(who.account_id, { type: 'view' });
    if (isRefusal(account)) return;
    if (!isOpen(account) && this.#parts.random.chance(0.8)) return this.restore(who.account_id);
    let roll = this.#parts.random.below(100);
    for (const [share, operation] of OPERATIONS) {
      if (roll < share) return operation(this, who);
      roll -= share;
    }
    throw new Error('shares do not add up to a hundred');
  }

  /** Signs in for the first time, and gets what staff switch on. */
  async #arrive(): Promise<void> {
    const { random, ledger } = this.#parts;
    const waiting = this.#emails.filter((email) => !this.#accounts.has(email));
    if (waiting.length === 0) return;
    const email = random.pick(waiting);
    const account = { account_id: this.#id(randomPartition()) };
    const enter: EmailMessage = { type: 'enter', network: null, email, account };
    const entered = await this.#ask<{ account_id: string }>({ kind: 'email', id: email }, enter, { settled: true });
    if (isRefusal(entered)) return;
    const { account_id } = entered;
    ledger.signed_in.push({ email, account_id });
    const share: AccountMessage = { type: 'switch_entitlement', entitlement: 'workspace.sharing', enabled: true };
    const onTry = () => ledger.attempt(`${account_id} workspace.sharing`);
    if (isRefusal(await this.#askAccount(account_id, share, { onTry }))) return;
    this.#accounts.set(email, { account_id, email });
  }

  async create(account_id: string): Promise<void> {
    const fences = await this.#fences(account_id);
    if (fences === null) return;
    const workspace_id = this.#id(randomPartition());
    this.#workspaces.push(workspace_id);
    const message: AccountMessage = { type: 'create_workspace', workspace_id, name: `team ${++this.#drawn}` };
    const joining = { workspace_id, invitation_id: workspace_id };
    // Once it has ended the same again would make it anew: a client that got no answer begins with another id.
    const how = { fences, tries_max: 1 };
    if ((await this.#join(account_id, joining, message, how)) === 'joined') this.#acknowledge('create_workspace');
  }

  async invite(by: string): Promise<void> {
    const { random, ledger } = this.#parts;
    const id = await this.#someWorkspace(by);
    if (id === null) return;
    const mail_id = this.#id(0);
    const message: WorkspaceMessage = {
      type: 'invite',
      by,
      invitation_id: this.#id(partitionOfId(id)),
      email: random.pick(this.#emails),
      role: random.pick(ROLES),
      mail: { mail_id, sealed: random.bytes(4) },
    };
    ledger.attempt('mail');
    const invited = await this.#askWorkspace<Invitation>(id, message);
    if (isRefusal(invited)) return;
    this.#acknowledge('invite');
    ledger.mails_sent.add(mail_id);
  }

  /** Accepts or declines one of the invitations to the address. */
  async answer({ account_id, email }: Known): Promise<void> {
    const { random, time } = this.#parts;
    const address = { kind: 'email', id: email };
    const list: EmailMessage = { type: 'list_invitations', range: { descending: true, limit: 10 } };
    const listed = await this.#ask<{ invitations: ListedInvitation[] }>(address, list);
    if (isRefusal(listed) || listed.invitations.length === 0) return;
    const { id: invitation_id, workspace_id } = random.pick(listed.invitations);
    if (random.chance(0.15)) {
      const declined = await this.#askWorkspace(workspace_id, { type: 'decline', invitation_id, email });
      if (!isRefusal(declined)) this.#acknowledge('decline');
      return;
    }
    const fences = await this.#fences(account_id);
    if (fences === null) return;
    const accept: AccountMessage = { type: 'accept_invitation', workspace_id, invitation_id };
    const look: WorkspaceMessage = { type: 'invitation', invitation_id, email };
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const came = await this.#join(account_id, { workspace_id, invitation_id }, accept, { fences });
      if (came === 'joined') this.#acknowledge('accept');
      if (came !== 'not_joined' || isRefusal(await this.#askWorkspace(workspace_id, look))) return;
      await time.pause(LOOK_EVERY_MS);
    }
  }

  async withdraw(by: string): Promise<void> {
    const id = await this.#someWorkspace(by);
    if (id === null) return;
    const found = await this.#askWorkspace<Workspace>(id, { type: 'view_invitations', by });
    if (isRefusal(found) || found.invitations.length === 0) return;
    const { id: invitation_id } = this.#parts.random.pick(found.invitations);
    if (!isRefusal(await this.#askWorkspace(id, { type: 'withdraw', by, invitation_id })))
      this.#acknowledge('withdraw');
  }

  async changeRole(by: string): Promise<void> {
    const role = this.#parts.random.pick(ROLES);
    await this.#onMember(by, (account_id) => ({ type: 'change_role', by, account_id, role }));
  }

  async remove(by: string): Promise<void> {
    await this.#onMember(by, (account_id) => ({ type: 'remove', by, account_id }));
  }

  async transfer(by: string): Promise<void> {
    await this.#onMember(by, (account_id) => ({ type: 'transfer', by, account_id }), ['owner']);
  }

  async leave(by: string): Promise<void> {
    await this.#onSome(by, { type: 'leave', by }, ['member', 'admin']);
  }

  async rename(by: string): Promise<void> {
    const { random } = this.#parts;
    const change = random.chance(0.7)
      ? { name: `team ${random.below(3)}` }
      : { retention: { audio: { days: random.below(2) } } };
    if (random.chance(0.2)) {
      const renamed = await this.#askAccount(by, { type: 'change_private_workspace', change });
      if (!isRefusal(renamed)) this.#acknowledge('change_private_workspace');
      return;
    }
    await this.#onSome(by, { type: 'change', by, change }, ['owner']);
  }

  async end(by: string): Promise<void> {
    await this.#onSome(by, { type: 'delete', by }, ['owner']);
  }

  async staffEnd(): Promise<void> {
    if (this.#workspaces.length === 0) return;
    const id = this.#parts.random.pick(this.#workspaces);
    if (!isRefusal(await this.#askWorkspace(id, { type: 'staff_delete' }))) this.#acknowledge('staff_delete');
  }

  /** Now and then one who is refused asks again at once, and again. */
  async deleteAccount(account_id: string): Promise<void> {
    const { random, ledger } = this.#parts;
    for (let tries = random.chance(0.4) ? 3 : 1; tries > 0; tries--) {
      const fences = await this.#fences(account_id);
      if (fences === null) return;
      const mail = { mail_id: this.#id(0), sealed: random.bytes(4) };
      ledger.attempt('mail');
      const hasty = random.chance(0.4);
      if (hasty) this.#parts.slowDown();
      const begun = await this.#askAccount(account_id, { type: 'delete', mail }, { fences, settled: !hasty });
      if (isRefusal(begun)) return;
      if (hasty) {
        this.#parts.expireDeletions();
        await this.#parts.time.pause(random.between(0, HASTE_MAX_MS));
      }
      const answer = await this.#askAccount<{ outcome: string }>(account_id, { type: 'deletion_outcome' });
      if (isRefusal(answer)) {
        if (answer.refused === 'WORKSPACE_OWNER_REQUIRED') this.#acknowledge('deletion refused');
        continue;
      }
      if (answer.outcome === 'deleted') this.#acknowledge('delete account');
      return;
    }
  }

  async restore(account_id: string): Promise<void> {
    const before = await this.#askAccount<Account>(account_id, { type: 'view' });
    if (isRefusal(before)) return;
    if (isRefusal(await this.#askAccount(account_id, { type: 'restore' }, { settled: true }))) return;
    const was = before.phase.status;
    if (was === 'deleted') this.#acknowledge('restore');
    if (was !== 'erased') return;
    this.#acknowledge('restore erased');
    const share: AccountMessage = { type: 'switch_entitlement', entitlement: 'workspace.sharing', enabled: true };
    const onTry = () => this.#parts.ledger.attempt(`${account_id} workspace.sharing`);
    await this.#askAccount(account_id, share, { onTry });
  }

  async addToken(account_id: string): Promise<void> {
    const { random, now } = this.#parts;
    const fences = await this.#fences(account_id);
    if (fences === null) return;
    const message: AccountMessage = {
      type: 'add_token',
      token_id: this.#id(partitionOfId(account_id)),
      token: {
        name: 'token',
        permissions: ['turns:read'],
        last_four: 'abcd',
        expires_at_ms: random.chance(0.2) ? now() + TOKEN_LIFE_MS : null,
        secret_hash: 'hash',
      },
    };
    const how = { fences, settled: true, tries_max: 1 };
    if (!isRefusal(await this.#askAccount(account_id, message, how))) this.#acknowledge('add_token');
  }

  async revokeToken(account_id: string): Promise<void> {
    const account = await this.#askAccount<Account>(account_id, { type: 'view' });
    if (isRefusal(account) || account.tokens.length === 0) return;
    const { id: token_id } = this.#parts.random.pick(account.tokens);
    const revoked = await this.#askAccount(account_id, { type: 'revoke_token', token_id }, { settled: true });
    if (!isRefusal(revoked)) this.#acknowledge('revoke_token');
  }

  async signOutEverywhere(account_id: string): Promise<void> {
    const fences = await this.#fences(account_id);
    if (fences === null) return;
    const message: AccountMessage = { type: 'sign_out_everywhere', app_sessions: true };
    if (!isRefusal(await this.#askAccount(account_id, message, { fences }))) this.#acknowledge('sign_out_everywhere');
  }

  /** Something that is done to one of the members, by one of them, or by somebody whom it is no business of. */
  async #onMember(
    by: string,
    message: (account_id: string) => WorkspaceMessage,
    roles?: readonly Role[],
  ): Promise<void> {
    const { random } = this.#parts;
    const id = await this.#someWorkspace(by, roles);
    if (id === null) return;
    const found = await this.#askWorkspace<Workspace>(id, { type: 'view', by });
    const others = isRefusal(found) ? [] : found.members.filter((member: Member) => member.account_id !== by);
    const account_id = others.length > 0 ? random.pick(others).account_id : by;
    const asked = message(account_id);
    if (!isRefusal(await this.#askWorkspace(id, asked)) && account_id !== by) this.#acknowledge(asked.type);
  }

  async #onSome(by: string, message: WorkspaceMessage, roles: readonly Role[]): Promise<void> {
    const id = await this.#someWorkspace(by, roles);
    if (id !== null && !isRefusal(await this.#askWorkspace(id, message))) this.#acknowledge(message.type);
  }

  /** One of the account's own, as a rule where it has such a role, or now and then any that there ever was. */
  async #someWorkspace(account_id: string, roles: readonly Role[] = ['admin', 'owner']): Promise<string | null> {
    const { random } = this.#parts;
    if (this.#workspaces.length > 0 && random.chance(0.1)) return random.pick(this.#workspaces);
    const account = await this.#askAccount<Account>(account_id, { type: 'view' });
    if (isRefusal(account) || account.phase.status !== 'active' || account.memberships.length === 0) return null;
    const fit = account.memberships.filter(({ role }) => roles.includes(role));
    return random.pick(fit.length > 0 && random.chance(0.9) ? fit : account.memberships).workspace_id;
  }

  /** What comes of asking to join; null when that is not known, or refused. */
  async #join(
    account_id: string,
    joining: { workspace_id: string; invitation_id: string },
    message: AccountMessage,
    how: Ask,
  ): Promise<'joined' | 'not_joined' | null> {
    if (isRefusal(await this.#askAccount(account_id, message, { ...how, settled: true }))) return null;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const look: AccountMessage = { type: 'join_outcome', ...joining };
      const found = await this.#askAccount<{ outcome: 'joined' | 'asked' | 'not_joined' }>(account_id, look);
      if (isRefusal(found)) return null;
      if (found.outcome !== 'asked') return found.outcome;
      await this.#parts.time.pause(LOOK_EVERY_MS);
    }
    return null;
  }

  /** What a credential's commits are held to; null for an account that none is good for now. */
  async #fences(account_id: string): Promise<Fence[] | null> {
    const account = await this.#askAccount<Account>(account_id, { type: 'view' });
    if (isRefusal(account)) return null;
    const { phase, epochs } = account;
    if (phase.status !== 'active' && phase.status !== 'leaving') return null;
    return [{ fence: 'epoch', account_id, epoch: 'account', value: epochs.account }];
  }

  #acknowledge(what: string): void {
    this.#parts.ledger.acknowledge(what);
  }

  #askWorkspace<Reply>(id: string, message: WorkspaceMessage): Promise<Reply | Refusal> {
    return this.#ask<Reply>({ kind: 'workspace', id }, message, { settled: true });
  }

  #askAccount<Reply>(id: string, message: AccountMessage, how?: Ask): Promise<Reply | Refusal> {
    return this.#ask<Reply>({ kind: 'account', id }, message, how);
  }

  #ask<Reply>(address: Address, message: unknown, how?: Ask): Promise<Reply | Refusal> {
    return this.#parts.ask<Reply>(address, message, how);
  }

  #id(partition: number): string {
    return randomId({ partition, now_ms: this.#parts.now() });
  }
}
