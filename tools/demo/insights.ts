import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { PublicApi } from '../../kits/typescript/src/api.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { LIMITS } from '../../src/domain/limits.js';
import { clockText } from '../../src/domain/span_text.js';
import type { Reading, Turn } from './transcript.js';

/** The insights that a server makes of the turns of a stream. */

type Conversation = PublicApi['GET /conversations']['answer']['items'][number];
type Suggestion = PublicApi['GET /suggestions']['answer']['items'][number];
export type CameOfIt = { conversation: Conversation | null; suggestions: Suggestion[] };

type InsightsAsking = Reading & { operator: OperatorClient; email: string; out: Writable };

const POLL_MS = 300;
/** Nothing is looked into before it was quiet for ten seconds; a model may then take its time. */
const WAIT_MS_MAX = 60_000;

/** Prints the conversation and its suggestions, once there are any. Null where nobody looks into conversations. */
export async function showInsights(asking: InsightsAsking, turns: readonly Turn[]): Promise<CameOfIt | null> {
  const { operator, patience, email, out } = asking;
  const { insights } = await patience.repeat(() => operator.call('GET /ops/content'));
  if (insights.by === 'nobody') return null;
  const words = turns.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
  if (turns.length < LIMITS.conversation_turns_min || words < LIMITS.conversation_words_min) {
    out.write('That is too little for a conversation.\n');
    return { conversation: null, suggestions: [] };
  }
  // Who looks at conversations by themselves is a developer.
  const path = { account: email, name: 'developer.tools' as const };
  const body = { enabled: true };
  await patience.repeat(() => operator.call('PUT /ops/accounts/{account}/entitlements/{name}', { path, body }));
  out.write('\nwhat came of it:\n');
  let found = await cameOf(asking);
  for (const until = performance.now() + WAIT_MS_MAX; found.conversation === null && performance.now() < until; ) {
    await delay(POLL_MS);
    found = await cameOf(asking);
  }
  const { conversation, suggestions } = found;
  if (conversation === null) out.write('  nothing within a minute\n');
  else out.write(`  ${conversation.title ?? 'a conversation'} (made by ${conversation.made_by})\n`);
  for (const suggestion of suggestions) out.write(`  ${linesOf(suggestion).join('\n    ')}\n`);
  return found;
}

/** Has the conversation looked into once more, to the end. */
export async function lookAgain({ operator, patience, stream_id }: InsightsAsking): Promise<void> {
  const ended = async () => {
    const { insights } = await patience.repeat(() => operator.call('GET /ops/content'));
    const { conversations, failures } = insights.last_hour;
    return conversations + failures.reduce((sum, { tries }) => sum + tries, 0);
  };
  const before = await ended();
  const path = { id: stream_id };
  const body = { kinds: ['insights' as const] };
  await patience.repeat(() => operator.call('POST /ops/streams/{id}/reprocess', { path, body }));
  for (const until = performance.now() + WAIT_MS_MAX; performance.now() < until && (await ended()) === before; )
    await delay(POLL_MS);
}

export async function dismiss({ app, patience }: Reading, { id, state_version }: Suggestion): Promise<void> {
  const body = { state_version, status: 'dismissed' as const };
  await patience.repeat(() => app.call('PATCH /suggestions/{id}', { path: { id }, body }));
}

export async function cameOf({ app, patience, stream_id }: Reading): Promise<CameOfIt> {
  const query = { limit: 100 };
  const { items: conversations } = await patience.repeat(() => app.call('GET /conversations', { query }));
  const { items: suggestions } = await patience.repeat(() => app.call('GET /suggestions', { query }));
  const conversation = conversations.find(({ parts }) => parts.some((part) => part.stream_id === stream_id)) ?? null;
  return { conversation, suggestions: suggestions.filter((one) => one.conversation_id === conversation?.id) };
}

function linesOf({ kind, text, due_at, evidence }: Suggestion): string[] {
  const due = due_at === null ? '' : `, due ${due_at.slice(0, 16).replace('T', ' ')} UTC`;
  const said = evidence.map(({ start_ms, quote }) => `said at ${clockText(start_ms)}: “${quote ?? ''}”`);
  return [`${kind.replace('_', ' ')}: ${text}${due}`, ...said];
}
