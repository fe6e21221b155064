import type { Turn } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';

/** Who speaks is told by colour as well; the first four have one of their own. */

const COLOURS = 4;

/** Who said something: the contact, or else the speaker, is the same voice. */
export type Voice = Pick<Turn, 'speaker' | 'contact_id'>;

/** The number of a voice's colour, from 1; 0 for nobody known. */
export type VoiceColours = (voice: Voice) => number;

/** Colours by the order in which voices are first heard. */
export function voiceColours(turns: readonly Voice[]): VoiceColours {
  const voices = [...new Set(turns.map(voiceOf))].filter((voice) => voice !== null);
  const numbers = new Map(voices.map((voice, at) => [voice, (at % COLOURS) + 1]));
  return (voice) => numbers.get(voiceOf(voice) ?? '') ?? 0;
}

export function isSameVoice(one: Voice, other: Voice): boolean {
  return one.speaker === other.speaker && one.contact_id === other.contact_id;
}

function voiceOf({ speaker, contact_id }: Voice): string | null {
  return contact_id ?? speaker;
}

/** As people call somebody whom nobody has named. */
export function speakerWords(speaker: string | null): string {
  const number = Number(speaker?.slice(1));
  return Number.isInteger(number) ? say('Speaker {number}', { number }) : say('Unknown');
}
