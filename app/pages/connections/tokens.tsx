import type { PersonalAccessToken } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useList } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { Ago } from '../../parts/clock.js';
import { confirm, useDialogOpen } from '../../parts/dialog.js';
import { Section } from '../../parts/page.js';
import { EmptyState, List } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { leaveRow, useToastAction } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { NewToken } from './new_token.js';
import { ScopeList } from './scope_list.js';

const TOKENS_PER_PAGE = 50;

/** Personal access tokens. */
export function Tokens() {
  const tokens = useList((cursor) => api('GET /me/tokens', { query: { limit: TOKENS_PER_PAGE, cursor } }), []);
  const [making, setMaking] = useDialogOpen(say('New token'));
  useEvents(['personal_access_token.created', 'personal_access_token.revoked'], () => tokens.reload());
  const make = <Button onClick={() => setMaking(true)}>{say('New token')}</Button>;
  return (
    <Section title={say('Personal access tokens')} actions={make}>
      <List of={tokens} empty={<NoTokens />} label={say('Personal access tokens')}>
        {(token) => <Row key={token.id} token={token} changed={tokens.reload} />}
      </List>
      <NewToken open={making} onClose={() => setMaking(false)} changed={tokens.reload} />
    </Section>
  );
}

function Row({ token, changed }: { token: PersonalAccessToken; changed: () => void }) {
  const { id, name, last_four, permissions, created_at, expires_at, last_used_at } = token;
  const revocation = useToastAction(say('{name} could not be revoked.', { name }), async () => {
    await api('DELETE /me/tokens/{id}', { path: { id } });
    showToast(say('{name} is revoked.', { name }));
    leaveRow();
    changed();
  });
  const revoke = async () => {
    const text = say('Programs that use it stop working at once. This can’t be undone.');
    if (await confirm({ title: say('Revoke {name}?', { name }), action: say('Revoke'), grave: true, text }))
      await revocation.run();
  };
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
        </p>
        <p class="row-facts">
          <span class="mono">…{last_four}</span>
          <span>{sayWith('Created {time}', { time: <Time at={created_at} style="date" /> })}</span>
          <span>
            {expires_at === null
              ? say('Never expires')
              : sayWith('Ends {time}', { time: <Time at={expires_at} style="date" /> })}
          </span>
          <span>
            {last_used_at === null ? say('Never used') : sayWith('Used {ago}', { ago: <Ago at={last_used_at} /> })}
          </span>
        </p>
        <ScopeList scopes={permissions} />
      </div>
      <div class="row-end">
        <Button
          small
          kind="danger"
          busy={revocation.busy}
          aria-label={say('Revoke {name}', { name })}
          onClick={() => void revoke()}
        >
          {say('Revoke')}
        </Button>
      </div>
    </li>
  );
}

function NoTokens() {
  return (
    <EmptyState title={say('No token yet')}>
      <p>{say('A token lets a program of yours use the API as you. Make one for each program.')}</p>
    </EmptyState>
  );
}
