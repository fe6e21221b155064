import type { Endpoint } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useList, useLoaded } from '../api/loading.js';
import { say, sayCount, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useDialogOpen } from '../parts/dialog.js';
import { Page, Section } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { BASE } from '../router.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { EndpointBadge } from './webhooks/endpoint_badge.js';
import { shortHealth } from './webhooks/health.js';
import { NewEndpoint } from './webhooks/new_endpoint.js';

const ENDPOINTS_PER_PAGE = 25;

/** Programs of one's own that are told what happens. */
export function Webhooks() {
  const endpoints = useList((cursor) => api('GET /endpoints', { query: { limit: ENDPOINTS_PER_PAGE, cursor } }), []);
  const [making, setMaking] = useDialogOpen(say('New endpoint'));
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {say('New endpoint')}
    </Button>
  );
  return (
    <Page
      title={say('Webhooks')}
      lead={say('Spool notifies your programs of what happens in your account.')}
      actions={make}
    >
      <SettingsTabs />
      <List of={endpoints} empty={<Nothing />} label={say('Endpoints')}>
        {(endpoint) => <Row key={endpoint.id} endpoint={endpoint} />}
      </List>
      <Section title={say('How to receive webhooks')}>
        <ul class="points">
          <li>
            {say(
              'It takes a POST at an https:// address, checks the signature, and answers with 2xx within ten seconds.',
            )}
          </li>
          <li>{say('It handles each delivery once: the same one may come twice.')}</li>
          <li>
            {sayWith('The {link} has examples.', { link: <a href="/guides/webhooks">{say('webhook guide')}</a> })}
          </li>
        </ul>
      </Section>
      <NewEndpoint open={making} onClose={() => setMaking(false)} changed={endpoints.reload} />
    </Page>
  );
}

function Row({ endpoint }: { endpoint: Endpoint }) {
  const { id, url, topics } = endpoint;
  const newest = useLoaded(async () => {
    const { items } = await api('GET /endpoints/{id}/deliveries', { path: { id }, query: { limit: 1 } });
    return items[0] ?? null;
  }, [id]).data;
  return (
    <li>
      <div class="row-main">
        <a class="row-title cut" href={`${BASE}/webhooks/${id}`}>
          {url}
        </a>
        <p class="row-facts">
          <span>{shortHealth(endpoint, newest)}</span>
          <span>
            {topics.length === 0
              ? say('All types')
              : topics.length === 1
                ? topics[0]
                : sayCount(topics.length, { one: '{n} type', other: '{n} types' })}
          </span>
        </p>
      </div>
      <div class="row-end">
        <EndpointBadge endpoint={endpoint} newest={newest} />
      </div>
    </li>
  );
}

function Nothing() {
  return (
    <EmptyState title={say('No endpoint yet')}>
      <p>{say('Press “New endpoint” to say where your program listens and which events it gets.')}</p>
    </EmptyState>
  );
}
