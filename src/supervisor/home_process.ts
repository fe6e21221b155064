/** Odd numbers without a pattern in their bits, as of MurmurHash3. */
const MIX = { partition: 0x9e37_79b1, member: 0x85eb_ca6b, first: 0x85eb_ca6b, second: 0xc2b2_ae35 };

/**
 * Which of the members a partition is at home with (rendezvous hashing): each is drawn a number for the partition, and the
 * largest wins. A member that goes leaves its partitions to all others alike, and no other partition moves.
 */
export function homeOf<Member extends { number: number }>(
  partition: number,
  members: readonly Member[],
): Member | null {
  let [home, highest]: [Member | null, number] = [null, -1];
  for (const member of members) {
    const drawn = mixed(Math.imul(partition + 1, MIX.partition) ^ Math.imul(member.number, MIX.member));
    if (drawn > highest) [home, highest] = [member, drawn];
  }
  return home;
}

/** 32 bits of which each depends on all that were given. */
function mixed(bits: number): number {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), MIX.first);
  hash = Math.imul(hash ^ (hash >>> 13), MIX.second);
  return (hash ^ (hash >>> 16)) >>> 0;
}
