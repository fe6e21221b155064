import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../language/say.js';
import { ApiError } from './api_error.js';

/** Pages' loading state: waiting, failed or loaded. */

export type Loaded<T> = {
  /** Null until it came; what was there before stays while it is loaded again. */
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
  /** Puts something else in its place, such as what a change was answered with. */
  set: (data: T) => void;
  /** Puts some members of it in their place; nothing while nothing is there. */
  change: (members: Partial<T>) => void;
};

/** Loads when the page is shown, and again when one of `inputs` is another. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | null; error: ApiError | null; loading: boolean }>(WAITING);
  const run = useRef(0);
  const start = useCallback(() => {
    const mine = ++run.current;
    setState((was) => ({ ...was, loading: true }));
    load().then(
      (data) => mine === run.current && setState({ data, error: null, loading: false }),
      (error: unknown) => {
        if (mine === run.current) setState((was) => ({ ...was, error: apiErrorOf(error), loading: false }));
      },
    );
  }, inputs);
  useEffect(() => {
    setState(WAITING);
    start();
    return () => void run.current++;
  }, [start]);
  const set = useCallback((data: T) => {
    run.current++; // what is still under way is older
    setState({ data, error: null, loading: false });
  }, []);
  const change = useCallback((members: Partial<T>) => {
    run.current++;
    setState((was) => (was.data === null ? was : { ...was, data: { ...was.data, ...members }, loading: false }));
  }, []);
  return { ...state, reload: start, set, change };
}

const WAITING = { data: null, error: null, loading: true };

export type Page<Item> = { items: Item[]; cursor: string | null };

export type LoadedList<Item> = {
  items: readonly Item[];
  /** `loading`: nothing is there yet. `more`: a further page is under way. */
  state: 'loading' | 'failed' | 'ready' | 'more';
  error: ApiError | null;
  /** Loads the next page; null on the last one. */
  more: (() => void) | null;
  reload: () => void;
  /** Changes what is there, as after a change that the server has taken. */
  change: (with_items: (items: readonly Item[]) => readonly Item[]) => void;
};

/** A list, page after page. `load` gets the cursor of the next one. */
export function useList<Item>(
  load: (cursor: string | undefined) => Promise<Page<Item>>,
  inputs: readonly unknown[],
): LoadedList<Item> {
  type State = {
    items: readonly Item[];
    cursor: string | null;
    state: LoadedList<Item>['state'];
    error: ApiError | null;
  };
  const [list, setList] = useState<State>({ items: [], cursor: null, state: 'loading', error: null });
  const run = useRef(0);
  const fetchPage = useCallback((cursor: string | undefined) => {
    const mine = ++run.current;
    setList((was) => ({
      ...was,
      error: null,
      state: cursor === undefined && was.items.length === 0 ? 'loading' : 'more',
    }));
    load(cursor).then(
      (page) => {
        if (mine !== run.current) return;
        setList((was) => ({
          items: cursor === undefined ? page.items : [...was.items, ...page.items],
          ...{ cursor: page.cursor, state: 'ready', error: null },
        }));
      },
      (error: unknown) => {
        if (mine === run.current) setList((was) => ({ ...was, state: 'failed', error: apiErrorOf(error) }));
      },
    );
  }, inputs);
  useEffect(() => {
    setList({ items: [], cursor: null, state: 'loading', error: null });
    fetchPage(undefined);
    return () => void run.current++;
  }, [fetchPage]);
  const { cursor } = list;
  return {
    items: list.items,
    state: list.state,
    error: list.error,
    more: cursor === null ? null : () => fetchPage(cursor),
    reload: useCallback(() => fetchPage(undefined), [fetchPage]),
    change: useCallback((change) => setList((was) => ({ ...was, items: change(was.items) })), []),
  };
}

export type Action<Given extends unknown[]> = {
  run: (...given: Given) => Promise<boolean>;
  busy: boolean;
  error: ApiError | null;
  clear: () => void;
};

/** Something that a button does. `run` gives whether it succeeded; meanwhile a second press does nothing. */
export function useAction<Given extends unknown[]>(act: (...given: Given) => Promise<unknown>): Action<Given> {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null });
  const busy = useRef(false);
  const run = async (...given: Given): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setState({ busy: true, error: null });
    try {
      await act(...given);
      setState({ busy: false, error: null });
      return true;
    } catch (error) {
      setState({ busy: false, error: apiErrorOf(error) });
      return false;
    } finally {
      busy.current = false;
    }
  };
  return { ...state, run, clear: () => setState({ busy: false, error: null }) };
}

/** Loads again and again, while somebody looks. */
export function usePolling(on: boolean, every_ms: number, poll: () => void): void {
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => !document.hidden && poll(), every_ms);
    return () => clearInterval(timer);
  }, [on, every_ms, poll]);
}

export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  console.error(error);
  return new ApiError('UNKNOWN', say('Something went wrong here. Load the page again.'));
}
