import { type ActorProps, type ActorSystemRef, dispatch, type Ref, spawn, start, stop } from 'nact';

/** An entity as its actor sees it. */
export type ActingEntity<Message> = {
  readonly place: { address: { kind: string; id: string } };
  /** Takes a message and the waiting messages as one batch. The actor takes the next message when this resolves. */
  receive(message: Message): Promise<void>;
  /** Called when `receive` has rejected. */
  crashed(error: unknown): void;
  /** Called when its actor has stopped, after a long idle time or on request. */
  stopped(actor: Ref<Message>): void;
};

/** An actor of nact takes 1,500 B; the entity's own memory stays for longer. */
const IDLE_MAX_MS = 10_000;
/** An actor that was idle for this time may have stopped: a message delivered to it may be lost. */
const MAY_HAVE_STOPPED_MS = IDLE_MAX_MS - 1_000;
/** The names that nact accepts. */
const PLAIN_NAME = /^[a-z0-9][a-z0-9_.+!*'(),-]*$/i;

/**
 * nact's actors: a supervisor for each kind, and below it a child for each active entity, named by the entity's id. A
 * child handles one message after another, stops after a long idle time, and is quarantined when it crashes.
 */
export class EntityActors<Message extends { entity: ActingEntity<Message> }> {
  readonly #system: ActorSystemRef = start();
  readonly #supervisors = new Map<string, Ref<never>>();
  readonly #onCrash: NonNullable<ActorProps<unknown, Message, Ref<never>>['onCrash']> = (
    message,
    error,
    { resume },
  ) => {
    message?.entity.crashed(error);
    return resume;
  };

  /** Starts the actor of an entity that has none. */
  spawn(entity: ActingEntity<Message>): Ref<Message> {
    const { kind, id } = entity.place.address;
    return spawn(this.#supervisorOf(kind), receive<Message>, nameOf(id), {
      initialState: entity,
      shutdownAfter: IDLE_MAX_MS,
      onCrash: this.#onCrash,
      afterStop: stopped<Message>,
    });
  }

  deliver(actor: Ref<Message>, message: Message): void {
    dispatch(actor, message);
  }

  /** Whether a message still reaches an actor that has been idle for this time. */
  isReached(idle_ms: number): boolean {
    return idle_ms < MAY_HAVE_STOPPED_MS;
  }

  stop(actor: Ref<Message>): void {
    stop(actor);
  }

  stopAll(): void {
    stop(this.#system);
  }

  /** The supervisor of a kind. It handles no messages itself: each would cost a copy of the list of its children. */
  #supervisorOf(kind: string): Ref<never> {
    let supervisor = this.#supervisors.get(kind);
    if (supervisor === undefined) {
      supervisor = spawn(this.#system, () => undefined, kind) as Ref<never>;
      this.#supervisors.set(kind, supervisor);
    }
    return supervisor;
  }
}

async function receive<Message>(entity: ActingEntity<Message>, message: Message): Promise<ActingEntity<Message>> {
  await entity.receive(message);
  return entity;
}

function stopped<Message>(entity: ActingEntity<Message>, { self }: { self: Ref<Message> }): void {
  entity.stopped(self);
}

function nameOf(id: string): string {
  return PLAIN_NAME.test(id) ? id : `$${Buffer.from(id).toString('base64url')}`;
}
