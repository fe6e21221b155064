import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import type { Exchange } from './request_state.js';

const EVENT_STREAM_UNREAD_MS_MAX = 10_000; // ours: a reader that takes nothing for so long is dropped

/** One event (WHATWG HTML, "Server-sent events"). `data` is written as JSON. */
export type ServerSentEvent = { event?: string; id?: string; data: unknown };

/** Gives events until the signal. Null: nothing to send yet. Its first one comes once it is certain that it is not refused. */
type EventSource = (signal: AbortSignal) => AsyncGenerator<ServerSentEvent | null>;

const COMMENT = ':\n\n';

/**
 * Answers with events as they come, and with comments in between, until the source ends or the client leaves. A client
 * that does not read is cut off. If refused before anything is sent, it throws as any handler does.
 */
export async function sendEvents(
  { request, reply }: Exchange,
  { log }: { log: Pick<Logger, 'error'> },
  source: EventSource,
): Promise<FastifyReply> {
  const { raw } = reply;
  const stop = new AbortController();
  raw.once('close', () => stop.abort());
  raw.on('error', () => {}); // the client went away
  const events = source(stop.signal);
  await events.next();
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // For nginx, which would hold events back.
  raw.setHeader('X-Accel-Buffering', 'no');
  raw.writeHead(200);
  if (request.method === 'HEAD') {
    await events.return(null);
    raw.end();
    return reply;
  }
  // Not waited for: a request takes a place among those of its account only until its answer has begun.
  void writeAll(events, raw)
    .catch((error: unknown) => {
      // The client comes again, and hears of a refusal then.
      if (!isRefused(error)) log.error({ err: error, request_id: request.id }, 'an answer of events broke off');
    })
    .finally(() => raw.end());
  return reply;
}

async function writeAll(events: AsyncGenerator<ServerSentEvent | null>, raw: ServerResponse): Promise<void> {
  raw.write(COMMENT);
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(COMMENT);
  }, LIMITS.event_stream_heartbeat_ms);
  try {
    for await (const event of events) {
      if (raw.destroyed) return;
      if (event === null || raw.write(textOf(event))) continue;
      const is_read = await once(raw, 'drain', { signal: AbortSignal.timeout(EVENT_STREAM_UNREAD_MS_MAX) }).then(
        () => true,
        () => false,
      );
      if (!is_read) raw.destroy();
    }
  } finally {
    clearInterval(heartbeat);
  }
}

/** JSON is one line of data. */
function textOf({ event, id, data }: ServerSentEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
