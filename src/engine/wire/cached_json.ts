/**
 * A value that is answered repeatedly until it changes: its JSON text is made once. The value itself is never modified.
 */
export class CachedJson<Value extends object> {
  readonly value: Readonly<Value>;
  #text: string | null = null;

  constructor(value: Value) {
    this.value = value;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.value);
    return this.#text;
  }
}
