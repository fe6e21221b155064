/**
 * A pure function that remembers its last answers: whoever asks gets the same, remembered or not, so any number of servers
 * in one process may share one. No other state stands at the top of a module (`tools/checks/module_state.mjs`). At least half
 * of `kept_max` answers are kept, the youngest, and at most as many as that.
 */
export class PureMemo<Key, Value extends object | string> {
  readonly #kept_max: number;
  readonly #make: (key: Key) => Value;
  #young = new Map<Key, Value>();
  #old: ReadonlyMap<Key, Value> = new Map();

  constructor(kept_max: number, make: (key: Key) => Value) {
    this.#kept_max = kept_max;
    this.#make = make;
  }

  of(key: Key): Value {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const found = this.#old.get(key) ?? this.#make(key);
    if (this.#young.size >= this.#kept_max / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, found);
    return found;
  }
}
