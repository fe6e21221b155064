import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { openAuthority } from '../../../certs/authority.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { type Arrived, type RawBehaviour, type RawReceiver, Receiver, verified } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const OK = 'HTTP/1.1 204 No Content\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
/** Until the first retry, at its longest. */
const RETRY_MS = 15_000;
/** Until all are through: several times what a request may take. */
const TRIED_MAX_MS = 60_000;
/** Of eleven that send a gigabyte each: what is sent beyond the bounds lies in buffers of the kernel. */
const SENT_MAX = 80 * 1024 * 1024;
const GROWTH_MAX = 100 * 1024 * 1024;

type Case = {
  behaviour: RawBehaviour;
  options?: TlsOptions | 'tcp';
  /** What the first attempt comes to: status and error, and how the delivery stands after it. */
  is: [status_code: number | null, error: string | null, status: 'succeeded' | 'failed' | 'pending'];
  /** Whether the attempt takes all the time there is. */
  is_long?: true;
  /** Requests that come for one attempt. */
  requests?: number;
};

const accepted = (status_code = 200): Case['is'] => [status_code, null, 'succeeded'];
const ended = (status_code: number): Case['is'] => [status_code, null, 'failed'];
const retried = (status_code: number): Case['is'] => [status_code, null, 'pending'];
const lost = (error: string): Case['is'] => [null, error, 'pending'];

