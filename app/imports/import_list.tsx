import { useRef, useState } from 'preact/hooks';
import type { Import } from '../../kits/typescript/src/api.js';
import { localTime } from '../../kits/typescript/src/file_import.js';
import { api } from '../api/api.js';
import { useAction, useLoaded } from '../api/loading.js';
import { bytesText } from '../pages/account/save_export.js';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Section } from '../parts/page.js';
import { Badge } from '../parts/placeholders.js';
import { localText, Time } from '../parts/time.js';
import { BASE } from '../router.js';
import { againImport, beginImports, changeTime, dropImport, type ImportRow, imports, isOver } from './imports.js';

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
  const clear = () => {
    for (const row of rows) if (isOver(row)) dropImport(row.key);
  };
  return (
    <div class="imports">
      <Section
        title="Imports"
        actions={
          rows.some(isOver) && (
            <Button small onClick={clear}>
              Clear finished
            </Button>
          )
        }
      >
        <ul class="list" aria-label="Imports">
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
  const { id, name, size_bytes, received_bytes } = of;
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const remove = useAction(async () => {
    await api('DELETE /audio/imports/{id}', { path: { id } });
    reload();
  });
  const chosen = (event: Event) => {
    const chooser = event.currentTarget as HTMLInputElement;
    const [file] = chooser.files ?? [];
    if (file?.size === size_bytes) beginImports([file], id);
    else if (file !== undefined)
      setError(`This is another file: it has ${bytesText(file.size)} and not ${bytesText(size_bytes)}.`);
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
            {bytesText(received_bytes)} of {bytesText(size_bytes)} are on the server.
          </span>
          <span>Choose the file again to continue.</span>
        </p>
        {problem !== undefined && (
          <p class="field-error" role="alert">
            {problem}
          </p>
        )}
      </div>
      <div class="row-end">
        <Badge tone="plain">Not finished</Badge>
        <Button small aria-label={`Choose the file ${name}`} onClick={() => input.current?.click()}>
          Choose the file
        </Button>
        <input ref={input} type="file" aria-label={`Continue with the file ${name}`} hidden onChange={chosen} />
        <Button small kind="danger" busy={remove.busy} aria-label={`Remove ${name}`} onClick={() => void remove.run()}>
          Remove
        </Button>
      </div>
    </li>
  );
}

const STEPS = {
  waiting: ['plain', 'Waiting'],
  reading: ['live', 'Reading'],
  uploading: ['live', 'Uploading'],
  decoding: ['live', 'Decoding'],
  done: ['good', 'Imported'],
  failed: ['wrong', 'Failed'],
} as const;

/** The authority for when a recording began, in words. */
const SAID_BY = {
  caller: 'as you set it',
  metadata: 'as the file says',
  file_time: 'by the time of the file, less its length',
  announcement: 'just before it was imported',
} as const;

/** When the recording began, and a way to set another time. */
function Began({ of: { key, file, began } }: { of: ImportRow }) {
  const [open, setOpen] = useState(false);
  const [time, setTime] = useState(began === null ? '' : localText(began.at));
  const save = useAction(() => changeTime(key, localTime(new Date(time).getTime())));
  if (began === null) return null;
  if (!open)
    return (
      <p class="row-facts">
        <span>
          Began <Time at={began.at} />
          {began.by !== null && `, ${SAID_BY[began.by]}`}
        </span>
        <Button small kind="quiet" aria-label={`Change when ${file.name} began`} onClick={() => setOpen(true)}>
          Change
        </Button>
      </p>
    );
  return (
    <Form
      of={save}
      submit="Import again"
      fields={['captured_at']}
      onSubmit={() => void save.run()}
      onCancel={() => setOpen(false)}
    >
      <TextField
        label="Began"
        type="datetime-local"
        required
        value={time}
        onValue={setTime}
        error={faultOf(save.error, 'captured_at')}
        hint="The recording is deleted and made again from the file."
      />
    </Form>
  );
}

function Row({ of }: { of: ImportRow }) {
  const { key, file, step, bytes, problem, error, stream_id } = of;
  const [tone, words] = STEPS[step];
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
              {Math.floor((100 * bytes) / file.size)} %
            </span>
          )}
          {problem !== null && <span role="status">{problem} It is tried again.</span>}
        </p>
        {step === 'done' && <Began of={of} />}
        {error !== null && (
          <p class="field-error" role="alert">
            {error}
          </p>
        )}
      </div>
      <div class="row-end">
        <Badge tone={tone}>{words}</Badge>
        {step === 'failed' && (
          <Button small aria-label={`Try again: ${file.name}`} onClick={() => againImport(key)}>
            Try again
          </Button>
        )}
        <Button
          small
          kind="quiet"
          icon="close"
          label={`${step === 'done' || step === 'failed' ? 'Dismiss' : 'Cancel'} ${file.name}`}
          onClick={() => dropImport(key)}
        />
      </div>
    </li>
  );
}
