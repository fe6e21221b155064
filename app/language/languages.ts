import { signal } from '@preact/signals';
import { languageOf, type TextTable } from '../../src/domain/language/text_table.js';
import { locale, table, tagOf } from './language.js';

/**
 * The languages of the app: the browser's is taken, or the one that a person chose for this browser. English is in the
 * source; a further language is a row here and a table in a file of its own, which is loaded where it is shown.
 */

const KEY = 'spool-language';
/** By which the server knows the language that was chosen for the browser: `src/edge/pages/request_language.ts`. */
const COOKIE = 'spool_language';
const COOKIE_S = 400 * 24 * 3_600; // the longest that browsers keep one

type LanguageRow = { name: string; load: (() => Promise<TextTable>) | null };

export const LANGUAGES = {
  en: { name: 'English', load: null },
  de: { name: 'Deutsch', load: async () => (await import('./german.js')).GERMAN },
} as const satisfies Record<string, LanguageRow>;

type Language = keyof typeof LANGUAGES;
export type LanguageChoice = Language | 'browser';

export const LANGUAGE_CODES = Object.keys(LANGUAGES) as Language[];

/** The choice of a person. */
export const language_choice = signal<LanguageChoice>('browser');

/** Takes up what was chosen before. Settles once texts are there; without its file the app is in English. */
export async function startLanguage(): Promise<void> {
  try {
    const kept = localStorage.getItem(KEY);
    language_choice.value = LANGUAGE_CODES.find((code) => code === kept) ?? 'browser';
  } catch {
    // Storage is off.
  }
  await show(language_choice.value).catch(() => {});
}

/** Rejects where the file of the language could not be loaded; the language stays then. */
export async function chooseLanguage(chosen: LanguageChoice): Promise<void> {
  await show(chosen);
  language_choice.value = chosen;
  try {
    if (chosen === 'browser') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // Storage is off: it holds until the page is loaded again.
  }
}

async function show(chosen: LanguageChoice): Promise<void> {
  const code = chosen === 'browser' ? (languageOf(navigator.languages, LANGUAGE_CODES) ?? 'en') : chosen;
  const texts = (await LANGUAGES[code].load?.()) ?? null;
  table.value = texts;
  locale.value = tagOf(code, navigator.languages);
  document.documentElement.lang = code;
  const [value, max_age] = chosen === 'browser' ? ['', 0] : [code, COOKIE_S];
  // biome-ignore lint/suspicious/noDocumentCookie: Safari and Firefox have had cookieStore for too short a time.
  document.cookie = `${COOKIE}=${value}; path=/; max-age=${max_age}; samesite=lax`;
}
