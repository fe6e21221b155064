import { useRef, useState } from 'preact/hooks';
import type { Import } from '../../kits/typescript/src/api.js';
import { localTime } from '../../kits/typescript/src/file_import.js';
import { isTranscriptOf } from '../../src/domain/transcript_files/transcript_names.js';
import { api } from '../api/api.js';
import { useAction, useLoaded } from '../api/loading.js';
import { localText, momentOf, numberText } from '../language/formats.js';
import { say, sayCount, sayWith } from '../language/say.js';
import { bytesText } from '../pages/account/save_export.js';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Section } from '../parts/page.js';
import { Badge } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { BASE } from '../router.js';
import {
  againImport,
  beginImports,
  changeTime,
  confirmTranscript,
  dropImport,
  type ImportRow,
  imports,
  isOver,
} from './imports.js';
import { TranscriptReview } from './transcript_review.js';

/** The account has no more that are open. */
const OPEN_MAX = 20;

/** The files that are imported and what has become of each; uploads that an earlier page began come last. */
export function ImportList() {
  const rows = imports.value;
  const open = useLoaded(
    () => api('GET /audio/imports', { query: { status: 'open', limit: OPEN_MAX } }),
    [rows.length],
  );
  const under_way = new Set(rows.map(({ import_id }) => import_id));
  const left = open.data?.items.filter(({ id, status }) => status === 'uploading' && !under_way.has(id)) ?? [];
  if (rows.length + left.length === 0) return null;
  const to_review = rows.filter(({ step }) => step === 'review');
  const confirmAll = () => {
    for (const { key } of to_review) confirmTranscript(key);
  };
  const clear = () => {
    for (const row of rows) if (isOver(row)) dropImport(row.key);
  };
  return (
    <div class="imports">
      <Section
        title={say('Imports')}
        actions={
          <>
            {to_review.length > 1 && (
              <Button small kind="primary" onClick={confirmAll}>
                {sayCount(to_review.length, { one: 'Import {n} transcript', other: 'Import {n} transcripts' })}
              </Button>
            )}
            {rows.some(isOver) && (
              <Button small onClick={clear}>
                {say('Clear finished')}
              </Button>
            )}
          </>
        }
      >
        <ul class="list" aria-label={say('Imports')}>
          {rows.map((row) => (
            <Row key={row.key} of={row} />
          ))}
          {left.map((one) => (
            <Unfinished key={one.id} of={one} reload={open.reload} />
          ))}
        </ul>
      </Section>
    </div>
  );
}

function Unfinished({ of, reload }: { of: Import; reload: () => void }) {
  const { id, name, size_bytes, received_bytes, transcript_bytes } = of;
  const has_text = transcript_bytes !== null;
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const remove = useAction(async () => {
    await api('DELETE /audio/imports/{id}', { path: { id } });
    reload();
  });
  const chosen = (event: Event) => {
    const chooser = event.currentTarget as HTMLInputElement;
    const files = Array.from(chooser.files ?? []);
    const problem = problemOf(files, of);
    setError(problem);
    if (problem === null) beginImports(files, id);
    chooser.value = '';
  };
  const problem = error ?? remove.error?.message;
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
        </p>
        <p class="row-facts">
          <span>
            {say('{size} of {whole} are on the server.', {
              size: bytesText(received_bytes),
              whole: bytesText(size_bytes),
            })}
          </span>
          <span>
            {has_text
              ? say('Choose the file and its transcript again to continue.')
              : say('Choose the file again to continue.')}
          </span>
        </p>
        {problem !== undefined && (
          <p class="field-error" role="alert">
            {problem}
          </p>
        )}
      </div>
      <div class="row-end">
        <Badge tone="plain">{say('Not finished')}</Badge>
        <Button
          small
          aria-label={has_text ? say('Choose the files for {name}', { name }) : say('Choose the file {name}', { name })}
          onClick={() => input.current?.click()}
        >
          {has_text ? say('Choose the files') : say('Choose the file')}
        </Button>
        <input
          ref={input}
          type="file"
          aria-label={say('Continue with the file {name}', { name })}
          multiple={has_text}
          hidden
          onChange={chosen}
        />
        <Button
          small
          kind="danger"
          busy={remove.busy}
          aria-label={say('Remove {name}', { name })}
          onClick={() => void remove.run()}
        >
          {say('Remove')}
        </Button>
      </div>
    </li>
  );
}

