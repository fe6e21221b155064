import type { Address } from '../../../actors/actor.js';
import { PARTITIONS } from '../../domain/ids.js';
import { isRefusal, Refused, refuse } from '../../domain/refusals.js';
import type { Runtime } from '../../engine/runtime/runtime.js';
import { decodeStored } from '../../engine/store/codec.js';
import type { Store } from '../../engine/store/store.js';
import { shownName } from './entity_fields.js';

/** Dead letters of all partitions: receiver and type, without the content. */
export async function listDeadLetters(store: Pick<Store, 'listDeadLetters'>, limit: number) {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const found = await Promise.all(
    partitions.map(async (partition) =>
      (await store.listDeadLetters(partition)).map(({ name, content }) => {
        const { to, message } = decodeStored(content) as { to: Address; message: { type?: string } };
        const called = shownName(to);
        return {
          ...{ partition, name, type: message.type ?? null },
          to: { kind: to.kind, id: called === to.id ? to.id : null, name: called },
        };
      }),
    ),
  );
  return found.flat().slice(0, limit);
}

/** Delivers a dead letter once more, as a new message. On success it leaves the list. */
export async function retryDeadLetter(
  { runtime, store }: { runtime: Pick<Runtime, 'deliver'>; store: Pick<Store, 'listDeadLetters' | 'removeDeadLetter'> },
  { partition, name }: { partition: number; name: string },
): Promise<null> {
  const found = (await store.listDeadLetters(partition)).find((one) => one.name === name);
  if (found === undefined) throw new Refused(refuse('NOT_FOUND', 'There is no dead letter of this name.'));
  const { to, message } = decodeStored(found.content) as { to: Address; message: unknown };
  const { outcome, reply } = await runtime.deliver(to, { message, source: { from: 'ask', fences: [] } });
  if (outcome !== 'decided')
    throw new Refused(isRefusal(reply) ? reply : refuse('CONFLICT', 'It was refused once more.'));
  await store.removeDeadLetter(partition, name);
  return null;
}
