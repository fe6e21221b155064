/**
 * Receives webhooks over TLS on kept connections. HTTP is read as bytes: a server library would cost more than some of
 * the senders that are measured. Paths: `/hang` never answers, `/drip` answers a byte a second, others answer at once.
 */
import { createHmac } from 'node:crypto';
import tls from 'node:tls';
import { answer, settings } from './answering_server.mjs';

const ANSWER = 'HTTP/1.1 204 No Content\r\n\r\n';
const DRIPPED = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** Every so manieth signature is checked. */
const CHECK_EVERY = 16;

let seen = new Set();
let requests = 0;
let wrong_signatures = 0;
let latencies_ms = [];
const keys = new Map();

function take(socket, head, body) {
  const path = head.slice(5, head.indexOf(' ', 5));
  if (path === '/hang') return;
  if (path === '/drip') {
    let at = 0;
    const timer = setInterval(
      () => (socket.destroyed ? clearInterval(timer) : socket.write(DRIPPED[at++] ?? '')),
      1_000,
    );
    socket.once('close', () => clearInterval(timer));
    return;
  }
  requests += 1;
  const id = /\r\nwebhook-id: ([^\r]+)/i.exec(head)?.[1];
  if (id !== undefined && !seen.has(id)) {
    seen.add(id);
    const occurred_at = /"occurred_at":"([^"]+)"/.exec(body)?.[1];
    if (occurred_at !== undefined) latencies_ms.push(Date.now() - Date.parse(occurred_at));
    if (keys.has(path) && requests % CHECK_EVERY === 0) {
      const timestamp = /\r\nwebhook-timestamp: (\d+)/i.exec(head)[1];
      const said = /\r\nwebhook-signature: v1,([^\r]+)/i.exec(head)[1];
      const mac = createHmac('sha256', keys.get(path)).update(`${id}.${timestamp}.${body}`).digest('base64');
      if (mac !== said) wrong_signatures += 1;
    }
  }
  socket.write(ANSWER);
}

const server = tls.createServer(settings().tls, (socket) => {
  let text = '';
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => {});
  socket.on('data', (piece) => {
    text += piece;
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = text.slice(0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      const body = text.slice(end + 4, end + 4 + length);
      text = text.slice(end + 4 + length);
      take(socket, head, body);
    }
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
answer(
  { port: server.address().port },
  {
    /** Signing secrets by path. */
    async secrets({ of }) {
      for (const [path, secret] of Object.entries(of))
        keys.set(path, Buffer.from(secret.slice('whsec_'.length), 'base64'));
    },
    /** The requests since the last call. */
    async taken() {
      const told = { requests, different: seen.size, wrong_signatures, latencies_ms };
      [seen, requests, wrong_signatures, latencies_ms] = [new Set(), 0, 0, []];
      return told;
    },
    stop: async () => {},
  },
);
