import type { EventType, StreamSummary, Suggestion } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded, usePolling } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { Due } from '../insights/due.js';
import { Badge } from '../parts/placeholders.js';

const CHANGES: readonly EventType[] = [
  'conversation.created',
  'conversation.updated',
  'conversation.deleted',
  'suggestion.created',
  'suggestion.updated',
  'suggestion.deleted',
];

const POLL_MS = 10_000;

/**
 * The summary, decisions, tasks and open questions of a recording, each with the way to its moment; or that nothing was
 * found, and why. `is_over`: something was said, and nothing more comes.
 */
export function SummaryPanel({ stream_id, player, is_over }: { stream_id: string; player: Player; is_over: boolean }) {
  const summary = useLoaded(
    () => api('GET /audio/streams/{id}/summary', { path: { id: stream_id } }).catch(() => null),
    [stream_id, is_over],
  );
  useEvents(CHANGES, () => summary.reload());
  // No event says that nothing was found.
  usePolling(summary.data?.state === 'pending', POLL_MS, summary.reload);
  const told = summary.data;
  if (told === null || told === undefined) return null;
  const { summary_sentences: sentences, decisions, tasks, questions, failure } = told;
  const is_told = sentences.length + decisions.length + tasks.length + questions.length > 0;
  if (!is_told && (told.state === 'pending' || !is_over)) return null;
  const is_nothing_to_do = is_over && tasks.length === 0 && told.state !== 'pending';
  return (
    <section class="panel summary" aria-labelledby="summary-heading">
      <h2 id="summary-heading">Summary</h2>
      <Sentences of={told} player={player} />
      <Items title="Decisions" items={decisions} player={player} stream_id={stream_id} />
      <Items title="To do" items={tasks} player={player} stream_id={stream_id} />
      {is_nothing_to_do && failure?.code !== 'INSIGHTS_OFF' && <p class="hint">Nothing to do was found.</p>}
      {failure !== null && <p class="hint">{failure.message}</p>}
      <Items title="Open questions" items={questions} player={player} stream_id={stream_id} />
    </section>
  );
}

function Sentences({ of, player }: { of: StreamSummary; player: Player }) {
  if (of.summary_sentences.length === 0) return null;
  return (
    <ul class="moments">
      {of.summary_sentences.map(({ text, evidence }) => (
        <li key={text}>
          <bdi>{text}</bdi> <Moment at_ms={momentOn(evidence, of.stream_id)} player={player} />
        </li>
      ))}
    </ul>
  );
}

function Items({
  title,
  items,
  player,
  stream_id,
}: {
  title: string;
  items: readonly Suggestion[];
  player: Player;
  stream_id: string;
}) {
  const shown = items.filter(({ status }) => status !== 'dismissed' && status !== 'withdrawn');
  if (shown.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="moments">
        {shown.map((one) => (
          <li key={one.id}>
            <bdi>{one.text}</bdi> <Moment at_ms={momentOn(one.evidence, stream_id)} player={player} />{' '}
            <Due suggestion={one} />
            {one.status === 'completed' && <Badge tone="good">Done</Badge>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Plays from a moment. */
function Moment({ at_ms, player }: { at_ms: number | null; player: Player }) {
  if (at_ms === null) return null;
  return (
    <button type="button" class="moment" onClick={() => player.seek(at_ms)}>
      <span class="visually-hidden">Play from </span>
      {clockText(at_ms)}
    </button>
  );
}

function momentOn(evidence: Suggestion['evidence'], stream_id: string): number | null {
  return evidence.find((one) => one.stream_id === stream_id && one.state === 'available')?.start_ms ?? null;
}
