/**
 * Forms of English sentences that promise, ask, accept or refuse. All are tried on text in lower case with straight
 * apostrophes. None goes back over what it has read more than a few words.
 */

const list = (words: string) => words.trim().split(/\s+/);

/** Lower case, straight apostrophes, one space. */
export function lowered(text: string): string {
  return text.toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ').trim();
}

// --- actions ------------------------------------------------------------------------------------------------------------

/** Verbs of things to be done, as a request names them. */
const ACTIONS = new Set(
  list(`add adjust agree answer apply approve arrange ask assign attach back backup bake block book borrow bring build buy call cancel carry change charge chase check circulate clean clear
  close collect come compare compile complete confirm contact convert cook copy correct count cover create cut deal decide deliver design discuss do document download draft draw drive drop
  email e-mail empty escalate estimate explain export extend feed file fill finalise finalize find finish fix fold follow forward get give go grab handle hand hang help hire inform install
  introduce invite invoice join keep lead leave lend let list load lock look mail make mark measure meet mention merge message monitor move note notify offer open order organise organize
  pack paint park pass pay phone pick plan plant post prepare present print process publish pull push put raise read rebook record refund register release remind remove renew rent repair
  replace reply report request research reserve restart return review rewrite ring rotate run save scan schedule search sell send separate serve set share ship shorten show shut sign
  sort speak split start stick stop store submit swap switch take talk tell test text throw tidy touch track train translate transfer try tune turn type update upgrade upload use verify visit
  wait warn wash watch water wipe write`),
);

/** After "I'll", says nothing of a task. */
const NO_TASK = new Set(
  list(`admit always assume be believe bet cope cry die enjoy explain feel forget grow guess hate hear hope imagine kill know laugh like live love manage mean miss need never
  note not only prefer regret remember repeat say shut sit skip sleep spare stand start stop suppose survive think understand wager wait want wish wonder end become probably maybe
  pretend trust owe eat drink try fall freeze starve move see tell have go get let leave come keep put do make give take turn write call pass stay end`),
);
/** Of these verbs, the objects and particles that make a task of them. */
const TASK_AFTER = new Map<string, RegExp>([
  ['be', /^(?:responsible|in charge|the one)\b/],
  ['see', /^(?:if|whether|to (?:it|that|the)|about|what i can)\b/],
  ['tell', /^(?!you\b|me\b|a story|it like|that much)\S/],
  [
    'have',
    /^(?:(?:it|that|them|this|something|these|those|everything)\b(?! to )|an? (?:look|word|chat|go|quick|short)\b|the .*\b(?:ready|done|finished|then|sent)\b)/,
  ],
  [
    'go',
    /^(?:and|to|up|down|over|through|round|by|there|back|out|see|get|with (?:him|her|them|you)|on (?:the|mon|tues|wednes|thurs|fri|satur|sun))\b(?! (?:crazy|mad|again))/,
  ],
  [
    'get',
    /^(?!used\b|to (?:that|it|this|know)\b|back to (?:that|it|this)\b|there\b|over\b|old\b|tired\b|home\b|going\b|lost\b|wet\b|bored\b|angry\b|started\b|it\.?$|better\b|worse\b)\S/,
  ],
  ['let', /^(?:\S+ know|(?:him|her|them|everybody|everyone|\S+) know)\b/],
  ['leave', /^(?!it (?:there|at|here|open|to you)|you\b|now\b|soon\b|early\b)\S/],
  ['come', /^(?!to (?:that|this)|back to (?:that|this)|clean)\S/],
  ['keep', /^(?!it (?:short|brief|quick|simple)|quiet|going|trying|saying)\S/],
  ['put', /^(?!it (?:this|that|another|bluntly|simply|mildly)|up with)\S/],
  ['do', /^(?!my best|nothing|without|anything|fine|well|better)\S/],
  ['make', /^(?!it (?:quick|short|up|worse|brief)|sense|do\b|a fool|no promises|a note of (?:that|it))\S/],
  ['give', /^(?!you (?:that|this|an example)|up\b|an example|it to you|in\b)\S/],
  ['take', /^(?!that as|it (?:that|as)|your word|a seat|the blame|a guess|five\b|questions)\S/],
  ['turn', /^(?:it|that|them|the|on|off|up|down)\b/],
  ['write', /^(?!(?:that|it|this) (?:down|off)|down\b)\S/],
  ['call', /^(?!it\b|that\b|you (?:a|an)\b)\S/],
  ['pass', /^(?:it|that|them|this|on|the)\b/],
  ['try', /^(?!my best|harder)\S/],
  ['start', /^(?!$|with|by|over|off|again|then|first)\S/],
  ['stop', /^(?:by|the|at)\b/],
  ['remember', /^to\b/],
  ['explain', /^(?:it|that|this|the \S+) to (?!you)/],
  ['move', /^(?:it|that|them|the|our|my|this)\b/],
  ['stay', /^(?:with|late|behind)\b/],
  ['wait', /^for (?:the|him|her|them)\b/],
  ['manage', /^the\b/],
  ['note', /^(?!that\.?$|it\.?$|this\.?$|that down)\S+ \S+ \S/],
]);

