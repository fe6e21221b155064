import { contextOf, hasOpenPronoun, standsAlone, withContext } from './context_words.js';
import { type Dialogue, type DialogueSentence, isSameSpeaker } from './dialogue.js';
import { addDueIn, addSaid, type FoundItem } from './found_item.js';
import { matterStems, matterWords } from './item_text.js';
import { commitmentIn, isAppointment, isHypothetical, reactionIn } from './speech_forms.js';
import type { SpokenDates } from './spoken_dates.js';

/**
 * Decisions: what somebody settles in so many words, and proposals that others agree to. A proposal that is refused, or
 * that another one replaces, is none.
 */

/** How a proposal asks: what it needs so that it counts. */
type Proposal = { sentence: DialogueSentence; is_strong: boolean };

const LETS_NOT =
  /^let's (?:see|start|begin|talk|move on|get (?:going|started)|wait|hope|face|be\b|put that first|go (?:on|ahead)|look|think|hear|take a|not (?:forget|get|start|go there|worry|talk|panic|waste|dwell|argue|rush|fight|pretend|be)|pretend|assume|just say|come back|have a look|continue|call it|leave (?:that|it) for)/;
const LETS_FIRST = /\b(?:first|next|second)\b(?: then)?$/;
const STRONG_PROPOSAL =
  /^(?:(?:maybe|perhaps|please|just|no),? )*(?:let's|shall we|should we|are we (?:all )?(?:agreed|happy|okay|in favou?r|fine)|is everybody (?:happy|okay|fine|agreed)|everyone (?:happy|okay|fine|agreed) with|any objections|can we (?:agree|do|say|make|move|keep|please|have|use|try|settle)|could we (?:do|make|say|move|agree|have|use|please)|why don't we|how about|what about (?:if we|\w+ing|the \w+|a \w+|on|at)|i (?:suggest|propose|vote|say)|i'd (?:say|suggest|propose)|my (?:suggestion|proposal)|i would (?:say|suggest|propose)|i'd like to (?:suggest|propose)|can i suggest|may i suggest|we ought to|we'd better|it(?:'d| would) be better (?:to|if we)|my suggestion would|we (?:should|shouldn't)|what i'd do|what if we|i want (?:us to|somebody|someone)|i think we should)\b/;
const WEAK_PROPOSAL =
  /^(?:(?:maybe|perhaps|or|then|so|if|otherwise),? )*(?:or (?:run|buy|use|take|make|ask|put|do|try|rent|get|hire|move|have|just)|we (?:could|can|might|would|do|just|use|take|ask|move|make|put)|or we|what if|could we|can we|what about|there's (?:also|always)|the \w+ (?:one|option)|i'd (?:take|go|use|do|keep|put))\b|\bor\b[^?]*\?$/;

