import type { z } from 'zod';
import type { Refusal, RefusalCode } from '../../domain/refusals.js';
import type { Tool } from './tool.js';

/**
 * The texts that a model reads when a tool did nothing: the fault, the rule, and the next step. These are results of
 * the tool, not errors of the protocol, which would never reach the model (SEP-1303).
 */

const ISSUES_SHOWN_MAX = 5;

/** The next step of a caller, where that is the same for all tools. */
const ADVICE: Partial<Record<RefusalCode, string>> = {
  NOT_FOUND: 'Ids come from other tools: list again and use one of those.',
  CONFLICT: 'Read it again before another try.',
  CONTENT_EXPIRED: 'The workspace does not keep it any longer; nothing brings it back.',
  FORBIDDEN: 'Do not try again; tell the person.',
  TOO_MANY_REQUESTS: 'Wait a while before another try.',
  UNAVAILABLE: 'Try again in a few seconds.',
};

export function wordsOfRefusal({ refused, message, retry_after_s, extra = {} }: Refusal): string {
  const known = Object.entries(extra).map(([name, value]) => `Its ${name} is ${JSON.stringify(value)} now.`);
  const wait = retry_after_s === undefined ? ADVICE[refused] : `Try again in ${retry_after_s} seconds.`;
  return [`${refused}: ${message}`, ...known, ...(wait === undefined ? [] : [wait])].join(' ');
}

export function wordsOfWrongArguments(
  { name, example }: Pick<Tool, 'name' | 'example'>,
  issues: readonly Pick<z.core.$ZodIssue, 'path' | 'message'>[],
): string {
  const rules = issues
    .slice(0, ISSUES_SHOWN_MAX)
    .map(({ path, message }) => (path.length === 0 ? `the arguments ${message}` : `${path.join('.')} ${message}`));
  return `BAD_REQUEST: ${rules.join('; ')}. Right would be, for example: ${name} ${JSON.stringify(example)}`;
}
