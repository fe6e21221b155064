import { z } from 'zod';
import type { Principal } from '../../../../access/principal.js';
import { count, id, moment } from '../../../../access/response_schemas.js';
import { isPipelineOutputId } from '../../../../domain/ids.js';
import { orNull } from '../../../../domain/refusals.js';
import { Slices } from '../../../../engine/time/slices.js';
import { withDetails } from '../../../insights/reading/stream_titles.js';
import { viewStream } from '../../../recordings/streams.js';
import type { FeatureServices } from '../../../services.js';
import { pagesFrom, type ReadableTranscript } from '../../../transcripts/transcript_pages.js';
import { requestedTranscript } from '../../../transcripts/transcript_reading.js';
import { searchedTranscripts } from '../../index/evaluate.js';
import type { IndexedPage, SearchIndexes } from '../../index/search_index.js';
import { openScope } from '../search_scope.js';
import { type Likeness, SharedWords, tellingWords } from './shared_words.js';

/** Recordings that are about the same as one. Rules K-277 to K-279; docs/search.md, "Related recordings". */

const RELATED_MAX = 3;
const WORDS_SHOWN = 3;
/** Of the recording itself: what comes later is left out. */
const OWN_TURNS_MAX = 3_000;
/** Of all others, the newest first. */
const PAGES_MAX = 3_000;

export const relatedShape = z.strictObject({
  items: z
    .array(
      z
        .strictObject({
          stream_id: id.describe('The recording.'),
          title: z.string().nullable().describe('Its title, its own or suggested.'),
          captured_at: moment.describe('When it began.'),
          start_ms: count.describe('Where most of the shared words are, in ms of its timeline.'),
          words: z.array(z.string()).describe('Words that both have and few others, as this recording has them.'),
        })
        .meta({ id: 'RelatedRecording' }),
    )
    .describe('Three at most, the most alike first; none where nothing is alike.'),
  cursor: z.null().describe('Null: there is no other page.'),
});

type RelatedDeps = Pick<FeatureServices, 'actors' | 'runtime' | 'store'> & { search_indexes: SearchIndexes };
type Placed = { transcript_id: string; pages: readonly IndexedPage[] };

/** Other recordings that the caller may read and that share telling words with this one. */
export async function relatedRecordings(
  services: RelatedDeps,
  who: Principal,
  stream_id: string,
): Promise<z.infer<typeof relatedShape>> {
  const own = await requestedTranscript(services, who, { stream_id });
  const words = tellingWords(await turnsOf(services, own));
  if (words.length === 0) return { items: [], cursor: null };
  const { scope } = await openScope(services, who, { kinds: ['turn'] });
  const others = scope.indexes.flatMap((index) =>
    [...searchedTranscripts(index, scope)].flatMap(([transcript_id, pages]): Placed[] =>
      transcript_id === own.id || isPipelineOutputId(transcript_id) ? [] : [{ transcript_id, pages }],
    ),
  );
  others.sort((a, b) => beginOf(b) - beginOf(a));
  const slices = new Slices();
  const shared = new SharedWords(words);
  let looked = 0;
  for (const { transcript_id, pages } of others) {
    looked += pages.length;
    if (looked > PAGES_MAX) break;
    for (const page of pages) {
      await slices.pause();
      shared.add(transcript_id, page);
    }
  }
  const items = [];
  for (const [found_id, likeness] of shared.related()) {
    const pages = others.find(({ transcript_id }) => transcript_id === found_id)?.pages ?? [];
    const item = await viewRelated(services, who, { id: found_id, pages, likeness });
    if (item !== null) items.push(item);
    if (items.length === RELATED_MAX) break;
  }
  return { items, cursor: null };
}

async function turnsOf(
  services: RelatedDeps,
  own: ReadableTranscript,
): Promise<{ text: string; language: string | null }[]> {
  const turns: { text: string; language: string | null }[] = [];
  for await (const page of pagesFrom(services, own, { page: 0 })) {
    turns.push(...page.turns.map(({ text, language }) => ({ text, language })));
    if (turns.length >= OWN_TURNS_MAX) break;
  }
  return turns;
}

function beginOf({ pages }: Placed): number {
  return pages[0]?.block.begins_at_ms ?? 0;
}

/** Null where the caller may not read it, or it is gone by now. */
async function viewRelated(
  services: RelatedDeps,
  who: Principal,
  { id: found_id, pages, likeness }: { id: string; pages: readonly IndexedPage[]; likeness: Likeness },
) {
  const stream = await orNull(viewStream(services, who, found_id), 'NOT_FOUND');
  if (stream === null) return null;
  const [detailed] = await withDetails(services, who, [stream], ['title_suggested']);
  const { captured_at } = stream;
  return {
    stream_id: found_id,
    title: stream.title ?? detailed?.title_suggested ?? null,
    captured_at,
    start_ms: Math.max(0, Math.round(bestMoment(pages, likeness) - Date.parse(captured_at))),
    words: likeness.words.slice(0, WORDS_SHOWN).map(({ said }) => said),
  };
}

/** When the turn was said that has most of the shared words. */
function bestMoment(pages: readonly IndexedPage[], { words }: Likeness): number {
  let [moment_ms, most] = [0, 0];
  for (const { block } of pages) {
    const sums = new Float64Array(block.texts);
    const [texts, times] = [new Uint16Array(block.texts), new Uint16Array(block.texts)];
    for (const { terms, rarity } of words)
      for (const term of terms)
        for (let at = block.readPostings(term, texts, times) - 1; at >= 0; at--)
          sums[texts[at] as number] = (sums[texts[at] as number] as number) + rarity;
    for (const [text, sum] of sums.entries()) {
      if (sum <= most) continue;
      most = sum;
      moment_ms = block.begins_at_ms + block.start_ms(text);
    }
  }
  return moment_ms;
}
