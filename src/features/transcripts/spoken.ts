import { z } from 'zod';
import type { Principal } from '../../access/principal.js';
import { count, moment } from '../../access/response_schemas.js';
import { orNull } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';
import { readableTranscript } from './transcript_reading.js';
import { contactAsked, newestSteps, streamsOf } from './turn_lists.js';

/** Counts what a contact said. Rules K-340 and K-341; docs/choices.md, "Contacts". */

/** Of recordings and of pages of transcripts, the newest ones; ours. */
const SCANNED_MAX = { streams: 100, pages: 64 };

export const spokenShape = z
  .strictObject({
    turns: count.describe('How many turns it said.'),
    talk_ms: count.describe('For how long it spoke in all, in ms.'),
    recordings: count.describe('In how many recordings it is heard.'),
    last_heard_at: moment.nullable().describe('When its newest turn began; null for one that said nothing.'),
    is_complete: z.boolean().describe('Whether all was counted; false where only the newest recordings were.'),
  })
  .meta({ id: 'Spoken' });

export type SpokenView = z.infer<typeof spokenShape>;

/** How much a contact said in the account's own recordings, and when it was heard last. */
export async function readSpoken(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  asked_id: string,
  scanned_max = SCANNED_MAX,
): Promise<SpokenView> {
  const contact_id = (await contactAsked(services, who, asked_id))?.id;
  const spoken: SpokenView = { turns: 0, talk_ms: 0, recordings: 0, last_heard_at: null, is_complete: true };
  const looked = { streams: 0, pages: 0 };
  for await (const { member } of streamsOf(services, who, { contact_id }, null)) {
    if (looked.streams >= scanned_max.streams) return { ...spoken, is_complete: false };
    looked.streams += 1;
    const readable = await orNull(readableTranscript(services, who, member), 'NOT_FOUND');
    if (readable === null) continue;
    const begun_ms = Date.parse(readable.stream.captured_at);
    let is_heard = false;
    for await (const { turns } of newestSteps(services, readable, { contact_id, inside: undefined })) {
      if (looked.pages >= scanned_max.pages) return { ...spoken, is_complete: false };
      looked.pages += 1;
      for (const { turn } of turns) {
        spoken.turns += 1;
        spoken.talk_ms += turn.end_ms - turn.start_ms;
        spoken.last_heard_at ??= new Date(begun_ms + turn.start_ms).toISOString();
        if (!is_heard) spoken.recordings += 1;
        is_heard = true;
      }
    }
  }
  return spoken;
}
