import type { Stream } from '../../../actors/recordings/stream_state.js';
import type { FeatureServices } from '../services.js';

/** The stream with the revision of its transcript, which the transcript stores. */
export async function withTranscriptRevision(
  { actors }: Pick<FeatureServices, 'actors'>,
  stream: Stream,
): Promise<Stream> {
  if (!stream.transcribed) return stream;
  const found = await actors.transcript(stream.id).revision();
  return { ...stream, transcript_revision: found.revision };
}
