import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The id of a rule of docs/rules.md. A test's title begins with the ids it covers. */
export const RULE_ID = /(?:[A-K]-\d{3}|X-\d{2})/;
const LINE = new RegExp(`^- (${RULE_ID.source}): .*?(?:\\*Open: (.+)\\*)?$`, 'gm');

/** Every rule in its order, with the reason why no test covers it yet; null where one must. */
export function readRules(): Map<string, string | null> {
  const text = readFileSync(fileURLToPath(new URL('../../docs/rules.md', import.meta.url)), 'utf8');
  const rules = new Map<string, string | null>();
  for (const [, id = '', reason = null] of text.matchAll(LINE)) {
    if (rules.has(id)) throw new Error(`docs/rules.md has ${id} twice`);
    rules.set(id, reason);
  }
  return rules;
}
