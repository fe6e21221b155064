import { useEffect, useRef, useState } from 'preact/hooks';
import type { Suggestion } from '../../../kits/typescript/src/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useLoaded } from '../../api/loading.js';
import { useOwnerNames } from '../../contacts/people.js';
import { AddTask } from '../../insights/add_task.js';
import { byDue, DUE_GROUPS, type DueGroup, dueGroup } from '../../insights/due_order.js';
import { SubscribeInCalendar } from '../../insights/subscribe_in_calendar.js';
import { tasksAsCalendar, tasksAsTable } from '../../insights/task_files.js';
import { TaskRow } from '../../insights/task_row.js';
import { say } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { EmptyState, Loading, Show } from '../../parts/placeholders.js';
import { saveBlob } from '../../parts/save_blob.js';
import { leaveRow } from '../../parts/toast_action.js';
import { place } from '../../router.js';
import { may } from '../../shell/account.js';
import { Filters, filtersOf, isNarrow } from './filters.js';
import { type LoadedSuggestions, loadAll, SUGGESTION_EVENTS } from './load_suggestions.js';

export const TASK_KINDS = ['task', 'follow_up', 'reminder'] as const;
const SETTLED = [
  ['completed', 'Done', 'Nothing is done.'],
  ['dismissed', 'Dismissed', 'Nothing is dismissed.'],
] as const;
const SETTLED_MAX = 100;

type Named = { suggestion: Suggestion; owner: string | null };

/** Tasks in groups by when they are due; those done and dismissed are folded away. The address holds the filters. */
export function Tasks() {
  const { query } = place.value;
  const filters = filtersOf(query);
  const kind = TASK_KINDS.find((one) => one === query.get('kind'));
  const [changed, setChanged] = useState(0);
  const found = useLoaded(
    async () => ofKinds(await loadAll({ statuses: ['open', 'accepted'], ...filters }), kind),
    [JSON.stringify(filters), kind],
  );
  useEvents(SUGGESTION_EVENTS, () => {
    found.reload();
    setChanged((count) => count + 1);
  });
  const ownerOf = useOwnerNames();
  const namedOf = (suggestion: Suggestion): Named => ({ suggestion, owner: ownerOf(suggestion) });
  const list = useRef<HTMLDivElement>(null);
  // A row that goes leaves the focus to the one behind it.
  const next_focus = useRef<number | null>(null);
  useEffect(() => {
    const at = next_focus.current;
    next_focus.current = null;
    if (at === null) return;
    const boxes = list.current?.querySelectorAll<HTMLElement>('.task > input') ?? [];
    const box = boxes[Math.min(at, boxes.length - 1)];
    if (box === undefined) leaveRow();
    else box.focus();
  });
  const latest = useRef(found.data);
  latest.current = found.data;
  const change = (next: Suggestion) => {
    const now = latest.current;
    if (now === null) return;
    const is_open = isOpen(next);
    if (!is_open)
      next_focus.current = grouped(now.items)
        .flatMap(({ items }) => items)
        .findIndex(({ id }) => id === next.id);
    found.set({ ...now, items: [...now.items.filter(({ id }) => id !== next.id), ...(is_open ? [next] : [])] });
    setChanged((count) => count + 1);
  };
  const added = (task: Suggestion) => {
    if (isNarrow(query)) found.reload();
    else if (TASK_KINDS.some((one) => one === task.kind)) change(task);
  };
  return (
    <>
      {may('insights:write') && <AddTask onAdd={added} onUndo={found.reload} />}
      <Filters kinds={TASK_KINDS} />
      <Show of={found}>
        {({ items, is_cut }) => (
          <>
            <div ref={list}>
              {grouped(items).map((group) => (
                <section key={group.name} class="task-group" aria-labelledby={`group-${group.name}`}>
                  <h2 id={`group-${group.name}`}>
                    {say(group.name)} <span class="soft">{group.items.length}</span>
                  </h2>
                  <ul class="tasks" aria-label={say(group.name)}>
                    {group.items.map((one) => (
                      <TaskRow key={one.id} {...namedOf(one)} onChange={change} />
                    ))}
                  </ul>
                </section>
              ))}
            </div>
            {items.length === 0 && <Nothing is_narrow={isNarrow(query)} />}
            {is_cut && <p class="hint">{say('Not all are shown. Filter by person, kind or recording.')}</p>}
            {SETTLED.map(([status, name, nothing]) => (
              <Settled
                key={`${status} ${JSON.stringify(filters)} ${kind}`}
                name={say(name)}
                nothing={say(nothing)}
                load={async () => ofKinds(await loadAll({ statuses: [status], max: SETTLED_MAX, ...filters }), kind)}
                changed={changed}
                namedOf={namedOf}
                onChange={change}
              />
            ))}
            <SaveAs tasks={grouped(items).flatMap((group) => group.items.map(namedOf))} />
          </>
        )}
      </Show>
    </>
  );
}

