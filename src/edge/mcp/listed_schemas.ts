import { z } from 'zod';

/**
 * The schemas that tools/list gives for arguments and results. A model reads all of it before its first question, so it
 * is short: arguments lose what only a validator needs, results are an outline.
 */

type Schema = {
  type?: string | string[];
  $ref?: string;
  $defs?: Record<string, Schema>;
  $schema?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
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
function joinNull(schema: Schema): void {
  const { anyOf: [one, none, ...others] = [] } = schema;
  if (typeof one?.type !== 'string' || none?.type !== 'null' || others.length > 0) return;
  delete schema.anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'] });
}

/** The names of lists in results; connectors expect `results` of a search. */
const LISTS = ['items', 'results'];

/** The names that are always there, of a list those of its items as well. More may come. */
export function listedOutput(output: z.ZodType): ObjectSchema {
  const schema = z.toJSONSchema(output, { unrepresentable: 'any' }) as Schema;
  const of = (one: Schema = {}) => resolved(one, schema.$defs ?? {});
  const { properties, required = [] } = of(schema);
  const list = LISTS.find((name) => properties?.[name] !== undefined);
  const item = list === undefined ? {} : of(of(properties?.[list]).items);
  if (list === undefined || item.required === undefined) return { type: 'object', required };
  return { type: 'object', properties: { [list]: { type: 'array', items: { required: item.required } } }, required };
}

function resolved(schema: Schema, defs: Record<string, Schema>): Schema {
  return schema.$ref === undefined ? schema : (defs[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {});
}
