/** The most common words of English, the most common one first, each with a vector of its meaning. */
export class WordTable {
  readonly words: readonly string[];
  /** `dimensions` numbers a word, each 127 times a coordinate of a unit vector. */
  readonly vectors: Int8Array;
  readonly dimensions: number;
  readonly #ranks: ReadonlyMap<string, number>;

  constructor(words: readonly string[], vectors: Int8Array, dimensions: number) {
    this.words = words;
    this.vectors = vectors;
    this.dimensions = dimensions;
    this.#ranks = new Map(words.map((word, rank) => [word, rank]));
  }

  /** The place among words, 0 for the most common one; behind all for a word that is not among them. */
  rank(word: string): number {
    return this.#ranks.get(word) ?? this.#ranks.size;
  }

  has(word: string): boolean {
    return this.#ranks.has(word);
  }

  /** How rare a word is: from 0 for the most common ones to about 2.6. */
  rarity(word: string): number {
    return Math.log10(1 + this.rank(word) / 50);
  }

  /** Whether a word may name a matter: it is none of the small words that each talk has. */
  isMatter(word: string): boolean {
    return word.length > 2 && /^[a-z]/.test(word) && !word.includes("'") && !SMALL.has(word);
  }

  /** Null for a word that is not among them. */
  vector(word: string): Int8Array | null {
    const rank = this.#ranks.get(word);
    return rank === undefined ? null : this.vectors.subarray(rank * this.dimensions, (rank + 1) * this.dimensions);
  }
}

/** Words that say how something is said, or when, not what. */
const SMALL = new Set(
  `a an the and or but so if then than that this these those there here it its is are was were be been am do does did done doing have has had having i me my we us our you your he him his
  she her they them their who whom what which when where why how to of in on at by for from with without into onto over up off out down about not no yes okay oh um uh erm ah hey hi hello well
  just very really can could will would shall should may might must let lets go going goes went gone get gets got getting please gonna wanna gotta whether before after until till again some any
  all both each every also too more most only own same as because like right yeah yep nope nah hmm sure thanks thank sorry good great fine lovely nice bit lot lots thing things stuff
  something anything nothing everything somebody anybody nobody everybody one two three four five six seven eight nine ten eleven twelve thirty forty fifty hundred thousand half first second
  third last next other another much many now today tonight tomorrow yesterday morning afternoon evening night week weeks month months year years day days time times minute minutes hour hours
  monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december say says said saying tell told know knows knew
  think thinks thought mean means want wants wanted need needs needed make makes made making take takes took taken come comes came coming put puts see sees saw seen look looks looking give
  gives gave given ask asked keep kept find found try tried use used feel felt leave left call called work works worked back still never always ever maybe perhaps actually probably though even
  yet quite around through away little big new old long way people man guy guys anyone someone everyone literally basically else already enough love course point kind sort
  aye fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth thirteen fourteen fifteen
  sixteen seventeen eighteen nineteen sixty seventy eighty ninety mister missus maam sir plus`.split(/\s+/),
);
