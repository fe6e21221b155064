import type { Stream } from '../../../kits/typescript/src/api.js';
import { sayWith } from '../../language/say.js';
import { place } from '../../router.js';
import { folded, wordsIn } from './ordering.js';

/** The note of a recording in which the words that are searched stand; nothing without one. */
export function FoundNote({ stream: { notes } }: { stream: Stream }) {
  const wanted = wordsIn(place.value.query.get('q') ?? '');
  const found = notes?.find((note) => wanted.some((word) => folded(note).includes(word)));
  if (found === undefined) return null;
  return <p class="row-text one-line">{sayWith('Note: {note}', { note: <bdi>{found}</bdi> })}</p>;
}
