import { signal } from '@preact/signals-core';
import { locale } from './language.js';

/** Dates, numbers and lists as the language writes them, and times in the zone of the profile. */

/** The zone of the profile; null before it is known, and where none is set: the browser's then. */
export const profile_zone = signal<string | null>(null);

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The zone in which times are written. */
export function timeZone(): string {
  return profile_zone.value ?? browserZone();
}

const made = new Map<string, unknown>();

/** Making a format takes longer than using it. */
function kept<Format>(kind: string, options: object, make: (tag: string) => Format): Format {
  const key = `${kind} ${locale.value} ${JSON.stringify(options)}`;
  const found = (made.get(key) as Format | undefined) ?? make(locale.value);
  made.set(key, found);
  return found;
}

/** A moment in the zone of the profile, unless `options` names another. */
export function dateText(at: string | number | Date, options: Intl.DateTimeFormatOptions): string {
  const all = { timeZone: timeZone(), ...options };
  return kept('date', all, (tag) => new Intl.DateTimeFormat(tag, all)).format(new Date(at));
}

export function numberText(n: number, options: Intl.NumberFormatOptions = {}): string {
  return kept('number', options, (tag) => new Intl.NumberFormat(tag, options)).format(n);
}

export function pluralRule(n: number): Intl.LDMLPluralRule {
  return kept('plural', {}, (tag) => new Intl.PluralRules(tag)).select(n);
}

/** Such as "Ann, Tom and Kim". */
export function listText(items: readonly string[]): string {
  // English of elsewhere has no comma before the last one, as all texts here.
  const tagOfLists = (tag: string) => (/^en\b/.test(tag) ? 'en-GB' : tag);
  return kept('list', {}, (tag) => new Intl.ListFormat(tagOfLists(tag))).format(items);
}

/** A language by its tag, such as "German". */
export function languageName(tag: string): string {
  return kept('language', {}, (own) => new Intl.DisplayNames(own, { type: 'language' })).of(tag) ?? tag;
}

/** Puts words in the order of the language. */
export function compareWords(one: string, other: string): number {
  return kept('order', {}, (tag) => new Intl.Collator(tag, { numeric: true })).compare(one, other);
}

/** The day in the zone of the profile, such as 2026-01-31. */
export function dayOf(at: string | number): string {
  return clockOf(new Date(at).getTime()).slice(0, 10);
}

/** As a field for date and time has it, such as 2026-01-31T18:30, in the zone of the profile. */
export function localText(at: string | number): string {
  return clockOf(new Date(at).getTime()).slice(0, 16);
}

/** The moment at which clocks in the zone of the profile show this, in milliseconds; NaN for what is no date. */
export function momentOf(local: string): number {
  const as_utc = Date.parse(`${local.length === 10 ? `${local}T00:00` : local}Z`);
  if (Number.isNaN(as_utc)) return Number.NaN;
  const first = as_utc - offsetAt(as_utc);
  // Where the clock is changed in between, the offset at the moment itself counts.
  return as_utc - offsetAt(first);
}

/** The day so many days later. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** From one day to the other. */
export function daysBetween(day: string, later: string): number {
  return (Date.parse(`${later}T00:00:00Z`) - Date.parse(`${day}T00:00:00Z`)) / DAY_MS;
}

const DAY_MS = 24 * 3_600_000;

function offsetAt(ms: number): number {
  return Date.parse(`${clockOf(ms)}Z`) - Math.floor(ms / 1_000) * 1_000;
}

const CLOCK: Intl.DateTimeFormatOptions = {
  ...{ hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
};

/** The time that clocks in the zone of the profile show, such as 2026-01-31T18:30:05. */
function clockOf(ms: number): string {
  const options = { ...CLOCK, timeZone: timeZone() };
  const format = kept('clock', options, () => new Intl.DateTimeFormat('en', options));
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}`;
}
