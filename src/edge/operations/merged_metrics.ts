import type { ProcessAnswer } from '../../engine/cluster/process_queries.js';

const SAMPLE = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})? (.*)$/;
const ANSWERS = [
  '# HELP spool_process_answers 1 for each process on this machine that answers, else 0',
  '# TYPE spool_process_answers gauge',
];

/** The metrics of several processes as one text: each sample says whose it is. Of one that is alone, as they are. */
export function mergeMetrics(told: readonly ProcessAnswer<string>[]): string {
  const [first] = told;
  if (told.length === 1 && first !== undefined && first.number === null) return first.value ?? '';
  const families = new Map<string, string[]>([
    [
      ANSWERS.join('\n'),
      told.map(({ number, value }) => `spool_process_answers{process="${number}"} ${value === null ? 0 : 1}`),
    ],
  ]);
  for (const { number, value } of told) {
    for (const family of (value ?? '').split('\n\n')) {
      const lines = family.split('\n').filter((line) => line !== '');
      const head = lines.filter((line) => line.startsWith('#')).join('\n');
      const samples = lines.filter((line) => !line.startsWith('#')).map((line) => labelled(line, number));
      if (head !== '') families.set(head, [...(families.get(head) ?? []), ...samples]);
    }
  }
  return [...families].map(([head, samples]) => `${[head, ...samples].join('\n')}\n`).join('\n');
}

function labelled(line: string, number: number | null): string {
  const [, name, labels, value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return line;
  const all = [`process="${number}"`, ...(labels === undefined || labels === '' ? [] : [labels])];
  return `${name}{${all.join(',')}} ${value}`;
}
