import type { BodyBudget } from '../admission/body_budget.js';
import { askForBody, isLarge, leftSignal } from './body_arrival.js';
import { bodyPieces } from './body_pieces.js';
import { watchSilence } from './body_upload.js';
import type { Exchange } from './request_state.js';

/**
 * The whole body of a `raw` row, for a handler that has to know first whose it is. It counts against the bodies that a process
 * and its owner have in memory, and has the row's `body_bytes_max`.
 */
export async function takeBytes(
  ends: Exchange,
  { body_budget, owner }: { body_budget: BodyBudget; owner: string },
): Promise<Buffer> {
  const { request, reply } = ends;
  const arriving = await body_budget.begin(owner, {
    is_large: isLarge(request, {}),
    hasLeft: () => leftSignal(ends),
  });
  request.arriving = arriving;
  reply.raw.once('close', arriving.end);
  if (reply.raw.closed) arriving.end();
  askForBody(request, reply);
  const silence = watchSilence(request.raw);
  try {
    return Buffer.concat(await Promise.race([bodyPieces(request, request.raw), silence.fell]));
  } finally {
    silence.end();
  }
}
