import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mapped, type QuestionMap } from '../../src/features/search/questions/ranking/question_map.js';
import {
  FEATURE_NAMES,
  SCORE_RELATIVE_AT,
  WORD_FEATURE_NAMES,
} from '../../src/features/search/questions/ranking/turn_features.js';
import { CORPUS, type CorpusTalk, foldsOf, isSetAside, talksIn } from '../insights/corpus.js';
import { type Account, type AskedQuestion, TalkIndex } from './asked_accounts.js';
import { commonWords } from './common_words.js';
import { type AskedPair, randomOf, shuffled, trainMap } from './map_training.js';
import { type RecallFigures, type ReportedSet, reportOf } from './recall_report.js';
import { trainSoftmax } from './softmax_training.js';
import { DIMENSION, MODEL_NAME, TalkVectors, textsOf } from './talk_vectors.js';

/**
 * Learns how recall ranks turns, from the questions of the labelled talks. Nothing is learned from talks that are set aside;
 * figures of the others are of folds by batch. docs/search.md, "How recall ranks".
 */

export type RecallTraining = {
  /** The folder of the packages of the built-in model. */
  packages: string;
  /** Where vectors are kept between trainings. */
  kept?: string | undefined;
};

const SOURCES = fileURLToPath(new URL('../../../src/features/search/questions/ranking', import.meta.url));
const REPORT = fileURLToPath(new URL('../../../tools/recall/report.md', import.meta.url));
const FOLDS = 4;
const TALKS_OF_ACCOUNT = 20;
const TALKS_OF_BATCH = 24;
const SEED = 7;

export async function trainRecall({
  packages,
  kept = join(tmpdir(), 'recall_vectors'),
}: RecallTraining): Promise<void> {
  const talks = talksIn(CORPUS).filter(({ questions }) => questions.length > 0);
  const vectors = await TalkVectors.of(textsOf(talks), { kept, packages });
  const [learned, set_aside] = [talks.filter((talk) => !isSetAside(talk)), talks.filter(isSetAside)];
  const foldOf = foldsOf(learned, FOLDS);
  writeFileSync(
    join(SOURCES, '..', 'related', 'common_words.json'),
    `${JSON.stringify(commonWords(talksIn(CORPUS)))}\n`,
  );
  say(`${learned.length} talks are learned from, ${set_aside.length} are set aside`);
  const maps = Array.from({ length: FOLDS }, (_, fold) => {
    say(`map without fold ${fold + 1}`);
    return mapOf(
      learned.filter((talk) => foldOf(talk) !== fold),
      vectors,
    );
  });
  say('map');
  const map = rounded(mapOf(learned, vectors));
  const index = new TalkIndex(
    (text) => vectors.of(text),
    (talk, _, vector) => mapped(vector, isSetAside(talk) ? map : (maps[foldOf(talk)] as QuestionMap)),
  );
  const accounts: Record<string, Account[]> = {
    'an account a talk': learned.map((talk) => ({ talks: [talk], asked: [talk] })),
    'twenty talks in one account': groupsOf(shuffled(learned, randomOf(SEED)), TALKS_OF_ACCOUNT),
    'talks of one batch in one account': batchesOf(learned).flatMap((batch) => groupsOf(batch, TALKS_OF_BATCH)),
    'all in one account': [{ talks: learned, asked: learned.filter((_, at) => at % 4 === 0) }],
  };
  const unseen: Record<string, Account[]> = {
    'an account a talk': set_aside.map((talk) => ({ talks: [talk], asked: [talk] })),
    [`all ${set_aside.length} in one account`]: [{ talks: set_aside, asked: set_aside }],
  };
  const model: { words?: Float64Array; vectors?: Float64Array } = {};
  const sets: ReportedSet[] = [];
  for (const with_vectors of [true, false]) {
    const ask = async (of: Account[]) => {
      const found: AskedQuestion[] = [];
      for (const account of of) found.push(...(await index.ask(account, { with_vectors })));
      return found;
    };
    const asked: Record<string, AskedQuestion[]> = {};
    for (const [name, of] of Object.entries(accounts)) {
      asked[name] = await ask(of);
      say(`${name}: ${asked[name].length} questions`);
    }
    const learned_from = ['an account a talk', 'twenty talks in one account'].flatMap((name) => asked[name] ?? []);
    const weights = Array.from({ length: FOLDS }, (_, fold) =>
      weightsOf(learned_from.filter(({ talk }) => foldOf(talk) !== fold)),
    );
    const final = weightsOf(learned_from);
    model[with_vectors ? 'vectors' : 'words'] = final;
    const figuresOf = (of: AskedQuestion[], weightsFor: (talk: CorpusTalk) => Float64Array): RecallFigures =>
      of.map((question) => ({ question, weights: weightsFor(question.talk) }));
    for (const [name, of] of Object.entries(asked))
      sets.push({
        ...{ name, with_vectors, is_unseen: false },
        figures: figuresOf(of, (talk) => weights[foldOf(talk)] as Float64Array),
      });
    for (const [name, of] of Object.entries(unseen))
      sets.push({ ...{ name, with_vectors, is_unseen: true }, figures: figuresOf(await ask(of), () => final) });
    say(with_vectors ? 'learned with vectors' : 'learned without vectors');
  }
  const named = (names: readonly string[], of: Float64Array | undefined) =>
    Object.fromEntries(names.map((name, at) => [name, Math.round((of?.[at] ?? 0) * 1e4) / 1e4]));
  const stored = { words: named(WORD_FEATURE_NAMES, model.words), vectors: named(FEATURE_NAMES, model.vectors) };
  writeFileSync(join(SOURCES, 'recall_model.json'), `${JSON.stringify(stored, null, 2)}\n`);
  writeFileSync(join(SOURCES, 'question_map.json'), `${JSON.stringify(storedMap(map), null, 2)}\n`);
  writeFileSync(REPORT, reportOf(sets, { learned: learned.length, set_aside: set_aside.length }));
}

