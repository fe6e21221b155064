import type { Account, Membership } from '../../actors/accounts/account_state.js';
import type { PersonalAccessToken } from '../../actors/accounts/personal_access_token.js';
import type { Workspace } from '../../actors/workspaces/workspace_state.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { decodeEvent } from '../../src/engine/store/event_body.js';
import type { Ledger } from './ledger.js';
import type { Applied, ModelStore } from './model_store.js';

type News = { type: string; workspace_id?: string; workspace?: { workspace_id: string; name: string }; name?: string };
type Told = News & { role?: string; changed_fields?: string[]; reason?: string };
type Event = { account_id: string; type: string; resource: { id: string }; data: { changed_fields?: string[] } };

/** What commits have told and recorded, as the store saw them; a log that was dropped is not forgotten here. */
export class MembershipHistory {
  readonly #ledger: Ledger;
  /** Events by account, type and (where it tells) resource. */
  readonly events = new Map<string, number>();
  /** Tells that must have become an event of an account, and those that may have. */
  readonly must_hear = new Map<string, number>();
  readonly may_hear = new Map<string, number>();
  readonly private_renames = new Map<string, number>();
  readonly #workspaces = new Map<string, Workspace | null>();
  /** Workspaces that ended, with those who must have heard. */
  readonly ended = new Map<string, string[]>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  see({ place, before, commit }: Applied): void {
    const { kind } = place.address;
    // Of one commit that renames it and then erases the account, the name is that of the one before.
    const accounts = kind === 'account' ? [before, commit.snapshot].map((one) => one && (stateOf(one) as Account)) : [];
    const own = new Set(accounts.map((account) => account?.private_workspace.id));
    for (const effect of commit.effects) {
      if (effect.effect !== 'append_event') continue;
      const { account_id, type, resource, data } = decodeEvent(effect) as unknown as Event;
      if (own.has(resource.id) && data.changed_fields?.includes('name')) count(this.private_renames, account_id);
      count(this.events, `${account_id} ${type}`);
      count(this.events, `${account_id} ${type} ${resource.id}`);
      if (data.changed_fields?.includes('workspaces')) count(this.events, `${account_id} workspaces`);
    }
    if (kind === 'account' && before !== null)
      this.#checkHeld(stateOf(before) as Account | null, stateOf(commit.snapshot) as Account);
    if (kind !== 'workspace') return;
    this.#workspaces.set(place.address.id, stateOf(commit.snapshot) as Workspace | null);
    const was = before === null ? null : (stateOf(before) as Workspace | null);
    const is = stateOf(commit.snapshot) as Workspace | null;
    const asked = new Set(was?.dormant ? was.members.map(({ account_id }) => account_id) : was?.holds);
    const seen = new Map((was?.members ?? []).map(({ account_id, role }) => [account_id, `${role} ${was?.name}`]));
    for (const effect of commit.effects) {
      if (effect.effect !== 'notify') continue;
      const { to, message } = decodeStored(effect.body) as { to: { kind: string; id: string }; message: Told };
      // Who is to be deleted and has its answer may be gone before it hears anything more.
      if (message.type === 'held') asked.add(to.id);
      else if (to.kind === 'account') this.#hear(to.id, message, { seen, is_held: asked.has(to.id) });
    }
    const keeps = new Map((is?.members ?? []).map(({ account_id, role }) => [account_id, `${role} ${is?.name}`]));
    const { id } = place.address;
    for (const account_id of new Set([...seen.keys(), ...keeps.keys()])) {
      const goes_itself = was?.holds.includes(account_id) || was?.dormant;
      const same = seen.get(account_id) === keeps.get(account_id) || (!keeps.has(account_id) && goes_itself);
      this.#must(
        same === true,
        `${account_id} was told ${seen.get(account_id)} of ${id}, it is ${keeps.get(account_id)}`,
      );
    }
  }

  /** At the moment at which an account goes every workspace that has it holds still for it. */
  #checkHeld(was: Account | null, is: Account): void {
    if (was === null || was.phase.status === 'deleted' || is.phase.status !== 'deleted') return;
    for (const { workspace_id } of was.memberships) {
      const found = this.#workspaces.get(workspace_id);
      const is_member = found?.members.some(({ account_id }) => account_id === is.id) === true;
      const is_held = found?.holds.includes(is.id) === true;
      this.#must(!is_member || is_held, `${is.id} was deleted, and ${workspace_id} did not hold still for it`);
    }
  }

  /** Each outbox message changes what its account knows; one whose account is to be deleted may find nothing to change any more. */
  #hear(account_id: string, told: Told, { seen, is_held }: { seen: Map<string, string>; is_held: boolean }): void {
    const before = seen.get(account_id);
    if (told.type === 'joined') seen.set(account_id, `${told.role} ${told.workspace?.name}`);
    else if (told.type === 'workspace_changed') seen.set(account_id, `${told.role} ${told.name}`);
    else if (told.type === 'left' || told.type === 'workspace_deleted') seen.delete(account_id);
    else return;
    const changes = seen.get(account_id) !== before;
    const is_of_settings = told.type === 'workspace_changed' && (told.changed_fields ?? []).length > 0;
    this.#must(changes || is_of_settings, `${account_id} was told ${told.type}, which changes nothing`);
    if (changes) {
      count(this.may_hear, account_id);
      if (!is_held) count(this.must_hear, account_id);
    }
    if (told.type !== 'workspace_deleted' || is_held) return;
    const id = told.workspace_id ?? '';
    this.ended.set(id, [...(this.ended.get(id) ?? []), account_id]);
  }

  #must(holds: boolean, text: string): void {
    this.#ledger.mustHold(holds, text);
  }
}

