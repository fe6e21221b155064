import { useState } from 'preact/hooks';
import type { Export } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useList } from '../../api/loading.js';
import { Button } from '../../parts/button.js';
import { useEvery } from '../../parts/clock.js';
import { confirm, Dialog } from '../../parts/dialog.js';
import { CheckField } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { Badge, List } from '../../parts/placeholders.js';
import { Time, timeText } from '../../parts/time.js';
import { leaveRow, useToastAction } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { bytesText, saveExport } from './save_export.js';

const EXPORTS_PER_PAGE = 10;
/** No event says how far one is. */
const LOOK_MS = 2_000;

const isUnderWay = ({ status }: Export) => status === 'pending' || status === 'running';

/** All of the account's data as one archive. */
export function Exports() {
  const exports = useList((cursor) => api('GET /me/exports', { query: { limit: EXPORTS_PER_PAGE, cursor } }), []);
  const [asking, setAsking] = useState(false);
  const is_under_way = exports.items.some(isUnderWay);
  useEvery(is_under_way ? LOOK_MS : null, exports.reload);
  const ask = (
    <Button disabled={is_under_way} onClick={() => setAsking(true)}>
      Export my data
    </Button>
  );
  return (
    <Section title="Archives" lead="Everything of yours as one ZIP archive, kept for seven days." actions={ask}>
      <List of={exports} empty={<p class="lead">None was created in the last 30 days.</p>} label="Exports">
        {(one) => <Row key={one.id} of={one} changed={exports.reload} />}
      </List>
      <Dialog open={asking} title="Export my data" onClose={() => setAsking(false)}>
        {asking && <Ask asked={exports.reload} onClose={() => setAsking(false)} />}
      </Dialog>
    </Section>
  );
}

function Ask({ asked, onClose }: { asked: () => void; onClose: () => void }) {
  const [audio, setAudio] = useState(false);
  const [files, setFiles] = useState(false);
  const asking = useAction(async () => {
    await api('POST /me/exports', { body: { audio, files } });
    asked();
    onClose();
  });
  return (
    <Form of={asking} submit="Create" onSubmit={() => void asking.run()} onCancel={onClose}>
      <p>
        It holds your transcripts, insights, contacts, and all settings but secrets. It is made in the background, also
        when you sign out.
      </p>
      <CheckField label="With audio" hint="This may be large." checked={audio} onValue={setAudio} />
      <CheckField label="With files" hint="The files that apps keep for you." checked={files} onValue={setFiles} />
    </Form>
  );
}

const STATES = {
  pending: ['caution', 'Queued'],
  running: ['live', 'In progress'],
  ready: ['good', 'Ready'],
  failed: ['wrong', 'Failed'],
  expired: ['plain', 'No longer kept'],
} as const satisfies Record<Export['status'], readonly [string, string]>;

function Row({ of: one, changed }: { of: Export; changed: () => void }) {
  const { id, status, audio, files, created_at, progress, bytes, expires_at, failure } = one;
  const [loaded, setLoaded] = useState<number | null>(null);
  const saving = useAction(async () => {
    await saveExport(one, setLoaded);
    setLoaded(null);
  });
  const removal = useToastAction('It could not be removed.', async () => {
    await api('DELETE /me/exports/{id}', { path: { id } });
    showToast(isUnderWay(one) ? 'The export is stopped.' : 'The export is deleted.');
    leaveRow();
    changed();
  });
  const remove = async () => {
    const title = isUnderWay(one) ? 'Stop this export?' : 'Delete this export?';
    const text = 'Its archive is deleted here. What you have saved stays with you.';
    const action = isUnderWay(one) ? 'Stop' : 'Delete';
    if (await confirm({ title, action, grave: true, text })) await removal.run();
  };
  const [tone, words] = STATES[status];
  const parts = [audio ? 'audio' : '', files ? 'files' : ''].filter(Boolean).join(' and ');
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <Time at={created_at} />
        </p>
        <p class="row-facts">
          <span>{parts === '' ? 'Without audio and files' : `With ${parts}`}</span>
          {bytes !== null && <span>{bytesText(bytes)}</span>}
          {progress !== undefined && (
            <span>
              {progress.records} records, {bytesText(progress.bytes)} so far
            </span>
          )}
          {expires_at !== null && <span>Kept until {timeText(expires_at, 'date')}</span>}
          {failure !== null && <span>{failure.message}</span>}
          {loaded !== null && bytes !== null && (
            <span>
              <progress aria-label="Downloaded so far" max={bytes} value={loaded} /> {bytesText(loaded)}
            </span>
          )}
        </p>
        {saving.error !== null && <p class="field-error">{saving.error.message}</p>}
      </div>
      <div class="row-end">
        <Badge tone={tone}>{words}</Badge>
        {status === 'ready' && (
          <Button small kind="primary" busy={saving.busy} onClick={() => void saving.run()}>
            Download
          </Button>
        )}
        {status !== 'expired' && (
          <Button small kind="danger" busy={removal.busy} onClick={() => void remove()}>
            {isUnderWay(one) ? 'Stop' : 'Delete'}
          </Button>
        )}
      </div>
    </li>
  );
}
