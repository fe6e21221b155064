import { signal } from '@preact/signals';

/** Short news that the shell shows at the edge of the page, and screen readers read out. */

export type Tone = 'good' | 'problem';
/** A button of a toast, which also dismisses it. */
type ToastButton = { words: string; run: () => void };
export type Toast = { key: number; text: string; tone: Tone; button: ToastButton | null };

const SHOWN_MS = 6_000;
/** Whoever is to press a button needs longer than to read. */
const BUTTON_SHOWN_MS = 15_000;
const SHOWN_MAX = 3;

export const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Shows a toast, and gives its key. One about a problem stays until it is dismissed. */
export function showToast(
  text: string,
  tone: Tone = 'good',
  button: ToastButton | null = null,
  shown_ms = button === null ? SHOWN_MS : BUTTON_SHOWN_MS,
): number {
  const key = ++count;
  toasts.value = [...toasts.value.filter((one) => one.text !== text), { key, text, tone, button }].slice(-SHOWN_MAX);
  if (tone === 'good') setTimeout(() => dismiss(key), shown_ms);
  return key;
}

export function dismiss(key: number): void {
  toasts.value = toasts.value.filter((one) => one.key !== key);
}
