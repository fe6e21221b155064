/**
 * Divides speech that was written without punctuation, where a new clause begins: at a word that opens an utterance, or at
 * a subject with its verb that nothing before it governs.
 */

/** Said by themselves, or before a clause. */
const OPENERS = new Set(
  'okay ok right yes yeah yep no nope oh well good great fine perfect sure thanks alright anyway sorry wait really hello hi bye'.split(
    ' ',
  ),
);
const CONJUNCTIONS = new Set(['and', 'but', 'so', 'or', 'then', 'because']);
/** Words after which a clause belongs to what is before it. */
const GOVERNING = new Set(
  `that if because when whenever where who whom whose which what how why whether than as until till before after since while though although unless once
think know knew thought say says said hope guess mean believe suppose wish see saw hear heard tell told told's sure afraid promise promised
is are was were be been am the a an my your his her our their its this these those some any every each no not to of in on at by for from with into about like
i we he she they i'm you're we're they're just even maybe perhaps still really also only very one all everything anything something thing way time first last next
there here how's what's where's who's when's`.split(/\s+/),
);
/** A subject and its verb in one word, or a word that begins a request or a question. */
const SUBJECT_VERBS = new Set(
  `i'll i'd i'm i've we'll we'd we've we're let's they'll you'll he'll she'll it'll don't`.split(/\s+/),
);
const LIGHT_SUBJECT_VERBS = new Set(`it's there's he's she's they're`.split(/\s+/));
const TIME_OR_KIND = new Set(['time', 'kind', 'sort']);
const OPINIONS = new Set(['think', 'guess', 'suppose', 'reckon']);
const SUBJECTS = new Set(['i', 'we', 'you', 'they', 'he', 'she', 'it', 'somebody', 'someone', 'everybody', 'nobody']);
const THIRD_PERSONS = new Set(['he', 'she', 'they']);
const AUXILIARIES = new Set(
  `will would can could shall should may might must have has had need needs want wants do does did don't didn't can't won't was were am are is get gets`.split(
    /\s+/,
  ),
);
const ASKING = new Set(
  'can could will would shall should do does did is are was were has have what who when where why how'.split(' '),
);
const QUESTION_WORDS = new Set('what who when where why how'.split(' '));
const SETTLED = new Set(
  'settled it decided fine all right true enough done too not a the what how why great good okay perfect'.split(' '),
);
const CONDITIONS = new Set(['if', 'when', 'once', 'unless', 'while']);
const CONDITION_WORDS_MAX = 9;
/** A clause has at least so many words. */
const CLAUSE_WORDS_MIN = 2;
/** A clause of more words is divided where one may begin, into parts of at least so many. */
const CLAUSE_WORDS_MAX = 26;
const PART_WORDS_MIN = 5;
const PART_BEGINS = new Set(
  `and but so or then because also plus oh okay right i we he she they you it's that's there's i'm i've it the what which who`.split(
    ' ',
  ),
);

type ClauseWord = { word: string; from: number };
/** Where the clause so far begins. */
type ClauseStart = { since: number; names: ReadonlySet<string> };

