import { useState } from 'preact/hooks';
import type { Stream, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { api, payloadOf, send } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useAction, useLoaded } from '../api/loading.js';
import { useOwnerNames } from '../contacts/people.js';
import { say } from '../language/say.js';
import { bytesText } from '../pages/account/save_export.js';
import { Button, CopyButton } from '../parts/button.js';
import { CheckField, FormProblem } from '../parts/field.js';
import { saveBlob } from '../parts/save_blob.js';
import { may } from '../shell/account.js';
import { speakerWords } from './speaker_colours.js';
import { recordingName } from './stream_names.js';
import { SUMMARY_EVENTS } from './summary_events.js';
import { summaryText, withSummary } from './summary_text.js';

const TEXTS = [
  ['txt', 'Text'],
  ['md', 'Markdown'],
  ['srt', 'Subtitles (SRT)'],
  ['vtt', 'Subtitles (VTT)'],
] as const;

/** The transcript to copy, and the recording as files. */
export function Downloads({ stream, turns }: { stream: Stream; turns: readonly Turn[] }) {
  const name = recordingName(stream).replace(/[^\p{L}\p{N}]+/gu, '-');
  const [is_with, setWith] = useState(true);
  const may_summary = may('turns:read') && may('insights:read');
  const summary = useLoaded(
    async () =>
      is_with && may_summary
        ? api('GET /audio/streams/{id}/summary', { path: { id: stream.id } }).catch(() => null)
        : null,
    [stream.id, is_with],
  );
  useEvents(SUMMARY_EVENTS, summary.reload);
  const ownerOf = useOwnerNames();
  const summaryAs = (form: 'txt' | 'md') => (summary.data == null ? '' : summaryText(summary.data, form, ownerOf));
  const load = useAction(async (format: string) => {
    const answer = await send('GET', `/audio/streams/${stream.id}/transcript/text?format=${format}`);
    const blob = answer.ok ? await answer.blob() : await payloadOf<Blob>(answer);
    const is_whole = format === 'md' && summaryAs('md') !== '';
    saveBlob(is_whole ? new Blob([withSummary(await blob.text(), summaryAs('md'))]) : blob, `${name}.${format}`);
  });
  const loadAudio = useAction(async () => {
    const answer = await send('GET', `/audio/streams/${stream.id}/content`);
    const blob = answer.ok ? await answer.blob() : await payloadOf<Blob>(answer);
    saveBlob(blob, `${name}.${endingOf(answer)}`);
  });
  return (
    <>
      {turns.length > 0 && (
        <div class="actions">
          <CopyButton text={summaryAs('txt') + turns.map(lineOf).join('\n')} what={say('The transcript')} />
          {TEXTS.map(([format, words]) => (
            <Button key={format} small busy={load.busy} onClick={() => void load.run(format)}>
              {say(words)}
            </Button>
          ))}
        </div>
      )}
      {turns.length > 0 && may_summary && (
        <CheckField label={say('Copy and Markdown with the summary')} checked={is_with} onValue={setWith} />
      )}
      {turns.length > 0 && (
        <div class="actions">
          <Button small onClick={() => print()}>
            {say('Print')}
          </Button>
        </div>
      )}
      {stream.stored_chunks > 0 && (
        <div class="actions">
          <Button small busy={loadAudio.busy} onClick={() => void loadAudio.run()}>
            {loadAudio.busy ? say('Loading…') : say('Audio ({size})', { size: bytesText(stream.stored_bytes) })}
          </Button>
        </div>
      )}
      <FormProblem error={load.error ?? loadAudio.error} />
    </>
  );
}

/** Such as "[1:02] Mira: Good morning." */
function lineOf({ start_ms, speaker, speaker_name, text }: Turn): string {
  const who = speaker_name ?? (speaker === null ? null : speakerWords(speaker));
  return `[${clockText(start_ms)}] ${who === null ? '' : `${who}: `}${text}`;
}

/** The ending of a file name that the server gives audio. */
function endingOf(answer: Response): string {
  return /filename="[^"]*\.(\w+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'wav';
}
