import type { InsightRun } from '../../../../actors/insights/library_state.js';

/** The reasons why a model made nothing of a conversation, in sentences for people. */
const MESSAGES: Readonly<Record<string, string>> = {
  INSIGHTS_OFF: 'This server looks into no recordings.',
  ENGINE_UNREACHABLE: 'The model could not be reached.',
  ENGINE_TIMEOUT: 'The model did not answer in time.',
  ENGINE_BUSY: 'The model was busy.',
  ENGINE_ERROR: 'The server of the model failed.',
  ENGINE_REFUSED: 'The server of the model refused the request.',
  ENGINE_MODEL_MISSING: 'The model is not on its server.',
  ENGINE_CONTEXT_TOO_SMALL: 'The model has no room for what was said.',
  ENGINE_NOT_JSON: 'The answer of the model could not be read.',
  ENGINE_BAD_ANSWER: 'The answer of the model could not be used.',
  ENGINE_ANSWER_TOO_LARGE: 'The answer of the model was too long.',
  ENGINE_UNKNOWN: 'The pipeline names an engine that this server does not have.',
};
/** Not a failure of the engine: the built-in one found titles and a summary, and no suggestions. */
export const ENGLISH_ONLY = 'ENGLISH_ONLY';
const ENGLISH_ONLY_TEXT = 'The built-in engine finds decisions, tasks and questions in English only.';
const OTHER = 'It could not be looked into.';
const INSTEAD = 'The built-in engine looked into it instead.';

/** `published`: the result of another engine was published. */
export function insightFailure(code: string, status?: InsightRun['status']): { code: string; message: string } {
  if (code === ENGLISH_ONLY) return { code, message: ENGLISH_ONLY_TEXT };
  const message = MESSAGES[code] ?? OTHER;
  return { code, message: status === 'published' ? `${message} ${INSTEAD}` : message };
}
