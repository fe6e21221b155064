/**
 * Signs in a turn of the kind of answer that it may give, of a question, and of what its speaker takes on or decides. By
 * English words; they raise a turn among those that a question finds, and prove nothing.
 */

export const ANSWER_MARKS = [
  'asks',
  'affirms',
  'when',
  'number',
  'who',
  'where',
  'why',
  'promises',
  'refuses',
  'decides',
] as const;
export type AnswerMark = (typeof ANSWER_MARKS)[number];

/** Times of a day, days, months and lengths of time. May and March are words like others unless something leads them. */
const WHEN =
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|april|june|july|august|september|october|november|december|easter|christmas|spring|summer|autumn|winter|today|tonight|tomorrow|yesterday|morning|afternoon|evening|night|noon|midnight|lunchtime|weekends?|weeks?|months?|years?|days?|hours?|minutes?|fortnight|o'clock|since|until|till|ago|soon|later|holidays?)\b|\b(?:in|of|by|from|until|since|next|last|this) (?:march|may)\b|\b(?:half|quarter|ten|twenty|five) (?:past|to)\b|\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b|st\b|nd\b|rd\b|th\b|\.\d{1,2}\.)|\bthe (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty|thirtieth|thirty)\b/i;
const NUMBER =
  /\d|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|couple|half|twice|percent|free|nothing|none)\b|[€$£%]/i;
/** A word with a capital letter inside a sentence, but no weekday, month or "I". */
const NAME =
  /[\p{L}\p{N},;:’'] (?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December|Okay|Yes|No\b)\p{Lu}\p{Ll}+/u;
const PERSON =
  /\b(?:i'll|i'm|i can|i will|i'd|i've|myself|my (?:\w+ )?(?:mother|mum|mom|father|dad|sister|brother|wife|husband|son|daughter|boss|cousin|aunt|uncle|friend|colleague|neighbou?r)|grandma|grandpa|nobody|everybody|everyone|mister|mrs|mr|doctor|dr)\b/i;
const WHERE =
  /\b(?:here|there|upstairs|downstairs|home|abroad|online|outside|inside)\b|\b(?:in|at|into|under|behind|beside|near|next to|on|to|from) (?:the|our|my|your|their|his|her|a|an|that|this) (?:\w+ )?(?!week|month|year|day|morning|afternoon|evening|night|time|moment|end|first|second|third|weekend)[a-z]{3,}/i;
const NAMED_PLACE = /\b(?:[Ii]n|[Aa]t|[Tt]o|[Ff]rom|[Nn]ear) \p{Lu}\p{Ll}+/u;
const WHY =
  /\b(?:because|cause|since|therefore|otherwise|reason|so that|due to|that's why|too|in case|so we|so i|so it|made me|makes me|broke|broken|forgot|failed|can't|cannot|couldn't|didn't|doesn't|isn't|wasn't|won't|wouldn't|no longer|never|nothing|no)\b/i;
const PROMISES =
  /\b(?:i'll|i will|i'm going to|i am going to|i'm gonna|we'll|we will|i can|let me|leave (?:that|it|this) (?:with|to) me|count on me|consider it done|will do|i promise|i'm (?:writing|doing|sending|making|taking|bringing|asking|calling)|you'll (?:have|get)|on it|it's mine|my job)\b/i;
const REFUSES =
  /\b(?:can't|cannot|can not|won't|will not|not going to|unable to|not able to|couldn't|shouldn't|don't want to|rather not|not me|no way|never) ?(?:promise|commit|do|make|say|tell|guarantee|take|help)?\b/i;
const DECIDES =
  /\b(?:let's|decided|decision|agreed|settled|deal|we(?:'ll)? (?:go|take|keep|stay|do|use|try|leave|stick|drop)|then (?:we|it|i)|it is|it will be|then it's|that's (?:settled|decided|it)|done|final|go with|on we go|off it goes)\b/i;
const AFFIRMS =
  /^\W*(?:(?:oh|well|um|uh|erm|ah|so|and),? )*(?:yes|yeah|yep|yup|no|nope|nah|not|sure|right|exactly|of course|correct|true|absolutely|definitely|maybe|perhaps|probably|never|always|both|neither|i think so|i hope so|i don't think)\b/i;
const LEADS_QUESTION =
  /^\W*(?:(?:so|and|but|or|okay|ok|oh|well|right|wait|um|uh|then|now|hey),? )*(?:who|whose|what|when|where|why|how|which|do|does|did|is|are|was|were|can|could|will|would|shall|should|have|has|had|am|who's|what's|when's|where's|how's|isn't|aren't|don't|doesn't|didn't|can't|won't)\b/i;
const ENDS_SENTENCE = /[.!?…]/;
const LAST_ASKS = /\?["'”’)\s]*$/;
const STATEMENT_BEHIND = /\?\s+\S[^?]*[.!…]["'”’)\s]*$/;
const OTHER_APOSTROPHES = /[’‘]/g;

const RULES: readonly [AnswerMark, RegExp][] = [
  ['affirms', AFFIRMS],
  ['when', WHEN],
  ['number', NUMBER],
  ['why', WHY],
  ['promises', PROMISES],
  ['refuses', REFUSES],
  ['decides', DECIDES],
];

/** The signs of one English text. */
export function answerMarksOf(text: string): AnswerMark[] {
  const plain = text.replace(OTHER_APOSTROPHES, "'");
  const found = RULES.filter(([, rule]) => rule.test(plain)).map(([mark]) => mark);
  if (asks(plain)) found.push('asks');
  if (WHERE.test(plain) || NAMED_PLACE.test(plain)) found.push('where');
  if (NAME.test(plain) || PERSON.test(plain)) found.push('who');
  return found;
}

/** Whether it ends with a question; without any punctuation, whether it begins as one. */
function asks(text: string): boolean {
  if (!ENDS_SENTENCE.test(text)) return LEADS_QUESTION.test(text);
  return LAST_ASKS.test(text) && !STATEMENT_BEHIND.test(text);
}
