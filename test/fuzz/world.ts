import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BindingView,
  DeviceClient,
  type DeviceCredentials,
  type IntentView,
  sha256Of,
} from '../../kits/typescript/src/device_client.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { voiceId } from '../../src/domain/ids.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';
import { OauthApp, type SpoolPlace } from '../fixtures/oauth.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const AUDIO = Buffer.from('audio that was recorded');
const LATER_MS = 3_600_000;

/** Valid credentials of each kind, and ids of things that exist: what half-right requests are made of. */
export type World = {
  bearers: string[];
  device: DeviceCredentials;
  shared: DeviceCredentials;
  ops_token: string;
  known: Record<string, unknown[]>;
};

/** Makes everything that a request may be about, anew: what was there before may have been deleted by requests. */
export async function makeWorld(server: SpoolProcess, folder: string): Promise<World> {
  const operator = server.operator();
  const closing: { close(): void }[] = [operator];
  const client = (token: string | null = null) => {
    const made = server.client(token);
    closing.push(made);
    return made;
  };
  try {
    return await worldOf({ server, folder, operator, client });
  } finally {
    for (const one of closing) one.close();
  }
}

type Parts = {
  server: SpoolProcess;
  folder: string;
  operator: OperatorClient;
  client: (token?: string | null) => AppClient;
};

