/** The questions that were asked last, in this browser alone and until somebody signs out. */

const KEY = 'spool-questions';
const KEPT_MAX = 8;

export function recentQuestions(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string').slice(0, KEPT_MAX) : [];
  } catch {
    return []; // storage is off, or holds something else
  }
}

export function keepQuestion(question: string): void {
  try {
    const kept = [question, ...recentQuestions().filter((one) => one !== question)].slice(0, KEPT_MAX);
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Storage is off.
  }
}

export function forgetQuestions(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Storage is off.
  }
}
