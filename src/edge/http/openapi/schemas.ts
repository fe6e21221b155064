import { z } from 'zod';
import type { Schema } from './openapi.js';

/** JSON Schemas out of zod's. Those that have an id are written once, and referred to. */
export class Schemas {
  readonly #named = new Map<string, Schema>();

  /** The schema of a request, before it is parsed. */
  ofRequest(schema: z.ZodType): Schema {
    return this.#convert(schema, 'input');
  }

  /** The schema of an answer. More members may come, so none is ruled out. */
  ofAnswer(schema: z.ZodType): Schema {
    return this.#convert(schema, 'output');
  }

  get named(): Record<string, Schema> {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): Schema {
    // What JSON Schema can't say is said in words; a preprocessed value is shown as what it becomes.
    const { $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    for (const [name, definition] of Object.entries($defs)) {
      const tidy = tidied(definition as FoundSchema, io);
      const known = this.#named.get(name);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(tidy)) {
        throw new Error(`two shapes have the id ${name}`);
      }
      this.#named.set(name, tidy);
    }
    return tidied(root as FoundSchema, io);
  }
}

type FoundSchema = Schema & { $schema?: string; id?: string };

function tidied({ $schema: _, id: _id, ...schema }: FoundSchema, io: 'input' | 'output'): Schema {
  const each = (list: Schema[]) => list.map((one) => tidied(one, io));
  const kept: Schema = { ...schema };
  if (kept.$ref !== undefined) kept.$ref = kept.$ref.replace('#/$defs/', '#/components/schemas/');
  if (kept.minimum === Number.MIN_SAFE_INTEGER) delete kept.minimum;
  if (kept.maximum === Number.MAX_SAFE_INTEGER) delete kept.maximum;
  if (kept.properties !== undefined) {
    kept.properties = Object.fromEntries(
      Object.entries(kept.properties).map(([name, value]) => [name, tidied(value, io)]),
    );
  }
  if (kept.items !== undefined) kept.items = tidied(kept.items, io);
  if (kept.prefixItems !== undefined) kept.prefixItems = each(kept.prefixItems);
  if (kept.anyOf !== undefined) kept.anyOf = each(kept.anyOf);
  if (kept.oneOf !== undefined) kept.oneOf = each(kept.oneOf);
  if (kept.allOf !== undefined) kept.allOf = each(kept.allOf);
  if (typeof kept.additionalProperties === 'object') {
    kept.additionalProperties = tidied(kept.additionalProperties, io);
  } else if (io === 'output') delete kept.additionalProperties;
  return kept;
}
