import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { Test } from 'tap';
import type { StreamMessage } from '../../actors/recordings/stream.js';
import { partitionOfId, privateWorkspaceId } from '../../src/domain/ids.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { randomId } from '../../src/engine/random/random.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

/** `streams`: of the account that is being erased; without any, none is. `stopped_s`: how long one stands still. */
type Size = {
  processes: number;
  streams: number;
  stopped_s: number;
  reminders: number;
  /** How long webhooks and mails, and an erasure, may take until others have them. */
  taken_over_ms: number;
  erasure_taken_over_ms: number;
};

scenario<Size>({
  title: 'F-041 D-037 faults 1: what a killed process had in hand others take over',
  smoke: {
    processes: 2,
    streams: 0,
    stopped_s: 0,
    reminders: 0,
    taken_over_ms: Infinity,
    erasure_taken_over_ms: Infinity,
  },
  full: {
    processes: 3,
    streams: 1_500,
    stopped_s: 8,
    reminders: 300,
    taken_over_ms: 10_000,
    erasure_taken_over_ms: 30_000,
  },
  run: takeover,
});

const DEADLINE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
const AT_ONCE = 32;
const TRIES_MAX = 10;
/** How often each reminder may be tried while all processes agree who looks where. */
const TRIES_EACH_MAX = 1.1;

/** Kills a process that has a webhook, a mail and an erasure in hand, and says how long it takes until others have them. */
async function takeover(t: Test, size: Size): Promise<void> {
  const { processes, streams, stopped_s, reminders } = size;
  const servers = await Servers.open(t, { count: 0, storage: 'beside', receives: true });
  const smtp = await SilentSmtp.open(t);
  const erased = streams > 0 ? await toBeErased(servers, streams) : null;
  const env = { SMTP_URL: smtp.url, MAIL_FROM: 'no-reply@x.test' };
  const running = await Promise.all(Array.from({ length: processes }, () => servers.add({ env })));
  for (const server of running) await until('all know each other', async () => (await known(server)) === processes);
  const [first] = running as [SpoolProcess];

  if (reminders > 0) await remindsOnce(t, servers, { running, reminders });
  // The clock has moved before anybody signs in: tokens would not outlive that.
  const advanced = erased === null ? null : first.operator().advanceClock(7 * DAY_MS);
  advanced?.catch(() => {}); // the process that answers may be the one that is killed
  const victim = erased === null ? first : await erasingOne(running);
  const others = running.filter((server) => server !== victim);
  const [other] = others as [SpoolProcess];
  const app = await smtp.signIn(victim, 'hook@x.test');
  const hung = await hangingDelivery(servers, { app, victim });
  await smtp.silence(victim, 'late@x.test');
  if (erased !== null) t.ok(await isErasing(victim), 'the erasure is still in hand');

  const killed = performance.now();
  const since = () => performance.now() - killed;
  await victim.kill();
  const [webhook_ms, mail_ms, erasure_ms] = await Promise.all([
    servers.receiver.count(hung.path, 2, DEADLINE_MS).then(since),
    until('the mail is sent', () => smtp.arrived('late@x.test') === 2, DEADLINE_MS).then(since),
    erased === null ? null : erasingOne(others, DEADLINE_MS).then(since),
  ]);
  const erasure = erasure_ms === null ? '' : `, the erasure ${seconds(erasure_ms)}`;
  t.comment(`after the kill: the webhook ${seconds(webhook_ms)}, the mail ${seconds(mail_ms)}${erasure}`);
  t.ok(webhook_ms < size.taken_over_ms, `webhook: ${seconds(webhook_ms)}`);
  t.ok(mail_ms < size.taken_over_ms, `mail: ${seconds(mail_ms)}`);
  if (erasure_ms !== null) t.ok(erasure_ms < size.erasure_taken_over_ms, `erasure: ${seconds(erasure_ms)}`);
  const there = other.client(app.access_token);
  hung.endpoint.app = there;
  await until('it is delivered', async () => (await hung.endpoint.newest()).status === 'succeeded');
  const { attempts } = await hung.endpoint.newest();
  t.same(
    attempts.map(({ error, status_code }) => error ?? status_code),
    ['interrupted', 204],
  );
  if (stopped_s > 0 && others.length > 1) await standsStill(t, servers, { others, app: there, stopped_s });
  there.close();
  app.close();
}

/** A process that stands still loses its partitions, and nothing that it has in hand. */
async function standsStill(
  t: Test,
  servers: Servers,
  { others, app, stopped_s }: { others: SpoolProcess[]; app: AppClient; stopped_s: number },
): Promise<void> {
  const [one, two] = others as [SpoolProcess, SpoolProcess];
  const hung = await hangingDelivery(servers, { app: one.client(app.access_token), victim: one });
  one.signal('SIGSTOP');
  const stopped = performance.now();
  await until('it is no member', async () => (await known(two)) === 1, 15_000);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, stopped_s * 1_000 - (performance.now() - stopped))));
  t.equal(servers.receiver.at(hung.path).length, 1, `nothing was posted twice in ${stopped_s} s`);
  hung.response.writeHead(204).end();
  hung.endpoint.app = two.client(app.access_token);
  one.signal('SIGCONT');
  await until('it counts', async () => (await hung.endpoint.newest()).status === 'succeeded');
  t.equal((await hung.endpoint.newest()).attempts.length, 1);
  await until('they are members again', async () => (await known(two)) === others.length);
}

