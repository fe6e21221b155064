import type { AccountMessage } from '../../actors/accounts/account.js';
import type { Account } from '../../actors/accounts/account_state.js';
import type { Address } from '../../actors/actor.js';
import type { EmailMessage } from '../../actors/emails/email.js';
import type { AuthSession, AuthSessionMessage } from '../../actors/oauth/auth_session.js';
import type { Grant, GrantMessage, IssuedGrant } from '../../actors/oauth/grant.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { isOauthError, type OauthError } from '../../src/domain/oauth_errors.js';
import { isRefusal, type Refusal } from '../../src/domain/refusals.js';
import { randomId, randomPartition } from '../../src/engine/random/random.js';
import type { Fence } from '../../src/engine/store/store.js';
import type { Asker } from './asker.js';

const CLIENT = 'app';
const CHALLENGE = 'challenge';
const ANY = { scopes: null, audience: null };

/** What an app knows of its grant. `ended`: it was told so, or did it itself. */
type KnownGrant = { grant_id: string; account_id: string; grants_epoch: number; generation: number; ended: boolean };

/** Apps that sign in natively, exchange, refresh and revoke; now and then several times at once. */
export class OauthApps {
  readonly #asker: Asker;
  readonly #grants: KnownGrant[] = [];

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  async operate(emails: readonly string[]): Promise<void> {
    const { random } = this.#asker;
    const roll = random.below(100);
    if (this.#grants.length === 0 || roll < 25) return this.#signIn(random.pick(emails));
    if (roll < 80) return this.#refresh(random.pick(this.#grants));
    if (roll < 92) return this.#revoke(random.pick(this.#grants));
    return this.#signOutEverywhere(random.pick(this.#grants).account_id);
  }

  async #signIn(email: string): Promise<void> {
    const { random, ledger, ask } = this.#asker;
    const network = `n${random.below(3)}`;
    const address = { kind: 'email', id: email };
    const take: EmailMessage = { type: 'take_send', network, budgeted: true };
    const taken = await ask<{ sent: boolean }>(address, take);
    if (isRefusal(taken) || !taken.sent) return;
    const session = { kind: 'auth_session', id: this.#id(randomPartition()) };
    const open: AuthSessionMessage = {
      type: 'open',
      session: {
        email,
        request: {
          client_id: CLIENT,
          name: 'App',
          scopes: ['audio:read'],
          audience: 'api',
          issuer: 'base',
          code: { challenge: CHALLENGE, redirect_uri: null },
        },
        seed: random.bytes(4),
        key_id: 'k',
      },
      code: { hash: 'right', key_id: 'k', mail_id: this.#id(0), sealed: random.bytes(4) },
    };
    // Opening is no message to send again: a client that got no answer begins anew.
    if (isRefusal(await ask(session, open, { tries_max: 1, onTry: () => ledger.attempt('auth_session') }))) return;
    ledger.acknowledge('auth_session');
    for (let wrong = random.below(7); wrong > 0 && random.chance(0.3); wrong--) {
      const judged = await this.#tryCode(session, { network, hash: 'wrong' });
      ledger.mustHold(isRefusal(judged) || isOauthError(judged), 'a wrong code was taken');
    }
    const judged = await this.#tryCode(session, { network, hash: 'right' });
    if (isRefusal(judged) || isOauthError(judged)) return;
    const partition = randomPartition();
    const account = { account_id: this.#id(partition) };
    const enter: EmailMessage = { type: 'enter', network, email, account };
    const entered = await ask<{ account_id: string }>(address, enter, { settled: true });
    if (isRefusal(entered)) return;
    ledger.signed_in.push({ email, account_id: entered.account_id });
    await this.#complete(session, entered.account_id, network);
  }

  #tryCode(session: Address, { network, hash }: { network: string; hash: string }) {
    const tried = { hashes: { k: hash }, allowed: true, network };
    const message: AuthSessionMessage = { type: 'try_code', tried, client_id: CLIENT };
    return this.#asker.ask<AuthSession | OauthError>(session, message);
  }

  /** Once or several times at once, each with a grant of its own: one of them counts. */
  async #complete(session: Address, account_id: string, network: string): Promise<void> {
    const { random, ledger, ask } = this.#asker;
    const view: AccountMessage = { type: 'view' };
    const account = await ask<Account>({ kind: 'account', id: account_id }, view);
    if (isRefusal(account)) return;
    const { epochs } = account;
    const presses = Array.from({ length: random.chance(0.3) ? 3 : 1 }, () => this.#id(partitionOfId(account_id)));
    const completed = await Promise.all(
      presses.map((grant_id) => {
        const issued_under = { account: epochs.account, grants: epochs.grants };
        const owner = { account_id, issued_under, seed: random.bytes(4), key_id: 'k' };
        const tried = { hashes: { k: 'right' }, allowed: true, network };
        const message: AuthSessionMessage = { type: 'complete', grant_id, owner, tried };
        return ask<AuthSession | OauthError>(session, message, { settled: true, tries_max: 1 });
      }),
    );
    const opened = presses.filter((_, index) => {
      const reply = completed[index];
      return reply !== undefined && !isRefusal(reply) && !isOauthError(reply);
    });
    ledger.mustHold(opened.length <= 1, `${opened.length} grants were opened for one code`);
    for (const grant_id of opened) {
      ledger.acknowledge('complete');
      await this.#exchange({ grant_id, account_id, grants_epoch: epochs.grants, generation: 1, ended: false });
    }
  }

  async #exchange(grant: KnownGrant): Promise<void> {
    const { random, ledger, ask } = this.#asker;
    const message: GrantMessage = {
      type: 'exchange',
      client_id: CLIENT,
      challenge: random.chance(0.1) ? 'another' : CHALLENGE,
      redirect_uri: null,
      asked: ANY,
    };
    const exchanges = Array.from({ length: random.chance(0.4) ? 4 : 1 }, () =>
      ask<IssuedGrant | OauthError | Grant>({ kind: 'grant', id: grant.grant_id }, message, {
        fences: fencesOf(grant),
      }),
    );
    const won = (await Promise.all(exchanges)).filter((reply) => isIssued(reply));
    ledger.mustHold(won.length <= 1, `a code was exchanged ${won.length} times`);
    if (won.length === 0) return;
    ledger.mustHold(message.challenge === CHALLENGE, 'a code was exchanged with another verifier');
    ledger.acknowledge('exchange');
    this.#grants.push(grant);
  }

  async #refresh(grant: KnownGrant): Promise<void> {
    const { random, ledger, ask } = this.#asker;
    const generation = Math.max(1, grant.generation - (random.chance(0.15) ? 1 + random.below(2) : 0));
    const was_ended = grant.ended;
    // As the route does, before it asks the grant.
    const view: AccountMessage = { type: 'view' };
    const account = await ask<Account>({ kind: 'account', id: grant.account_id }, view);
    if (isRefusal(account) || account.epochs.grants !== grant.grants_epoch) return;
    const message: GrantMessage = { type: 'refresh', client_id: CLIENT, generation, asked: ANY };
    const replies = await Promise.all(
      Array.from({ length: random.chance(0.3) ? 4 : 1 }, () =>
        ask<IssuedGrant | OauthError>({ kind: 'grant', id: grant.grant_id }, message, { fences: fencesOf(grant) }),
      ),
    );
    for (const reply of replies) {
      if (!isIssued(reply)) continue;
      ledger.acknowledge('grant refresh');
      const got = reply.grant.stage.generation;
      ledger.mustHold(!was_ended, `grant ${grant.grant_id} was refreshed after its end`);
      ledger.mustHold(got === generation + 1, `generation ${generation} of ${grant.grant_id} was followed by ${got}`);
      grant.generation = Math.max(grant.generation, got);
    }
  }

