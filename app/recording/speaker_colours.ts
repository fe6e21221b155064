/** Speakers are told apart by colour as well; the first four have one of their own. */

const COLOURS = 4;

export function colourOf(speaker: string | null): number {
  const number = Number(speaker?.slice(1));
  return Number.isInteger(number) && number > 0 ? ((number - 1) % COLOURS) + 1 : 0;
}

/** As people call somebody whom nobody has named. */
export function speakerWords(speaker: string | null): string {
  const number = Number(speaker?.slice(1));
  return Number.isInteger(number) ? `Speaker ${number}` : 'Somebody';
}
