import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded, usePolling } from '../api/loading.js';
import { loadPeaks } from '../audio/peaks.js';
import { Player } from '../audio/player.js';
import type { Timeline } from '../audio/timeline.js';
import { Button } from '../parts/button.js';
import { useDialogAbout } from '../parts/dialog.js';
import { Page } from '../parts/page.js';
import { Badge, EmptyState, Loading, Problem, Show } from '../parts/placeholders.js';
import { durationText, Time } from '../parts/time.js';
import { Downloads } from '../recording/downloads.js';
import { FindBar } from '../recording/find_bar.js';
import { useFinding } from '../recording/finding.js';
import { isLive } from '../recording/is_live.js';
import { KeysDialog, useKeys } from '../recording/keys.js';
import { LiveLines, useLiveText } from '../recording/live_lines.js';
import { loadTimeline, useTurns } from '../recording/loading.js';
import { PlayerBar } from '../recording/player_bar.js';
import { RecordingChanges } from '../recording/recording_changes.js';
import { SingleSpeaker } from '../recording/single_speaker.js';
import { Speakers } from '../recording/speakers.js';
import { includeTitles, recordingName } from '../recording/stream_names.js';
import { SummaryPanel } from '../recording/summary_panel.js';
import { hasFailed, NoTurns, retentionWords, TranscriptNotes } from '../recording/transcript_state.js';
import { dialogOf, TurnDialog } from '../recording/turn_dialog.js';
import { TurnList } from '../recording/turn_list.js';
import { BASE, place } from '../router.js';
import { may } from '../shell/account.js';

const BACK = { href: `${BASE}/recordings`, name: 'Recordings' };
const LIVE_POLL_MS = 5_000;
/** The list of chunks of a long recording, or of one whose recorder has gone silent, is read less often. */
const SLOW_POLL_MS = 30_000;
const LONG_CHUNKS = 500;

/** One recording: its audio, and beside it what was said. */
export function Recording({ params }: { params: Record<string, string> }) {
  const id = params.id as string;
  const stream = useLoaded(() => api('GET /audio/streams/{id}', { path: { id }, query: includeTitles() }), [id]);
  useEvents(['stream.updated', 'stream.deleted'], (events) => {
    if (events === null || events.some(({ resource }) => resource.id === id)) stream.reload();
  });
  if (stream.data === null) {
    return (
      <Page title="Recording" back={BACK}>
        {stream.error === null ? <Loading /> : <NoRecording code={stream.error.code} message={stream.error.message} />}
      </Page>
    );
  }
  return <Recorded stream={stream.data} set={stream.set} reload={stream.reload} />;
}

function NoRecording({ code, message }: { code: string; message: string }) {
  return (
    <EmptyState title={code === 'NOT_FOUND' ? 'This recording is not here' : 'The recording could not be loaded'}>
      <p>{code === 'NOT_FOUND' ? 'It was deleted, or it belongs to somebody else.' : message}</p>
    </EmptyState>
  );
}