  async #revoke(grant: KnownGrant): Promise<void> {
    const { random, ledger, ask } = this.#asker;
    const { account_id, grants_epoch } = grant;
    const by = random.chance(0.5) ? { client_id: CLIENT } : { account_id, grants_epoch };
    const message: GrantMessage = { type: 'revoke', by };
    if (isRefusal(await ask({ kind: 'grant', id: grant.grant_id }, message))) return;
    ledger.acknowledge('revoke');
    grant.ended = true;
    ledger.grants_ended.add(grant.grant_id);
  }

  async #signOutEverywhere(account_id: string): Promise<void> {
    const { ledger, ask } = this.#asker;
    const before = this.#grants.filter((grant) => grant.account_id === account_id);
    const view: AccountMessage = { type: 'view' };
    const account = await ask<Account>({ kind: 'account', id: account_id }, view);
    if (isRefusal(account)) return;
    const message: AccountMessage = { type: 'sign_out_everywhere', app_sessions: false };
    if (isRefusal(await ask({ kind: 'account', id: account_id }, message))) return;
    ledger.acknowledge('sign_out_everywhere');
    for (const grant of before) if (grant.grants_epoch <= account.epochs.grants) grant.ended = true;
  }

  #id(partition: number): string {
    return randomId({ partition, now_ms: this.#asker.now() });
  }
}

/** What every commit for a grant is held to: signing out everywhere has not come in between. */
function fencesOf({ account_id, grants_epoch }: KnownGrant): Fence[] {
  return [{ fence: 'epoch', account_id, epoch: 'grants', value: grants_epoch }];
}

function isIssued(reply: IssuedGrant | OauthError | Grant | Refusal): reply is IssuedGrant {
  return !isRefusal(reply) && !isOauthError(reply) && 'grant' in reply;
}
