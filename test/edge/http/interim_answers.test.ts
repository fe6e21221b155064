import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import t from 'tap';
import { Agent, buildConnector } from 'undici';
import { skippingInterim } from '../../../src/engine/wire/interim_answers.js';

type Answered = { status: number; text: string } | { failed: string };

/** Answers each request with these pieces, and goes on with the connection. */
async function open(t: { teardown: (end: () => unknown) => void }, pieces: readonly string[]) {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.setNoDelay(true).on('error', () => {});
    socket.on('data', async (data) => {
      if (!data.toString().endsWith('ask')) return;
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ connect: skippingInterim(buildConnector({})), connections: 1 });
  t.teardown(async () => {
    await agent.destroy();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async (): Promise<Answered> => {
    try {
      const { statusCode: status, body } = await agent.request({ origin, path: '/x', method: 'POST', body: 'ask' });
      return { status, text: await body.text() };
    } catch (error) {
      return { failed: (error as Error).name };
    }
  };
  return { ask, connections: () => connections };
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
/** Its body looks like an interim answer, and is none. */
const OK = `HTTP/1.1 200 OK\r\ncontent-length: ${CONTINUE.length}\r\n\r\n${CONTINUE}`;
const ANSWER = { status: 200, text: CONTINUE };

t.test('interim answers are skipped, on each request of a connection', async (t) => {
  const rows: [string, string[]][] = [
    ['none', [OK]],
    ['100', [CONTINUE + OK]],
    ['100 for itself', [CONTINUE, OK]],
    ['several', [HINTS + CONTINUE, CONTINUE + HINTS, OK]],
    ['byte by byte', [...(CONTINUE + HINTS + OK)]],
    ['a body that looks like one', [OK.slice(0, -CONTINUE.length), CONTINUE]],
  ];
  for (const [says, pieces] of rows) {
    const { ask, connections } = await open(t, pieces);
    t.same([await ask(), await ask(), await ask()], [ANSWER, ANSWER, ANSWER], says);
    t.equal(connections(), 1, says);
  }
});

t.test('what is no interim answer is left to undici', async (t) => {
  const rows: [string, string, RegExp][] = [
    ['no HTTP', 'SSH-2.0', /HTTPParserError/],
    ['101', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', /SocketError/],
    ['a head without end', `HTTP/1.1 100 Continue\r\nx: ${'x'.repeat(20_000)}`, /HeadersOverflowError/],
  ];
  for (const [says, text, failed] of rows) t.match(await (await open(t, [text])).ask(), { failed }, says);
});
