import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RULE_ID, readRules } from './rules.js';

/**
 * Counts the rules that the given test files cover, by the ids that the titles of their tests begin with; fails when one is
 * neither covered nor open.
 */
const [, ...files] = process.argv.slice(2);
const folder = fileURLToPath(new URL('.', import.meta.url));
const contracts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('_contract.js'),
);
const TITLE = new RegExp(`(?:test\\(|\\btitle:)\\s*[\`'"]((?:${RULE_ID.source}[ ,]+)+)`, 'g');
const covered = new Set<string>();
for (const file of [...files, ...contracts.map((contract) => join(folder, contract))]) {
  for (const [, ids = ''] of readFileSync(file, 'utf8').matchAll(TITLE)) {
    for (const [id] of ids.matchAll(new RegExp(RULE_ID, 'g'))) covered.add(id);
  }
}

const reasons = readRules();
const rules = [...reasons.keys()];
const isOpen = (id: string) => reasons.get(id) !== null;
console.log('\nrules by area        covered   open');
for (const area of new Set(rules.map((id) => id[0]))) {
  const of_area = rules.filter((id) => id[0] === area);
  const tested = of_area.filter((id) => covered.has(id)).length;
  console.log(
    `  ${area}                  ${String(tested).padStart(7)} ${String(of_area.length - tested).padStart(6)}`,
  );
}
const missing = rules.filter((id) => !covered.has(id) && !isOpen(id));
const stale = rules.filter((id) => covered.has(id) && isOpen(id));
const unknown = [...covered].filter((id) => !rules.includes(id));
if (missing.length > 0) console.log(`neither covered nor marked as open: ${missing.join(', ')}`);
if (stale.length > 0) console.log(`marked as open, yet covered: ${stale.join(', ')}`);
if (unknown.length > 0) console.log(`no such rule: ${unknown.join(', ')}`);
process.exitCode = missing.length + stale.length + unknown.length > 0 ? 1 : 0;
