/** English words by which the subjects of a conversation are told from the rest. */

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** A noun follows, at once or after an adjective. */
export const DETERMINERS = set(`
  the a an my your his her its our their this that these those some any no every each another which whose both
  last next first second third old new other
`);

/** A noun phrase may follow. */
export const PREPOSITIONS = set(`
  of for about with in on at by from to into over under between without against through per than like as after before
  during since until and or plus
`);

/** Whatever follows one of these is a verb, or an adjective. */
export const BEFORE_VERBS = set(`
  to i you we they he she it who will would can could should shall must may might do does did don't doesn't didn't won't
  wouldn't can't couldn't shouldn't i'll you'll we'll they'll he'll she'll it'll i'd you'd we'd they'd he'd she'd i've
  you've we've they've let's please not never always just also i'm you're we're they're he's she's it's there's that's
  gonna wanna is are was were be been being am
`);

/** Neither a subject nor part of the name of one. */
export const FUNCTION_WORDS = set(`
  longer shorter bigger smaller larger cheaper older newer earlier faster slower higher lower coming meanwhile upstairs
  downstairs outside inside abroad registered friendly everywhere today's sure enough afraid
  a about above across actually after again against ago ah ahead alone along already also alright although always am
  an and another any anybody anyhow anymore anyone anything anyway anywhere apart are aren't around as aside at away
  back basically because been before behind being below beside besides better between beyond both but by bye can can't
  cannot certain certainly clear clearly come comes could couldn't dad definitely did didn't different do does doesn't
  doing don't done down during each early easy either else enough er especially even ever every everybody everyone
  everything everywhere exactly except far few finally fine first for from full fully further gave get gets getting
  give given gives go goes going gone gonna good goodbye got gotta grandma grandpa great had hadn't half happen
  happens happy hard hardly has hasn't have haven't having he he'd he'll he's hear hello her here here's hers herself
  hey hi him himself his hm hmm honest honestly how however huh i i'd i'll i'm i've if in instead into is isn't it
  it'd it'll it's its itself just keep keeps kept kind kinda knew know known knows last late later least less let
  let's like likely little long looked looking looks lot lots love lovely made make makes making many may maybe me
  mean means meant mhm might mine mm mmm more morning most mostly much mum must my myself near nearly need needed
  needs neither never new next nice no nobody none nope nor not nothing now nowhere obviously of off often oh ok okay
  old on once one ones only onto open or other others otherwise ought our ours ourselves out over own particular
  particularly per perfect perhaps please possible possibly pretty probably put puts quick quickly quite rather ready
  real really reason remember right said same saw say saying says see seem seems seen send sent several shall she
  she'd she'll she's should shouldn't since so some somebody somehow someone something sometime sometimes somewhere
  soon sorry sort still stuff such suppose supposed sure take taken takes taking talked talking tell thank thanks that
  that's the their theirs them themselves then there there'd there'll there's therefore these they they'd they'll
  they're they've thing things think thinking this those though thought through thus to together told too took totally
  toward towards tried true truly try trying twice uh um under until up upon us use used uses using usual usually very
  wait want wanted wants was wasn't way we we'd we'll we're we've well went were weren't what what's whatever when
  where whether which while who who's whoever whole whom whose why will with within without won't wonder wonderful
  word words would wouldn't wow wrong yeah yep yes yet you you'd you'll you're you've your yours yourself able agree
  agreed ask asked asking asks bad begin begins best big bigger biggest bit bring brings broke broken brought buy buys
  called came case changed checked close closed costs couple decide decided depend depends exact feel feels felt find
  finds finish finished fix fixed follow forget forgot found free guess guys hate hates hated heard held helps hope
  hoped kill latest lead leave leaves leaving left lend liked listen live lose lost matter met mind minus miss missed
  moved owns pay paid pays pick picked point poor promised pull push rain rains ran save saved sell sends set sets
  showed shown sit sits sleep slow small sold started stay stays stick switch switched tested throw thrown tidy tired
  top wear wears win worked working worse worst worth write writes writing written wrote single double lucky funny
  ugly awful terrible serious seriously
`);

/** Nouns that name no matter by themselves, and words that are as often verbs. */
export const GENERIC_NOUNS = set(`
  thing things stuff business issue issues topic topics question questions answer answers idea ideas problem problems
  point points reason reasons case cases place places part parts side sides end beginning start name names number
  numbers list lists rest half couple bunch kind sort type way ways bit lot lots word words time times moment second
  seconds minute minutes hour hours day days night nights week weeks weekend weekends month months year years morning
  mornings noon afternoon afternoons evening evenings today tomorrow tonight yesterday date dates spring summer autumn
  fall winter season fortnight holiday christmas easter people person persons man men woman women guy guys kid kids
  child children everybody somebody friend friends brother sister mother father son daughter wife husband uncle aunt
  cousin grandma grandpa mum mom dad mister misses mr mrs ms doctor boss team group groups others one ones meeting
  talk call home house room front top back middle left right euro euros dollar dollars pound pounds franc francs cent
  cents percent money hundred thousand million dozen piece pieces pair plan plans option options choice choices chance
  sense matter fact news course line lines page version copy hand hands head eye eyes face work job life world thanks
  bye look help care fun joke luck laugh difference example step steps try fair cost costs girl boy lady sheet past
  edge all order orders offer offers note notes calls check checks change changes move moves test tests starts show
  shows share sign works turn touch drop join hold run runs read promise stop speak
`);
