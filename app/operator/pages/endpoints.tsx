import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api_error.js';
import { Button } from '../../parts/button.js';
import { TextField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { type Answer, ask, orNotFound } from '../api.js';
import { ago, clockTime, digits, span } from '../format.js';
import { EntityLink } from '../parts/entity_link.js';
import { Nothing, Table } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';

type Lists = Answer<'GET /ops/endpoints'>;
type Trouble = 'circuit_open' | 'failing' | 'disabled' | 'stopped';
type Endpoint = Answer<'GET /ops/endpoints/{endpoint_id}'>;

const TROUBLES: readonly { id: Trouble; title: string; hint: string; empty: string; probes: boolean }[] = [
  {
    id: 'circuit_open',
    title: 'Circuit open',
    hint: 'They failed at least five times in a row. Single requests probe them until one is accepted.',
    empty: 'No circuit is open.',
    probes: true,
  },
  {
    id: 'failing',
    title: 'Failing',
    hint: 'The last request was not accepted; their circuits are closed.',
    empty: 'No endpoint is failing.',
    probes: false,
  },
  {
    id: 'disabled',
    title: 'Disabled after failures',
    hint: 'Ten deliveries in a row failed. They get nothing until the owner activates them.',
    empty: 'None was disabled.',
    probes: false,
  },
  {
    id: 'stopped',
    title: 'Stopped by their owners',
    hint: 'Paused or disabled.',
    empty: 'None is paused or disabled.',
    probes: false,
  },
];

const LIMIT = 50;

/** Endpoints: those of an account, and those that get nothing, or do not accept what they get, as it is stored. */
export function Endpoints() {
  const [wanted, setWanted] = useState(new URLSearchParams(location.search).get('account'));
  const [text, setText] = useState(wanted ?? '');
  const { data } = usePolling(async () => {
    const [lists, found] = await Promise.all([
      ask('GET /ops/endpoints', { query: { limit: LIMIT } }),
      wanted === null ? null : find(wanted),
    ]);
    return { lists, found };
  }, [wanted]);
  const show = () => {
    const account = text.trim();
    history.replaceState(null, '', account === '' ? '/endpoints' : `/endpoints?${new URLSearchParams({ account })}`);
    setWanted(account === '' ? null : account);
  };
  return (
    <ViewPage title="Endpoints">
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault();
          show();
        }}
      >
        <TextField
          label="Account (id or email) or endpoint id"
          {...{ type: 'search', maxLength: 300, autoComplete: 'off', spellcheck: false }}
          value={text}
          onValue={setText}
        />
        <Button type="submit">Show</Button>
      </form>
      {data !== null && (
        <>
          {data.found !== null && <FoundEndpoints found={data.found} />}
          {TROUBLES.map((trouble) => (
            <TroubledEndpoints key={trouble.id} {...trouble} lists={data.lists} />
          ))}
          <DueEndpoints {...data.lists} />
        </>
      )}
    </ViewPage>
  );
}

/** Finds an account's endpoints, or the one of this id. */
async function find(wanted: string): Promise<{ items: Endpoint[] } | 'nothing'> {
  const of_account = await orNotFound(ask('GET /ops/accounts/{account}/endpoints', { path: { account: wanted } }));
  if (!(of_account instanceof ApiError)) return of_account;
  const one = await orNotFound(ask('GET /ops/endpoints/{endpoint_id}', { path: { endpoint_id: wanted } }));
  return one instanceof ApiError ? 'nothing' : { items: [one] };
}

function FoundEndpoints({ found }: { found: { items: Endpoint[] } | 'nothing' }) {
  return (
    <Section id="own" title="Found">
      {found === 'nothing' ? (
        <Nothing>There is no such account, and no such endpoint.</Nothing>
      ) : (
        <Table
          caption="Found"
          columns={['Endpoint', 'Status', 'Explanation', 'Last accepted']}
          rows={found.items}
          empty="The account has no endpoints."
          cells={(row) => [
            <EntityLink key="endpoint" kind="endpoint" id={row.endpoint_id} />,
            row.status,
            <>
              {row.headline}
              {row.reasons.map(({ name, text }) => (
                <span key={name} class="reason">
                  {text}
                </span>
              ))}
            </>,
            ago(row.last_success_at),
          ]}
        />
      )}
    </Section>
  );
}

function TroubledEndpoints({ id, title, hint, empty, probes, lists }: (typeof TROUBLES)[number] & { lists: Lists }) {
  const columns = ['Endpoint', 'Since', 'Failed in a row', 'Last request', 'Last accepted'];
  return (
    <Section id={id} title={title} lead={hint}>
      <Table
        caption={title}
        columns={probes ? [...columns, 'Next probe'] : columns}
        rows={lists[id]}
        empty={empty}
        cells={(row) => [
          <EntityLink key="endpoint" kind="endpoint" id={row.endpoint_id} />,
          ago(row.since),
          digits(row.failures),
          row.last === null
            ? `none since ${clockTime(lists.watched_since)}`
            : `${row.last.status_code ?? row.last.error}, ${ago(row.last.at)}`,
          ago(row.last_success_at),
          ...(probes ? [clockTime(row.next_probe_at)] : []),
        ]}
      />
    </Section>
  );
}

function DueEndpoints({ due, in_flight }: Lists) {
  return (
    <Section
      id="due"
      title="Overdue"
      lead={`The longest waiting one of each partition. ${digits(in_flight)} requests are in progress here.`}
    >
      <Table
        caption="Endpoints that are due"
        columns={['Endpoint', 'Overdue by']}
        rows={due}
        empty="No endpoint is due."
        cells={({ endpoint_id, due_s }) => [
          <EntityLink key="endpoint" kind="endpoint" id={endpoint_id} />,
          span(due_s),
        ]}
      />
    </Section>
  );
}