async function worldOf({ server, folder, operator, client }: Parts): Promise<World> {
  const codes = new Set<string>();
  const readCode = async (email: string) => {
    const code = await operator.readCode(email, codes);
    codes.add(code);
    return code;
  };
  const email = `fuzz-${randomUUID()}@x.test`;
  const session = await client().signIn(email, () => readCode(email));
  // What requests turn, revoke and delete is not what they are sent with.
  const spare = await client().signIn(email, () => readCode(email));
  await operator.ask('PUT', `/ops/accounts/${email}/entitlements/workspace.sharing`, { enabled: true });
  await operator.ask('PUT', `/ops/accounts/${email}/entitlements/developer.tools`, { enabled: true });
  const app = client(session.access_token);
  const make = async <T = { id: string }>(path: string, body: unknown) => app.ask<T>('POST', path, body);
  const turns = ['turns:read', 'turns:write'];
  const permissions = ['account:manage', 'audio:read', 'audio:write', ...turns, 'devices:manage'];
  const token = await make<{ token: { id: string }; value: string }>('/me/tokens', {
    name: 'fuzz',
    permissions,
    expires_at: null,
  });
  const spare_token = await make<{ token: { id: string }; value: string }>('/me/tokens', {
    ...{ name: 'spare', permissions: ['audio:read'], expires_at: null },
  });
  const place: SpoolPlace = { folder, base_url: server.base_url, client: () => client(), readCode };
  const oauth = await OauthApp.first(place, 'svc-ios').signInNatively(email);
  const spare_oauth = await OauthApp.first(place, 'svc-ios').signInNatively(email);
  const third = await OauthApp.registered(place);

  const { device_id, ...device } = await operator.provision('personal');
  const { device_id: shared_id, ...shared } = await operator.provision('shared');
  const { claim } = await make<{ claim: string }>('/devices/claims', { kind: 'owner' });
  const { claim: open_claim, code } = await make<{ claim: string; code: string }>('/devices/claims', { kind: 'owner' });
  const recorder = new DeviceClient(server.device_url, device);
  const hosted = await make<{ session: { id: string; join_code: string }; claim: string }>('/device-sessions', {
    expires_at: new Date(Date.now() + LATER_MS).toISOString(),
  });
  const source = await make('/sources', { name: 'fuzz' });
  const stream = await make('/audio/streams', { source_id: source.id, captured_at: '2026-01-01T12:00:00Z' });
  const workspace = await make('/workspaces', { name: 'fuzz' });
  const invitation = await make(`/workspaces/${workspace.id}/invitations`, { email: `other-${email}`, role: 'member' });
  const endpoint = await make<{ endpoint: { id: string } }>('/endpoints', {
    url: 'https://127.0.0.1:9/fuzz',
    topics: ['run.published'],
  });
  const heard = await transcribed(server, app, operator);
  const omi = await make<{ url: string }>('/me/omi', undefined);
  const events = await app.ask<{ cursor: string }>('GET', '/events?after=0');
  try {
    const { binding_epoch } = await recorder.ask<BindingView>('POST', '/device/claims/redeem', { claim });
    const source_stream_ref = randomUUID();
    const registered = {
      source_stream_ref,
      binding_epoch,
      captured_at: '2026-01-01T12:00:00Z',
      clock_uncertainty_ms: 1,
    };
    await recorder.ask('POST', '/device/streams', registered);
    const source_chunk_ref = randomUUID();
    const intent = await recorder.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ source_stream_ref, binding_epoch, source_chunk_ref, sequence: 0 },
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 100, codec: 'noise', container: 'raw' },
      ...{ size_bytes: AUDIO.length, sha256: sha256Of(AUDIO) },
    });
    await recorder.upload(intent.upload_path, AUDIO);
    const account_id = session.user.id;
    const ids = [
      stream.id,
      source.id,
      workspace.id,
      hosted.session.id,
      device_id,
      endpoint.endpoint.id,
      spare_token.token.id,
      ...heard.ids,
    ];
    return {
      bearers: [session.access_token, token.value, oauth.access_token],
      device,
      shared,
      ops_token: readFileSync(join(folder, 'ops_token'), 'utf8').trim(),
      known: {
        id: [...ids, intent.chunk_id, invitation.id, shared_id, randomUUID()],
        account: [account_id, email],
        account_id: [account_id, randomUUID()],
        chunk_id: [intent.chunk_id],
        bytes: [AUDIO.toString('base64'), 'bm8='],
        source_id: [source.id],
        workspace_id: [workspace.id],
        invitation_id: [invitation.id],
        source_stream_ref: [source_stream_ref, randomUUID()],
        source_chunk_ref: [source_chunk_ref, randomUUID()],
        binding_epoch: [binding_epoch, hosted.session.id],
        claim: [open_claim, code, claim, hosted.claim, heard.work.claim],
        ...heard.known,
        join_code: [hosted.session.join_code],
        ble_address: ['AABBCCDDEEFF'],
        email: [email, `new-${randomUUID()}@x.test`],
        token: ['123456', spare_token.value, spare_oauth.refresh_token],
        otp: ['123456'],
        refresh_token: [spare.refresh_token, spare_oauth.refresh_token],
        client_id: [third.client_id, 'svc-ios', 'svc-web'],
        redirect_uri: [third.redirect_uri],
        redirect_uris: [['https://app.example/callback']],
        grant_type: ['refresh_token', 'authorization_code'],
        response_type: ['code'],
        code_challenge_method: ['S256'],
        code_challenge: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWpuJ4TzW5z0o'],
        code_verifier: ['x'.repeat(43)],
        scope: ['openid', 'audio:read'],
        expires_at: [new Date(Date.now() + LATER_MS).toISOString(), null],
        captured_at: ['2026-01-01T12:00:00Z'],
        name: ['workspace.sharing', 'Name'],
        url: ['https://127.0.0.1:9/fuzz'],
        role: ['member', 'admin'],
        permissions: [['audio:read']],
        permission: ['audio:read'],
        topics: [['run.published']],
        sha256: [sha256Of(AUDIO)],
        size_bytes: [AUDIO.length],
        source_start_ms: [0, 100],
        source_end_ms: [100, 200],
        after: [events.cursor, '0', 'latest'],
        omi: [omi.url.split('/').at(-1)],
        uid: ['u', 'v'],
        sample_rate: ['16000', '8000', '1'],
        model: ['whisper-1', 'none'],
        limit: ['1', '100'],
        kind: ['personal', 'shared', 'owner', 'account', 'transcribe'],
        jsonrpc: ['2.0'],
        method: ['tools/list', 'tools/call', 'initialize', 'ping'],
        // Ten years on, nobody would be signed in any more; it is off all the same.
        advance_ms: [1],
        csr_pem: ['-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n'],
      },
    };
  } finally {
    recorder.close();
  }
}

