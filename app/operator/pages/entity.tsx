import { ApiError } from '../../api/api_error.js';
import { Section } from '../../parts/page.js';
import { type Answer, ask, orNotFound } from '../api.js';
import { ago, clockTime, dateTime, digits, duration, span } from '../format.js';
import { labelOf } from '../labels.js';
import { EntityLink, IdButton, NAMED_ALONE } from '../parts/entity_link.js';
import { Facts } from '../parts/facts.js';
import { RetryButton } from '../parts/retry_button.js';
import { Nothing, Table } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';
import { KINDS } from '../terms.js';
import { AccountEntitlements } from './account_entitlements.js';
import { AccountResources } from './account_resources.js';
import { Leads, type Stored, StoredState } from './entity_state.js';

type EntityView = Omit<Answer<'GET /ops/entity'>, 'stored'> & { stored: Stored };
type EndpointView = NonNullable<EntityView['endpoint']>;
type DeviceView = NonNullable<EntityView['device']>;

const SHOWN_MAX = 50;

/** One entity, or those that a search found. */
export function Entity() {
  const query = new URLSearchParams(location.search);
  const [kind, id] = [query.get('kind'), query.get('id')];
  return kind !== null && id !== null ? <OneEntity kind={kind} id={id} /> : <Search text={query.get('find') ?? ''} />;
}

function Search({ text }: { text: string }) {
  const { data } = usePolling(async () => {
    if (text.trim() === '') return [];
    const { items } = await ask('GET /ops/entities', { query: { find: text } });
    const [first] = items;
    if (first !== undefined && (items.length === 1 || first.kind === 'account')) {
      location.replace(`/entity?${new URLSearchParams({ kind: first.kind, id: first.id })}`);
      return null;
    }
    return items;
  });
  return (
    <ViewPage title="Entity">
      {text.trim() === '' && <Nothing>Type an id, kind:id or an account’s email above.</Nothing>}
      {text.trim() !== '' && data !== null && (
        <Table
          caption="Entities with this id"
          columns={['Kind', 'Entity']}
          rows={data}
          cells={(one) => [one.kind, <EntityLink key="entity" {...one} />]}
          empty="Nothing has this id."
        />
      )}
    </ViewPage>
  );
}

function OneEntity({ kind, id }: { kind: string; id: string }) {
  const { data, look } = usePolling(() => orNotFound(ask('GET /ops/entity', { query: { kind, id } })));
  if (data === null || data instanceof ApiError) {
    return <ViewPage title="Entity">{data !== null && <Nothing>{data.message}</Nothing>}</ViewPage>;
  }
  return <KnownEntity {...(data as EntityView)} look={look} />;
}

function KnownEntity(view: EntityView & { look: () => Promise<void> }) {
  const { stored, memory, endpoint, device } = view;
  const words = kindInWords(view.kind);
  const label = labelOf(view.kind, view.id);
  return (
    <ViewPage title={titleOf(view, label)} name={words}>
      {label !== null && (
        <p>
          <IdButton id={view.id} whole />
        </p>
      )}
      {KINDS[view.kind] !== undefined && <p class="hint">{KINDS[view.kind]}</p>}
      <Quarantine {...view} />
      <EntityFacts {...view} />
      {endpoint !== null && <EndpointPart {...endpoint} />}
      {device !== null && <DevicePart {...device} state={stored.is === 'kept' ? stored.state : {}} />}
      {view.kind === 'account' && stored.is === 'kept' && <AccountEntitlements account={view.id} />}
      {view.kind === 'account' && stored.is === 'kept' && <AccountResources account={view.id} />}
      {stored.is === 'kept' && <Leads kind={view.kind} id={view.id} state={stored.state} />}
      <StoredState kind={view.kind} id={view.id} stored={stored} />
      <RecentMessages recent={view.recent} at_rest={memory === null} />
      <Versions versions={view.versions} />
    </ViewPage>
  );
}

function titleOf({ kind, name }: EntityView, label: string | null): string {
  if (label === null || NAMED_ALONE.includes(kind)) return `${kindInWords(kind)} ${label ?? name}`;
  return capitalized(label);
}

