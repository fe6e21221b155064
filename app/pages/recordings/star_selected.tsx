import type { Stream } from '../../../kits/typescript/src/api.js';
import { apiErrorOf, useAction } from '../../api/loading.js';
import { say, sayCount } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { undoButton } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { changeStarAndTags, type OnStarAndTags, tellUnchanged } from '../../recording/stars_and_tags.js';

/** Gives all selected recordings a star, or takes it from all of them where each has one. */
export function StarSelected({ streams, onStarAndTags }: { streams: readonly Stream[]; onStarAndTags: OnStarAndTags }) {
  const is_starred = streams.length > 0 && streams.every(({ starred }) => starred === true);
  const star = useAction(async () => {
    const starred = !is_starred;
    const others = streams.filter((stream) => (stream.starred === true) !== starred);
    const { changed, problem } = await starEach(others, starred, onStarAndTags);
    tellUnchanged(others.length - changed.length, problem);
    if (changed.length === 0) return;
    const back = undoButton(async () => {
      const undone = await starEach(changed, !starred, onStarAndTags);
      if (undone.problem !== null)
        showToast(say('It could not be undone. {message}', { message: undone.problem }), 'problem');
    });
    const said = starred
      ? sayCount(changed.length, { one: '{n} recording starred.', other: '{n} recordings starred.' })
      : sayCount(changed.length, {
          one: '{n} recording no longer starred.',
          other: '{n} recordings no longer starred.',
        });
    showToast(said, 'good', back);
  });
  return (
    <Button
      small
      icon={is_starred ? 'starred' : 'star'}
      busy={star.busy}
      disabled={streams.length === 0}
      onClick={() => void star.run()}
    >
      {is_starred ? say('Remove star') : say('Star')}
    </Button>
  );
}

async function starEach(
  streams: readonly Stream[],
  starred: boolean,
  onStarAndTags: OnStarAndTags,
): Promise<{ changed: Stream[]; problem: string | null }> {
  const changed: Stream[] = [];
  let problem: string | null = null;
  for (const stream of streams) {
    try {
      onStarAndTags(stream.id, await changeStarAndTags(stream.id, { starred }));
      changed.push(stream);
    } catch (error) {
      problem = apiErrorOf(error).message;
    }
  }
  return { changed, problem };
}
