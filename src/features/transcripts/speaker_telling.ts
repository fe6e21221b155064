import { z } from 'zod';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { speakerName, type Telling } from '../../../actors/transcripts/transcript_state.js';
import type { Principal } from '../../access/principal.js';
import { count, id } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { closedAs } from '../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../engine/store/store.js';
import { AUDIO_EXPIRED } from '../recordings/joined_audio.js';
import type { FeatureServices } from '../services.js';
import type { TranscriberShown } from './engines/choose_engine.js';
import type { TellingWorker } from './telling_worker.js';
import { readableTranscript } from './transcript_reading.js';

/**
 * Speakers told apart by the number that a person gives. Rules K-460 to K-464; docs/transcription.md, "Speakers by their
 * number".
 */

const STATES = { telling: 'under_way', told: 'done', undoing: 'undone', undone: 'undone', failed: 'failed' } as const;

export const toldSpeakersShape = z
  .strictObject({
    stream_id: id.describe('The stream.'),
    count: count.describe('How many speakers a person said that there are.'),
    state: z
      .enum(['under_way', 'done', 'undone', 'failed'])
      .describe('under_way: the turns get their speakers; done: they have them; undone: taken away again.'),
    code: z
      .string()
      .nullable()
      .describe('Why it failed: FEWER_VOICES, UNSUPPORTED_AUDIO, AUDIO_GONE or ENGINE_ERROR; null otherwise.'),
    speakers: z.array(z.string()).describe('The speakers that were told apart, such as S1 and S2.'),
  })
  .meta({ id: 'ToldSpeakers' });

export type ToldSpeakersView = z.infer<typeof toldSpeakersShape>;

type TellingServices = Pick<FeatureServices, 'actors' | 'runtime'> & {
  telling: TellingWorker;
  transcriber: TranscriberShown;
};

const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may correct its transcript.');
const NO_TEXT = refuse('CONFLICT', 'There is no text in this recording whose speakers could be told apart.');
const NO_AUDIO = refuse('CONFLICT', 'This recording has no audio: its speakers can not be heard.');
const OFF = refuse(
  'CONFLICT',
  'Nothing on this server tells speakers apart: its operator can install the models for it.',
);
const LIVE = refuse('CONFLICT', 'The recording has not ended.');

/** Has the speakers of a recording told apart. The same number again changes nothing. */
export async function tellSpeakers(
  services: TellingServices,
  who: Principal,
  { stream_id, count }: { stream_id: string; count: number },
): Promise<ToldSpeakersView> {
  const { stream } = await ownTranscript(services, who, stream_id);
  if (!services.transcriber.tells_speakers) throw new Refused(OFF);
  if (stream.end_ms === null) throw new Refused(LIVE);
  if (stream.stored_chunks === 0) throw new Refused(stream.expired_chunks > 0 ? AUDIO_EXPIRED : NO_AUDIO);
  const { telling } = await services.actors
    .transcript(stream_id)
    .tell_speakers({ count }, fencesOf(who, stream))
    .catch(closedAs(NO_TEXT));
  services.telling.offer(stream_id);
  return viewTelling(stream_id, telling);
}

/** Takes the speakers away again that were told apart. What people said of single turns stays. */
export async function undoSpeakers(
  services: TellingServices,
  who: Principal,
  { stream_id }: { stream_id: string },
): Promise<ToldSpeakersView> {
  const { stream } = await ownTranscript(services, who, stream_id);
  const { telling } = await services.actors
    .transcript(stream_id)
    .undo_speakers({}, fencesOf(who, stream))
    .catch(closedAs(NO_TEXT));
  // Most recordings are short: their turns have changed before the answer.
  await services.telling.offerAndWait(stream_id);
  return viewTelling(stream_id, telling);
}

export function viewTelling(stream_id: string, { count, first, status, code }: Telling): ToldSpeakersView {
  const speakers =
    status === 'told' || status === 'telling' ? Array.from({ length: count }, (_, at) => first + at) : [];
  return { stream_id, count, state: STATES[status], code, speakers: speakers.map(speakerName) };
}

/** Checks the number of speakers that a request gives. */
export const speakerCount = z
  .int(`must be ${LIMITS.told_speakers_min} or ${LIMITS.told_speakers_max}`)
  .min(LIMITS.told_speakers_min, `must be ${LIMITS.told_speakers_min} or ${LIMITS.told_speakers_max}`)
  .max(LIMITS.told_speakers_max, `must be ${LIMITS.told_speakers_min} or ${LIMITS.told_speakers_max}`)
  .describe('How many people speak: 2 or 3.');

async function ownTranscript(
  services: TellingServices,
  who: Principal,
  stream_id: string,
): Promise<{ stream: Stream }> {
  const { stream, transcript } = await readableTranscript(services, who, stream_id);
  if (stream.account_id !== who.account_id) return throwRefusal(ONLY_OWNER);
  return transcript === null ? throwRefusal(NO_TEXT) : { stream };
}

/** No event comes after that of the deletion of the recording or its source. */
function fencesOf(who: Principal, { id, source_id }: Pick<Stream, 'id' | 'source_id'>): Fence[] {
  return [...who.fences, ...[source_id, id].map((held): Fence => ({ fence: 'open', id: held }))];
}
