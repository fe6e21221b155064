import { contextOf, standsAlone, withContext } from './context_words.js';
import type { Dialogue, DialogueSentence } from './dialogue.js';
import type { FoundItem } from './found_item.js';
import { matterWords } from './item_text.js';
import { isHypothetical } from './speech_forms.js';
import type { SpokenDates } from './spoken_dates.js';

/** Reminders: what somebody says is not to be forgotten, when people meet again, and what ends on a day. */

const REMINDS =
  /\b(?:don't (?:you )?(?:ever )?forget|do not forget|don't let (?:me|us) forget|nobody forgets?|no one forgets?|never forget to|not to forget|let's not forget|remind (?:me|us|him|her|them|everybody) (?:to|that|about|of)|(?:please |do |just |and |also )*remember,? (?:to|that|you|the|it|we|about)|keep in mind|bear in mind|make a note (?:that|of)|make sure (?:that |you |to |it |the |we |everybody |nobody )|mind that|be (?:sure|careful) (?:to|that)|(?:so |please |just )don't (?:plan|book|park|arrange|schedule|bring|use|leave|touch|open|come|wear|eat|drink|take)\b|please,? remember[.!]?$|,? remember[.!]?$|(?:watch out|careful|beware)[,:]|you (?:mustn't|must not|may not|are not allowed to|aren't allowed to)|important(?: thing)?(?: is)?:? (?:that|to)|please note)\b/;
