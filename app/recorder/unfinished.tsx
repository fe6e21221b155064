import { useState } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { useAction, useLoaded } from '../api/loading.js';
import { say, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { durationText, Time } from '../parts/time.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE, go } from '../router.js';
import { forgetRecording, keptOf } from './kept.js';
import { NoMicrophone } from './microphone.js';
import { continueRecording, discardRecording, finishRecording, type Unfinished } from './recorder.js';

/** Recordings that were cut off, as by a reload or a crash of the browser. */

type UnfinishedWithStream = Unfinished & { stream: Stream };

export function UnfinishedRecordings({ account_id }: { account_id: string }) {
  const found = useLoaded(() => findUnfinished(account_id), [account_id]);
  return (
    <>
      {found.data?.map((one) => (
        <UnfinishedRecording key={one.recording.stream_id} {...one} reload={found.reload} />
      ))}
    </>
  );
}

function UnfinishedRecording({ stream, reload, ...unfinished }: UnfinishedWithStream & { reload: () => void }) {
  const { chunks } = unfinished;
  const [is_gone, setGone] = useState(false);
  const goOn = useAction(async () => {
    try {
      await continueRecording(unfinished);
    } catch (error) {
      throw error instanceof NoMicrophone ? new ApiError('NO_MICROPHONE', error.message) : error;
    }
  });
  const finish = useAction(async () => {
    const stream_id = await finishRecording(unfinished);
    if (stream_id === null) return;
    showToast(say('The recording is on the server.'));
    go(`${BASE}/recordings/${stream_id}`);
  });
  const discard = useAction(async () => {
    await discardRecording(unfinished);
    setGone(true);
    reload();
  });
  const ask = async () => {
    const text = <p>{say('What is on the server stays. The rest is lost.')}</p>;
    const goes_on = await confirm({
      title: say('Discard what has not been sent?'),
      text: stream.stored_chunks === 0 ? <p>{say('None of it is on the server.')}</p> : text,
      action: say('Discard'),
      grave: true,
    });
    if (goes_on) await discard.run();
  };
  if (is_gone) return null;
  const left_ms = chunks.reduce((sum, { start_ms, end_ms }) => sum + end_ms - start_ms, 0);
  const error = goOn.error ?? finish.error ?? discard.error;
  return (
    <section class="unfinished notice caution" aria-label={say('An unfinished recording')}>
      <p>
        {sayWith('The recording of {time} was interrupted.', { time: <Time at={stream.captured_at} /> })}{' '}
        {chunks.length === 0
          ? say('All of it is on the server.')
          : say('The last {duration} have not been sent yet.', { duration: durationText(left_ms) })}
      </p>
      <div class="actions">
        {stream.end_ms === undefined && (
          <Button icon="microphone" busy={goOn.busy} onClick={() => void goOn.run()}>
            {say('Continue')}
          </Button>
        )}
        <Button kind="primary" icon="check" busy={finish.busy} onClick={() => void finish.run()}>
          {say('Finish')}
        </Button>
        <Button kind="danger" busy={discard.busy} onClick={() => void ask()}>
          {say('Discard')}
        </Button>
      </div>
      {error !== null && <p role="alert">{error.message}</p>}
    </section>
  );
}

/** Those of which something is still to be done; others are forgotten. */
async function findUnfinished(account_id: string): Promise<UnfinishedWithStream[]> {
  const found: UnfinishedWithStream[] = [];
  for (const unfinished of await keptOf(account_id)) {
    const id = unfinished.recording.stream_id;
    const stream = await api('GET /audio/streams/{id}', { path: { id } }).catch(orGone);
    const is_done = stream === null || (stream.end_ms !== undefined && unfinished.chunks.length === 0);
    if (is_done) await forgetRecording(id).catch(() => {});
    else found.push({ ...unfinished, stream });
  }
  return found;
}

/** For `catch`: null for a recording that was deleted. */
function orGone(error: unknown): null {
  if (error instanceof ApiError && error.code === 'NOT_FOUND') return null;
  throw error;
}
