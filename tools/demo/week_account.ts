import { AppClient } from '../../kits/typescript/src/app_client.js';
import { bindDevice, hostSession, signIn, type World } from './recorder.js';
import type { WeekDevices } from './week_recordings.js';

/** Gives an account a name, devices, a recorder session, a shared workspace and a webhook. */

const TOPICS = ['stream.created', 'suggestion.created'] as const;
const WORKSPACE = 'Bicycle workshop';

export type WeekAccount = WeekDevices & {
  /** Ends the recorder session. */
  end(): Promise<void>;
  /** Ends the connections of the devices. */
  close(): void;
};

type Preparing = { email: string; base_url: string; webhook_url: string | null };

export async function prepareAccount(world: World, { email, base_url, webhook_url }: Preparing): Promise<WeekAccount> {
  const { app, patience } = world;
  const colleague = new AppClient(base_url, { patience: null });
  try {
    await patience.repeat(() => app.call('PATCH /me', { body: { name: 'Mira' } }));
    if (webhook_url !== null) {
      const body = { url: webhook_url, topics: [...TOPICS] };
      await patience.ask(() => app.call('POST /endpoints', { body }));
    }
    const workspace_id = await shareWorkspace(world, { email, colleague });
    const pocket = await bindDevice(world);
    const kitchen = await bindDevice(world);
    const table = await hostSession(world);
    await nameSources(world, {
      [pocket.device_id]: 'Pocket recorder',
      [kitchen.device_id]: 'Kitchen recorder',
      [table.device_id]: 'Workshop table',
    });
    const path = { id: table.session_id };
    const { join_code } = table;
    await patience.ask(() => colleague.call('POST /device-sessions/{id}/join', { path, body: { join_code } }));
    return {
      ...{ workspace_id, pocket, table },
      async end() {
        await patience.repeat(() => app.call('POST /device-sessions/{id}/end', { path }));
      },
      close() {
        for (const { device } of [pocket, kitchen, table]) device.close();
      },
    };
  } finally {
    colleague.close();
  }
}

/** A workspace that Jonas has joined and Samir is invited to; gives its id. */
async function shareWorkspace(
  world: World,
  { email, colleague }: { email: string; colleague: AppClient },
): Promise<string> {
  const { app, operator, patience } = world;
  const [jonas, samir] = [`jonas-${email}`, `samir-${email}`];
  await signIn({ app: colleague, operator, patience }, jonas);
  await patience.repeat(() => colleague.call('PATCH /me', { body: { name: 'Jonas' } }));
  for (const account of [email, jonas]) {
    const path = { account, name: 'workspace.sharing' as const };
    const body = { enabled: true };
    await patience.repeat(() => operator.call('PUT /ops/accounts/{account}/entitlements/{name}', { path, body }));
  }
  const { id } = await patience.ask(() => app.call('POST /workspaces', { body: { name: WORKSPACE } }));
  for (const invited of [jonas, samir]) {
    const body = { email: invited, role: 'member' as const };
    await patience.ask(() => app.call('POST /workspaces/{id}/invitations', { path: { id }, body }));
  }
  const { items } = await patience.repeat(() => colleague.call('GET /me/invitations', {}));
  for (const invitation of items)
    await patience.ask(() => colleague.call('POST /me/invitations/{id}/accept', { path: { id: invitation.id } }));
  return id;
}

/** Devices have the names of the sources that they record into. */
async function nameSources({ app, patience }: World, names: Readonly<Record<string, string>>): Promise<void> {
  const { items } = await patience.repeat(() => app.call('GET /sources', {}));
  for (const { id, device_id } of items) {
    const name = names[device_id ?? ''];
    if (name === undefined) continue;
    await patience.repeat(() => app.call('PATCH /sources/{id}', { path: { id }, body: { name } }));
  }
}
