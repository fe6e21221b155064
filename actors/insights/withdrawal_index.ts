/**
 * The index of a partition's libraries that hold items made of deleted speech, and of deleted sources of which no library
 * was told yet, each from the time when a worker may see to it.
 */
export const WITHDRAWAL_INDEX = { owner: 'content', index: 'withdrawing' } as const;

/** Members of that index, by kind. */
export const LIBRARY_MEMBER = 'library:';
export const SOURCE_MEMBER = 'source:';
