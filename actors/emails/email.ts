import { type Spent, spend } from '../../src/domain/budgets.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  defineActor,
  type Effect,
  type MessageOf,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';

/**
 * An email address (normalised; the id is the address itself): the codes sent to it, the account behind it, and the
 * invitations addressed to it, with or without an account.
 * It draws the account, so that a second first sign-in finishes what a cut-off one began.
 */
export type Email = {
  codes: Code[];
  /**
   * Sends in the present window, by network key. `total`: those of networks without a successful sign-in. A sign-in
   * begins the window anew.
   */
  window: { began_ms: number; sent: Record<string, number>; total: number };
  account_id: string | null;
  /**
   * Wrong tries of the present day in all sign-ins: by network after a successful sign-in from there, of all others
   * together.
   */
  day: { began_ms: number; wrong: Record<string, number> };
  /** Network keys of successful sign-ins, the latest last. */
  networks: string[];
  /** Invitations that were not answered. */
  invitations: number;
  /** Invitations sent to the address in the present window, by any account. */
  invitations_sent: Spent | null;
};

/** Collection `invitations`, by invitation, in the order of coming. */
export type AddressedInvitation = { workspace_id: string };

/** `wrong`: wrong tries by network key since the code was sent. */
type Code = { hash: string; key_id: string; sent_at_ms: number; wrong: Record<string, number>; wrong_total: number };

export type EmailMessage = MessageOf<typeof email>;

/** The id of the account, which may not exist yet. */
export type NewAccountId = { account_id: string };

export type ListedInvitation = AddressedInvitation & { id: string; order: number };

/**
 * The key under which wrong tries of all networks without a successful sign-in are counted. No network has this key.
 */
const STRANGERS = 'strangers';
const INVITATIONS_BUDGET = { max: LIMITS.invitations_to_email_max, window_ms: LIMITS.invitations_window_ms };
const TOO_OFTEN_INVITED = `An address gets at most ${LIMITS.invitations_to_email_max} invitations a day.`;
const WRONG = refuse('UNAUTHORIZED', 'The code is wrong, used or no longer valid.');

