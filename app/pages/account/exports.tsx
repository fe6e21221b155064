import { useState } from 'preact/hooks';
import type { Export } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useList } from '../../api/loading.js';
import { say, sayCount } from '../../language/say.js';
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
      {say('Export my data')}
    </Button>
  );
  return (
    <Section
      title={say('Archives')}
      lead={say('Everything of yours as one ZIP archive, kept for seven days.')}
      actions={ask}
    >
      <List
        of={exports}
        empty={<p class="lead">{say('None was created in the last 30 days.')}</p>}
        label={say('Exports')}
      >
        {(one) => <Row key={one.id} of={one} changed={exports.reload} />}
      </List>
      <Dialog open={asking} title={say('Export my data')} onClose={() => setAsking(false)}>
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
    <Form of={asking} submit={say('Create')} onSubmit={() => void asking.run()} onCancel={onClose}>
      <p>
        {say(
          'It holds your transcripts, insights, contacts, and all settings but secrets. It is made in the background, also when you sign out.',
        )}
      </p>
      <CheckField label={say('With audio')} hint={say('This may be large.')} checked={audio} onValue={setAudio} />
      <CheckField
        label={say('With files')}
        hint={say('The files that apps keep for you.')}
        checked={files}
        onValue={setFiles}
      />
    </Form>
  );
}

const HELD = {
  none: 'Without audio and files',
  audio: 'With audio',
  files: 'With files',
  both: 'With audio and files',
} as const;

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
  const removal = useToastAction(say('It could not be removed.'), async () => {
    await api('DELETE /me/exports/{id}', { path: { id } });
    showToast(isUnderWay(one) ? say('The export is stopped.') : say('The export is deleted.'));
    leaveRow();
    changed();
  });
  const remove = async () => {
    const title = isUnderWay(one) ? say('Stop this export?') : say('Delete this export?');
    const text = say('Its archive is deleted here. What you have saved stays with you.');
    const action = isUnderWay(one) ? say('Stop') : say('Delete');
    if (await confirm({ title, action, grave: true, text })) await removal.run();
  };
  const [tone, words] = STATES[status];
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <Time at={created_at} />
        </p>
        <p class="row-facts">
          <span>{say(HELD[audio ? (files ? 'both' : 'audio') : files ? 'files' : 'none'])}</span>
          {bytes !== null && <span>{bytesText(bytes)}</span>}
          {progress !== undefined && (
            <span>
              {sayCount(
                progress.records,
                { one: '{n} record, {size} so far', other: '{n} records, {size} so far' },
                { size: bytesText(progress.bytes) },
              )}
            </span>
          )}
          {expires_at !== null && <span>{say('Kept until {date}', { date: timeText(expires_at, 'date') })}</span>}
          {failure !== null && <span>{failure.message}</span>}
          {loaded !== null && bytes !== null && (
            <span>
              <progress aria-label={say('Downloaded so far')} max={bytes} value={loaded} /> {bytesText(loaded)}
            </span>
          )}
        </p>
        {saving.error !== null && <p class="field-error">{saving.error.message}</p>}
      </div>
      <div class="row-end">
        <Badge tone={tone}>{say(words)}</Badge>
        {status === 'ready' && (
          <Button small kind="primary" busy={saving.busy} onClick={() => void saving.run()}>
            {say('Download')}
          </Button>
        )}
        {status !== 'expired' && (
          <Button small kind="danger" busy={removal.busy} onClick={() => void remove()}>
            {isUnderWay(one) ? say('Stop') : say('Delete')}
          </Button>
        )}
      </div>
    </li>
  );
}
