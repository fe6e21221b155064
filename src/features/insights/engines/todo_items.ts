import { contextOf, hasOpenPronoun, standsAlone, withContext } from './context_words.js';
import { answerOf, type Dialogue, type DialogueSentence, isSameSpeaker } from './dialogue.js';
import { addDueIn, addSaid, type FoundItem } from './found_item.js';
import { matterStems, matterWords } from './item_text.js';
import { isReminding } from './reminder_items.js';
import {
  type CommitmentForm,
  commitmentIn,
  isAppointment,
  isReported,
  type RequestForm,
  reactionIn,
  requestIn,
  takesBack,
  takesOver,
} from './speech_forms.js';
import type { SpokenDates } from './spoken_dates.js';

/**
 * Tasks: what somebody promises, what somebody is asked and accepts, and what a speaker is given to do. A request that
 * is refused is none until somebody takes it.
 */

type AskedSentence = { sentence: DialogueSentence; request: RequestForm; is_done: boolean };

/** So many utterances later, a request may still be answered. */
const REPLIES_MAX = 4;
/** So many sentences before, a promise may answer a request or a need. */
const ANSWERED_SENTENCES_MAX = 8;
const FOLLOW_UP =
  /\b(?:get back to|follow up|let (?:you|\w+) know|call (?:you|him|her|them) back|come back to (?:you|him|her|them))\b/;
