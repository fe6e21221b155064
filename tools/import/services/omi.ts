import { z } from 'zod';
import type { ImportService } from './service.js';

const PAGE = 25;

const conversation = z.object({
  id: z.string(),
  created_at: z.string().nullish(),
  started_at: z.string().nullish(),
  structured: z.object({ title: z.string().nullish() }).nullish(),
  transcript_segments: z
    .array(
      z.object({
        text: z.string(),
        speaker_id: z.number().nullish(),
        speaker_name: z.string().nullish(),
        start: z.number(),
        end: z.number(),
      }),
    )
    .nullish(),
});

export const OMI: ImportService = {
  name: 'omi',
  title: 'omi',
  key_env: 'OMI_API_KEY',
  url_env: 'OMI_URL',
  url: 'https://api.omi.me',
  async page(ask, cursor) {
    const offset = Number(cursor ?? 0);
    const found = z.array(conversation).parse(
      await ask({
        path: '/v1/dev/user/conversations',
        headers: (key) => ({ Authorization: `Bearer ${key}` }),
        query: { include_transcript: 'true', limit: String(PAGE), offset: String(offset) },
      }),
    );
    const items = found.map(({ id, created_at, started_at, structured, transcript_segments }) => {
      const said = (transcript_segments ?? []).filter(({ text }) => text.trim() !== '');
      const segments = said.map(({ speaker_id, ...segment }) => {
        return speaker_id == null ? segment : { ...segment, speaker: `SPEAKER_${speaker_id}` };
      });
      const transcript = { id, created_at, started_at, transcript_segments: segments };
      return { id, title: structured?.title ?? '', transcript: said.length === 0 ? null : transcript };
    });
    return { items, cursor: found.length < PAGE ? null : String(offset + found.length) };
  },
};
