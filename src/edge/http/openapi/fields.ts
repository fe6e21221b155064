import type { ApiDocument, Schema } from './openapi.js';

/** A schema as rows of a table. */
export type Field = {
  /** With dots between levels; `[]` stands for each of a list. */
  name: string;
  /** Of a parameter: where it stands. */
  place: 'path' | 'query' | 'header' | null;
  type: FieldType;
  is_required: boolean;
  description: string | null;
};

/** Words for a type, and the shape that it is, which the page shows elsewhere. */
export type FieldType = { words: string; shape: string | null };

const FORMATS: Record<string, string> = { uuid: 'UUID', 'date-time': 'timestamp', email: 'email address', uri: 'URL' };

/** The members of an object, and of objects in it; shapes with a name are shown once, so a row only names them. */
export function fieldsOf(document: ApiDocument, schema: Schema): Field[] {
  return membersOf(resolved(document, schema)).flatMap(([owner, required]) =>
    Object.entries(owner.properties ?? {}).flatMap(([name, member]) =>
      fieldRows(document, { name, schema: member, is_required: required.includes(name) }),
    ),
  );
}

/** An object, or each that something may be. */
function membersOf(schema: Schema): [Schema, string[]][] {
  if (schema.properties !== undefined) return [[schema, schema.required ?? []]];
  return (schema.anyOf ?? []).flatMap(membersOf);
}

function fieldRows(
  document: ApiDocument,
  { name, schema, is_required }: { name: string; schema: Schema; is_required: boolean },
): Field[] {
  const row: Field = {
    name,
    place: null,
    type: typeOf(document, schema),
    is_required,
    description: schema.description ?? null,
  };
  const inner = schema.type === 'array' ? (schema.items ?? {}) : (orNull(schema) ?? schema);
  if (inner.$ref !== undefined || inner.properties === undefined) return [row];
  const prefix = schema.type === 'array' ? `${name}[].` : `${name}.`;
  return [row, ...fieldsOf(document, inner).map((field) => ({ ...field, name: prefix + field.name }))];
}

/** The schema of a value that may be null instead. */
function orNull({ anyOf = [] }: Schema): Schema | null {
  const others = anyOf.filter(({ type }) => type !== 'null');
  return anyOf.length === 2 && others.length === 1 ? (others[0] ?? null) : null;
}

export function typeOf(document: ApiDocument, schema: Schema): FieldType {
  const named = (words: string, shape: string | null = null): FieldType => ({ words, shape });
  if (schema.$ref !== undefined) return named('', nameOf(schema.$ref));
  const other = orNull(schema);
  if (other !== null) {
    const { words, shape } = typeOf(document, other);
    return named(`${words} or null`.trim(), shape);
  }
  if (schema.anyOf !== undefined) return named(schema.anyOf.map((one) => typeOf(document, one).words).join(', or '));
  if (schema.const !== undefined) return named(`always ${JSON.stringify(schema.const)}`);
  if (schema.enum !== undefined) return named(`one of ${schema.enum.map(String).join(', ')}`);
  if (Array.isArray(schema.type)) {
    return named(schema.type.map((type) => typeOf(document, { ...schema, type }).words).join(' or '));
  }
  if (schema.type === 'array') {
    if (schema.prefixItems !== undefined) {
      return named(`list of ${schema.prefixItems.map((one) => typeOf(document, one).words).join(', ')}`);
    }
    const { words, shape } = typeOf(document, schema.items ?? {});
    return named(`list of ${words}${bounds(schema.minItems, schema.maxItems)}`.trim(), shape);
  }
  if (schema.format !== undefined && Object.hasOwn(FORMATS, schema.format)) return named(FORMATS[schema.format] ?? '');
  switch (schema.type) {
    case 'string':
      return named(`text${bounds(schema.minLength, schema.maxLength, ' characters')}`);
    case 'integer':
      return named(`whole number${bounds(schema.minimum, schema.maximum)}`);
    case 'number':
      return named(`number${bounds(schema.minimum, schema.maximum)}`);
    case 'boolean':
      return named('true or false');
    case 'object':
      return named('object');
    case 'null':
      return named('null');
    default:
      return named('anything');
  }
}

function bounds(min: number | undefined, max: number | undefined, unit = ''): string {
  if (min !== undefined && max !== undefined) return `, ${min} to ${max}${unit}`;
  if (max !== undefined) return `, at most ${max}${unit}`;
  return min === undefined ? '' : `, from ${min}${unit}`;
}

function resolved({ components }: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return components.schemas[nameOf(schema.$ref)] ?? {};
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}
