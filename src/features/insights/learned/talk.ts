/** A conversation as learned models read it. */
export type Talk = {
  utterances: readonly Utterance[];
  /** Names of people who speak, as far as they are known. */
  names: readonly string[];
};

/** The words of one person without a break. `speaker`: the same for the same person; null if nobody knows who spoke. */
export type Utterance = { text: string; speaker: string | null };

/** Words in lower case, without signs; `''` for a text without any. */
export function plainWords(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^a-z0-9' ]+/g, ' ')
    .trim()
    .split(/ +/);
}

/** 1 for the same speaker, 0 for another one, -1 beyond the talk or where nobody knows. */
export function isSameSpeaker({ utterances }: Talk, one: number, other: number): -1 | 0 | 1 {
  const [own, theirs] = [utterances[one]?.speaker ?? null, utterances[other]?.speaker ?? null];
  if (own === null || theirs === null) return -1;
  return own === theirs ? 1 : 0;
}

/** How many people speak; 0 where nobody knows. */
export function speakersOf({ utterances }: Talk): number {
  return new Set(utterances.flatMap(({ speaker }) => speaker ?? [])).size;
}

/** Models learned from talks of up to so many utterances. */
const PART_MAX = 200;

/** A long talk as parts of about the same length, in their order. Each is looked into by itself. */
export function talkParts<Own extends Talk>(talk: Own): Own[] {
  const { length } = talk.utterances;
  const count = Math.max(1, Math.ceil(length / PART_MAX));
  return Array.from({ length: count }, (_, part) => {
    const [from, to] = [Math.floor((part * length) / count), Math.floor(((part + 1) * length) / count)];
    return { ...talk, utterances: talk.utterances.slice(from, to) };
  });
}
