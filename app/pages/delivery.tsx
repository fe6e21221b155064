import type { AttemptedDelivery } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { numberText } from '../language/formats.js';
import { say } from '../language/say.js';
import { CopyButton } from '../parts/button.js';
import { useEvery } from '../parts/clock.js';
import { Page, Section } from '../parts/page.js';
import { Badge, Show } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { BASE } from '../router.js';
import { attemptWords, DELIVERY_WORDS } from './webhooks/health.js';

const LOOK_MS = 5_000;

/** One delivery with every try. */
export function DeliveryPage({ params: { id = '', delivery_id = '' } }: { params: Record<string, string> }) {
  const delivery = useLoaded(
    () => api('GET /endpoints/{id}/deliveries/{delivery_id}', { path: { id, delivery_id } }),
    [id, delivery_id],
  );
  const is_open = delivery.data?.status === 'pending' || delivery.data?.status === 'leased';
  useEvery(is_open ? LOOK_MS : null, delivery.reload);
  return (
    <Page title={say('Delivery')} back={{ href: `${BASE}/webhooks/${id}`, name: say('Endpoint') }}>
      <Show of={delivery}>{(found) => <Found delivery={found} />}</Show>
    </Page>
  );
}

function Found({ delivery }: { delivery: AttemptedDelivery }) {
  const { id, event_type, status, created_at, next_attempt_at, attempts, event } = delivery;
  const [tone, words] = DELIVERY_WORDS[status];
  return (
    <>
      <div class="panel">
        <dl class="facts">
          <div>
            <dt>{say('Event')}</dt>
            <dd class="cut">{event_type}</dd>
          </div>
          <div>
            <dt>{say('Status')}</dt>
            <dd>
              <Badge tone={tone}>{say(words)}</Badge>
            </dd>
          </div>
          <div>
            <dt>{say('Event time')}</dt>
            <dd>
              <Time at={created_at} />
            </dd>
          </div>
          {next_attempt_at !== null && (
            <div>
              <dt>{say('Next attempt')}</dt>
              <dd>
                <Time at={next_attempt_at} />
              </dd>
            </div>
          )}
          <div>
            <dt>webhook-id</dt>
            <dd class="mono cut">{id}</dd>
          </div>
        </dl>
      </div>
      <Section title={say('Attempts')}>
        {attempts.length === 0 ? <p class="lead">{say('None yet.')}</p> : <Attempts attempts={attempts} />}
      </Section>
      <Section
        title={say('Request body')}
        actions={event !== null && <CopyButton text={JSON.stringify(event)} what={say('The event')} />}
      >
        {event === null ? (
          <p class="lead">{say('The event is no longer kept.')}</p>
        ) : (
          <pre class="as-code">{JSON.stringify(event, null, 2)}</pre>
        )}
      </Section>
    </>
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Attempts({ attempts }: { attempts: AttemptedDelivery['attempts'] }) {
  return (
    <ol class="list">
      {attempts.map((attempt, n) => (
        <li key={attempt.attempted_at}>
          <div class="row-main">
            <p class="row-title">
              {n + 1}. {capitalized(attemptWords(attempt))}
            </p>
            <p class="row-facts">
              <Time at={attempt.attempted_at} />
              {attempt.duration_ms !== null && (
                <span>{numberText(Math.round(attempt.duration_ms), { style: 'unit', unit: 'millisecond' })}</span>
              )}
              {attempt.error !== null && <span class="mono">{attempt.error}</span>}
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}