export const email = defineActor<Email>()({
  kind: 'email',
  home: 'hash',
  schema: 1,
  messages: {
    send_code(state, { code_hash, key_id, mail_id, sealed, ...asked }: Send & MailedCode, { now_ms }) {
      const known = emailAt(state, now_ms);
      const window = windowAfterSend(known, asked);
      // Over the budget the answer is the same and no mail goes out: nobody learns anything from it.
      if (window === null) return { reply: { sent: false } };
      const code: Code = { hash: code_hash, key_id, sent_at_ms: now_ms, wrong: {}, wrong_total: 0 };
      const give_up_at_ms = now_ms + LIMITS.code_life_ms;
      return {
        reply: { sent: true },
        next: { ...known, codes: [code, ...known.codes].slice(0, LIMITS.codes_alive_max), window },
        effects: [{ effect: 'enqueue_mail', mail_id, sealed, give_up_at_ms }, ...forgottenLater(known, now_ms)],
      };
    },

    /** `hashes`: the hash of the tried code under each key in use. */
    verify_code(state, tried: ShownCode & { hashes: Record<string, string> }, { now_ms }) {
      const known = emailAt(state, now_ms);
      const network = networkKey(tried.network);
      const alive = mayTry(known, network) ? known.codes.filter((code) => isAliveFor(code, network)) : [];
      if (!alive.some((code) => code.hash === tried.hashes[code.key_id])) {
        if (alive.length === 0) return { reply: WRONG };
        const codes = known.codes.map((code) => (alive.includes(code) ? countWrong(code, network) : code));
        return { reply: WRONG, next: { ...known, codes, day: countedOf(known, network) } };
      }
      // From here on it succeeds: the code that matches ends all of them.
      return enter({ ...known, codes: [] }, tried, now_ms);
    },

    /** Asks whether the address may be sent a code that the sign-in keeps itself. */
    take_send(state, asked: Send, { now_ms }) {
      const known = emailAt(state, now_ms);
      const window = windowAfterSend(known, asked);
      if (window === null) return { reply: { sent: false } };
      return { reply: { sent: true }, next: { ...known, window }, effects: forgottenLater(known, now_ms) };
    },

    /** Asks before a code of such a sign-in is judged, and reports a wrong one. */
    may_try: {
      reads: true,
      decide: (state, { network }: { network: string }, { now_ms }) => ({
        reply: { allowed: mayTry(emailAt(state, now_ms), networkKey(network)) },
      }),
    },

    wrong_try(state, tried: { network: string }, { now_ms }) {
      const known = emailAt(state, now_ms);
      const network = networkKey(tried.network);
      const allowed = mayTry(known, network);
      // A full count says all there is to say; and an address that was forgotten meanwhile stays so.
      if (state === null || !allowed) return { reply: { allowed } };
      return { reply: { allowed }, next: { ...known, day: countedOf(known, network) } };
    },

    /**
     * After a right code of such a sign-in, or by staff (from no network): returns the account of the address, or makes
     * one.
     */
    enter: (state, shown: Omit<ShownCode, 'network'> & { network: string | null }, { now_ms }) =>
      enter(emailAt(state, now_ms), shown, now_ms),

    view: (state) => ({ reply: { account_id: state?.account_id ?? null } }),

    /** A day after a code was sent to an address without an account. */
    forget_unused(state, _: unknown, { now_ms }) {
      const known = emailAt(state, now_ms);
      const unused = isUnused(known);
      const forgotten = unused && known.codes.length === 0;
      if (forgotten) return { reply: { forgotten }, next: null };
      return { reply: { forgotten }, effects: unused ? [forgetLater(now_ms)] : [] };
    },

    /** Counts an invitation that is about to be sent to the address. */
    take_invitation(state, _: unknown, { now_ms }): Decision<Email, { sent: true }> {
      const known = emailAt(state, now_ms);
      const sent = spend(known.invitations_sent, INVITATIONS_BUDGET, now_ms);
      if ('wait_s' in sent)
        return { reply: refuse('TOO_MANY_REQUESTS', TOO_OFTEN_INVITED, { retry_after_s: sent.wait_s }) };
      return {
        reply: { sent: true },
        next: { ...known, invitations_sent: sent },
        effects: forgottenLater(known, now_ms),
      };
    },

    // From workspaces:
    invited: {
      records: invitationRecord,
      decide(state, { invitation_id, workspace_id }: Invited & AddressedInvitation, facts) {
        if (facts.record('invitations', invitation_id) !== undefined) return { reply: { sent: true } };
        const { now_ms } = facts;
        const known = emailAt(state, now_ms);
        const value: AddressedInvitation = { workspace_id };
        return {
          reply: { sent: true },
          next: { ...known, invitations: known.invitations + 1 },
          effects: [{ effect: 'put_record', collection: 'invitations', id: invitation_id, value, order: now_ms }],
        };
      },
    },

    uninvited: {
      records: invitationRecord,
      decide(state, { invitation_id }: Invited, facts) {
        if (facts.record('invitations', invitation_id) === undefined) return { reply: { sent: false } };
        const known = emailAt(state, facts.now_ms);
        const next = { ...known, invitations: known.invitations - 1 };
        return {
          reply: { sent: false },
          next,
          effects: [
            { effect: 'delete_record', collection: 'invitations', id: invitation_id },
            ...(isUnused(next) ? [forgetLater(facts.now_ms)] : []),
          ],
        };
      },
    },

    invitation: {
      records: invitationRecord,
      decide(_, { invitation_id }: Invited, facts) {
        const found = facts.record<AddressedInvitation>('invitations', invitation_id);
        return { reply: found ?? refuse('NOT_FOUND', 'There is no such invitation.') };
      },
    },

    list_invitations: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: 'invitations', range }],
      decide(_, __: { range: RangeQuery }, facts) {
        const rows = facts.range<AddressedInvitation>('invitations');
        const invitations: ListedInvitation[] = rows.map(({ id, order, value }) => ({ id, order, ...value }));
        return { reply: { invitations } };
      },
    },

    /** The account of the address is being erased: the networks of its sign-ins are removed. */
    forget_person(state, _: unknown, { now_ms }) {
      if (state === null) return { reply: { forgotten: false } };
      const next = {
        ...emailAt(state, now_ms),
        networks: [],
        window: windowAt(null, now_ms),
        day: dayAt(null, now_ms),
      };
      return { reply: { forgotten: true }, next };
    },
  },
});

/** Without a budget nothing is counted. */
type Send = { network: string; budgeted: boolean };
type MailedCode = { code_hash: string; key_id: string; mail_id: string; sealed: Uint8Array };
type ShownCode = { network: string; email: string; account: NewAccountId };
type Invited = { invitation_id: string };

function invitationRecord({ invitation_id }: Invited): RecordQuery[] {
  return [{ collection: 'invitations', id: invitation_id }];
}

/** The state at a time: codes, windows and days that have ended do not count. */
function emailAt(state: Email | null, now_ms: number): Email {
  return {
    codes: (state?.codes ?? []).filter(({ sent_at_ms }) => now_ms < sent_at_ms + LIMITS.code_life_ms),
    window: windowAt(state, now_ms),
    account_id: state?.account_id ?? null,
    day: dayAt(state, now_ms),
    networks: state?.networks ?? [],
    invitations: state?.invitations ?? 0,
    invitations_sent: state?.invitations_sent ?? null,
  };
}

