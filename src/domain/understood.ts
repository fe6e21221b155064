/** How much was said shortly before a window of a recording, and how much more was not understood. */
export type Understood = { said_ms: number; not_understood_ms: number };

export const NOTHING_BEFORE: Understood = { said_ms: 0, not_understood_ms: 0 };