/** Says that something is settled now; what is settled stands in the same sentence. */
const SETTLES = [
  /\b(?:then|okay|right|fine|good|agreed|yes|well),? (?:we'll|we will|we're going to) (?!see\b|get\b|have to\b|need\b|know\b|be\b|find\b|think\b|talk\b|hear\b|come back|go home|manage|start with|begin)[a-z]+\b|\b(?:then|okay|right|fine|good|agreed|yes|well),? (?:we|i say we|we'll|we will)(?:'ll| will|'re going to| just)? (?:go|take|stick|stay|keep|leave|do|use|try|cancel|drop|skip|switch|settle|make|move|start|have|open|close|meet|book|order|pick|choose|put|raise|stop|run|hold|buy|get|give|rent|hire|paint|sell|plant|split|postpone|send)\b/,
  /\b(?:we|we'll|we will|we're)(?: just| going to| all)? (?:go(?:ing)? (?:for|with)|keep (?:it|them|that) (?:at|as|on|to|like|the same)|leave (?:it|them) (?:at|as|with|on)|stick(?:ing)? (?:to|with)|stay(?:ing)? (?:with|at|on)|settle (?:on|for))\b/,
  /^(?:(?:and|so|then|but|okay|well|fine|right|good),? )*(?:we'll|we will|we're going to) (?:just |then |all )*(?:stop|switch|start|try|change|leave|keep|stay|go|increase|reduce|lower|raise|double|halve|drop|skip|move|cancel|close|open|split|take|put|cut)\b(?! (?:care|a look|it from there|on with|home|now|there)\b)/,
  /^(?:(?:and|so|then|but|okay|well),? )*we(?:'re not going to| won't| will not) (?!make it|know|get|be|have|see|find|need|survive|win|manage|bother|even)\w+/,
  /^(?:(?:so|then|okay|right|well),? )+we're (?:not )?(?:taking|doing|going (?:to|with|for|by)|using|having|keeping|buying|moving|staying|changing|dropping|skipping|cancelling|closing|starting|inviting)\b/,
  /\b(?:i'm|i am|i'll|i will) (?:putting|put|starting|start|taking|take) you (?:on|off)\b/,
  /^(?:(?:and|so|then|but|okay|well),? )*(?:as of|starting|from) (?!i\b)\S+(?: \S+){0,3} (?:on|onwards),/,
  /,? so (?:the )?[\w'-]+(?: [\w'-]+)? (?:stays?|goes|is out|is in|are out|are in)[.!]?$/,
  /^(?:(?:okay|so|right|good|and|well|fine),? )*then (?:the|our) [\w'-]+(?: [\w'-]+)? (?:moves?|goes|stays?|starts?|begins?|ends?|gets?|happens)\b/,
  /\b(?:the|our) plan: /,
  /^(?:(?:and|so|then|but|okay|well),? )*(?:we'll|we will|we're going to) (?:just |then |all )*(?:stop|switch|start|try|change|leave|keep|stay|go|increase|reduce|lower|raise|double|halve|drop|skip|move|cancel|close|open|split|take|put|cut)\b(?! (?:care|a look|it from there|on with|home|now|there)\b)/,
  /\b(?:i'm|i am|i'll|i will) (?:putting|put|starting|start|taking|take) you (?:on|off)\b/,
  /,? so (?:the )?[\w'-]+(?: [\w'-]+)? (?:stays?|goes|is out|is in|are out|are in)[.!]?$/,
  /\blet's (?:just |all |then |really )*(?:go with|agree|settle|stick|keep|do (?!that|it first)|take the|take that|try|leave it at|cancel|use|make it|move|stay|drop|skip|switch|book|have it|hold|say that)\b/,
  /\b(?:we've|we have|we|it was|that was) (?:just |now |all |already )?(?:decided|agreed|settled|voted)\b/,
  /\b(?:it's|it is|that's|that is|then it's|so it's|is) (?:now |all |therefore )?(?:decided|settled|agreed|a deal|final|fixed|cancelled|canceled|postponed|off the table|out of scope|out of the question)\b/,
  /\b(?:the decision is|the plan is|our plan is|what we'll do is|what we do is|what i want is|we're going with|i've decided|we have decided|no exceptions|from now on)\b/,
  /^(?:right|okay|ok|so|then|good|fine|well|yes|great)?,? ?(?:the |a |on )?\S+(?: \S+){0,6} it is(?:[.!]?$|,| (?:then|at|on|for)\b)/,
  /^(?:(?:okay|so|right|good|then|and|well|fine),? )*no (?:more )?\S+(?: \S+){0,3},? then\b/,
  /^(?:(?:okay|so|right|then|and|well),? )*(?:so )?no more \S+/,
  /^(?:(?:okay|so|right|good|well|fine),? )*then (?:it(?:'s| is| will be|'ll be)|that's|that is|the \w+ (?:is|will be)|it stays|that stays|everybody|everyone|the \w+ stays?)\b/,
  /\b(?:stays?|remains?) (?:as it is|as they are|at|the same|where|in|on)\b/,
  /^(?:(?:okay|so|right|good|fine|all right),? )+(?:that|it|the \S+|this|those|they)(?: \S+){0,3} (?:goes|go|stays?|moves?|is (?:gone|cancelled|off|out|in))\b/,
  /^(?:(?:okay|fine|right|good),? )*off (?:it|they) (?:goes|go)\b/,
  /^agreed,? \S+ \S+ \S+/,
];
/** Words that settle what was said before. */
const SETTLES_BEFORE =
  /^(?:(?:okay|so|right|good|then|and|well|fine|great|perfect|yes|all right),? )*(?:that's (?:settled|decided|agreed|it|a deal|that then)|it's (?:settled|decided|agreed|a deal)|(?:then |so )?it's (?:that|decided|settled|agreed|a plan)|we've agreed on (?:that|it)|we're agreed|settled|decided|done|deal|so be it|we'll do that|we do that|let's do (?:that|it)(?: then)?|so we're agreed|that's the plan|we'll leave it at that|then we do that|then that's what we do)\b/;
/** A clause with the matter that is settled. */
const OWN_CLAUSE = /^[,:]? (?:that )?(?:we|the|it's|it is|i|no|everybody|everyone) .*\p{L}{3}/u;
const SUMMED_UP =
  /^(?:(?:okay|right|good|great|perfect|so|fine|all right|done),? )+(?!(?:i|i'll|i'm|you|who|what|when|where|how|why|is|are|do|does|can|could|will|would|let's|next|now|and|but|anything|thanks|thank)\b)\S/;

const DATE_NAMES =
  /\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december)\b/g;
const OPENING = /^(?:okay|ok|right|fine|good|great|perfect|agreed|all right|alright|well|so|done|then)[.!,]*$/;
const CHOSEN =
  /^(?:(?:okay|ok|so|right|good|fine|well|and|all right),? )*(?:then (?:the|an?|on|at|in|no|just|only|my|your|our) \S|(?!(?:see|until|since|back|by|what|who|how|why|when|where|well|now|bye|goodbye|go|come|yes|no|not|but|even|just|right|okay|good|fine|thanks) )(?:\S+ ){1,5}then(?:[.!]| fine| good| okay|$))/;
const SO_IT_IS = /^(?:so )?(?:it's|it is|that's|we have|we've got) /;
/** Asks whether something is settled that way. */
const CONFIRMS =
  /^(?:(?:okay|right|and|good|fine),? )*so (?:we|we're|it's|that's|the|no|it|you|everyone)\b.*\?$|^(?:(?:okay|right|and|good|fine|so),? )*(?:\S+ ){1,6}then\?$/;
const ALL_HAPPY =
  /^(?:(?:okay|so|and|right),? )*(?:(?:is |are )?(?:everyone|everybody|all|you all|both)(?: \S+)? (?:happy|okay|ok|fine|agreed|agree|good|in favou?r)|any objections|anyone against|all agreed|agreed|deal)\b.*\?$/;
const CHOSEN_WORDS_MAX = 8;
const DAY_WORDS_MAX = 6;
const HAS_VERB =
  /\b(?:is|are|was|were|have|has|had|do|does|did|will|would|can|could|should|need|needs|i|you|he|she|they|went|came|said|got|goes|go|comes?|takes?)\b|'(?:s|re|ve|ll|m|d)\b/;
/** A plan for the case that something happens. */
const PLANS_FOR =
  /^(?:and |but |so )*if .{3,120}?,? (?:then )?we(?:'ll| will)? (?!had|would|could|were|can't|know|see|have to)[a-z]+\b/;
const REACTIONS_MAX = 3;
/** A proposal is open for so many sentences. */
const PROPOSAL_SENTENCES_MAX = 10;
/** A proposal so near is what "it" is. */
const NEAR_SENTENCES = 5;
const MATTER_WORDS_MIN = 1;

export class DecisionFinder {
  readonly items: FoundItem[] = [];
  readonly #dialogue: Dialogue;
  readonly #dates: SpokenDates;
  readonly #proposals: Proposal[] = [];
  readonly #used = new Set<number>();

  constructor(dialogue: Dialogue, dates: SpokenDates) {
    this.#dialogue = dialogue;
    this.#dates = dates;
  }

  look(sentence: DialogueSentence): void {
    if (sentence.plain === '' || this.#used.has(sentence.place)) return;
    if (this.#settles(sentence)) return;
    if (this.#proposes(sentence)) return;
  }

  // --- in so many words -------------------------------------------------------------------------------------------------

  #settles(sentence: DialogueSentence): boolean {
    const { said, lower, is_question } = sentence;
    if (is_question || isAppointment(lower) || /^but then\b/.test(said)) return false;
    const commitment = commitmentIn(lower);
    // What one person promises is a task.
    if (commitment?.strength === 'promise' && !commitment.ours && !/\b(?:we|let's)\b/.test(lower)) return false;
    if (PLANS_FOR.test(lower)) return this.#proposesPlan(sentence);
    if (isHypothetical(lower)) return false;
    const is_dated = this.#dates.hasDay(sentence) || this.#dates.hasTime(sentence);
    const settles_before = is_dated ? null : SETTLES_BEFORE.exec(said);
    const opened = this.#opened(sentence);
    const is_settling =
      settles_before !== null ||
      SETTLES.some((form) => form.test(opened)) ||
      this.#names(sentence) ||
      this.#sumsUp(sentence);
    if (!is_settling || LETS_NOT.test(lower)) return false;
    if (/^let's\b/.test(lower) && LETS_FIRST.test(lower.replace(/[.!]+$/, ''))) return false;
    if (
      /\bwhat it is\b|\bas it is\b|\bhow it is\b|\blike it is\b|\b(?:that|who|where) it is\b/.test(said) &&
      !/stays?|remains?|leave/.test(said)
    )
      return false;
    if (this.#isTakenBack(sentence)) return false;
    const rest = settles_before === null ? lower : said.slice(settles_before[0].length);
    if (settles_before !== null && !OWN_CLAUSE.test(rest)) return this.#settlesBefore(sentence);
    if (matterWords(lower).length < MATTER_WORDS_MIN) return this.#settlesBefore(sentence);
    this.#add(sentence, this.#proposalFor(sentence));
    return true;
  }

  /** "If it is not better in four weeks, we do the other." */
  #proposesPlan(sentence: DialogueSentence): boolean {
    const agreed = this.#agreement({ sentence, is_strong: true });
    if (agreed !== null) this.#add(sentence, null, agreed);
    return agreed !== null;
  }

  /** "That's settled": what its speaker said just before, or else what was proposed. */
  #settlesBefore(sentence: DialogueSentence): boolean {
    const earlier = this.#dialogue
      .earlier(sentence)
      .findLast((one) => !one.is_question && matterWords(one.lower).length >= 1);
    const proposal = this.#proposalFor(sentence);
    // Somebody's own promise is a task.
    if (earlier !== undefined && commitmentIn(earlier.lower) !== null) return true;
    if (earlier !== undefined && !this.#used.has(earlier.place)) {
      this.#add(earlier, proposal, [sentence]);
      return true;
    }
    if (earlier !== undefined) return true;
    const next = this.#dialogue.rest(sentence)[0];
    if (
      /^(?:\S+ )?(?:done|deal|settled|agreed)\b/.test(sentence.said) &&
      next !== undefined &&
      !next.is_question &&
      matterWords(next.lower).length >= 2
    ) {
      this.#add(next, proposal, [sentence]);
      return true;
    }
    if (proposal === null) return false;
    this.#add(proposal.sentence, proposal, [sentence]);
    return true;
  }

  /** "Okay, Monday the thirtieth, half past eleven, rehearsal": without a verb, after a proposal that somebody took. */
  #sumsUp(sentence: DialogueSentence): boolean {
    if (!SUMMED_UP.test(this.#opened(sentence)) || matterWords(sentence.lower).length < 1) return false;
    if (HAS_VERB.test(sentence.lower.replace(SO_IT_IS, ''))) return false;
    const near = this.#proposals.filter((one) => sentence.place - one.sentence.place <= PROPOSAL_SENTENCES_MAX);
    return (
      near.length > 0 &&
      (this.#dates.hasDay(sentence) || near.some((one) => this.#sharesMatter(one.sentence, sentence)))
    );
  }

  /** With the word that opens it as a sentence of its own: "Fine. We'll change it." */
  #opened(sentence: DialogueSentence): string {
    const before = this.#dialogue.earlier(sentence).at(-1);
    return before !== undefined && OPENING.test(before.said)
      ? `${before.said.replace(/[.!]+$/, ',')} ${sentence.said}`
      : sentence.said;
  }

  /** "Nine then", "then the cheaper one": no more than the name of what is chosen. */
  #names(sentence: DialogueSentence): boolean {
    const found = CHOSEN.exec(sentence.said);
    if (found === null || HAS_VERB.test(sentence.lower) || sentence.said.split(' ').length > CHOSEN_WORDS_MAX)
      return false;
    const before = this.#dialogue.sentences.slice(Math.max(0, sentence.place - PROPOSAL_SENTENCES_MAX), sentence.place);
    return before.some((one) => one.is_question || STRONG_PROPOSAL.test(one.lower) || WEAK_PROPOSAL.test(one.lower));
  }

  /** "No, wait": taken back by its speaker, or refused by the next. */
  #isTakenBack(sentence: DialogueSentence): boolean {
    const [next] = this.#dialogue.rest(sentence);
    if (next !== undefined && /^(?:no|wait|actually|hang on|hold on|oh no)\b/.test(next.said)) return true;
    if (this.#isCountered(sentence)) return true;
    const [reply] = this.#dialogue.replies(sentence, 1);
    return (
      reply?.[0] !== undefined &&
      reactionIn(reply[0].said) === 'objects' &&
      !/^(?:no|none)[,.]? (?:\S+ )?(?:problem|objection)|^no \S+[.!]?$/.test(reply[0].said)
    );
  }

  /** "Let's do it at ten." "Could we do eleven?" */
  #isCountered(sentence: DialogueSentence): boolean {
    if (!/^let's\b/.test(sentence.lower) || !this.#isTimed(sentence)) return false;
    const replies = this.#dialogue.replies(sentence, REACTIONS_MAX).flat();
    return replies.some((one) => one.is_question && STRONG_PROPOSAL.test(one.lower) && this.#isTimed(one));
  }

  #isTimed(sentence: DialogueSentence): boolean {
    return this.#dates.hasDay(sentence) || this.#dates.hasTime(sentence);
  }

  // --- proposals --------------------------------------------------------------------------------------------------------

  #proposes(sentence: DialogueSentence): boolean {
    const { lower } = sentence;
    if (isAppointment(lower)) return false;
    if (this.#isDay(sentence)) this.#open({ sentence, is_strong: false });
    if (sentence.is_question && ALL_HAPPY.test(sentence.said)) return this.#allHappy(sentence);
    const confirms =
      sentence.is_question &&
      CONFIRMS.test(sentence.said) &&
      !/\b(?:who|what|when|where|how|why)\b/.test(sentence.said);
    const is_strong = STRONG_PROPOSAL.test(lower) || confirms;
    if (!(is_strong || WEAK_PROPOSAL.test(lower)) || LETS_NOT.test(lower)) return false;
    if (/^let's\b/.test(lower) && LETS_FIRST.test(lower.replace(/[.!]+$/, ''))) return false;
    if (matterWords(lower).length < MATTER_WORDS_MIN || (isHypothetical(lower) && !/^what if/.test(lower)))
      return false;
    const proposal = { sentence, is_strong };
    this.#open(proposal);
    const agreed = this.#agreement(proposal);
    if (agreed !== null) this.#add(sentence, proposal, agreed);
    return true;
  }

  /** "Everyone happy?" "Yes.": what its speaker said just before is settled. */
  #allHappy(sentence: DialogueSentence): boolean {
    const before = this.#dialogue
      .earlier(sentence)
      .findLast((one) => !one.is_question && matterWords(one.lower).length >= 1);
    if (before === undefined || this.#used.has(before.place)) return false;
    const [reply] = this.#dialogue.replies(sentence, 1);
    if (reply?.[0] !== undefined && reactionIn(reply[0].said) === 'objects') return false;
    this.#add(before, this.#proposalFor(before), [sentence]);
    return true;
  }

  #open(proposal: Proposal): void {
    this.#proposals.push(proposal);
    if (this.#proposals.length > PROPOSAL_SENTENCES_MAX) this.#proposals.shift();
  }

  /** "Then the eighteenth?": a day or time that somebody asks for. */
  #isDay(sentence: DialogueSentence): boolean {
    const is_short = sentence.is_question && sentence.said.split(' ').length <= DAY_WORDS_MAX;
    return is_short && (this.#dates.hasDay(sentence) || this.#dates.hasTime(sentence));
  }

  /** The sentences that agree; null where nobody does, or where another proposal comes in between. */
  #agreement({ sentence, is_strong }: Proposal): DialogueSentence[] | null {
    const rest = this.#dialogue.rest(sentence);
    if (rest.some(({ lower }) => STRONG_PROPOSAL.test(lower))) return null;
    let agreed: DialogueSentence[] | null = null;
    for (const reply of this.#dialogue.replies(sentence, REACTIONS_MAX)) {
      const [first, second] = reply;
      if (first === undefined) break;
      if (isSameSpeaker(first, sentence)) {
        if (agreed === null) break;
        continue;
      }
      const reaction = reactionIn(first.said);
      const later = second === undefined ? 'other' : reactionIn(second.said);
      if (reaction === 'objects' || later === 'objects') return null;
      if (reply.some(({ lower }) => STRONG_PROPOSAL.test(lower) && !/^let's (?:do|try|take)\b/.test(lower)))
        return null;
      // Whoever settles it in own words has the last word.
      if (reply.slice(0, 2).some(({ said, is_question }) => !is_question && SETTLES.some((form) => form.test(said))))
        return null;
      const is_agreed = reaction === 'agrees' || later === 'agrees' || (is_strong && reaction === 'assents');
      if (is_agreed && agreed === null) agreed = [first];
      else if (agreed === null) break;
    }
    return agreed;
  }

  #proposalFor(sentence: DialogueSentence): Proposal | null {
    const proposal = this.#proposals.at(-1);
    if (proposal === undefined || sentence.place - proposal.sentence.place > PROPOSAL_SENTENCES_MAX) return null;
    return proposal;
  }

  // --- items ------------------------------------------------------------------------------------------------------------

  #sharesMatter(one: DialogueSentence, other: DialogueSentence): boolean {
    const theirs = matterStems(one.lower);
    return [...matterStems(other.lower)].some((stem) => theirs.has(stem));
  }

  #add(sentence: DialogueSentence, proposal: Proposal | null, more: readonly DialogueSentence[] = []): void {
    const is_same = proposal !== null && proposal.sentence !== sentence;
    const before = this.items.at(-1);
    // What is settled in other words a little later is the same decision, as it holds now.
    if (
      before !== undefined &&
      sentence.place - before.place <= PROPOSAL_SENTENCES_MAX &&
      this.#restates(before, sentence)
    ) {
      if (matterWords(sentence.lower).length >= matterWords(before.text.toLowerCase()).length)
        before.text = sentence.plain;
      addSaid(before, [sentence, ...more]);
      addDueIn(before, [sentence], { first: true });
      before.place = sentence.place;
      for (const { place } of [sentence, ...more]) this.#used.add(place);
      return;
    }
    const { text, said } = this.#worded(sentence, is_same ? proposal : null);
    const whole = [...new Set([...said, sentence, ...more])].sort((a, b) => a.place - b.place);
    for (const { place } of whole) this.#used.add(place);
    this.items.push({
      kind: 'decision',
      text,
      owner: null,
      requester: null,
      said: whole,
      due_in: [sentence],
      place: sentence.place,
    });
  }

  #restates(before: FoundItem, sentence: DialogueSentence): boolean {
    const own = matterStems(sentence.lower.replace(DATE_NAMES, ' '));
    const theirs = new Set(before.said.flatMap(({ lower }) => [...matterStems(lower.replace(DATE_NAMES, ' '))]));
    const shared = [...own].filter((stem) => theirs.has(stem)).length;
    return (
      own.size > 0 &&
      shared > 0 &&
      shared >= Math.min(own.size, matterStems(before.text.toLowerCase().replace(DATE_NAMES, ' ')).size) / 2
    );
  }

  #isFragment(sentence: DialogueSentence): boolean {
    return !HAS_VERB.test(sentence.lower) && matterWords(sentence.lower).length < 2;
  }

  /** The nearest sentence before that has a word of it: what was proposed. */
  #named(sentence: DialogueSentence): DialogueSentence | null {
    if (!this.#isFragment(sentence)) return null;
    const proposed = this.#proposals.findLast((one) => this.#sharesMatter(one.sentence, sentence));
    if (proposed !== undefined && sentence.place - proposed.sentence.place <= PROPOSAL_SENTENCES_MAX)
      return proposed.sentence;
    const before = this.#dialogue.before(sentence.place, PROPOSAL_SENTENCES_MAX);
    return before.find((one) => matterWords(one.lower).length > 1 && this.#sharesMatter(one, sentence)) ?? null;
  }

  #worded(sentence: DialogueSentence, proposal: Proposal | null): { text: string; said: DialogueSentence[] } {
    if (standsAlone(sentence) && !(hasOpenPronoun(sentence.lower) && matterWords(sentence.lower).length < 4))
      return { text: sentence.plain, said: [sentence] };
    const is_near = proposal !== null && sentence.place - proposal.sentence.place <= NEAR_SENTENCES;
    const proposed = this.#named(sentence) ?? (is_near ? proposal.sentence : null);
    if (this.#isFragment(sentence) && proposed !== null)
      return { text: withContext(sentence.plain, proposed), said: [proposed, sentence] };
    if (proposed !== null && this.#sharesMatter(proposed, sentence)) return { text: sentence.plain, said: [sentence] };
    const context = proposed ?? contextOf(this.#dialogue, sentence);
    return context === null || context.plain === ''
      ? { text: sentence.plain, said: [sentence] }
      : { text: withContext(sentence.plain, context), said: [context, sentence] };
  }
}
