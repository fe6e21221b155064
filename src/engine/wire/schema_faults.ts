import { z } from 'zod';
import { withoutNulls } from './null_fields.js';

/** Faults of input in our own words: each completes a sentence that begins with the field's name. */

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
};
const UNITS: Record<string, string> = { string: 'characters', array: 'entries', set: 'entries', record: 'members' };
const IN_OUR_WORDS = { error: ruleOf };
const OTHER_FORM = 'must have the form that is taken here';
const NAMES_SHOWN_MAX = 5;
const NAME_FORM = /^[\w.-]{1,40}$/;

/**
 * As `schema.safeParse`, for input from others: an optional member that is null counts as absent, and rules that the
 * schema leaves to the library are worded here.
 */
export function parseGiven<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  return parsed(schema, withoutNulls(schema, value));
}

/**
 * The same if null is no absent member: for parameters of a form, which hold only texts, and for answers of other
 * servers.
 */
export function parseAsSent<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  return parsed(schema, value);
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value, IN_OUR_WORDS);
  } catch (error) {
    // The library compares the length of whatever has one, also of an object in place of a text or list, which may hold anything.
    const path = pathOfOddLength(value);
    if (path === null) throw error;
    const issue = { code: 'custom' as const, path, message: OTHER_FORM, input: undefined };
    return { success: false, error: new z.ZodError([issue]) as z.ZodError<z.output<Schema>> };
  }
}

/** The position of the first object whose `length` is an object or a list. */
function pathOfOddLength(value: unknown): (string | number)[] | null {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null;
  const { length } = value as { length?: unknown };
  if (!Array.isArray(value) && typeof length === 'object' && length !== null) return [];
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [name, member] of members) {
    const path = pathOfOddLength(member);
    if (path !== null) return [name, ...path];
  }
  return null;
}

function ruleOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'unrecognized_keys':
      return `must not have ${namesOf(issue.keys)}`;
    case 'invalid_union':
      return 'must have one of the forms that are taken here';
    default:
      return OTHER_FORM;
  }
}

function unitOf(origin: string): string {
  return UNITS[origin] === undefined ? '' : ` ${UNITS[origin]}`;
}

/** Only names that look like field names are repeated. */
function namesOf(keys: readonly string[]): string {
  const shown = keys.filter((key) => NAME_FORM.test(key)).slice(0, NAMES_SHOWN_MAX);
  return shown.length === 0 ? 'members that are not known here' : shown.join(', ');
}