/** Writes again and again until the connection ends. */
function every(ms: number, socket: Socket, text: string | Buffer): void {
  const timer = setInterval(() => socket.write(text), ms);
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as the other side takes it; gives how many bytes that were. */
function flood(socket: Socket, chunk: Buffer, total: number, sent: (bytes: number) => void): void {
  let left = total;
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      left -= chunk.length;
      sent(chunk.length);
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', more);
  more();
}

const asked = (asked: NonNullable<RawBehaviour['asked']>): RawBehaviour => ({ asked });
const answers = (text: string) => asked((socket) => void socket.write(text));
const answersAndEnds = (text: string) => asked((socket) => void socket.end(text));

/** With its first request alone: a retry is accepted, whenever it comes. */
const firstOf = ({ asked, ...others }: RawBehaviour): RawBehaviour => ({
  ...others,
  asked: (socket, nth) => (nth === 1 ? asked?.(socket, nth) : void socket.write(OK)),
});

let flooded = 0;
const count = (bytes: number) => {
  flooded += bytes;
};

const LONG: Record<string, Case> = {
  'no answer': { behaviour: {}, is: lost('timeout') },
  'a byte a second after 200': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
      every(1_000, socket, 'x');
    }),
    is: accepted(),
  },
  'a byte a second after 500': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 500 Oh\r\ncontent-length: 1000\r\n\r\n');
      every(1_000, socket, 'x');
    }),
    is: retried(500),
  },
  'a byte a second of the status line': {
    behaviour: asked((socket) => {
      let at = 0;
      const timer = setInterval(() => socket.write('HTTP/1.1 200 OK, or so it seems'.charAt(at++)), 1_000);
      socket.on('close', () => clearInterval(timer));
    }),
    is: lost('timeout'),
  },
  'a header every 100 ms': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      every(100, socket, 'x-more: 1\r\n');
    }),
    is: lost('timeout'),
  },
  'an interim answer every 100 ms': {
    behaviour: asked((socket) => every(100, socket, 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n')),
    is: lost('timeout'),
  },
  'a chunk every 100 ms': {
    behaviour: asked((socket) => {
      socket.write(CHUNKED);
      every(100, socket, '1\r\nx\r\n');
    }),
    is: accepted(),
  },
  'chunk extensions every 100 ms': {
    behaviour: asked((socket) => {
      socket.write(`${CHUNKED}1;a=`);
      every(100, socket, 'x');
    }),
    is: accepted(),
  },
  'trailers every 100 ms': {
    behaviour: asked((socket) => {
      socket.write(`${CHUNKED}0\r\n`);
      every(100, socket, 'x-more: 1\r\n');
    }),
    is: accepted(),
  },
  'a body without end or length': { behaviour: answers('HTTP/1.1 200 OK\r\n\r\n'), is: accepted() },
  'a handshake that stalls': { behaviour: {}, options: 'tcp', is: lost('timeout') },
  'a handshake a byte a second': {
    behaviour: {
      connected(socket) {
        const record = Buffer.from([22, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc, 3, 3, 1, 2, 3, 4, 5, 6, 7]);
        let at = 0;
        const timer = setInterval(() => socket.write(record.subarray(at, ++at)), 1_000);
        socket.on('close', () => clearInterval(timer));
      },
    },
    options: 'tcp',
    is: lost('timeout'),
  },
};

const QUICK: Record<string, Case> = {
  'a body of 1 GB': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n');
      flood(socket, Buffer.alloc(64 * 1024), 1_000_000_000, count);
    }),
    is: accepted(),
  },
  'a body of 1 GB after 503': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 503 Oh\r\ncontent-length: 1000000000\r\n\r\n');
      flood(socket, Buffer.alloc(64 * 1024), 1_000_000_000, count);
    }),
    is: retried(503),
  },
  'chunks without end': {
    behaviour: asked((socket) => {
      socket.write(CHUNKED);
      flood(socket, Buffer.from(`1000\r\n${'x'.repeat(4096)}\r\n`), 1_000_000_000, count);
    }),
    is: accepted(),
  },
  'headers without end': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, Buffer.from(`x-more: ${'x'.repeat(4096)}\r\n`), 1_000_000_000, count);
    }),
    is: accepted(),
  },
  'one header without end': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-more: ');
      flood(socket, Buffer.alloc(64 * 1024, 'x'), 1_000_000_000, count);
    }),
    is: accepted(),
  },
  'a status line without end': {
    behaviour: asked((socket) => {
      socket.write('HTTP/1.1 200 ');
      flood(socket, Buffer.alloc(64 * 1024, 'x'), 1_000_000_000, count);
    }),
    is: lost('bad_answer'),
  },
  'interim answers without end': {
    behaviour: asked((socket) => {
      const many = Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(1_000));
      flood(socket, many, 1_000_000_000, count);
    }),
    is: lost('bad_answer'),
  },
  'a chunk extension without end': {
    behaviour: asked((socket) => {
      socket.write(`${CHUNKED}1;a=`);
      flood(socket, Buffer.alloc(64 * 1024, 'x'), 1_000_000_000, count);
    }),
    is: accepted(),
  },
  'a gzip bomb': {
    behaviour: asked((socket) => {
      const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    }),
    is: accepted(),
  },
  ...Object.fromEntries([300, 304, 400, 401, 403, 404, 405, 409, 410, 422, 451].map((of) => [of, answered(of)])),
  ...Object.fromEntries([408, 429, 500, 501, 502, 503, 504, 599, 999].map((of) => [of, answered(of)])),
  '103 and then 200': {
    behaviour: answers(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}`),
    is: accepted(204),
  },
  '102 twice and then 503': {
    behaviour: answers(
      `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(2)}HTTP/1.1 503 Oh\r\ncontent-length: 0\r\nretry-after: 1\r\n\r\n`,
    ),
    is: retried(503),
  },
  '100 that nobody asked for, and then 204': {
    behaviour: answers(`HTTP/1.1 100 Continue\r\n\r\n${OK}`),
    is: accepted(204),
  },
  '100 that nobody asked for, without end': {
    behaviour: asked((socket) => {
      flood(socket, Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)), 1_000_000_000, count);
    }),
    is: lost('bad_answer'),
  },
  '101 that nobody asked for': {
    behaviour: answers('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    is: lost('connection_lost'),
  },
  'connection: close': {
    behaviour: answersAndEnds('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'),
    is: accepted(),
  },
  'HTTP/1.0': { behaviour: answersAndEnds('HTTP/1.0 200 OK\r\n\r\nok'), is: accepted() },
  'no reason': { behaviour: answers('HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n'), is: accepted() },
  'an answer before the body was read': {
    behaviour: { began: (socket) => void socket.write(OK) },
    is: accepted(204),
  },
  'a body that breaks off': {
    behaviour: answersAndEnds('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx'),
    is: accepted(),
  },
  'chunks that are none': { behaviour: answers(`${CHUNKED}zz\r\nx\r\n`), is: accepted() },
  'two lengths': {
    behaviour: answers('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'),
    is: accepted(),
  },
  'one length twice': {
    behaviour: answers('HTTP/1.1 202 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nxx'),
    is: accepted(202),
  },
  'a length and chunks': {
    behaviour: answers(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ),
    is: accepted(),
  },
  'ends of lines without CR': { behaviour: answers('HTTP/1.1 200 OK\ncontent-length: 2\n\nok'), is: accepted() },
  'ends of lines without CR, in pieces': {
    behaviour: asked(async (socket) => {
      for (const piece of ['HTTP/1.', '1 200 O', 'K\nconte', 'nt-length: 0\n\n']) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
    }),
    is: accepted(),
  },
  'a header that is none': { behaviour: answers('HTTP/1.1 200 OK\r\n no name\r\n\r\n'), is: accepted() },
  'headers of 40 KB': {
    behaviour: answers(`HTTP/1.1 200 OK\r\nset-cookie: a=${'x'.repeat(40_000)}\r\ncontent-length: 0\r\n\r\n`),
    is: accepted(),
  },
  'one length twice after 503': {
    behaviour: answers('HTTP/1.1 503 Oh\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nxx'),
    is: retried(503),
  },
  'one length twice after 410': {
    behaviour: answers('HTTP/1.1 410 Gone\ncontent-length: 0\n\n'),
    is: ended(410),
  },
  'no HTTP': { behaviour: answers('220 mail.example ESMTP\r\n'), is: lost('bad_answer') },
  'an end in place of an answer': { behaviour: asked((socket) => void socket.end()), is: lost('connection_lost') },
  'a reset in place of an answer': {
    behaviour: asked((socket) => void socket.destroy()),
    is: lost('connection_lost'),
  },
  'an end in the midst of headers': {
    behaviour: answersAndEnds('HTTP/1.1 200 OK\r\nx-mo'),
    is: lost('connection_lost'),
  },
  'a reset in the handshake': {
    behaviour: { began: (socket) => void socket.resetAndDestroy() },
    options: 'tcp',
    is: lost('connection_lost'),
  },
  'an end in the handshake': {
    behaviour: { began: (socket) => void socket.end() },
    options: 'tcp',
    is: lost('connection_lost'),
  },
  'a reset at once': {
    behaviour: { connected: (socket) => void socket.resetAndDestroy() },
    options: 'tcp',
    is: lost('connection_lost'),
  },
  'plain HTTP': {
    behaviour: { began: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
    options: 'tcp',
    is: lost('tls'),
  },
  'TLS 1.1': {
    behaviour: answers(OK),
    options: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    is: lost('tls'),
  },
  'HTTP/2 alone': { behaviour: answers(OK), options: { ALPNProtocols: ['h2'] }, is: lost('tls') },
  // That it was refused comes after the handshake, as the end of the connection.
  'a certificate of ours that is asked for': {
    behaviour: answers(OK),
    options: { requestCert: true, rejectUnauthorized: true },
    is: lost('connection_lost'),
  },
};

function answered(status: number): Case {
  const answer = `HTTP/1.1 ${status} Oh\r\ncontent-length: 0\r\nlocation: https://localhost/\r\n\r\n`;
  return {
    behaviour: answers(answer),
    is: status >= 500 || [408, 429].includes(status) ? retried(status) : ended(status),
  };
}

