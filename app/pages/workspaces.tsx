import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { AllLinks } from '../links/all_links.js';
import { SharingIsOff } from '../links/sharing_is_off.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Page, Section } from '../parts/page.js';
import { Badge } from '../parts/placeholders.js';
import { BASE, go } from '../router.js';
import { account, loadAccount, may } from '../shell/account.js';
import { SharingTabs } from '../shell/page_tabs.js';
import { workspaceName } from '../shell/workspace_name.js';
import { MyInvitations } from './workspaces/my_invitations.js';
import { NAME_CHARS_MAX, ROLES, wordsOf } from './workspaces/workspace_texts.js';

/** The workspaces that recordings belong to: the private one, and the shared ones. */
export function Workspaces() {
  const [making, setMaking] = useDialogOpen(say('New workspace'));
  useEvents(['account.updated', 'workspace.updated', 'workspace.deleted'], () => void loadAccount());
  const { workspaces = [], sharing_enabled = false } = account.value ?? {};
  const make = sharing_enabled && (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {say('New workspace')}
    </Button>
  );
  return (
    <Page
      title={say('Sharing')}
      lead={say('Recordings belong to a workspace: your own, or one shared by a group.')}
      actions={make}
    >
      <SharingTabs />
      <MyInvitations />
      <ul class="list" aria-label={say('Workspaces')}>
        {workspaces.map((one) => (
          <li key={one.id}>
            <div class="row-main">
              <a class="row-title" href={`${BASE}/workspaces/${one.id}`}>
                <bdi>{workspaceName(one)}</bdi>
              </a>
              <p class="row-facts">{one.private ? say('Yours alone') : say('Shared')}</p>
            </div>
            <div class="row-end">{!one.private && <Badge>{say(ROLES[one.role].name)}</Badge>}</div>
          </li>
        ))}
      </ul>
      {sharing_enabled && may('account:manage') && <AllLinks />}
      {!sharing_enabled && (
        <Section title={say('Share with others')}>
          <SharingIsOff />
        </Section>
      )}
      <NewWorkspace open={making} onClose={() => setMaking(false)} />
    </Page>
  );
}

function NewWorkspace({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} title={say('New workspace')} onClose={onClose}>
      <NewWorkspaceForm onClose={onClose} />
    </Dialog>
  );
}

function NewWorkspaceForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useDraft('name', '');
  const making = useAction(async () => {
    const { id } = await api('POST /workspaces', { body: { name } });
    await loadAccount();
    go(`${BASE}/workspaces/${id}`);
  });
  return (
    <Form
      of={{ ...making, error: wordsOf(making.error) }}
      submit={say('Create')}
      fields={['name']}
      onSubmit={() => void making.run()}
      onCancel={onClose}
    >
      <TextField
        label={say('Name')}
        value={name}
        onValue={setName}
        maxLength={NAME_CHARS_MAX}
        hint={say('You own it, and invite others.')}
        error={faultOf(making.error, 'name')}
      />
    </Form>
  );
}
