import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import type { CallRefused } from '../../../kits/typescript/src/call.js';
import {
  type BindingView,
  type DeviceClient,
  type IntentView,
  sha256Of,
} from '../../../kits/typescript/src/device_client.js';
import { TestAccount } from '../../fixtures/account.js';
import { record } from '../../fixtures/recording.js';
import { type SessionView, TestSpool } from '../../fixtures/spool.js';

const HOUR_MS = 3_600_000;
const AT_ONCE = 8;

/** Somebody who knows the interface, has an account and a recorder, and would like to have what is not theirs. */
t.test('recorders, sessions and streams under attack', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const [ann, eve] = await Promise.all([TestAccount.open(spool, 'ann@x.test'), TestAccount.open(spool, 'eve@x.test')]);
  const inMs = (ms: number) => new Date(spool.server.services.clock.now() + ms).toISOString();
  const address = () => randomBytes(6).toString('hex').toUpperCase();
  const host = (who: TestAccount, ms = HOUR_MS) =>
    who.ask<{ session: SessionView; claim: string }>('POST', '/device-sessions', { expires_at: inMs(ms) });
  const says = (work: Promise<unknown>) =>
    work.then(
      () => '200',
      ({ status, code }: CallRefused) => `${status} ${code}`,
    );
  const redeem = (device: DeviceClient, claim: string, ble_address = address()) =>
    says(device.ask('POST', '/device/claims/redeem', { claim, ble_address }));

  await t.test('G-019 H-033 ids of others, and ids of other kinds, are unknown everywhere', async (t) => {
    const open = await spool.hostSession(ann.app);
    const { device, epoch } = await spool.boundDevice(ann.app);
    const mine = await record(device, { epoch });
    const { items } = await ann.ask<{ items: { id: string; source_id: string }[] }>('GET', '/audio/streams');
    const [stream] = items as [{ id: string; source_id: string }];
    const ids = {
      session: open.epoch,
      binding: epoch,
      device: open.device_id,
      stream: stream.id,
      chunk: mine.chunk_id,
      source: stream.source_id,
      account: ann.id,
      nothing: randomUUID(),
    };
    const routes: [kind: string, method: string, path: string, body?: unknown][] = [
      ['session', 'GET', '/device-sessions/:id'],
      ['session', 'POST', '/device-sessions/:id/join', { join_code: '22222222' }],
      ['session', 'POST', '/device-sessions/:id/leave'],
      ['session', 'POST', '/device-sessions/:id/extend', { expires_at: inMs(2 * HOUR_MS) }],
      ['session', 'POST', '/device-sessions/:id/end'],
      ['device', 'DELETE', '/devices/:id'],
      ['stream', 'GET', '/audio/streams/:id'],
      ['stream', 'PATCH', '/audio/streams/:id', { title: 'mine' }],
      ['stream', 'POST', '/audio/streams/:id/end', { end_ms: 9_999 }],
      ['stream', 'GET', '/audio/streams/:id/chunks'],
      ['stream', 'GET', '/audio/streams/:id/content'],
      ['stream', 'GET', '/audio/streams/:id/signals'],
      ['stream', 'POST', '/audio/streams/:id/signals', { signals: [{ ref: 'a', type: 'a', start_ms: 0 }] }],
      ['chunk', 'GET', '/audio/chunks/:id/content'],
      ['source', 'GET', '/sources/:id'],
      ['source', 'PATCH', '/sources/:id', { name: 'mine' }],
      ['source', 'DELETE', '/sources/:id'],
    ];
    for (const [of, method, path, body] of routes) {
      for (const [kind, id] of Object.entries(ids)) {
        const all = kind === of ? [eve] : [eve, ann];
        for (const who of all)
          t.equal(
            await who.says(method, path.replace(':id', id), body),
            '404 NOT_FOUND',
            `${method} ${path} of a ${kind}`,
          );
      }
    }
    const thief = await spool.boundDevice(eve.app);
    const own = { captured_at: inMs(0), clock_uncertainty_ms: 0 };
    for (const [kind, binding_epoch] of Object.entries(ids)) {
      const body = { source_stream_ref: mine.source_stream_ref, binding_epoch };
      const asks: [string, unknown][] = [
        ['/device/streams', { ...body, ...own }],
        ['/device/streams/end', { ...body, end_ms: 5_000 }],
        ['/device/chunks/status', { ...body, source_chunk_refs: [mine.source_chunk_ref] }],
      ];
      for (const [path, sent] of asks)
        t.equal(await says(thief.device.ask('POST', path, sent)), '403 DEVICE_UNBOUND', `${path} under a ${kind}`);
      const recorder = await says(open.device.ask('POST', '/device/session/end', { binding_epoch }));
      if (kind !== 'session') t.equal(recorder, '403 DEVICE_UNBOUND', `end under a ${kind}`);
      t.equal(await says(thief.device.ask('GET', `/device/chunks/${binding_epoch}`)), '404 NOT_FOUND');
      t.equal(await says(thief.device.upload(`/device/chunks/${binding_epoch}/content`, mine.bytes)), '404 NOT_FOUND');
    }
  });

  await t.test('H-031 H-030 many recorders at once for one claim, and for one address', async (t) => {
    const recorders = await Promise.all(Array.from({ length: AT_ONCE }, () => spool.device('shared')));
    const { claim, session } = await host(ann);
    const one = await Promise.all(recorders.map(({ device }) => redeem(device, claim)));
    t.same(one.toSorted(), ['200', ...Array<string>(AT_ONCE - 1).fill('409 CONFLICT')], 'one of them has it');
    const winner = one.indexOf('200');
    await says(
      (recorders[winner] as { device: DeviceClient }).device.ask('POST', '/device/session/end', {
        binding_epoch: session.id,
      }),
    );
    const ble_address = address();
    const hosted = await Promise.all(recorders.map((_, index) => host(index % 2 === 0 ? ann : eve)));
    const held = await Promise.all(
      recorders.map(({ device }, index) => redeem(device, hosted[index]?.claim ?? '', ble_address)),
    );
    t.same(held.toSorted(), ['200', ...Array<string>(AT_ONCE - 1).fill('409 CONFLICT')], 'one of them has it');
    const holder = held.indexOf('200');
    for (const [index, { device }] of recorders.entries())
      t.equal((await device.send('GET', '/device/binding')).status, index === holder ? 200 : 403, 'nobody else began');
    const first = recorders[holder] as { device: DeviceClient };
    await first.device.ask('POST', '/device/session/end', { binding_epoch: hosted[holder]?.session.id });
    const again = await Promise.all(
      recorders.map(({ device }, index) => (index === holder ? '' : redeem(device, hosted[index]?.claim ?? ''))),
    );
    t.equal(again.filter((said) => said === '200').length, AT_ONCE - 1, 'a refused claim works at another address');
  });

  await t.test('one recorder with several claims at once is in one session', async (t) => {
    const { device } = await spool.device('shared');
    const hosted = await Promise.all([host(ann), host(eve), host(ann), host(eve)]);
    const all = await Promise.all(hosted.map(({ claim }) => redeem(device, claim)));
    t.same(all.toSorted(), ['200', '409 CONFLICT', '409 CONFLICT', '409 CONFLICT']);
    const bound = await device.ask<BindingView>('GET', '/device/binding');
    t.equal(bound.binding_epoch, hosted[all.indexOf('200')]?.session.id);
  });

  await t.test('H-031 claims of a deleted account', async (t) => {
    const gone = await TestAccount.open(spool, 'gone@x.test');
    const { claim, session } = await host(gone);
    const owner = await gone.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    const [shared, personal] = await Promise.all([spool.device('shared'), spool.device('personal')]);
    await gone.ask('DELETE', '/me');
    t.equal(await redeem(shared.device, claim), '403 ACCOUNT_DELETED');
    t.equal(await redeem(personal.device, owner.claim), '403 ACCOUNT_DELETED');
    await gone.ask('POST', '/me/restore');
    t.equal(await redeem(shared.device, claim), '404 NOT_FOUND', 'its session ended with the account');
    t.match(await gone.ask('GET', `/device-sessions/${session.id}`), {
      status: 'ended',
      end_reason: 'account_deleted',
    });
    t.equal(await redeem(shared.device, (await host(eve)).claim), '200', 'and nothing holds the recorder');
  });

  await t.test('a container that is called as what every object has', async (t) => {
    const { device, epoch } = await spool.boundDevice(ann.app);
    const source_stream_ref = randomUUID();
    const { id } = await device.ask<{ id: string }>('POST', '/device/streams', {
      ...{ source_stream_ref, captured_at: inMs(0), clock_uncertainty_ms: 0, binding_epoch: epoch },
    });
    const bytes = randomBytes(30);
    const { upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ source_chunk_ref: randomUUID(), source_stream_ref, binding_epoch: epoch, sequence: 0 },
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1_000, codec: 'constructor' },
      ...{ container: 'constructor', size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    await device.upload(upload_path, bytes);
    t.equal(await ann.says('GET', `/audio/streams/${id}/content`), '409 CONFLICT');
  });

  await t.test('G-004 G-005 hostile JSON in signals', async (t) => {
    const { device, epoch } = await spool.boundDevice(ann.app);
    await record(device, { epoch });
    const { items } = await ann.ask<{ items: { id: string }[] }>('GET', '/audio/streams?limit=1');
    const path = `/audio/streams/${items[0]?.id}/signals`;
    const send = async (text: string | Buffer) => {
      const answer = await fetch(`${spool.base_url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${ann.app.access_token}`, 'Content-Type': 'application/json' },
        body: text,
      });
      return { status: answer.status, body: await answer.text() };
    };
    const one = (members: string) => `{"signals":[{"ref":"r","type":"a","start_ms":0${members}}]}`;
    const bad: [string, string | Buffer][] = [
      ['depth', '['.repeat(4_000_000)],
      ['depth in a payload', one(`,"payload":{"a":${'['.repeat(3_000_000)}${']'.repeat(900_000)}}`)],
      ['objects in objects', one(`,"payload":${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`)],
      ['a member twice', one(',"ref":"other"')],
      ['a member twice, escaped', one(',"r\\u0065f":"other"')],
      ['a payload twice', one(',"payload":{},"payload":{}')],
      ['signals twice', '{"signals":[],"signals":[]}'],
      ['a key twice in a payload', one(',"payload":{"a":1,"a":2}')],
      ['two byte order marks', Buffer.from(`\ufeff\ufeff${one('')}`)],
      ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
      ['a lone surrogate as ref', '{"signals":[{"ref":"\\ud800","type":"a","start_ms":0}]}'],
      ['NaN', one(',"payload":{"a":NaN}')],
      ['more than is whole', '{"signals":[{"ref":"r","type":"a","start_ms":9007199254740993}]}'],
      ['a half', '{"signals":[{"ref":"r","type":"a","start_ms":0.5}]}'],
      ['commas', `{"signals":[${','.repeat(1_000_000)}]}`],
      ['a payload of 8193 bytes', one(`,"payload":{"a":"${'x'.repeat(8_193)}"}`)],
      ['a body of over 8 MiB', ' '.repeat(8 * 1024 * 1024 + 1)],
      ['half a body', one('').slice(0, -3)],
      ['text behind', `${one('')} {}`],
    ];
    for (const [name, text] of bad) {
      const { status, body } = await send(text);
      t.ok(status === 400 || status === 413, `${name}: ${status} ${body.slice(0, 160)}`);
    }
    t.match(await ann.ask('GET', path), { items: [] }, 'nothing of it came in');
    const payload = '{"__proto__":{"x":1},"constructor":1,"n":1e400,"u":"\\ud800"}';
    const odd = await send(one(`,"payload":${payload},"__proto__":{"type":"b"}`));
    t.equal(odd.status, 200, 'odd, but JSON');
    t.ok(
      odd.body.includes(`"type":"a","start_ms":0`) && odd.body.includes(payload),
      'and it comes back as it was sent',
    );
    for (const query of [
      'cursor=x',
      'cursor=eyJ9',
      'from_ms=-1',
      'to_ms=1e3',
      'type=A',
      'limit=0',
      'from_ms=1&from_ms=2',
      'from_ms=99999999999999999',
    ])
      t.equal(await ann.says('GET', `${path}?${query}`), '400 BAD_REQUEST', query);
  });
});
