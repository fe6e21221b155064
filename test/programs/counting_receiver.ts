import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A receiver in a process of its own, told over IPC how to answer, that counts what comes: requests, and how many deliveries. */
export type ReceiverCounts = { requests: number; distinct: number };

const [, , key = '', cert = ''] = process.argv;
let status = 204;
let requests = 0;
const ids = new Set<string>();

const server = createServer({ key, cert }, (request, response) => {
  requests += 1;
  ids.add(String(request.headers['webhook-id']));
  request.resume();
  request.on('end', () => response.writeHead(status).end());
});
process.on('message', (message: { status: number } | 'count') => {
  if (message === 'count') process.send?.({ requests, distinct: ids.size } satisfies ReceiverCounts);
  else status = message.status;
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
