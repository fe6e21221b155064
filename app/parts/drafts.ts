import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';

/**
 * Keeps what somebody types into a dialog until that is closed, so that a reload loses none of it. It lies in the tab's
 * session storage, for the account that typed it. Secrets are never drafts.
 */

const PREFIX = 'spool-draft';

let owner = '';

/** The dialog in which a field lies; null outside of dialogs, where nothing is kept. */
export const DraftPlace = createContext<string | null>(null);

/** Whose drafts are read and written from now on. */
export function draftsAreOf(account_id: string): void {
  owner = account_id;
}

/** The state of a field of a dialog, as it was typed before the page was loaded again. */
export function useDraft<T>(field: string, initial: T): [value: T, set: (value: T) => void] {
  return useDraftAt(useContext(DraftPlace), field, initial);
}

/** The same for a field outside of dialogs; whoever closes it calls `forgetDrafts`. */
export function useDraftAt<T>(place: string | null, field: string, initial: T): [value: T, set: (value: T) => void] {
  const [value, setValue] = useState<T>(() => readDraft<T>(place, field) ?? initial);
  const set = (next: T) => {
    setValue(next);
    if (place !== null) writeDraft(place, field, next);
  };
  return [value, set];
}

/** Whether something was typed there and neither sent nor closed: a reload came between. */
export function hasDrafts(place: string): boolean {
  try {
    return Object.keys(sessionStorage).some((key) => key.startsWith(`${PREFIX} ${owner} ${place} `));
  } catch {
    return false; // storage is off
  }
}

/** Forgets the drafts of this dialog: they were sent. */
export function useForgetDrafts(): () => void {
  const place = useContext(DraftPlace);
  return () => {
    if (place !== null) forgetDrafts(place);
  };
}

export function forgetDrafts(place: string): void {
  forgetThose(`${PREFIX} ${owner} ${place} `);
}

/** For whoever signs out. */
export function forgetAllDrafts(): void {
  forgetThose(`${PREFIX} `);
}

function readDraft<T>(place: string | null, field: string): T | null {
  if (place === null) return null;
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(place, field)) ?? 'null') as T | null;
  } catch {
    return null; // storage is off, or holds something else
  }
}

function writeDraft(place: string, field: string, value: unknown): void {
  try {
    sessionStorage.setItem(keyOf(place, field), JSON.stringify(value));
  } catch {
    // Storage is off or full: the text is in the field alone.
  }
}

function forgetThose(beginning: string): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(beginning)) sessionStorage.removeItem(key);
  } catch {
    // Storage is off.
  }
}

function keyOf(place: string, field: string): string {
  return `${PREFIX} ${owner} ${place} ${field}`;
}
