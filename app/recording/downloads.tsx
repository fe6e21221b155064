import type { Stream, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { payloadOf, send } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { bytesText } from '../pages/account/save_export.js';
import { Button, CopyButton } from '../parts/button.js';
import { FormProblem } from '../parts/field.js';
import { saveBlob } from '../parts/save_blob.js';
import { speakerWords } from './speaker_colours.js';
import { recordingName } from './stream_names.js';

const TEXTS = [
  ['txt', 'Text'],
  ['md', 'Markdown'],
  ['srt', 'Subtitles (SRT)'],
  ['vtt', 'Subtitles (VTT)'],
] as const;

/** The transcript to copy, and the recording as files. */
export function Downloads({ stream, turns }: { stream: Stream; turns: readonly Turn[] }) {
  const name = recordingName(stream).replace(/[^\p{L}\p{N}]+/gu, '-');
  const load = useAction(async (format: string) => {
    const answer = await send('GET', `/audio/streams/${stream.id}/transcript/text?format=${format}`);
    saveBlob(answer.ok ? await answer.blob() : await payloadOf<Blob>(answer), `${name}.${format}`);
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
          <CopyButton text={turns.map(lineOf).join('\n')} what="The transcript" />
          {TEXTS.map(([format, words]) => (
            <Button key={format} small busy={load.busy} onClick={() => void load.run(format)}>
              {words}
            </Button>
          ))}
        </div>
      )}
      {stream.stored_chunks > 0 && (
        <div class="actions">
          <Button small busy={loadAudio.busy} onClick={() => void loadAudio.run()}>
            {loadAudio.busy ? 'Loading…' : `Audio (${bytesText(stream.stored_bytes)})`}
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
