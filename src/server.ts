import { randomBytes, X509Certificate } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { ACTOR_KINDS } from '../actors/index.js';
import { openAuthority } from '../certs/authority.js';
import { ROUTES } from '../routes/index.js';
import { AccountConcurrencyLimiter } from './admission/account_concurrency.js';
import { ConnectionLimiter } from './admission/connection_limiter.js';
import { type DescriptorPlan, descriptorLimit, planDescriptors } from './admission/descriptors.js';
import { DeviceBudgets } from './admission/device_budgets.js';
import { NetworkList } from './admission/network_list.js';
import { OpenConnections } from './admission/open_connections.js';
import { Overload } from './admission/overload.js';
import { RateLimits } from './admission/rate_limits.js';
import { Stalls } from './admission/stalls.js';
import type { BlobStore } from './blobs/blob_store.js';
import { openFolderBlobStore } from './blobs/folder_blob_store.js';
import { Clock } from './clock.js';
import { DeviceActivity } from './devices/activity.js';
import { DeviceConnections, REVOKED_CHANNEL } from './devices/connections.js';
import { openDeviceListener } from './devices/listener.js';
import { DeviceProxies } from './devices/proxies.js';
import { LIMITS } from './domain/limits.js';
import { mount } from './http/listener.js';
import type { ListenerKind } from './http/request_state.js';
import { LISTENER_OPTIONS, SERVER_OPTIONS } from './http/server_options.js';
import { createMailSender } from './mail/mail_sender.js';
import { outboxFolder } from './mail/outbox_folder.js';
import { createOutboxMailer } from './mail/outbox_mailer.js';
import { createSmtpMailer } from './mail/smtp_mailer.js';
import { Clients } from './oauth/clients/clients.js';
import {
  type FirstPartyClient,
  openFirstPartyClients,
  WrongFirstPartyClients,
} from './oauth/clients/first_party_clients.js';
import { RegisteredClients } from './oauth/clients/registered_clients.js';
import { issuerUrl } from './oauth/issuer.js';
import { holdDataFolder } from './process/data_folder.js';
import { askRedis, checkRedis } from './process/redis_checks.js';
import { rewriteAppendOnlyFile } from './process/redis_rewrite.js';
import { startRedis } from './process/redis_server.js';
import { makeMetrics } from './runtime/metrics.js';
import { Runtime } from './runtime/runtime.js';
import { AccessTokens } from './secrets/access_tokens.js';
import { SERVER_KEYS_CHANNEL, ServerKeyRotation } from './secrets/server_key_rotation.js';
import { openServerKeys, type ServerKeys } from './secrets/server_keys.js';
import { SigningKeys } from './secrets/signing_keys.js';
import type { Services } from './services.js';
import { publicAddresses, type Settings } from './settings.js';
import { ImmutableRecordsRedis } from './store/immutable_records.js';
import { IssuedCertificates } from './store/issued_certificates.js';
import { loadLibrary, nodesOf, openRedis } from './store/redis_connection.js';
import { type RedisLocation, readRedisLocation } from './store/redis_location.js';
import { RedisStore } from './store/redis_store.js';
import { StorageHealth } from './store/storage_health.js';
import { storageTrouble } from './store/storage_trouble.js';
import { SweepTurns } from './store/sweep_turns.js';
import { openTracing } from './tracing/open_tracing.js';
import { turnWatch } from './tracing/turn_watch.js';
import { Watch } from './watch/watch.js';
import { Poster } from './webhooks/poster.js';
import { AudioSweep } from './workers/audio_sweep.js';
import { ChunkProcessing } from './workers/chunk_processing.js';
import { DeliveryWorker } from './workers/deliveries.js';
import { ErasureWorker } from './workers/erasures.js';
import { EventRetention } from './workers/event_retention.js';
import { MailWorker } from './workers/mail_worker.js';
import { OutboxRelay } from './workers/outbox_relay.js';
import { ReminderWorker } from './workers/reminder_worker.js';