function kindInWords(name: string): string {
  return capitalized(name.replaceAll('_', ' '));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Quarantine({ kind, id, name, memory, look }: EntityView & { look: () => Promise<void> }) {
  const quarantined = memory?.quarantined ?? null;
  if (quarantined === null) return null;
  return (
    <div class="notice problem">
      <p>{`Quarantined ${ago(quarantined.since)}: ${quarantined.reason}`}</p>
      <RetryButton
        what={`${kind} ${name}`}
        retry={() => ask('POST /ops/quarantined/retry', { body: { kind, id } })}
        after={look}
      />
    </div>
  );
}

function EntityFacts({ partition, stored, memory }: EntityView) {
  return (
    <Facts
      rows={[
        ['Stored', storedWords(stored)],
        ['In memory', memory === null ? 'not in memory' : `version ${memory.version}`],
        ['Waiting', memory === null ? '–' : digits(memory.waiting)],
        ['Batches and reads', memory === null ? '–' : digits(memory.batches)],
        ['Mean batch', memory === null || memory.batches === 0 ? '–' : duration(memory.batch_ms_mean)],
        ['Partition', digits(partition)],
      ]}
    />
  );
}

function storedWords(stored: Stored): string {
  if (stored.is === 'kept') return `version ${stored.version}, ${digits(stored.bytes)} bytes`;
  return { absent: 'nothing', ended: 'ended', unusable: 'can’t be used' }[stored.is];
}

function EndpointPart({ headline, reasons, deliveries, host, topics, status }: EndpointView) {
  const is_blocked = reasons.some(({ blocks }) => blocks);
  return (
    <Section id="endpoint" title="Delivery status">
      <p class={`headline ${is_blocked ? 'bad' : 'good'}`}>{headline}</p>
      <ul class="reasons">
        {reasons.map(({ name, text }) => (
          <li key={name} data-name={name}>
            {text}
          </li>
        ))}
      </ul>
      <p class="hint">{`Status ${status}, at ${host}, topics: ${topics.length === 0 ? 'all' : topics.join(', ')}.`}</p>
      <Table
        caption="Its last deliveries"
        columns={['Event', 'Status', 'Attempts', 'Last attempt', 'Next attempt']}
        rows={deliveries}
        empty="Nothing has been sent to it yet."
        cells={(row) => [
          row.event_type,
          row.status,
          digits(row.attempts.length),
          attemptWords(row.attempts.at(-1)),
          row.next_attempt_at === null ? '–' : dateTime(row.next_attempt_at),
        ]}
      />
    </Section>
  );
}

function attemptWords(last: EndpointView['deliveries'][number]['attempts'][number] | undefined): string {
  if (last === undefined) return '–';
  const took = last.duration_ms === null ? '' : ` after ${duration(last.duration_ms)}`;
  return `${last.status_code ?? last.error ?? 'no answer'}${took}, ${ago(last.attempted_at)}`;
}

/** The fields of a device's state that the page reads. */
type DeviceState = {
  binding?: { draining: boolean } | null;
  certificates?: { live: { status: string; not_after_ms: number | null }[]; revoked_at_ms: number | null };
  last_seen_at_ms?: number | null;
};

function DevicePart({ seen, watched_since, state }: DeviceView & { state: DeviceState }) {
  const since = clockTime(watched_since);
  const { last_seen_at_ms = null } = state;
  const stored_last = last_seen_at_ms === null ? null : new Date(last_seen_at_ms).toISOString();
  return (
    <Section
      id="device"
      title="Activity"
      lead={`Uploads, silence and refusals are what the processes of this machine have seen since ${dateTime(watched_since)}; everything else is stored.`}
    >
      <Facts
        rows={[
          ['Binding', bindingWords(state)],
          ['Certificates', certificatesWords(state)],
          // Stored to the minute: known of devices that have not called since this process began.
          ['Last request', ago(seen?.last_request_at ?? stored_last)],
          ['Last upload', seen === null ? `none since ${since}` : ago(seen.last_upload_at)],
          ['Silent for', seen === null ? '–' : span(seen.silent_s)],
          [
            'Waiting for',
            seen === null
              ? `not known since ${since}`
              : `${seen.open_streams.length} open ${seen.open_streams.length === 1 ? 'stream' : 'streams'}, ${digits(seen.awaited_chunks)} ${seen.awaited_chunks === 1 ? 'chunk' : 'chunks'} announced`,
          ],
          [
            'Last refusal',
            seen === null || seen.last_refusal === null
              ? `none since ${since}`
              : `${seen.last_refusal.reason}, ${ago(seen.last_refusal.at)} (${seen.last_refusal.route})`,
          ],
        ]}
      />
    </Section>
  );
}

function bindingWords({ binding = null }: DeviceState): string {
  if (binding === null) return 'not bound';
  return binding.draining ? 'its session is over, uploads continue' : 'bound';
}

function certificatesWords({ certificates = { live: [], revoked_at_ms: null } }: DeviceState): string {
  if (certificates.revoked_at_ms !== null) return `revoked ${dateTime(certificates.revoked_at_ms)}`;
  const in_use = certificates.live.map(
    ({ status, not_after_ms }) =>
      `${status.replace('_', ' ')}${not_after_ms === null ? '' : `, until ${dateTime(not_after_ms)}`}`,
  );
  return in_use.join('; ');
}

function RecentMessages({ recent, at_rest }: { recent: EntityView['recent']; at_rest: boolean }) {
  return (
    <Section
      id="recent"
      title="Recent messages"
      lead="Messages of its batches in this process: only their types, never their content. Reads answered from memory are not included."
    >
      <Table
        caption="Recent messages, the newest first"
        columns={['At', 'Message', 'Outcome', 'Took']}
        rows={recent.slice(0, SHOWN_MAX)}
        empty={
          at_rest ? 'It is not in memory, so none are known.' : 'None in the last 65,536 messages of this process.'
        }
        cells={(row) => [clockTime(row.at), row.type, row.outcome, duration(row.took_ms)]}
      />
    </Section>
  );
}

function Versions({ versions }: { versions: EntityView['versions'] }) {
  return (
    <Section id="versions" title="Versions" lead="Each was saved by one commit; the message is the first of its batch.">
      <Table
        caption="Versions since it was loaded, the newest first"
        columns={['Version', 'At', 'By']}
        rows={versions.slice(0, SHOWN_MAX)}
        empty="It has not changed since it was loaded."
        cells={(row) => [digits(row.version), clockTime(row.at), row.type]}
      />
    </Section>
  );
}
