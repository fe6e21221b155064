import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Event, EventType, LiveTurns, Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { useEvents } from '../api/event_feed.js';
import { apiErrorOf } from '../api/loading.js';
import { type Stretch, Timeline } from '../audio/timeline.js';
import { withChanged } from './live_lines.js';

/** Loads the data of a recording's page, and keeps it as it is on the server. */

const PAGE_ITEMS = 100;
/** Of one recording in one page; who has more reads them as text. */
const TURNS_MAX = 5_000;
/** More changes than that at once, and all turns are read again. */
const SINGLE_TURNS_MAX = 20;
const CHUNKS_MAX = 20_000;

const TURN_EVENTS: readonly EventType[] = ['turn.created', 'turn.updated', 'turn.deleted'];

/** Where a recording has audio. */
export async function loadTimeline(stream_id: string): Promise<Timeline> {
  const chunks: Stretch[] = [];
  let cursor: string | undefined;
  do {
    const page = await api('GET /audio/streams/{id}/chunks', {
      path: { id: stream_id },
      query: { limit: PAGE_ITEMS, cursor },
    });
    for (const chunk of page.items) {
      if (chunk.status === 'awaiting_upload' || chunk.status === 'expired') continue;
      chunks.push({ start_ms: chunk.source_start_ms, end_ms: chunk.source_end_ms });
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined && chunks.length < CHUNKS_MAX);
  return new Timeline(chunks);
}

export type LoadedTurns = {
  turns: readonly Turn[];
  state: 'loading' | 'ready' | 'failed';
  error: ApiError | null;
  /** Some are left out. */
  cut: boolean;
  reload: () => void;
  change: (turn: Turn) => void;
  remove: (turn_id: string) => void;
  /** Replaces the turns that begin in a stretch of the recording. */
  replace: (changed: LiveTurns) => void;
};

/** All turns of a recording in their order; new ones come by themselves. */
export function useTurns(stream: { id: string; source_id: string }, changed: () => void): LoadedTurns {
  const [state, setState] = useState<Pick<LoadedTurns, 'turns' | 'state' | 'error' | 'cut'>>(NOTHING);
  const run = useRef(0);
  const load = useCallback(async () => {
    const mine = ++run.current;
    try {
      const turns: Turn[] = [];
      let cursor: string | undefined;
      do {
        const page = await api('GET /turns', { query: { stream_id: stream.id, limit: PAGE_ITEMS, cursor } });
        turns.push(...page.items);
        cursor = page.cursor ?? undefined;
        // The first ones are read while the others come.
        if (mine === run.current) setState((was) => (was.state === 'ready' ? was : { ...was, turns: [...turns] }));
      } while (cursor !== undefined && turns.length < TURNS_MAX && mine === run.current);
      if (mine === run.current) setState({ turns, state: 'ready', error: null, cut: cursor !== undefined });
    } catch (error) {
      if (mine === run.current) setState((was) => ({ ...was, state: 'failed', error: apiErrorOf(error) }));
    }
  }, [stream.id]);
  useEffect(() => {
    void load();
    return () => void run.current++;
  }, [load]);

  const change = (turn: Turn) =>
    setState((was) => ({ ...was, turns: inOrder([...was.turns.filter(({ id }) => id !== turn.id), turn]) }));
  const remove = (turn_id: string) =>
    setState((was) => ({ ...was, turns: was.turns.filter(({ id }) => id !== turn_id) }));
  const replace = (changed: LiveTurns) => setState((was) => ({ ...was, turns: withChanged(was.turns, changed) }));

  useEvents(TURN_EVENTS, (events) => {
    const mine = events?.filter(({ data }) => data.source_id === undefined || data.source_id === stream.source_id);
    if (mine?.length === 0) return;
    if (mine === undefined || mine.length > SINGLE_TURNS_MAX) void load();
    else void Promise.all(idsOf(mine).map((id) => readTurn(id).then(takeIn, () => {})));
    changed();
  });
  const takeIn = ({ id, turn }: { id: string; turn: Turn | null }) => {
    if (turn === null) remove(id);
    else if (turn.stream_id === stream.id) change(turn);
  };
  return { ...state, reload: () => void load(), change, remove, replace };
}

const NOTHING = { turns: [], state: 'loading', error: null, cut: false } as const;

function idsOf(events: readonly Event[]): string[] {
  return [...new Set(events.map(({ resource }) => resource.id))];
}

/** Null for one that is gone. */
async function readTurn(id: string): Promise<{ id: string; turn: Turn | null }> {
  try {
    return { id, turn: await api('GET /turns/{id}', { path: { id } }) };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return { id, turn: null };
    throw error;
  }
}

function inOrder(turns: Turn[]): Turn[] {
  return turns.sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
}
