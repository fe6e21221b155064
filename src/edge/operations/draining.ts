import type { Server, ServerResponse } from 'node:http';

/** Whether this server is about to stop. From then on its answers end their connections, so that callers go elsewhere. */
export class Draining {
  #has_begun = false;
  #is_replaced = false;

  /** It is about to stop, which probes are told: nobody should send anything more. */
  begin(): void {
    this.#has_begun = true;
  }

  /** Another process takes its place, which nobody need know: new connections go there. */
  replaced(): void {
    this.#is_replaced = true;
  }

  get hasBegun(): boolean {
    return this.#has_begun;
  }

  /** Whether answers that last should end, so that their callers go elsewhere. */
  get isLeaving(): boolean {
    return this.#has_begun || this.#is_replaced;
  }

  install(server: Server): void {
    server.prependListener('request', (_request, answer: ServerResponse) => {
      if (this.isLeaving) answer.setHeader('Connection', 'close');
    });
  }
}
