import type { PublicApi } from '../../kits/typescript/src/api.js';
import type { RecordedConversation, WeekRecording } from './week_recordings.js';

/** Changes suggestions and a summary as a person would, and adds some. */

type Suggestion = PublicApi['GET /suggestions']['answer']['items'][number];

const DAY_MS = 86_400_000;
const OVERDUE_DAYS_MAX = 2;
const DONE_KINDS: readonly Suggestion['kind'][] = ['task', 'follow_up', 'reminder'];
/** Of whom the summary is edited, and who get a link. */
const EDITED = 'Race around the lake';
const SENTENCES = [
  'The cycling club wants us to look after the bikes at its race around the lake in June.',
  'It offers four hundred euros and the food. We ask for six hundred, as last year’s mechanics got.',
  'We need a place in the shade, with electricity.',
];
/** Of no use to anybody, whatever the engine makes of it. */
const DISMISSED = /tracking number|brake pads/;
const BY_HAND = [
  { text: 'Order new flyers for the opening hours.', in_days: 3 },
  { text: 'Return the trailer to Jonas.', in_days: -1 },
];
const QUESTION = 'Who looks after the shop on the day of the race?';

export async function tidyUp(week: WeekRecording, recordings: readonly RecordedConversation[]): Promise<void> {
  const { app, patience } = week;
  await review(week);
  const edited = recordings.find(({ conversation }) => conversation.title === EDITED);
  if (edited === undefined) throw new Error(`the script has no ${EDITED}`);
  const path = { id: edited.stream_id };
  const summary = { sentences: SENTENCES };
  await patience.repeat(() => app.call('PATCH /audio/streams/{id}/summary', { path, body: summary }));
  await patience.ask(() => app.call('POST /audio/streams/{id}/links', { path, body: { shows: ['summary'] } }));
  for (const { text, in_days } of BY_HAND)
    await patience.ask(() => app.call('POST /suggestions', { body: { text, due_date: dayAfter(in_days) } }));
  const question = { text: QUESTION, kind: 'question' as const };
  await patience.ask(() => app.call('POST /suggestions', { body: question }));
  await patience.ask(() => app.call('POST /me/exports', { body: {} }));
}

/** Completes what would be overdue for more than two days, and dismisses what is of no use. */
async function review({ app, patience }: WeekRecording): Promise<void> {
  const before = `${dayAfter(-OVERDUE_DAYS_MAX)}T00:00:00.000Z`;
  const open: Suggestion[] = [];
  for await (const one of app.all('GET /suggestions', { query: { status: 'open' } })) open.push(one);
  for (const { id, state_version, kind, text, due_at } of open) {
    const is_old = due_at !== null && due_at < before && DONE_KINDS.includes(kind);
    if (!is_old && !DISMISSED.test(text)) continue;
    const body = { state_version, status: is_old ? ('completed' as const) : ('dismissed' as const) };
    await patience.repeat(() => app.call('PATCH /suggestions/{id}', { path: { id }, body }));
  }
}

/** The day that lies so many days after today, in UTC. */
function dayAfter(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}