/** Why an upload does not go on with these files; null where it does. */
function problemOf(files: readonly File[], { size_bytes, transcript_bytes }: Import): string | null {
  const [first, second] = files;
  if (first === undefined) return null;
  const is_pair =
    second !== undefined && (isTranscriptOf(first.name, second.name) || isTranscriptOf(second.name, first.name));
  if (transcript_bytes !== null && !(files.length === 2 && is_pair))
    return say('Choose the file together with its transcript.');
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size === size_bytes) return null;
  const sizes = { size: bytesText(size), wanted: bytesText(size_bytes) };
  return transcript_bytes === null
    ? say('This is another file: it has {size} and not {wanted}.', sizes)
    : say('These are other files: they have {size} and not {wanted}.', sizes);
}

const STEPS = {
  looking: ['live', 'Reading'],
  review: ['caution', 'Not sent yet'],
  waiting: ['plain', 'Waiting'],
  reading: ['live', 'Reading'],
  uploading: ['live', 'Uploading'],
  decoding: ['live', 'Decoding'],
  done: ['good', 'Imported'],
  failed: ['wrong', 'Failed'],
} as const;

/** The authority for when a recording began, in words. */
const SAID_BY = {
  caller: 'Began {time}, as you set it',
  metadata: 'Began {time}, as the file says',
  file_name: 'Began {time}, as the name of the file says',
  file_time: 'Began {time}, by the time of the file, less its length',
  announcement: 'Began {time}, just before it was imported',
} as const;

/** When the recording began, and a way to set another time. */
function Began({ of: { key, file, began } }: { of: ImportRow }) {
  const [open, setOpen] = useState(false);
  const [time, setTime] = useState(began === null ? '' : localText(began.at));
  const save = useAction(() => changeTime(key, localTime(momentOf(time))));
  if (began === null) return null;
  if (!open)
    return (
      <p class="row-facts">
        <span>{sayWith(began.by === null ? 'Began {time}' : SAID_BY[began.by], { time: <Time at={began.at} /> })}</span>
        <Button
          small
          kind="quiet"
          aria-label={say('Change when {name} began', { name: file.name })}
          onClick={() => setOpen(true)}
        >
          {say('Change')}
        </Button>
      </p>
    );
  return (
    <Form
      of={save}
      submit={say('Import again')}
      fields={['captured_at']}
      onSubmit={() => void save.run()}
      onCancel={() => setOpen(false)}
    >
      <TextField
        label={say('Began')}
        type="datetime-local"
        required
        value={time}
        onValue={setTime}
        error={faultOf(save.error, 'captured_at')}
        hint={say('The recording is deleted and made again from the file.')}
      />
    </Form>
  );
}

function Row({ of }: { of: ImportRow }) {
  const { key, file, step, bytes, problem, error, stream_id } = of;
  // A transcript is read, not decoded.
  const [tone, key_of_step] = STEPS[step === 'decoding' && of.is_transcript ? 'reading' : step];
  const words = say(key_of_step);
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          {stream_id === null ? (
            <bdi>{file.name}</bdi>
          ) : (
            <a href={`${BASE}/recordings/${stream_id}`}>
              <bdi>{file.name}</bdi>
            </a>
          )}
        </p>
        <p class="row-facts">
          <span>{bytesText(file.size)}</span>
          {(step === 'reading' || step === 'uploading') && (
            <span>
              <progress aria-label={`${words} ${file.name}`} max={file.size} value={bytes} />{' '}
              {numberText(Math.floor((100 * bytes) / file.size) / 100, { style: 'percent' })}
            </span>
          )}
          {problem !== null && <span role="status">{say('{problem} It is tried again.', { problem })}</span>}
        </p>
        {step === 'review' && <TranscriptReview of={of} />}
        {step === 'done' && <Began of={of} />}
        {error !== null && (
          <p class="field-error" role="alert">
            {error}
          </p>
        )}
      </div>
      <div class="row-end">
        <Badge tone={tone}>{words}</Badge>
        {step === 'failed' && !of.is_unreadable && (
          <Button small aria-label={say('Try again: {name}', { name: file.name })} onClick={() => againImport(key)}>
            {say('Try again')}
          </Button>
        )}
        <Button
          small
          kind="quiet"
          icon="close"
          label={isOver(of) ? say('Dismiss {name}', { name: file.name }) : say('Cancel {name}', { name: file.name })}
          onClick={() => dropImport(key)}
        />
      </div>
    </li>
  );
}
