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
/** The name says what it is: every id is one. */
const ID_FORMAT = 'uuid';

export function listedInput(input: z.ZodType): ObjectSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const name of LEFT_OUT) delete jsonSchema[name];
      if (jsonSchema.format === ID_FORMAT) delete jsonSchema.format;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      joinNull(jsonSchema);
    },
  });
  return schema as ObjectSchema;
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
