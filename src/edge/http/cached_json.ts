/** The texts of answers that last, each made when it is first sent. */
const texts = new WeakMap<object, string | null>();

/** An answer whose maker gives the same object again for as long as it says the same: it is written as JSON once. Never changed. */
export function cachedJson<Answer extends object>(answer: Answer): Readonly<Answer> {
  if (!texts.has(answer)) texts.set(answer, null);
  return Object.freeze(answer);
}

/** The JSON text of an answer that lasts; null for any other. */
export function cachedJsonText(answer: unknown): string | null {
  const known = texts.get(answer as object);
  if (known !== null) return known ?? null;
  const text = JSON.stringify(answer);
  texts.set(answer as object, text);
  return text;
}
