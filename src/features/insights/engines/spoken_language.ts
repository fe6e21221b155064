import type { InputTurn } from './insight_input.js';

/** In which most was said; null where nobody knows. */
export function languageOf(turns: readonly Pick<InputTurn, 'language' | 'text'>[]): string | null {
  const said = new Map<string, number>();
  for (const { language, text } of turns)
    if (language !== null) said.set(language, (said.get(language) ?? 0) + text.length);
  let [most, chars]: [string | null, number] = [null, 0];
  for (const [language, length] of said) if (length > chars) [most, chars] = [language, length];
  return most;
}