const DRAIN_MAX_MS = 10_000;
/** A fleet that comes back at once waits in the kernel while the thread is busy; node's 511 would lose some of it. */
const LISTEN_BACKLOG = 4_096;
const DUE_ROUNDS_MAX = 1_000;
const KEYS_KEY = 'spool:keys_fingerprint';

const LISTENERS: Record<ListenerKind['listener'], ListenerKind> = {
  public: { listener: 'public', cbor: false, body_bytes_max: LIMITS.json_body_bytes_max },
  device: { listener: 'device', cbor: true, body_bytes_max: LIMITS.device_body_bytes_max },
  operator: { listener: 'operator', cbor: false, body_bytes_max: LIMITS.json_body_bytes_max },
};

/** A server that serves. Ports are those it ended up with. */
export type Server = {
  services: Services;
  base_url: string;
  ports: { public: number; device: number; operator: number };
  redis: { adopted: boolean; pid: number } | null;
  /** Takes no more requests, answers those under way, and stops everything; Redis last. May be called twice. */
  close(): Promise<void>;
};

/** The start can't go on as configured; the message says what to do. */
export class CannotStart extends Error {
  override name = 'CannotStart';
}

/** Starts everything. What was started is stopped again when a later step fails. */
export async function startServer(settings: Settings, log: Logger): Promise<Server> {
  const stops: (() => Promise<unknown> | unknown)[] = [];
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= (async () => {
      for (const stop of stops.reverse()) {
        try {
          await stop();
        } catch (error) {
          log.warn({ err: error }, 'stopping went wrong');
        }
      }
    })();
    return closing;
  };
  try {
    return { ...(await startParts(settings, log, stops)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startParts(settings: Settings, log: Logger, stops: (() => unknown)[]): Promise<Omit<Server, 'close'>> {
  const descriptors = shareDescriptors(settings, log);
  const { place, child } = await redisPlace(settings, log, stops);
  const redis = openRedis(place);
  redis.on('error', (error: Error) => log.warn({ reason: error.message }, 'redis connection'));
  redis.on('node error', (error: Error, node: string) =>
    log.warn({ reason: error.message, node }, 'connection to a node of the Redis cluster'),
  );
  stops.push(() => redis.disconnect());
  await ofStorage(redis.connect());
  if (settings.redis_url !== null) await ofStorage(checkForeignRedis(redis, settings, log));
  await ofStorage(loadLibrary(redis));

  const keys = await openServerKeys(settings.keys_dir);
  await ofStorage(claimRedis(redis, keys));
  const clock = new Clock(redis, { movable: settings.test_clock, log });
  await ofStorage(clock.start());
  stops.push(() => clock.stop());

  const tracing = await openTracing(settings);
  stops.push(() => tracing?.close());
  const metrics = makeMetrics();
  const store = new RedisStore(redis, () => randomBytes(6).toString('base64url'));
  const trust_memory = settings.redis_url === null;
  const onTurn = turnWatch(log, tracing);
  const runtime = new Runtime({
    ...{ store, metrics, log, now: clock.now, certain: clock.certain },
    ...{ trust_memory, onTurn, kinds: ACTOR_KINDS },
  });
  stops.push(() => runtime.shutdown(DRAIN_MAX_MS));
  redis.on('ready', () => {
    // Whatever happened meanwhile: memory is held against storage before it is believed again.
    runtime.invalidateCache();
    void loadLibrary(redis).catch((error: Error) => log.warn({ reason: error.message }, 'redis library'));
  });

  const written_once = new ImmutableRecordsRedis(place, () => runtime.cacheEpoch);
  await ofStorage(written_once.open());
  stops.push(() => written_once.close());
  const certificates = new IssuedCertificates(written_once);
  const first_party = await firstPartyClients(settings, keys, log);
  const registered = new RegisteredClients(written_once);
  const authority = await openAuthority(join(settings.data_dir, 'certs'), clock.now());
  const blobs = await openBlobs(settings, { log, open_files_max: descriptors.segments });
  stops.push(() => blobs.close());
  const mail = createMailSender({
    mailer:
      settings.smtp_url === null
        ? createOutboxMailer({ dir: outboxFolder(settings), mail_from: settings.mail_from, nowMs: clock.now })
        : createSmtpMailer({ smtp_url: settings.smtp_url, mail_from: settings.mail_from }),
  });
  stops.push(() => mail.close());

  const relay = new OutboxRelay({ store, runtime, metrics, log });
  const reminders = new ReminderWorker({ store, runtime, metrics, log, now: clock.now });
  const mails = new MailWorker({ store, mail, keys, metrics, now: clock.now });
  const rewriteDisk = async (stopped: () => boolean) => {
    for (const node of nodesOf(redis)) if (!(await rewriteAppendOnlyFile(node, { log, stopped }))) return false;
    return true;
  };
  const erasures = new ErasureWorker({ store, runtime, blobs, metrics, log, now: clock.now, rewriteDisk });
  const poster = new Poster({
    block_private: settings.webhook_block_private,
    extra_ca: settings.webhook_ca_file === null ? null : await trustedCertificates(settings.webhook_ca_file),
    proxy: settings.webhook_proxy,
  });
  stops.push(() => poster.close());
  if (settings.webhook_proxy !== null && settings.webhook_block_private)
    log.warn('webhooks go through a proxy: private addresses are for the proxy to refuse');
  const deliveries = new DeliveryWorker({ store, runtime, poster, keys, metrics, log, tracing, now: clock.now });
  store.onDeliveries = (endpoint_ids) => deliveries.wake(endpoint_ids);
  const event_retention = new EventRetention({ store, metrics, log, certain: clock.certain });
  const turns = new SweepTurns(redis);
  const audio_sweep = new AudioSweep({ turns, runtime, blobs, metrics, log, now: clock.now });
  const is_worker = settings.chunk_worker;
  const processing = new ChunkProcessing({ store, runtime, blobs, metrics, log, now: clock.now, is_worker });
  for (const worker of [mails, reminders, relay, erasures, event_retention, audio_sweep, processing, deliveries]) {
    worker.start();
    stops.push(() => worker.stop());
  }

  const connections = new DeviceConnections(redis);
  const announce = () => redis.publish(SERVER_KEYS_CHANNEL, '');
  const server_key_rotation = new ServerKeyRotation({ folder: settings.keys_dir, keys, now: clock.now, announce, log });
  server_key_rotation.start();
  stops.push(() => server_key_rotation.stop());
  await ofStorage(
    hearOfOthers(place, {
      ...{ log, stops },
      channels: {
        [REVOKED_CHANNEL]: (text) => connections.heard(text),
        [SERVER_KEYS_CHANNEL]: () => keys.reread(),
      },
    }),
  );
  const overload = new Overload(
    { delay_ms: settings.overload_delay_ms, memory_mb: settings.overload_memory_mb },
    metrics,
  );
  overload.start();
  stops.push(() => overload.stop());

  const storage_health = new StorageHealth(redis, { now: clock.unmoved, metrics });
  storage_health.start();
  stops.push(() => storage_health.stop());
  const device_activity = new DeviceActivity(clock.now);
  const watch = new Watch({
    metrics,
    runtime,
    store,
    redis,
    storage_health,
    clock,
    overload,
    deliveries,
    mail,
    device_activity,
    data_dir: settings.data_dir,
  });
  watch.start();
  stops.push(() => watch.stop());

  let public_port = settings.port;
  const signing_keys = new SigningKeys({ runtime, keys, now: clock.now });
  const services: Services = {
    settings,
    addresses: () => publicAddresses(settings, public_port),
    ops_token: settings.ops_token ?? (await ownOpsToken(settings)),
    operator_tries: new RateLimits(
      {
        operator_sign_ins: LIMITS.operator_sign_ins_per_minute,
        operator_tokens: settings.rate_limits ? LIMITS.operator_tokens_wrong_per_minute : Number.POSITIVE_INFINITY,
      },
      { on: true },
    ),
    log,
    metrics,
    clock,
    keys,
    signing_keys,
    server_key_rotation,
    access_tokens: new AccessTokens({
      signing_keys,
      now: clock.now,
      issuerUrl: (issuer) => issuerUrl(services, issuer),
    }),
    store,
    runtime,
    blobs,
    mail,
    mails,
    erasures,
    deliveries,
    processing,
    rates: new RateLimits(
      {
        sign_ins_begun: settings.rate_sign_ins_begun,
        codes_sent: settings.rate_codes_sent,
        codes_checked: settings.rate_codes_checked,
        native_steps: settings.rate_native_steps,
        registrations: settings.rate_registrations,
        claims: settings.rate_claims,
      },
      { on: settings.rate_limits },
    ),
    account_concurrency: new AccountConcurrencyLimiter(metrics),
    authority,
    certificates,
    clients: new Clients({ first_party, registered, runtime, keys, clock }),
    connections,
    device_activity,
    device_budgets: new DeviceBudgets(settings.rate_device_requests, { on: settings.rate_limits }),
    device_proxies: new DeviceProxies(settings.device_proxies, authority.issuers),
    overload,
    tracing,
    watch,
    storage_health,
    async handleDue() {
      await server_key_rotation.look();
      for (let round = 0; round < DUE_ROUNDS_MAX; round++) {
        const fired = await reminders.look();
        await relay.drain();
        await mails.look();
        const posted = await deliveries.handleDue();
        await erasures.look();
        await event_retention.look();
        if (fired === 0 && posted === 0) break;
      }
      await audio_sweep.look();
      await processing.look();
    },
  };
  const ports = await listen(services, { descriptors, stops }, (port) => {
    public_port = port;
  });
  return { services, base_url: services.addresses().base_url, ports, redis: child };
}

/** What a person can set right about Redis stops the start in words; anything else is a bug and shows its stack. */
async function ofStorage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const trouble = storageTrouble(error);
    throw trouble === null ? error : new CannotStart(`The server can't start: ${trouble}`);
  }
}

/** What each part may have open; a start that asks for more than the process may have says so. */
function shareDescriptors(settings: Settings, log: Logger): DescriptorPlan {
  const limit = descriptorLimit();
  const { connections_max, device_connections_max } = settings;
  const asked = { public_connections: connections_max, device_connections: device_connections_max };
  const plan = planDescriptors(limit, asked);
  if (typeof plan === 'string') throw new CannotStart(plan);
  const { public_connections, device_connections } = plan;
  if (plan.is_low) {
    const few = 'few files may be open (ulimit -n): fewer connections than usual are let in';
    log.warn({ open_files: limit, public_connections, device_connections }, few);
  }
  return plan;
}

/** Our own Redis as a child, under the lock of DATA_DIR; or the one that somebody named. */
async function redisPlace(
  settings: Settings,
  log: Logger,
  stops: (() => unknown)[],
): Promise<{ place: RedisLocation; child: Server['redis'] }> {
  const place = settings.redis_url === null ? null : readRedisLocation(settings.redis_url);
  if (place !== null) return { place, child: null };
  const held = await holdDataFolder(settings.data_dir);
  stops.push(() => held.release());
  const child = await startRedis({
    data_dir: settings.data_dir,
    log: (line) => console.log(line),
    onExit: ({ pid }) => log.error({ pid }, 'redis-server ended unexpectedly; it is started again'),
  });
  stops.push(() => child.stop());
  return { place: { socket_path: child.socket_path }, child };
}

async function checkForeignRedis(redis: Redis, settings: Settings, log: Logger): Promise<void> {
  const nodes = nodesOf(redis);
  const short: string[] = [];
  for (const node of nodes) {
    const of_node = checkRedis(await askRedis(node as unknown as Parameters<typeof askRedis>[0]));
    const name = nodes.length > 1 ? `${node.options.host}:${node.options.port}: ` : '';
    short.push(...of_node.map((line) => `${name}${line}`));
  }
  if (short.length === 0) return;
  const text = `The Redis at REDIS_URL falls short:\n${short.map((line) => `  ${line}`).join('\n')}`;
  if (!settings.redis_accept_weaker)
    throw new CannotStart(`${text}\nChange it, or set REDIS_ACCEPT_WEAKER=1 to go on all the same.`);
  log.warn({ short }, 'this Redis is weaker than it should be');
}

/** Where audio lies. What speaks S3 is loaded only where it is used: it costs a tenth of a second and 25 MB. */
async function openBlobs(
  { blob_url, data_dir }: Settings,
  { log, open_files_max }: { log: Logger; open_files_max: number },
): Promise<BlobStore> {
  if (blob_url === null) {
    const warn = (details: Record<string, unknown>, text: string) => log.warn(details, text);
    return openFolderBlobStore(join(data_dir, 'blobs'), { warn, open_files_max });
  }
  const { openS3BlobStore, UnusableBucket } = await import('./blobs/s3_blob_store.js');
  return openS3BlobStore(blob_url, { warn: (text) => log.warn(text) }).catch((error: unknown) => {
    throw error instanceof UnusableBucket ? new CannotStart(error.message) : error;
  });
}

/** Processes on one Redis must share their server keys: with others, every token and seal would be void. */
async function claimRedis(redis: Redis, keys: ServerKeys): Promise<void> {
  await redis.setnx(KEYS_KEY, keys.fingerprint());
  if ((await redis.get(KEYS_KEY)) === keys.fingerprint()) return;
  throw new CannotStart(
    'This Redis holds data under other server keys. Set KEYS_DIR to the folder of those keys, or use another Redis.',
  );
}

/** A connection that listens can do nothing else. What is said while it is away, nothing rests on. */
async function hearOfOthers(
  place: RedisLocation,
  { channels, log, stops }: { channels: Record<string, (text: string) => void>; log: Logger; stops: (() => unknown)[] },
): Promise<void> {
  const redis = openRedis(place);
  redis.on('error', (error: Error) => log.warn({ reason: error.message }, 'redis connection that listens'));
  redis.on('message', (channel: string, text: string) => channels[channel]?.(text));
  stops.push(() => redis.disconnect());
  await redis.connect();
  const names = Object.keys(channels);
  await redis.subscribe(...names);
  redis.on('ready', () => {
    // Broken off, it is done again with the next connection.
    redis.subscribe(...names).catch((error: Error) => log.warn({ reason: error.message }, 'redis subscription'));
  });
}

/** The clients of the operator's file; what is wrong with it stops the start. */
async function firstPartyClients(settings: Settings, keys: ServerKeys, log: Logger): Promise<FirstPartyClient[]> {
  const found = await openFirstPartyClients(settings, keys).catch((error: unknown) => {
    throw error instanceof WrongFirstPartyClients ? new CannotStart(error.message) : error;
  });
  const nowhere = found.filter(({ client: { native, redirect_uris } }) => !native && redirect_uris.length === 0);
  if (nowhere.length > 0) {
    const clients = nowhere.map(({ client }) => client.client_id);
    log.warn({ file: settings.first_party_clients, clients }, 'nobody can sign in to these without redirect URIs');
  }
  return found;
}

/** PEM of certificates that webhooks trust beside the usual ones; a file that has none stops the start. */
async function trustedCertificates(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CannotStart(`WEBHOOK_CA_FILE can't be read: ${error.message}`);
  });
  const begun = text.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0;
  const whole = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (begun === 0 || whole.length < begun) throw new CannotStart('WEBHOOK_CA_FILE must hold certificates as PEM.');
  for (const [index, pem] of whole.entries()) {
    try {
      new X509Certificate(pem);
    } catch {
      // What reads the file later would leave it out, and all that follow it.
      throw new CannotStart(`WEBHOOK_CA_FILE must hold certificates as PEM; number ${index + 1} is none.`);
    }
  }
  return text;
}

