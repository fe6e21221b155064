/** Scores what was made of a labelled conversation: matching is by turn, not by sense. */

const STOP = new Set(
  `a an the and or but so if then than that this these those there here it its is are was were be been am do does did done have has had having
  i me my we us our you your he him his she her they them their who whom what which when where why how to of in on at by for from with without into onto over up
  off out as about not no yes okay oh um uh well just very really can could will would shall should may might must let lets go going get got please one's s t ll m re ve d
  whether before after until again some any all both each every also too more most only own same`.split(/\s+/),
);
const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const ORDINALS =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth'.split(
    ' ',
  );
const NUMBERS = new Map<string, number>([
  ...UNITS.map((word, n): [string, number] => [word, n]),
  ...ORDINALS.map((word, n): [string, number] => [word, n]),
  ['twenty', 20],
  ['twentieth', 20],
  ['thirty', 30],
  ['thirtieth', 30],
  ['fortnight', 14],
]);

/** A labelled conversation. `due`: a day, a minute, or two days with a stroke between. */
export type LabelledItem = { turns: number[]; gist: string; owner: string | null; due: string | null };
export type Conversation = {
  id: string;
  captured_at: string;
  time_zone: string;
  speakers: Record<string, string>;
  turns: { n: number; speaker: string; text: string }[];
  labels: {
    tasks: LabelledItem[];
    decisions: LabelledItem[];
    open_questions: LabelledItem[];
    reminders: LabelledItem[];
    not_items: number[];
    optional: number[];
    title_words: string[];
    summary_must: { turns: number[]; gist: string }[];
    summary_must_not: { turns: number[]; gist: string }[];
  };
  questions: { q: string; turns: number[] }[];
};
/** `results`: of each passage the numbers of its turns. */
export type Made = {
  title: string | null;
  summary: string | null;
  suggestions: MadeItem[];
  recall: { q: string; results: number[][] }[];
};
export type MadeItem = {
  kind: string;
  text: string;
  turns: number[];
  owner: string | null;
  due_at: string | null;
};
type ScoredLabel = LabelledItem & { kind: string; group: string };