const THANKS =
  /^(?:(?:oh|okay|good|great|perfect|wonderful|lovely|nice),? )*(?:thanks|thank you|wonderful|perfect|great|lovely|good|brilliant|excellent|please do|do that|nice|you're an? \w+|that would be|would be|super|cool|fantastic|amazing|appreciated)\b/;
const ASSENT_ALONE =
  /^(?:okay|ok|fine|yes|yes please|sure|alright|all right|deal|that works|works|yeah)(?: \S+)?[.!]?$/;
const IS_YOURS =
  /^(?:is (?:that|this|it) (?:yours|one for you|something for you)|yours|can (?:that|it) be yours|that's yours|that one's yours)\b/;
const DELEGATED_PREFIX = /\b(?:let's say|then|so|okay|done|good|agreed|from now on|right|fine)\b/;
const DUE_FRAGMENT =
  /^(?:(?:and|but|so|say|maybe|probably|ideally|latest|well|or|not|is|it|that|this|would|okay|give me|let's say|better|make it|how about),? )*(?:by|on|at|before|until|till|in|within|this|next|tomorrow|today|tonight|the|end|mon|tues|wednes|thurs|fri|satur|sun|goes|will be|needs|has to be|\d|half|quarter|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first thing|latest)/;
const DEADLINE_FRAGMENT =
  /^(?:(?:but|and|ideally|preferably|please|latest),? )*(?:by|before|until|not later than|no later than|end of)\b/;
/** "I'll send it, okay?" */
const ASSENT_TAG = /,? (?:okay|ok|all right|alright|right)\?$/;
const WHEN = /^(?:(?:and|okay|so|great|good|thanks),? )*(?:by |until |till )?when\b(?: \S+){0,5}\??$/;
const GOES_ON = /^(?:please |just |then )*(?:do|keep|try|take|send|bring|put|make) (?:that|it|this|them)\b/;
const NEEDED =
  /\b(?:i|we|they) need (?:it|them|that|those)\b|\b(?:it|that|they)(?:'s| is|'re| are) (?:due|needed|for)\b|\bdeadline\b/;
const DELIVERS = /^you(?:'ll| will| can| get)? (?:have|get|pick|collect|expect)\b/;
/** "I see him on Sunday anyway" */
const ASIDE_WORDS_MAX = 10;
const NOT_ASIDE = /\b(?:no|not|nothing|never|until|till|for|last|don't|forget|remember|if)\b/;
const AMENDS =
  /^(?:(?:no|or|okay|well|hm+|actually|better|rather|then),? )*(?:make it|let's make it|make that|let's say|say|better|rather|how about|what about|could (?:it|that) be|can (?:it|that) be)\b/;
const TOLD =
  /^(?:that's|that is|that would be|that was|it's|it was|it is|\p{L}+(?: \p{L}+)? (?:does|did|do|is|was|will|has)\b|\p{L}+[.!]?$|(?:the|my|our) )/u;
const NUMBERS =
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|past|quarter|\d+|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/g;
const TO_ALL = /\b(?:all of you|everybody|everyone|each of you|you all|you both|you two)\b/;

export class TodoFinder {
  readonly items: FoundItem[] = [];
  readonly #dialogue: Dialogue;
  readonly #dates: SpokenDates;
  readonly #asked: AskedSentence[] = [];
  /** Places of sentences that belong to an item already. */
  readonly #used = new Set<number>();
  readonly #delegation: RegExp | null;

  constructor(dialogue: Dialogue, dates: SpokenDates) {
    this.#dialogue = dialogue;
    this.#dates = dates;
    const names = dialogue.firstNames().map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    this.#delegation =
      names.length === 0
        ? null
        : new RegExp(
            `(?:^|[^\\w'])(${names.join('|')}) (?:owns|takes|does|handles|covers|leads|runs|writes|brings|books|pays for|calls|is responsible for|(?:is|'s) (?:doing|taking|bringing|making|driving|cooking|writing|calling|booking|buying|paying|getting|handling)|looks after|is in charge of|takes care of|organi[sz]es|will \\w+|is going to \\w+|is doing|is taking|is on) (.+)$`,
          );
  }

  /** Looks at a sentence; those before it have been looked at. */
  look(sentence: DialogueSentence): void {
    if (sentence.plain === '' || this.#used.has(sentence.place) || isReported(sentence.lower)) return;
    if (this.#amends(sentence) || this.#asksWhen(sentence) || this.#goesOn(sentence)) return;
    const is_asked = sentence.is_question && !ASSENT_TAG.test(sentence.said);
    const commitment = is_asked ? null : commitmentIn(sentence.lower);
    const request = isReminding(sentence.said) ? null : this.#requestOf(sentence);
    if (commitment !== null && this.#isMeant(sentence, commitment)) this.#commit(sentence, commitment);
    else if (!sentence.is_question && takesOver(sentence.lower)) this.#takeOver(sentence);
    else if (isAppointment(sentence.lower) && this.#dates.hasDay(sentence))
      this.#add({ sentence, asked: null, owner: sentence.speaker, kind: 'task' });
    else if (!this.#delegated(sentence) && request !== null) this.#ask(sentence, request);
  }

  #requestOf({ lower, is_question }: DialogueSentence): RequestForm | null {
    if (is_question && IS_YOURS.test(lower)) return { form: 'directed', action: '', is_polite: false };
    return requestIn(lower);
  }

  // --- promises ---------------------------------------------------------------------------------------------------------

  /** An offer counts when somebody takes it, when it says a day, or when it answers what was needed. */
  #isMeant(sentence: DialogueSentence, { strength, object, ours }: CommitmentForm): boolean {
    if (ours && sentence.speaker === null) return false;
    if (strength === 'promise') return true;
    if (/(?:^|,? )but\b/.test(object) || /\bif\b/.test(object)) return false;
    if (this.#dates.hasDay(sentence)) return true;
    if (this.#asked.some((asked) => this.#isOpen(asked, sentence) && !isSameSpeaker(asked.sentence, sentence)))
      return strength === 'offer';
    const [reply] = this.#dialogue.replies(sentence, 1);
    const said = reply?.[0]?.said ?? '';
    return THANKS.test(said) || (strength === 'offer' && ASSENT_ALONE.test(said));
  }

  #commit(sentence: DialogueSentence, { verb, object }: CommitmentForm): void {
    const passed_to = /\b(?:it|that|this) (?:on )?to (\p{L}+)/u.exec(object)?.[1];
    const [reply = []] = this.#dialogue.replies(sentence, 1);
    if (reply.slice(0, 2).some(({ said }) => takesBack(said))) return;
    const answered = this.#answeredBy(sentence);
    if (answered === null && this.#addsToLast(sentence)) return;
    const is_passed = passed_to !== undefined && /^(?:assign|give|hand|pass)$/.test(verb);
    const owner = is_passed ? this.#dialogue.labelOf(passed_to) : sentence.speaker;
    this.#add({
      sentence,
      asked: answered,
      owner,
      kind: FOLLOW_UP.test(sentence.lower) ? 'follow_up' : 'task',
    });
  }

  #takeOver(sentence: DialogueSentence): void {
    const answered = this.#answeredBy(sentence);
    if (answered === null) return;
    this.#add({ sentence, asked: answered, owner: sentence.speaker, kind: 'task' });
  }

  /** The open request or need that a promise answers. */
  #answeredBy(sentence: DialogueSentence): AskedSentence | null {
    const own = matterStems(sentence.lower);
    // What its speaker has just named is meant by "it".
    const is_named = this.#dialogue
      .earlier(sentence)
      .some((one) => !this.#asked.some((asked) => asked.sentence === one) && matterWords(one.lower).length > 1);
    const is_open = takesOver(sentence.lower) || (hasOpenPronoun(sentence.lower) && !is_named);
    return (
      this.#asked.findLast((asked) => {
        if (
          !this.#isOpen(asked, sentence) ||
          (!is_open && asked.request.form === 'imperative' && !asked.request.is_polite)
        )
          return false;
        if (asked.request.form === 'offer') return false;
        if (takesOver(sentence.lower) && this.#distance(asked.sentence, sentence) > 2) return false;
        const theirs = matterStems(asked.sentence.lower);
        const shares = [...own].some((stem) => theirs.has(stem));
        if (asked.sentence.speaker === sentence.speaker && asked.sentence.utterance === sentence.utterance)
          return shares || is_open;
        return shares || is_open || this.#isNext(asked.sentence, sentence);
      }) ?? null
    );
  }

  /** In utterances. */
  #distance(from: DialogueSentence, to: DialogueSentence): number {
    const between = this.#dialogue.sentences.slice(from.place, to.place + 1);
    return new Set(between.map(({ utterance }) => utterance)).size - 1;
  }

  #isOpen({ sentence, is_done }: AskedSentence, { place }: DialogueSentence): boolean {
    return !is_done && place - sentence.place <= ANSWERED_SENTENCES_MAX;
  }

  #isNext(asked: DialogueSentence, answer: DialogueSentence): boolean {
    const [reply] = this.#dialogue.replies(asked, 1);
    return reply?.[0]?.utterance === answer.utterance && answer.place - answer.utterance <= 2;
  }

  /** A promise without a matter of its own, right after an item: it says when or how. */
  #addsToLast(sentence: DialogueSentence): boolean {
    const last = this.items.at(-1);
    const end = last?.said.at(-1);
    if (last === undefined || end === undefined || sentence.place - end.place > 3) return false;
    if (matterWords(sentence.lower.replace(NUMBERS, '')).length > 1) return false;
    const is_answer = end.utterance !== sentence.utterance && this.#dates.hasTime(sentence);
    if (!is_answer && !(last.owner === sentence.speaker && hasOpenPronoun(sentence.lower))) return false;
    addDueIn(last, [sentence], { first: false });
    addSaid(last, [sentence]);
    return true;
  }

  // --- requests ---------------------------------------------------------------------------------------------------------

  #ask(sentence: DialogueSentence, request: RequestForm): void {
    const asked: AskedSentence = { sentence, request, is_done: false };
    this.#asked.push(asked);
    if (this.#asked.length > ANSWERED_SENTENCES_MAX) this.#asked.shift();
    const { form } = request;
    if (form === 'who') asked.is_done = this.#isAnswered(sentence);
    if (
      form === 'need' &&
      sentence.is_question &&
      !/\b(?:somebody|someone|anybody|anyone|one of)\b/.test(sentence.lower)
    )
      asked.is_done = true;
    if (form === 'need' || form === 'who') return;
    if (form === 'offer') {
      if (sentence.is_question) this.#offerAnswered(asked);
      return;
    }
    if (this.#isPartOfPromise(asked)) return;
    const target = sentence.addressed ?? this.#nameBefore(sentence);
    const answer = this.#answerTo(asked, target);
    if (answer === 'refused') return;
    if (answer !== null) {
      const { reply, owner } = answer;
      const [first] = reply;
      const promise = this.#promiseIn(reply, asked);
      const said = promise ?? first;
      this.#add({ sentence: said as DialogueSentence, asked, owner, kind: 'task', reply });
      return;
    }
    if (this.#countsUnanswered(asked, target))
      this.#add({ sentence, asked, owner: target ?? this.#dialogue.otherThan(sentence.speaker), kind: 'task' });
  }

  /** "Who is on call?" "Tomas.": told, so that nobody has to take it. */
  #isAnswered(question: DialogueSentence): boolean {
    const [first] = this.#dialogue.replies(question, 1)[0] ?? [];
    if (first === undefined || first.is_question || first.plain === '') return false;
    return (
      commitmentIn(first.lower) === null &&
      !takesOver(first.lower) &&
      this.#dialogue.rest(question).length === 0 &&
      TOLD.test(first.lower)
    );
  }

  /** "Send me the file, I'll check it": the promise is the matter. */
  #isPartOfPromise({ sentence, request }: AskedSentence): boolean {
    if (request.form !== 'imperative') return false;
    const [next] = this.#dialogue.rest(sentence);
    return next !== undefined && commitmentIn(next.lower)?.strength === 'promise' && hasOpenPronoun(next.lower);
  }

  /** "Priya? Could you …": a name alone just before. */
  #nameBefore(sentence: DialogueSentence): string | null {
    const before = this.#dialogue.earlier(sentence).at(-1);
    return before !== undefined && before.addressed !== null && before.plain.split(' ').length <= 2
      ? before.addressed
      : null;
  }

  #offerAnswered(asked: AskedSentence): void {
    const [reply] = this.#dialogue.replies(asked.sentence, 1);
    if (reply === undefined || answerOf(reply) !== 'accepts') return;
    // "Do I have to?" is answered as well; only who is told to may be held to it.
    const is_told = reply
      .slice(0, 2)
      .some(({ said }) => /\bplease\b|\bdo\b|\bgo ahead\b|\bthat would be\b|\bsure\b|\bthanks?\b|\byes\b/.test(said));
    if (is_told)
      this.#add({ sentence: reply[0] as DialogueSentence, asked, owner: asked.sentence.speaker, kind: 'task', reply });
  }

  #answerTo(
    asked: AskedSentence,
    target: string | null,
  ): { reply: DialogueSentence[]; owner: string | null } | 'refused' | null {
    for (const reply of this.#dialogue.replies(asked.sentence, REPLIES_MAX)) {
      const [first] = reply;
      if (first === undefined) return null;
      const { speaker } = first;
      if (isSameSpeaker(first, asked.sentence)) continue;
      const answer = answerOf(reply);
      const takes = this.#promiseIn(reply, asked) !== undefined;
      if (takes) return { reply, owner: speaker };
      if (target !== null && speaker !== target) continue;
      if (answer === 'refuses') return 'refused';
      if (answer === 'accepts') return { reply, owner: speaker };
      if (answer === 'other') return null;
    }
    return null;
  }

  /** The promise of a reply, before it comes to something else. */
  #promiseIn(reply: readonly DialogueSentence[], asked: AskedSentence): DialogueSentence | undefined {
    const turned = reply.findIndex((one) => matterWords(one.lower).length > 2 && !this.#repeats(one, asked));
    return reply.slice(0, Math.min(3, turned < 0 ? 3 : turned)).find((one) => this.#repeats(one, asked));
  }

  /** A promise that takes up what was asked. */
  #repeats(one: DialogueSentence, { sentence }: AskedSentence): boolean {
    if (one.is_question || one.plain === '') return false;
    if (takesOver(one.lower)) return true;
    const commitment = commitmentIn(one.lower);
    if (commitment?.strength !== 'promise') return false;
    if (hasOpenPronoun(one.lower)) return true;
    const theirs = matterStems(sentence.lower);
    return [...matterStems(one.lower)].some((stem) => theirs.has(stem));
  }

  #countsUnanswered({ sentence, request }: AskedSentence, target: string | null): boolean {
    const { form, is_polite } = request;
    if (form === 'advice') return false;
    const has_due = this.#dates.hasDay(sentence);
    const other = target ?? this.#dialogue.otherThan(sentence.speaker);
    if (form === 'directed' && sentence.is_question) {
      const is_last = this.#dialogue.replies(sentence, 1).length === 0;
      return has_due || (is_last ? other !== null : target !== null && is_polite);
    }
    if (is_polite) return standsAlone(sentence) || has_due;
    if (TO_ALL.test(sentence.said)) return has_due;
    return other !== null && has_due && standsAlone(sentence);
  }

  // --- delegations ------------------------------------------------------------------------------------------------------

  #delegated(sentence: DialogueSentence): boolean {
    const found = sentence.is_question ? null : this.#delegation?.exec(sentence.lower);
    const label = this.#dialogue.labelOf(found?.[1] ?? '');
    if (label === null || label === sentence.speaker) return false;
    const before = this.#dialogue.earlier(sentence).at(-1);
    const is_settled = DELEGATED_PREFIX.test(sentence.said.slice(0, 20)) || /\bfrom now on\b/.test(sentence.lower);
    const follows = before !== undefined && before.said.split(' ').length <= 2 && DELEGATED_PREFIX.test(before.said);
    const reply = this.#dialogue.replies(sentence, 2).find(([first]) => first?.speaker === label);
    const reaction = reply?.[0] === undefined ? 'other' : reactionIn(reply[0].said);
    if (reaction === 'objects' || !(is_settled || follows || reaction === 'agrees' || reaction === 'assents'))
      return false;
    const asked = this.#asked.findLast((one) => this.#isOpen(one, sentence) && one.request.form !== 'directed') ?? null;
    const shares =
      asked !== null && (hasOpenPronoun(asked.sentence.lower) || this.#repeatsMatter(asked.sentence, sentence));
    this.#add({ sentence, asked: shares ? asked : null, owner: label, kind: 'task' });
    return true;
  }

  #repeatsMatter(one: DialogueSentence, other: DialogueSentence): boolean {
    const theirs = matterStems(one.lower);
    return [...matterStems(other.lower)].some((stem) => theirs.has(stem));
  }

  // --- items ------------------------------------------------------------------------------------------------------------

  /** "Make it eleven": another time for what was agreed just before. */
  #amends(sentence: DialogueSentence): boolean {
    const last = this.items.at(-1);
    const end = last?.said.at(-1);
    if (last === undefined || end === undefined || sentence.place - end.place > 4) return false;
    if (!AMENDS.test(sentence.said) || !(this.#dates.hasDay(sentence) || this.#dates.hasTime(sentence))) return false;
    const [reply] = this.#dialogue.replies(sentence, 1);
    if (reply?.[0] !== undefined && reactionIn(reply[0].said) === 'objects') return false;
    addDueIn(last, [sentence], { first: true });
    addSaid(last, [sentence]);
    this.#used.add(sentence.place);
    return true;
  }

  /** "Do that for two weeks": how somebody is to do what was asked just before. */
  #goesOn(sentence: DialogueSentence): boolean {
    const last = this.items.at(-1);
    const end = last?.said.at(-1);
    if (last === undefined || end === undefined || sentence.place - end.place > 3 || !GOES_ON.test(sentence.lower))
      return false;
    if (last.requester === null || last.requester !== sentence.speaker) return false;
    addDueIn(last, [sentence], { first: false });
    addSaid(last, [sentence]);
    this.#used.add(sentence.place);
    return true;
  }

  /** "By when?" "By Friday." */
  #asksWhen(sentence: DialogueSentence): boolean {
    const last = this.items.at(-1);
    const end = last?.said.at(-1);
    if (last === undefined || end === undefined || sentence.place - end.place > 3 || !WHEN.test(sentence.said))
      return false;
    const [reply = []] = this.#dialogue.replies(sentence, 1);
    const dated = reply.slice(0, 2).filter((one) => this.#dates.hasDay(one) || this.#dates.hasTime(one));
    addDueIn(last, dated.reverse(), { first: true });
    addSaid(last, dated);
    return dated.length > 0;
  }

  #add({ sentence, asked, owner, kind, reply = [] }: NewTodo): void {
    const { text, said } = this.#worded(sentence, asked);
    const whole = new Set(said);
    if (asked !== null) {
      asked.is_done = true;
      // A promise that stands by itself does not rest on what was asked before it.
      if (!(said.length === 1 && whole.has(sentence)) || this.#repeatsMatter(asked.sentence, sentence))
        whole.add(asked.sentence);
    }
    whole.add(sentence);
    const ordered = [...whole].sort((a, b) => a.place - b.place);
    for (const { place } of ordered) this.#used.add(place);
    const asked_rest = asked === null ? [] : this.#dialogue.rest(asked.sentence).slice(0, 2);
    const [next = []] = reply.length === 0 ? [] : this.#dialogue.replies(sentence, 1);
    const deadlines = [...asked_rest, ...next.slice(0, 2)].filter(
      ({ lower }) => DEADLINE_FRAGMENT.test(lower) || NEEDED.test(lower),
    );
    const near = [...reply.slice(0, 3), ...this.#dialogue.rest(sentence).slice(0, 1), ...deadlines];
    const fragments = near.filter((one) => isDueFragment(one) && commitmentIn(one.lower) === null);
    const is_requester = asked !== null && asked.sentence.speaker !== owner && asked.request.form !== 'offer';
    const is_promise = asked === null || asked.sentence === sentence || commitmentIn(sentence.lower) !== null;
    const is_dated = asked !== null && asked.request.form !== 'who';
    this.items.push({
      ...{ kind, text, owner, requester: is_requester ? asked.sentence.speaker : null, place: sentence.place },
      said: [...new Set([...ordered, ...fragments.filter((one) => this.#dates.hasDay(one))])],
      due_in: [...new Set([...(is_promise ? [sentence] : []), ...fragments, ...(is_dated ? [asked.sentence] : [])])],
    });
  }

  /** The text of a task, and whose words it has. */
  #worded(sentence: DialogueSentence, asked: AskedSentence | null): { text: string; said: DialogueSentence[] } {
    const commitment = commitmentIn(sentence.lower);
    if (asked === null || asked.sentence === sentence) {
      const own = asked === null ? sentence.plain : requestText(sentence, asked.request);
      if (standsAlone(sentence)) return { text: own, said: [sentence] };
      const context = contextOf(this.#dialogue, sentence);
      return { text: withContext(own, context), said: context === null ? [sentence] : [context, sentence] };
    }
    const is_directed = !['need', 'who'].includes(asked.request.form);
    const is_other = is_directed && standsAlone(asked.sentence) && !this.#repeatsMatter(asked.sentence, sentence);
    if (commitment !== null && standsAlone(sentence) && !is_other) return { text: sentence.plain, said: [sentence] };
    if (is_directed) {
      const request = asked.request.action === '' ? null : requestText(asked.sentence, asked.request);
      if (request !== null && standsAlone(asked.sentence)) return { text: request, said: [asked.sentence] };
      const need = this.#asked.findLast(
        (one) => one.request.form === 'need' && one !== asked && this.#isOpen(one, asked.sentence),
      );
      if (need !== undefined) need.is_done = true;
      const context = need?.sentence ?? contextOf(this.#dialogue, asked.sentence);
      if (request === null) return { text: context?.plain ?? asked.sentence.plain, said: [context ?? asked.sentence] };
      return {
        text: withContext(request, context),
        said: context === null ? [asked.sentence] : [context, asked.sentence],
      };
    }
    return { text: withContext(sentence.plain, asked.sentence), said: [asked.sentence, sentence] };
  }
}

type NewTodo = {
  sentence: DialogueSentence;
  asked: AskedSentence | null;
  owner: string | null;
  kind: 'task' | 'follow_up';
  reply?: readonly DialogueSentence[];
};

/** "By Wednesday okay?", "You can have it tomorrow" */
function isDueFragment({ lower, plain }: DialogueSentence): boolean {
  if (plain === '') return false;
  const is_short = lower.split(' ').length <= ASIDE_WORDS_MAX && !NOT_ASIDE.test(lower);
  return is_short || DUE_FRAGMENT.test(lower) || DELIVERS.test(lower) || NEEDED.test(lower);
}

/** "Can you close those?" as what is to be done: "close those". */
function requestText({ plain, lower }: DialogueSentence, { form, action }: RequestForm): string {
  const at = lower.lastIndexOf(action);
  if (action === '' || at < 0 || plain.length !== lower.length) return plain;
  if (form === 'need' || form === 'who') return plain;
  if (form === 'advice' && !/^you(?:'ll| will)\b/.test(lower)) return plain;
  const own = plain.slice(at).replace(/[?!.,\s]+$/u, '');
  const polite = own.replace(/,? please$/iu, '');
  return polite === '' ? plain : polite;
}
