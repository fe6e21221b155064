import type { Source } from '../../../kits/typescript/src/api.js';

/** Sources by id. */
export type Sources = ReadonlyMap<string, Source>;

export function sourceName({ name, device_id }: Pick<Source, 'name' | 'device_id'>): string {
  return name ?? (device_id === null ? 'An app' : 'A recording device');
}
