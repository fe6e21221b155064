import { LIMITS } from '../../../domain/limits.js';
import { capitalized } from './item_text.js';
import type { Subject } from './subjects.js';

const WORDS_MAX = 5;
const SUBJECTS_MAX = 3;
/** A subject that weighs less than this part of the weightiest is none of the title. */
const WEIGHT_SHARE_MIN = 0.5;

/** Two to five words that name the matter: the weightiest of distinct subjects, in the order in which they came up. Null without any. */
export function titleOf(subjects: readonly Subject[]): string | null {
  const chosen: Subject[] = [];
  let words = 0;
  for (const subject of subjects) {
    const { length } = subject.stems;
    if (chosen.length === SUBJECTS_MAX || subject.weight < (chosen[0]?.weight ?? 0) * WEIGHT_SHARE_MIN) break;
    if (words + length > WORDS_MAX - (chosen.length > 0 ? 1 : 0)) continue;
    chosen.push(subject);
    words += length;
  }
  const texts = chosen.sort((a, b) => a.first - b.first).map(({ text }) => text);
  const last = texts.pop();
  if (last === undefined) return null;
  const title = texts.length === 0 ? last : `${texts.join(', ')} and ${last}`;
  return capitalized(title).slice(0, LIMITS.conversation_title_chars_max);
}

/** A phrase stands for its words, where it weighs nearly as much. */
export function distinctSubjects(subjects: readonly Subject[]): Subject[] {
  const chosen: Subject[] = [];
  for (const subject of subjects) {
    const same = chosen.findIndex(({ stems }) => stems.some((stem) => subject.stems.includes(stem)));
    if (same < 0) {
      chosen.push(subject);
      continue;
    }
    const known = chosen[same] as Subject;
    const is_longer =
      subject.stems.length > known.stems.length && known.stems.every((stem) => subject.stems.includes(stem));
    const is_kept = chosen.some((one, at) => at !== same && one.stems.some((stem) => subject.stems.includes(stem)));
    if (is_longer && !is_kept && subject.weight >= known.weight * 0.5)
      chosen[same] = { ...subject, weight: known.weight };
  }
  return chosen;
}
