import type { Contact, Spoken } from '../../kits/typescript/src/api.js';
import { say, sayCount } from '../language/say.js';
import { durationText, timeText } from '../parts/time.js';

/** Names a contact, also one whom nobody has named. */
export function contactName({ name }: Pick<Contact, 'name'>): string {
  return name ?? say('Unnamed person');
}

/** How much somebody said, such as `12 min in 3 recordings`. */
export function spokenText({ turns, talk_ms, recordings, is_complete }: Spoken): string {
  if (turns === 0) return is_complete ? say('Not heard yet') : say('Not heard lately');
  const places = { duration: durationText(talk_ms) };
  return is_complete
    ? sayCount(recordings, { one: '{duration} in {n} recording', other: '{duration} in {n} recordings' }, places)
    : sayCount(
        recordings,
        { one: 'At least {duration} in {n} recording', other: 'At least {duration} in {n} recordings' },
        places,
      );
}

/** The day on which somebody was heard last; null for somebody who was not. */
export function lastHeardText({ last_heard_at }: Spoken): string | null {
  return last_heard_at === null ? null : say('Last heard on {date}', { date: timeText(last_heard_at, 'date') });
}
