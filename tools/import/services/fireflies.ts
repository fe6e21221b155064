import { z } from 'zod';
import { UserError } from '../../user_error.js';
import type { ImportService } from './service.js';

const PAGE = 20;

const QUERY = `query Transcripts($limit: Int, $skip: Int) {
  transcripts(limit: $limit, skip: $skip) {
    id title date
    sentences { index text raw_text start_time end_time speaker_id speaker_name }
  }
}`;

const answer = z.object({
  errors: z.array(z.object({ message: z.string() })).nullish(),
  data: z
    .object({
      transcripts: z
        .array(
          z.object({
            id: z.string(),
            title: z.string().nullish(),
            date: z.union([z.number(), z.string()]).nullish(),
            sentences: z.array(z.looseObject({ text: z.string().nullish() })).nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
});

export const FIREFLIES: ImportService = {
  name: 'fireflies',
  title: 'Fireflies',
  key_env: 'FIREFLIES_API_KEY',
  url_env: 'FIREFLIES_URL',
  url: 'https://api.fireflies.ai',
  async page(ask, cursor) {
    const skip = Number(cursor ?? 0);
    const { errors, data } = answer.parse(
      await ask({
        path: '/graphql',
        headers: (key) => ({ Authorization: `Bearer ${key}` }),
        body: { query: QUERY, variables: { limit: PAGE, skip } },
      }),
    );
    const [error] = errors ?? [];
    if (error !== undefined) throw new UserError(`Fireflies refuses: ${error.message}`);
    const found = data?.transcripts ?? [];
    const items = found.map(({ id, title, date, sentences }) => {
      const said = (sentences ?? []).filter(({ text }) => (text ?? '').trim() !== '');
      return { id, title: title ?? '', transcript: said.length === 0 ? null : { date, sentences: said } };
    });
    return { items, cursor: found.length < PAGE ? null : String(skip + found.length) };
  },
};
