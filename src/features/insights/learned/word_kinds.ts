/** Kinds of English words, which tell a note or a request from a remark. */

/** The part of a word in its sentence; `''` beyond the end. */
export type WordKind =
  | 'act'
  | 'moment'
  | 'kitchen'
  | 'i'
  | 'we'
  | 'you'
  | 'they'
  | 'the'
  | 'my'
  | 'ask'
  | 'to'
  | 'it'
  | 'day'
  | 'number'
  | 'is'
  | 'did'
  | 'doing'
  | 'so'
  | 'name'
  | 'plural'
  | 'other'
  | '';

/** The word as it was said, in lower case, and its kind. */
export type SpokenWord = { word: string; kind: WordKind };

const wordsOf = (list: string) => list.split(/\s+/);

/** Verbs in the form of a request. */
const ACTS =
  wordsOf(`accept address adjust advertise aim air alter announce answer apologise apologize appeal apply appoint approve arrange ask assemble assess
  assign attach attend authorise avoid award back balance ban bandage bathe bear begin bend bill bind bleed block blow board bolt book
  borrow box brace break brief bring brush build burn bury buy calculate call cancel carry carve cash catch change charge chase chat check
  choose circle circulate cite claim clean clear climb close collect colour comb compare compile complain complete compliment compost
  concentrate confirm congratulate connect consider consult contact continue convert convince copy correct count crop cross cull cut cycle
  debug declare decline decorate dedicate defrost delay delegate delete deliver demand deposit descale describe design develop dial dig
  dilute disable discard discharge disconnect discuss dismantle display distribute divide do donate double download draft drag draw dress
  drill drive drop dry dust earmark earn eat edit email employ empty enable encourage end enquire enrol enroll ensure enter escalate
  establish estimate examine exchange exercise exhibit expand explain explore export extend fasten feed fence fetch file fill filter find
  finish fire fit fix flag flatten flip flush focus follow forward frame freeze gather get glaze glue google grab grade graze grease greet
  grow guard hand handle hang harrow harvest have head help hem hide highlight hire hook hoover host ice identify implement import improve
  include increase inform inject inspect install instruct insulate insure intend introduce invest investigate invite invoice involve iron
  isolate issue join jot jump key kick knit knock label lag laminate land lay lead leak learn leave lend lengthen level liaise lift light
  limit line link list litter load lobby locate lock log lower mail maintain make manage map mark massage match measure meet mend mention
  merge message milk monitor mop mount mow mulch nail name negotiate nominate note notify number obtain offer oil omit open operate oppose
  order organise organize outline oven own pack paint paper park paste patch pause pay peg pencil perform persuade phone photocopy
  photograph pick pin pitch plan plane plant plaster plead plough plug plumb point polish pop post postpone pot practice practise praise
  prepare prescribe present prevent price prime print prioritise prioritize probe process produce promise proofread propose protect provide
  prune publish pull pump punch purchase push put quote raise rake rank ration reach read rearrange rebase rebook recalculate receive
  recharge recheck reclaim recommend reconcile record recover recruit recycle redecorate redo reduce refer refill refit refund refuse
  register rehang rehearse reinstall reject relabel release remake remember remind remortgage remove rename renegotiate renew renovate rent
  reorder repaint repair repay repeat replace replant replenish reply repoint report repot request reread rerun research reseed resend
  reserve reset resit resize resolve restart restock restring resubmit retake rethink return reuse review revise revisit rewire rewrite ring
  rinse rip rotate run sack sand save saw scan scatter schedule score scrape scrub seal search secure seed seek select sell send separate
  serve service set settle sew shake share sharpen shave shear shift ship shop shorten shout show shred sign skim skip slide slow smooth
  solder sort source sow spare speak specify spell spend split spot spray stack stain stake staple start sterilise stick stitch stock store
  strengthen stretch strim strip study submit subscribe substitute suggest sum supply support survey suspend swap sweep swim switch tag take
  talk tape taxi teach tell test text thin thread throw tick tidy tie tighten time tip top total touch track trade train transcribe transfer
  translate transplant transport trap treat trim tune type unblock uncover undo uninstall unite unlock unpack unplug unscrew unsubscribe
  untangle update upgrade upload use vaccinate vacuum value varnish vary verify view visit volunteer vote wake walk want warm warn wash
  water wax wear weatherproof weave weed weigh weld widen win wind wire wish withdraw work worm wrap write`);
