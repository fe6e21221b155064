import { readFileSync } from 'node:fs';
import t from 'tap';
import { Block, encodeBlock } from '../../../src/domain/search/block.js';
import { stemmerOf } from '../../../src/domain/search/stemmers.js';
import { termsIn } from '../../../src/domain/search/words.js';
import { SharedWords, tellingWords } from '../../../src/features/search/questions/related/shared_words.js';
import { CORPUS, isSetAside, talksIn } from '../../../tools/insights/corpus.js';
import { commonWords, halvesOf } from '../../../tools/recall/common_words.js';

/** How well the other half of a talk is found, among halves of other talks. */

const talks = talksIn(CORPUS);
const stemmer = stemmerOf('en');
const halves = halvesOf(talks).map(({ talk, texts }, at) => {
  const said = texts.map((text, serial) => ({
    ...{ serial, start_ms: serial * 1_000, speaker: 0, stemmer },
    said: termsIn(text, stemmer),
  }));
  const block = new Block(encodeBlock({ begins_at_ms: 0, source_id: null }, said));
  return {
    id: String(at),
    talk,
    words: tellingWords(texts.map((text) => ({ text, language: 'en' }))),
    page: { page: 0, block },
  };
});
type Half = (typeof halves)[number];

/** Of these halves: which found the other one first, showed it among three, and showed another one first. */
function counted(asked: readonly Half[], among: readonly Half[]) {
  let [first, shown, wrong] = [0, 0, 0];
  for (const half of asked) {
    const shared = new SharedWords(half.words);
    for (const other of among) if (other !== half) shared.add(other.id, other.page);
    const found = [...shared.related().keys()].slice(0, 3).map((id) => halves[Number(id)]?.talk);
    if (found[0] === half.talk) first += 1;
    if (found.includes(half.talk)) shown += 1;
    if (found[0] !== undefined && found[0] !== half.talk) wrong += 1;
  }
  const percent = (count: number) => Math.round((100 * count) / asked.length);
  return { first: percent(first), shown: percent(shown), wrong: percent(wrong), of: asked.length };
}

t.test('K-277 the other half of a talk is found among all, and seldom something else', (t) => {
  const aside = counted(
    halves.filter(({ talk }) => isSetAside(talk)),
    halves,
  );
  t.comment('set aside, among all', aside);
  t.comment(
    'the others, among all',
    counted(
      halves.filter(({ talk }) => !isSetAside(talk)),
      halves,
    ),
  );
  const few = Array.from({ length: 40 }, (_, n) => {
    const some = new Set(Array.from({ length: 4 }, (_, k) => halves[((n * 37 + k * 101) * 2) % halves.length]?.talk));
    return halves.filter(({ talk }) => some.has(talk));
  });
  const small = few.map((among) => ({ ...counted(among, among), halves: among.length }));
  const mean = (of: (one: (typeof small)[number]) => number) =>
    Math.round(small.reduce((sum, one) => sum + of(one), 0) / small.length);
  t.comment('in accounts of four talks', {
    first: mean(({ first }) => first),
    shown: mean(({ shown }) => shown),
    wrong: mean(({ wrong }) => wrong),
  });
  t.ok(aside.shown >= 40, 'shown');
  t.ok(aside.wrong <= 15, 'something else first');
  t.end();
});

t.test('which words are common is what the corpus says', (t) => {
  const file = new URL('../../../../src/features/search/questions/related/common_words.json', import.meta.url);
  t.same(JSON.parse(readFileSync(file, 'utf8')), commonWords(talks), 'npm run spool -- train_recall writes it anew');
  t.end();
});
