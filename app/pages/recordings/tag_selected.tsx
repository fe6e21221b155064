import { useState } from 'preact/hooks';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { useAction } from '../../api/loading.js';
import { say, sayCount } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import {
  addition,
  changeTagsOfEach,
  distinctTags,
  type OnStarAndTags,
  removal,
  withoutTag,
} from '../../recording/stars_and_tags.js';
import { AddTag, RemovableTags } from '../../recording/tags.js';

/** Adds a tag to all selected recordings, and removes one from all of them. */
export function TagSelected({ streams, onStarAndTags }: { streams: readonly Stream[]; onStarAndTags: OnStarAndTags }) {
  const [open, setOpen] = useState(false);
  const tags = distinctTags(streams.flatMap((stream) => stream.tags ?? []));
  const add = useAction((tag: string) => {
    const lacking = streams.filter(
      (stream) => withoutTag(stream.tags ?? [], tag).length === (stream.tags ?? []).length,
    );
    const said = (changed: number) =>
      sayCount(
        changed,
        { one: 'The tag “{tag}” is added to {n} recording.', other: 'The tag “{tag}” is added to {n} recordings.' },
        { tag },
      );
    return changeTagsOfEach(lacking, addition(tag, said), onStarAndTags);
  });
  const remove = useAction((tag: string) => {
    const having = streams.filter((stream) => withoutTag(stream.tags ?? [], tag).length < (stream.tags ?? []).length);
    const said = (changed: number) =>
      sayCount(
        changed,
        {
          one: 'The tag “{tag}” is removed from {n} recording.',
          other: 'The tag “{tag}” is removed from {n} recordings.',
        },
        { tag },
      );
    return changeTagsOfEach(having, removal(tag, said), onStarAndTags);
  });
  const close = () => setOpen(false);
  return (
    <>
      <Button small disabled={streams.length === 0} onClick={() => setOpen(true)}>
        {say('Tags')}
      </Button>
      <Dialog
        open={open}
        title={sayCount(streams.length, { one: 'Tags of {n} recording', other: 'Tags of {n} recordings' })}
        onClose={close}
      >
        <AddTag of={add} hint={say('It is added to all of them.')} />
        <RemovableTags tags={tags} from_all onRemove={(tag) => void remove.run(tag)} />
        <div class="dialog-actions">
          <Button kind="primary" busy={add.busy || remove.busy} onClick={close}>
            {say('Done|button')}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
