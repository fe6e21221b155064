import type { Workspace } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction } from '../../api/loading.js';
import { say, sayCount } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { confirm, Dialog, useDialogOpen } from '../../parts/dialog.js';
import { useDraft } from '../../parts/drafts.js';
import { SelectField, TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { showToast } from '../../parts/toast_queue.js';
import { BUCKETS, type Bucket, keptText } from './workspace_texts.js';

const TITLE = 'Retention' as const;

const DAYS_MAX = 36_500;
const FOR_EVER = 'ever';
const FOR_DAYS = 'days';

/** The retention of a workspace, for each kind of content. */
export function Retention({
  workspace,
  set,
  title = say(TITLE),
}: {
  workspace: Workspace;
  set: (workspace: Workspace) => void;
  title?: string;
}) {
  const { retention, role } = workspace;
  const [open, setOpen] = useDialogOpen(say(TITLE));
  const change = role === 'owner' && <Button onClick={() => setOpen(true)}>{say('Change')}</Button>;
  return (
    <Section title={title} actions={change}>
      <div class="panel">
        <dl class="facts">
          {BUCKETS.map(([bucket, name]) => (
            <div key={bucket}>
              <dt>{say(name)}</dt>
              <dd>{keptText(retention[bucket].days)}</dd>
            </div>
          ))}
        </dl>
      </div>
      <Dialog open={open} title={say(TITLE)} onClose={() => setOpen(false)}>
        {open && <Change workspace={workspace} set={set} onClose={() => setOpen(false)} />}
      </Dialog>
    </Section>
  );
}

/** As it is typed; `days` stays what it was while "Forever" is chosen. */
type Draft = Record<Bucket, { kept: typeof FOR_EVER | typeof FOR_DAYS; days: string }>;

function Change({
  workspace: { id, retention, private: is_private },
  set,
  onClose,
}: {
  workspace: Workspace;
  set: (workspace: Workspace) => void;
  onClose: () => void;
}) {
  const [draft, setDraft] = useDraft('retention', draftOf(retention));
  const saving = useAction(async (wanted: Workspace['retention']) => {
    set(await api('PATCH /workspaces/{id}', { path: { id }, body: { retention: wanted } }));
    showToast(say('Saved.'));
    onClose();
  });
  const wanted = wantedOf(draft);
  const shorter = BUCKETS.filter(([bucket]) => isShorter(wanted[bucket].days, retention[bucket].days));
  const save = async () => {
    if (shorter.length > 0 && shorter.every(([bucket]) => isDays(wanted[bucket].days))) {
      const text = <Consequences shorter={shorter} wanted={wanted} for_all={!is_private} />;
      const question = { title: say('Shorten retention?'), action: say('Delete older content'), grave: true, text };
      if (!(await confirm(question))) return;
    }
    await saving.run(wanted);
  };
  return (
    <Form
      of={saving}
      submit={say('Save')}
      fields={BUCKETS.map(([bucket]) => `retention.${bucket}.days`)}
      onSubmit={() => void save()}
      onCancel={onClose}
    >
      {BUCKETS.map(([bucket, name, days_for, hint]) => (
        <div key={bucket}>
          <SelectField
            label={say(name)}
            value={draft[bucket].kept}
            onValue={(kept) => setDraft({ ...draft, [bucket]: { ...draft[bucket], kept: kept as typeof FOR_EVER } })}
            options={[
              [FOR_EVER, say('Forever')],
              [FOR_DAYS, say('For a number of days')],
            ]}
            hint={say(hint)}
          />
          {draft[bucket].kept === FOR_DAYS && (
            <TextField
              type="number"
              label={say(days_for)}
              value={draft[bucket].days}
              onValue={(days) => setDraft({ ...draft, [bucket]: { ...draft[bucket], days } })}
              min={0}
              max={DAYS_MAX}
              hint={say('0 means not kept at all.')}
              error={faultOf(saving.error, `retention.${bucket}`)}
            />
          )}
        </div>
      ))}
    </Form>
  );
}

function Consequences({
  shorter,
  wanted,
  for_all,
}: {
  shorter: typeof BUCKETS;
  wanted: Workspace['retention'];
  for_all: boolean;
}) {
  return (
    <div class="spaced">
      <ul class="points">
        {shorter.map(([bucket, name]) => {
          const { days } = wanted[bucket];
          return (
            <li key={bucket}>
              {days === 0
                ? say('{name}: all that is there is deleted, and what comes is not kept.', { name: say(name) })
                : sayCount(
                    days ?? 0,
                    {
                      one: '{name}: what is older than one day is deleted.',
                      other: '{name}: what is older than {n} days is deleted.',
                    },
                    { name: say(name) },
                  )}
            </li>
          );
        })}
      </ul>
      <p>
        {for_all
          ? say(
              'This begins within the hour, holds for all members, and can’t be undone: a longer time later brings nothing back.',
            )
          : say('This begins within the hour and can’t be undone: a longer time later brings nothing back.')}
      </p>
    </div>
  );
}

function draftOf(retention: Workspace['retention']): Draft {
  const DAYS_TO_BEGIN_WITH = '30';
  const rows = BUCKETS.map(([bucket]) => {
    const { days } = retention[bucket];
    const one = { kept: days === null ? FOR_EVER : FOR_DAYS, days: days === null ? DAYS_TO_BEGIN_WITH : String(days) };
    return [bucket, one] as const;
  });
  return Object.fromEntries(rows) as Draft;
}

/** Reads the form. A text that is no number is sent as it is: the server's refusal says why it is wrong. */
function wantedOf(draft: Draft): Workspace['retention'] {
  const rows = BUCKETS.map(([bucket]) => {
    const { kept, days } = draft[bucket];
    return [bucket, { days: kept === FOR_EVER ? null : days.trim() === '' ? -1 : Number(days) }] as const;
  });
  return Object.fromEntries(rows) as Workspace['retention'];
}

function isDays(days: number | null): boolean {
  return days === null || (Number.isInteger(days) && days >= 0 && days <= DAYS_MAX);
}

function isShorter(wanted: number | null, present: number | null): boolean {
  return wanted !== null && (present === null || wanted < present);
}
