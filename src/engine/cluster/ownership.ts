import { PARTITIONS } from '../../domain/ids.js';
import { MEMBER_ID_CHARS } from '../../domain/webhooks.js';
import { randomBytes } from '../random/random.js';

/** A new random id of a process among those that work on one Redis. */
export function newProcessId(): string {
  return Buffer.from(randomBytes((MEMBER_ID_CHARS * 3) / 4)).toString('base64url');
}

/**
 * The owner of each partition, who looks at it first; none while there are no members. Each partition belongs to the
 * member with the highest weight for it (rendezvous hashing), so a member that joins or leaves moves only its own
 * share.
 */
export function ownersOf(member_ids: readonly string[]): readonly string[] {
  if (member_ids.length === 0) return [];
  const members = [...member_ids].sort().map((id) => ({ id, hash: hashOf(id) }));
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    let best = { id: '', weight: -1 };
    for (const { id, hash } of members) {
      const weight = mixed(hash ^ Math.imul(partition + 1, 0x9e3779b1));
      if (weight > best.weight) best = { id, weight };
    }
    return best.id;
  });
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** The last step of MurmurHash3: each bit of the input moves about half of the others. */
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
