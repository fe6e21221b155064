import type { Test } from 'tap';
import type { Device, Event } from '../../kits/typescript/src/api.js';
import { CallRefused } from '../../kits/typescript/src/call.js';
import type { BindingView, DeviceCredentials } from '../../kits/typescript/src/device_client.js';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { ALL_KILLS, type Kills, killWithin, SOME_KILLS } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { allOf } from '../fixtures/colleagues.js';
import type { SessionView } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

const SETTLED_MAX_MS = 10_000;
const HOUR_MS = 3_600_000;
const EMAIL = 'host@x.test';

type Recorder = { device_id: string; credentials: DeviceCredentials };
type Hosted = { session: SessionView; claim: string };
/** `200`, or status and code of a refusal. */
type Said = string;

/** One step, ready to be asked for as often as need be. */
type Step = {
  ask: () => Promise<Said>;
  said: Said;
  /** Instead, when it had come into effect though nobody heard of it. */
  in_effect?: Said;
  /** What must hold once it was answered. */
  check: () => Promise<void>;
};

/** Steps by their kind. */
const KINDS = [
  [
    ...['redeem a session claim', 'redeem at an address that is taken', 'redeem while the session before drains'],
    ...['redeem an owner claim', 'host a session'],
  ],
  ['end by recorder', 'end by host', 'end while it drains', 'end by the clock', 'removal'],
  ['deletion of the host'],
];

scenario({
  title: 'H-026 H-027 H-030 killed at any commit of how a session begins and ends: nothing is half done',
  smoke: SOME_KILLS,
  full: ALL_KILLS,
  run: sessionKills,
});

