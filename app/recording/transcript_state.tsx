import type { ComponentChildren } from 'preact';
import type { Stream, Transcript, Turn, Workspace } from '../../kits/typescript/src/api.js';
import { EmptyState } from '../parts/placeholders.js';
import { durationText } from '../parts/time.js';

/** The progress of the transcript, and the parts of the recording that are not kept, in words. */

const FAILURES: Record<string, string> = {
  ENGINE_UNREACHABLE: 'the speech engine could not be reached',
  ENGINE_TIMEOUT: 'the speech engine took too long',
  ENGINE_BUSY: 'the speech engine is overloaded',
  ENGINE_ERROR: 'the speech engine failed',
  ENGINE_REFUSED: 'the speech engine rejected the audio',
  ENGINE_NOT_JSON: 'the speech engine gave no usable answer',
  ENGINE_BAD_ANSWER: 'the speech engine gave no usable answer',
  ENGINE_ANSWER_TOO_LARGE: 'the speech engine gave no usable answer',
  BAD_RESULT: 'the speech engine gave no usable answer',
  ENGINE_EXITED: 'the speech engine ended unexpectedly',
  ENGINE_MISSING: 'the transcription program was not found',
  ENGINE_STOPPED: 'the server stopped in the meantime',
  ENGINE_UNKNOWN: 'the engine that the pipeline names does not exist',
  GIVEN_UP: 'it failed too often',
  AUDIO_UNAVAILABLE: 'the audio could not be read',
  AUDIO_GONE: 'the audio is gone',
  AUDIO_DAMAGED: 'the file is damaged there',
  WRONG_DURATION: 'the audio is longer than its recorder said',
  UNSUPPORTED_AUDIO: 'the audio format is not supported',
  LANGUAGE_UNKNOWN: 'the speech engine does not know the language',
  NOT_UNDERSTOOD: 'it was not understood',
};

export function TranscriptNotes({ transcript, turns }: { transcript: Transcript; turns: readonly Turn[] }) {
  const { waiting, failed, expired } = transcript;
  const is_misunderstood = isMostlyNotUnderstood(transcript, turns);
  const others = failed.filter(({ code }) => !is_misunderstood || code !== 'NOT_UNDERSTOOD');
  return (
    <>
      {waiting.length > 0 && transcript.engine !== null && (
        <p class="notice" role="status">
          Transcribing: {durationText(sum(waiting))} to go.
        </p>
      )}
      {is_misunderstood && (
        <p class="notice caution">
          <NotUnderstood {...transcript} />
        </p>
      )}
      {others.length > 0 && (
        <p class="notice problem">
          {durationText(sum(others.map(spanOf)))} could not be transcribed: {reasonsOf(others)}.
        </p>
      )}
      {expired.length > 0 && <p class="notice caution">{durationText(sum(expired))} of it are no longer kept.</p>}
    </>
  );
}

/** The text in place of turns, where there are none. */
export function NoTurns({ transcript, stream }: { transcript: Transcript; stream: Stream }) {
  const { title, text } = noTurnsWords(transcript, stream);
  return (
    <EmptyState icon="microphone" title={title}>
      <p>{text}</p>
    </EmptyState>
  );
}

/** Nothing waits, and there is nothing but what failed: `NoTurns` says why. */
export function hasFailed({ waiting, failed }: Transcript, turns: readonly Turn[]): boolean {
  return turns.length === 0 && waiting.length === 0 && failed.length > 0;
}

function noTurnsWords(transcript: Transcript, stream: Stream): { title: string; text: ComponentChildren } {
  if (hasFailed(transcript, [])) {
    if (isMostlyNotUnderstood(transcript, []))
      return { title: 'No text of this recording', text: <NotUnderstood {...transcript} /> };
    const reasons = reasonsOf(transcript.failed);
    return {
      title: 'It could not be transcribed',
      text: `${reasons.charAt(0).toUpperCase()}${reasons.slice(1)}.`,
    };
  }
  if (transcript.engine === null) {
    return {
      title: 'Transcription is not set up',
      text: 'This server has no speech engine. Its operator can set one up; the text then appears here.',
    };
  }
  if (stream.stored_chunks === 0)
    return { title: 'No audio has arrived yet', text: 'The text appears here by itself.' };
  if (transcript.waiting.length > 0 || transcript.covered.length === 0) {
    return { title: 'Transcribing', text: 'The text appears here as it is transcribed.' };
  }
  return { title: 'No speech was heard', text: 'Nobody speaks in this recording.' };
}

function NotUnderstood({ engine_languages }: Transcript) {
  const known =
    engine_languages === null ? '' : `: the speech engine knows ${engine_languages.map(languageName).join(', ')} only`;
  return (
    <>
      Mostly not understood{known}. <a href="/guides/transcription">Other engines</a>
    </>
  );
}

function languageName(tag: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? tag;
}

/** More speech was not understood than there is text of. */
function isMostlyNotUnderstood({ failed }: Transcript, turns: readonly Turn[]): boolean {
  const missed = failed.filter(({ code }) => code === 'NOT_UNDERSTOOD');
  return sum(missed.map(spanOf)) > sum(turns.map(({ start_ms, end_ms }) => [start_ms, end_ms]));
}

function reasonsOf(failed: Transcript['failed']): string {
  return [...new Set(failed.map(({ code }) => FAILURES[code] ?? code))].join('; ');
}

function spanOf({ from_ms, to_ms }: { from_ms: number; to_ms: number }): [number, number] {
  return [from_ms, to_ms];
}

export function retentionWords({ retention, ...workspace }: Workspace): string {
  const name = workspace.private ? 'Your own workspace' : workspace.name;
  const { audio, transcripts } = retention;
  const kept = (days: number | null) => {
    if (days === null) return 'forever';
    return days === 0 ? 'not at all' : `for ${days} ${days === 1 ? 'day' : 'days'}`;
  };
  if (audio.days === transcripts.days) return `${name} keeps audio and transcripts ${kept(audio.days)}.`;
  return `${name} keeps audio ${kept(audio.days)}, and transcripts ${kept(transcripts.days)}.`;
}

function sum(intervals: readonly (readonly [number, number])[]): number {
  return intervals.reduce((total, [from, to]) => total + to - from, 0);
}
