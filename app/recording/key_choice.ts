import { signal } from '@preact/signals';

/** Whether single keys are shortcuts, in this browser. */

const KEY = 'spool-keys';
const OFF = 'off';

const is_on = signal(readChoice());

export function keysAreOn(): boolean {
  return is_on.value;
}

export function setKeysOn(on: boolean): void {
  is_on.value = on;
  try {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, OFF);
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(KEY) !== OFF;
  } catch {
    return true;
  }
}
