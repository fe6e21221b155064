import type { Workspace } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useAction, useLoaded } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { confirm, Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Page, Section } from '../parts/page.js';
import { Loading, Problem } from '../parts/placeholders.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE, go } from '../router.js';
import { loadAccount } from '../shell/account.js';
import { workspaceName } from '../shell/workspace_name.js';
import { Invitations } from './workspaces/invitations.js';
import { Members } from './workspaces/members.js';
import { Retention } from './workspaces/retention.js';
import { NAME_CHARS_MAX, ROLES, wordsOf } from './workspaces/workspace_texts.js';

const wayBack = () => ({ href: `${BASE}/workspaces`, name: say('Workspaces') });

/** One workspace: who belongs to it, and how long it keeps what is in it. */
export function WorkspacePage({ params: { id = '' } }: { params: Record<string, string> }) {
  const workspace = useLoaded(() => api('GET /workspaces/{id}', { path: { id } }), [id]);
  useEvents(['account.updated', 'workspace.updated', 'workspace.deleted'], () => {
    workspace.reload();
    void loadAccount();
  });
  const { data, error, reload } = workspace;
  const [renaming, setRenaming] = useDialogOpen(say('Rename the workspace'));
  // What was there before is kept while it is loaded again; one that is gone is not.
  if (data === null || error !== null) {
    return (
      <Page title={say('Workspace')} back={wayBack()}>
        {error === null ? <Loading /> : <Problem error={error} retry={reload} />}
      </Page>
    );
  }
  const set = (changed: Workspace) => {
    workspace.set(changed);
    void loadAccount();
  };
  const manages = data.role === 'owner';
  const name = workspaceName(data);
  const actions = (
    <>
      <ButtonLink href={`${BASE}/recordings${data.private ? '' : `?workspace=${id}`}`}>
        {say('Its recordings')}
      </ButtonLink>
      {manages && <Button onClick={() => setRenaming(true)}>{say('Rename')}</Button>}
    </>
  );
  const lead = data.private
    ? say('Yours alone.')
    : say('Shared. You are {role}.', { role: say(ROLES[data.role].word) });
  return (
    <Page title={name} heading={<bdi>{name}</bdi>} back={wayBack()} lead={lead} actions={actions}>
      {!data.private && <Members workspace={data} changed={reload} />}
      {!data.private && data.role !== 'member' && <Invitations workspace={data} />}
      <Retention workspace={data} set={set} />
      {!data.private && <WayOut workspace={data} />}
      <Rename open={renaming} workspace={data} set={set} onClose={() => setRenaming(false)} />
    </Page>
  );
}

type RenameProps = { workspace: Workspace; set: (workspace: Workspace) => void; onClose: () => void };

function Rename({ open, ...props }: RenameProps & { open: boolean }) {
  return (
    <Dialog open={open} title={say('Rename the workspace')} onClose={props.onClose}>
      <RenameForm {...props} />
    </Dialog>
  );
}

function RenameForm({ workspace, set, onClose }: RenameProps) {
  const { id } = workspace;
  const shown = workspaceName(workspace);
  const [name, setName] = useDraft('name', shown);
  const renaming = useAction(async () => {
    set(await api('PATCH /workspaces/{id}', { path: { id }, body: { name: name === shown ? workspace.name : name } }));
    onClose();
  });
  return (
    <Form of={renaming} submit={say('Save')} fields={['name']} onSubmit={() => void renaming.run()} onCancel={onClose}>
      <TextField
        label={say('Name')}
        value={name}
        onValue={setName}
        maxLength={NAME_CHARS_MAX}
        hint={workspace.private ? undefined : say('All members see it.')}
        error={faultOf(renaming.error, 'name')}
      />
    </Form>
  );
}

/** Leaving, and for its owner deleting. */
function WayOut({ workspace: { id, name, role } }: { workspace: Workspace }) {
  const gone = async (words: string) => {
    showToast(words);
    go(`${BASE}/workspaces`);
    await loadAccount();
  };
  const leaving = useAction(async () => {
    await api('POST /workspaces/{id}/leave', { path: { id } });
    await gone(say('You have left {name}.', { name }));
  });
  const deletion = useAction(async () => {
    await api('DELETE /workspaces/{id}', { path: { id } });
    await gone(say('{name} is deleted.', { name }));
  });
  const leave = async () => {
    const text = say('You lose access to what others record there. To come back you need an invitation.');
    if (await confirm({ title: say('Leave {name}?', { name }), action: say('Leave'), grave: true, text }))
      await leaving.run();
  };
  const remove = async () => {
    const text = say('All that was recorded in it is deleted for all of its members, for good. It can’t be restored.');
    if (await confirm({ title: say('Delete {name}?', { name }), action: say('Delete'), grave: true, text }))
      await deletion.run();
  };
  const error = wordsOf(leaving.error ?? deletion.error);
  return (
    <Section title={role === 'owner' ? say('Delete workspace') : say('Leave workspace')}>
      <div class="spaced">
        {role === 'owner' ? (
          <>
            <p class="lead">
              {say(
                'Its owner can’t leave it. Hand it over to another member above, or delete it with all that was recorded in it.',
              )}
            </p>
            <Button kind="danger" busy={deletion.busy} onClick={() => void remove()}>
              {say('Delete the workspace')}
            </Button>
          </>
        ) : (
          <Button kind="danger" busy={leaving.busy} onClick={() => void leave()}>
            {say('Leave the workspace')}
          </Button>
        )}
        {error !== null && <Problem error={error} />}
      </div>
    </Section>
  );
}
