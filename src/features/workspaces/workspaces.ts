import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Workspace } from '../../../actors/workspaces/workspace_state.js';
import { type PageQuery, pageOfAll } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { count } from '../../access/response_schemas.js';
import { ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { orRefused, Refused, refuse } from '../../domain/refusals.js';
import { BUCKETS, type Bucket, type SettingsChange } from '../../domain/workspaces.js';
import { randomId, randomPartition } from '../../engine/random/random.js';
import { accountNamed } from '../accounts/account_of_email.js';
import { listedWorkspaceShape, workspacesOf } from '../accounts/account_workspaces.js';
import type { FeatureServices } from '../services.js';
import { askSharedWorkspace, askWorkspace, hasJoined, isPrivateOf } from './ask_workspace.js';

/** Workspaces as their members have them. docs/choices.md, "Workspaces". */

const NOT_JOINED = refuse('NOT_FOUND', 'There is no such invitation.');
const PRIVATE_STAYS = refuse('CONFLICT', 'A private workspace goes with its account alone.');

const days = z.int().min(0).nullable().describe('How many days they are kept. Null: for ever. 0: not at all.');

/** The content of each bucket of retention, in words. */
export const BUCKET_WORDS: Record<Bucket, string> = {
  audio: 'Chunks of audio.',
  transcripts: 'Turns and signals.',
  insights: 'Memories, conversations and suggestions.',
  voice: 'Recognized voices.',
};

export const workspaceShape = z
  .strictObject({
    ...listedWorkspaceShape.shape,
    retention: z
      .strictObject(
        Object.fromEntries(
          BUCKETS.map((bucket) => [bucket, z.strictObject({ days }).describe(BUCKET_WORDS[bucket])]),
        ) as Record<Bucket, z.ZodObject<{ days: typeof days }>>,
      )
      .describe('How long its content is kept.'),
    member_count: count.describe('Who belongs to it, its owner among them.'),
  })
  .meta({ id: 'Workspace' });

type WorkspaceView = z.infer<typeof workspaceShape>;

/** A page of the workspaces that the account belongs to. */
export function listWorkspaces({ account }: Principal, query: PageQuery) {
  const page = pageOfAll(workspacesOf(account), { ...query, idOf: ({ id }) => id });
  return { items: page.rows, cursor: page.cursor };
}

/**
 * Makes a shared workspace, which the account owns: resolves when the workspace exists and the account belongs to it.
 */
export async function createWorkspace(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'settings'>,
  who: Principal,
  { name }: { name: string },
): Promise<WorkspaceView> {
  const { actors, clock, settings } = services;
  const { account_id, fences } = who;
  const workspace_id = randomId({ partition: randomPartition(), now_ms: clock.now() });
  const workspace = { workspace_id, name, budgeted: settings.rate_limits };
  await actors.downstream.account(account_id).create_workspace(workspace, fences);
  const is_member = await hasJoined(services, { account_id, workspace_id, invitation_id: workspace_id });
  if (!is_member) throw new Refused(NOT_JOINED);
  return readWorkspace(services, who, workspace_id);
}

export async function readWorkspace(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
): Promise<WorkspaceView> {
  if (isPrivateOf(who, id)) return privateWorkspaceView(who.account);
  const found = await askWorkspace(services, id, (workspace) => workspace.view({ by: who.account_id }));
  return sharedWorkspaceView(id, found, who.account_id);
}

/** Renames a workspace, or changes how long it keeps its content. */
export async function changeWorkspace(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, change }: { id: string; change: SettingsChange },
): Promise<WorkspaceView> {
  if (isPrivateOf(who, id)) {
    const account = await services.actors.account(who.account_id).change_private_workspace({ change }, who.fences);
    return privateWorkspaceView(account);
  }
  const changed = await askWorkspace(services, id, (workspace) => workspace.change({ by: who.account_id, change }));
  return sharedWorkspaceView(id, changed, who.account_id);
}

export function deleteWorkspace(services: Pick<FeatureServices, 'actors'>, who: Principal, id: string) {
  return askSharedWorkspace(services, who, id, (workspace) => workspace.delete({ by: who.account_id }));
}

/** Makes another member the owner. */
export function transferWorkspace(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, account_id }: { id: string; account_id: string },
) {
  return askSharedWorkspace(services, who, id, (workspace) => workspace.transfer({ by: who.account_id, account_id }));
}

export function leaveWorkspace(services: Pick<FeatureServices, 'actors'>, who: Principal, id: string) {
  return askSharedWorkspace(services, who, id, (workspace) => workspace.leave({ by: who.account_id }));
}

/** Deletes a shared workspace for staff, whoever owns it. */
export async function deleteWorkspaceForStaff(services: Pick<FeatureServices, 'actors'>, id: string) {
  const owner = ownerOfPrivateWorkspace(id);
  if (owner !== null) {
    const account = await accountNamed(services, owner.account_id).catch(orRefused(null));
    if (account?.private_workspace.id === id) throw new Refused(PRIVATE_STAYS);
  }
  return askWorkspace(services, id, (workspace) => workspace.staff_delete());
}

function privateWorkspaceView({ private_workspace, created_at_ms }: Account): WorkspaceView {
  const { id, name, retention } = private_workspace;
  return {
    id,
    name,
    private: true,
    role: 'owner',
    retention,
    member_count: 1,
    created_at: new Date(created_at_ms).toISOString(),
  };
}

/** The workspace as the member with this account sees it. */
function sharedWorkspaceView(
  id: string,
  { name, retention, members, created_at_ms }: Workspace,
  account_id: string,
): WorkspaceView {
  const role = members.find((member) => member.account_id === account_id)?.role;
  if (role === undefined) throw new Error('a workspace is shown to somebody who does not belong to it');
  return {
    id,
    name,
    private: false,
    role,
    retention,
    member_count: members.length,
    created_at: new Date(created_at_ms).toISOString(),
  };
}
