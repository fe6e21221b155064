import type { ShareLink } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { listText } from '../language/formats.js';
import { type PlainText, say, sayCount, sayWith } from '../language/say.js';
import { Button, CopyButton } from '../parts/button.js';
import { Ago } from '../parts/clock.js';
import { confirm } from '../parts/dialog.js';
import { Time } from '../parts/time.js';
import { leaveRow, useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE } from '../router.js';

const SHOWN: Record<ShareLink['shows'][number], PlainText> = { summary: 'summary', audio: 'audio' };

/** A link to a recording: copied, or ended. `names_recording`: in a list of links to several. */
export function LinkRow({
  link,
  changed,
  names_recording = false,
}: {
  link: ShareLink;
  changed: () => void;
  names_recording?: boolean;
}) {
  const { id, stream_id, title, shows, url, expires_at, opened, last_opened_at } = link;
  const ending = useToastAction(say('The link could not be ended.'), async () => {
    await api('DELETE /me/links/{id}', { path: { id } });
    showToast(say('The link has ended.'));
    if (names_recording) leaveRow();
    changed();
  });
  const end = async () => {
    const text = say('Whoever has it can’t open it any more.');
    if (await confirm({ title: say('End this link?'), action: say('End link'), grave: true, text })) await ending.run();
  };
  const what = listText([say('Text'), ...shows.map((part) => say(SHOWN[part]))]);
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          {names_recording ? (
            <a href={`${BASE}/recordings/${stream_id}`}>
              <bdi>{title ?? say('Recording')}</bdi>
            </a>
          ) : (
            what
          )}
        </p>
        <p class="row-facts">
          {names_recording && <span>{what}</span>}
          <span>{sayWith('Ends {time}', { time: <Time at={expires_at} style="date" /> })}</span>
          <span>
            {last_opened_at === null ? (
              say('Never opened')
            ) : (
              <>
                {sayCount(opened, { one: 'Opened once', other: 'Opened {n} times' })}, <Ago at={last_opened_at} />
              </>
            )}
          </span>
        </p>
      </div>
      <div class="row-end">
        {url !== null && <CopyButton text={url} what={say('The link')} />}
        <Button small kind="danger" busy={ending.busy} onClick={() => void end()}>
          {say('End')}
        </Button>
      </div>
    </li>
  );
}