function Recorded({ stream, set, reload }: { stream: Stream; set: (stream: Stream) => void; reload: () => void }) {
  const { id } = stream;
  const path = { id };
  const player = useMemo(() => new Player(id), [id]);
  useEffect(() => () => player.close(), [player]);
  const audio = useLoaded(() => loadTimeline(id), [id]);
  const transcript = useLoaded(() => api('GET /audio/streams/{id}/transcript', { path }), [id]);
  const turns = useTurns(stream, transcript.reload);
  const source = useLoaded(() => api('GET /sources/{id}', { path: { id: stream.source_id } }).catch(() => null), [id]);
  const workspace = useLoaded(() => api('GET /workspaces/{id}', { path: { id: stream.workspace_id } }), [id]);
  const [corrected, setCorrected] = useDialogAbout(turns.turns, dialogOf);
  const peaks = usePeaks(stream, audio.data);
  const finding = useFinding(turns.turns);
  const [helps, setHelps] = useState(false);
  const find = () =>
    finding.text === null ? finding.set('') : document.querySelector<HTMLElement>('.find input')?.focus();
  useKeys(player, { find, help: () => setHelps(true) });

  useEffect(() => {
    if (audio.data !== null) player.setTimeline(audio.data);
  }, [audio.data]);
  useEffect(() => {
    audio.reload();
    transcript.reload();
  }, [stream.stored_chunks]);
  useJump(player, audio.data !== null);

  const is_open = stream.end_ms === undefined || stream.stored_chunks < stream.chunks;
  const is_waiting = transcript.data !== null && transcript.data.engine !== null && transcript.data.waiting.length > 0;
  const lines = useLiveText(id, turns.state !== 'loading' && (is_waiting || (is_open && isLive(stream))), (changed) => {
    turns.replace(changed);
    transcript.reload();
  });
  const is_slow = stream.chunks > LONG_CHUNKS || !isLive(stream);
  usePolling(is_open, is_slow ? SLOW_POLL_MS : LIVE_POLL_MS, reload);
  usePolling(is_waiting, LIVE_POLL_MS, transcript.reload);

  const has_audio = (audio.data?.file_ms ?? 0) > 0;
  const name = recordingName(stream);
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      back={BACK}
      lead={
        <div class="row-facts">
          <Time at={stream.captured_at} />
          {stream.end_ms !== undefined && <span>{durationText(stream.end_ms)}</span>}
          {source.data?.name != null && <bdi>{source.data.name}</bdi>}
          <LiveBadge stream={stream} />
        </div>
      }
      actions={<RecordingChanges stream={stream} set={set} />}
    >
      {audio.error !== null && <Problem error={audio.error} retry={audio.reload} />}
      {has_audio ? (
        <PlayerBar player={player} peaks={peaks} turns={turns.turns}>
          <FindBar finding={finding} />
        </PlayerBar>
      ) : (
        finding.text !== null && (
          <div class="player">
            <FindBar finding={finding} />
          </div>
        )
      )}
      {may('turns:read') && may('insights:read') && (
        <SummaryPanel stream_id={id} player={player} is_over={!is_open && turns.turns.length > 0} />
      )}
      <div class="beside">
        <section aria-label="Transcript" class="transcript">
          {transcript.data !== null && !hasFailed(transcript.data, turns.turns) && (
            <TranscriptNotes transcript={transcript.data} turns={turns.turns} />
          )}
          {turns.error !== null && <Problem error={turns.error} retry={turns.reload} />}
          {turns.state === 'loading' && <Loading />}
          {turns.turns.length > 0 && (
            <>
              <div class="transcript-tools">
                <Button small icon="search" onClick={find}>
                  Find
                </Button>
                <span class="for-keyboards">
                  <Button kind="quiet" small onClick={() => setHelps(true)}>
                    Keyboard shortcuts
                  </Button>
                </span>
              </div>
              <TurnList
                turns={turns.turns}
                player={player}
                finding={finding}
                onAttribute={setCorrected}
                onChanged={turns.change}
              />
            </>
          )}
          <LiveLines lines={lines} />
          {turns.cut && <p class="notice">The rest is in the text file.</p>}
          {turns.state === 'ready' && turns.turns.length + lines.length === 0 && transcript.data !== null && (
            <NoTurns transcript={transcript.data} stream={stream} />
          )}
        </section>
        <aside class="aside" aria-label="About this recording">
          {turns.turns.some(({ speaker, contact_id }) => speaker === null && contact_id === null) && (
            <section class="panel">
              <h2>Who speaks</h2>
              <SingleSpeaker turns={turns.turns} onChanged={turns.reload} />
            </section>
          )}
          {(transcript.data?.speakers.length ?? 0) > 0 && (
            <section class="panel">
              <h2>Who speaks</h2>
              <Speakers
                stream_id={id}
                speakers={transcript.data?.speakers ?? []}
                onChange={(changed) => {
                  transcript.set(changed);
                  turns.reload();
                }}
              />
            </section>
          )}
          {(turns.turns.length > 0 || stream.stored_chunks > 0) && (
            <section class="panel">
              <h2>Copy and download</h2>
              <Downloads stream={stream} turns={turns.turns} />
            </section>
          )}
          <Show of={workspace}>{(known) => <p class="hint">{retentionWords(known)}</p>}</Show>
        </aside>
      </div>
      <KeysDialog open={helps} onClose={() => setHelps(false)} />
      <TurnDialog
        turn={corrected}
        speakers={transcript.data?.speakers ?? []}
        onClose={() => setCorrected(null)}
        onChanged={(turn) => {
          turns.change(turn);
          transcript.reload();
        }}
        onRemoved={(turn) => {
          turns.remove(turn.id);
          transcript.reload();
        }}
      />
    </Page>
  );
}

function LiveBadge({ stream }: { stream: Stream }) {
  if (stream.end_ms !== undefined) {
    return stream.stored_chunks < stream.chunks ? <Badge tone="caution">Still arriving</Badge> : null;
  }
  return isLive(stream) ? <Badge tone="live">Recording now</Badge> : <Badge>Unfinished</Badge>;
}

/** `?t=` in ms: where a search found something. */
function useJump(player: Player, is_ready: boolean): void {
  const wanted = place.value.query.get('t');
  useEffect(() => {
    const moment_ms = Number(wanted);
    if (is_ready && wanted !== null && moment_ms >= 0) player.seek(moment_ms);
  }, [wanted, is_ready]);
}

function usePeaks(stream: Stream, timeline: Timeline | null): Float32Array | null {
  const [peaks, setPeaks] = useState<Float32Array | null>(null);
  useEffect(() => {
    // While it is recorded the outline would be fetched again and again.
    if (timeline === null || stream.end_ms === undefined) return;
    const stop = new AbortController();
    loadPeaks(stream, timeline, stop.signal).then(setPeaks, () => {}); // the turns are drawn instead
    return () => stop.abort();
  }, [stream.id, timeline?.file_ms, stream.end_ms === undefined]);
  return peaks;
}
