import { type Answer, ask, type ItemOf } from '../api.js';
import { dateTime, digits } from '../format.js';
import { EntityLink } from '../parts/entity_link.js';
import { Listing } from '../parts/listing.js';
import { ViewPage } from '../parts/view_page.js';

/** Accounts, by a part of the id or of the email. */
export function Accounts() {
  return (
    <ViewPage title="Accounts">
      <Listing<ItemOf<'GET /ops/accounts'>>
        id="accounts"
        title="Find accounts"
        hint="Search by email or id, or a part of one; leave empty for all. There is no index: each page scans at most 10,000 Redis keys."
        fields={[
          { name: 'find', label: 'Email or id, or a part of it' },
          {
            name: 'status',
            label: 'Status',
            options: [
              ['', 'any'],
              ['active', 'active'],
              ['leaving', 'leaving: waits for shared workspaces'],
              ['deleted', 'deleted, can be restored'],
              ['erasing', 'being erased'],
              ['erased', 'erased'],
            ],
          },
        ]}
        load={(asked, cursor): Promise<Answer<'GET /ops/accounts'>> =>
          ask('GET /ops/accounts', { query: { ...asked, cursor } })
        }
        caption="Accounts"
        columns={['Account', 'Status', 'Since', 'Devices', 'Endpoints', 'Workspaces']}
        cells={(row) => [
          <EntityLink key="account" kind="account" id={row.id} />,
          row.status,
          dateTime(row.created_at),
          digits(row.devices),
          digits(row.endpoints),
          digits(row.shared_workspaces),
        ]}
        empty="There is no such account."
      />
    </ViewPage>
  );
}
