/** Languages as engines name them: `en`, `pt-BR`, or in English, as Whisper does. */

const NAMES = namesOfLanguages();

/** A BCP 47 tag; undefined for what is none and for unknown names. */
export function languageTag(language: string | undefined): string | undefined {
  const said = language?.trim().toLowerCase() ?? '';
  const named = NAMES.get(said);
  if (named !== undefined) return named;
  if (!/^[a-z]{2,3}([-_][a-z0-9]{2,8}){0,3}$/.test(said)) return undefined;
  try {
    return Intl.getCanonicalLocales(said.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

function namesOfLanguages(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const tags = [...letters.flatMap((one) => letters.map((other) => one + other)), 'haw', 'yue'];
  return new Map(
    tags.flatMap((tag) => {
      const name = names.of(tag);
      // An old code has the name of the new one.
      return name === undefined || Intl.getCanonicalLocales(tag)[0] !== tag ? [] : [[name.toLowerCase(), tag] as const];
    }),
  );
}
