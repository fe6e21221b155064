import type { Stream } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useToastAction } from '../parts/toast_action.js';
import { may } from '../shell/account.js';
import { changeStarAndTags, type OnStarAndTags } from './stars_and_tags.js';
import { recordingName } from './stream_names.js';

/** Stars a recording, and takes the star away again; nothing for recordings of others. `words`: beside the icon. */
export function StarButton({
  stream,
  onStarAndTags,
  words,
}: {
  stream: Stream;
  onStarAndTags: OnStarAndTags;
  words?: string;
}) {
  const { id, starred } = stream;
  const toggle = useToastAction(say('The star could not be changed.'), async () => {
    onStarAndTags(id, { starred: starred !== true });
    try {
      await changeStarAndTags(id, { starred: starred !== true });
    } catch (error) {
      onStarAndTags(id, { starred: starred === true });
      throw error;
    }
  });
  if (starred == null || !may('audio:write')) return null;
  const shown =
    words === undefined ? { label: say('Star {name}', { name: recordingName(stream) }) } : { children: words };
  return (
    <Button
      kind={words === undefined ? 'quiet' : 'secondary'}
      small
      icon={starred ? 'starred' : 'star'}
      aria-pressed={starred}
      onClick={() => void toggle.run()}
      {...shown}
    />
  );
}