/** Where each clause begins and ends. `names`: first names of speakers, in lower case. */
export function splitClauses(text: string, names: ReadonlySet<string>): [number, number][] {
  const words = [...text.matchAll(/\S+/gu)].map(
    (found): ClauseWord => ({
      word: found[0]
        .toLowerCase()
        .replaceAll('’', "'")
        .replace(/[^\p{L}\p{N}']/gu, ''),
      from: found.index,
    }),
  );
  const starts = [0];
  let since = 0;
  for (let at = 1; at < words.length; at++) {
    if (at - since < CLAUSE_WORDS_MIN && !isOpener(words, since, at)) continue;
    // A name before a request goes with the request.
    if (
      names.has(words[at - 1]?.word ?? '') &&
      (at - since === 1 || (at - since === 2 && CONJUNCTIONS.has(words[since]?.word ?? '')))
    )
      continue;
    if (!startsClause(words, at, { since, names }) && !namesSomebody(words, at, names)) continue;
    // A condition and what follows from it are one sentence.
    if (hasCondition(words, since, at)) continue;
    starts.push(at);
    since = at;
  }
  const parts = starts.flatMap((from, at) => partsOf(words, from, starts[at + 1] ?? words.length));
  const places = parts.map((at) => words[at]?.from ?? 0);
  return places.map((from, at) => [from, places[at + 1] ?? text.length]);
}

/** Where a clause begins, and where it is divided if it is too long: at the word nearest its middle that may begin one. */
function partsOf(words: readonly ClauseWord[], from: number, to: number): number[] {
  if (to - from <= CLAUSE_WORDS_MAX) return [from];
  const middle = (from + to) / 2;
  let best: number | null = null;
  for (let at = from + PART_WORDS_MIN; at <= to - PART_WORDS_MIN; at++) {
    const begins = PART_BEGINS.has(words[at]?.word ?? '') && !GOVERNING.has(words[at - 1]?.word ?? '');
    if (begins && (best === null || Math.abs(at - middle) < Math.abs(best - middle))) best = at;
  }
  return best === null ? [from] : [...partsOf(words, from, best), ...partsOf(words, best, to)];
}

/** Whether the clause so far is a condition, and the one that begins is the first after it. */
function hasCondition(words: readonly ClauseWord[], since: number, at: number): boolean {
  const first = words[since]?.word ?? '';
  const opener = CONJUNCTIONS.has(first) ? (words[since + 1]?.word ?? '') : first;
  return CONDITIONS.has(opener) && at - since <= CONDITION_WORDS_MAX;
}

/** A name before what is asked of its bearer. */
function namesSomebody(words: readonly ClauseWord[], at: number, names: ReadonlySet<string>): boolean {
  const [word = '', next = '', after = ''] = words.slice(at, at + 3).map((one) => one.word);
  return names.has(word) && (next === 'you' || next === 'please' || (ASKING.has(next) && after === 'you'));
}

function isOpener(words: readonly ClauseWord[], since: number, at: number): boolean {
  return at === since + 1 && OPENERS.has(words[since]?.word ?? '');
}

function startsClause(words: readonly ClauseWord[], at: number, { since, names }: ClauseStart): boolean {
  const wordAt = (index: number) => words[index]?.word ?? '';
  const [before, word, next, after] = [wordAt(at - 1), wordAt(at), wordAt(at + 1), wordAt(at + 2)];
  if (/[.?!]$/.test(before)) return true;
  // A conjunction goes with the clause that it opens.
  if (CONJUNCTIONS.has(word)) {
    const opens = CONDITIONS.has(next) || opensAt(next, after, wordAt(at + 3)) || namesSomebody(words, at + 1, names);
    return at - since > CLAUSE_WORDS_MIN && opens && !GOVERNING.has(before);
  }
  if (CONJUNCTIONS.has(before) || GOVERNING.has(before) || AUXILIARIES.has(before)) return false;
  if (OPENERS.has(before) && at - since === 1) return opensAt(word, next, after);
  return opensAt(word, next, after);
}

/** Whether these words begin a clause. */
function opensAt(word: string, next: string, after: string): boolean {
  if (SUBJECT_VERBS.has(word)) return word !== "don't" || /^(?:forget|worry|tell|let)$/.test(next);
  if (LIGHT_SUBJECT_VERBS.has(word)) return true;
  if (word === "that's") return SETTLED.has(next);
  if (word === 'please' || word === 'remember') return word === 'remember' || next !== '';
  if (word === 'i' && OPINIONS.has(next)) return SUBJECT_VERBS.has(after) || SUBJECTS.has(after);
  if (SUBJECTS.has(word)) return after !== '' && (AUXILIARIES.has(next) || THIRD_PERSONS.has(word));
  if (word === 'what' && TIME_OR_KIND.has(next)) return true;
  if (QUESTION_WORDS.has(word)) return /^(?:about|if|is|are|was|do|does|did|can|will|would|should)$/.test(next);
  if (ASKING.has(word)) return SUBJECTS.has(next) && after !== '';
  return false;
}
