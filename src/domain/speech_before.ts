/** Text of which an engine is less sure is shown as unsure. */
export const UNSURE_BELOW = 0.6;

/** How much was said shortly before a window of a recording, and how much more was not understood. */
export type SpeechBefore = { said_ms: number; not_understood_ms: number };

export const NO_SPEECH_BEFORE: SpeechBefore = { said_ms: 0, not_understood_ms: 0 };
