/** Named features of one thing, each with a value. */
export class FeatureBag {
  readonly values = new Map<string, number>();

  add(name: string, value = 1): void {
    this.values.set(name, (this.values.get(name) ?? 0) + value);
  }

  /** One feature for each of these edges that the value reaches. */
  addSteps(name: string, value: number, edges: readonly number[], weight = 0.5): void {
    for (const edge of edges) if (value >= edge) this.add(`${name}>=${edge}`, weight);
  }
}

/** Features as numbers: `places[i]` in a table of weights has the value `values[i]`. */
export type FeatureRow = { places: Uint32Array; values: Float32Array };

/** Hashes names to places of a table of `2 ** bits` weights. The values of a row have the Euclidean length `length`; null leaves them. */
export function hashedRow({ values }: FeatureBag, bits: number, length: number | null): FeatureRow {
  const places = new Uint32Array(values.size);
  const row = new Float32Array(values.size);
  let square = 0;
  let at = 0;
  for (const [name, value] of values) {
    places[at] = hashOf(name) >>> (32 - bits);
    // What is said often counts by its logarithm.
    const damped = value > 1 ? 1 + Math.log(value) : value;
    row[at++] = damped;
    square += damped * damped;
  }
  if (length !== null && square > 0) {
    const scale = length / Math.sqrt(square);
    for (let i = 0; i < row.length; i++) row[i] = (row[i] as number) * scale;
  }
  return { places, values: row };
}

/** FNV-1a, then mixed so that its high bits depend on every letter. */
function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

export function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
