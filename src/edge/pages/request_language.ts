import { parseCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import {
  acceptedLanguage,
  type Language,
  languageAmong,
  namesLanguage,
  type Texts,
  textsIn,
} from '../../domain/language/texts.js';

/** The language of pages, and of mails that a request causes. Rule K-440. */

/** The cookie in which `/app` keeps the language that somebody chose for the browser: `app/language/languages.ts`. */
const COOKIE = 'spool_language';

export function requestLanguage({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  const chosen = parseCookie(headers.cookie ?? '')[COOKIE];
  return chosen === undefined ? acceptedLanguage(headers['accept-language']) : languageAmong([chosen]);
}

/** Undefined where the request names no language: a program sends neither the cookie nor the header. */
export function namedLanguage(request: Pick<FastifyRequest, 'headers'>): Language | undefined {
  const { cookie = '', 'accept-language': accepted } = request.headers;
  const is_named = parseCookie(cookie)[COOKIE] !== undefined || namesLanguage(accepted);
  return is_named ? requestLanguage(request) : undefined;
}

export function requestTexts(request: Pick<FastifyRequest, 'headers'>): Texts {
  return textsIn(requestLanguage(request));
}
