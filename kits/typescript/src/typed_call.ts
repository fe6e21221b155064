/** Calls by method and path, typed by what api.ts says of each. */

type Operation = { path?: object; query?: object; body?: unknown; answer: unknown };

/** What a call is given beside its name: nothing where nothing must be said. */
export type Given<Of> = object extends Omit<Of, 'answer'> ? [given?: Omit<Of, 'answer'>] : [given: Omit<Of, 'answer'>];

export type AnswerOf<Of> = Of extends { answer: infer Answer } ? Answer : never;

/** The request that `GET /sources/{id}` and what it is given make. */
export function requestOf(
  name: string,
  { path = {}, query = {}, body }: Partial<Operation> = {},
): { method: string; path: string; body: unknown } {
  const space = name.indexOf(' ');
  const values = path as Record<string, string>;
  const filled = name.slice(space + 1).replace(/\{([a-z_]+)\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`${name} needs ${key}`);
    return encodeURIComponent(value);
  });
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
  const behind = parameters.toString();
  return { method: name.slice(0, space), path: behind === '' ? filled : `${filled}?${behind}`, body };
}
