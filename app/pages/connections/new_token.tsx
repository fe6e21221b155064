import { useEffect, useState } from 'preact/hooks';
import type { PublicApi } from '../../../kits/typescript/src/api.js';
import { SCOPE_TEXTS } from '../../../src/edge/pages/scope_texts.js';
import { type Answer, api } from '../../api/api.js';
import { ApiError } from '../../api/api_error.js';
import { useAction } from '../../api/loading.js';
import { type PlainText, say, sayChoices, sayKnown, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { useDraft, useForgetDrafts } from '../../parts/drafts.js';
import { CheckField, SelectField, TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Secret } from '../../parts/secret.js';
import { account } from '../../shell/account.js';

type Permission = PublicApi['POST /me/tokens']['body']['permissions'][number];

const NAME_CHARS_MAX = 80;
const DAY_MS = 24 * 3_600_000;
const NEVER = 'never';
const LIFETIMES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  [NEVER, 'Never'],
] as const;

const READING: readonly string[] = ['audio:read', 'turns:read', 'insights:read'];
const PRESETS: readonly (readonly [words: PlainText, isIn: (permission: string) => boolean])[] = [
  ['Read my transcripts', (permission) => READING.includes(permission)],
  ['Upload audio', (permission) => permission === 'audio:write'],
  ['Dictation', (permission) => permission === 'transcriptions:write'],
  ['Everything but the account', (permission) => !permission.startsWith('account:')],
];

/** Makes a token. Its value lives in this dialog alone. */
export function NewToken(props: { open: boolean; onClose: () => void; changed: () => void }) {
  return (
    <Dialog open={props.open} title={say('New token')} onClose={props.onClose}>
      {props.open && <Making {...props} />}
    </Dialog>
  );
}

function Making({ onClose, changed }: { onClose: () => void; changed: () => void }) {
  const [made, setMade] = useState<Answer<'POST /me/tokens'> | null>(null);
  const [name, setName] = useDraft('name', '');
  const [lifetime, setLifetime] = useDraft<string>('lifetime', LIFETIMES[1][0]);
  const [permissions, setPermissions] = useDraft<Permission[]>('permissions', []);
  const forget = useForgetDrafts();
  const making = useAction(async () => {
    if (permissions.length === 0) {
      const fields = new Map([['permissions', say('Choose its permissions.')]]);
      throw new ApiError('BAD_REQUEST', say('Choose its permissions.'), fields);
    }
    const expires_at = lifetime === NEVER ? null : new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString();
    setMade(await api('POST /me/tokens', { body: { name, permissions, expires_at } }));
    forget();
    changed();
  });
  // Whether it was made can't be told when no answer came: the list does.
  useEffect(() => {
    if (making.error?.code === 'NETWORK') changed();
  }, [making.error]);
  if (made !== null) {
    return (
      <>
        <p role="status">
          {sayWith('{name} has been created. Copy it into your program:', { name: <bdi>{made.token.name}</bdi> })}
        </p>
        <div class="field">
          <Secret text={made.value} what={say('The token')} once />
        </div>
        <div class="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {say('Done|button')}
          </Button>
        </div>
      </>
    );
  }
  return (
    <Form
      of={making}
      submit={say('Create')}
      fields={['name', 'permissions', 'expires_at']}
      onSubmit={() => void making.run()}
      onCancel={onClose}
    >
      <TextField
        label={say('Name')}
        value={name}
        onValue={setName}
        maxLength={NAME_CHARS_MAX}
        autoComplete="off"
        hint={say('Which program it is for.')}
        error={faultOf(making.error, 'name')}
      />
      <SelectField
        label={say('Expires after')}
        value={lifetime}
        onValue={setLifetime}
        options={sayChoices(LIFETIMES)}
        error={faultOf(making.error, 'expires_at')}
      />
      <Permissions chosen={permissions} onChosen={setPermissions} error={faultOf(making.error, 'permissions')} />
    </Form>
  );
}

function Permissions({
  chosen,
  onChosen,
  error,
}: {
  chosen: readonly Permission[];
  onChosen: (chosen: Permission[]) => void;
  error: string | null;
}) {
  // A token can have nothing that the account lacks, and nothing of workspaces.
  const offered = [...(account.value?.permissions ?? []), 'transcriptions:write' as const].filter(
    (one): one is Permission => !one.startsWith('workspace:'),
  );
  return (
    <fieldset>
      <legend>{say('Permissions')}</legend>
      {error !== null && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
      <ul class="choices" aria-label={say('Common choices')}>
        {PRESETS.map(([words, isIn]) => (
          <li key={words}>
            <button type="button" class="choice" onClick={() => onChosen(offered.filter(isIn))}>
              {say(words)}
            </button>
          </li>
        ))}
      </ul>
      {offered.map((permission) => (
        <CheckField
          key={permission}
          label={permission}
          hint={SCOPE_TEXTS[permission]?.map(({ words }) => sayKnown(words)).join('. ')}
          checked={chosen.includes(permission)}
          onValue={(on) => onChosen(on ? [...chosen, permission] : chosen.filter((one) => one !== permission))}
        />
      ))}
    </fieldset>
  );
}
