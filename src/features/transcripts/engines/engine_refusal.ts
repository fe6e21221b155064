import { EngineFailed } from './engine.js';

/**
 * The reasons that servers of language models give for a refusal, each in words of its own: there is no room for the question, or
 * no such model.
 */

/** Statuses of servers that have no room. Others, such as 401 and 429, say something else of whoever asks. */
const OF_ROOM: ReadonlySet<number> = new Set([400, 413, 422, 500]);
const OF_MODEL: ReadonlySet<number> = new Set([400, 404, 422, 500]);

const NO_ROOM =
  /context[ _-]?(?:length|size|window|limit)|exceed_context|maximum (?:context|input|prompt|sequence)|longer than the maximum|(?:prompt|input|request|messages?)[^.{}]{0,40} too (?:long|large|many tokens)|too many (?:input )?tokens|exceeds? [^.{}]{0,40}(?:tokens|n_ctx)/iu;
const NO_MODEL =
  /model[^{}]{0,120}(?:not found|does ?n[o']t exist|is not (?:available|loaded|installed|supported)|could not be (?:found|loaded))|(?:no such|unknown|invalid|missing) model|model_not_found|no models? (?:is |are )?loaded/iu;
/** The first match says how many tokens there is room for. */
const LIMITS_SAID = [
  /\bn_ctx\b["':=\s]*(\d{3,8})/iu,
  /(\d{3,8}) maximum/iu,
  /(?:context|maximum|limit)[^0-9{}]{0,60}?(\d{3,8})\b/iu,
];
const NUMBER = /\b\d{3,8}\b/gu;
/** The answer needs room as well. */
const ROOM_SHARE = 0.75;
const SHARE = { min: 0.05, usual: 0.5 };

/** Null if a refusal gives neither reason. */
export function failureSaid(status: number, text: string): EngineFailed | null {
  if (OF_ROOM.has(status) && NO_ROOM.test(text)) {
    const message = `The engine answered ${status}: it has no room for so much.`;
    return new EngineFailed('ENGINE_CONTEXT_TOO_SMALL', message, { share: shareOf(text) });
  }
  if (status === 404 || (OF_MODEL.has(status) && NO_MODEL.test(text)))
    return new EngineFailed('ENGINE_MODEL_MISSING', `The engine answered ${status}: it has no such model.`);
  return null;
}

/** The share of the question that fits: by the numbers of tokens if both are given, else a half. */
function shareOf(text: string): number {
  const [limit = Number.NaN] = LIMITS_SAID.flatMap((said) => Number(said.exec(text)?.[1] ?? []));
  const asked = Math.max(...(text.match(NUMBER) ?? []).map(Number));
  if (!(asked > limit)) return SHARE.usual;
  return Math.min(SHARE.usual, Math.max(SHARE.min, (limit / asked) * ROOM_SHARE));
}