type Under = { name: string; of: Case; raw: RawReceiver; endpoint: TestEndpoint };

async function open(t: Test, env: Record<string, string> = {}) {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...receiver.env, ...env });
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  return { receiver, spool };
}

t.test('F-025 to F-031 faults 13: receivers that misbehave are given up, each with its reason', async (t) => {
  const { receiver, spool } = await open(t);
  const other = await openAuthority(join(receiver.folder, 'other'), Date.now());
  const others = await other.issueListenerCertificate({ names: ['localhost'], now_ms: Date.now() });
  const own = readFileSync(join(receiver.folder, 'other', 'root_ca.key.pem'), 'utf8');
  const [own_key = '', own_certificate = ''] = own.split(/(?=-----BEGIN CERTIFICATE)/);
  const good = await receiver.certificate();
  const certificates: Record<string, TlsOptions & { error: string }> = {
    'a certificate of somebody else': {
      ...{ key: others.private_key_pem, cert: others.certificate_pem + others.ca_pem },
      error: 'certificate_untrusted',
    },
    'a certificate without its chain': {
      ...{ key: good.key, cert: good.cert.split(/(?<=-----END CERTIFICATE-----\n)/)[0] },
      error: 'certificate_untrusted',
    },
    'a certificate that is self-signed': { key: own_key, cert: own_certificate, error: 'certificate_untrusted' },
    'a certificate for another name': {
      ...(await receiver.certificate({ names: ['other.example'] })),
      error: 'certificate_name',
    },
    'a certificate that has expired': {
      ...(await receiver.certificate({ now_ms: Date.now() - 200 * 86_400_000 })),
      error: 'certificate_expired',
    },
    'a certificate of the future': {
      ...(await receiver.certificate({ now_ms: Date.now() + 2 * 86_400_000 })),
      error: 'tls',
    },
  };
  const cases = [
    ...Object.entries(LONG).map(([name, of]): [string, Case] => [name, { ...of, is_long: true }]),
    ...Object.entries(QUICK),
    ...Object.entries(certificates).map(([name, { error, ...options }]): [string, Case] => [
      name,
      { behaviour: answers(OK), options, is: lost(error) },
    ]),
  ];
  const accounts = await Promise.all(['ann', 'bob', 'cy'].map((name) => TestAccount.open(spool, `${name}@x.test`)));
  const [ann, bob, cy] = accounts as [TestAccount, TestAccount, TestAccount];
  const all: Under[] = [];
  for (const [name, of] of cases) {
    const raw = await receiver.raw(firstOf(of.behaviour), of.options);
    const { app } = of.is_long ? ann : all.length % 2 === 0 ? bob : cy;
    all.push({ name, of, raw, endpoint: await TestEndpoint.open(app, raw.url()) });
  }
  const rss_before = process.memoryUsage().rss;
  await Promise.all(accounts.map((account) => account.ask('PATCH', '/me', { name: 'Once' })));
  const { deliveries } = spool.server.services;
  const long = all.filter(({ of }) => of.is_long);
  const quick = all.filter(({ of }) => !of.is_long);
  const isTried = async ({ endpoint }: Under) => (await endpoint.newest()).attempt_count > 0;
  for (const one of quick) await until(`${one.name} has been tried`, () => isTried(one), TRIED_MAX_MS);

  const check = async (t: Test, { name, of, raw, endpoint }: Under) => {
    const { status, attempts, attempt_count } = await endpoint.newest();
    const { status: standing, failure_count } = await endpoint.read();
    // On a machine that is busy the first retry may have come, or is under way.
    const is_again = of.is[2] === 'pending' && (attempt_count > 1 || status === 'leased');
    t.same([attempts[0]?.status_code, attempts[0]?.error, is_again ? 'pending' : status], of.is, name);
    t.ok(attempt_count === 1 || is_again, `${name}: one attempt`);
    const is_closed = of.options === 'tcp' || /^(tls|certificate_)/.test(of.is[1] ?? '');
    const requests = is_closed || name.includes('of ours') ? 0 : 1;
    t.ok(raw.arrived.length === requests || is_again, `${name}: ${requests} requests`);
    // For one that was given up the client connects once more, and sends nothing.
    t.ok(raw.connections <= 2 || is_again, `${name}: ${raw.connections} connections`);
    t.equal(standing, 'active', `${name}: active`);
    t.equal(failure_count, of.is[2] === 'failed' ? 1 : 0, `${name}: failures`);
    if (of.options === 'tcp') await raw.end();
  };

  await t.test('quick ones come to what they should, while long ones are held', async (t) => {
    await Promise.all(quick.map((one) => check(t, one)));
  });

  await t.test('long ones come to what they should, when their time is up', async (t) => {
    for (const one of long) await until(`${one.name} has been tried`, () => isTried(one), TRIED_MAX_MS);
    await Promise.all(long.map((one) => check(t, one)));
  });

  await t.test('all that was held is free again', async (t) => {
    await until('nothing is in flight', () => deliveries.in_flight === 0);
    await until('long ones are closed', () => long.every(({ raw }) => raw.open.size <= 1));
    const grown = process.memoryUsage().rss - rss_before;
    t.comment(`${inMb(grown)} MB more, ${inMb(flooded)} MB sent by those that flood`);
    t.ok(grown < GROWTH_MAX, `${grown} bytes more`);
    t.ok(flooded < SENT_MAX, `${flooded} bytes were taken`);
  });

  await t.test('what is retried comes again, the same and signed anew', async (t) => {
    await spool.operator.advanceClock(RETRY_MS);
    for (const { name, raw, endpoint } of all.filter(({ of }) => of.is[2] === 'pending' && of.options === undefined)) {
      const [first, second, ...more] = raw.arrived as [Arrived, Arrived];
      t.same(more, [], `${name}: no more than twice`);
      t.same(verified(endpoint.secret, first), verified(endpoint.secret, second), `${name}: both are signed`);
      t.equal(second.body, first.body);
      const [ids, times, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((header) => [
        first.headers[header],
        second.headers[header],
      ]);
      t.equal(ids?.[0], ids?.[1], `${name}: same id`);
      t.ok(Number(times?.[1]) > Number(times?.[0]), `${name}: of its own time`);
      t.not(signatures?.[0], signatures?.[1], `${name}: of its own signature`);
      const { id, status, attempts, event } = await endpoint.newest();
      t.same([id, status, attempts.length, attempts[1]?.status_code], [ids?.[0], 'succeeded', 2, 204], name);
      t.equal((JSON.parse(first.body) as { id: string }).id, event?.id);
    }
    for (const { name, of, raw } of all) if (of.is[2] !== 'pending') t.ok(raw.arrived.length <= 1, `${name}: no more`);
  });
});

function inMb(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
