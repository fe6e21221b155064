import { signal } from '@preact/signals';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';
import { compareWords } from '../language/formats.js';
import { sayCount } from '../language/say.js';
import { undoButton } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';

/** Changes of stars and tags, which only the owner of a recording sees. */

export type StarAndTags = { starred?: boolean; tags?: string[] };
export type OnStarAndTags = (stream_id: string, is: StarAndTags) => void;

export const TAGS_MAX = 20;
export const TAG_CHARS_MAX = 40;
const KNOWN_MAX = 500;

/** The tags that lists of recordings have brought, for suggestions. */
export const known_tags = signal<readonly string[]>([]);

export function rememberTags(streams: readonly Stream[]): void {
  const found = streams.flatMap(({ tags }) => tags ?? []);
  const known = distinctTags([...known_tags.peek(), ...found]).slice(0, KNOWN_MAX);
  if (known.length !== known_tags.peek().length) known_tags.value = known;
}

/** In the order of the alphabet; of those that differ in case alone the first. */
export function distinctTags(tags: readonly string[]): string[] {
  const distinct = new Map<string, string>();
  for (const tag of tags) if (!distinct.has(folded(tag))) distinct.set(folded(tag), tag);
  return [...distinct.values()].toSorted(compareWords);
}

export function withoutTag(tags: readonly string[], tag: string): string[] {
  return tags.filter((one) => folded(one) !== folded(tag));
}

function folded(tag: string): string {
  return tag.normalize('NFC').toLowerCase();
}

/** Sends a change; star and tags that the recording has then. */
export async function changeStarAndTags(id: string, body: StarAndTags): Promise<StarAndTags> {
  const { starred, tags } = await api('PATCH /audio/streams/{id}', { path: { id }, query: { include: 'tags' }, body });
  const changed = { ...(starred == null ? {} : { starred }), ...(tags == null ? {} : { tags }) };
  if (changed.tags !== undefined) known_tags.value = distinctTags([...known_tags.peek(), ...changed.tags]);
  return changed;
}

/** A change of tags, and the one that undoes it: both of what a recording has at that moment. */
export type TagChange = {
  make: (tags: readonly string[]) => string[];
  undo: (tags: readonly string[]) => string[];
  /** Says that it was made. */
  said: (changed: number) => string;
};

export function addition(tag: string, said: TagChange['said']): TagChange {
  return { make: (tags) => [...tags, tag], undo: (tags) => withoutTag(tags, tag), said };
}

export function removal(tag: string, said: TagChange['said']): TagChange {
  return { make: (tags) => withoutTag(tags, tag), undo: (tags) => [...withoutTag(tags, tag), tag], said };
}

/** Changes the tags of a recording, and says so with a button that undoes it. Throws ApiError. */
export async function changeTags(
  id: string,
  { make, undo, said }: TagChange,
  onStarAndTags: OnStarAndTags,
): Promise<void> {
  onStarAndTags(id, await retagged(id, make));
  const back = undoButton(async () => onStarAndTags(id, await retagged(id, undo)));
  showToast(said(1), 'good', back);
}

/** The same of several recordings, one after the other; it goes on after one that can't be changed. */
export async function changeTagsOfEach(
  streams: readonly Stream[],
  { make, undo, said }: TagChange,
  onStarAndTags: OnStarAndTags,
): Promise<void> {
  const changed: string[] = [];
  let problem: string | null = null;
  for (const { id } of streams) {
    try {
      onStarAndTags(id, await retagged(id, make));
      changed.push(id);
    } catch (error) {
      problem = apiErrorOf(error).message;
    }
  }
  tellUnchanged(streams.length - changed.length, problem);
  if (changed.length === 0) return;
  const back = undoButton(async () => {
    for (const id of changed) onStarAndTags(id, await retagged(id, undo));
  });
  showToast(said(changed.length), 'good', back);
}

/** Says how many recordings could not be changed, and why; nothing where `problem` is null. */
export function tellUnchanged(count: number, problem: string | null): void {
  if (problem === null) return;
  const text = sayCount(
    count,
    {
      one: '{n} recording could not be changed. {problem}',
      other: '{n} recordings could not be changed. {problem}',
    },
    { problem },
  );
  showToast(text, 'problem');
}

/** Another page may have changed the tags since they were shown here. */
async function retagged(id: string, make: TagChange['make']): Promise<StarAndTags> {
  const { tags } = await api('GET /audio/streams/{id}', { path: { id }, query: { include: 'tags' } });
  return changeStarAndTags(id, { tags: make(tags ?? []) });
}

export function recordings(count: number): string {
  return sayCount(count, { one: '{n} recording', other: '{n} recordings' });
}
