import { useEffect, useState } from 'preact/hooks';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { say, sayCount } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/dialog.js';
import { showToast } from '../../parts/toast_queue.js';
import { deleteSoon } from '../../recording/deletion.js';
import { MoveButton } from '../../recording/move_button.js';
import type { OnStarAndTags } from '../../recording/stars_and_tags.js';
import { may } from '../../shell/account.js';
import { StarSelected } from './star_selected.js';
import { TagSelected } from './tag_selected.js';

export type Selection = {
  /** Null while nothing can be selected. */
  ids: ReadonlySet<string> | null;
  begin: () => void;
  end: () => void;
  choose: (id: string, chosen: boolean) => void;
  set: (ids: readonly string[]) => void;
};

/** Which rows of a list are selected. Those that are listed no more are none. */
export function useSelection(listed: readonly { id: string }[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string> | null>(null);
  const there = new Set(listed.map(({ id }) => id));
  return {
    ids: ids && new Set([...ids].filter((id) => there.has(id))),
    begin: () => setIds(new Set()),
    end: () => setIds(null),
    choose: (id, chosen) =>
      setIds((was) => new Set(chosen ? [...(was ?? []), id] : [...(was ?? [])].filter((one) => one !== id))),
    set: (wanted) => setIds(new Set(wanted)),
  };
}

/** Actions for selected recordings. */
export function SelectionBar({
  streams,
  selection,
  onStarAndTags,
}: {
  streams: readonly Stream[];
  selection: Selection;
  onStarAndTags: OnStarAndTags;
}) {
  const chosen = streams.filter(({ id }) => selection.ids?.has(id) === true);
  const is_all = chosen.length === streams.length;
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) selection.end();
    };
    addEventListener('keydown', leave);
    return () => removeEventListener('keydown', leave);
  }, []);

  const own = chosen.filter(({ tags }) => tags != null);
  const remove = async () => {
    if (own.length < chosen.length) {
      const told = sayCount(chosen.length - own.length, {
        one: '{n} recording can’t be deleted. Only the owner of a recording deletes it.',
        other: '{n} recordings can’t be deleted. Only the owner of a recording deletes it.',
      });
      showToast(told, 'problem');
      if (own.length === 0) return;
    }
    const goes_on = await confirm({
      title: sayCount(own.length, { one: 'Delete {n} recording?', other: 'Delete {n} recordings?' }),
      text: <p>{say('Audio and transcripts are deleted for good after 10 seconds. Until then you can undo it.')}</p>,
      action: say('Delete'),
      grave: true,
    });
    if (!goes_on) return;
    deleteSoon(own);
    selection.end();
  };
  return (
    <section class="selection" aria-label={say('Selected recordings')}>
      <p role="status">{say('{n} selected', { n: chosen.length })}</p>
      <div class="actions">
        <Button small onClick={() => selection.set(is_all ? [] : streams.map(({ id }) => id))}>
          {is_all ? say('Select none') : say('Select all')}
        </Button>
        {may('audio:write') && <StarSelected streams={own} onStarAndTags={onStarAndTags} />}
        {may('audio:write') && <TagSelected streams={own} onStarAndTags={onStarAndTags} />}
        {may('audio:write') && own.length > 0 && <MoveButton streams={own} onMoved={selection.end} />}
        <Button small kind="danger" disabled={chosen.length === 0} onClick={() => void remove()}>
          {say('Delete')}
        </Button>
        <Button small onClick={selection.end}>
          {say('Cancel')}
        </Button>
      </div>
    </section>
  );
}
