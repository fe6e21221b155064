import type { Stream } from '../../kits/typescript/src/api.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { AddForm } from '../parts/add_form.js';
import { Button } from '../parts/button.js';
import { faultOf } from '../parts/form.js';
import { useToastAction } from '../parts/toast_action.js';
import { BASE } from '../router.js';
import { may } from '../shell/account.js';
import {
  addition,
  changeTags,
  known_tags,
  type OnStarAndTags,
  removal,
  TAG_CHARS_MAX,
  TAGS_MAX,
  withoutTag,
} from './stars_and_tags.js';

/** Tags, each of which leads to the recordings that have it. */
export function TagLinks({ tags }: { tags: readonly string[] }) {
  return (
    <ul class="tags" aria-label={say('Tags')}>
      {tags.map((tag) => (
        <li key={tag}>
          <a class="tag above" href={`${BASE}/recordings?tag=${encodeURIComponent(tag)}`}>
            <bdi>{tag}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The tags of a recording on its page, where its owner adds and removes them. */
export function TagsPanel({ stream, onStarAndTags }: { stream: Stream; onStarAndTags: OnStarAndTags }) {
  const tags = stream.tags ?? [];
  const add = useAction(async (tag: string) => {
    const is_there = withoutTag(tags, tag).length < tags.length;
    if (!is_there)
      await changeTags(
        stream.id,
        addition(tag, () => say('The tag “{tag}” is added.', { tag })),
        onStarAndTags,
      );
  });
  const remove = useToastAction(say('The tag could not be removed.'), (tag: string) =>
    changeTags(
      stream.id,
      removal(tag, () => say('The tag “{tag}” is removed.', { tag })),
      onStarAndTags,
    ),
  );
  if (stream.tags == null || !may('audio:write')) return null;
  return (
    <section class="panel">
      <h2>{say('Tags')}</h2>
      <RemovableTags tags={tags} onRemove={(tag) => void remove.run(tag)} />
      {tags.length < TAGS_MAX ? (
        <AddTag of={add} />
      ) : (
        <p class="hint">{say('A recording has at most {n} tags. Remove one to add another.', { n: TAGS_MAX })}</p>
      )}
    </section>
  );
}

export function RemovableTags({
  tags,
  from_all = false,
  onRemove,
}: {
  tags: readonly string[];
  /** Of several recordings. */
  from_all?: boolean;
  onRemove: (tag: string) => void;
}) {
  if (tags.length === 0) return null;
  return (
    <ul class="tags" aria-label={say('Tags')}>
      {tags.map((tag) => (
        <li key={tag} class="tag removable">
          <a href={`${BASE}/recordings?tag=${encodeURIComponent(tag)}`}>
            <bdi>{tag}</bdi>
          </a>
          <Button
            kind="quiet"
            small
            icon="close"
            label={from_all ? say('Remove the tag {tag} from all', { tag }) : say('Remove the tag {tag}', { tag })}
            onClick={() => onRemove(tag)}
          />
        </li>
      ))}
    </ul>
  );
}

/** A field for one more tag, which suggests those that are known. */
export function AddTag({ of, hint }: { of: ReturnType<typeof useAction<[tag: string]>>; hint?: string }) {
  const error = faultOf(of.error, 'tags') ?? of.error?.message;
  const known = known_tags.value;
  return <AddForm {...{ of, hint, error, known }} chars_max={TAG_CHARS_MAX} label={say('Add a tag')} />;
}