function weightsOf(asked: readonly AskedQuestion[]): Float64Array {
  const lists = asked
    .map(({ talk, transcript_id, answers, candidates, features }) => ({
      rows: features,
      is_answer: candidates.map((one) => (one.transcript_id === transcript_id && answers.has(one.at) ? 1 : 0)),
      weight: talk.questions.length > 0 ? 1 : 0,
    }))
    .filter(({ is_answer }) => is_answer.includes(1));
  return trainSoftmax(lists, { caution_at: SCORE_RELATIVE_AT });
}

function mapOf(talks: readonly CorpusTalk[], vectors: TalkVectors): QuestionMap {
  const turns = new Float32Array(talks.reduce((sum, talk) => sum + talk.turns.length, 0) * DIMENSION);
  const pairs: AskedPair[] = [];
  let from = 0;
  for (const talk of talks) {
    const to = from + talk.turns.length;
    for (const [at, { text }] of talk.turns.entries()) turns.set(vectors.unit(text), (from + at) * DIMENSION);
    const said = [
      ...talk.questions.map(({ q, turns: of }) => ({ text: q, of })),
      ...talk.labels.filter(({ gist }) => gist !== '').map(({ gist, turns: of }) => ({ text: gist, of })),
    ];
    for (const { text, of } of said) {
      const right = of.filter((n) => n >= 1 && n <= talk.turns.length).map((n) => from + n - 1);
      if (right.length > 0) pairs.push({ vector: vectors.unit(text), turns: right, from, to });
    }
    from = to;
  }
  return trainMap(pairs, turns, DIMENSION);
}

function batchesOf(talks: readonly CorpusTalk[]): CorpusTalk[][] {
  return [...new Set(talks.map(({ batch }) => batch))].map((batch) => talks.filter((talk) => talk.batch === batch));
}

/** Accounts of about so many talks each. */
function groupsOf(talks: readonly CorpusTalk[], size: number): Account[] {
  const count = Math.max(1, Math.round(talks.length / size));
  return Array.from({ length: count }, (_, group) => {
    const of = talks.filter((__, at) => at % count === group);
    return { talks: of, asked: of };
  });
}

type StoredNumbers = { scale: number; bytes: string };

/** As it is when it was stored. */
function rounded(map: QuestionMap): QuestionMap {
  const { factors, from, to } = map;
  return { factors: readBack(factors), from: readBack(from), to: readBack(to) };
}

function readBack(numbers: Float32Array): Float32Array {
  const { scale, bytes } = bytesOf(numbers);
  return Float32Array.from(new Int8Array(Buffer.from(bytes, 'base64')), (value) => value * scale);
}

function bytesOf(numbers: Float32Array): StoredNumbers {
  const most = numbers.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-9);
  const scale = most / 127;
  const bytes = Int8Array.from(numbers, (value) => Math.round(value / scale));
  return { scale, bytes: Buffer.from(bytes.buffer).toString('base64') };
}

function storedMap({ factors, from, to }: QuestionMap) {
  return {
    ...{ model: MODEL_NAME, dimension: DIMENSION },
    ...{ factors: bytesOf(factors), from: bytesOf(from), to: bytesOf(to) },
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
