import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { OperatorClient } from '../../../kits/typescript/src/operator_client.js';
import { PARTITIONS } from '../../../src/domain/ids.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { NO_VERSION } from '../../../src/engine/store/entity_version.js';
import { TestSpool } from '../../fixtures/spool.js';

/** What operators watch; the names are part of what alerts rest on. */
const METRICS = [
  ...[
    'spool_mailbox_depth',
    'spool_mailbox_age_seconds',
    'spool_batch_seconds',
    'spool_commit_seconds',
    'spool_commits_total',
  ],
  ...[
    'spool_commit_conflicts_total',
    'spool_commit_unknown_outcomes_total',
    'spool_activations_total',
    'spool_passivations_total',
  ],
  ...[
    'spool_active_entities',
    'spool_quarantined_entities',
    'spool_reminder_lateness_seconds',
    'spool_outbox_lag_seconds',
    'spool_outbox_waiting',
  ],
  ...[
    'spool_nodejs_eventloop_lag_p99_seconds',
    'spool_http_request_seconds',
    'spool_device_connections',
    'spool_mails_total',
  ],
];

t.test('the operator port', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const url = `http://127.0.0.1:${spool.server.ports.operator}`;
  const get = (path: string) => fetch(url + path);

  const package_json = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(package_json) as { version: string };
  await t.test('K-138 health, readiness and metrics need no token, everything else does', async (t) => {
    t.same(await (await get('/healthz')).json(), { alive: true, version });
    const { storage, ...readiness } = (await (await get('/readyz')).json()) as Record<string, unknown>;
    t.match(storage, /^(ok|slow)$/, 'as a busy machine has it');
    t.same(readiness, {
      ready: true,
      transcription: { by: 'nobody', host: null, hosts: [], languages: null, model: null, tells_speakers: false },
      insights: { by: 'built_in', hosts: [] },
      troubled_processes: [],
    });
    t.match(await (await get('/metrics')).text(), `spool_build_info{version="${version}"} 1`);
    const { process: answering, processes } = await spool.operator.call('GET /ops/overview');
    t.equal(answering.version, version);
    t.match(processes, [{ host: hostname(), pid: process.pid, partitions: PARTITIONS, answers: true }]);
    t.equal(processes.length, 1);
    const stranger = new OperatorClient(url, 'wrong');
    t.teardown(() => stranger.close());
    for (const [method, path] of [
      ['GET', '/ops/actors'],
      ['GET', '/inbox'],
      ['POST', '/ops/devices'],
      ['POST', '/ops/clock'],
    ] as const) {
      t.equal((await get(path)).status === 200, false, path);
      t.equal((await stranger.send(method, path, method === 'POST' ? {} : undefined)).status, 401, path);
    }
  });

  await t.test('K-141 metrics are there by kind, and name nobody', async (t) => {
    const { app, session } = await spool.signIn('metrics@x.test');
    await spool.boundDevice(app);
    const text = await (await get('/metrics')).text();
    for (const name of METRICS) t.ok(text.includes(`# TYPE ${name} `), name);
    t.ok(/spool_batch_seconds_count\{kind="account"\} [1-9]/.test(text));
    t.notOk(text.includes('metrics@x.test'));
    t.notOk(text.includes(session.user.id));
  });

  await t.test('the actor view counts by kind and shows the busiest', async (t) => {
    const view = await spool.operator.ask<{
      kinds: Record<string, { active: number }>;
      busiest: { kind: string }[];
      quarantined: unknown[];
    }>('GET', '/ops/actors?limit=5');
    t.ok((view.kinds.account?.active ?? 0) > 0);
    t.equal(view.busiest.length, 5);
    t.same(view.quarantined, []);
  });

  await t.test('a dead letter is listed and can be handed over again', async (t) => {
    const { app, session } = await spool.signIn('aside@x.test');
    const { store } = spool.server.services;
    const content = encodeStored({
      to: { kind: 'account', id: session.user.id },
      message: { type: 'rename', name: 'Retried' },
    });
    await store.addDeadLetter(7, 'tell:1', content);
    t.match(await spool.operator.ask('GET', '/ops/actors'), { dead_letters: [{ partition: 7, name: 'tell:1' }] });
    const retry = (name: string) => spool.operator.send('POST', '/ops/dead-letters/retry', { partition: 7, name });
    t.equal((await retry('tell:2')).status, 404);
    t.equal((await retry('tell:1')).status, 204);
    t.equal((await retry('tell:1')).status, 404);
    t.match(await app.ask('GET', '/me'), { name: 'Retried' });
  });

  await t.test('a quarantined entity tries again when it is told to', async (t) => {
    const { app, session } = await spool.signIn('parked@x.test');
    const { store, runtime } = spool.server.services;
    const address = { kind: 'account', id: session.user.id };
    const place = runtime.locate(address);
    const [stored] = await store.load([place]);
    const spoil = { place, commit_id: 'ab'.repeat(12), expected: stored ?? NO_VERSION, mode: 'put' as const };
    await store.commit({ ...spoil, snapshot: Buffer.from('spoilt'), now_ms: Date.now(), fences: [], effects: [] });
    runtime.invalidateCache();
    t.equal((await app.send('GET', '/me')).status, 500);
    t.match(await spool.operator.ask('GET', '/ops/actors'), {
      quarantined: [{ kind: 'account', id: session.user.id }],
    });
    const [now] = await store.load([place]);
    const repair = { place, commit_id: 'cd'.repeat(12), expected: now ?? NO_VERSION, mode: 'put' as const };
    await store.commit({
      ...repair,
      snapshot: stored?.snapshot ?? Buffer.alloc(0),
      now_ms: Date.now(),
      fences: [],
      effects: [],
    });
    t.equal(
      (await spool.operator.send('POST', '/ops/quarantined/retry', { kind: 'account', id: 'nobody' })).status,
      404,
    );
    t.equal((await spool.operator.send('POST', '/ops/quarantined/retry', address)).status, 204);
    t.equal((await app.send('GET', '/me')).status, 200);
  });

  await t.test('a device is provisioned with our key or with its own', async (t) => {
    const made = await spool.operator.provision('personal');
    const certificate = new X509Certificate(made.certificate_pem);
    t.match(certificate.subject, made.device_id);
    t.equal((await spool.operator.send('POST', '/ops/devices', { kind: 'drone' })).status, 400);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = join(spool.folder, 'csr.key');
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const csr_pem = execFileSync('openssl', ['req', '-new', '-key', key, '-subj', '/CN=anything/O=other']).toString();
    const own = await spool.operator.ask<{ device_id: string; certificate_pem: string; private_key_pem?: string }>(
      'POST',
      '/ops/devices',
      { kind: 'shared', csr_pem },
    );
    t.notOk(own.private_key_pem);
    t.ok(new X509Certificate(own.certificate_pem).checkPrivateKey(privateKey));
    t.notMatch(new X509Certificate(own.certificate_pem).subject, /anything|other/);
    const bad = await spool.operator.send('POST', '/ops/devices', {
      kind: 'shared',
      csr_pem: csr_pem.replace(/[A-D]/, 'E'),
    });
    t.equal(bad.status, 400);
    t.match(JSON.parse(bad.body.toString()), { error: { details: [{ path: 'csr_pem' }] } });
  });

  await t.test('the clock moves forward only, and only where it may', async (t) => {
    const before = spool.server.services.clock.now();
    const { now } = await spool.operator.advanceClock(3_600_000);
    t.ok(Date.parse(now) - before >= 3_600_000);
    for (const advance_ms of [-1, 1.5, '5', null])
      t.equal((await spool.operator.send('POST', '/ops/clock', { advance_ms })).status, 400);
    const real = await TestSpool.start({ TEST_CLOCK: '0' });
    t.teardown(() => real.end());
    t.equal((await real.operator.send('POST', '/ops/clock', { advance_ms: 1 })).status, 404);
  });
});
