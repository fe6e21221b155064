import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { isId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isEnabled } from '../../src/domain/permissions.js';
import { orNull } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { type InvitationOutcome, sendPage } from '../../src/edge/pages/page.js';
import { leave } from '../../src/edge/pages/redirect.js';
import { requestTexts } from '../../src/edge/pages/request_language.js';
import { hasJoined } from '../../src/features/workspaces/ask_workspace.js';
import {
  acceptInvitation,
  declineInvitation,
  listInvitations,
  sendersOf,
} from '../../src/features/workspaces/invitations.js';
import { openRoute, type Route } from '../rows.js';
import { type AccountPageContext, holderForm, openAccountPage, submitForm } from './account_page.js';

/** The page that mails with invitations lead to. */

const { path } = ACCOUNT_PAGES.invitations;
const text = z.string().optional();
const form = holderForm.extend({ invitation_id: text, workspace_id: text });
type InvitationForm = z.output<typeof form>;
/** The outcome of a button, as the page's address carries it: the id of a workspace that was joined, or a word. */
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
      openAccountPage({ services, request, reply }, 'invitations', (context) => show(context, query)),
  }),
  openRoute({
    method: 'POST',
    path,
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: form,
    handler: async ({ services, request, reply, body }) =>
      submitForm({ services, request, reply }, 'invitations', body, { accept, decline }),
  }),
];

async function show(context: AccountPageContext, { cursor, joined, done }: z.output<typeof query>): Promise<Answer> {
  const { services, request, reply, account, is_open, holder } = context;
  const texts = requestTexts(request);
  if (!is_open) {
    return sendPage(reply, { page: 'invitations_wait', holder, restore_url: services.addresses().restore_url });
  }
  const { email } = account;
  const listed = await listInvitations(services, { email, limit: LIMITS.list_limit_default, cursor });
  const senders = await sendersOf(services, listed.items);
  return sendPage(reply, {
    page: 'invitations',
    holder,
    outcome: outcomeOf(account, { joined, done }),
    sharing: isEnabled(account.entitlements, 'workspace.sharing'),
    rows: listed.items.map(({ id, workspace, role, invited_by, created_at }) => ({
      id,
      workspace,
      role,
      invited_by: senders.get(invited_by) ?? null,
      invited_on: texts.momentText(Date.parse(created_at)),
    })),
    older: listed.cursor === null ? null : `${path}?cursor=${listed.cursor}`,
    newest: cursor === undefined ? null : path,
  });
}

/** A workspace is named only to who belongs to it, whatever the address says. */
function outcomeOf(
  account: AccountPageContext['account'],
  { joined, done }: { joined: string | undefined; done: 'declined' | 'gone' | undefined },
): InvitationOutcome | null {
  const membership = account.memberships.find(({ workspace_id }) => workspace_id === joined);
  if (membership !== undefined) return { is: 'joined', workspace: membership.name };
  return done === undefined ? null : { is: done };
}

async function accept(context: AccountPageContext, form: InvitationForm): Promise<Answer> {
  const { services, reply, account, is_open } = context;
  // The page says that the account is deleted, or that it can't share.
  if (!is_open || !isEnabled(account.entitlements, 'workspace.sharing')) return leave(reply, path);
  const { invitation_id = '' } = form;
  if (!isId(invitation_id)) return answered(context, form, 'gone');
  const accepted = await orNull(acceptInvitation(services, context, invitation_id), 'NOT_FOUND');
  if (accepted === null) return answered(context, form, 'gone');
  return leave(reply, `${path}?joined=${accepted.workspace_id}`);
}

async function decline(context: AccountPageContext, form: InvitationForm): Promise<Answer> {
  const { services, reply, account, is_open } = context;
  if (!is_open) return leave(reply, path);
  const { invitation_id = '' } = form;
  if (!isId(invitation_id)) return answered(context, form, 'declined');
  const declined = await orNull(declineInvitation(services, { email: account.email, invitation_id }), 'NOT_FOUND');
  if (declined === null) return answered(context, form, 'declined');
  return leave(reply, `${path}?done=declined`);
}

/** The page after a button that came too late: a press before it may have joined, else it is as `otherwise` says. */
async function answered(
  { services, reply, account }: AccountPageContext,
  form: InvitationForm,
  otherwise: 'declined' | 'gone',
): Promise<Answer> {
  const { invitation_id = '', workspace_id = '' } = form;
  const joined = await hasJoined(services, { account_id: account.id, workspace_id, invitation_id });
  return leave(reply, joined ? `${path}?joined=${workspace_id}` : `${path}?done=${otherwise}`);
}
