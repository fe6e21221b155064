import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRules } from './rules.js';

/** Counts the rules that tests cover, by the ids that their titles begin with; fails when one is neither covered nor open. */
const folder = new URL('.', import.meta.url).pathname;
const covered = new Set<string>();
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.test.js') && !file.endsWith('_contract.js')) continue;
  for (const [, ids = ''] of readFileSync(join(folder, file), 'utf8').matchAll(
    /(?:test\(|\btitle:)\s*[`'"]((?:[A-K]-\d{3}[ ,]+)+)/g,
  )) {
    for (const [id] of ids.matchAll(/[A-K]-\d{3}/g)) covered.add(id);
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
