import type { Workspace } from '../../../kits/typescript/src/api.js';
import { ApiError } from '../../api/api_error.js';
import { type PlainText, say, sayCount } from '../../language/say.js';

/** Texts for roles, refusals and times of workspaces. */

export const NAME_CHARS_MAX = 80;

export type Role = Workspace['role'];
export type GivenRole = Exclude<Role, 'owner'>;
export type Bucket = keyof Workspace['retention'];

export const ROLES = {
  member: { name: 'Member', word: 'member', does: 'Sees what is recorded there.' },
  admin: { name: 'Admin', word: 'admin', does: 'Sees what is recorded there, and invites and removes members.' },
  owner: { name: 'Owner', word: 'owner', does: 'Decides everything.' },
} as const satisfies Record<Role, object>;

export function givenRoles(): (readonly [GivenRole, string])[] {
  return (['member', 'admin'] as const).map((role) => [role, say(ROLES[role].name)] as const);
}

export const BUCKETS: readonly (readonly [bucket: Bucket, name: PlainText, days: PlainText, hint: PlainText])[] = [
  ['audio', 'Audio', 'Days for audio', 'The recordings themselves.'],
  ['transcripts', 'Transcripts', 'Days for transcripts', 'What was said, as text.'],
  [
    'insights',
    'Insights',
    'Days for insights',
    'Conversations, suggestions and what is known of people. They may hold sentences that were said, also after transcripts are gone.',
  ],
  ['voice', 'Voices', 'Days for voices', 'By which people are recognized.'],
];

/** The time for which something is kept, in words. */
export function keptText(days: number | null): string {
  if (days === null) return say('forever');
  if (days === 0) return say('not at all');
  return sayCount(days, { one: 'for one day', other: 'for {n} days' });
}

/** A refusal in words that say what to do. */
export function wordsOf(error: ApiError | null): ApiError | null {
  const said = error === null ? undefined : WORDS[error.code];
  return error === null || said === undefined ? error : new ApiError(error.code, say(said), error.fields);
}

const WORDS: Record<string, PlainText> = {
  WORKSPACE_SHARING_REQUIRED:
    'Your account may not share workspaces. The operator of this server can switch that on for you.',
  WORKSPACE_OWNER_REQUIRED: 'A workspace needs an owner: hand it over to another member first.',
};
