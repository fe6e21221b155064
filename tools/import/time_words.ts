/** The authority for when a recording began, in words. */
export const SAID_BY = {
  caller: 'as it was given',
  metadata: 'as the file says',
  file_name: 'as the name of the file says',
  file_time: 'by the time of the file, less its length',
  announcement: 'just before it was imported',
} as const;
