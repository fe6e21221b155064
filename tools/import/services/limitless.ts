import { z } from 'zod';
import type { ImportService } from './service.js';

const PAGE = 10; // as many as it gives at once

type Node = {
  type: string;
  content?: string | null | undefined;
  startTime?: string | null | undefined;
  endTime?: string | null | undefined;
  startOffsetMs?: number | null | undefined;
  endOffsetMs?: number | null | undefined;
  speakerName?: string | null | undefined;
  speakerIdentifier?: string | null | undefined;
  children?: Node[] | null | undefined;
};

const node: z.ZodType<Node> = z.object({
  type: z.string(),
  content: z.string().nullish(),
  startTime: z.string().nullish(),
  endTime: z.string().nullish(),
  startOffsetMs: z.number().nullish(),
  endOffsetMs: z.number().nullish(),
  speakerName: z.string().nullish(),
  speakerIdentifier: z.string().nullish(),
  get children() {
    return z.array(node).nullish();
  },
});

const answer = z.object({
  data: z.object({
    lifelogs: z.array(
      z.object({
        id: z.string(),
        title: z.string().nullish(),
        startTime: z.string(),
        contents: z.array(node).nullish(),
      }),
    ),
  }),
  meta: z.object({ lifelogs: z.object({ nextCursor: z.string().nullish() }).nullish() }).nullish(),
});

export const LIMITLESS: ImportService = {
  name: 'limitless',
  title: 'Limitless',
  key_env: 'LIMITLESS_API_KEY',
  url_env: 'LIMITLESS_URL',
  url: 'https://api.limitless.ai',
  async page(ask, cursor) {
    const { data, meta } = answer.parse(
      await ask({
        path: '/v1/lifelogs',
        headers: (key) => ({ 'X-API-Key': key }),
        query: {
          ...{ includeContents: 'true', includeMarkdown: 'false', direction: 'desc', limit: String(PAGE) },
          ...(cursor !== null && { cursor }),
        },
      }),
    );
    const items = data.lifelogs.map(({ id, title, startTime, contents }) => {
      const sentences = utterances(contents ?? []).flatMap((one) => sentenceOf(one, Date.parse(startTime)));
      return { id, title: title ?? '', transcript: sentences.length === 0 ? null : { date: startTime, sentences } };
    });
    return { items, cursor: meta?.lifelogs?.nextCursor ?? null };
  },
};

/** The parts of the tree that somebody said, in its order; the others are headings of a summary. */
function utterances(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((one) => [...(one.type === 'blockquote' ? [one] : []), ...utterances(one.children ?? [])]);
}

function sentenceOf(one: Node, begins_ms: number) {
  const text = one.content?.trim() ?? '';
  const start_ms = one.startOffsetMs ?? Date.parse(one.startTime ?? '') - begins_ms;
  const end_ms = one.endOffsetMs ?? Date.parse(one.endTime ?? '') - begins_ms;
  if (text === '' || !Number.isFinite(start_ms)) return [];
  // Whose device it is has a name of the program alone.
  const is_self = one.speakerIdentifier === 'user';
  return [
    {
      text,
      start_time: start_ms / 1_000,
      end_time: Math.max(start_ms, Number.isFinite(end_ms) ? end_ms : start_ms) / 1_000,
      ...(is_self || one.speakerName == null ? { speaker_id: is_self ? 0 : null } : { speaker_name: one.speakerName }),
    },
  ];
}