async function sessionKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '0' } });
  const clients = new Map<string, DeviceClient>();
  t.teardown(() => {
    for (const client of clients.values()) client.close();
  });
  let token = '';
  const signIn = async () => {
    token = (await server.signIn(EMAIL)).access_token;
  };
  await signIn();
  const app = () => server.client(token);
  const sayApp = (method: string, path: string, body?: unknown) => said(app().ask(method, path, body));
  const provision = async (kind: 'personal' | 'shared'): Promise<Recorder> => {
    const { device_id, ...credentials } = await server.operator.provision(kind);
    return { device_id, credentials };
  };
  const device = ({ device_id, credentials }: Recorder) => {
    const client = clients.get(device_id) ?? new DeviceClient(server.device_url, credentials);
    clients.set(device_id, client);
    return client;
  };
  const redeem = (recorder: Recorder, { claim }: { claim: string }, ble_address: string) =>
    said(device(recorder).ask('POST', '/device/claims/redeem', { claim, ble_address }));
  const host = async (expires_in_ms = HOUR_MS) => {
    const { now } = await server.operator.advanceClock(0);
    const expires_at = new Date(Date.parse(now) + expires_in_ms).toISOString();
    return app().ask<Hosted>('POST', '/device-sessions', { expires_at });
  };
  const view = (id: string) => app().ask<SessionView>('GET', `/device-sessions/${id}`);
  const binding = (recorder: Recorder) =>
    device(recorder)
      .ask<BindingView>('GET', '/device/binding')
      .then(
        ({ binding_epoch }) => binding_epoch,
        ({ code }: CallRefused) => code,
      );
  const endByRecorder = (recorder: Recorder, { session }: Hosted) =>
    said(device(recorder).ask('POST', '/device/session/end', { binding_epoch: session.id }));

  let addresses = 0xa00000000000;
  const freshAddress = () => (addresses++).toString(16).toUpperCase();
  const [recorder, other] = [await provision('shared'), await provision('shared')];
  /** A session that the recorder has begun. */
  const begun = async (ble_address: string, expires_in_ms?: number) => {
    const hosted = await host(expires_in_ms);
    t.equal(await redeem(recorder, hosted, ble_address), '200', 'a session to begin with');
    return hosted;
  };

  /** Session, account, device, address and events say the same of a session of the recorder. */
  async function agrees(
    { session: { id } }: Hosted,
    { status, end_reason, ble_address }: { status: string; end_reason: string | null; ble_address: string },
  ): Promise<void> {
    const lives = status === 'open' || status === 'draining';
    let saw: unknown;
    const expected = {
      ...{ status, end_reason, device: lives ? [id] : [], binding: lives ? id : 'DEVICE_UNBOUND' },
      events: ['device_session.started', ...(status === 'open' ? [] : ENDED)],
    };
    const look = async () => {
      const session = await view(id);
      const devices = await allOf<Device>(app(), '/devices');
      const events = (await allOf<Event>(app(), '/events')).toReversed();
      saw = {
        ...{ status: session.status, end_reason: session.end_reason },
        device: devices.flatMap((one) => (one.id === recorder.device_id ? [one.session_id] : [])),
        binding: await binding(recorder),
        events: events.flatMap(({ type, resource }) => (resource.id === id ? [type] : [])),
      };
      return JSON.stringify(saw) === JSON.stringify(expected);
    };
    await until('all agree', look, SETTLED_MAX_MS).catch(() => t.strictSame(saw, expected, 'all agree'));
    await addressIs(ble_address, status === 'open' ? 'held' : 'free');
  }

  /** Another recorder finds out by reporting the same address; it leaves everything as it was. */
  async function addressIs(ble_address: string, expected: 'held' | 'free'): Promise<void> {
    const probe = await host();
    const answer = await patient(() => redeem(other, probe, ble_address));
    t.equal(answer, expected === 'held' ? '409 CONFLICT' : '200', `${ble_address} is ${expected}`);
    if (answer === '200') t.equal(await patient(() => endByRecorder(other, probe)), '200');
    else t.equal(await sayApp('POST', `/device-sessions/${probe.session.id}/end`), '200');
  }

  const STEPS: Record<string, () => Promise<Step>> = {
    async 'host a session'() {
      const known = new Set((await allOf<SessionView>(app(), '/device-sessions')).map(({ id }) => id));
      const expires_at = new Date(Date.parse((await server.operator.advanceClock(0)).now) + HOUR_MS).toISOString();
      const hosted: Hosted[] = [];
      return {
        ask: () =>
          said(
            app()
              .ask<Hosted>('POST', '/device-sessions', { expires_at })
              .then((made) => hosted.push(made)),
          ),
        said: '200',
        async check() {
          const [made] = hosted as [Hosted];
          // Of one that nobody has heard of the claim is lost: it waits, and its host can end it.
          const waiting = (await allOf<SessionView>(app(), '/device-sessions')).filter(({ id }) => !known.has(id));
          t.ok(waiting.some(({ id }) => id === made.session.id) && waiting.length <= 2, `${waiting.length} are listed`);
          const ble_address = freshAddress();
          t.equal(await patient(() => redeem(recorder, made, ble_address)), '200', 'its claim works');
          await agrees(made, { status: 'open', end_reason: null, ble_address });
          for (const { id } of waiting) t.equal(await sayApp('POST', `/device-sessions/${id}/end`), '200');
          t.equal(await endByRecorder(recorder, made), '200');
        },
      };
    },
    async 'redeem a session claim'() {
      const [hosted, ble_address] = [await host(), freshAddress()];
      return {
        ask: () => redeem(recorder, hosted, ble_address),
        said: '200',
        async check() {
          t.equal(await redeem(recorder, hosted, ble_address), '200', 'once more, the same');
          t.equal(await redeem(other, hosted, freshAddress()), '409 CONFLICT', 'the claim is used');
          await agrees(hosted, { status: 'open', end_reason: null, ble_address });
          t.equal(await endByRecorder(recorder, hosted), '200');
        },
      };
    },
    async 'redeem at an address that is taken'() {
      const [holds, hosted, ble_address] = [await host(), await host(), freshAddress()];
      t.equal(await redeem(other, holds, ble_address), '200');
      return {
        ask: () => redeem(recorder, hosted, ble_address),
        said: '409 CONFLICT',
        async check() {
          t.equal(await redeem(recorder, hosted, ble_address), '409 CONFLICT', 'once more, the same');
          t.match(await view(hosted.session.id), { status: 'waiting' });
          t.equal(await binding(recorder), 'DEVICE_UNBOUND');
          t.equal(await endByRecorder(other, holds), '200');
          t.equal(await patient(() => redeem(recorder, hosted, ble_address)), '200', 'once it is free');
          await agrees(hosted, { status: 'open', end_reason: null, ble_address });
          t.equal(await endByRecorder(recorder, hosted), '200');
        },
      };
    },
    async 'redeem while the session before drains'() {
      const ble_address = freshAddress();
      const before = await begun(ble_address);
      t.equal(await sayApp('POST', `/device-sessions/${before.session.id}/end`), '200');
      const hosted = await host();
      return {
        ask: () => redeem(recorder, hosted, ble_address),
        said: '200',
        async check() {
          await agrees(hosted, { status: 'open', end_reason: null, ble_address });
          t.match(await view(before.session.id), { status: 'draining' }, 'the one before still drains');
          t.equal(await endByRecorder(recorder, before), '200');
          await agrees(hosted, { status: 'open', end_reason: null, ble_address });
          t.equal(await endByRecorder(recorder, hosted), '200');
        },
      };
    },
    async 'redeem an owner claim'() {
      const personal = await provision('personal');
      const claim = await app().ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
      return {
        ask: () => redeem(personal, claim, ''),
        said: '200',
        async check() {
          const epoch = await binding(personal);
          t.not(epoch, 'DEVICE_UNBOUND');
          t.equal(await redeem(personal, claim, ''), '200', 'once more, the same');
          t.equal(await binding(personal), epoch);
          const listed = async () => (await allOf<Device>(app(), '/devices')).map(({ id }) => id);
          t.ok((await listed()).includes(personal.device_id));
          t.equal(await sayApp('DELETE', `/devices/${personal.device_id}`), '200');
          t.notOk((await listed()).includes(personal.device_id));
        },
      };
    },
    'end by recorder': () => ending('recorder', 'ended', endByRecorder),
    'end by host': () =>
      ending('host', 'draining', (_, { session }) => sayApp('POST', `/device-sessions/${session.id}/end`)),
    async 'end while it drains'() {
      const ble_address = freshAddress();
      const hosted = await begun(ble_address);
      t.equal(await sayApp('POST', `/device-sessions/${hosted.session.id}/end`), '200');
      return {
        ask: () => endByRecorder(recorder, hosted),
        said: '200',
        check: () => agrees(hosted, { status: 'ended', end_reason: 'host', ble_address }),
      };
    },
    async 'end by the clock'() {
      const [ble_address, expires_in_ms] = [freshAddress(), 20_000];
      const hosted = await begun(ble_address, expires_in_ms);
      return {
        // Answers when all that fell due was handled; what a killed server had in hand is taken up by the next.
        ask: () => said(server.operator.ask('POST', '/ops/clock', { advance_ms: expires_in_ms })),
        said: '200',
        async check() {
          await agrees(hosted, { status: 'draining', end_reason: 'expired', ble_address });
          t.equal(await patient(() => endByRecorder(recorder, hosted)), '200');
        },
      };
    },
    removal: () =>
      ending('device_removed', 'ended', ({ device_id }) => sayApp('DELETE', `/devices/${device_id}`), '404 NOT_FOUND'),
    async 'deletion of the host'() {
      const ble_address = freshAddress();
      const hosted = await begun(ble_address);
      return {
        ask: () => sayApp('DELETE', '/me'),
        said: '200',
        in_effect: '403 ACCOUNT_DELETED',
        async check() {
          t.equal(await binding(recorder), 'ACCOUNT_DELETED');
          t.equal(await redeem(recorder, hosted, ble_address), '403 ACCOUNT_DELETED');
          t.equal(await sayApp('POST', '/me/restore'), '200');
          await agrees(hosted, { status: 'draining', end_reason: 'account_deleted', ble_address });
          t.equal(await patient(() => endByRecorder(recorder, hosted)), '200');
        },
      };
    },
  };
  async function ending(
    end_reason: string,
    status: string,
    ask: (recorder: Recorder, hosted: Hosted) => Promise<Said>,
    in_effect: Said = '200',
  ): Promise<Step> {
    const ble_address = freshAddress();
    const hosted = await begun(ble_address);
    return {
      ask: () => ask(recorder, hosted),
      said: '200',
      in_effect,
      async check() {
        await agrees(hosted, { status, end_reason, ble_address });
        t.equal(await patient(() => endByRecorder(recorder, hosted)), '200', 'a repeated end');
        await agrees(hosted, { status: 'ended', end_reason, ble_address });
      },
    };
  }

  await killWithin(t, server, { steps: STEPS, kinds: KINDS, kills }, async ({ nth, step, answer }, t) => {
    const settled = answer ?? (await patient(step.ask));
    const expected = answer === null ? [step.said, step.in_effect] : [step.said];
    t.ok(expected.includes(settled), `commit ${nth}: ${settled}`);
    await step.check();
  });
}

const ENDED = ['device_session.updated', 'device_session.ended'];

/** Rejects where no answer came. */
function said(work: Promise<unknown>): Promise<Said> {
  return work.then(
    () => '200',
    (error: unknown) => {
      if (error instanceof CallRefused) return `${error.status} ${error.code}`;
      throw error;
    },
  );
}

/** Asks again while it is told to. */
async function patient(ask: () => Promise<Said>): Promise<Said> {
  let answer = '';
  await until(
    'an answer',
    async () => {
      answer = await ask();
      return !answer.startsWith('503');
    },
    SETTLED_MAX_MS,
  );
  return answer;
}
