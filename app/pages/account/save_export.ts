import type { Export } from '../../../kits/typescript/src/api.js';
import { payloadOf, send } from '../../api/api.js';
import { ApiError } from '../../api/api_error.js';
import { numberText } from '../../language/formats.js';
import { say } from '../../language/say.js';

const TOLD_EVERY_MS = 250;
/** So long a browser may need to take over what it saves. */
const TAKEN_MS = 60_000;

/**
 * Saves an archive. A link can't show our token, so it is fetched here; browsers keep a large blob on disk, not in memory.
 * `onBytes` hears how much has come.
 */
export async function saveExport({ id, bytes }: Export, onBytes: (bytes: number) => void): Promise<void> {
  const answer = await send('GET', `/me/exports/${id}/content`);
  if (!answer.ok || answer.body === null) return payloadOf(answer);
  const blob = await new Response(answer.body.pipeThrough(counting(onBytes))).blob().catch(brokeOff);
  if (bytes !== null && blob.size !== bytes) brokeOff();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = fileNameOf(answer) ?? 'spool-export.zip';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_MS);
}

function counting(onBytes: (bytes: number) => void): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let told_ms = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (Date.now() - told_ms >= TOLD_EVERY_MS) {
        told_ms = Date.now();
        onBytes(bytes);
      }
      controller.enqueue(piece);
    },
  });
}

function brokeOff(): never {
  throw new ApiError('NETWORK', say('The archive did not come whole. Try again.'));
}

function fileNameOf(answer: Response): string | undefined {
  return /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1];
}

const UNITS = ['B', 'KB', 'MB', 'GB'] as const;
const UNIT_BYTES = 1_000;

export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes === 0 ? 0 : Math.floor(Math.log(bytes) / Math.log(UNIT_BYTES)));
  const count = bytes / UNIT_BYTES ** power;
  const digits = power === 0 || count >= 10 ? 0 : 1;
  const words = numberText(count, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${words} ${UNITS[power]}`;
}