const NO_REMINDER =
  /\b(?:i|you|he|she|they|we|i'd|i'll|who|anyone|anybody|somebody|still) (?:have to |always |never |can't |can |don't |didn't |will |would |still )*(?:remember|forget|forgot|keep in mind|make sure)\b|\bbefore i forget\b|\bdon't remind me\b|\bdo you remember\b|\bremember (?:when|how|last|the (?:time|one|old|last|first|day))\b|\bi'll make sure\b/;
/** Only for what was said just before: "Remember that." */
const REMINDS_OF_BEFORE =
  /^(?:(?:please|and|so|do|just),? )*(?:remember (?:that|this|it)|don't forget(?: (?:that|this|it))?|nobody forgets?(?: (?:that|it))?|keep (?:that|it) in mind|bear (?:that|it) in mind)(?:[,.!]|$)/;
const FORGETS_IN_PASSING = /^(?:please,? )?(?:nobody|no one) forgets?\b/;
const MEETS_AGAIN =
  /\b(?:we(?:'ll| will)?(?: all)? meet (?:again|back|up|here|next)|(?:our|the) next (?:meeting|appointment|session|call|round|rehearsal|lesson|visit|check-?up)|(?:let's|we) (?:all )?(?:meet|talk|speak|sit together|get together|catch up) again|see you (?:all |both |again |then |back )*(?:on|at|next|in|tomorrow|mon|tues|wednes|thurs|fri|satur|sun)|next (?:meeting|appointment) (?:is|will be|on|at))\b/;
/** Something that has to be, on a day. */
const MUST_BE =
  /^(?:(?:and|but|so|also|you know),? )*(?:the|all|your|our|my|his|her|their|these|those) (?:[\w'-]+ ){1,6}?(?:must|has to|have to|needs to|need to|should) (?:be|go|come|stay|leave|arrive)\b/;
/** "If it gets worse, call us" */
const IF_THEN_CALL =
  /^(?:(?:and|but|so),? )*if (?:you|he|she|it|the|that|anything|there|your|they|this)\b.{3,120}?[, ](?:then |please |just )*(?:call|ring|phone|come (?:in|back|and|straight)|stop (?:taking|it|at)|let (?:us|me) know|tell (?:us|me)|go (?:straight )?to|see (?:a|your|the))\b/;
const ENDS_ON =
  /\b(?:(?:deadline|due date|closing date)(?: \S+){0,4} (?:is|are|ends)|(?:runs? out|expires?|is due|are due|must be in|has to be in|closes?|ends?) (?:on|by|at the end of|in))\b/;

/** Whether a sentence is meant to be remembered. */
export function isReminding(said: string): boolean {
  return REMINDS.test(said) && !NO_REMINDER.test(said);
}

const ASKS_TO_COME =
  /\b(?:when (?:do|shall|should|can|will|would) (?:we|i|you) (?:meet|come|see)|(?:can|could|would|will) you come|come (?:in|back|again|for)|see you again|meet again|next (?:appointment|visit|check-?up|lesson|session)|an appointment|you have to come|like to see you)\b/;
const SETTLED_TIME =
  /\b(?:then|settled|it is|is (?:fine|good|okay|perfect)|works|agreed|see you|booked)\b|^(?:(?:okay|so|right|good|great|perfect|fine),? )+/;
const APPOINTMENT_SENTENCES = 10;

export class ReminderFinder {
  readonly items: FoundItem[] = [];
  readonly #dialogue: Dialogue;
  readonly #dates: SpokenDates;
  readonly #used = new Set<number>();

  constructor(dialogue: Dialogue, dates: SpokenDates) {
    this.#dialogue = dialogue;
    this.#dates = dates;
  }

  look(sentence: DialogueSentence): void {
    const { said, is_question } = sentence;
    if (said === '' || is_question) return;
    const before = this.#remindedOf(sentence);
    if (before !== null) this.#add(before, [sentence]);
    else if (this.#reminds(sentence)) this.#add(sentence, []);
  }

  /** The sentence before "Remember that." */
  #remindedOf(sentence: DialogueSentence): DialogueSentence | null {
    const { lower, said } = sentence;
    if (!(REMINDS_OF_BEFORE.test(lower) || FORGETS_IN_PASSING.test(lower)) || NO_REMINDER.test(said)) return null;
    if (matterWords(lower.replace(/,.*$/, '')).length > 2) return null;
    return this.#dialogue.earlier(sentence).findLast((one) => matterWords(one.lower).length >= 2) ?? null;
  }

  /** "Thursday at eight, then": when somebody is to come again, as it was settled. */
  #isAppointment(sentence: DialogueSentence): boolean {
    const { said, place } = sentence;
    if (!(this.#dates.hasDay(sentence) && this.#dates.hasTime(sentence)) || !SETTLED_TIME.test(said)) return false;
    return this.#dialogue.before(place, APPOINTMENT_SENTENCES).some(({ said: before }) => ASKS_TO_COME.test(before));
  }

  #reminds(sentence: DialogueSentence): boolean {
    const { said, lower } = sentence;
    if (this.#isAppointment(sentence)) return true;
    if (isReminding(said) && matterWords(lower).length >= 2) return true;
    if (IF_THEN_CALL.test(lower)) return true;
    if (isHypothetical(lower) || !(MEETS_AGAIN.test(said) || ENDS_ON.test(said) || MUST_BE.test(lower))) return false;
    return this.#dates.due([sentence]) !== null;
  }

  #add(sentence: DialogueSentence, more: readonly DialogueSentence[]): void {
    if (this.#used.has(sentence.place)) return;
    const context = standsAlone(sentence) ? null : contextOf(this.#dialogue, sentence);
    const said = [...(context === null ? [] : [context]), sentence, ...more].sort((a, b) => a.place - b.place);
    for (const { place } of said) this.#used.add(place);
    const owner = /\b(?:remind me|don't let me)\b/.test(sentence.said) ? sentence.speaker : this.#addressee(sentence);
    this.items.push({
      kind: 'reminder',
      text: withContext(sentence.plain, context),
      owner,
      requester: null,
      said,
      due_in: [sentence],
      place: sentence.place,
    });
  }

  /** Who is told; null for everybody. */
  #addressee(sentence: DialogueSentence): string | null {
    if (MEETS_AGAIN.test(sentence.said) || ENDS_ON.test(sentence.said)) return null;
    const called = sentence.addressed ?? this.#dialogue.otherThan(sentence.speaker);
    if (called !== null) return called;
    const before = this.#dialogue.sentences[sentence.utterance - 1];
    return /\byou (?:have|need|must|should|still)\b/.test(sentence.said) && before !== undefined
      ? before.speaker
      : null;
  }
}
