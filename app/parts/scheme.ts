import { signal } from '@preact/signals';

/** Whether pages are light or dark: as the system is, or as a person chose for this browser. */

const KEY = 'spool-scheme';
export const SCHEMES = ['system', 'light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];

export const scheme = signal<Scheme>('system');
const system = matchMedia('(prefers-color-scheme: dark)');

/** Takes up what was chosen before. */
export function startScheme(): void {
  try {
    show(SCHEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'system');
  } catch {
    // Storage is off.
  }
}

export function chooseScheme(chosen: Scheme): void {
  show(chosen);
  try {
    if (chosen === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // Storage is off: it holds until the page is loaded again.
  }
}

/** Calls back when the colours of the page change; returns what ends that. */
export function onColours(changed: () => void): () => void {
  const chosen = scheme.subscribe(changed);
  system.addEventListener('change', changed);
  return () => {
    chosen();
    system.removeEventListener('change', changed);
  };
}

/** A colour of the page, by its custom property, for what is drawn on a canvas in `element`. */
export function colourNamed(name: string, element: HTMLElement): string {
  const was = element.style.color;
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = was;
  return color;
}

function show(chosen: Scheme): void {
  scheme.value = chosen;
  if (chosen === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = chosen;
}
