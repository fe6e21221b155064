import type { LoggedEvent } from './store/store.js';

/** The Event of the interface: as logged, with the sequence that the log gave it. */
export function eventView({ id, body }: LoggedEvent): Record<string, unknown> {
  const { id: event_id, schema_version, ...rest } = JSON.parse(body) as Record<string, unknown>;
  return { id: event_id, schema_version, sequence: String(sequenceOf(id)), ...rest };
}

/** The log's ids are `<ms>-<sequence>`. */
export function sequenceOf(log_id: string): number {
  return Number(log_id.slice(log_id.indexOf('-') + 1));
}
