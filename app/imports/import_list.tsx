import { bytesText } from '../pages/account/save_export.js';
import { Button } from '../parts/button.js';
import { Section } from '../parts/page.js';
import { Badge } from '../parts/placeholders.js';
import { BASE } from '../router.js';
import { againImport, dropImport, type ImportRow, imports, isOver } from './imports.js';

/** The files that are imported, and what has become of each. */
export function ImportList() {
  const rows = imports.value;
  if (rows.length === 0) return null;
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
        </ul>
      </Section>
    </div>
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

function Row({ of: { key, file, step, bytes, problem, error, stream_id } }: { of: ImportRow }) {
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
