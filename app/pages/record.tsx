import { useEffect } from 'preact/hooks';
import { clockText } from '../../src/domain/span_text.js';
import { ApiError } from '../api/api_error.js';
import { useAction } from '../api/loading.js';
import { Button, ButtonLink } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { Page } from '../parts/page.js';
import { Loading } from '../parts/placeholders.js';
import { showToast } from '../parts/toast_queue.js';
import { LevelMeter } from '../recorder/level_meter.js';
import { NoMicrophone } from '../recorder/microphone.js';
import {
  dropRecording,
  endRecording,
  interruption,
  pauseRecording,
  type Recording,
  recorded_ms,
  recorder,
  resumeRecording,
  startRecording,
  unheard,
} from '../recorder/recorder.js';
import { UnfinishedRecordings } from '../recorder/unfinished.js';
import { LiveText } from '../recording/live_lines.js';
import { BASE, go } from '../router.js';
import { account } from '../shell/account.js';

const BACK = { href: `${BASE}/recordings`, name: 'Recordings' };

const UNHEARD = {
  interrupted:
    'Nothing is heard: the microphone is interrupted, as by a phone call. Recording goes on when it is back.',
  muted: 'Nothing is heard: the microphone is muted. Unmute it in the system’s settings or on the microphone.',
  silent: 'Nothing is heard: only silence comes from the microphone. Check whether it is muted.',
} as const;

/** Records with this browser's microphone. */
export function Record() {
  const now = recorder.value;
  const start = useAction(async () => {
    try {
      await startRecording(account.value?.id ?? '');
    } catch (error) {
      if (error instanceof NoMicrophone) throw new ApiError('NO_MICROPHONE', error.message);
      throw error;
    }
  });
  const end = useAction(async () => {
    const stream_id = await endRecording();
    if (stream_id === null) return;
    showToast('The recording is on the server.');
    go(`${BASE}/recordings/${stream_id}`);
  });
  // The button that was pressed is gone: the next one takes the focus.
  useEffect(() => {
    if (now.is === 'recording') document.querySelector<HTMLElement>('.record .primary')?.focus();
  }, [now.is]);
  return (
    <Page title="Record" back={BACK} lead={<p>Record with this browser’s microphone. The text appears beside it.</p>}>
      <div class="record panel">
        {now.is === 'off' && (
          <>
            {interruption.value !== null && <p class="notice caution">{interruption.value}</p>}
            <UnfinishedRecordings account_id={account.value?.id ?? ''} />
            <Button kind="primary" icon="microphone" onClick={() => void start.run()}>
              Start recording
            </Button>
            {start.error === null ? (
              <p class="hint">The browser asks for the microphone first. Tell everyone in the room.</p>
            ) : (
              <p class="notice problem" role="alert">
                {start.error.message}
              </p>
            )}
          </>
        )}
        {now.is === 'starting' && <Loading what="Waiting for the microphone" />}
        {(now.is === 'recording' || now.is === 'paused') && (
          <>
            <p class="record-time" role="timer">
              {clockText(recorded_ms.value)}
            </p>
            <p class="record-state" role="status">
              <span class={now.is === 'recording' ? 'dot live' : 'dot'} aria-hidden="true" />
              {now.is === 'recording' ? 'Recording' : 'Paused'}
            </p>
            {now.is === 'paused' && interruption.value !== null && (
              <p class="notice caution" role="alert">
                {interruption.value}
              </p>
            )}
            {now.is === 'recording' && unheard.value !== null && (
              <p class="notice caution" role="alert">
                {UNHEARD[unheard.value]}
              </p>
            )}
            <LevelMeter />
            <div class="actions">
              {now.is === 'recording' ? (
                <Button icon="pause" onClick={pauseRecording}>
                  Pause
                </Button>
              ) : (
                <Button icon="microphone" onClick={resumeRecording}>
                  Resume
                </Button>
              )}
              <Button kind="primary" icon="check" busy={end.busy} onClick={() => void end.run()}>
                Finish
              </Button>
            </div>
          </>
        )}
        {'recording' in now && <LiveText stream_id={now.recording.stream_id} />}
        {now.is === 'ending' && <Loading what="Sending the rest" />}
        {'recording' in now && <Sending recording={now.recording} />}
        {end.error !== null && (
          <p class="notice problem" role="alert">
            {end.error.message}
          </p>
        )}
      </div>
    </Page>
  );
}

/** The amount that is not on the server yet. */
function Sending({ recording: { uploads, stream_id } }: { recording: Recording }) {
  const waiting = uploads.waiting.value;
  const leave = async () => {
    const goes_on = await confirm({
      title: 'Discard what could not be sent?',
      text: <p>What is on the server stays. The rest is lost.</p>,
      action: 'Discard',
      grave: true,
    });
    if (goes_on) dropRecording();
  };
  return (
    <div class="sending">
      <p class="hint">
        {waiting === 0
          ? 'It is sent as it is recorded, every 2 seconds.'
          : `${waiting} ${waiting === 1 ? 'piece' : 'pieces'} of 2 seconds waiting to be sent.`}
      </p>
      {uploads.problem.value !== null && (
        <p class="notice caution" role="alert">
          {uploads.problem.value} {uploads.failed.value ? '' : 'Trying again; it is kept here until then.'}
        </p>
      )}
      {uploads.problem.value !== null && (recorder.value.is === 'ending' || uploads.failed.value) && (
        <div class="actions">
          <Button kind="danger" small onClick={() => void leave()}>
            Discard what could not be sent
          </Button>
          <ButtonLink href={`${BASE}/recordings/${stream_id}`}>Open the recording</ButtonLink>
        </div>
      )}
    </div>
  );
}
