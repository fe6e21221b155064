import type { Passage } from './passages.js';

/** A passage, or the hit of a suggestion or a note, before it is read. */
export type Candidate = { score: number; started_ms: number } & ({ passage: Passage } | { hit: number });
