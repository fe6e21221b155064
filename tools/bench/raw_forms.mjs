/** Forms posted over kept connections, one at a time on each, written and read as bytes; see raw_get.mjs for why. */
import net from 'node:net';

/** `post(lane, form)` resolves with the body of a 200; with `any`, of whatever came, as `{ status, body }`. */
export function rawForms({ port, path, headers = {}, lanes }) {
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const lines = Object.entries({ Host: `localhost:${port}`, ...type, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: `;
  const connections = new Array(lanes).fill(null);
  /** Made when it is needed: servers close connections that bring no request for a while. */
  const any = async (lane, form) => {
    if (connections[lane] === null) {
      connections[lane] = await connect(port);
      connections[lane].socket.on('close', () => {
        connections[lane] = null;
      });
    }
    return connections[lane].ask(`${head}${form.length}\r\n\r\n${form}`);
  };
  return {
    any,
    async post(lane, form) {
      const { status, body } = await any(lane, form);
      if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
      return body;
    },
    close() {
      for (const connection of connections) connection?.socket.destroy();
    },
  };
}

async function connect(port) {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
  socket.setEncoding('latin1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let waiting = null;
  let text = '';
  socket.on('data', (piece) => {
    text += piece;
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
    if (length === undefined) {
      waiting.reject(new Error(`no Content-Length: ${text.slice(0, 500)}`));
      return;
    }
    if (text.length < end + 4 + Number(length)) return;
    const answer = { status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
    text = '';
    waiting?.resolve(answer);
    waiting = null;
  });
  socket.on('close', () => waiting?.reject(new Error('the connection was closed')));
  const ask = (question) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(question);
    });
  return { socket, ask };
}