function isUnused({ account_id, invitations }: Email): boolean {
  return account_id === null && invitations === 0;
}

/** Signs in after a right code: returns the account of the address, and the network is known from now on. */
function enter(
  known: Email,
  { network, email: address, account }: { network: string | null; email: string; account: NewAccountId },
  now_ms: number,
): Decision<Email, { account_id: string; verified_at_ms: number }> {
  const account_id = known.account_id ?? account.account_id;
  const create: Effect = {
    effect: 'notify',
    to: { kind: 'account', id: account_id },
    message: { type: 'create', email: address },
  };
  const from = network === null ? [] : [networkKey(network)];
  const networks = [...known.networks.filter((other) => !from.includes(other)), ...from].slice(
    -LIMITS.known_networks_max,
  );
  // Counts are kept of networks that are still known: a day of sign-ins from ever new ones must not pile them up.
  const wrong = Object.entries(known.day.wrong).filter(([key]) => key === STRANGERS || networks.includes(key));
  // Whoever signs in over and over is no flood: what was sent before counts no more.
  const window = network === null ? known.window : windowAt(null, now_ms);
  return {
    reply: { account_id, verified_at_ms: now_ms },
    next: { ...known, window, account_id, networks, day: { ...known.day, wrong: Object.fromEntries(wrong) } },
    effects: known.account_id === null ? [create, { effect: 'cancel_reminder', name: 'unused' }] : [],
  };
}

/** An address without sign-ins is not kept for ever. */
function forgetLater(now_ms: number): Effect {
  const at_ms = now_ms + LIMITS.email_unused_life_ms;
  return { effect: 'schedule_reminder', name: 'unused', at_ms, message: { type: 'forget_unused' } };
}

function forgottenLater({ account_id }: Email, now_ms: number): Effect[] {
  return account_id === null ? [forgetLater(now_ms)] : [];
}

function windowAt(state: Email | null, now_ms: number): Email['window'] {
  const present = state?.window;
  if (present !== undefined && now_ms < present.began_ms + LIMITS.codes_sent_window_ms) return present;
  return { began_ms: now_ms, sent: {}, total: 0 };
}

function dayAt(state: Email | null, now_ms: number): Email['day'] {
  const present = state?.day;
  if (present !== undefined && now_ms < present.began_ms + LIMITS.code_wrong_window_ms) return present;
  return { began_ms: now_ms, wrong: {} };
}

/**
 * The window after one more send from this network; null once the budget of the network, or of all unknown networks, is
 * spent. Known networks have budgets of their own, so strangers cannot keep a code from a person.
 */
function windowAfterSend(
  { window, networks }: Email,
  { network: name, budgeted }: { network: string; budgeted: boolean },
): Email['window'] | null {
  if (!budgeted) return window;
  const network = networkKey(name);
  const sent = window.sent[network] ?? 0;
  const is_known = networks.includes(network);
  if (sent >= LIMITS.codes_sent_per_network_max) return null;
  if (!is_known && window.total >= LIMITS.codes_sent_per_email_max) return null;
  const total = window.total + (is_known ? 0 : 1);
  return { ...window, sent: { ...window.sent, [network]: sent + 1 }, total };
}

/**
 * Bounds guessing at many sign-ins at once by a daily budget. Known networks have budgets of their own, so strangers
 * use up only the budget of unknown networks and lock nobody out.
 */
function mayTry({ day, networks }: Email, network: string): boolean {
  return (day.wrong[countedUnder(networks, network)] ?? 0) < LIMITS.code_wrong_per_day_max;
}

function countedOf({ day, networks }: Email, network: string): Email['day'] {
  const key = countedUnder(networks, network);
  return { ...day, wrong: { ...day.wrong, [key]: (day.wrong[key] ?? 0) + 1 } };
}

function countedUnder(networks: string[], network: string): string {
  return networks.includes(network) ? network : STRANGERS;
}

/**
 * The key of a network's counts. By its prefix no name, not even `constructor` or `__proto__`, is a property that every
 * object has.
 */
function networkKey(network: string): string {
  return `network ${network}`;
}

function isAliveFor(code: Code, network: string): boolean {
  const wrong = code.wrong[network] ?? 0;
  return wrong < LIMITS.code_wrong_per_network_max && code.wrong_total < LIMITS.code_wrong_total_max;
}

function countWrong(code: Code, network: string): Code {
  const wrong = { ...code.wrong, [network]: (code.wrong[network] ?? 0) + 1 };
  return { ...code, wrong, wrong_total: code.wrong_total + 1 };
}
