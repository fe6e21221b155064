import type { Workspace } from '../../../kits/typescript/src/api.js';
import { ApiError } from '../../api/api_error.js';

/** Texts for roles, refusals and times of workspaces. */

export const NAME_CHARS_MAX = 80;

export type Role = Workspace['role'];
export type GivenRole = Exclude<Role, 'owner'>;
export type Bucket = keyof Workspace['retention'];

export const ROLES = {
  member: { name: 'Member', does: 'Sees what is recorded there.' },
  admin: { name: 'Admin', does: 'Sees what is recorded there, and invites and removes members.' },
  owner: { name: 'Owner', does: 'Decides everything.' },
} as const satisfies Record<Role, object>;

export const GIVEN_ROLES = (['member', 'admin'] as const).map((role) => [role, ROLES[role].name] as const);

export const BUCKETS: readonly (readonly [bucket: Bucket, name: string, hint: string])[] = [
  ['audio', 'Audio', 'The recordings themselves.'],
  ['transcripts', 'Transcripts', 'What was said, as text.'],
  [
    'insights',
    'Insights',
    'Conversations, suggestions and what is known of people. They may hold sentences that were said, also after transcripts are gone.',
  ],
  ['voice', 'Voices', 'By which people are recognized.'],
];

/** The time for which something is kept, in words. */
export function keptText(days: number | null): string {
  if (days === null) return 'forever';
  if (days === 0) return 'not at all';
  return days === 1 ? 'for one day' : `for ${days} days`;
}

/** A refusal in words that say what to do. */
export function wordsOf(error: ApiError | null): ApiError | null {
  const said = error === null ? undefined : WORDS[error.code];
  return error === null || said === undefined ? error : new ApiError(error.code, said, error.fields);
}

const WORDS: Record<string, string> = {
  WORKSPACE_SHARING_REQUIRED:
    'Your account may not share workspaces. The operator of this server can switch that on for you.',
  WORKSPACE_OWNER_REQUIRED: 'A workspace needs an owner: hand it over to another member first.',
};
