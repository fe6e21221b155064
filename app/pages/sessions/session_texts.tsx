import type { EventType, RecorderSession } from '../../../kits/typescript/src/api.js';
import { type PlainText, say, sayCount } from '../../language/say.js';
import { Badge } from '../../parts/placeholders.js';
import { account } from '../../shell/account.js';

/** Texts and event types about recorder sessions. */

export const SESSION_EVENTS: readonly EventType[] = [
  'device_session.started',
  'device_session.joined',
  'device_session.left',
  'device_session.updated',
  'device_session.ended',
];

const HOUR_MS = 3_600_000;
const HOURS = [1, 2, 4, 8, 24] as const;

/** The choices for how long a session goes on from now. */
export function lengths(): (readonly [string, string])[] {
  return HOURS.map((hours) => [String(hours), sayCount(hours, { one: '{n} hour', other: '{n} hours' })] as const);
}

/** When so many hours are over; a little less, since the server's clock has the last word and takes 24 at most. */
export function inHours(hours: string): string {
  const SPARE_MS = 10_000;
  return new Date(Date.now() + Number(hours) * HOUR_MS - SPARE_MS).toISOString();
}

export function isOver({ status }: RecorderSession): boolean {
  return status === 'draining' || status === 'ended';
}

const STATES = {
  waiting: ['caution', 'Waiting for a recorder'],
  open: ['live', 'Recording|now'],
  draining: ['plain', 'Sending the rest'],
  ended: ['plain', 'Ended'],
} as const satisfies Record<RecorderSession['status'], readonly [string, string]>;

export function StateBadge({ session: { status, end_reason } }: { session: RecorderSession }) {
  const [tone, words] = STATES[status];
  return <Badge tone={tone}>{end_reason === 'never_started' ? say('Never started') : say(words)}</Badge>;
}

const ENDS: Record<NonNullable<RecorderSession['end_reason']>, PlainText> = {
  host: 'Its host ended it.',
  recorder: 'The recorder had sent everything, and ended it.',
  expired: 'Its time ran out.',
  device_removed: 'The recorder was removed.',
  account_deleted: 'The host’s account was deleted.',
  never_started: 'No recorder came in time.',
};

/** One sentence on where it stands. */
export function standOf({ status, end_reason }: RecorderSession): string {
  const why = end_reason === null ? '' : say(ENDS[end_reason]);
  if (status === 'waiting') return say('It waits ten minutes for a recorder to take the code, then ends by itself.');
  if (status === 'open') return say('A recorder has joined. Its recordings appear by themselves.');
  if (status === 'draining') return say('{why} The recorder may still send what it has recorded.', { why });
  return why;
}

/** Of a shared one; null for one's own private workspace, and for those of others. */
export function workspaceName(id: string): string | null {
  const found = account.value?.workspaces.find((workspace) => workspace.id === id);
  return found === undefined || found.private ? null : found.name;
}
