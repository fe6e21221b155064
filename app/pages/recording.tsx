import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Stream, Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded, usePolling } from '../api/loading.js';
import { loadPeaks } from '../audio/peaks.js';
import { Player } from '../audio/player.js';
import type { Timeline } from '../audio/timeline.js';
import { say } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { useDialogAbout } from '../parts/dialog.js';
import { Page } from '../parts/page.js';
import { Badge, EmptyState, Loading, Problem, Show } from '../parts/placeholders.js';
import { durationText, Time } from '../parts/time.js';
import { canTell } from '../recording/can_tell.js';
import { DeletePart } from '../recording/delete_part.js';
import { Downloads } from '../recording/downloads.js';
import { FindBar } from '../recording/find_bar.js';
import { useFinding } from '../recording/finding.js';
import { isLive } from '../recording/is_live.js';
import { isTextOnly } from '../recording/is_text_only.js';
import { KeysDialog, useKeys } from '../recording/keys.js';
import { LiveLines, useLiveText } from '../recording/live_lines.js';
import { loadTimeline, useTurns } from '../recording/loading.js';
import { NoteRow, useNotes } from '../recording/notes.js';
import { PlayerBar } from '../recording/player_bar.js';
import { RecordingChanges } from '../recording/recording_changes.js';
import { Related } from '../recording/related.js';
import { voiceColours } from '../recording/speaker_colours.js';
import { StarButton } from '../recording/star_button.js';
import type { OnStarAndTags } from '../recording/stars_and_tags.js';
import { includeTagged, recordingName } from '../recording/stream_names.js';
import { SummaryPanel } from '../recording/summary_panel.js';
import { TagsPanel } from '../recording/tags.js';
import { TellSpeakers } from '../recording/tell_speakers.js';
import { hasFailed, NoTurns, retentionWords, TranscriptNotes } from '../recording/transcript_state.js';
import { dialogOf, TurnDialog } from '../recording/turn_dialog.js';
import { TurnList } from '../recording/turn_list.js';
import { TurnSelection } from '../recording/turn_selection.js';
import { WhoSpeaks } from '../recording/who_speaks.js';
import { BASE, place } from '../router.js';
import { may } from '../shell/account.js';

const wayBack = () => ({ href: `${BASE}/recordings`, name: say('Recordings') });
const LIVE_POLL_MS = 5_000;
/** The list of chunks of a long recording, or of one whose recorder has gone silent, is read less often. */
const SLOW_POLL_MS = 30_000;
const LONG_CHUNKS = 500;

/** One recording: its audio, and beside it what was said. */
export function Recording({ params }: { params: Record<string, string> }) {
  const id = params.id as string;
  const [cuts, setCuts] = useState(0);
  const stream = useLoaded(() => api('GET /audio/streams/{id}', { path: { id }, query: includeTagged() }), [id]);
  useEvents(['stream.updated', 'stream.deleted'], (events) => {
    if (events === null || events.some(({ resource }) => resource.id === id)) stream.reload();
  });
  if (stream.data === null) {
    return (
      <Page title={say('Recording')} back={wayBack()}>
        {stream.error === null ? <Loading /> : <NoRecording code={stream.error.code} message={stream.error.message} />}
      </Page>
    );
  }
  const onCut = () => {
    setCuts(cuts + 1);
    stream.reload();
  };
  const { data, set, change, reload } = stream;
  return <Recorded key={cuts} stream={data} set={set} change={change} reload={reload} onCut={onCut} />;
}

function NoRecording({ code, message }: { code: string; message: string }) {
  return (
    <EmptyState
      title={code === 'NOT_FOUND' ? say('This recording is not here') : say('The recording could not be loaded')}
    >
      <p>{code === 'NOT_FOUND' ? say('It was deleted, or it belongs to somebody else.') : message}</p>
    </EmptyState>
  );
}

