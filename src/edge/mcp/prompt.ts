/** A prompt that people choose in their assistant, as a row. */
export type Prompt = {
  name: string;
  title: string;
  description: string;
  arguments: readonly { name: string; description: string; required?: true }[];
  /** Makes the message that the person sends by choosing it. `given`: values of its arguments, each of one line. */
  text: (given: Readonly<Record<string, string>>) => string;
};

const ARGUMENT_CHARS_MAX = 200;

/** The values of a prompt's arguments; null where one that it needs is missing. */
export function promptArguments(prompt: Prompt, given: Record<string, string> = {}): Record<string, string> | null {
  const named = prompt.arguments.flatMap(({ name }): [string, string][] => {
    const value = (given[name] ?? '')
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, ARGUMENT_CHARS_MAX);
    return value === '' ? [] : [[name, value]];
  });
  const values = Object.fromEntries(named);
  return prompt.arguments.every(({ name, required }) => required !== true || name in values) ? values : null;
}
