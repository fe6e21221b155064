import type { RecorderSession } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList } from '../api/loading.js';
import { say, sayCount, sayWith } from '../language/say.js';
import { ButtonLink } from '../parts/button.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { Time, timeText } from '../parts/time.js';
import { BASE } from '../router.js';
import { account } from '../shell/account.js';
import { SharingTabs } from '../shell/page_tabs.js';
import { isOver, SESSION_EVENTS, StateBadge, workspaceName } from './sessions/session_texts.js';

const SESSIONS_PER_PAGE = 25;

/** Recordings on a shared recorder, which one hosts and others join. */
export function Sessions() {
  const sessions = useList(
    (cursor) => api('GET /device-sessions', { query: { limit: SESSIONS_PER_PAGE, cursor } }),
    [],
  );
  useEvents(SESSION_EVENTS, () => sessions.reload());
  const make = (
    <ButtonLink kind="primary" href={`${BASE}/sessions/new`}>
      {say('New session')}
    </ButtonLink>
  );
  return (
    <Page
      title={say('Sessions')}
      lead={say('Meetings on a shared recorder: one person hosts, others take part.')}
      actions={make}
    >
      <SharingTabs />
      <List of={sessions} empty={<Nothing />} label={say('Sessions')}>
        {(session) => <Row key={session.id} session={session} />}
      </List>
    </Page>
  );
}

function Row({ session }: { session: RecorderSession }) {
  const { id, host_account_id, participants, workspace_id, created_at, expires_at, ended_at } = session;
  const workspace = workspaceName(workspace_id);
  return (
    <li>
      <div class="row-main">
        <a class="row-title" href={`${BASE}/sessions/${id}`}>
          {timeText(created_at, 'moment')}
        </a>
        <p class="row-facts">
          <span>{host_account_id === account.value?.id ? say('You host it') : say('You take part')}</span>
          {workspace !== null && <bdi>{workspace}</bdi>}
          {participants.length > 0 && (
            <span>{sayCount(participants.length, { one: '{n} participant', other: '{n} participants' })}</span>
          )}
          {isOver(session) && ended_at !== null ? (
            <span>{sayWith('Ended {time}', { time: <Time at={ended_at} /> })}</span>
          ) : (
            <span>{sayWith('Until {time}', { time: <Time at={expires_at} /> })}</span>
          )}
        </p>
      </div>
      <div class="row-end">
        <StateBadge session={session} />
      </div>
    </li>
  );
}

function Nothing() {
  return (
    <EmptyState icon="microphone" title={say('No session yet')}>
      <p>
        {say(
          'With “New session” a recorder in the room records for you, and whoever you give the join code takes part.',
        )}
      </p>
    </EmptyState>
  );
}