/** Words of times at which nobody is held to a promise. */
const VAGUE =
  /\b(?:at some point|some ?time|some ?day|one day|eventually|in my next life|when i'm (?:old|dead)|for ever|forever|as always)\b/;

const ADVERB =
  '(?:just|also|then|definitely|certainly|quickly|still|happily|gladly|simply|personally|both|try to|try and|go and|make sure to|make sure i|make sure we|be happy to|be glad to)';
const WILL =
  "(?:i'll|i will|i shall|i'm going to|i am going to|i'm gonna|i promise to|i promise i'll|i'll be going to|i've promised to|i agreed to|i said i'd|i said i would)";
const COMMITMENT = new RegExp(`(?:^|[^\\w'])${WILL} (?:${ADVERB} )*([a-z-]+)\\b ?(.*)$`);
const ADMIN = new Set(
  list(
    'call ring phone book send write ask order pay renew cancel check email talk speak print sign return register apply finish buy tell',
  ),
);
const OWN_NEED = new RegExp(
  `(?:^|[^\\w'])(?:i need to|i must|i've got to|i should probably|i really should) (?:${ADVERB} )*([a-z-]+)\\b ?(.*)$`,
);
const OWN_DUTY = new RegExp(
  `(?:^|[^\\w'])(?:i (?:still|also) (?:have to|need to|must|should)|i'd better|i had better|i've still got to|i've got to remember to) (?:${ADVERB} )*([a-z-]+)\\b ?(.*)$`,
);
const OUR_COMMITMENT = new RegExp(`(?:^|[^\\w'])(?:we'll|we will|we're going to) (?:${ADVERB} )*([a-z-]+)\\b ?(.*)$`);
const OFFER = new RegExp(
  `(?:^|[^\\w'])(?:i can|i could|i'd be happy to|i'm happy to|happy to|i'd be glad to) (?:${ADVERB} )*([a-z-]+)\\b ?(.*)$`,
);
const NO_OFFER = new Set(
  list(`see hear tell imagine understand feel remember think believe live say only always never barely hardly not be have smell wait relate assure sleep stay manage afford stand even already
  read barely stop promise recommend really get`),
);
const CONDITIONAL_COMMITMENT = new RegExp(
  `(?:^|[^\\w'])(?:i'd|i would) (?:have to |need to )?(?:${ADVERB} )*([a-z-]+)\\b ?(.*)$`,
);
const LET_ME =
  /(?:^|[^\w'])let me (?:just |quickly |also )*(ask|check|find|call|ring|phone|send|write|talk|speak|get|confirm|arrange|handle|deal|sort|book|order|look|follow|email|try|chase|contact|draft|prepare|organi[sz]e|share|set)\b ?(.*)$/;
const NO_LET_ME =
  /^(?:get (?:this|that|it) straight|get (?:to|back to) (?:that|the)|look at (?:it|that|the|this|my)\b(?!.*\bby\b)|find (?:it|the|my)\b|try (?:to explain|again)|share my|check (?:my|if i)\b|(?:this|that) straight)/;
const PROGRESSIVE =
  /(?:^|[^\w'])(?:i'm|i am) (asking|writing|calling|ringing|phoning|sending|emailing|booking|ordering|buying|bringing|making|picking|organi[sz]ing|arranging|paying|taking|fixing|preparing|meeting|seeing|driving|collecting|cooking|baking|sorting|printing|renewing|cancelling|presenting|hosting|covering|finishing|delivering|submitting|visiting) (.+)$/;
const NO_PROGRESSIVE =
  /^(?:you|it up|sense|a joke|progress|my (?:time|way)|notes|this (?:one )?(?:message|sentence)|these|those|care|sure|pills|tablets|medication)\b/;
/** Progressives that speak of what is going on need a day that is ahead. */
const NEEDS_DAY = new Set(
  list('making picking taking meeting seeing driving collecting cooking presenting finishing visiting covering'),
);

/** Verbs with which "we will" decides, and promises nothing. */
const CHANGES = new Set(
  list(
    'stop switch start try change leave keep stay go increase reduce lower raise double halve drop skip move cancel close open split take put cut',
  ),
);

export type CommitmentForm = {
  strength: 'promise' | 'offer' | 'would';
  verb: string;
  /** All after the verb. */
  object: string;
  ours: boolean;
};

/** A sentence that promises, offers, or would do something. */
export function commitmentIn(plain: string): CommitmentForm | null {
  if (isHypothetical(plain) || VAGUE.test(plain)) return null;
  const promised = COMMITMENT.exec(plain);
  if (promised !== null) {
    const [, verb = '', object = ''] = promised;
    if (isTask(verb, object)) return { strength: 'promise', verb, object, ours: false };
  }
  const duty = OWN_DUTY.exec(plain);
  if (duty !== null && ACTIONS.has(duty[1] as string))
    return { strength: 'promise', verb: duty[1] as string, object: duty[2] as string, ours: false };
  const need = OWN_NEED.exec(plain);
  if (need !== null && ADMIN.has(need[1] as string) && /\S/.test(need[2] ?? '') && !/\byou\b/.test(need[2] ?? ''))
    return { strength: 'promise', verb: need[1] as string, object: need[2] as string, ours: false };
  const let_me = LET_ME.exec(plain);
  if (let_me !== null && !NO_LET_ME.test(`${let_me[1]} ${let_me[2]}`))
    return { strength: 'promise', verb: let_me[1] as string, object: let_me[2] as string, ours: false };
  const now = PROGRESSIVE.exec(plain);
  if (now !== null && !NO_PROGRESSIVE.test(now[2] ?? '')) {
    const [, verb = '', object = ''] = now;
    return { strength: NEEDS_DAY.has(verb) ? 'would' : 'promise', verb, object, ours: false };
  }
  const together = OUR_COMMITMENT.exec(plain);
  if (
    together !== null &&
    !CHANGES.has(together[1] as string) &&
    ACTIONS.has(together[1] as string) &&
    isTask(together[1] as string, together[2] as string)
  )
    return { strength: 'promise', verb: together[1] as string, object: together[2] as string, ours: true };
  const offered = OFFER.exec(plain);
  if (offered !== null && !NO_OFFER.has(offered[1] as string))
    return { strength: 'offer', verb: offered[1] as string, object: offered[2] as string, ours: false };
  const would = CONDITIONAL_COMMITMENT.exec(plain);
  if (would !== null && ACTIONS.has(would[1] as string))
    return { strength: 'would', verb: would[1] as string, object: would[2] as string, ours: false };
  return null;
}

function isTask(verb: string, object: string): boolean {
  const after = TASK_AFTER.get(verb);
  return after === undefined ? !NO_TASK.has(verb) : after.test(object);
}

const SAYING =
  "(?:said|says|wrote|writes|replied|replies|answered|answers|texted|mailed|emailed|messaged|promised|promises|shouted|claimed|insisted|swore|(?:told|tells|promised) (?:me|us|him|her|them)|(?:was|were|is|are|'s|'re) (?:all )?like)";
const TELLER =
  '(?:he|she|they|you|somebody|someone|(?:the|my|our|your|his|her|their) (?:[\\p{L}-]+ ){0,2}?[\\p{L}-]+|[\\p{L}-]+)';
const NO_TELLER = '(?:i|we|it|that|this|what|all|everything|nothing|time)';
const ANSWERED =
  "(?:(?:okay|ok|yes|yeah|no|sure|sorry|well|oh|fine|alright|hey|hi|hello|look|listen|thanks|no problem|don't worry),? )*";
const REPORTED = [
  // "He said I have to" may be of whoever tells it; "he said, I have to" is not.
  `^(?!${NO_TELLER}\\b)${TELLER} (?:just |also |then |always )?${SAYING} (?:that )?${ANSWERED}(?:i will|i'll|i'm|i am|i can|we will|we'll|we can|let me|let us)\\b`,
  `^(?!${NO_TELLER}\\b)${TELLER} (?:just |also |then |always )?(?:${SAYING}|goes|went)(?:,|:|,? ?["“])\\s*["“]?${ANSWERED}(?:i|we|you|let|please|can|could|would|will)\\b`,
  `(?:[,!?"”]["”]?) (?!${NO_TELLER}\\b)${TELLER} ${SAYING}(?: (?:to )?(?:me|us))?(?: \\p{L}+)?[.!]*$`,
].map((form) => new RegExp(form, 'u'));

/** Somebody else's words: "he said, I will call you". */
export function isReported(plain: string): boolean {
  return REPORTED.some((form) => form.test(plain));
}

/** Takes over what was spoken of before, without naming it. */
const TAKES_OVER =
  /^(?:(?:leave|give) (?:that|it|this|them) (?:with|to) me|(?:it|that|this|that one|the \w+ one)(?:'s| is| will be| can be) mine|mine|(?:i'm|i am) on it|on it|consider (?:it|that) done|i've got (?:it|that|this)|i got (?:it|that|this)|count on me|will do|i will(?! not\b| never\b)|i can(?! not\b|not\b|'t\b)|i'll do (?:it|that|this)|i can do (?:it|that|this)|i'll take (?:it|that|this|that one|care of (?:it|that))|i could do (?:it|that)|i'd do (?:it|that)|you(?:'ll| will) (?:have|get) (?:it|that|them)|me(?! too| neither| either|\?)|i'll see to (?:it|that)|i'll handle (?:it|that))\b/;

export function takesOver(plain: string): boolean {
  return TAKES_OVER.test(plain) && !isHypothetical(plain) && !/,? but\b/.test(plain);
}

const APPOINTMENT =
  /^let's (?:all |both |just )*(?:have (?:a )?(?:lunch|dinner|breakfast|coffee|call|chat|drink|word)|meet|talk|sit (?:down|together)|speak|catch up|get together|go (?:for|to)|discuss)\b/;

/** Two or more who are to meet, for another matter than now. */
export function isAppointment(plain: string): boolean {
  return APPOINTMENT.test(plain) && !isHypothetical(plain);
}

/** A past that is no more, or a wish. */
const HYPOTHETICAL =
  /\b(?:if (?:i|we|you|he|she|they|it|there|only) (?:had|were|was|could|would|knew)|if only|(?:would|could|should|might|must)(?:n't| not)? have \w+(?:ed|en|t|ne|wn|de)\b|should have|would have|could have|used to|i wish|was going to|were going to|was supposed to|were supposed to|meant to|wanted to|almost|i was|we were)\b/;
/** A sentence under a condition that nobody knows to hold. */
const CONDITION = /^(?:and |but |so |then )*(?:if|unless|in case|had|supposing) (?!you\b)/;

export function isHypothetical(plain: string): boolean {
  return HYPOTHETICAL.test(plain) || CONDITION.test(plain);
}

// --- requests -----------------------------------------------------------------------------------------------------------

const POLITE =
  '(?:please|maybe|just|also|kindly|perhaps|possibly|quickly|still|then|both|all|at least|be so kind and|be able to|go and|remember to)';
const CAN_YOU = new RegExp(
  `(?:^|[^\\w'])(?:(?:can|could|will|would) (?:you|one of you|both of you|you two|you guys|you all)|i need you to|i'd like you to|i would like you to|i want you to|may i ask you to|can i ask you to|could i ask you to|are you able to|would you be able to|i'd ask you to|i'd appreciate it if you could|it would be great if you could|you could maybe|you might want to|do you want to|won't you) (?:${POLITE} )*([a-z-]+)\\b ?(.*)$`,
);
const NO_REQUEST = new Set(
  list(
    `hear see tell believe imagine say repeat remember guess feel understand explain speak hold wait stop be live afford like mind rather prefer hurry know think want need have even ever not`,
  ),
);
const REQUEST_AFTER = new Map<string, RegExp>([
  ['tell', /^(?!me\b|us\b|you\b|from|if|when|that)\S/],
  ['remember', /^to\b/],
  ['explain', /^\S.* to (?!me|us)/],
  ['speak', /^(?:to|with)\b/],
  ['give', /^(?!me an? (?:example|second|minute|hint|moment)|us an? (?:example|second|minute))\S/],
  ['show', /^(?!me\b|us\b)\S/],
  ['stop', /^by\b/],
  ['be', /^(?:up for|willing|there|ready|responsible|in charge)\b/],
  [
    'have',
    /^(?:(?:someone|somebody|[a-z]+) (?:call|send|put|bring|ring|book|write|check|fix|print|make|look|add|email|come)\b|a look|a word|it|them|that)\b/,
  ],
  ['come', /^(?!again)/],
  ['read', /^(?!that|it out|me)\S/],
]);
const WOULD_MIND = /(?:^|[^\w'])(?:would|do) you mind ([a-z]+ing)\b ?(.*)$/;
const LEAVES_WITH = /^(?:can|could|may) i (?:leave|give|pass|hand) .{1,80} (?:with|to) you\b/;
const YOU_WILL = /^you(?:'ll| will) (?:please |just |then |also )*([a-z-]+)\b ?(.*)$/;
const NOT_TOLD = new Set(list('get find have hear see need meet pay cover lead break answer'));
const IMPERATIVE = new RegExp(`^(?:${POLITE} )*([a-z-]+)\\b ?(.*)$`);
const NEVER_IMPERATIVE =
  /^(?:(?:please )?do(?: (?:it|that|so))?[.!]?$|(?:please )?do\b[.,] |let's|come (?:in|on|again)|go (?:ahead|on)|hold (?:on|still)|wait|look\b(?! (?:at|into|up|after|for))|see\b|have (?:a seat|a nice|fun)|take (?:care|your time|a seat)|lie down|sit|mind\b|try me|call me|get (?:well|out)|give me a (?:second|minute|moment)|stop\b|talk about|keep going|tell me|show me|excuse|forget (?:it|that)|don't|do not|do you|do we|do i|do they|does|use \w+ing|check \.|back (?:to|in|when)|help yourself|leave it (?:open|there|at)|let (?:me|us)(?! (?:have|know))|move on|moving|open the question|cut it|give (?:or take|up)|make it|make sense|check|watch out|turn out|plan [ab]\b|test\b.* (?:is|was|are)\b|report\b.* (?:is|was)\b|(?:copy|water|phones?|record|drive|paint|park|post|book|plan|ring|cook|cover|place|talk|track|transfer|update|upgrade|visit|watch|walk|count|deal|design|document|help|hand|list|mark|measure|order|process|request|research|reserve|return|review|report|rent|repair|schedule|search|share|sort|start|store|supply|text|touch|train|type) (?:is|are|was|were|has|have|will|can|could|away|needs?|should|must|of|until|or)\b|note\b.* (?:is|was)\b|cover\b.* (?:is|was)\b|back at\b|water\b.* (?:is|was)\b)/;
const ADVICE =
  /(?:^|[^\w'])you(?:'ll)? (?:just |also |really |still )*(?:need to|have to|must|should|ought to|'d better|could|might|can|might want to) (?:just |also |then )*([a-z-]+)\b ?(.*)$/;
const PERSON_DOING =
  /^you're (doing|making|bringing|taking|cooking|writing|calling|booking|buying|paying|driving|organi[sz]ing|on) (.+)$/;
const PERSON_DOES =
  /^you (?:just |also |can |then )*(do|take|write|bring|make|call|ring|book|buy|ask|tell|send|get|print|cook|pay|organi[sz]e|prepare|check|handle|order|clean|fetch|collect|drive|lead|start|finish) (.+)$/;
const SHALL_I =
  /(?:^|[^\w'])(?:shall i|should i|do you want me to|want me to|would you like me to|do i|can i|could i|may i) (?:just |also |then |still |maybe )*([a-z-]+)\b ?(.*)$/;
const NO_SHALL_I = new Set(
  list('have need look know really think want say see hear ask just start go begin be come add interrupt'),
);
const NEED =
  /(?:^|[^\w'])(?:(?:can|could|would|will) (?:somebody|someone|anybody|anyone|one of (?:us|you)) (.*)|(?:somebody|someone|anybody|anyone|one of us|one of you|nobody|no one|none of us) (?:(?:still |also |really )*(?:has to|needs to|should|must|will have to|ought to|could|might|would have to|to)|(?:has|is) (?:\w+ed|\w+ing|done|taken|written|sent|told)|'s \w+ing) ?(.*)|(?:we|we still|we also|we really) (?:need to|have to|must|should|ought to|still need|need|are missing|'ve got to|could use) (.*)|i(?:'d)? need (?:someone|somebody|a person|a volunteer|help) (.*)|(?:the|our|your|this|that) (?:[\w'-]+ ){1,4}needs? (?:an? |new |to be |more |some |\w+ing\b)(.*)|there(?:'s| is) (?:still |also )?(.*) to be (?:done|sent|written|booked|fixed))$/;
const WHO_WILL =
  /^(?:and |but |so )*who(?:'s| is|'ll| will| can| could| wants to| would| is going to|'s going to| should| has to)? (?:going to )?([a-z]+)\b ?(.*)$/;

export type RequestForm = {
  /** directed: to somebody; advice: "you should"; offer: "shall I"; need: to nobody; imperative: a bare verb. */
  form: 'directed' | 'advice' | 'offer' | 'need' | 'imperative' | 'who';
  /** The action asked for, from its verb on. */
  action: string;
  is_polite: boolean;
};

/** A sentence that asks for something to be done; `plain` begins without openers and without a name. */
export function requestIn(plain: string): RequestForm | null {
  if (HYPOTHETICAL.test(plain) && !plain.startsWith('could you')) return null;
  const is_polite = /\bplease\b/.test(plain);
  const can = CAN_YOU.exec(plain);
  if (can !== null) {
    const [, verb = '', object = ''] = can;
    const after = REQUEST_AFTER.get(verb);
    const is_request = after === undefined ? !NO_REQUEST.has(verb) : after.test(object);
    return is_request ? { form: 'directed', action: `${verb} ${object}`, is_polite } : null;
  }
  if (WOULD_MIND.test(plain) || LEAVES_WITH.test(plain)) return { form: 'directed', action: plain, is_polite: true };
  const told = YOU_WILL.exec(plain);
  if (told !== null && ACTIONS.has(told[1] as string) && !NOT_TOLD.has(told[1] as string))
    return { form: plain.endsWith('?') ? 'directed' : 'advice', action: `${told[1]} ${told[2]}`, is_polite };
  const offered = SHALL_I.exec(plain);
  if (offered !== null) {
    const [, verb = '', object = ''] = offered;
    return ACTIONS.has(verb) && !NO_SHALL_I.has(verb)
      ? { form: 'offer', action: `${verb} ${object}`, is_polite }
      : null;
  }
  const does = PERSON_DOES.exec(plain);
  if (does !== null) return { form: 'imperative', action: `${does[1]} ${does[2]}`, is_polite };
  const doing = PERSON_DOING.exec(plain);
  if (doing !== null && !plain.endsWith('?')) return { form: 'advice', action: `${doing[1]} ${doing[2]}`, is_polite };
  const advised = ADVICE.exec(plain);
  if (advised !== null && ACTIONS.has(advised[1] as string))
    return { form: 'advice', action: `${advised[1]} ${advised[2]}`, is_polite };
  const who = WHO_WILL.exec(plain);
  if (who !== null && !/^(?:is|was|are|did|has|had|were|knows|said|cares|else|do|does)$/.test(who[1] ?? ''))
    return { form: 'who', action: `${who[1]} ${who[2]}`, is_polite };
  if (NEED.test(plain)) return { form: 'need', action: plain, is_polite };
  const commanded = IMPERATIVE.exec(plain);
  if (
    commanded !== null &&
    ACTIONS.has(commanded[1] as string) &&
    !NEVER_IMPERATIVE.test(plain) &&
    (commanded[2] ?? '') !== ''
  )
    return { form: 'imperative', action: `${commanded[1]} ${commanded[2]}`, is_polite };
  const asked =
    /(?:^|[,;] |^(?:everyone|everybody|all of you|you all|you both),? )(?:please|just|so please|then please) (?:please |just |also )*([a-z-]+)\b ?(.*)$/.exec(
      plain,
    );
  if (
    asked !== null &&
    ACTIONS.has(asked[1] as string) &&
    !NEVER_IMPERATIVE.test(plain) &&
    !NEVER_IMPERATIVE.test(`${asked[1]} ${asked[2]}`)
  )
    return { form: 'imperative', action: `${asked[1]} ${asked[2]}`, is_polite };
  return null;
}

// --- answers ------------------------------------------------------------------------------------------------------------

const FILLERS = '(?:(?:oh|um+|uh+|hm+|mm+|well|okay|ok|and|ah|er+m*|right|good|ha|so),? )*';
const ACCEPTS = new RegExp(
  `^${FILLERS}(?:sure|yes|yeah|yep|yup|aye|okay|ok|of course|will do|i will|i can|i'll|no problem|gladly|happy to|with pleasure|fine|all right|alright|go on then|go on|absolutely|definitely|certainly|consider (?:it|that) done|done|on it|i'm on it|it's mine|that's mine|mine|you got it|good idea|great idea|right away|i'd love to|i would love to|works|perfect|great|lovely|sounds good|deal|leave (?:it|that|this) (?:with|to) me|no worries|please do|do that|why not|agreed|if i must|i do|i'm going to|you(?:'ll| will) (?:have|get)|i am on it|not a problem|will do that|can do|if you like|already on|not at all|by all means|me\\b(?! too)|if i \\w+ (?:it|that|them|time),? (?:yes|sure|i will))\\b`,
);
const REFUSES = new RegExp(
  `^${FILLERS}(?:no\\b(?! problem| worries)|nope|nah|not me|i can't|i cannot|i couldn't|i'd (?:really )?rather|i would rather|i'd prefer|i'm afraid|absolutely not|never|no way|i won't|i will not|i'm not going to|i am not going to|sorry|can't|unfortunately|impossible|i don't think|i have to|not really|not today|not this|i'm (?:away|off|out|busy|on holiday)|don't|that's too|that won't|we can't|we don't)\\b`,
);
/** Asks back: neither accepts nor refuses. */
const ASKS_BACK = /^(?:why me|me\?|by when|when|until when|how|which)\b/;

export type AnswerForm = 'accepts' | 'refuses' | 'asks' | 'other';

/** "I did that already": nothing is left to do. */
const DID =
  '(?:did|done|\\w+ed|sent|made|bought|brought|taken|took|written|wrote|paid|told|put|got|gave|given|went|gone|found|built|sold|cut)';
const DONE = new RegExp(
  `^(?!.*(?:'ll\\b|\\bwill\\b|\\bgoing to\\b|\\?))${FILLERS}(?:(?:yes|yeah|no|but),? )*(?:already ${DID}\\b|.{1,40}\\b(?:already (?:\\w+ )?${DID}|${DID}\\b.{0,30} already)\\b|(?:i|we) (?:just )?did (?:that|it|so)\\b|(?:i|we)(?:'ve| have) (?:just )?${DID} (?:that|it|them|him|her)\\b|(?:that|it)(?:'s| is| was| has been) (?:all )?(?:done|taken care of|sorted|finished|settled)\\b)`,
);

/** How a first sentence answers a request; `plain` still has its openers. */
export function answerIn(plain: string): AnswerForm {
  if (DONE.test(plain)) return 'refuses';
  if (REFUSES.test(plain)) return 'refuses';
  if (/^(?:yes|yeah|okay|sure|fine|all right),? but i (?:can't|won't|have)/.test(plain)) return 'refuses';
  if (ACCEPTS.test(plain)) return 'accepts';
  return ASKS_BACK.test(plain) ? 'asks' : 'other';
}

const TAKES_BACK = new RegExp(
  `^${FILLERS}(?:(?:no|wait|actually|please|but|sorry),? )*(?:(?:don't|do not)(?! (?:forget|worry|hesitate|let|be))\\b|no need\\b|(?:you|we) (?:don't|do not) (?:need|have) to\\b|never mind\\b|not necessary\\b|forget (?:it|that|about it)\\b)`,
);

/** "Do not, he came this morning": what was promised is not wanted. */
export function takesBack(said: string): boolean {
  return TAKES_BACK.test(said);
}

const AGREES = new RegExp(
  `^${FILLERS}(?:agreed|sounds (?:good|great|fine|right|like a plan)|works?(?: for me)?\\b|fine (?:by|with) me|that works|that's (?:fine|good|perfect|a plan|settled|better|it)|i like (?:that|it|the)|i'd like that|good idea|great idea|nice idea|good plan|deal|perfect|let's|lovely|brilliant|excellent|makes sense|i'm in|i agree|same here|unanimous|why not|done|do it|do that|absolutely|definitely|exactly|go for it|so be it|all right then|okay then|fair enough|that would be (?:great|good|nice|best|better)|much better|i'm happy with|we do that)`,
);
const ASSENTS = new RegExp(
  `^${FILLERS}(?:yes|yeah|yep|okay|ok|sure|fine|good|great|right|all right|alright|true|of course|please|no objection|me too|i think so|.{1,40} (?:is|are) (?:fine|good|okay|perfect|better)|.{1,30} works)\\b`,
);
const OBJECTS = new RegExp(
  `^${FILLERS}(?:no\\b(?! problem| objection| worries)|nope|but\\b|hm+\\b|mm+\\b|not\\b|never|wait\\b|that's (?:too|not|a (?:lot|fortune)|impossible|expensive)|i'd rather|i would rather|i don't|i can't|we can't|can't|actually|or\\b|only if|are you|really\\?|there's no|it's too)`,
);

export type ReactionForm = 'agrees' | 'assents' | 'objects' | 'other';

/** How a first sentence takes a proposal. */
export function reactionIn(plain: string): ReactionForm {
  if (OBJECTS.test(plain)) return 'objects';
  if (AGREES.test(plain)) return 'agrees';
  return ASSENTS.test(plain) ? 'assents' : 'other';
}
