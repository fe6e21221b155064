import { z } from 'zod';
import { type Account, isOpen } from '../../actors/accounts/account_state.js';
import { listCursor } from '../../src/access/cursors.js';
import { isId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isEnabled } from '../../src/domain/permissions.js';
import { orNull, type Refusal } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { type InvitationOutcome, type InvitationRow, sendPage } from '../../src/edge/pages/page.js';
import { utcText } from '../../src/features/accounts/deletion_mail.js';
import { leave } from '../../src/features/oauth/redirect.js';
import { acceptInvitation, hasJoined } from '../../src/features/workspaces/workspace_calls.js';
import { addressedTo, declineInvitation, listInvitations } from '../api/invitations.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { holderForm, press, type Visit, visit } from './visit.js';

/** The page that mails with invitations lead to. */

const { path } = ACCOUNT_PAGES.invitations;
const text = z.string().optional();
const form = holderForm.extend({ invitation_id: text, workspace_id: text });
type Form = z.output<typeof form>;
/** What came of a button, as the page's address says it: the id of a workspace that was joined, or a word. */
const outcome = { joined: text, done: z.enum(['declined', 'gone']).optional().catch(undefined) };
const query = z.object({ cursor: listCursor, ...outcome });

export const INVITATIONS_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path,
    credential: 'none',
    dialect: 'page',
    query,
    handler: async ({ services, request, reply, query }) =>
      visit({ services, request, reply }, 'invitations', (visit) => show(visit, query)),
  }),
  openRoute({
    method: 'POST',
    path,
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: form,
    handler: async ({ services, request, reply, body }) =>
      press({ services, request, reply }, 'invitations', body, { accept, decline }),
  }),
];

async function show(visit: Visit, { cursor, joined, done }: z.output<typeof query>): Promise<Answer> {
  const { services, reply, account, holder } = visit;
  if (!isOpen(account)) {
    return sendPage(reply, { page: 'invitations_wait', holder, restore_url: services.addresses().restore_url });
  }
  const { email } = account;
  const listed = await listInvitations(services, { email, limit: LIMITS.list_limit_default, cursor });
  const rows = await rowsOf(services, listed.items);
  return sendPage(reply, {
    page: 'invitations',
    holder,
    outcome: outcomeOf(account, { joined, done }),
    sharing: isEnabled(account.entitlements, 'workspace.sharing'),
    rows,
    older: listed.cursor === null ? null : `${path}?cursor=${listed.cursor}`,
    newest: cursor === undefined ? null : path,
  });
}

/** A workspace is named only to who belongs to it, whatever the address says. */
function outcomeOf(
  account: Account,
  { joined, done }: { joined: string | undefined; done: 'declined' | 'gone' | undefined },
): InvitationOutcome | null {
  const membership = account.memberships.find(({ workspace_id }) => workspace_id === joined);
  if (membership !== undefined) return { is: 'joined', workspace: membership.name };
  return done === undefined ? null : { is: done };
}

type Listed = Exclude<Awaited<ReturnType<typeof listInvitations>>, Refusal>['items'];

/** With who invited, as their accounts are named now; a deleted account has no name. */
async function rowsOf(services: Services, items: Listed): Promise<InvitationRow[]> {
  const ids = [...new Set(items.map(({ invited_by }) => invited_by))];
  const accounts = await Promise.all(ids.map((id) => orNull(services.actors.account(id).view(), 'UNAUTHORIZED')));
  const named = new Map<string, InvitationRow['invited_by']>();
  for (const [index, account] of accounts.entries()) {
    const is_there = account !== null && isOpen(account);
    named.set(ids[index] as string, is_there ? { email: account.email, name: account.name } : null);
  }
  return items.map(({ id, workspace, role, invited_by, created_at }) => ({
    id,
    workspace,
    role,
    invited_by: named.get(invited_by) ?? null,
    invited_on: utcText(Date.parse(created_at)),
  }));
}

async function accept(visit: Visit, form: Form): Promise<Answer> {
  const { services, reply, account, fences } = visit;
  // The page says that the account is deleted, or that it can't share.
  if (!isOpen(account) || !isEnabled(account.entitlements, 'workspace.sharing')) return leave(reply, path);
  const found = await findInvitation(visit, form);
  if (found === null) return answered(visit, form, 'gone');
  const { id: account_id, email } = account;
  const accepted = await orNull(acceptInvitation(services, { account_id, email, ...found }, fences), 'NOT_FOUND');
  if (accepted === null) return answered(visit, form, 'gone');
  return leave(reply, `${path}?joined=${found.workspace_id}`);
}

async function decline(visit: Visit, form: Form): Promise<Answer> {
  const { services, reply, account } = visit;
  if (!isOpen(account)) return leave(reply, path);
  const found = await findInvitation(visit, form);
  if (found === null) return answered(visit, form, 'declined');
  const { invitation_id } = found;
  const declined = await orNull(declineInvitation(services, { email: account.email, invitation_id }), 'NOT_FOUND');
  if (declined === null) return answered(visit, form, 'declined');
  return leave(reply, `${path}?done=declined`);
}

/** Null when it is not there any more. */
async function findInvitation({ services, account }: Visit, { invitation_id = '' }: Form) {
  if (!isId(invitation_id)) return null;
  return orNull(addressedTo(services, { email: account.email, invitation_id }), 'NOT_FOUND');
}

/** The page after a button that came too late: a press before it may have joined, else it is as `otherwise` says. */
async function answered(
  { services, reply, account }: Visit,
  form: Form,
  otherwise: 'declined' | 'gone',
): Promise<Answer> {
  const { invitation_id = '', workspace_id = '' } = form;
  const joined = await hasJoined(services, { account_id: account.id, workspace_id, invitation_id });
  return leave(reply, joined ? `${path}?joined=${workspace_id}` : `${path}?done=${otherwise}`);
}
