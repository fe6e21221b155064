import { useEffect, useState } from 'preact/hooks';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { apiErrorOf } from '../../api/loading.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/dialog.js';
import { showToast } from '../../parts/toast_queue.js';

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
  removed,
}: {
  streams: readonly Stream[];
  selection: Selection;
  removed: (ids: ReadonlySet<string>) => void;
}) {
  const [done, setDone] = useState<number | null>(null);
  const ids = [...(selection.ids ?? [])];
  const is_all = ids.length === streams.length;
  useEffect(() => {
    if (done !== null) return;
    const leave = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) selection.end();
    };
    addEventListener('keydown', leave);
    return () => removeEventListener('keydown', leave);
  }, [done === null]);

  const remove = async () => {
    const goes_on = await confirm({
      title: `Delete ${recordings(ids.length)}?`,
      text: <p>Their audio and transcripts are deleted at once, for good.</p>,
      action: 'Delete',
      grave: true,
    });
    if (!goes_on) return;
    setDone(0);
    const { gone, problem } = await deleteEach(ids, setDone);
    setDone(null);
    removed(gone);
    if (gone.size > 0) showToast(`${recordings(gone.size)} deleted.`);
    if (problem === null) selection.end();
    else showToast(`${recordings(ids.length - gone.size)} could not be deleted. ${problem}`, 'problem');
  };
  return (
    <section class="selection" aria-label="Selected recordings">
      <p role="status">
        {done === null ? (
          `${ids.length} selected`
        ) : (
          <>
            Deleting {done + 1} of {ids.length} <progress aria-label="Deleted so far" max={ids.length} value={done} />
          </>
        )}
      </p>
      <div class="actions">
        <Button small disabled={done !== null} onClick={() => selection.set(is_all ? [] : streams.map(({ id }) => id))}>
          {is_all ? 'Select none' : 'Select all'}
        </Button>
        <Button small kind="danger" busy={done !== null} disabled={ids.length === 0} onClick={() => void remove()}>
          Delete
        </Button>
        <Button small disabled={done !== null} onClick={selection.end}>
          Cancel
        </Button>
      </div>
    </section>
  );
}

/** Deletes one after the other, and goes on after one that can't be; why the last of those could not. */
async function deleteEach(
  ids: readonly string[],
  onProgress: (done: number) => void,
): Promise<{ gone: ReadonlySet<string>; problem: string | null }> {
  const gone = new Set<string>();
  let problem: string | null = null;
  for (const [done, id] of ids.entries()) {
    onProgress(done);
    try {
      await api('DELETE /audio/streams/{id}', { path: { id } });
      gone.add(id);
    } catch (error) {
      const { code, message } = apiErrorOf(error);
      // Somebody else was faster.
      if (code === 'NOT_FOUND') gone.add(id);
      else problem = message;
    }
  }
  return { gone, problem };
}

function recordings(count: number): string {
  return count === 1 ? '1 recording' : `${count} recordings`;
}
