import type { Span } from '@opentelemetry/api';

/** A request, as the batches that it causes know it: the name that its logs carry, and its span where traces are made. */
export type RequestScope = { request_id: string; span: Span | null };
