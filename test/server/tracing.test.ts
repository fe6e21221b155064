import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import t from 'tap';
import { Receiver } from '../fixtures/receiver.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
};
type Line = Record<string, unknown> & { msg: string };

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

t.test('J-006 a request is found again in the turns and deliveries it caused', async (t) => {
  const spans: Span[] = [];
  const authorizations = new Set<string | undefined>();
  const collector = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    authorizations.add(request.headers.authorization);
    const sent = JSON.parse(Buffer.concat(parts).toString()) as {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
    };
    spans.push(...sent.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    collector.close();
    collector.closeAllConnections();
  });
  const receiver = await Receiver.start();
  t.teardown(() => receiver.end());
  const lines: Line[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Line);
      done();
    },
  });
  const spool = await TestSpool.start(
    {
      ...receiver.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector',
    },
    pino({ level: 'debug' }, sink),
  );
  t.teardown(() => spool.end());
  const { app, session } = await spool.signIn('ann@x.test');
  await app.ask('POST', '/endpoints', { url: receiver.url('/hook') });
  const renamed = await fetch(`${spool.base_url}/me`, {
    method: 'PATCH',
    headers: {
      Authorization: `Bearer ${app.access_token}`,
      'Content-Type': 'application/json',
      'X-Request-ID': 'rename-1',
      traceparent: `00-${TRACE_ID}-${PARENT_ID}-00`,
    },
    body: JSON.stringify({ name: 'Ann' }),
  });
  t.equal(renamed.status, 200);
  await until('a delivery', () => lines.some(({ msg }) => msg === 'delivery'));
  await spool.end();

  const request = lines.find(({ msg, request_id }) => msg === 'request' && request_id === 'rename-1');
  t.match(request, { listener: 'public', method: 'PATCH', route: '/me', status: 200, ms: Number });
  const turns = lines.filter(({ msg, request_ids }) => msg === 'batch' && (request_ids as string[])[0] === 'rename-1');
  const turn = turns.find(({ messages }) => (messages as string[])[0] === 'rename');
  t.match(turn, { kind: 'account', id: session.user.id, waited_ms: Number, took_ms: Number, commit_ms: Number });
  const [event_id] = (turn?.event_ids ?? []) as string[];
  const delivery = lines.find((line) => line.msg === 'delivery' && line.event_id === event_id);
  t.match(delivery, { attempt: 1, verdict: 'accepted', status_code: 204, error: null });
  t.equal(
    delivery?.webhook_id,
    receiver.arrived.find(({ body }) => body.includes(event_id as string))?.headers['webhook-id'],
  );

  const own = spans.filter(({ traceId }) => traceId === TRACE_ID);
  const root = own.find(({ name }) => name === 'PATCH /me');
  t.equal(root?.parentSpanId, PARENT_ID);
  const attributes = (span: Span | undefined) =>
    Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
  t.match(attributes(root), { 'spool.request_id': 'rename-1', 'http.response.status_code': 200 });
  const child = own.find(({ name }) => name === 'account rename');
  t.equal(child?.parentSpanId, root?.spanId);
  t.match(attributes(child), { 'spool.actor.id': session.user.id, 'spool.actor.kind': 'account' });
  t.ok(BigInt(child?.endTimeUnixNano ?? 0) >= BigInt(child?.startTimeUnixNano ?? 1));
  t.ok(spans.some((span) => attributes(span)['spool.delivery.event_id'] === event_id));
  t.same([...authorizations], ['Bearer collector']);

  const told = JSON.stringify([lines, spans]);
  for (const secret of [String(app.access_token), session.refresh_token, 'ann@x.test', 'Ann"', 'whsec_']) {
    t.notOk(told.includes(secret), 'no secret, no name, no content');
  }
});

t.test('a collector that is away holds nobody up', async (t) => {
  const spool = await TestSpool.start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  await spool.signIn('ann@x.test');
  await t.resolves(spool.end());
});
