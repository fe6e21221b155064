import type { Address } from '../../../actors/actor.js';
import { PARTITIONS } from '../../domain/ids.js';
import { isRefusal, Refused, refuse } from '../../domain/refusals.js';
import type { Runtime } from '../../engine/runtime/runtime.js';
import { decodeStored } from '../../engine/store/codec.js';
import type { Store } from '../../engine/store/store.js';
import { shownName } from './shown_state.js';

type DeadLetter = { to: Address; message: { type?: string } | null };

const UNREADABLE = { kind: 'unknown', id: null, name: 'cannot be read' };

/** Dead letters of all partitions: receiver and type, without the content. */
export async function listDeadLetters(store: Pick<Store, 'listDeadLetters'>, limit: number) {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const found = await Promise.all(
    partitions.map(async (partition) =>
      (await store.listDeadLetters(partition)).map(({ name, content }) => {
        const letter = readLetter(content);
        if (letter === null) return { partition, name, type: null, to: UNREADABLE };
        const { to, message } = letter;
        const called = shownName(to);
        return {
          ...{ partition, name, type: message?.type ?? null },
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
  const letter = readLetter(found.content);
  if (letter === null) throw new Refused(refuse('CONFLICT', 'Nobody can read this dead letter.'));
  const { to, message } = letter;
  const { outcome, reply } = await runtime.deliver(to, { message, source: { from: 'ask', fences: [] } });
  if (outcome !== 'decided')
    throw new Refused(isRefusal(reply) ? reply : refuse('CONFLICT', 'It was refused once more.'));
  await store.removeDeadLetter(partition, name);
  return null;
}

/** Null for what cannot be read. */
function readLetter(content: Uint8Array): DeadLetter | null {
  try {
    const letter = decodeStored(content) as Partial<DeadLetter> | null;
    return typeof letter?.to?.id === 'string' ? (letter as DeadLetter) : null;
  } catch {
    return null;
  }
}
