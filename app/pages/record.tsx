import { useEffect } from 'preact/hooks';
import { clockText } from '../../src/domain/span_text.js';
import { ApiError } from '../api/api_error.js';
import { useAction } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { Page } from '../parts/page.js';
import { Loading } from '../parts/placeholders.js';
import { showToast } from '../parts/toast_queue.js';
import { LevelMeter } from '../recorder/level_meter.js';
import { MarkForm } from '../recorder/mark_form.js';
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
import { SoundChoice } from '../recorder/sound_choice.js';
import { sound } from '../recorder/sounds.js';
import { UnfinishedRecordings } from '../recorder/unfinished.js';
import { WorkspaceChoice } from '../recorder/workspace_choice.js';
import { LiveText } from '../recording/live_lines.js';
import { BASE, go } from '../router.js';
import { account } from '../shell/account.js';

const wayBack = () => ({ href: `${BASE}/recordings`, name: say('Recordings') });

const UNHEARD = {
  interrupted:
    'Nothing is heard: the microphone is interrupted, as by a phone call. Recording goes on when it is back.',
  muted: 'Nothing is heard: the microphone is muted. Unmute it in the system’s settings or on the microphone.',
  silent: 'Nothing is heard: only silence comes from the microphone. Check whether it is muted.',
} as const;

const SILENT_SHARE = 'Nothing is heard: what you share makes no sound at the moment.';

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
    showToast(say('The recording is on the server.'));
    go(`${BASE}/recordings/${stream_id}`);
  });
  // The button that was pressed is gone: the next one takes the focus.
  useEffect(() => {
    if (now.is === 'recording') document.querySelector<HTMLElement>('.record .primary')?.focus();
  }, [now.is]);
  return (
    <Page
      title={say('Record')}
      back={wayBack()}
      lead={<p>{say('Record what this browser hears. The text appears beside it.')}</p>}
    >
      <div class="record panel">
        {now.is === 'off' && (
          <>
            {interruption.value !== null && <p class="notice caution">{interruption.value}</p>}
            <UnfinishedRecordings account_id={account.value?.id ?? ''} />
            <WorkspaceChoice />
            <SoundChoice />
            <Button kind="primary" icon="microphone" onClick={() => void start.run()}>
              {say('Start recording')}
            </Button>
            {start.error === null ? (
              <p class="hint">{say('The browser asks first. Tell everyone who is heard.')}</p>
            ) : (
              <p class="notice problem" role="alert">
                {start.error.message}
              </p>
            )}
          </>
        )}
        {now.is === 'starting' && <Loading what={say('Waiting for the microphone')} />}
        {(now.is === 'recording' || now.is === 'paused') && (
          <>
            <p class="record-time" role="timer">
              {clockText(recorded_ms.value)}
            </p>
            <p class="record-state" role="status">
              <span class={now.is === 'recording' ? 'dot live' : 'dot'} aria-hidden="true" />
              {now.is === 'recording' ? say('Recording|now') : say('Paused')}
            </p>
            {now.is === 'paused' && interruption.value !== null && (
              <p class="notice caution" role="alert">
                {interruption.value}
              </p>
            )}
            {now.is === 'recording' && unheard.value !== null && (
              <p class="notice caution" role="alert">
                {say(sound.value === 'shared' && unheard.value === 'silent' ? SILENT_SHARE : UNHEARD[unheard.value])}
              </p>
            )}
            <LevelMeter />
            <div class="actions">
              {now.is === 'recording' ? (
                <Button icon="pause" onClick={pauseRecording}>
                  {say('Pause')}
                </Button>
              ) : (
                <Button icon="microphone" onClick={resumeRecording}>
                  {say('Resume')}
                </Button>
              )}
              <Button kind="primary" icon="check" busy={end.busy} onClick={() => void end.run()}>
                {say('Finish')}
              </Button>
            </div>
          </>
        )}
        {(now.is === 'recording' || now.is === 'paused') && <MarkForm stream_id={now.recording.stream_id} />}
        {'recording' in now && <LiveText stream_id={now.recording.stream_id} />}
        {now.is === 'ending' && <Loading what={say('Sending the rest')} />}
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
      title: say('Discard what could not be sent?'),
      text: <p>{say('What is on the server stays. The rest is lost.')}</p>,
      action: say('Discard'),
      grave: true,
    });
    if (goes_on) dropRecording();
  };
  return (
    <div class="sending">
      <p class="hint">
        {waiting === 0
          ? say('It is sent as it is recorded, every 2 seconds.')
          : sayCount(waiting, {
              one: '{n} piece of 2 seconds waiting to be sent.',
              other: '{n} pieces of 2 seconds waiting to be sent.',
            })}
      </p>
      {uploads.problem.value !== null && (
        <p class="notice caution" role="alert">
          {uploads.problem.value} {uploads.failed.value ? '' : say('Trying again; it is kept here until then.')}
        </p>
      )}
      {uploads.problem.value !== null && (recorder.value.is === 'ending' || uploads.failed.value) && (
        <div class="actions">
          <Button kind="danger" small onClick={() => void leave()}>
            {say('Discard what could not be sent')}
          </Button>
          <ButtonLink href={`${BASE}/recordings/${stream_id}`}>{say('Open the recording')}</ButtonLink>
        </div>
      )}
    </div>
  );
}
