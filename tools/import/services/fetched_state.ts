import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { readIfThere, writeDurably } from '../../../kits/typescript/src/durable_files.js';
import { UserError } from '../../user_error.js';
import type { ServiceName } from './service.js';

const stateShape = z.strictObject({
  version: z.literal(1),
  server: z.string(),
  service: z.string(),
  reached_end: z.boolean(),
  known: z.array(z.string()),
});

/** A file that says which conversations of a service were imported. `reached_end`: whether a run has seen all of them. */
export class FetchedState {
  readonly #file: string;
  readonly #of: { server: string; service: ServiceName };
  readonly #known: Set<string>;
  reached_end: boolean;

  private constructor(file: string, of: FetchedState['of'], found: z.infer<typeof stateShape> | null) {
    this.#file = file;
    this.#of = of;
    this.#known = new Set(found?.known);
    this.reached_end = found?.reached_end ?? false;
  }

  get of(): { server: string; service: ServiceName } {
    return this.#of;
  }

  /** Throws UserError for a file of another server or service, or none of these. */
  static async open(file: string, of: { server: string; service: ServiceName }): Promise<FetchedState> {
    const text = await readIfThere(file);
    if (text === null) return new FetchedState(file, of, null);
    const found = stateShape.safeParse(jsonOf(text));
    if (!found.success) throw new UserError(`${file} is not a state of spool import: name another one with --state.`);
    const { server, service } = found.data;
    if (server !== of.server || service !== of.service)
      throw new UserError(
        `${file} says what was imported from ${service} to ${server}: name another one with --state.`,
      );
    return new FetchedState(file, of, found.data);
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  add(id: string): void {
    this.#known.add(id);
  }

  /** Resolves once it is on disk. */
  async save(): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true });
    const { reached_end } = this;
    await writeDurably(
      this.#file,
      `${JSON.stringify({ version: 1, ...this.#of, reached_end, known: [...this.#known] }, null, 1)}\n`,
    );
  }
}

/** In the folder that a system keeps for what programs remember. */
export function stateFile({ server, service }: { server: URL; service: ServiceName }): string {
  const folder = process.env.XDG_STATE_HOME?.trim() || join(homedir(), '.local', 'state');
  return join(folder, 'spool', `import-${service}-${server.host.replace(/[^\w.-]/g, '_')}.json`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
