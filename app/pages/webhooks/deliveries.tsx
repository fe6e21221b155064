import { useEffect, useState } from 'preact/hooks';
import type { Delivery } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { type Page, useList } from '../../api/loading.js';
import { say, sayChoices, sayCount, sayWith } from '../../language/say.js';
import { SelectField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { Badge, EmptyState, List } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { BASE } from '../../router.js';
import { DELIVERY_WORDS } from './health.js';

const SHOWN = 20;
/** The API knows no filter: so many are looked at for one page. */
const LOOKED_AT = 100;
const LOOKS_MAX = 5;

type Filter = '' | Delivery['status'];

const FILTERS = [
  ['', 'All'],
  ...Object.entries(DELIVERY_WORDS).map(([status, [, words]]) => [status, words] as const),
] as const;

/**
 * The deliveries of an endpoint, sent and to come. They are loaded again when `newest`, which the page has just seen,
 * differs.
 */
export function Deliveries({ id, newest }: { id: string; newest: readonly Delivery[] }) {
  const [filter, setFilter] = useState<Filter>('');
  const deliveries = useList((cursor) => deliveriesPage(id, filter, cursor), [id, filter]);
  const seen = newest.map(({ id: one, status, attempt_count }) => `${one} ${status} ${attempt_count}`).join();
  const [shown, setShown] = useState(seen);
  useEffect(() => {
    if (seen === shown) return;
    setShown(seen);
    // Whoever has gone further back keeps their place.
    if (deliveries.items.length <= SHOWN) deliveries.reload();
  }, [seen]);
  return (
    <Section title={say('Deliveries')} lead={say('The newest first; kept for 30 days.')}>
      <SelectField
        label={say('Filter')}
        value={filter}
        onValue={(value) => setFilter(value as Filter)}
        options={sayChoices(FILTERS)}
      />
      <div class="field">
        <List of={deliveries} empty={<Nothing filter={filter} />} label={say('Deliveries')}>
          {(delivery) => <Row key={delivery.id} endpoint_id={id} delivery={delivery} />}
        </List>
      </div>
    </Section>
  );
}

async function deliveriesPage(id: string, filter: Filter, from: string | undefined): Promise<Page<Delivery>> {
  const limit = filter === '' ? SHOWN : LOOKED_AT;
  const items: Delivery[] = [];
  let cursor: string | null = from ?? null;
  for (let n = 0; n < LOOKS_MAX; n++) {
    const query: { limit: number; cursor: string | undefined } = { limit, cursor: cursor ?? undefined };
    const page = await api('GET /endpoints/{id}/deliveries', { path: { id }, query });
    items.push(...page.items.filter(({ status }) => filter === '' || status === filter));
    cursor = page.cursor;
    if (cursor === null || items.length >= SHOWN) break;
  }
  return { items, cursor };
}

function Row({ endpoint_id, delivery }: { endpoint_id: string; delivery: Delivery }) {
  const { id, event_type, status, attempt_count, next_attempt_at, created_at } = delivery;
  const [tone, words] = DELIVERY_WORDS[status];
  return (
    <li>
      <div class="row-main">
        <a class="row-title" href={`${BASE}/webhooks/${endpoint_id}/deliveries/${id}`}>
          {event_type}
        </a>
        <p class="row-facts">
          <Time at={created_at} />
          <span>{sayCount(attempt_count, { one: '{n} try', other: '{n} tries' })}</span>
          {next_attempt_at !== null && (
            <span>{sayWith('Next {time}', { time: <Time at={next_attempt_at} style="time" /> })}</span>
          )}
        </p>
      </div>
      <div class="row-end">
        <Badge tone={tone}>{say(words)}</Badge>
      </div>
    </li>
  );
}

function Nothing({ filter }: { filter: Filter }) {
  return filter === '' ? (
    <EmptyState title={say('No deliveries yet')}>
      <p>{say('When something of its event types happens in your account, it is sent at once and appears here.')}</p>
    </EmptyState>
  ) : (
    <EmptyState title={say('None of these')}>
      <p>{say('Choose “All” to see every delivery.')}</p>
    </EmptyState>
  );
}