function isOpen({ status }: Suggestion): boolean {
  return status === 'open' || status === 'accepted';
}

function ofKinds({ items, is_cut }: LoadedSuggestions, kind: Suggestion['kind'] | undefined): LoadedSuggestions {
  const kinds: readonly Suggestion['kind'][] = kind === undefined ? TASK_KINDS : [kind];
  return { items: items.filter((one) => kinds.includes(one.kind)), is_cut };
}

function grouped(items: readonly Suggestion[]): { name: DueGroup; items: Suggestion[] }[] {
  const now_ms = Date.now();
  return DUE_GROUPS.map((name) => ({
    name,
    items: items.filter((one) => isOpen(one) && dueGroup(one, now_ms) === name).sort(byDue),
  })).filter((group) => group.items.length > 0);
}

/** Loaded once it is opened. `changed`: rises when one may have come or gone. */
function Settled({
  name,
  nothing,
  load,
  changed,
  namedOf,
  onChange,
}: {
  name: string;
  /** Said where there is none. */
  nothing: string;
  load: () => Promise<LoadedSuggestions>;
  changed: number;
  namedOf: (suggestion: Suggestion) => Named;
  onChange: (suggestion: Suggestion) => void;
}) {
  const [is_open, setOpen] = useState(false);
  return (
    <details class="task-group" open={is_open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {is_open && <SettledRows {...{ name, nothing, load, changed, namedOf, onChange }} />}
    </details>
  );
}

function SettledRows({ name, nothing, load, changed, namedOf, onChange }: Omit<Parameters<typeof Settled>[0], never>) {
  const found = useLoaded(load, []);
  useEffect(() => {
    if (changed > 0) found.reload();
  }, [changed]);
  if (found.data === null) return <Loading />;
  const items = [...found.data.items].sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  if (items.length === 0) return <p class="hint">{nothing}</p>;
  return (
    <ul class="tasks" aria-label={name}>
      {items.map((one) => (
        <TaskRow key={one.id} {...namedOf(one)} onChange={onChange} />
      ))}
    </ul>
  );
}

function SaveAs({ tasks }: { tasks: readonly Named[] }) {
  const save = (text: string, type: string, name: string) => saveBlob(new Blob([text], { type }), name);
  return (
    <div class="actions save-as">
      {tasks.length > 0 && (
        <>
          <Button small onClick={() => save(tasksAsCalendar(tasks, Date.now()), 'text/calendar', 'to-do.ics')}>
            {say('Calendar file (.ics)')}
          </Button>
          <Button small onClick={() => save(tasksAsTable(tasks), 'text/csv', 'to-do.csv')}>
            {say('Table (.csv)')}
          </Button>
        </>
      )}
      {may('account:manage') && <SubscribeInCalendar />}
    </div>
  );
}

function Nothing({ is_narrow }: { is_narrow: boolean }) {
  if (is_narrow) {
    return (
      <EmptyState icon="search" title={say('Nothing matches')}>
        <p>{say('Choose another person, kind or recording.')}</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="check" title={say('Nothing is open')}>
      <p>
        {say(
          'When somebody promises or asks for something in a recording, it appears here by itself. You can also add a task above.',
        )}
      </p>
    </EmptyState>
  );
}
