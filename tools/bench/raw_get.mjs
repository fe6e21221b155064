/**
 * The same GET again and again over kept connections, written and counted as bytes: a client library would cost more
 * than the server that it measures, and hide the difference between two servers.
 */
import net from 'node:net';

/** `get()` resolves when the answer has come; each lane has a connection of its own. All answers have one length. */
export function rawGets({ port, path, headers = {}, lanes }) {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const question = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  /** Made when they are needed: servers close connections that bring no request for a while. */
  const connections = new Array(lanes).fill(null);
  return {
    get: async (lane) => {
      connections[lane] ??= await connect(port);
      return connections[lane].ask(question);
    },
    close() {
      for (const connection of connections) connection?.socket.destroy();
    },
  };
}

async function connect(port) {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let waiting = null;
  let answer_bytes = null;
  let head = null;
  let seen = 0;
  socket.on('data', (piece) => {
    if (seen === 0 && !piece.subarray(0, 12).equals(OK))
      return waiting.reject(new Error(piece.toString().slice(0, 500)));
    seen += piece.length;
    if (answer_bytes === null) {
      head = head === null ? piece : Buffer.concat([head, piece]);
      answer_bytes = lengthOf(head);
    }
    if (answer_bytes === null || seen < answer_bytes) return undefined;
    if (seen > answer_bytes) return waiting.reject(new Error('answers differ in length'));
    seen = 0;
    return waiting.resolve();
  });
  socket.on('close', () => waiting?.reject(new Error('the connection was closed')));
  const ask = (question) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(question);
    });
  return { socket, ask };
}

const OK = Buffer.from('HTTP/1.1 200');

/** Head and body, once the head is whole. */
function lengthOf(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(bytes.toString('latin1', 0, end + 2))?.[1];
  if (length === undefined) throw new Error('no Content-Length');
  return end + 4 + Number(length);
}
