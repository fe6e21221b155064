import { contextOf, withContext } from './context_words.js';
import type { Dialogue, DialogueSentence } from './dialogue.js';
import type { FoundItem } from './found_item.js';
import { matterWords } from './item_text.js';
import { commitmentIn, requestIn } from './speech_forms.js';

/** Open questions: those to which somebody says that nobody knows, or that it stays open. */

const FILLERS =
  "(?:(?:oh|um+|uh+|hm+|mm+|er+m*|well|okay|and|but|ah|good question|honestly|i honestly|to be honest|sorry|yeah|yes|no|then|right|that's a good question|it could(?: be)?|could be|maybe|perhaps|possibly),?[.!]? )*";
const NOBODY_KNOWS = new RegExp(
  `^${FILLERS}(?:no idea|no clue|i(?: really| honestly| still| just)? don't know|i(?: really| honestly)? do not know|don't know|dunno|not sure|i'm not sure|we don't know|nobody knows|no one knows|good question|i hadn't thought|i haven't thought|haven't thought|hard to say|i can't (?:say|tell)|can't say|i couldn't (?:say|tell)|it depends|that depends|depends|we'll know more|not decided|undecided|we haven't (?:decided|settled)|nothing (?:yet|decided|settled)|ask me (?:again|later|tomorrow)|i'd have to (?:check|ask|look)|that's (?:still )?(?:open|the question|unclear|not clear)|still open|we'll have to (?:see|think)|let me think about|who knows|(?:we|i)(?: still|'d| would|'ll| will|'ll still)* (?:need|have) to (?:find (?:that |it )?out|check|ask|clarify|look into|decide)|nobody (?:has |ever )?(?:told|said|knows|asked)|haven't (?:heard|thought|asked|decided)|(?:we|i|they) haven't (?:heard|asked|been told)|remains to be seen|no news|i wish (?:i|we) knew|(?:we're|i'm|still) waiting|nothing (?:so far|yet)|it's (?:not|still not) (?:clear|decided|sure)|that's not (?:clear|decided|sure)|it isn't (?:clear|decided)|no \\S+(?: \\S+)? yet)\\b`,
);
/** Leaves a question open where nothing follows. */
const TIME_TELLS = new RegExp(
  `^${FILLERS}(?:we'll|we will|let's|i'll|you'll) (?:see|find out|have to wait)\\b(?! you)`,
);
const STAYS_OPEN =
  /\b(?:leave (?:it|that|this|them) open|leaves? (?:it|that) open|(?:that|it|this)(?:'s| is|'ll be| will be| stays| remains)(?: still)? (?:open|to be decided|undecided|up in the air)|(?:still|yet) (?:to be decided|undecided|unresolved)|open (?:question|point|for now)|come back to that|park (?:it|that)|we'll (?:see|decide) (?:then|later|about that)|(?:decide|sort|figure|work|talk|think|discuss|settle|look) (?:\w+ ){0,4}(?:later|another time|some other time|next time))\b/;
/** A question that is none: asked for the sake of talk. */
const NO_QUESTION =
  /^(?:(?:and|but|so|oh),? )*(?:really|what|pardon|sorry|right|okay|anything else|is that (?:everything|all)|you know what|guess what|can you (?:hear|see)|are you (?:serious|kidding|there)|why me|is everybody|shall we start)\b[^a-z]*$/;
/** A thought that is not ended: "and if she can't". */
const UNENDED = /^(?:(?:but|and|so),? )*(?:what )?if\b/;
const BACK_SENTENCES_MAX = 6;
const WORDS_MIN = 3;
const ANSWER_SENTENCES_MAX = 4;
const SOLVED_SENTENCES_MAX = 8;

export class OpenQuestionFinder {
  readonly items: FoundItem[] = [];
  readonly #dialogue: Dialogue;
  readonly #used = new Set<number>();

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  look(sentence: DialogueSentence): void {
    if (sentence.said === '' || this.#used.has(sentence.place)) return;
    if (STAYS_OPEN.test(sentence.said)) this.#staysOpen(sentence);
    else this.#ask(sentence);
  }

  #ask(sentence: DialogueSentence): void {
    const is_unended =
      UNENDED.test(sentence.said) && this.#dialogue.rest(sentence).length === 0 && !/[.!]$/.test(sentence.text);
    if (!(sentence.is_question || is_unended || this.#isUnmarked(sentence)) || NO_QUESTION.test(sentence.said)) return;
    if (sentence.said.split(' ').length < WORDS_MIN || (matterWords(sentence.lower).length === 0 && !is_unended))
      return;
    // Nobody says anything any more.
    if (
      matterWords(sentence.lower).length > 1 &&
      this.#dialogue.replies(sentence, 1).length === 0 &&
      sentence.is_question &&
      requestIn(sentence.lower) === null
    ) {
      this.#add(sentence, []);
      return;
    }
    const answer = this.#unanswered(sentence);
    if (answer !== null && !this.#isSolved(sentence, answer)) this.#add(sentence, [answer]);
  }

  /** Without punctuation, "no idea" shows that the sentence before was a question. */
  #isUnmarked(sentence: DialogueSentence): boolean {
    if (sentence.is_punctuated || this.#dialogue.rest(sentence).length > 0) return false;
    const [reply] = this.#dialogue.replies(sentence, 1);
    return /^(?:no (?:idea|clue)|dunno)\b/.test(reply?.[0]?.said ?? '');
  }

  /** Who says that nobody knows, in the next words of somebody else. */
  #unanswered(question: DialogueSentence): DialogueSentence | null {
    // A question that its speaker goes on from, to another one, is not what is answered.
    if (this.#dialogue.rest(question).some(({ is_question }) => is_question)) return null;
    const [reply] = this.#dialogue.replies(question, 1);
    const found =
      reply?.slice(0, ANSWER_SENTENCES_MAX).find(({ said }) => NOBODY_KNOWS.test(said)) ??
      reply?.slice(0, 2).find((one) => one === reply.at(-1) && TIME_TELLS.test(one.said));
    if (found === undefined || reply === undefined) return null;
    // "I don't know, sixty": an answer all the same. What is told before it is an answer as well.
    const earlier = reply.slice(0, reply.indexOf(found));
    const is_told = earlier.some(
      ({ said, is_question }) => !is_question && said.split(' ').length > 4 && !NOBODY_KNOWS.test(said),
    );
    return is_told ? null : found;
  }

  /** Somebody takes what nobody had: "who does it" is answered by "I can". */
  #isSolved(question: DialogueSentence, { place }: DialogueSentence): boolean {
    if (!/^(?:(?:and|but|so),? )*who\b/.test(question.said)) return false;
    const after = this.#dialogue.sentences.slice(place + 1, place + 1 + SOLVED_SENTENCES_MAX);
    return after.some(({ lower, is_question }) => {
      const commitment = is_question ? null : commitmentIn(lower);
      return commitment !== null && commitment.strength !== 'would' && !/\bbut\b/.test(commitment.object);
    });
  }

  /** "We leave it open": what was asked before, or what its speaker does not know. */
  #staysOpen(sentence: DialogueSentence): void {
    if (isNegated(sentence.said)) return;
    const { place } = sentence;
    const back = this.#dialogue.sentences.slice(Math.max(0, place - BACK_SENTENCES_MAX), place);
    const asked = back.findLast(
      (one) => one.is_question && !STAYS_OPEN.test(one.said) && matterWords(one.lower).length > 0,
    );
    const unknown = back.findLast(({ said }) => /\b(?:i|we) don't know\b|\bno idea\b/.test(said));
    const proposed = back.findLast(({ said }) => STAYS_OPEN.test(said));
    const about = unknown ?? asked ?? null;
    if (about !== null && this.#used.has(about.place)) return;
    const known = this.items.at(-1);
    if (known !== undefined && place - known.place <= BACK_SENTENCES_MAX) return;
    // A proposal to leave it open waits for its answer.
    if (sentence.is_question) return;
    if (about === null) {
      if (matterWords(sentence.lower).length > 0) this.#add(sentence, []);
      return;
    }
    this.#add(about, [...(proposed === undefined || proposed === about ? [] : [proposed]), sentence]);
  }

  #add(question: DialogueSentence, more: readonly DialogueSentence[]): void {
    const context = matterWords(question.lower).length > 0 ? null : contextOf(this.#dialogue, question);
    const said = [...(context === null ? [] : [context]), question, ...more];
    for (const { place } of said) this.#used.add(place);
    const mark = question.is_question || UNENDED.test(question.said) ? '?' : '';
    const bare = question.plain.replace(/[.?!\s]+$/u, '');
    const text = `${withContext(bare, context)}${mark}`;
    this.items.push({
      kind: 'question',
      text,
      owner: null,
      requester: null,
      said: said.sort((a, b) => a.place - b.place),
      due_in: [],
      place: question.place,
    });
  }
}

function isNegated(said: string): boolean {
  return /\b(?:can't|cannot|don't|won't|not) (?:\w+ )?(?:leave|park)\b/.test(said);
}
