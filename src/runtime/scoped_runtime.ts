import type { Address } from '../../actors/actor.js';
import type { Refusal } from '../domain/refusals.js';
import type { EntityLocation, Fence } from '../store/store.js';
import type { RequestScope } from '../tracing/request_scope.js';
import type { Answer } from './activation.js';
import type { Incoming } from './batch.js';
import type { Asks, Runtime } from './runtime.js';

/** The runtime as one request uses it: what it asks is known by that request, in logs and traces. */
export class ScopedRuntime implements Asks {
  readonly #runtime: Asks;
  readonly #scope: RequestScope;

  constructor(runtime: Asks, scope: RequestScope) {
    this.#runtime = runtime;
    this.#scope = scope;
  }

  get cacheEpoch(): number {
    return this.#runtime.cacheEpoch;
  }

  ask<Reply = unknown>(address: Address, message: unknown, fences: Fence[] = []): Promise<Reply | Refusal> {
    return this.#runtime.ask<Reply>(address, message, fences, this.#scope);
  }
  askDownstream<Reply = unknown>(address: Address, message: unknown, fences: Fence[] = []): Promise<Reply | Refusal> {
    return this.#runtime.askDownstream<Reply>(address, message, fences, this.#scope);
  }
  deliver(address: Address, incoming: Incoming): Promise<Answer> {
    return this.#runtime.deliver(address, { ...incoming, scope: this.#scope });
  }
  homeOf(kind: string): ReturnType<Runtime['homeOf']> {
    return this.#runtime.homeOf(kind);
  }
  locate(address: Address): EntityLocation {
    return this.#runtime.locate(address);
  }
  inspect(limit: number): ReturnType<Runtime['inspect']> {
    return this.#runtime.inspect(limit);
  }
  look(address: Address): ReturnType<Runtime['look']> {
    return this.#runtime.look(address);
  }
  stored(address: Address): ReturnType<Runtime['stored']> {
    return this.#runtime.stored(address);
  }
  releaseQuarantine(address: Address): boolean {
    return this.#runtime.releaseQuarantine(address);
  }
  invalidateCache(): void {
    this.#runtime.invalidateCache();
  }
}