/** Reminders that fall due are tried by whoever looks there first, and hardly ever by anybody else. */
async function remindsOnce(
  t: Test,
  servers: Servers,
  { running, reminders }: { running: SpoolProcess[]; reminders: number },
): Promise<void> {
  const tries = async () => {
    const counts = await Promise.all(running.map((server) => server.metric('spool_reminder_lateness_seconds_count')));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const app = running[0]?.client() as AppClient;
  const begun = await Promise.all(
    Array.from({ length: reminders }, (_, nth) => app.send('POST', '/auth/otp', { body: { email: `r${nth}@x.test` } })),
  );
  t.ok(
    begun.every(({ status }) => status < 300),
    `${[...new Set(begun.map(({ status }) => status))]}`,
  );
  app.close();
  const before = await tries();
  // Nobody is asked to look: each finds what is due by itself.
  const redis = await servers.redis.connect();
  await redis.incrby('spool:clock_offset_ms', DAY_MS);
  await until('all have fired', async () => (await tries()) - before >= reminders, 30_000);
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  const each = ((await tries()) - before) / reminders;
  t.comment(`${reminders} reminders, ${running.length} processes: ${each.toFixed(3)} tries each`);
  t.ok(each <= TRIES_EACH_MAX, `${each} tries each`);
}

/** A request to a receiver that does not answer, posted by a process that is named. */
async function hangingDelivery(
  servers: Servers,
  { app, victim }: { app: AppClient; victim: SpoolProcess },
): Promise<{ endpoint: TestEndpoint; path: string; response: ServerResponse }> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const path = `/hang${servers.receiver.arrived.length}-${tries}`;
    const hung: ServerResponse[] = [];
    servers.receiver.on(path, (nth, _request, response) => {
      if (nth === 1) hung.push(response);
      else response.writeHead(204).end();
    });
    const endpoint = await TestEndpoint.open(app, servers.receiver.url(path));
    await app.ask('PATCH', '/me', { name: `Hanging ${path}` });
    await servers.receiver.count(path, 1);
    const [response] = hung as [ServerResponse];
    if ((await victim.metric('spool_deliveries_in_flight')) === 1) return { endpoint, path, response };
    // Another process was faster.
    response.writeHead(204).end();
    await endpoint.remove();
  }
  throw new Error('another process always was faster');
}

async function known(server: SpoolProcess): Promise<number> {
  return (await server.operator().call('GET /ops/overview')).processes.length;
}

async function isErasing(server: SpoolProcess): Promise<boolean> {
  const { items } = await server.operator().call('GET /ops/erasures');
  return items.some(({ in_hand }) => in_hand);
}

async function erasingOne(among: SpoolProcess[], deadline_ms = 30_000): Promise<SpoolProcess> {
  let found: SpoolProcess | undefined;
  await until(
    'a process erases',
    async () => {
      for (const server of among) if (found === undefined && (await isErasing(server))) found = server;
      return found !== undefined;
    },
    deadline_ms,
  );
  return found as SpoolProcess;
}

/** An account with streams that was deleted. */
async function toBeErased(servers: Servers, streams: number): Promise<string> {
  const spool = await TestSpool.start({ DATA_DIR: servers.folder, REDIS_URL: servers.redis.url });
  try {
    const { app, session } = await spool.signIn('gone@x.test');
    const account_id = session.user.id;
    const drawn = () => randomId({ partition: partitionOfId(account_id), now_ms: Date.now() });
    let made = 0;
    const fillOn = async () => {
      while (made < streams) {
        made += 1;
        const registered: StreamMessage = {
          ...{ type: 'register', account_id, workspace_id: privateWorkspaceId(account_id, 1), source_id: drawn() },
          ...{ recorder: null, captured_at: new Date().toISOString(), title: null, end_ms: null, silent: false },
        };
        const answer = await spool.server.services.runtime.ask({ kind: 'stream', id: drawn() }, registered);
        if (isRefusal(answer)) throw new Error(answer.message);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, fillOn));
    await app.ask('DELETE', '/me');
    return account_id;
  } finally {
    await spool.close();
  }
}

/** A mail server that does not take the first mail to an address for which that is wanted. */
class SilentSmtp {
  readonly #arrived: { to: string; text: string }[] = [];
  readonly #silent = new Set<string>();
  url = '';

  static async open(t: Test): Promise<SilentSmtp> {
    const smtp = new SilentSmtp();
    const server = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ['STARTTLS'], logger: false, closeTimeout: 1 },
      onData(stream, { envelope }, callback) {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          const [to = ''] = envelope.rcptTo.map(({ address }) => address);
          smtp.#arrived.push({ to, text: Buffer.concat(parts).toString() });
          if (!smtp.#silent.delete(to)) callback();
        });
      },
    });
    server.on('error', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
    smtp.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
    return smtp;
  }

  arrived(address: string): number {
    return this.#arrived.filter(({ to }) => to === address).length;
  }

  async signIn(server: SpoolProcess, email: string): Promise<AppClient> {
    const app = server.client();
    await app.signIn(email, async () => {
      await until('the code is there', () => this.arrived(email) > 0);
      const text = this.#arrived.find(({ to }) => to === email)?.text ?? '';
      return /^(\d{6})\r?$/m.exec(text)?.[1] ?? '';
    });
    return app;
  }

  /** Has a process send a code to an address, and leaves it without an answer. */
  async silence(server: SpoolProcess, email: string): Promise<void> {
    this.#silent.add(email);
    const app = server.client();
    void app.send('POST', '/auth/otp', { body: { email } }).catch(() => {}); // it waits for the mail, and is killed
    await until('the mail server has it', () => this.arrived(email) === 1);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
