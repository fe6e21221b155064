import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlainText } from '../../domain/language/texts.js';
import { sendPage } from './page.js';
import { requestTexts } from './request_language.js';

/** Answers 404 with a page for people, whose address has ended or never was one. */
export function sendEnded(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { heading, text }: { heading: PlainText; text: PlainText },
): FastifyReply {
  const texts = requestTexts(request);
  return sendPage(reply.code(404), {
    page: 'ended',
    flow: null,
    heading: texts.say(heading),
    text: texts.say(text),
  });
}
