import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { listCursor, type Page } from '../../src/access/cursors.js';
import { listLimit, timeInQuery } from '../../src/access/request_schemas.js';
import { no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { JsonBytes } from '../../src/edge/http/responses.js';
import { signalsForm, signalType } from '../../src/features/recordings/signal_batch.js';
import {
  listSignals,
  postSignals,
  READS_SIGNALS,
  type SignalView,
  signalShape,
} from '../../src/features/recordings/signals.js';
import { WRITES_STREAMS } from '../../src/features/recordings/stream_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The number of characters that are encoded without a pause; four megabytes at once would delay everybody for 50 ms. */
const CHARS_AT_ONCE = 128 * 1024;

/** Signals on a stream's timeline. docs/rules.md, "Stream signals". */
export const SIGNAL_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/signals',
    params: { id: PARAMETERS.stream },
    summary: "Attaches signals to a stream's timeline.",
    notes:
      'All of them are stored, or none. A ref that is there already with the same content is no new signal; with other content everything is refused.',
    credential: 'account',
    permission: WRITES_STREAMS,
    takes: 'json_pieces',
    body_bytes_max: LIMITS.signals_body_bytes_max,
    body: z.array(z.instanceof(Uint8Array), 'must be an object with signals'),
    answer: z.strictObject({ items: z.array(signalShape), cursor: no_cursor }),
    reads: { body: signalsForm },
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body }) {
      const items = await postSignals(services, who, { stream_id: params.id, body });
      return jsonOf({ items, cursor: null });
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/signals',
    params: { id: PARAMETERS.stream },
    summary: "Signals on a stream's timeline, by their start.",
    credential: 'account',
    permission: READS_SIGNALS,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      type: signalType.optional().describe('Only signals of this type.'),
      from_ms: timeInQuery.describe("Only signals that are not over before this, in ms on the stream's timeline."),
      to_ms: timeInQuery.describe('Only signals that begin by then, in ms.'),
    }),
    answer: pageShape(signalShape),
    async handler({ services, who, params, query }) {
      const page = await listSignals(services, who, { stream_id: params.id, ...query });
      return jsonOf(page);
    },
  }),
];

/** A page of signals as JSON, with payloads as they were sent, in pieces. */
async function jsonOf({ items, cursor }: Page<SignalView>): Promise<JsonBytes> {
  const pieces: Buffer[] = [];
  let text = '{"items":[';
  for (const [index, { payload_text, ...signal }] of items.entries()) {
    const members = JSON.stringify(signal).slice(0, -1);
    text += `${index === 0 ? '' : ','}${members},"payload":${payload_text ?? 'null'}}`;
    if (text.length < CHARS_AT_ONCE) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await setImmediate();
  }
  pieces.push(Buffer.from(`${text}],"cursor":${JSON.stringify(cursor)}}`));
  return new JsonBytes(pieces);
}
