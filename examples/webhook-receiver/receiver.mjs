/*
 * Receives Spool's webhooks. A request is verified, its event is written to a file, then it is answered. The work comes
 * afterwards, so that no answer waits for it. After a restart, work that was not done is done.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

const { PORT = '3000', RECEIVER_FILE = 'received.jsonl', SPOOL_WEBHOOK_SECRET = '' } = process.env;
const BODY_BYTES_MAX = 64 * 1024;
/** A delivery is tried for 24 hours: what is older than this cannot come again. */
const KEPT_MS = 3 * 24 * 3_600_000;
const TRIES_MAX = 5;
const RETRY_MS = 2_000;

/** Several while one secret replaces another. */
const webhooks = SPOOL_WEBHOOK_SECRET.split(/[\s,]+/)
  .filter((secret) => secret !== '')
  .map((secret) => new Webhook(secret));
if (webhooks.length === 0) {
  console.error('SPOOL_WEBHOOK_SECRET is not set: it holds the signing_secret of the endpoint, whsec_…');
  process.exit(2);
}

/** Your work. An event says that something changed: read from the API what it is now. */
async function work(event) {
  console.log(`${event.type} ${event.resource.id}`);
}

/** What came, by webhook-id. */
const entries = entriesIn(RECEIVER_FILE);
/** The highest sequence that came of each resource. */
const newest = new Map();
for (const { event } of entries.values()) if (isNewest(event)) newest.set(nameOf(event), BigInt(event.sequence));
let file = null;
file = rewritten();
setInterval(() => {
  file = rewritten();
}, KEPT_MS / 3).unref();

/** Work is done one after the other, in the order in which events came. */
let queue = Promise.resolve();
for (const entry of entries.values()) enqueue(entry);

createServer({ requestTimeout: 10_000 }, async (request, response) => {
  const status = await statusFor(request).catch((error) => {
    console.error(`not taken, it comes again: ${error.message}`);
    return 500;
  });
  response.writeHead(status, status === 413 ? { Connection: 'close' } : {}).end();
}).listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${PORT}`));

async function statusFor(request) {
  if (request.method !== 'POST') return 405;
  const pieces = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > BODY_BYTES_MAX) return 413;
    pieces.push(piece);
  }
  const event = verified(Buffer.concat(pieces), request.headers);
  if (event === null) return 401;
  take(request.headers['webhook-id'], event);
  return 204;
}

/** Null for what is not Spool's, or was signed more than five minutes ago. The bytes are verified as they came. */
function verified(body, headers) {
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers);
    } catch {
      // Perhaps another secret verifies it.
    }
  }
  return null;
}

/** Returns once the event is on disk; throws when it could not be written. */
function take(webhook_id, event) {
  if (entries.has(webhook_id)) return; // Spool did not hear the answer.
  const done = !isNewest(event); // A later event of the same resource was here before: there is nothing left to do.
  const entry = { webhook_id, received_at_ms: Date.now(), event, done };
  append(entry);
  entries.set(webhook_id, entry);
  if (!done) newest.set(nameOf(event), BigInt(event.sequence));
  enqueue(entry);
}

function nameOf({ account_id, resource }) {
  return `${account_id} ${resource.type} ${resource.id}`;
}

function isNewest(event) {
  return BigInt(event.sequence) > (newest.get(nameOf(event)) ?? -1n);
}

function enqueue(entry) {
  if (!entry.done) queue = queue.then(() => settle(entry));
}

async function settle(entry) {
  const { webhook_id, event } = entry;
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    try {
      await work(event);
      entry.done = true;
      append({ webhook_id, done: true });
      return;
    } catch (error) {
      console.error(`${webhook_id}, try ${tries} of ${TRIES_MAX}: ${error.message}`);
      await delay(RETRY_MS * tries);
    }
  }
  console.error(`${webhook_id} is left until the next start`);
}

/** The line break comes first: it ends a line of which only a part was written. */
function append(line) {
  writeSync(file, `\n${JSON.stringify(line)}`);
  fsyncSync(file);
}

function entriesIn(path) {
  const found = new Map();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    try {
      const { webhook_id, ...rest } = JSON.parse(line);
      found.set(webhook_id, { webhook_id, ...found.get(webhook_id), ...rest });
    } catch {
      // An empty line, or one of which only a part was written.
    }
  }
  return found;
}

/** Writes the file anew without what is too old; gives it open to append to. */
function rewritten() {
  for (const [webhook_id, { received_at_ms, done }] of entries)
    if (done && Date.now() - received_at_ms > KEPT_MS) entries.delete(webhook_id);
  const lines = [...entries.values()].map((entry) => JSON.stringify(entry));
  writeFileSync(`${RECEIVER_FILE}.new`, lines.join('\n'), { mode: 0o600, flush: true });
  renameSync(`${RECEIVER_FILE}.new`, RECEIVER_FILE);
  if (file !== null) closeSync(file);
  return openSync(RECEIVER_FILE, 'a');
}
