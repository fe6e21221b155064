import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { BatchRecord } from './batch_record.js';

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const NOTHING = /^0+$/;
const CLOSE_MAX_MS = 3_000;

/** Spans of requests, of the batches they cause, and of deliveries, sent to a collector over OTLP. */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #close: () => Promise<void>;

  constructor(tracer: Tracer, close: () => Promise<void>) {
    this.#tracer = tracer;
    this.#close = close;
  }

  /**
   * A request's span, within the trace that the caller named. Whether the trace is kept is for us to say: a flag of
   * somebody outside would let them fill the collector.
   */
  beginRequest(name: string, traceparent: string | undefined, attributes: Attributes): Span {
    return this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, namedBy(traceparent));
  }

  /** A span for each message of the batch that came with a request. */
  noteTurn({ kind, id, messages, waited_ms, took_ms, commit_ms, event_ids }: BatchRecord): void {
    const ended_ms = Date.now();
    for (const { type, scope } of messages) {
      if (scope?.span?.isRecording() !== true) continue;
      const attributes: Attributes = {
        'spool.actor.kind': kind,
        'spool.batch.messages': messages.length,
        'spool.batch.waited_ms': waited_ms,
        'spool.batch.commit_ms': commit_ms,
      };
      if (id !== null) attributes['spool.actor.id'] = id;
      if (event_ids.length > 0) attributes['spool.event_ids'] = [...event_ids];
      const within = trace.setSpan(ROOT_CONTEXT, scope.span);
      this.#tracer.startSpan(`${kind} ${type}`, { startTime: ended_ms - took_ms, attributes }, within).end(ended_ms);
    }
  }

  /** A request to an endpoint that has ended. */
  noteDelivery(attributes: Attributes, { took_ms, error }: { took_ms: number; error: string | null }): void {
    const ended_ms = Date.now();
    const span = this.#tracer.startSpan(
      'delivery',
      { kind: SpanKind.CLIENT, startTime: ended_ms - took_ms, attributes },
      ROOT_CONTEXT,
    );
    if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(ended_ms);
  }

  /** Sends what is left, for a few seconds at most. */
  async close(): Promise<void> {
    await Promise.race([this.#close(), new Promise((resolve) => setTimeout(resolve, CLOSE_MAX_MS).unref())]);
  }
}

function namedBy(traceparent: string | undefined): Context {
  const [, traceId = '', spanId = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === '' || NOTHING.test(traceId) || NOTHING.test(spanId)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1, isRemote: true });
}
