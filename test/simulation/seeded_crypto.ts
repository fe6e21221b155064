import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Where the randomness of a run comes from. */
export type RandomSource = { bytes(count: number): Uint8Array; below(limit: number): number };

const { randomBytes, randomInt } = crypto;

/** Puts a source in the place of the system's randomness, for code that draws it at once; gives what undoes that. */
export function seedCrypto({ bytes, below }: RandomSource): () => void {
  replace({ randomBytes: (count: number) => Buffer.from(bytes(count)), randomInt: below });
  return () => replace({ randomBytes, randomInt });
}

function replace(functions: { randomBytes: unknown; randomInt: unknown }): void {
  Object.assign(crypto, functions);
  syncBuiltinESMExports();
}
