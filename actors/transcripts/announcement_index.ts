/** The index of a partition's entities with changes to announce, by when a worker may act. */
export const ANNOUNCEMENT_INDEX = { owner: 'content', index: 'announcing' } as const;

/** The members of that index, by kind. */
export const CONTACTS_MEMBER = 'contacts:';
export const TRANSCRIPT_MEMBER = 'transcript:';

/** The index of an account's transcripts that show a contact. */
export function transcriptsShowing(contact_id: string): string {
  return `transcripts:${contact_id}`;
}
