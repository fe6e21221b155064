import { parseCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import { acceptedLanguage, type Language, languageAmong, type Texts, textsIn } from '../../domain/language/texts.js';

/** The language of pages, and of mails that a request causes. Rule K-440. */

/** The cookie in which `/app` keeps the language that somebody chose for the browser: `app/language/languages.ts`. */
const COOKIE = 'spool_language';

export function requestLanguage({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  const chosen = parseCookie(headers.cookie ?? '')[COOKIE];
  return chosen === undefined ? acceptedLanguage(headers['accept-language']) : languageAmong([chosen]);
}

export function requestTexts(request: Pick<FastifyRequest, 'headers'>): Texts {
  return textsIn(requestLanguage(request));
}
