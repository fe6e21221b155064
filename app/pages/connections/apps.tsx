import type { ConnectedApp } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { type LoadedList, useList } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/dialog.js';
import { Section } from '../../parts/page.js';
import { Badge, EmptyState, List } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { leaveRow, useToastAction } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { ScopeList } from './scope_list.js';

const APPS_PER_PAGE = 100;
/** Of the clients that are our own apps, and of no other. */
const OWN_PREFIX = 'svc-';

const isOwn = ({ client_id }: ConnectedApp) => client_id.startsWith(OWN_PREFIX);

/** Connected apps of others, and our own where the account is signed in: both are grants. */
export function Apps() {
  const apps = useList((cursor) => api('GET /me/connections', { query: { limit: APPS_PER_PAGE, cursor } }), []);
  return (
    <>
      <Section title={say('Connected apps')} lead={say('Third-party apps that you have given access.')}>
        <List of={only(apps, (app) => !isOwn(app))} empty={<NoApps />} label={say('Connected apps')}>
          {(app) => <Foreign key={app.id} app={app} changed={apps.reload} />}
        </List>
      </Section>
      <Section
        title={say('Where you are signed in')}
        lead={say('Our own apps, on this and other devices.')}
        actions={<SignOutOthers apps={apps} />}
      >
        <List of={only(apps, isOwn)} empty={<p class="lead">{say('Nowhere else.')}</p>} label={say('Signed in')}>
          {(app) => <Own key={app.id} app={app} changed={apps.reload} />}
        </List>
      </Section>
    </>
  );
}

function only(apps: LoadedList<ConnectedApp>, is: (app: ConnectedApp) => boolean): LoadedList<ConnectedApp> {
  return { ...apps, items: apps.items.filter(is) };
}

function useRevocation({ id, name }: ConnectedApp, changed: () => void) {
  return useToastAction(say('{name} can still act for you.', { name }), async () => {
    await api('DELETE /me/connections/{id}', { path: { id } });
    showToast(say('{name} is disconnected.', { name }));
    leaveRow();
    changed();
  });
}

function Foreign({ app, changed }: { app: ConnectedApp; changed: () => void }) {
  const { name, client_id, scopes, created_at } = app;
  const revocation = useRevocation(app, changed);
  const revoke = async () => {
    const text = say('It loses access at once. It keeps what it has already fetched.');
    const question = { title: say('Disconnect {name}?', { name }), action: say('Disconnect'), grave: true, text };
    if (await confirm(question)) await revocation.run();
  };
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
        </p>
        <p class="row-facts">
          <span>{sayWith('Since {time}', { time: <Time at={created_at} style="date" /> })}</span>
          <span class="mono cut">{client_id}</span>
        </p>
        <ScopeList scopes={scopes} />
      </div>
      <div class="row-end">
        <Button
          small
          kind="danger"
          busy={revocation.busy}
          aria-label={say('Disconnect {name}', { name })}
          onClick={() => void revoke()}
        >
          {say('Disconnect')}
        </Button>
      </div>
    </li>
  );
}

function Own({ app, changed }: { app: ConnectedApp; changed: () => void }) {
  const { name, created_at, current } = app;
  const revocation = useRevocation(app, changed);
  const revoke = async () => {
    const question = {
      title: say('Sign {name} out?', { name }),
      action: say('Sign out'),
      text: say('It asks for a code the next time.'),
    };
    if (await confirm(question)) await revocation.run();
  };
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
        </p>
        <p class="row-facts">
          <span>{sayWith('Since {time}', { time: <Time at={created_at} /> })}</span>
        </p>
      </div>
      <div class="row-end">
        {current ? (
          <Badge tone="good">{say('This one')}</Badge>
        ) : (
          <Button
            small
            busy={revocation.busy}
            aria-label={say('Sign out {name}', { name })}
            onClick={() => void revoke()}
          >
            {say('Sign out')}
          </Button>
        )}
      </div>
    </li>
  );
}

function SignOutOthers({ apps }: { apps: LoadedList<ConnectedApp> }) {
  const others = apps.items.filter((app) => isOwn(app) && !app.current);
  const ending = useToastAction(say('Not all of them could be signed out.'), async () => {
    for (const { id } of others) await api('DELETE /me/connections/{id}', { path: { id } });
    showToast(say('You are signed out everywhere else.'));
  });
  const end = async () => {
    const text = say('Our own apps are signed out everywhere but here. Connected apps and tokens are not affected.');
    if (!(await confirm({ title: say('Sign out the others?'), action: say('Sign out'), text }))) return;
    await ending.run();
    leaveRow();
    apps.reload();
  };
  if (others.length === 0) return null;
  return (
    <Button busy={ending.busy} onClick={() => void end()}>
      {say('Sign out the others')}
    </Button>
  );
}

function NoApps() {
  return (
    <EmptyState title={say('No app is connected')}>
      <p>{say('When a third-party app asks for access, you agree here. It then appears in this list.')}</p>
    </EmptyState>
  );
}