function Recorded({
  stream,
  set,
  change,
  reload,
  onCut,
}: {
  stream: Stream;
  set: (stream: Stream) => void;
  change: (members: Partial<Stream>) => void;
  reload: () => void;
  /** A part of it was deleted: everything is loaded anew. */
  onCut: () => void;
}) {
  const { id } = stream;
  const path = { id };
  const is_text = isTextOnly(stream);
  const text_ms = is_text ? (stream.end_ms ?? null) : null;
  const player = useMemo(() => new Player(id, text_ms), [id, text_ms]);
  useEffect(() => () => player.close(), [player]);
  const audio = useLoaded(() => loadTimeline(id), [id]);
  const transcript = useLoaded(() => api('GET /audio/streams/{id}/transcript', { path }), [id]);
  const turns = useTurns(stream, transcript.reload);
  const source = useLoaded(() => api('GET /sources/{id}', { path: { id: stream.source_id } }).catch(() => null), [id]);
  const workspace = useLoaded(
    () => api('GET /workspaces/{id}', { path: { id: stream.workspace_id } }),
    [stream.workspace_id],
  );
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

  const notes = useNotes(id, stream.stored_chunks);
  const speakers = transcript.data?.speakers ?? [];
  const colourOf = useMemo(() => voiceColours(turns.turns), [turns.turns]);
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const changeTurn = (turn: Turn) => {
    turns.change(turn);
    transcript.reload();
  };
  const onStarAndTags: OnStarAndTags = (_, marks) => change(marks);
  const has_audio = (audio.data?.file_ms ?? 0) > 0;
  const name = recordingName(stream);
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      back={wayBack()}
      lead={
        <div class="row-facts">
          <Time at={stream.captured_at} />
          {stream.end_ms !== undefined && <span>{durationText(stream.end_ms)}</span>}
          {source.data?.name != null && <bdi>{source.data.name}</bdi>}
          <LiveBadge stream={stream} />
        </div>
      }
      actions={
        <>
          <StarButton stream={stream} onStarAndTags={onStarAndTags} words={say('Star')} />
          <RecordingChanges stream={stream} set={set} />
          <DeletePart
            stream={stream}
            player={player}
            turns={turns.turns}
            selected={turns.turns.filter((turn) => selected?.has(turn.id) === true)}
            onDeleted={onCut}
          />
        </>
      }
    >
      {is_text && <p class="notice">{say('This recording has no audio: its text was imported.')}</p>}
      {audio.error !== null && <Problem error={audio.error} retry={audio.reload} />}
      {has_audio ? (
        <PlayerBar player={player} peaks={peaks} turns={turns.turns} colourOf={colourOf}>
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
        <section aria-label={say('Transcript')} class="transcript">
          {transcript.data !== null && !hasFailed(transcript.data, turns.turns) && (
            <TranscriptNotes transcript={transcript.data} turns={turns.turns} />
          )}
          {turns.error !== null && <Problem error={turns.error} retry={turns.reload} />}
          {turns.state === 'loading' && <Loading />}
          {turns.turns.length > 0 && (
            <>
              <div class="transcript-tools">
                <div class="actions">
                  <Button small icon="search" onClick={find}>
                    {say('Find')}
                  </Button>
                  {may('insights:read') && (
                    <ButtonLink small href={`${BASE}/search?recording=${id}`}>
                      {say('Ask')}
                      <span class="visually-hidden"> {say('about this recording')}</span>
                    </ButtonLink>
                  )}
                  <Button
                    small
                    aria-pressed={selected !== null}
                    onClick={() => setSelected(selected === null ? new Set() : null)}
                  >
                    {say('Select')}
                  </Button>
                </div>
                <span class="for-keyboards">
                  <Button kind="quiet" small onClick={() => setHelps(true)}>
                    {say('Keyboard shortcuts')}
                  </Button>
                </span>
              </div>
              {selected !== null && (
                <TurnSelection
                  selected={turns.turns.filter((turn) => selected.has(turn.id))}
                  speakers={speakers}
                  onChanged={changeTurn}
                  onDone={() => setSelected(null)}
                />
              )}
              <TurnList
                turns={turns.turns}
                player={player}
                finding={finding}
                notes={notes}
                colourOf={colourOf}
                selected={selected}
                onSelected={setSelected}
                onAttribute={setCorrected}
                onChanged={turns.change}
              />
            </>
          )}
          {turns.turns.length === 0 && notes.length > 0 && (
            <ol class="turns" aria-label={say('Notes')}>
              {notes.map((note) => (
                <NoteRow key={note.id} note={note} player={player} />
              ))}
            </ol>
          )}
          <LiveLines lines={lines} />
          {turns.cut && <p class="notice">{say('The rest is in the text file.')}</p>}
          {turns.state === 'ready' && turns.turns.length + lines.length === 0 && transcript.data !== null && (
            <NoTurns transcript={transcript.data} stream={stream} />
          )}
        </section>
        <aside class="aside" aria-label={say('About this recording')}>
          <WhoSpeaks
            stream_id={id}
            has_audio={!is_text}
            speakers={speakers}
            turns={turns.turns}
            colourOf={colourOf}
            {...(transcript.data !== null &&
              has_audio &&
              !is_open &&
              may('turns:write') &&
              canTell(transcript.data, turns.turns) && {
                telling: (
                  <TellSpeakers
                    stream_id={id}
                    transcript={transcript.data}
                    turns={turns.turns}
                    player={player}
                    onChanged={() => {
                      transcript.reload();
                      turns.reload();
                    }}
                  />
                ),
              })}
            onTranscript={(changed) => {
              transcript.set(changed);
              turns.reload();
            }}
            onChanged={changeTurn}
          />
          <TagsPanel stream={stream} onStarAndTags={onStarAndTags} />
          {(turns.turns.length > 0 || stream.stored_chunks > 0) && (
            <section class="panel">
              <h2>{say('Copy and download')}</h2>
              <Downloads stream={stream} turns={turns.turns} />
            </section>
          )}
          {may('turns:read') && may('insights:read') && (
            <Related stream_id={id} is_over={!is_open && turns.turns.length > 0} />
          )}
          <Show of={workspace}>{(known) => <p class="hint">{retentionWords(known)}</p>}</Show>
        </aside>
      </div>
      <KeysDialog open={helps} has_audio={!is_text} onClose={() => setHelps(false)} />
      <TurnDialog
        turn={corrected}
        has_audio={!is_text}
        turns={turns.turns}
        speakers={speakers}
        onClose={() => setCorrected(null)}
        onChanged={changeTurn}
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
    return stream.stored_chunks < stream.chunks ? <Badge tone="caution">{say('Still arriving')}</Badge> : null;
  }
  return isLive(stream) ? <Badge tone="live">{say('Recording now')}</Badge> : <Badge>{say('Unfinished')}</Badge>;
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
    if (timeline === null || timeline.file_ms === 0 || stream.end_ms === undefined) return;
    const stop = new AbortController();
    loadPeaks(stream.id, timeline.end_ms, stop.signal).then(setPeaks, () => {}); // the turns are drawn instead
    return () => stop.abort();
  }, [stream.id, timeline?.file_ms, stream.end_ms === undefined]);
  return peaks;
}
