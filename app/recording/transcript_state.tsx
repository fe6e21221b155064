import type { ComponentChildren } from 'preact';
import type { Stream, Transcript, Turn, Workspace } from '../../kits/typescript/src/api.js';
import { languageName } from '../language/formats.js';
import { type PlainText, say, sayCount } from '../language/say.js';
import { EmptyState } from '../parts/placeholders.js';
import { durationText } from '../parts/time.js';
import { isTextOnly } from './is_text_only.js';
import { isUnsure } from './turn_text.js';

/** The progress of the transcript, and the parts of the recording that are not kept, in words. */

const LANGUAGE_UNKNOWN = 'LANGUAGE_UNKNOWN';

const FAILURES: Record<string, PlainText> = {
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
  const is_unknown = isUnknownLanguage(transcript);
  const others = failed.filter(
    ({ code }) => !(is_misunderstood && code === 'NOT_UNDERSTOOD') && !(is_unknown && code === LANGUAGE_UNKNOWN),
  );
  return (
    <>
      {waiting.length > 0 && transcript.engine !== null && (
        <p class="notice" role="status">
          {say('Transcribing: {duration} to go.', { duration: durationText(sum(waiting)) })}
        </p>
      )}
      {is_misunderstood && (
        <p class="notice caution">
          <NotUnderstood {...transcript} />
        </p>
      )}
      {is_unknown && (
        <p class="notice caution">
          <UnknownLanguage {...transcript} />
        </p>
      )}
      {others.length > 0 && (
        <p class="notice problem">
          {say('{duration} could not be transcribed: {reasons}.', {
            duration: durationText(sum(others.map(spanOf))),
            reasons: reasonsOf(others),
          })}
        </p>
      )}
      {turns.some(isUnsure) && (
        <p class="hint">{say('The engine was not sure of what is grey. Listen to it, and correct it where needed.')}</p>
      )}
      {expired.length > 0 && (
        <p class="notice caution">
          {say('{duration} of it are no longer kept.', { duration: durationText(sum(expired)) })}
        </p>
      )}
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
  if (isTextOnly(stream))
    return { title: say('The text is gone'), text: say('It was deleted, or the time for which it is kept is over.') };
  if (hasFailed(transcript, [])) {
    if (isMostlyNotUnderstood(transcript, []))
      return { title: say('No text of this recording'), text: <NotUnderstood {...transcript} /> };
    if (isUnknownLanguage(transcript))
      return { title: say('No text of this recording'), text: <UnknownLanguage {...transcript} /> };
    const reasons = reasonsOf(transcript.failed);
    return {
      title: say('It could not be transcribed'),
      text: `${reasons.charAt(0).toUpperCase()}${reasons.slice(1)}.`,
    };
  }
  if (transcript.engine === null) {
    return {
      title: say('Transcription is not set up'),
      text: say('This server has no speech engine. Its operator can set one up; the text then appears here.'),
    };
  }
  if (stream.stored_chunks === 0)
    return { title: say('No audio has arrived yet'), text: say('The text appears here by itself.') };
  if (transcript.waiting.length > 0 || transcript.covered.length === 0) {
    return { title: say('Transcribing'), text: say('The text appears here as it is transcribed.') };
  }
  return { title: say('No speech was heard'), text: say('Nobody speaks in this recording.') };
}

function NotUnderstood({ engine_languages }: Transcript) {
  return (
    <>
      {engine_languages === null
        ? say('Mostly not understood.')
        : say('Mostly not understood: it was said in a language other than {languages}, far away, or in noise.', {
            languages: engine_languages.map(languageName).join(', '),
          })}{' '}
      <a href="/guides/transcription">{say('Other engines')}</a>
    </>
  );
}

function UnknownLanguage({ engine_languages }: Transcript) {
  return (
    <>
      {say(
        "This recording is in another language. Spool's built-in engine knows {languages}. Your operator can add other languages with one command.",
        { languages: (engine_languages ?? []).map(languageName).join(', ') },
      )}{' '}
      <a href="/guides/transcription#another-model">{say('Other languages')}</a>
    </>
  );
}

/** It was said to be in a language that the built-in engine does not know. */
function isUnknownLanguage({ engine, engine_languages, failed }: Transcript): boolean {
  return engine === 'built_in' && engine_languages !== null && failed.some(({ code }) => code === LANGUAGE_UNKNOWN);
}

/** More speech was not understood than there is text of. */
function isMostlyNotUnderstood({ failed }: Transcript, turns: readonly Turn[]): boolean {
  const missed = failed.filter(({ code }) => code === 'NOT_UNDERSTOOD');
  return sum(missed.map(spanOf)) > sum(turns.map(({ start_ms, end_ms }) => [start_ms, end_ms]));
}

function reasonsOf(failed: Transcript['failed']): string {
  return [...new Set(failed.map(({ code }) => reasonOf(code)))].join('; ');
}

function reasonOf(code: string): string {
  const words = FAILURES[code];
  return words === undefined ? code : say(words);
}

function spanOf({ from_ms, to_ms }: { from_ms: number; to_ms: number }): [number, number] {
  return [from_ms, to_ms];
}

export function retentionWords({ retention, ...workspace }: Workspace): string {
  const name = workspace.private ? say('Your own workspace') : workspace.name;
  const { audio, transcripts } = retention;
  const kept = (days: number | null) => {
    if (days === null) return say('forever');
    return days === 0 ? say('not at all') : sayCount(days, { one: 'for {n} day', other: 'for {n} days' });
  };
  if (audio.days === transcripts.days)
    return say('{name} keeps audio and transcripts {kept}.', { name, kept: kept(audio.days) });
  return say('{name} keeps audio {audio}, and transcripts {transcripts}.', {
    name,
    audio: kept(audio.days),
    transcripts: kept(transcripts.days),
  });
}

function sum(intervals: readonly (readonly [number, number])[]): number {
  return intervals.reduce((total, [from, to]) => total + to - from, 0);
}
