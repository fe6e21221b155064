import { LIMITS } from '../src/vocabulary/limits.js';
import { refuse, unreachable } from '../src/vocabulary/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';

/**
 * An email address (normalised; the id is the address itself): the codes sent to it and the account behind it.
 * It draws the account, so that a second first sign-in finishes what a cut-off one began.
 */
export type Email = {
  codes: Code[];
  /** Sends in the present window, by network key. */
  window: { began_ms: number; sent: Record<string, number>; total: number };
  account_id: string | null;
};

/** `wrong` counts wrong tries by network key while this code lived. */
type Code = { hash: string; key_id: string; sent_at_ms: number; wrong: Record<string, number>; wrong_total: number };

export type EmailMessage =
  | { type: 'send_code'; network: string; code_hash: string; key_id: string; mail_id: string; sealed: Uint8Array }
  /** `hashes`: the tried code's hash under each key that codes were hashed with. */
  | { type: 'verify_code'; network: string; hashes: Record<string, string>; email: string; account: DrawnAccount }
  | { type: 'view' }
  /** A day after a code was sent to an address without an account. */
  | { type: 'forget_unused' };

/** Ids for an account that may have to be made. */
export type DrawnAccount = { account_id: string; workspace_id: string };

export type EmailReply =
  | { sent: boolean }
  | { account_id: string; verified_at_ms: number }
  | { forgotten: boolean }
  | { account_id: string | null };

const WRONG = refuse('UNAUTHORIZED', 'The code is wrong, used or no longer valid.');

export const email = actorKind<Email, EmailMessage, EmailReply>({
  kind: 'email',
  home: 'hash',
  schema: 1,

  decide(state, message, _facts, now_ms): Decision<Email, EmailReply> {
    const codes = (state?.codes ?? []).filter(({ sent_at_ms }) => now_ms < sent_at_ms + LIMITS.code_life_ms);
    const known: Email = { codes, window: windowAt(state, now_ms), account_id: state?.account_id ?? null };
    switch (message.type) {
      case 'send_code': {
        const { window } = known;
        const network = networkKey(message.network);
        const sent = window.sent[network] ?? 0;
        // Over the budget the answer is the same and no mail goes out: nobody learns anything from it.
        if (sent >= LIMITS.codes_sent_per_network_max || window.total >= LIMITS.codes_sent_per_email_max) {
          return { reply: { sent: false } };
        }
        const code: Code = {
          hash: message.code_hash,
          key_id: message.key_id,
          sent_at_ms: now_ms,
          wrong: {},
          wrong_total: 0,
        };
        return {
          reply: { sent: true },
          next: {
            ...known,
            codes: [code, ...codes].slice(0, LIMITS.codes_alive_max),
            window: { ...window, sent: { ...window.sent, [network]: sent + 1 }, total: window.total + 1 },
          },
          effects: [
            {
              effect: 'mail',
              mail_id: message.mail_id,
              sealed: message.sealed,
              give_up_at_ms: now_ms + LIMITS.code_life_ms,
            },
            ...(known.account_id === null ? [forgetLater(now_ms)] : []),
          ],
        };
      }
      case 'verify_code': {
        const network = networkKey(message.network);
        const alive = codes.filter((code) => isAliveFor(code, network));
        if (!alive.some((code) => code.hash === message.hashes[code.key_id])) {
          if (alive.length === 0) return { reply: WRONG };
          const counted = codes.map((code) => (alive.includes(code) ? countWrong(code, network) : code));
          return { reply: WRONG, next: { ...known, codes: counted } };
        }
        // From here on it succeeds: the code that matches ends all of them.
        const account_id = known.account_id ?? message.account.account_id;
        const create: Effect = {
          effect: 'tell',
          to: { kind: 'account', id: account_id },
          message: { type: 'create', email: message.email, workspace_id: message.account.workspace_id },
        };
        return {
          reply: { account_id, verified_at_ms: now_ms },
          next: { ...known, codes: [], account_id },
          effects: known.account_id === null ? [create, { effect: 'forget', name: 'unused' }] : [],
        };
      }
      case 'view':
        return { reply: { account_id: known.account_id } };

      case 'forget_unused': {
        const forgotten = known.account_id === null && codes.length === 0;
        if (forgotten) return { reply: { forgotten }, next: null };
        return { reply: { forgotten }, effects: known.account_id === null ? [forgetLater(now_ms)] : [] };
      }
      default:
        return unreachable(message);
    }
  },
});

/** An address that nobody signs in with is not kept for ever. */
function forgetLater(now_ms: number): Effect {
  const message: EmailMessage = { type: 'forget_unused' };
  return { effect: 'remind', name: 'unused', at_ms: now_ms + LIMITS.email_unused_life_ms, message };
}

function windowAt(state: Email | null, now_ms: number): Email['window'] {
  const present = state?.window;
  if (present !== undefined && now_ms < present.began_ms + LIMITS.codes_sent_window_ms) return present;
  return { began_ms: now_ms, sent: {}, total: 0 };
}

/** Counts are kept under it: no name, not even `constructor` or `__proto__`, then finds what every object has. */
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
