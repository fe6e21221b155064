import type { Stream, Transcript, Workspace } from '../../kits/typescript/src/api.js';
import { durationText } from '../parts/time.js';

/** The progress of the transcript, and the parts of the recording that are not kept, in words. */

const FAILURES: Record<string, string> = {
  ENGINE_REFUSED: 'what transcribes here would not take it',
  ENGINE_UNAVAILABLE: 'what transcribes here could not be reached',
  BAD_AUDIO: 'the audio can’t be read',
};

export function TranscriptNotes({ transcript }: { transcript: Transcript }) {
  const { waiting, failed, expired } = transcript;
  return (
    <>
      {waiting.length > 0 && transcript.engine !== null && (
        <p class="notice" role="status">
          Transcribing: {durationText(sum(waiting))} to go.
        </p>
      )}
      {failed.length > 0 && (
        <p class="notice problem">
          {durationText(sum(failed.map(({ from_ms, to_ms }) => [from_ms, to_ms])))} could not be transcribed:{' '}
          {[...new Set(failed.map(({ code }) => FAILURES[code] ?? code))].join('; ')}.
        </p>
      )}
      {expired.length > 0 && <p class="notice caution">Of {durationText(sum(expired))} nothing is kept any longer.</p>}
    </>
  );
}

/** The text in place of turns, where there are none. */
export function noTurnsWords(transcript: Transcript, stream: Stream): { title: string; text: string } {
  if (transcript.engine === null) {
    return {
      title: 'Nothing is transcribed here',
      text: 'This server has no speech engine. Whoever runs it can set one; then what was said appears here.',
    };
  }
  if (stream.stored_chunks === 0)
    return { title: 'No audio has arrived yet', text: 'What was said appears here by itself.' };
  if (transcript.waiting.length > 0 || transcript.covered.length === 0) {
    return { title: 'The transcript is being made', text: 'What was said appears here by itself, as it is heard.' };
  }
  return { title: 'No speech was heard', text: 'The recording was listened to, and nobody speaks in it.' };
}

export function retentionWords({ retention, ...workspace }: Workspace): string {
  const name = workspace.private ? 'Your own workspace' : workspace.name;
  const { audio, transcripts } = retention;
  const kept = (days: number | null) => {
    if (days === null) return 'for as long as you like';
    return days === 0 ? 'not at all' : `for ${days} ${days === 1 ? 'day' : 'days'}`;
  };
  if (audio.days === transcripts.days) return `${name} keeps audio and transcripts ${kept(audio.days)}.`;
  return `${name} keeps audio ${kept(audio.days)}, and transcripts ${kept(transcripts.days)}.`;
}

function sum(intervals: readonly (readonly [number, number])[]): number {
  return intervals.reduce((total, [from, to]) => total + to - from, 0);
}