/** The operator token of this data folder, made on first start; the first process wins. */
async function ownOpsToken({ data_dir }: Settings): Promise<string> {
  const file = join(data_dir, 'ops_token');
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return (await readFile(file, 'utf8')).trim();
}

async function listen(
  services: Services,
  { descriptors, stops }: { descriptors: DescriptorPlan; stops: (() => unknown)[] },
  onPublicPort: (port: number) => void,
): Promise<Server['ports']> {
  const { log, metrics, settings } = services;
  const common = { ...LISTENER_OPTIONS, return503OnClosing: false };
  const open = fastify({
    ...common,
    trustProxy: settings.trusted_proxies.length > 0 ? [...settings.trusted_proxies] : false,
    http: SERVER_OPTIONS,
  });
  // An operator's command may take longer than anything a client is answered.
  const operator = fastify({ ...common, connectionTimeout: 0, http: SERVER_OPTIONS });
  const device_options = { ...common, https: SERVER_OPTIONS };
  const devices = await openDeviceListener(services, device_options, {
    connections_max: descriptors.device_connections,
    stops,
  });
  const proxies = new NetworkList(settings.trusted_proxies);
  const limit = (
    app: FastifyInstance,
    listener: 'public' | 'operator',
    { all, per_network }: { all: number; per_network: number },
  ) =>
    new ConnectionLimiter(
      { connections_max: all, connections_per_network_max: per_network },
      {
        is_exempt: (address) => listener === 'public' && proxies.has(address),
        refused: (cause) => metrics.overload_refusals.inc({ listener, cause }),
      },
    ).guard(app.server);
  const { rate_limits, connections_per_network } = settings;
  const unlimited = Number.POSITIVE_INFINITY;
  limit(open, 'public', {
    all: descriptors.public_connections,
    per_network: rate_limits ? connections_per_network : unlimited,
  });
  limit(operator, 'operator', { all: descriptors.operator_connections, per_network: unlimited });
  mount(open, services, LISTENERS.public, ROUTES.public);
  mount(devices, services, LISTENERS.device, ROUTES.device);
  mount(operator, services, LISTENERS.operator, ROUTES.operator);

  const open_listeners: (() => Promise<void>)[] = [];
  // Before any request is read: addresses are made with it.
  open.server.once('listening', () => onPublicPort((open.server.address() as AddressInfo).port));
  const stalls = new Stalls(services);
  stalls.start();
  stops.push(() => stalls.stop());
  const start = async (
    app: FastifyInstance,
    { listener, host, port, name }: { listener: ListenerKind['listener']; host: string; port: number; name: string },
  ) => {
    stalls.guard(app.server, listener);
    app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
    // Such as no descriptor being left for a connection: the next one may have one.
    app.server.on('error', (error) => log.error({ reason: error.message }, 'a connection could not be accepted'));
    const connections = new OpenConnections(app.server, (count) => metrics.connections.set({ listener }, count));
    open_listeners.push(() => closeWithin(app, connections, DRAIN_MAX_MS));
    // For the name Fastify would open a second server, on ::1, that nothing of ours guards.
    const at = host === 'localhost' ? '127.0.0.1' : host;
    await app.listen({ host: at, port, backlog: LISTEN_BACKLOG }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new CannotStart(`Port ${port} is in use. Set ${name} to another, or to 0 for any free one.`);
      throw error;
    });
    return (app.server.address() as AddressInfo).port;
  };
  // Side by side: what stands still on each takes no longer than on one.
  stops.push(() => Promise.all(open_listeners.map((close) => close())));
  const { host, port, device_host, device_port, ops_host, ops_port } = settings;
  return {
    operator: await start(operator, { listener: 'operator', host: ops_host, port: ops_port, name: 'OPS_PORT' }),
    device: await start(devices, { listener: 'device', host: device_host, port: device_port, name: 'DEVICE_PORT' }),
    public: await start(open, { listener: 'public', host, port, name: 'PORT' }),
  };
}

/** Answers what is under way, then closes what is left when the time is up. */
async function closeWithin(app: FastifyInstance, connections: OpenConnections, ms: number): Promise<void> {
  const late = setTimeout(() => connections.closeAll(), ms);
  // A connection that is kept falls idle with its last answer, after the listener has closed.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 20);
  connections.closeSilent();
  await app.close();
  clearTimeout(late);
  clearInterval(sweep);
}
