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
