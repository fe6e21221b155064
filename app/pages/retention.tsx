import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded } from '../api/loading.js';
import { say } from '../language/say.js';
import { Page, Section } from '../parts/page.js';
import { Badge, Show } from '../parts/placeholders.js';
import { BASE } from '../router.js';
import { account } from '../shell/account.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { workspaceName } from '../shell/workspace_name.js';
import { Retention } from './workspaces/retention.js';
import { ROLES } from './workspaces/workspace_texts.js';

/** How long recordings are kept: in the private workspace here, in shared ones on their pages. */
export function RetentionPage() {
  const workspaces = account.value?.workspaces ?? [];
  const own = workspaces.find((one) => one.private);
  const shared = workspaces.filter((one) => !one.private);
  return (
    <Page title={say('Retention')} lead={say('How long what you record is kept.')}>
      <SettingsTabs />
      {own !== undefined && <OwnRetention id={own.id} />}
      {shared.length > 0 && (
        <Section title={say('Shared workspaces')} lead={say('Their owners decide.')}>
          <ul class="list">
            {shared.map(({ id, name, role }) => (
              <li key={id}>
                <a class="row-title" href={`${BASE}/workspaces/${id}`}>
                  <bdi>{name}</bdi>
                </a>
                <Badge>{say(ROLES[role].name)}</Badge>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </Page>
  );
}

function OwnRetention({ id }: { id: string }) {
  const workspace = useLoaded(() => api('GET /workspaces/{id}', { path: { id } }), [id]);
  useEvents(['workspace.updated'], workspace.reload);
  return (
    <Show of={workspace}>
      {(data) => <Retention workspace={data} set={workspace.set} title={workspaceName(data)} />}
    </Show>
  );
}
