import { useState } from 'preact/hooks';
import { type Answer, api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { SelectField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Page, Section } from '../parts/page.js';
import { PairingCode } from '../parts/pairing_code.js';
import { BASE } from '../router.js';
import { account } from '../shell/account.js';
import { LiveSession } from './sessions/live_session.js';
import { inHours, lengths } from './sessions/session_texts.js';

type Hosted = Answer<'POST /device-sessions'>;

const wayBack = () => ({ href: `${BASE}/sessions`, name: say('Sessions') });

/** Opens a session. What the recorder is to be shown stays here alone: it is gone when the page is left. */
export function NewSession() {
  const [hosted, setHosted] = useState<Hosted | null>(null);
  const [hours, setHours] = useState('2');
  const [workspace_id, setWorkspace] = useState('');
  const opening = useAction(async () => {
    const body = { expires_at: inHours(hours), ...(workspace_id === '' ? {} : { workspace_id }) };
    setHosted(await api('POST /device-sessions', { body }));
  });
  if (hosted !== null) return <Opened hosted={hosted} />;
  const shared = (account.value?.workspaces ?? []).filter((workspace) => !workspace.private);
  return (
    <Page
      title={say('New session')}
      back={wayBack()}
      lead={say('A shared recorder records for you until you end the session or its time runs out.')}
    >
      <div class="panel">
        <Form
          of={opening}
          submit={say('Create session')}
          fields={['expires_at', 'workspace_id']}
          onSubmit={() => void opening.run()}
        >
          <SelectField
            label={say('Ends automatically after')}
            value={hours}
            onValue={setHours}
            options={lengths()}
            hint={say('You can extend it or end it sooner.')}
            error={faultOf(opening.error, 'expires_at')}
          />
          {shared.length > 0 && (
            <SelectField
              label={say('Workspace of its recordings')}
              value={workspace_id}
              onValue={setWorkspace}
              options={[['', say('You alone')], ...shared.map(({ id, name }) => [id, name] as const)]}
              hint={say('All members of a workspace can listen to its recordings and read them.')}
              error={faultOf(opening.error, 'workspace_id')}
            />
          )}
        </Form>
      </div>
    </Page>
  );
}

function Opened({ hosted }: { hosted: Hosted }) {
  const { session } = hosted;
  const [waits, setWaits] = useState(true);
  return (
    <Page
      title={say('New session')}
      back={wayBack()}
      lead={<a href={`${BASE}/sessions/${session.id}`}>{say('Open the session')}</a>}
    >
      {waits && (
        <Section
          title={say('For the recorder')}
          lead={say('Scan this with the shared recorder, or type the code there.')}
        >
          <div class="panel">
            <PairingCode of={hosted} label={say('QR code of the recorder')} over={() => setWaits(false)} />
            <p class="hint">{say('Both are for one recorder, and are shown only once.')}</p>
          </div>
        </Section>
      )}
      <LiveSession id={session.id} began={() => setWaits(false)} />
    </Page>
  );
}