/** Verbs with which people, dogs and God are spoken to. */
const MOMENTS =
  wordsOf(`bless breathe come give go hold hurry hush imagine keep let listen look mind move pass play pray say see shut sing sit stand stay stop
  thank think try turn wait watch worry`);
/** Verbs of recipes. */
const KITCHEN =
  wordsOf(`add bake beat blend boil brew chill chop combine cook cool cover dip drain fold fry grate grind heat knead marinate melt mix peel pour
  press prove rest roast roll rub season shape sieve sift simmer slice soak spoon spread sprinkle squeeze steam stir strain taste thicken
  toast toss whip whisk wipe`);
const DID =
  wordsOf(`ate became began bit blew bought broke brought built burnt came caught chose dealt did drank dreamt drew drove dug fed fell felt flew
  forgot found froze gave got grew had heard held hid hung kept knew laid learnt led left lit lost made meant met paid ran rang rode rose
  said sang sank sat saw sent shook shot slept smelt spelt spent spoke spun stole stood struck stuck swam swore taught thought threw told
  took tore understood was went were woke won wore wound wrote`);
/** A word of two lists is what the later one says. */
const LISTS: readonly [WordKind, readonly string[]][] = [
  ['act', ACTS],
  ['moment', MOMENTS],
  ['kitchen', KITCHEN],
  ['did', DID],
  [
    'is',
    wordsOf(`is are was were am be been being isn't aren't wasn't weren't has had have hasn't haven't hadn't does do did don't doesn't didn't can can't could
  couldn't will won't would wouldn't shall should shouldn't may might must that's there's what's who's`),
  ],
  ['the', wordsOf('the a an this that these those some any all both each every another no more enough')],
  ['my', wordsOf('my our your his her their its')],
  ['i', wordsOf(`i i'll i'd i've i'm`)],
  ['we', wordsOf(`we we'll we'd we've we're`)],
  ['you', wordsOf(`you you'll you'd you've you're`)],
  ['they', wordsOf(`he she it they there he's she's it's they're he'll she'll it'll they'll they've`)],
  [
    'to',
    wordsOf(`to for at on in of from with about into onto over under by up out off down back round around after before until till during through
  across along against near without within behind between`),
  ],
  ['it', wordsOf('him them me us everybody everyone somebody someone nobody something everything nothing')],
  ['ask', wordsOf('what who when where how why which whether')],
];
const KINDS = new Map<string, WordKind>(LISTS.flatMap(([kind, list]) => list.map((word) => [word, kind] as const)));
const DAY =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|tonight|today|weekend|week|month|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|midnight|noon|morning|afternoon|evening|lunch|lunchtime|o'clock|bedtime)$/;
const NUMBER =
  /^(?:\d[\d:.,]*(?:st|nd|rd|th|am|pm)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|ninety|hundred|half|quarter|first|second|third|\w+teenth|twentieth|thirtieth|fourth|fifth|sixth|seventh|eighth|ninth|tenth)$/;
const BEHIND_VERBS: ReadonlySet<WordKind> = new Set(['the', 'my', 'it']);
const WORD = /[\p{L}\p{N}]+(?:['’.:-][\p{L}\p{N}]+)*/gu;

/** The words of a sentence with their kinds. */
export function spokenWords(text: string): SpokenWord[] {
  const words = (text.match(WORD) ?? []).map((said, at): SpokenWord => {
    const word = said.toLowerCase().replaceAll('’', "'");
    return { word, kind: kindOf(word, at > 0 && /^\p{Lu}/u.test(said)) };
  });
  const [first, next] = words;
  // No noun stands before an article: "Bleach the grout."
  if (first?.kind === 'other' && next !== undefined && BEHIND_VERBS.has(next.kind)) first.kind = 'act';
  return words;
}

function kindOf(word: string, is_name: boolean): WordKind {
  if (DAY.test(word)) return 'day';
  if (NUMBER.test(word)) return 'number';
  const known = KINDS.get(word);
  if (known !== undefined) return known;
  if (/[a-z]{2}ed$/.test(word)) return 'did';
  if (/[a-z]{2}ing$/.test(word)) return 'doing';
  if (/ly$/.test(word)) return 'so';
  if (is_name) return 'name';
  return word.endsWith('s') ? 'plural' : 'other';
}
