/** Bounds for every request body of a device, in JSON and in CBOR alike. */
export const DOCUMENT_LIMITS = {
  depth_max: 16,
  /** Values and keys together. */
  items_max: 20_000,
};

/**
 * The reason for which a body was refused. `path` names the place, as in `chunks.3.sequence`; absent for the body as a
 * whole.
 */
export type DocumentRefusal = { ok: false; path?: string; message: string };

export type DecodedDocument = { ok: true; value: unknown } | DocumentRefusal;

/** Thrown where reading stops: the bytes are invalid in their format, or hold something that is not accepted. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

/** The path from the whole to a place: keys and indexes. Undefined stands for a key that has not been read yet. */
export type DocumentSteps = readonly (string | number | undefined)[];

const PATH_KEY_CHARACTERS_MAX = 64;

/** The refusal of a body whose reading stopped at this place. Any other error is thrown again. */
export function refusalAt(steps: DocumentSteps, error: unknown): DocumentRefusal {
  if (!(error instanceof NotReadable)) throw error;
  const { message } = error;
  const known = steps.filter((step) => step !== undefined).map((step) => shortened(String(step)));
  return known.length === 0 ? { ok: false, message } : { ok: false, path: known.join('.'), message };
}

function shortened(step: string): string {
  return step.length > PATH_KEY_CHARACTERS_MAX ? `${step.slice(0, PATH_KEY_CHARACTERS_MAX)}…` : step;
}
