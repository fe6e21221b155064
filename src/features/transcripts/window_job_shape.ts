import pMap from 'p-map';
import { z } from 'zod';
import { count, id, moment } from '../../access/response_schemas.js';
import { isRefused } from '../../domain/refusals.js';
import { BlobStoreUnavailable } from '../../engine/blobs/blob_store.js';
import { joinedPart } from '../recordings/joined_audio.js';
import type { FeatureServices } from '../services.js';
import type { WindowWork } from './transcription.js';

/** The form of a window of a recording as a job for workers. */

/** Windows of one claim whose chunks are looked into at a time. */
const JOINED_AT_ONCE = 4;

export const windowJobShape = z
  .strictObject({
    job: z.string().describe('What is to be done.'),
    kind: z.literal('transcribe').describe('What the worker is to do.'),
    claim: z.string().describe('Goes with what the worker says of it.'),
    run_id: id.describe('By which events tell what came of it.'),
    lease_until: moment.describe('Until then nobody else gets it.'),
    tries: count.describe('How often it was handed out.'),
    account_id: id.describe('Whose recording it is.'),
    stream_id: id.describe('The recording.'),
    from_ms: count.describe("Where the window begins, in ms on the stream's timeline."),
    to_ms: count.describe('Where it ends.'),
    final: z.boolean().describe('Nothing follows: all of it must be consumed.'),
    audio: z
      .array(
        z.strictObject({
          chunk_id: id.describe('The chunk.'),
          start_ms: count.describe('Where the chunk begins on the timeline, maybe before the window.'),
          end_ms: count.describe('Where it ends, maybe behind the window.'),
          codec: z.string().describe('As its recorder said.'),
          container: z.string().describe('As its recorder said.'),
          sample_rate_hz: count.optional().describe('Of raw samples.'),
          channels: count.optional().describe('Of raw samples.'),
          size_bytes: count.describe('How large it is.'),
          sha256: z.string().describe('Of its bytes, in hex.'),
          content_path: z.string().describe('Where to GET the audio.'),
        }),
      )
      .describe('Stored chunks that reach into the window, in the order of the timeline.'),
    joined_path: z
      .string()
      .nullable()
      .describe("Where to GET all of them as one file while the claim holds; null where they can't be one."),
    pipeline: z
      .strictObject({
        id: id.describe('The pipeline.'),
        engine: z.string().describe('The name of the engine that it wants.'),
        diarize: z.boolean().describe('Whether it wants speakers told apart.'),
      })
      .describe('What it is transcribed by.'),
    language: z.string().nullable().describe('A BCP 47 tag, where it is known.'),
    vocabulary: z.array(z.string()).describe('Words that the account wants spelt so.'),
    previous_text: z.string().nullable().describe('What was said last before it.'),
    known_speakers: z
      .array(
        z.strictObject({
          speaker: z.string().describe('A label that a result may use.'),
          voice: z
            .strictObject({
              id: id.describe('What matches names.'),
              model: z.string().describe('What made the embedding.'),
              embedding: z.string().describe('Base64.'),
            })
            .nullable()
            .describe('What it is known by; null for a label alone.'),
        }),
      )
      .describe('Who was heard in the recording, and voices that may be.'),
  })
  .meta({ id: 'TranscriptionWork' });

type WindowWorkView = z.infer<typeof windowJobShape>;

export function windowJobViews(
  services: Pick<FeatureServices, 'blobs'>,
  windows: readonly WindowWork[],
): Promise<WindowWorkView[]> {
  return pMap(windows, (work) => workView(services, work), { concurrency: JOINED_AT_ONCE });
}

/** Not now is no reason to hand out no window: its chunks can be fetched one by one. */
async function canBeJoined(services: Pick<FeatureServices, 'blobs'>, window: WindowWork): Promise<boolean> {
  try {
    await joinedPart(services, window);
    return true;
  } catch (error) {
    if (error instanceof BlobStoreUnavailable || isRefused(error)) return false;
    throw error;
  }
}

async function workView(services: Pick<FeatureServices, 'blobs'>, work: WindowWork): Promise<WindowWorkView> {
  const {
    lease_until_ms,
    audio,
    known_speakers,
    pipeline_id,
    engine,
    diarize,
    samples: _samples,
    speech_before: _speech_before,
    ...rest
  } = work;
  return {
    ...rest,
    joined_path: (await canBeJoined(services, work)) ? `/ops/jobs/${work.job}/audio` : null,
    kind: 'transcribe',
    pipeline: { id: pipeline_id, engine, diarize },
    lease_until: new Date(lease_until_ms).toISOString(),
    audio: audio.map(({ sequence: _sequence, place: _place, ...chunk }) => ({
      ...chunk,
      content_path: `/ops/chunks/${chunk.chunk_id}/content`,
    })),
    known_speakers: known_speakers.map(({ speaker, voice }) => ({
      speaker,
      voice: voice === null ? null : { ...voice, embedding: Buffer.from(voice.embedding).toString('base64') },
    })),
  };
}
