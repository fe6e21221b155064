import { LIMITS } from '../../src/domain/limits.js';
import type { Effect } from '../actor.js';

/** A six-digit code that was mailed for one sign-in and is valid for it alone, stored as a keyed hash. */
export type EmailedCode = { hash: string; key_id: string; sent_at_ms: number };

/** The code that a sign-in sends; null if the budget of the address is spent, which nobody learns. */
export type CodeToSend = { hash: string; key_id: string; mail_id: string; sealed: Uint8Array } | null;

/** A tried code: its hash under each key in use. */
export type TriedCode = {
  hashes: Record<string, string>;
  /** Whether the address accepts tries from this network; the email's actor keeps that budget. */
  allowed: boolean;
  network: string;
};

export function emailedCode(code: CodeToSend, now_ms: number): EmailedCode | null {
  return code === null ? null : { hash: code.hash, key_id: code.key_id, sent_at_ms: now_ms };
}

/** The mail with the code. */
export function codeMailed(code: CodeToSend, now_ms: number): Effect[] {
  if (code === null) return [];
  const { mail_id, sealed } = code;
  return [{ effect: 'enqueue_mail', mail_id, sealed, give_up_at_ms: now_ms + LIMITS.code_life_ms }];
}

export function isRight(code: EmailedCode | null, tried: TriedCode, now_ms: number): boolean {
  if (code === null || !tried.allowed || now_ms >= code.sent_at_ms + LIMITS.code_life_ms) return false;
  return tried.hashes[code.key_id] === code.hash;
}

/** Reports a wrong try to the address, which counts tries over all sign-ins. */
export function wrongTry(email: string, { network }: TriedCode): Effect {
  return { effect: 'notify', to: { kind: 'email', id: email }, message: { type: 'wrong_try', network } };
}
