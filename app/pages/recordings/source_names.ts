import type { Source } from '../../../kits/typescript/src/api.js';
import { say } from '../../language/say.js';

/** Sources by id. */
export type Sources = ReadonlyMap<string, Source>;

export function sourceName({ name, device_id }: Pick<Source, 'name' | 'device_id'>): string {
  return name ?? (device_id === null ? say('An app') : say('A recording device'));
}