/** Holds workspaces, accounts, addresses and tokens against one another when nothing is under way any more. */
export function checkMemberships(
  model: ModelStore,
  history: MembershipHistory,
  { now_ms, mustHold: must }: { now_ms: number; mustHold: (holds: boolean, text: string) => void },
): void {
  const all = <State>(kind: string): Map<string, State> =>
    new Map(
      [...model.entities()].flatMap(({ address, snapshot }) => {
        const state = stateOf(snapshot) as State | null;
        return address.kind === kind && state !== null ? [[address.id, state]] : [];
      }),
    );
  const accounts = all<Account>('account');
  const workspaces = all<Workspace>('workspace');
  const times = (what: string) => history.events.get(what) ?? 0;
  const text = ({ name, role, created_at_ms }: Omit<Membership, 'workspace_id'>) => `${role} ${name} ${created_at_ms}`;

  const private_ids = [...accounts.values()].map(({ private_workspace }) => private_workspace.id);
  must(new Set(private_ids).size === private_ids.length, 'two accounts share a private workspace');

  const invited = new Map<string, string>();
  for (const [id, { name, created_at_ms, members, invitations, holds, dormant }] of workspaces) {
    const owners = members.filter(({ role }) => role === 'owner').length;
    must(owners === 1, `workspace ${id} has ${owners} owners`);
    must(holds.length === 0, `workspace ${id} still holds for ${holds}`);
    must(!dormant || (members.length === 1 && invitations.length === 0), `${id} is dormant and not empty`);
    for (const { account_id, email, role } of members) {
      const account = accounts.get(account_id);
      const kept = account?.memberships.find(({ workspace_id }) => workspace_id === id);
      const says = kept === undefined ? 'nothing' : text(kept);
      must(says === text({ name, role, created_at_ms }), `${account_id} is ${role} of ${id} and keeps ${says}`);
      must(account?.email === email, `${account_id} has another email in ${id}`);
      const deleted = account?.phase.status !== 'active';
      must(deleted === dormant, `${id} is ${dormant ? '' : 'not '}dormant, its member is ${account?.phase.status}`);
    }
    for (const { id: invitation_id, email } of invitations) invited.set(`${email} ${invitation_id}`, id);
  }

  for (const [id, account] of accounts) {
    const { phase, memberships, joining, tokens, private_workspace } = account;
    const upgraded = private_workspace.number - 1;
    must(joining.length === 0, `account ${id} still waits to join ${joining.map(({ workspace_id }) => workspace_id)}`);
    must(phase.status !== 'leaving', `account ${id} is still leaving`);
    for (const { workspace_id } of memberships) {
      const is_member = workspaces.get(workspace_id)?.members.some(({ account_id }) => account_id === id);
      must(is_member === true, `account ${id} keeps ${workspace_id}, which does not know it`);
    }
    const [deletions, restores] = [times(`${id} account.deleted`), times(`${id} account.restored`)];
    const standing = deletions - restores - upgraded;
    must(
      standing === (phase.status === 'deleted' ? 1 : 0),
      `account ${id} is ${phase.status} after ${deletions} deletions, ${restores} restores, ${upgraded} erasures`,
    );
    const gone = [...history.events].filter(([what]) => what.startsWith(`${id} workspace.deleted `));
    for (const [what, often] of gone) must(often === 1, `${often} events: ${what}`);
    const heard = times(`${id} workspaces`) - (history.private_renames.get(id) ?? 0);
    const [least, most] = [history.must_hear.get(id) ?? 0, history.may_hear.get(id) ?? 0];
    must(heard >= least && heard <= most, `${heard} events for ${least} to ${most} changes of memberships of ${id}`);
    checkTokens(id, tokens);
  }
  for (const [id, who] of history.ended) {
    must(!workspaces.has(id), `workspace ${id} came back`);
    for (const account_id of who)
      must(times(`${account_id} workspace.deleted ${id}`) === 1, `${account_id} did not hear of the end of ${id} once`);
  }

  for (const { address, partition } of model.entities()) {
    if (address.kind !== 'email') continue;
    for (const { id, value } of model.collection({ address, partition }, 'invitations')) {
      const { workspace_id } = decodeStored(value) as { workspace_id: string };
      must(invited.get(`${address.id} ${id}`) === workspace_id, `${address.id} keeps ${id}, which is over`);
      invited.delete(`${address.id} ${id}`);
    }
  }
  must(invited.size === 0, `invitations that their addresses do not know: ${[...invited.keys()]}`);

  function checkTokens(id: string, listed: Account['tokens']): void {
    const living = [...all<PersonalAccessToken>('personal_access_token')].filter(
      ([, token]) => token.account_id === id,
    );
    for (const [token_id, { expires_at_ms }] of living) {
      const over = expires_at_ms !== null && expires_at_ms <= now_ms;
      must(over || listed.some((kept) => kept.id === token_id), `token ${token_id} lives and is not listed`);
    }
    for (const { id: token_id, expires_at_ms } of listed) {
      const over = expires_at_ms !== null && expires_at_ms <= now_ms;
      must(over || living.some(([other]) => other === token_id), `token ${token_id} is listed and does not live`);
      must(times(`${id} personal_access_token.revoked ${token_id}`) === 0, `token ${token_id} is listed and revoked`);
    }
    const created = [...history.events.keys()].filter((what) =>
      what.startsWith(`${id} personal_access_token.created `),
    );
    for (const what of created) {
      const token_id = what.slice(what.lastIndexOf(' ') + 1);
      must(times(what) === 1, `token ${token_id} was created more than once`);
      const revoked = times(`${id} personal_access_token.revoked ${token_id}`);
      must(revoked <= 1, `token ${token_id} was revoked ${revoked} times`);
      must(partitionOfId(token_id) === partitionOfId(id), `token ${token_id} lies elsewhere`);
    }
    const [all_made, all_revoked] = [
      times(`${id} personal_access_token.created`),
      times(`${id} personal_access_token.revoked`),
    ];
    must(all_revoked <= all_made - listed.length, `${all_revoked} tokens of ${id} revoked of ${all_made}`);
  }
}

function stateOf(snapshot: Uint8Array): unknown {
  return (decodeStored(snapshot) as { s: unknown }).s;
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
