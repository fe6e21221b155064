import type { Logger } from 'pino';
import type { BatchObserver } from './batch_record.js';
import type { Tracing } from './tracing.js';

/** Writes batches to the log (level debug) and into traces; null where neither is wanted, so that batches cost nothing more. */
export function batchObserver(log: Logger, tracing: Tracing | null): BatchObserver | null {
  const is_logged = log.isLevelEnabled('debug');
  if (!is_logged && tracing === null) return null;
  return (note) => {
    tracing?.noteTurn(note);
    if (!is_logged) return;
    const { messages, ...rest } = note;
    const request_ids = new Set(messages.flatMap(({ scope }) => scope?.request_id ?? []));
    log.debug({ ...rest, messages: messages.map(({ type }) => type), request_ids: [...request_ids] }, 'batch');
  };
}
