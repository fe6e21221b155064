import { watchBand } from './band.js';
import { byId, entityLink, fill } from './dom.js';
import { listing } from './listing.js';
import { live } from './live.js';
import { dateTime, digits } from './words.js';

/** Accounts, by a part of the id or of the email. */

const accounts = listing({
  ...{ id: 'accounts', title: 'Find accounts', path: '/ops/accounts' },
  hint: 'By an email or an id, or a part of one; all when nothing is typed. No index lists them: each page looks through 10,000 keys of Redis at most.',
  fields: [
    { name: 'find', label: 'Email or id, or a part of it' },
    {
      name: 'status',
      label: 'How it stands',
      options: [
        ['', 'any'],
        ['active', 'active'],
        ['leaving', 'leaving: waits for shared workspaces'],
        ['deleted', 'deleted, can be restored'],
        ['erasing', 'being erased'],
        ['erased', 'erased'],
      ],
    },
  ],
  caption: 'Accounts',
  columns: ['Email', 'Account', 'Status', 'Since', 'Devices', 'Endpoints', 'Workspaces'],
  cells: (row) => [
    row.email,
    entityLink({ kind: 'account', id: row.id }),
    row.status,
    dateTime(row.created_at),
    digits(row.devices),
    digits(row.endpoints),
    digits(row.shared_workspaces),
  ],
  empty: 'There is no such account.',
});
fill(byId('view'), accounts.element);
live({ load: accounts.begin, show: () => {}, repeats: false });
watchBand();
