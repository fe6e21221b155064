import { useEffect, useRef } from 'preact/hooks';
import type { StreamSummary, Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded, usePolling } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { useOwnerNames } from '../contacts/people.js';
import { saidIn } from '../insights/said_in.js';
import { TaskRow } from '../insights/task_row.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useDialogOpen } from '../parts/dialog.js';
import { Badge } from '../parts/placeholders.js';
import { useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { may } from '../shell/account.js';
import { EDIT_SUMMARY_TITLE, EditSummary } from './edit_summary.js';
import { Moment } from './moment.js';
import { SUMMARY_EVENTS } from './summary_events.js';

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
  useEvents(SUMMARY_EVENTS, () => summary.reload());
  // No event says that nothing was found.
  usePolling(summary.data?.state === 'pending', POLL_MS, summary.reload);
  const told = summary.data;
  if (told === null || told === undefined) return null;
  const { decisions, tasks, questions, failure } = told;
  const is_pending = told.state === 'pending';
  const is_told = told.summary_sentences.length + decisions.length + tasks.length + questions.length > 0;
  if (!is_told && !told.edited && (is_pending || !is_over)) return null;
  const is_nothing_to_do = is_over && tasks.length === 0 && !is_pending;
  const change = (next: Suggestion) =>
    summary.set({ ...told, tasks: told.tasks.map((one) => (one.id === next.id ? next : one)) });
  return (
    <section class="panel summary" aria-labelledby="summary-heading">
      <Head of={told} is_over={is_over} set={summary.set} reload={summary.reload} />
      {is_pending && is_over && is_told && <p class="hint">{say('The summary is being made again.')}</p>}
      <Sentences of={told} player={player} />
      <Tasks items={tasks} player={player} onChange={change} />
      {is_nothing_to_do && failure?.code !== 'INSIGHTS_OFF' && <p class="hint">{say('Nothing to do was found.')}</p>}
      {failure !== null && <p class="hint">{failure.message}</p>}
      <Items title={say('Decisions')} items={decisions} player={player} stream_id={stream_id} />
      <Items title={say('Open questions')} items={questions} player={player} stream_id={stream_id} />
    </section>
  );
}

/** The heading of the summary, and the ways to change it. */
function Head({
  of,
  is_over,
  set,
  reload,
}: {
  of: StreamSummary;
  is_over: boolean;
  set: (summary: StreamSummary) => void;
  reload: () => void;
}) {
  const [is_edited, setEdited] = useDialogOpen(say(EDIT_SUMMARY_TITLE));
  const is_awaited = useRef(false);
  const again = useToastAction(say('The summary could not be made again.'), async () => {
    await api('POST /audio/streams/{id}/summary/runs', { path: { id: of.stream_id } });
    is_awaited.current = true;
    reload();
  });
  useEffect(() => {
    if (!is_awaited.current || of.state === 'pending') return;
    is_awaited.current = false;
    showToast(say('The summary is there.'));
  }, [of.state]);
  return (
    <div class="panel-head">
      <h2 id="summary-heading">{say('Summary')}</h2>
      {of.edited && <Badge>{say('Edited')}</Badge>}
      {may('insights:write') && is_over && (
        <div class="actions">
          {of.conversations.length > 0 && (
            <Button kind="quiet" small icon="edit" label={say('Edit the summary')} onClick={() => setEdited(true)} />
          )}
          <Button kind="quiet" small busy={again.busy || of.state === 'pending'} onClick={() => void again.run()}>
            {say('Make again')}
          </Button>
        </div>
      )}
      <EditSummary open={is_edited} summary={of} onSaved={set} onClose={() => setEdited(false)} />
    </div>
  );
}

function Sentences({ of, player }: { of: StreamSummary; player: Player }) {
  if (of.summary_sentences.length === 0) return null;
  return (
    <ul class="moments">
      {of.summary_sentences.map(({ text, evidence }) => (
        <li key={text}>
          <bdi>{text}</bdi> <Moment at_ms={momentOn({ text, evidence }, of.stream_id)} player={player} />
        </li>
      ))}
    </ul>
  );
}

function Tasks({
  items,
  player,
  onChange,
}: {
  items: readonly Suggestion[];
  player: Player;
  onChange: (suggestion: Suggestion) => void;
}) {
  const ownerOf = useOwnerNames();
  const shown = items.filter(isShown);
  if (shown.length === 0) return null;
  return (
    <>
      <h3>{say('To do')}</h3>
      <ul class="tasks" aria-label={say('To do')}>
        {shown.map((one) => (
          <TaskRow key={one.id} suggestion={one} owner={ownerOf(one)} onChange={onChange} player={player} />
        ))}
      </ul>
    </>
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
  const shown = items.filter(isShown);
  if (shown.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="moments">
        {shown.map((one) => (
          <li key={one.id}>
            <bdi>{one.text}</bdi> <Moment at_ms={momentOn(one, stream_id)} player={player} />
            {one.status === 'completed' && <Badge tone="good">{say('Done')}</Badge>}
          </li>
        ))}
      </ul>
    </>
  );
}

function isShown({ status }: Suggestion): boolean {
  return status !== 'dismissed' && status !== 'withdrawn';
}

function momentOn({ text, evidence }: Pick<Suggestion, 'text' | 'evidence'>, stream_id: string): number | null {
  const here = evidence.filter((one) => one.stream_id === stream_id);
  return saidIn(here, text)?.start_ms ?? null;
}
