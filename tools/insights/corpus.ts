import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Labelled talks: docs/insights.md, "The corpus". */

export type LabelKind = 'task' | 'decision' | 'question' | 'reminder' | 'trap' | 'optional';
/** `turns`: those that it spans, by number; it becomes an item with the last one. */
export type Label = { kind: LabelKind; turns: number[]; owner?: string; due?: string; gist: string };
export type CorpusTurn = { n: number; speaker: string; text: string };
/** A point that a summary must say, or must not. `turns`: those that say it. */
export type Point = { gist: string; turns: number[] };
export type CorpusTalk = {
  id: string;
  /** Talks of one batch have one manner. */
  batch: string;
  /** Words and terms, of which a good title has two. */
  title: string[];
  /** A title that somebody would give. */
  name: string | null;
  at: string;
  zone: string;
  speakers: Record<string, string>;
  turns: CorpusTurn[];
  labels: Label[];
  must: string[];
  must_not: Point[];
  questions: { q: string; turns: number[] }[];
};

export const CORPUS = fileURLToPath(new URL('../../../tools/insights/corpus', import.meta.url));
/** Talks of which this byte of the id's SHA-256 is below the bound are never learned from: a tenth of them. */
const SET_ASIDE_BELOW = 26;
const LABEL = /\{(task|decision|open|reminder|trap|optional)\b([^}]*)\}/g;
const MARK = /\[(q\d+)\w?\]/g;

/** Whether nothing is learned from a talk, nor chosen by it: it only says how good the model is. */
export function isSetAside({ id }: Pick<CorpusTalk, 'id'>): boolean {
  return (createHash('sha256').update(id).digest()[0] ?? 0) < SET_ASIDE_BELOW;
}

/** Deals whole batches to folds, so that no talk is scored by what others of its manner teach. */
export function foldsOf(talks: readonly CorpusTalk[], count: number): (talk: CorpusTalk) => number {
  const batches = [...new Set(talks.map(({ batch }) => batch))].sort();
  return ({ batch }) => batches.indexOf(batch) % count;
}

/** All talks of a folder, by name; a line of `=` stands between talks of one file. Throws for a line that cannot be read. */
export function talksIn(folder: string): CorpusTalk[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.talk'))
    .sort()
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split(/^={3,}$/m)
        .map((text) => talkOf(text, name)),
    );
}

function talkOf(text: string, name: string): CorpusTalk {
  const talk: CorpusTalk = {
    ...{ id: name.replace(/\.talk$/, ''), batch: name.charAt(0), title: [], name: null, at: '', zone: 'UTC' },
    ...{ speakers: {}, turns: [], labels: [], must: [], must_not: [], questions: [] },
  };
  const marks = new Map<string, number[]>();
  const asked: { id: string; at: string | undefined; q: string }[] = [];
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, key = '', numbers, value = ''] = /^(\w+)(?:@([\d,\s]+))?:\s*(.*)$/.exec(line) ?? [];
    const speaker = /^([A-Z]\w?)\s*=\s*(.*)$/.exec(line);
    if (/^[A-Z]\w?$/.test(key) && numbers === undefined) addTurn(talk, key, value, marks);
    else if (key === 'id') talk.id = value;
    else if (key === 'title') talk.title = value.split(',').map((word) => word.trim());
    else if (key === 'name') talk.name = value;
    else if (key === 'at') [talk.at = '', talk.zone = 'UTC'] = value.split(/\s+/);
    else if (key === 'must') talk.must.push(value);
    else if (key === 'mustnot') talk.must_not.push({ gist: value, turns: numbersIn(numbers) });
    else if (/^q\d+$/.test(key)) asked.push({ id: key, at: numbers, q: value });
    else if (speaker !== null) talk.speakers[speaker[1] as string] = speaker[2] as string;
    else throw new Error(`${name}, line ${at + 1}: neither a header, a turn nor a question`);
  }
  for (const { id, at, q } of asked) {
    const turns = at === undefined ? (marks.get(id) ?? []) : numbersIn(at);
    if (turns.length > 0) talk.questions.push({ q, turns });
  }
  return talk;
}

function addTurn(talk: CorpusTalk, speaker: string, value: string, marks: Map<string, number[]>): void {
  const n = talk.turns.length + 1;
  const text = value
    .replace(LABEL, (_, kind: string, rest: string) => {
      talk.labels.push(labelOf(kind, rest, n));
      return '';
    })
    .replace(MARK, (_, id: string) => {
      marks.set(id, [...(marks.get(id) ?? []), n]);
      return '';
    });
  talk.turns.push({ n, speaker, text: text.replace(/\s+/g, ' ').trim() });
}

function labelOf(kind: string, rest: string, n: number): Label {
  const given = new Map(
    [...rest.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map((one) => [one[1], one[2] ?? one[3] ?? '']),
  );
  const from = Math.max(1, n + Number(given.get('from') ?? 0));
  const [owner, due] = [given.get('owner'), given.get('due')];
  return {
    kind: kind === 'open' ? 'question' : (kind as LabelKind),
    turns: Array.from({ length: n - from + 1 }, (_, at) => from + at),
    gist: given.get('gist') ?? '',
    ...(owner === undefined || owner === 'none' ? {} : { owner }),
    ...(due === undefined ? {} : { due }),
  };
}

function numbersIn(list: string | undefined): number[] {
  return (list ?? '').split(',').flatMap((one) => (one.trim() === '' ? [] : [Number(one)]));
}