/** A recording in which two people spoke, one of them a contact, and a window of another that a worker has. */
async function transcribed({ base_url }: SpoolProcess, app: AppClient, operator: OperatorClient) {
  const ask = <T>(method: string, path: string, body?: unknown) => app.ask<T>(method, path, body);
  const worker = new TestTranscriber({ operator });
  const claimed = async () => {
    const recording = await TestRecording.begin({ app, spool: { base_url }, ask });
    await recording.add(5_000);
    await recording.end();
    return { recording, work: await worker.claim(recording.id, LATER_MS / 1_000) };
  };
  const { recording, work: first } = await claimed();
  const voice = { model: 'm', embedding: 'AAAA' };
  await worker.publish(
    first,
    ['A', 'B', 'A', 'B'].map((speaker, at) => said('one two three', [at * 1_000, at * 1_000 + 900], speaker)),
    { speakers: [{ speaker: 'A', voice }] },
  );
  const [contact, other] = [
    await ask<{ id: string }>('POST', '/contacts', { name: 'Fuzz' }),
    await ask<{ id: string }>('POST', '/contacts', { name: 'Other' }),
  ];
  await ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: contact.id });
  const turns = (await recording.turns()).map(({ id }) => id);
  const { work } = await claimed();
  const insights = await thoughtOf(recording.id, app, operator);
  return {
    work,
    ids: [recording.id, work.stream_id, ...turns, contact.id, other.id, ...insights.ids],
    known: {
      ...insights.known,
      'turns/:id': turns,
      'contacts/:id': [contact.id, other.id],
      'streams/:id': [recording.id, work.stream_id],
      job: [work.job, first.job],
      stream_id: [recording.id, work.stream_id],
      contact_id: [contact.id, other.id, null],
      speaker: ['S1', 'S2', 'A', 'constructor'],
      into: ['S1', 'S2', contact.id, other.id],
      at_ms: [300, 1_300],
      turns: [[], [said('one two', [0, 900], 'A'), said('three', [1_000, 1_900], 'constructor')]],
      embedding: ['AAAA'],
      language: ['en', 'pt-BR'],
      code: ['BAD_AUDIO'],
      word: [['one', 0, 300, 0.5]],
      consumed_to_ms: [5_000],
      matches: [voiceId(recording.id, 1)],
    },
  };
}

/** What the world is made of and no longer holds. */
export async function lostIn(server: SpoolProcess, { bearers, device }: World): Promise<string[]> {
  const lost: string[] = [];
  const recorder = new DeviceClient(server.device_url, device);
  try {
    for (const [index, bearer] of bearers.entries()) {
      const app = server.client(bearer);
      const { status } = await app.send('GET', '/me').finally(() => app.close());
      if (status !== 200) lost.push(`bearer ${index}: ${status}`);
    }
    const { status, body } = await recorder.send('GET', '/device/binding');
    if (status !== 200) lost.push(`device: ${status} ${body}`);
    return lost;
  } finally {
    recorder.close();
  }
}

/** What a worker makes of a recording, and what its account tells of itself. */
async function thoughtOf(stream_id: string, app: AppClient, operator: OperatorClient) {
  type Work = { job: string; claim: string; stream_id: string };
  let work: Work | undefined;
  const [pipeline] = (await app.ask<{ items: { id: string }[] }>('GET', '/pipelines')).items;
  await app.ask('POST', `/pipelines/${pipeline?.id}/runs`, { stream_id });
  await until('a conversation is found', async () => {
    const asked = { kinds: ['insights'], limit: 20, lease_s: 60 };
    const { items } = await operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked);
    work = items.find((one) => one.stream_id === stream_id);
    return work !== undefined;
  });
  const { job, claim } = work as Work;
  const evidence = [{ turn: 1, quote: 'one two three' }];
  const suggestions = ['one two', 'two three', 'three'].map((text) => ({ op: 'new', kind: 'task', text, evidence }));
  const memories = [{ op: 'new', kind: 'fact', text: 'one two three', evidence }];
  await operator.ask('POST', `/ops/jobs/${encodeURIComponent(job)}/publish`, {
    ...{ kind: 'insights', claim, conversation: { title: 'Fuzz', topics: [] }, suggestions, memories },
  });
  const idsOf = async (path: string) =>
    (await app.ask<{ items: { id: string }[] }>('GET', path)).items.map(({ id }) => id);
  await app.ask('POST', '/pipelines', { name: 'Fuzz', insights: { instructions: 'Fuzz' } });
  await app.ask('POST', '/profile/context', { text: 'Fuzz' });
  const found = {
    suggestions: await idsOf('/suggestions'),
    memories: await idsOf('/memories'),
    conversations: await idsOf('/conversations'),
    pipelines: await idsOf('/pipelines'),
  };
  return {
    ids: Object.values(found).flat(),
    known: {
      ...Object.fromEntries(Object.entries(found).map(([path, ids]) => [`${path}/:id`, ids])),
      suggestion_ids: [found.suggestions, found.suggestions.slice(0, 2), found.suggestions.slice(0, 1)],
      pipeline_id: found.pipelines,
      state_version: [1, 2],
      revision: [0, 1],
      status: ['open', 'accepted', 'dismissed', 'completed'],
      verdict: ['supported'],
      rating: ['helpful', 'wrong'],
      owner_contact_id: [null],
    },
  };
}
