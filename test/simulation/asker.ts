import type { Address } from '../../actors/actor.js';
import type { Refusal } from '../../src/domain/refusals.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { Fence } from '../../src/engine/store/store.js';
import type { Ledger } from './ledger.js';

/** How often to ask while the outcome stays unknown, and what to hold the commit to. */
export type Ask = { settled?: boolean; fences?: Fence[]; tries_max?: number; onTry?: () => void };

/** How clients of one kind ask some process. */
export type Asker = {
  random: SeededRandom;
  now: () => number;
  ledger: Ledger;
  ask<Reply>(address: Address, message: unknown, how?: Ask): Promise<Reply | Refusal>;
};
