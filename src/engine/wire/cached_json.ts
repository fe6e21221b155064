/** A value that is answered again and again until it changes: its JSON text is made once. The value is never changed. */
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
