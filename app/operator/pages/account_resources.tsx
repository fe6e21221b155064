import type { ComponentChildren } from 'preact';
import { Section } from '../../parts/page.js';
import { ask, type ItemOf } from '../api.js';
import { ago, bytes, dateTime, digits, span } from '../format.js';
import { EntityLink } from '../parts/entity_link.js';
import { Paged } from '../parts/listing.js';

const LIMIT = 10;

/** The devices, endpoints and other resources of an account: loaded once, page by page. */
export function AccountResources({ account }: { account: string }) {
  const of = (cursor: string | undefined) => ({ path: { account }, query: { limit: LIMIT, cursor } });
  return (
    <>
      <Belongings id="account-devices" title="Devices" all={`/devices?find=${account}`}>
        <Paged
          caption="Devices"
          columns={['Device', 'Bound', 'Last seen']}
          load={(cursor) => ask('GET /ops/accounts/{account}/devices', of(cursor))}
          inputs={[account]}
          cells={(row) => [
            <EntityLink key="device" kind="device" id={row.device_id} text={`${row.kind} device`} />,
            ago(row.bound_at),
            ago(row.last_seen_at),
          ]}
          empty="No device is bound to it."
        />
      </Belongings>
      <Belongings id="account-streams" title="Recordings">
        <Paged
          caption="Recordings"
          columns={['Recording', 'Stored', 'Status', 'From']}
          load={(cursor) => ask('GET /ops/accounts/{account}/streams', of(cursor))}
          inputs={[account]}
          cells={(row) => [
            <EntityLink key="stream" kind="stream" id={row.id} text={dateTime(row.captured_at)} />,
            `${chunks(row.stored_chunks)}, ${bytes(row.stored_bytes)}`,
            streamStatus(row),
            row.device_id === null ? 'an app' : <EntityLink kind="device" id={row.device_id} text="a device" />,
          ]}
          empty="It has no recordings."
        />
      </Belongings>
      <Belongings id="account-endpoints" title="Endpoints" all={`/endpoints?account=${account}`}>
        <Paged
          caption="Endpoints"
          columns={['Endpoint', 'Status', 'Explanation']}
          load={() => ask('GET /ops/accounts/{account}/endpoints', { path: { account } })}
          inputs={[account]}
          cells={(row) => [
            <EntityLink key="endpoint" kind="endpoint" id={row.endpoint_id} />,
            row.status,
            row.headline,
          ]}
          empty="It has no endpoints."
        />
      </Belongings>
      <Belongings id="account-grants" title="Grants">
        <Paged
          caption="Grants"
          columns={['Client', 'Scopes', 'Since']}
          load={(cursor) => ask('GET /ops/accounts/{account}/grants', of(cursor))}
          inputs={[account]}
          cells={(row) => [
            <EntityLink key="grant" kind="grant" id={row.id} text={row.client_id} />,
            row.scopes.join(' '),
            ago(row.created_at),
          ]}
          empty="No app is connected to it."
        />
      </Belongings>
    </>
  );
}

/** `all`: where all of them can be looked through. */
function Belongings({
  id,
  title,
  all,
  children,
}: {
  id: string;
  title: string;
  all?: string;
  children: ComponentChildren;
}) {
  return (
    <Section id={id} title={title}>
      {children}
      {all !== undefined && (
        <p class="further">
          <a href={all}>All {title.toLowerCase()} on their own page</a>
        </p>
      )}
    </Section>
  );
}

function streamStatus({ end_ms, awaited_chunks }: ItemOf<'GET /ops/accounts/{account}/streams'>): string {
  if (end_ms !== null) return `ended after ${span(end_ms / 1000)}`;
  return `open${awaited_chunks > 0 ? `, waits for ${chunks(awaited_chunks)}` : ''}`;
}

function chunks(count: number): string {
  return `${digits(count)} ${count === 1 ? 'chunk' : 'chunks'}`;
}
