import { signal } from '@preact/signals';

/** Short news that the shell shows at the edge of the page, and screen readers read out. */

export type Tone = 'good' | 'problem';
export type Toast = { key: number; text: string; tone: Tone };

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

export const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Shows a toast. One about a problem stays until it is dismissed. */
export function showToast(text: string, tone: Tone = 'good'): void {
  const key = ++count;
  toasts.value = [...toasts.value.filter((one) => one.text !== text), { key, text, tone }].slice(-SHOWN_MAX);
  if (tone === 'good') setTimeout(() => dismiss(key), SHOWN_MS);
}

export function dismiss(key: number): void {
  toasts.value = toasts.value.filter((one) => one.key !== key);
}
