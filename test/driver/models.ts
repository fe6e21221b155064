import type { Model } from './linearizability.js';

/** What small objects of the interface do with one call at a time. */

const REFUSED = 409;

export type RegisterCall = { op: 'write'; value: string } | { op: 'read' };

/** A value that is overwritten: an account's name, a member's role. Reads are answered with it. */
export const register = (initial: string): Model<string, RegisterCall> => ({
  initial,
  step: (value, what, answer) => {
    if (what.op === 'write') return answer === null || answer.status === 200 ? what.value : null;
    return answer === null || answer.data === value ? value : null;
  },
});

export type CounterCall = { op: 'add' } | { op: 'read' };

/** Something that each success adds one to, such as the events of an account. */
export const counter: Model<number, CounterCall> = {
  initial: 0,
  step: (count, what, answer) => {
    if (what.op === 'add') return answer === null || answer.status === 200 ? count + 1 : null;
    return answer === null || answer.data === count ? count : null;
  },
};

export type OnceCall = { op: 'set'; value: number } | { op: 'read' };

/** Set once: the same again is a success, another value 409. A stream's end; the device that a claim went to. */
export const setOnce: Model<number | 'none', OnceCall> = {
  initial: 'none',
  step: (value, what, answer) => {
    if (what.op === 'read') return answer === null || answer.data === value ? value : null;
    const wins = value === 'none' || value === what.value;
    if (answer !== null && answer.status !== (wins ? 200 : REFUSED)) return null;
    return wins ? what.value : value;
  },
};

export type StatusCall = { op: 'set'; status: 'active' | 'paused' | 'disabled' } | { op: 'read' };

/** The status of an endpoint that nothing is delivered to meanwhile: a disabled one can't be paused (409). */
export const endpointStatus: Model<string, StatusCall> = {
  initial: 'active',
  step: (status, what, answer) => {
    if (what.op === 'read') return answer === null || answer.data === status ? status : null;
    const can = !(status === 'disabled' && what.status === 'paused');
    if (answer !== null && answer.status !== (can ? 200 : REFUSED)) return null;
    return can ? what.status : status;
  },
};

export type MemberCall = { op: 'make'; role: 'admin' | 'member' } | { op: 'remove' } | { op: 'read' };

/** A member of a workspace: has a role until removed, and is 404 from then on. */
export const member: Model<string, MemberCall> = {
  initial: 'member',
  step: (role, what, answer) => {
    const is_there = role !== 'none';
    if (what.op === 'read') return answer === null || answer.data === role ? role : null;
    if (answer !== null && answer.status !== (is_there ? 200 : 404)) return null;
    if (!is_there) return role;
    return what.op === 'make' ? what.role : 'none';
  },
};

export type TryCall = { op: 'try' };
export const TRIES_MAX = 5;

/**
 * Wrong codes at a native sign-in: each is counted, and from the fifth on the session has ended. Deciding twice what was
 * asked once would end it early, which no other call here would show: all others come to the same when they are repeated.
 */
export const wrongTries: Model<number, TryCall> = {
  initial: 0,
  step: (tries, _what, answer) => {
    const now = Math.min(tries + 1, TRIES_MAX);
    return answer === null || answer.status === (now < TRIES_MAX ? 200 : 400) ? now : null;
  },
};
