import { z } from 'zod';
import { type Account, isOpen } from '../../../actors/accounts/account_state.js';
import type { ListedInvitation } from '../../../actors/emails/email.js';
import { HELD } from '../../../actors/workspaces/workspace.js';
import { type Invitation, invitationsAfter, type Workspace } from '../../../actors/workspaces/workspace_state.js';
import { type PageQuery, type Position, pageOf, pageOfAll } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { type Language, textsIn } from '../../domain/language/texts.js';
import { isRefusal, orNull, Refused } from '../../domain/refusals.js';
import { GIVEN_ROLES, type GivenRole } from '../../domain/workspaces.js';
import { sealMail } from '../../engine/mail/sealed_mail.js';
import { randomId } from '../../engine/random/random.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import { askSharedWorkspace, askWorkspace, hasJoined, isPrivateOf } from './ask_workspace.js';
import { invitationMail } from './invitation_mail.js';

/** Invitations to shared workspaces, as members send them and as the invited person sees them. */

export const invitationShape = z
  .strictObject({
    id,
    workspace: z.strictObject({ id, name: z.string() }).describe('The workspace that one is invited to.'),
    email: z.string().describe('The address that is invited.'),
    role: z.enum(GIVEN_ROLES).describe('What the invited person will be in it.'),
    invited_by: id.describe('The account that invited.'),
    created_at: moment,
  })
  .meta({ id: 'Invitation' });

type InvitationView = z.infer<typeof invitationShape>;

type InvitationPage = { items: InvitationView[]; cursor: string | null };

/** A page of a workspace's open invitations, oldest first. */
export async function listSentInvitations(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, ...query }: PageQuery & { id: string },
): Promise<InvitationPage> {
  if (isPrivateOf(who, id)) return { items: [], cursor: null };
  const found = await askWorkspace(services, id, (workspace) => workspace.view_invitations({ by: who.account_id }));
  const page = pageOfAll(found.invitations, { ...query, idOf: (invitation) => invitation.id });
  const workspace = { id, name: found.name };
  return { items: page.rows.map((invitation) => invitationView(invitation, workspace)), cursor: page.cursor };
}

/** Invites an address to a shared workspace by mail; `invitations_url` is the page on which invitations are answered. */
export async function invite(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'mails' | 'settings'>,
  who: Principal,
  {
    id,
    role,
    email,
    ...to
  }: { id: string; email: string; role: GivenRole; invitations_url: string; language: Language },
): Promise<InvitationView> {
  const { clock, keys, mails } = services;
  const { account, account_id: by } = who;
  const found = await askSharedWorkspace(services, who, id, (workspace) => workspace.view_invitations({ by }));
  await takeInvitation(services, { by, email, workspace: found });
  const drawn = (partition: number) => randomId({ partition, now_ms: clock.now() });
  const mail = invitationMail(
    { to: email, workspace_name: found.name, invited_by: account, role, invitations_url: to.invitations_url },
    textsIn(to.language),
  );
  const invitation = await askWorkspace(services, id, (workspace) =>
    workspace.invite({
      by,
      invitation_id: drawn(partitionOfId(id)),
      email,
      role,
      mail: { mail_id: drawn(0), sealed: sealMail(keys, mail) },
    }),
  );
  mails.due.offerPartitions([partitionOfId(id)]); // the answer does not wait for it
  return invitationView(invitation, { id, name: found.name });
}

export function withdrawInvitation(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, invitation_id }: { id: string; invitation_id: string },
) {
  return askSharedWorkspace(services, who, id, (workspace) =>
    workspace.withdraw({ by: who.account_id, invitation_id }),
  );
}

/** Counts an invitation for its sender and its recipient, unless the workspace would refuse it. */
async function takeInvitation(
  { actors, clock, settings }: Pick<FeatureServices, 'actors' | 'clock' | 'settings'>,
  { by, email, workspace }: { by: string; email: string; workspace: Workspace },
): Promise<void> {
  const after = invitationsAfter(workspace, email, clock.now());
  if (isRefusal(after)) throw new Refused(after);
  if (!settings.rate_limits) return;
  // The sender first: who has no invitation left can't use up those of others.
  await actors.account(by).take_invitation({});
  await actors.email(email).take_invitation({});
}

