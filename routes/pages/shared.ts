import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Texts } from '../../src/domain/language/texts.js';
import { isRefused } from '../../src/domain/refusals.js';
import { clockText } from '../../src/domain/span_text.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import type { Answer } from '../../src/edge/http/route.js';
import { sendEnded } from '../../src/edge/pages/ended_page.js';
import { sendPage } from '../../src/edge/pages/page.js';
import { requestTexts } from '../../src/edge/pages/request_language.js';
import { type OpenedLink, openedLink, sharedRecording } from '../../src/features/links/shared_recording.js';
import { joinedAudio } from '../../src/features/recordings/joined_audio.js';
import { type TranscriptHead, UNTITLED } from '../../src/features/transcripts/transcript_markdown.js';
import { PARAMETERS } from '../path_parameters.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** The page that a link to a recording leads to: its text, and its audio where the link shows that. */

const PATH = '/shared/:link';
const PARTS_MAX = 1_000;
const LINK_ENDED = {
  heading: 'This link has ended',
  text: 'It was good for a time, or whoever made it has ended it. Ask them for another one.',
} as const;
const query = z.object({ part: z.coerce.number().int().min(1).max(PARTS_MAX).catch(1) });

type Ends = { services: Services; request: FastifyRequest; reply: FastifyReply };

export const SHARED_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: PATH,
    params: { link: PARAMETERS.shared },
    credential: 'none',
    dialect: 'page',
    rate: 'links_opened',
    query,
    handler: ({ services, request, reply, params, query }) =>
      openLink({ services, request, reply }, params.link, (opened) =>
        show({ services, request, reply }, opened, query),
      ),
  }),
  openRoute({
    method: 'GET',
    path: `${PATH}/audio`,
    params: { link: PARAMETERS.shared },
    credential: 'none',
    dialect: 'page',
    rate: 'links_opened',
    handler: ({ services, request, reply, params }) =>
      openLink({ services, request, reply }, params.link, (opened) => sendAudio({ services, request, reply }, opened)),
  }),
];

/** Whoever opens a link takes one of the places that requests of its account have. */
async function openLink(ends: Ends, secret: string, answer: (opened: OpenedLink) => Promise<Answer>): Promise<Answer> {
  const { services, request, reply } = ends;
  reply.header('X-Robots-Tag', 'noindex, nofollow, noarchive');
  try {
    const opened = await openedLink(services, secret);
    const signal = leftSignal({ request, reply });
    return await services.account_requests.run(opened.reader.account_id, () => answer(opened), { signal });
  } catch (error) {
    // Of the recording as of the link: whoever has no right to it learns no more.
    if (!isRefused(error, 'NOT_FOUND')) throw error;
    return sendEnded(ends, LINK_ENDED);
  }
}

async function show({ services, request, reply }: Ends, opened: OpenedLink, { part }: z.output<typeof query>) {
  const found = await sharedRecording(services, opened, part);
  if (request.method === 'GET' && found.part === 1) await services.actors.shareLink(opened.id).count_opening();
  const path = request.url.replace(/\?.*$/, '');
  const { head, summary, turns } = found;
  const texts = requestTexts(request);
  return sendPage(reply, {
    page: 'shared',
    ...{ head: titled(head, texts), summary, path, part: found.part, parts: found.parts },
    audio: found.has_audio ? `${path}/audio` : null,
    ends_on: texts.momentText(opened.link.expires_at_ms),
    turns: turns.map(({ start_ms, name, text }) => ({ at: clockText(start_ms), name: speakerText(name, texts), text })),
  });
}

/** A recording without a title has one in the language of the page. */
function titled(head: TranscriptHead, texts: Texts): TranscriptHead {
  return head.title === UNTITLED ? { ...head, title: texts.say('Recording') } : head;
}

/** Speakers without a name have numbers: S1. */
function speakerText(name: string | null, texts: Texts): string | null {
  const number = name === null ? undefined : /^S(\d+)$/.exec(name)?.[1];
  return number === undefined ? name : texts.say('Speaker {number}', { number });
}

async function sendAudio(ends: Ends, { link: { stream_id }, reader }: OpenedLink) {
  const { services, request, reply } = ends;
  if (!reader.permissions.includes('audio:read')) return sendEnded(ends, LINK_ENDED);
  const signal = leftSignal({ request, reply });
  const audio = await joinedAudio(services, reader, { stream_id, signal });
  return sendBytes({ request, reply }, audio, {
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Referrer-Policy': 'no-referrer',
  });
}
