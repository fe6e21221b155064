import type { ListenerKind } from '../../edge/http/request_state.js';
import { developmentAddresses, publicAddresses, type Settings } from '../settings.js';

type ListenerName = ListenerKind['listener'];

/**
 * The ports of a server. Setting 0 asks the system for a free one, which is known only when the listener is open, and what
 * a listener serves says addresses: so they are asked here with each request, and noted before the first is read.
 */
export class OpenPorts {
  readonly #settings: Settings;
  readonly #ports: Record<ListenerName, number>;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#ports = { public: settings.port, device: settings.device_port, operator: settings.ops_port };
  }

  note(name: ListenerName, port: number): void {
    this.#ports[name] = port;
  }

  readonly addresses = () => publicAddresses(this.#settings, this.#ports.public);

  readonly development = () => developmentAddresses(this.#settings, this.#ports.operator);
}
