import type { InputOf, ReplyOf } from '../../../actors/actor.js';
import { KINDS } from '../../../actors/index.js';
import { isRefusal, Refused } from '../../domain/refusals.js';
import type { Fence } from '../store/store.js';
import type { RequestScope } from '../tracing/request_scope.js';
import type { Runtime } from './runtime.js';

type Kinds = typeof KINDS;

/**
 * An entity as its callers see it: a function for each of its messages. The function takes the message's input and the
 * fences that must hold at the commit, and answers the message's reply. Rejects with `Refused` if the message is
 * refused.
 */
type Entity<Kind> = Kind extends { messages: infer Messages }
  ? {
      readonly [Name in keyof Messages & string]: (
        ...said: unknown extends InputOf<Messages[Name]>
          ? [input?: Record<never, never>, fences?: Fence[]]
          : [input: InputOf<Messages[Name]>, fences?: Fence[]]
      ) => Promise<ReplyOf<Messages[Name]>>;
    }
  : never;

/** An entity of the kind with this name. */
export type EntityOf<Name extends keyof Kinds> = Entity<Kinds[Name]>;

type EntitiesByKind = {
  readonly [Name in keyof Kinds]: (id: string) => Entity<Kinds[Name]>;
};

/** All entities, by kind and id: `actors.stream(id).intend(input, fences)`. */
export type Actors = EntitiesByKind & {
  /** Answers after all outbox messages of a batch have been applied, or after two seconds. */
  readonly downstream: EntitiesByKind;
  /** The same on behalf of a request, for logs and traces. */
  inScope(scope: RequestScope): Actors;
};

type Ask = (address: { kind: string; id: string }, message: object, fences: Fence[]) => Promise<unknown>;

/** The object with a function for each kind, made once for all calls. */
class Entities {
  constructor(readonly ask: Ask) {}
}

for (const [name, { kind, messages }] of Object.entries(KINDS)) {
  class EntityOfKind {
    constructor(
      readonly id: string,
      readonly ask: Ask,
    ) {}
  }
  for (const type of Object.keys(messages)) {
    const send = function (this: EntityOfKind, input: object = {}, fences: Fence[] = []): Promise<unknown> {
      return this.ask({ kind, id: this.id }, { ...input, type }, fences);
    };
    Object.defineProperty(EntityOfKind.prototype, type, { value: send });
  }
  const of = function (this: Entities, id: string) {
    return new EntityOfKind(id, this.ask);
  };
  Object.defineProperty(Entities.prototype, name, { value: of });
}

/** The actors, as callers of this runtime ask them. */
export function actorsOf(runtime: Pick<Runtime, 'ask' | 'askDownstream'>, scope?: RequestScope): Actors {
  const entities = new Entities(async (address, message, fences) =>
    answered(await runtime.ask(address, message, fences, scope)),
  );
  const downstream = new Entities(async (address, message, fences) =>
    answered(await runtime.askDownstream(address, message, fences, scope)),
  );
  return Object.assign(entities, {
    downstream,
    inScope: (of_request: RequestScope) => actorsOf(runtime, of_request),
  }) as unknown as Actors;
}

function answered(answer: unknown): unknown {
  if (isRefusal(answer)) throw new Refused(answer);
  return answer;
}