/** A page of the invitations to an address, newest first, in the present form of their workspaces. */
export async function listInvitations(
  { actors }: Pick<FeatureServices, 'actors'>,
  { email, limit, cursor }: PageQuery & { email: string },
): Promise<InvitationPage> {
  const rows: (Position & { view: InvitationView })[] = [];
  let after = cursor;
  // One that was answered or withdrawn between the list and the look at it leaves a gap, which the next of the list fills.
  while (rows.length <= limit) {
    const wanted = limit + 1 - rows.length;
    const position = after === undefined ? undefined : { order: after.order, id: after.member };
    const listed = await actors
      .email(email)
      .list_invitations({ range: { after: position, descending: true, limit: wanted } });
    const found = await Promise.all(
      listed.invitations.map(({ id, workspace_id }) => {
        return orNull(actors.workspace(workspace_id).invitation({ invitation_id: id, email }), 'NOT_FOUND');
      }),
    );
    for (const [index, seen] of found.entries()) {
      const { id, order, workspace_id } = listed.invitations[index] as ListedInvitation;
      if (seen === null) continue;
      const view = invitationView(seen.invitation, { id: workspace_id, name: seen.workspace_name });
      rows.push({ order, member: id, view });
    }
    const last = listed.invitations.at(-1);
    if (last === undefined || listed.invitations.length < wanted) break;
    after = { order: last.order, member: last.id };
  }
  const page = pageOf(rows, limit);
  return { items: page.rows.map(({ view }) => view), cursor: page.cursor };
}

/** The senders of invitations, by account id, with their present names; null for a deleted account. */
export async function sendersOf(
  { actors }: Pick<FeatureServices, 'actors'>,
  invitations: readonly InvitationView[],
): Promise<Map<string, { email: string; name: string | null } | null>> {
  const ids = [...new Set(invitations.map(({ invited_by }) => invited_by))];
  const accounts = await Promise.all(ids.map((id) => orNull(actors.account(id).view(), 'UNAUTHORIZED')));
  return new Map(
    accounts.map((account, index) => {
      const is_there = account !== null && isOpen(account);
      return [ids[index] as string, is_there ? { email: account.email, name: account.name } : null];
    }),
  );
}

/** Accepts an invitation to the account's address: resolves when the account belongs to the workspace. */
export async function acceptInvitation(
  services: Pick<FeatureServices, 'actors'>,
  { account, fences }: { account: Pick<Account, 'id' | 'email'>; fences: Fence[] },
  invitation_id: string,
): Promise<{ workspace_id: string }> {
  const { actors } = services;
  const { id: account_id, email } = account;
  const { workspace_id } = await actors.email(email).invitation({ invitation_id });
  const joining = { workspace_id, invitation_id };
  return pollUntil(async () => {
    // What the workspace says comes back to the account.
    await actors.downstream.account(account_id).accept_invitation(joining, fences);
    if (await hasJoined(services, { account_id, ...joining })) return { workspace_id };
    // It is gone; or it stands and the workspace holds still for somebody's deletion.
    await actors.workspace(workspace_id).invitation({ invitation_id, email });
    return null;
  }, HELD);
}

/** Declines an invitation to an address. */
export async function declineInvitation(
  services: Pick<FeatureServices, 'actors'>,
  invitation: { email: string; invitation_id: string },
): Promise<object> {
  const { email, invitation_id } = invitation;
  const found = await services.actors.email(email).invitation({ invitation_id });
  return askWorkspace(services, found.workspace_id, (workspace) => workspace.decline({ email, invitation_id }));
}

function invitationView(
  { id, email, role, invited_by, created_at_ms }: Invitation,
  workspace: { id: string; name: string },
): InvitationView {
  return { id, workspace, email, role, invited_by, created_at: new Date(created_at_ms).toISOString() };
}
