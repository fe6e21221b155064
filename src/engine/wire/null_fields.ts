import { z } from 'zod';

/**
 * Removes optional members that are null, which count as absent, from a value that callers send; returns the value
 * itself if there are none.
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  // Of bytes each would be looked at as a member.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || isFlat(value)) return value;
  const inner = innermost(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const element = inner.element as z.ZodType;
    return innermost(element) instanceof z.ZodObject ? value.map((item) => withoutNulls(element, item)) : value;
  }
  if (!(inner instanceof z.ZodObject) || Array.isArray(value)) return value;
  let left: Record<string, unknown> | null = null;
  for (const [name, member] of Object.entries(inner.shape as Record<string, z.ZodType>)) {
    if (!Object.hasOwn(value, name)) continue;
    const sent = (value as Record<string, unknown>)[name];
    const is_absent = sent === null && isOptional(member);
    const kept = is_absent ? undefined : withoutNulls(member, sent);
    if (kept === sent) continue;
    left ??= { ...value };
    if (is_absent) delete left[name];
    else left[name] = kept;
  }
  return left ?? value;
}

/** No part of it is null or may contain null: true of nearly all bodies of devices. */
function isFlat(value: object): boolean {
  for (const name in value) if (typeof (value as Record<string, unknown>)[name] === 'object') return false;
  return true;
}

/** Null is not a valid value of it, and the member is optional. */
function isOptional(member: z.ZodType): boolean {
  return !member.safeParse(null).success && member.safeParse(undefined).success;
}

function innermost(schema: z.ZodType): z.ZodType {
  for (let at = schema; ; ) {
    if (at instanceof z.ZodOptional || at instanceof z.ZodNullable || at instanceof z.ZodDefault)
      at = at.unwrap() as z.ZodType;
    else if (at instanceof z.ZodPipe) at = (at.in instanceof z.ZodTransform ? at.out : at.in) as z.ZodType;
    else return at;
  }
}
