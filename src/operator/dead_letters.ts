import type { Address } from '../../actors/actor.js';
import { PARTITIONS } from '../domain/ids.js';
import { isRefusal, type Refusal, refuse } from '../domain/refusals.js';
import type { Services } from '../services.js';
import { decodeStored } from '../store/codec.js';
import { shownName } from './entity_fields.js';

/** What threw too often, over all partitions: for whom it was and of what type, without its content. */
export async function listDeadLetters(store: Services['store'], limit: number) {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const found = await Promise.all(
    partitions.map(async (partition) =>
      (await store.listSetAside(partition)).map(({ name, content }) => {
        const { to, message } = decodeStored(content) as { to: Address; message: { type?: string } };
        return { partition, name, to: { kind: to.kind, name: shownName(to) }, type: message.type ?? null };
      }),
    ),
  );
  return found.flat().slice(0, limit);
}

/** Hands what was set aside to its entity once more, as a new message; on success it is gone from the list. */
export async function retryDeadLetter(
  { runtime, store }: Services,
  { partition, name }: { partition: number; name: string },
): Promise<null | Refusal> {
  const found = (await store.listSetAside(partition)).find((aside) => aside.name === name);
  if (found === undefined) return refuse('NOT_FOUND', 'Nothing of this name is set aside.');
  const { to, message } = decodeStored(found.content) as { to: Address; message: unknown };
  const { outcome, reply } = await runtime.deliver(to, { message, source: { from: 'ask', fences: [] } });
  if (outcome !== 'decided') return isRefusal(reply) ? reply : refuse('CONFLICT', 'It was refused once more.');
  await store.removeSetAside(partition, name);
  return null;
}
