/**
 * The index of a partition's libraries with items of deleted speech, and of deleted sources of which no library knows
 * yet, by when a worker may act.
 */
export const WITHDRAWAL_INDEX = { owner: 'content', index: 'withdrawing' } as const;

/** The members of that index, by kind. */
export const LIBRARY_MEMBER = 'library:';
export const SOURCE_MEMBER = 'source:';
