import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { dayOf } from '../language/formats.js';
import { say } from '../language/say.js';
import { BASE, go } from '../router.js';
import { may } from './account.js';

/** Notifications of the browser for tasks that fall due while a page of the app is open. The switch is of this browser. */

const KEY = 'spool-due-notifications';
const ON = 'on';
/** A computer that slept is late; what was due before that is in the list. */
const LATE_MS_MAX = 10 * 60_000;
/** Tasks are asked for again after this, and when one has changed. */
const RELOAD_MS = 30 * 60_000;

export const notifies = signal(read());

export function canNotify(): boolean {
  return typeof Notification !== 'undefined';
}

/** Asks the person for permission where it is needed; false where the browser may not. */
export async function notifyOfDue(wanted: boolean): Promise<boolean> {
  const is_on = wanted && (await Notification.requestPermission()) === 'granted';
  notifies.value = is_on;
  try {
    if (is_on) localStorage.setItem(KEY, ON);
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is off: it is as long as this page.
  }
  return is_on === wanted;
}

function read(): boolean {
  try {
    return canNotify() && Notification.permission === 'granted' && localStorage.getItem(KEY) === ON;
  } catch {
    return false;
  }
}

/** Tells of each task when its time comes. A task with a day alone is told of at noon. */
export function useDueNotifications(): void {
  const is_on = notifies.value && may('turns:read') && may('insights:read');
  const [tasks, setTasks] = useState<readonly Suggestion[]>([]);
  const told = useRef(new Set<string>());
  const began_ms = useRef(Date.now());
  const load = async () => {
    if (!is_on) return;
    const day = await api('GET /days/{date}', { path: { date: dayOf(new Date().toISOString()) } }).catch(() => null);
    if (day !== null) setTasks(day.tasks_due.filter(({ status }) => status === 'open' || status === 'accepted'));
  };
  useEvents(['suggestion.created', 'suggestion.updated', 'suggestion.deleted'], () => void load());
  useEffect(() => {
    if (!is_on) {
      setTasks([]);
      return;
    }
    began_ms.current = Date.now();
    void load();
    const timer = setInterval(() => void load(), RELOAD_MS);
    return () => clearInterval(timer);
  }, [is_on]);
  useEffect(() => {
    const timers = tasks.flatMap((task) => {
      const due_ms = Date.parse(task.due_at ?? '');
      const is_new = due_ms >= began_ms.current && !told.current.has(keyOf(task));
      return is_new ? [setTimeout(() => tell(task, told.current), Math.max(0, due_ms - Date.now()))] : [];
    });
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  }, [tasks]);
}

/** Several pages of one browser show one notification: they give it the same tag. */
function tell(task: Suggestion, told: Set<string>): void {
  const { id, text, due_at } = task;
  told.add(keyOf(task));
  if (!notifies.peek() || Date.now() - Date.parse(due_at ?? '') > LATE_MS_MAX) return;
  try {
    const shown = new Notification(say('A task is due'), { body: text, tag: id });
    shown.onclick = () => {
      window.focus();
      go(`${BASE}/insights`);
      shown.close();
    };
  } catch {
    // Some phones let service workers alone notify.
    void navigator.serviceWorker?.getRegistration().then((registration) => {
      return registration?.showNotification(say('A task is due'), { body: text, tag: id });
    });
  }
}

/** One that is put off is told of again. */
function keyOf({ id, due_at }: Suggestion): string {
  return `${id} ${due_at}`;
}
