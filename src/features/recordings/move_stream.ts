import type { Principal } from '../../access/principal.js';
import type { FeatureServices } from '../services.js';
import { askRecordingEvents, writableStream } from './stream_access.js';
import { recordedInto } from './workspace_status.js';

/**
 * Moves a recording to another workspace of its owner, by the rules for recording into one. Waits until what was made of
 * it has followed, two seconds at most. Rules K-380 to K-387.
 */
export async function moveStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, workspace_id: wanted }: { id: string; workspace_id: string },
): Promise<void> {
  const { source_id } = await writableStream(services, who, id);
  const workspace_id = await recordedInto(services, who.account, wanted);
  await askRecordingEvents(services, { stream_id: id, source_id, fences: who.fences }, (_, silence, fences) =>
    services.actors.downstream.stream(id).move({ workspace_id, ...silence }, fences),
  );
}
