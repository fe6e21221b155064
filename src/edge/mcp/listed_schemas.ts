import { z } from 'zod';

/**
 * The schemas that tools/list gives for arguments and results. A model reads all of it before its first question, so it
 * is short: arguments lose what only a validator needs, results say what they always have.
 */

type Schema = {
  type?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
  $schema?: string;
  required?: string[];
};

type ObjectSchema = Schema & { type: 'object' };

/** Of arguments. The server holds them to these rules all the same, and says which one is broken. */
const LEFT_OUT = ['additionalProperties', 'pattern', 'minLength', 'maxLength', 'minimum'];
/** Providers of models refuse a request with a format that they do not know, and this is the one that all know. */
const LISTED_FORMAT = 'date-time';
/** Words for a format that is left out. Ids and URLs are known by their names. */
const SAID_OF: Readonly<Record<string, string>> = { date: 'YYYY-MM-DD' };

export function listedInput(input: z.ZodType): ObjectSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const name of LEFT_OUT) delete jsonSchema[name];
      withoutFormat(jsonSchema);
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      joinNull(jsonSchema);
    },
  });
  return schema as ObjectSchema;
}

function withoutFormat(schema: z.core.JSONSchema.BaseSchema): void {
  const { format } = schema;
  if (format === undefined || format === LISTED_FORMAT) return;
  delete schema.format;
  const said = SAID_OF[format];
  if (said !== undefined) schema.description ??= said;
}

/** One schema or null, in one schema. */
function joinNull(schema: z.core.JSONSchema.BaseSchema): void {
  const [one, none, ...others] = (schema.anyOf ?? []) as z.core.JSONSchema.BaseSchema[];
  if (typeof one?.type !== 'string' || none?.type !== 'null' || others.length > 0) return;
  delete schema.anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'] });
}

/** The names that are always there. More may come. */
export function listedOutput(output: z.ZodType): ObjectSchema {
  const { $ref, $defs = {}, ...schema } = z.toJSONSchema(output, { unrepresentable: 'any' }) as Schema;
  const { required = [] } = $ref === undefined ? schema : ($defs[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
  return { type: 'object', required };
}
