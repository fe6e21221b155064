import { isRefusal, type Refusal } from '../../domain/refusals.js';
import type { Incoming } from './batch.js';
import type { ActingEntity } from './entity_actors.js';

/**
 * The answer to the sender. `downstream` resolves when every outbox message of the decision, and those that they
 * caused, has been applied.
 */
export type MessageAnswer = {
  outcome: 'decided' | 'already' | 'threw' | 'refused';
  reply: unknown;
  downstream: Promise<void> | null;
};

/** A message in the mailbox of an entity, until it has its answer. */
export type WaitingMessage = Incoming & {
  entity: ActingEntity<WaitingMessage>;
  resolve: (answer: MessageAnswer) => void;
  enqueued_at: number;
  answer: MessageAnswer | null;
};

/** The answer to an outbox message or a reminder that took effect before. */
export const ALREADY: MessageAnswer = { outcome: 'already', reply: null, downstream: null };

export function refused(refusal: Refusal): MessageAnswer {
  return { outcome: 'refused', reply: refusal, downstream: null };
}

/** Answers a message once; a second answer is ignored. */
export function answer(waiting: WaitingMessage, value: MessageAnswer): void {
  if (waiting.answer !== null) return;
  waiting.answer = value;
  waiting.resolve(value);
}

/** The outcome of a message, as operators see it. */
export function outcomeOf({ outcome, reply }: MessageAnswer): string {
  if (isRefusal(reply)) return reply.refused;
  return outcome === 'decided' ? 'answered' : outcome;
}
