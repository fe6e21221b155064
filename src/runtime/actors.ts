import type { Actor, InputOf, ReplyOf } from '../../actors/actor.js';
import type { Refusal } from '../domain/refusals.js';
import type { Fence } from '../store/store.js';
import type { RequestScope } from '../tracing/request_scope.js';
import type { Runtime } from './runtime.js';

// biome-ignore lint/suspicious/noExplicitAny: each kind has a state and messages of its own, which its caller sees
type AnyActor = Actor<any, any>;

/**
 * An entity as its callers see it: a function for each of its messages, which gets what is said with it and the fences that
 * must hold when it commits, and answers the message's reply or a refusal.
 */
export type Ref<A> = A extends { messages: infer M }
  ? {
      readonly [Name in keyof M & string]: (
        ...said: unknown extends InputOf<M[Name]>
          ? [input?: Record<never, never>, fences?: Fence[]]
          : [input: InputOf<M[Name]>, fences?: Fence[]]
      ) => Promise<ReplyOf<M[Name]> | Refusal>;
    }
  : never;

type Ask = (address: { kind: string; id: string }, message: object, fences: Fence[]) => Promise<unknown>;
type Verb = (this: { id: string; ask: Ask }, input?: object, fences?: Fence[]) => Promise<unknown>;

/** The functions of a kind's messages, made once for all of its entities. */
const VERBS = new WeakMap<AnyActor, Record<string, Verb>>();

function verbsOf({ kind, messages }: AnyActor): Record<string, Verb> {
  const verbs: Record<string, Verb> = Object.create(null);
  for (const type of Object.keys(messages)) {
    verbs[type] = function (input, fences = []) {
      return this.ask({ kind, id: this.id }, { ...input, type }, fences);
    };
  }
  return verbs;
}

/** All entities there are, by kind and id: `actors.of(stream, id).intend(input, fences)`. */
export class Actors {
  readonly #ask: Ask;
  readonly #askDownstream: Ask;
  readonly #runtime: Runtime;

  /** `scope`: the request on whose behalf they are asked, for logs and traces. */
  constructor(runtime: Runtime, scope?: RequestScope) {
    this.#runtime = runtime;
    this.#ask = (address, message, fences) => runtime.ask(address, message, fences, scope);
    this.#askDownstream = (address, message, fences) => runtime.askDownstream(address, message, fences, scope);
  }

  /** Each answer comes once the message's turn is saved. */
  of<A extends AnyActor>(actor: A, id: string): Ref<A> {
    return this.#ref(actor, id, this.#ask);
  }

  /** Each answer comes once all that the turn told others has been applied there as well, or after two seconds. */
  downstreamOf<A extends AnyActor>(actor: A, id: string): Ref<A> {
    return this.#ref(actor, id, this.#askDownstream);
  }

  /** The same, on behalf of a request. */
  inScope(scope: RequestScope): Actors {
    return new Actors(this.#runtime, scope);
  }

  #ref<A extends AnyActor>(actor: A, id: string, ask: Ask): Ref<A> {
    let verbs = VERBS.get(actor);
    if (verbs === undefined) {
      verbs = verbsOf(actor);
      VERBS.set(actor, verbs);
    }
    return Object.assign(Object.create(verbs), { id, ask }) as Ref<A>;
  }
}
