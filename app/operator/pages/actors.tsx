import { Section } from '../../parts/page.js';
import { type Answer, ask } from '../api.js';
import { digits, duration, serverNow, span } from '../format.js';
import { KindAndEntity } from '../parts/entity_link.js';
import { RetryButton } from '../parts/retry_button.js';
import { Table } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';

type ActorsAnswer = Answer<'GET /ops/actors'>;

const LIMIT = 20;

/** Kinds, who is busy, who is slow, and what needs somebody to look at it. */
export function Actors() {
  const { data, look } = usePolling(() => ask('GET /ops/actors', { query: { limit: LIMIT } }));
  return (
    <ViewPage title="Actors">
      {data !== null && (
        <>
          <Quarantined rows={data.quarantined} look={look} />
          <DeadLetters rows={data.dead_letters} look={look} />
          <Kinds kinds={data.kinds} />
          <Lately which="slow" {...data.lately} />
          <Lately which="busy" {...data.lately} />
        </>
      )}
    </ViewPage>
  );
}

function Quarantined({ rows, look }: { rows: ActorsAnswer['quarantined']; look: () => Promise<void> }) {
  return (
    <Section
      id="quarantined"
      title="Quarantined"
      lead="Their stored state can’t be read. Repair it, then retry; otherwise they are tried again every 30 seconds."
    >
      <Table
        caption="Quarantined entities"
        columns={['Entity', 'Reason', 'For', '']}
        rows={rows}
        empty="None is quarantined."
        cells={({ kind, id, name, quarantined }) => [
          <KindAndEntity key="entity" kind={kind} id={name === id ? id : null} name={name} />,
          quarantined?.reason,
          span((serverNow() - (quarantined?.since_ms ?? 0)) / 1000),
          <RetryButton
            key="retry"
            what={`${kind} ${name}`}
            retry={() => ask('POST /ops/quarantined/retry', { body: { kind, id } })}
            after={look}
          />,
        ]}
      />
    </Section>
  );
}

function DeadLetters({ rows, look }: { rows: ActorsAnswer['dead_letters']; look: () => Promise<void> }) {
  return (
    <Section
      id="dead-letters"
      title="Dead letters"
      lead="Outbox messages and reminders whose handling failed five times. Retry delivers one again."
    >
      <Table
        caption="Dead letters"
        columns={['Message', 'For', '']}
        rows={rows}
        empty="There is no dead letter."
        cells={({ partition, name, to, type }) => [
          `${name.startsWith('reminder') ? 'reminder' : 'outbox message'} ${type ?? ''}`,
          <KindAndEntity key="to" {...to} />,
          <RetryButton
            key="retry"
            what={`${type ?? 'message'} for ${to.kind} ${to.name}`}
            retry={() => ask('POST /ops/dead-letters/retry', { body: { partition, name } })}
            after={look}
          />,
        ]}
      />
    </Section>
  );
}

function Kinds({ kinds }: { kinds: ActorsAnswer['kinds'] }) {
  const rows = Object.entries(kinds).map(([kind, row]) => ({ kind, ...row }));
  rows.sort((a, b) => b.waiting - a.waiting || (b.batches ?? 0) - (a.batches ?? 0) || b.active - a.active);
  return (
    <Section
      id="kinds"
      title="Kinds"
      lead="Entities in memory. Batches are those of the last minute; reads answered from memory are not counted."
    >
      <Table
        caption="Kinds of actors"
        columns={['Kind', 'In memory', 'Waiting', 'Oldest', 'Batches', 'Mean', 'p99', 'Quarantined']}
        rows={rows}
        empty="No entity is in memory."
        cells={(row) => [
          row.kind,
          digits(row.active),
          digits(row.waiting),
          row.waiting === 0 ? '–' : duration(row.oldest_ms),
          digits(row.batches ?? 0),
          time(row.batch_ms_mean),
          time(row.batch_ms_p99),
          digits(row.quarantined),
        ]}
      />
    </Section>
  );
}

function time(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '–' : duration(ms);
}

function Lately({ which, within_ms, slowest, busiest }: ActorsAnswer['lately'] & { which: 'busy' | 'slow' }) {
  const within = span(within_ms / 1000);
  const title = which === 'busy' ? 'Busiest now' : 'Slowest now';
  return (
    <Section
      id={which}
      title={title}
      lead={which === 'busy' ? `Most messages in the last ${within}.` : `Longest batch in the last ${within}.`}
    >
      <Table
        caption={title}
        columns={['Entity', 'Messages', 'Mean batch', 'Longest batch', 'Waiting']}
        rows={which === 'busy' ? busiest : slowest}
        empty={`No entity processed a batch in the last ${within}.`}
        cells={({ kind, id, name, ...row }) => [
          <KindAndEntity key="entity" {...{ kind, id, name }} />,
          digits(row.messages),
          duration(row.batch_ms_mean),
          duration(row.batch_ms_max),
          digits(row.waiting),
        ]}
      />
    </Section>
  );
}