/** Content words of a text in a plain form; "twenty second" and "22nd" are the same. */
export function stems(text: string | null): string[] {
  const words =
    String(text ?? '')
      .toLowerCase()
      .replace(/[’‘]/g, "'")
      .match(/[\p{L}\p{N}']+/gu) ?? [];
  const out: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    let word = (words[at] as string).replace(/'s$|'$/g, '');
    const digits = /^(\d+)(?:st|nd|rd|th)?$/.exec(word);
    if (digits) {
      out.push(String(Number(digits[1])));
      continue;
    }
    if (NUMBERS.has(word)) {
      let n = NUMBERS.get(word) as number;
      const next = NUMBERS.get(words[at + 1]?.replace(/'s$/, '') ?? '') ?? 0;
      if ((n === 20 || n === 30) && word.endsWith('y') && next > 0 && next < 10) {
        n += next;
        at += 1;
      }
      if (word === 'one') continue;
      out.push(String(n));
      continue;
    }
    word = word.replace(/'/g, '');
    if (STOP.has(word) || STOP.has(words[at] as string)) continue;
    if (word.length > 4)
      word = word.replace(/(?:ing|ies|ied|ed|es|s|ly)$/, (end) => (end.startsWith('i') && end !== 'ing' ? 'y' : ''));
    else if (word.length > 3) word = word.replace(/s$/, '');
    out.push(word.replace(/e$/, '').replace(/(.)\1$/, '$1'));
  }
  return out;
}
/** The part of some stems that stand among others; 0 where there are none. */
export function shareIn(part: readonly string[], whole: readonly string[]): number {
  const own = [...new Set(part)];
  const there = new Set(whole);
  return own.length === 0 ? 0 : own.filter((one) => there.has(one)).length / own.length;
}
const sentences = (text: string | null) => (text ?? '').split(/(?<=[.?!])\s+|\n+/).filter(Boolean);

const GROUP: Record<string, string> = {
  task: 'todo',
  follow_up: 'todo',
  reminder: 'todo',
  decision: 'decision',
  question: 'question',
};

function labelsOf({ labels }: Conversation): ScoredLabel[] {
  return [
    ...labels.tasks.map((one) => ({ ...one, kind: 'task', group: 'todo' })),
    ...labels.reminders.map((one) => ({ ...one, kind: 'reminder', group: 'todo' })),
    ...labels.decisions.map((one) => ({ ...one, kind: 'decision', group: 'decision' })),
    ...labels.open_questions.map((one) => ({ ...one, kind: 'question', group: 'question' })),
  ];
}

/** The most pairs of a suggestion and a label, each at most once (augmenting paths; what says more of the gist comes first). */
function pairs(
  suggestions: readonly MadeItem[],
  labels: readonly ScoredLabel[],
  fits: (suggestion: MadeItem, label: ScoredLabel) => boolean,
) {
  const choices = suggestions.map((suggestion) =>
    labels
      .map((label, at) => ({ at, label, like: shareIn(stems(label.gist), stems(suggestion.text)) }))
      .filter(({ label }) => fits(suggestion, label))
      .sort((a, b) => b.like - a.like)
      .map(({ at }) => at),
  );
  const taken = new Map<number, number>();
  const place = (own: number, seen: Set<number>): boolean => {
    for (const at of choices[own] as number[]) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (!taken.has(at) || place(taken.get(at) as number, seen)) {
        taken.set(at, own);
        return true;
      }
    }
    return false;
  };
  for (const own of suggestions.keys()) place(own, new Set());
  return [...taken].map(([label, suggestion]) => ({ label, suggestion }));
}

const touches = (suggestion: Pick<MadeItem, 'turns'>, label: Pick<LabelledItem, 'turns'>) =>
  suggestion.turns.some((n) => label.turns.includes(n));

function localOf(iso: string, zone: string) {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
      .formatToParts(new Date(iso))
      .map(({ type, value }) => [type, value]),
  );
  return { day: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` };
}

/** right, wrong, missing; for labels without a due time: none, invented. */
function dueVerdict(label: LabelledItem, suggestion: MadeItem, zone: string) {
  if (label.due === null) return suggestion.due_at ? 'invented' : 'none';
  if (!suggestion.due_at) return 'missing';
  const got = localOf(suggestion.due_at, zone);
  const [from = '', to] = label.due.split('/');
  if (to !== undefined) return got.day >= from && got.day <= to ? 'right' : 'wrong';
  const [day, time] = from.split('T');
  return got.day === day && (time === undefined || got.time === time.slice(0, 5)) ? 'right' : 'wrong';
}

/** Whoever is no speaker can be no contact: nobody is right for them as well. */
function ownerVerdict(label: LabelledItem, suggestion: MadeItem, speakers: Record<string, string>) {
  const known = Object.values(speakers);
  const got = suggestion.owner ?? null;
  if (label.owner === null || !known.includes(label.owner))
    return got === null || got === label.owner ? 'right' : 'wrong';
  return got === null ? 'missing' : got === label.owner ? 'right' : 'wrong';
}

const count = (list: readonly string[], what: string) => list.filter((one) => one === what).length;

export function score(conversation: Conversation, result: Made) {
  const labels = labelsOf(conversation);
  const optional = conversation.labels.optional;
  const suggestions = result.suggestions.filter(
    (one) => labels.some((label) => touches(one, label)) || !one.turns.some((n) => optional.includes(n)),
  );
  const saidIn = (turns: readonly number[]) =>
    turns.map((n) => conversation.turns.find((turn) => turn.n === n)?.text ?? '').join(' ');
  const right = pairs(suggestions, labels, (one, label) => GROUP[one.kind] === label.group && touches(one, label));
  const rightOnes = new Set(right.map(({ suggestion }) => suggestion));
  const wrong = suggestions.flatMap((one, at) => {
    if (rightOnes.has(at)) return [];
    const near = labels.filter((label) => touches(one, label));
    const why =
      one.turns.length === 0
        ? 'no turn'
        : near.some((label) => GROUP[one.kind] === label.group)
          ? 'said twice'
          : near.length
            ? `is a ${near[0]?.kind}`
            : one.turns.some((n) => conversation.labels.not_items.includes(n))
              ? 'trap'
              : 'nothing there';
    return [{ ...one, why }];
  });
  const found = new Set(right.map(({ label }) => label));
  const kinds = Object.fromEntries(
    ['task', 'reminder', 'decision', 'question'].map((kind) => {
      const own = labels.map((label, at) => ({ label, at })).filter(({ label }) => label.kind === kind);
      return [kind, { of: own.length, found: own.filter(({ at }) => found.has(at)).length }];
    }),
  );
  const todo = right
    .filter(({ label }) => labels[label]?.group === 'todo')
    .map(({ label, suggestion }) => ({
      label: labels[label] as ScoredLabel,
      suggestion: suggestions[suggestion] as MadeItem,
    }));
  const dues = todo.map(({ label, suggestion }) => dueVerdict(label, suggestion, conversation.time_zone));
  const owners = todo
    .filter(({ label }) => label.kind === 'task' || label.owner !== null)
    .map(({ label, suggestion }) => ownerVerdict(label, suggestion, conversation.speakers));
  const clear = right.filter(
    ({ label, suggestion }) =>
      shareIn(stems(labels[label]?.gist ?? ''), stems(suggestions[suggestion]?.text ?? '')) >= 0.5,
  ).length;

  const title = stems(result.title);
  const titleHits = conversation.labels.title_words.filter((word) =>
    stems(word).every((stem) => title.includes(stem)),
  ).length;
  const summary = stems(result.summary);
  const quoted = (turns: readonly number[]) =>
    turns.some((n) => {
      const own = stems(saidIn([n]));
      return (
        own.length >= 3 &&
        sentences(result.summary).length > 0 &&
        shareIn(own, summary) >= 0.8 &&
        String(result.summary)
          .toLowerCase()
          .includes(saidIn([n]).toLowerCase().slice(0, 25))
      );
    });
  const must = conversation.labels.summary_must.map((one) => ({
    ...one,
    there: quoted(one.turns) || shareIn(stems(one.gist), summary) >= 0.6,
  }));
  const AGAINST =
    /\b(?:not|no|never|n't|rather than|instead of|reject\w*|against|turned down|dropped|ruled out|declined)\b|n['’]t\b/i;
  const violations = conversation.labels.summary_must_not.filter(
    (one) =>
      quoted(one.turns) ||
      sentences(result.summary).some(
        (sentence) =>
          !AGAINST.test(sentence) && stems(one.gist).length > 1 && shareIn(stems(one.gist), stems(sentence)) >= 0.8,
      ),
  );

  const rankOf = (results: readonly number[][], turns: readonly number[]) =>
    results.findIndex((own) => own.some((n) => turns.includes(n))) + 1;
  const asked = conversation.questions.map(({ q, turns }) => {
    const got = result.recall.find((one) => one.q === q);
    return {
      q,
      turns,
      rank: rankOf(got?.results ?? [], turns),
      items: got?.results?.length ?? 0,
    };
  });
  const at = (most: number) => asked.filter(({ rank }) => rank > 0 && rank <= most).length;
  return {
    id: conversation.id,
    labels: labels.length,
    suggestions: suggestions.length,
    right: right.length,
    kinds,
    clear,
    twice: wrong.filter((one) => one.why === 'said twice').length,
    traps: wrong.filter((one) => one.why === 'trap').length,
    traps_of: conversation.labels.not_items.length,
    owner: {
      right: count(owners, 'right'),
      missing: count(owners, 'missing'),
      wrong: count(owners, 'wrong'),
      of: owners.length,
    },
    due: {
      right: count(dues, 'right'),
      missing: count(dues, 'missing'),
      wrong: count(dues, 'wrong'),
      of: dues.filter((one) => one !== 'none' && one !== 'invented').length,
      invented: count(dues, 'invented'),
    },
    title: {
      text: result.title ?? null,
      of: conversation.labels.title_words.length > 1 ? 1 : 0,
      good: titleHits >= 2,
    },
    summary: {
      must: must.filter((one) => one.there).length,
      of: must.length,
      violations: violations.length,
      forbidden: conversation.labels.summary_must_not.length,
    },
    questions: {
      of: asked.length,
      at1: at(1),
      at3: at(3),
      at8: at(8),
      nothing: asked.filter((one) => one.items === 0).length,
    },
    details: {
      missed: labels.flatMap((label, place) =>
        found.has(place) ? [] : [{ kind: label.kind, gist: label.gist, said: saidIn(label.turns) }],
      ),
      wrong: wrong.map(({ kind, text, turns, why }) => ({ kind, text, turns, why })),
      found: right.map(({ label, suggestion }) => ({
        kind: labels[label]?.kind,
        as: suggestions[suggestion]?.kind,
        text: suggestions[suggestion]?.text,
        gist: labels[label]?.gist,
        owner: [suggestions[suggestion]?.owner, labels[label]?.owner],
        due: [suggestions[suggestion]?.due_at, labels[label]?.due],
      })),
      violated: violations.map(({ gist }) => gist),
      unsaid: must.filter((one) => !one.there).map(({ gist }) => gist),
      asked,
    },
  };
}

export type Score = ReturnType<typeof score>;

/** All of several conversations as if they were one. */
export function total(scores: readonly Score[]) {
  const sum = (read: (one: Score) => number) => scores.reduce((all, one) => all + read(one), 0);
  const sums = <Key extends string>(read: (one: Score) => Record<Key, number>) => {
    const [first] = scores;
    const keys = first === undefined ? [] : (Object.keys(read(first)) as Key[]);
    return Object.fromEntries(keys.map((key) => [key, sum((one) => read(one)[key])])) as Record<Key, number>;
  };
  const kind = (name: string) => sums(({ kinds }) => kinds[name] ?? { of: 0, found: 0 });
  return {
    ...sums(({ labels, suggestions, right, clear, twice, traps }) => ({
      ...{ labels, suggestions, right, clear, twice, traps },
    })),
    traps_of: sum(({ traps_of }) => traps_of),
    kinds: { task: kind('task'), decision: kind('decision'), question: kind('question'), reminder: kind('reminder') },
    owner: sums(({ owner }) => owner),
    due: sums(({ due }) => due),
    title: { good: sum(({ title }) => Number(title.good)), of: sum(({ title }) => title.of) },
    summary: sums(({ summary }) => summary),
    questions: sums(({ questions }) => questions),
  };
}
