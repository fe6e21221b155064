import { type ActorSystemRef, dispatch, type Ref, spawn, start, stop } from 'nact';

/** Kept for turns to come; of a larger burst the rest is stopped. */
const FREE_MAX = 1_024;

/** Something that has a turn to run, one at a time. */
export type TakesTurns = { turn(): Promise<void> };

/**
 * nact's actors. Each runs one turn at a time, of whichever entity is next: an entity that has nothing to do needs none,
 * and so a third of its memory less.
 */
export class TurnActors {
  readonly #system: ActorSystemRef = start();
  readonly #free: Ref<TakesTurns>[] = [];
  #spawned = 0;

  /** Runs a turn of this entity soon. A turn that rejects ends its actor. */
  run(entity: TakesTurns): void {
    dispatch(this.#free.pop() ?? this.#spawn(), entity);
  }

  stop(): void {
    stop(this.#system);
  }

  #spawn(): Ref<TakesTurns> {
    const actor: Ref<TakesTurns> = spawn(
      this.#system,
      async (_: unknown, entity: TakesTurns) => {
        await entity.turn();
        if (this.#free.length < FREE_MAX) this.#free.push(actor);
        else stop(actor);
      },
      `turns${++this.#spawned}`,
    );
    return actor;
  }
}
