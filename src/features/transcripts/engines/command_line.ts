/** Stands for the path of the audio. */
export const AUDIO_WORD = '{audio}';

export const COMMAND_RULE = `must be a program and its arguments, one of which holds ${AUDIO_WORD}`;

/** Whether the words are a program with an argument for the audio. */
export function isTranscriptionCommand([, ...args]: readonly string[]): boolean {
  return args.some((word) => word.includes(AUDIO_WORD));
}

/**
 * A command as its words, by the rules that people know from shells: blanks separate, 'single' and "double" quotes hold
 * together, a backslash takes the next character as it is, between single quotes nothing is special. Nothing else is:
 * there is no shell, so neither variables nor pipes nor wildcards. Null where a quote or a backslash is left open.
 */
export function commandWords(command: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < command.length; at++) {
    const letter = command[at] as string;
    if (letter === '\\' && quote !== "'") {
      at += 1;
      if (at === command.length) return null;
      word = (word ?? '') + command[at];
    } else if (letter === quote) quote = null;
    else if (quote === null && (letter === '"' || letter === "'")) {
      quote = letter;
      word ??= '';
    } else if (quote === null && /\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + letter;
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}
