import type { Stream } from '../../../actors/recordings/stream_state.js';
import type { FeatureServices as Services } from '../services.js';

/** The stream with the revision of its transcript, which keeps it itself. */
export async function withTranscriptRevision({ actors }: Services, stream: Stream): Promise<Stream> {
  if (stream.transcribed !== true) return stream;
  const found = await actors.transcript(stream.id).revision();
  return { ...stream, transcript_revision: found.revision };
}
