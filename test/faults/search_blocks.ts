import type { Redis } from 'ioredis';
import type { Effect } from '../../actors/actor.js';
import { entryOf, ITEM_KINDS, ITEMS } from '../../actors/insights/item_records.js';
import { itemBlock, blockEffects as itemEffects } from '../../actors/insights/library_block.js';
import type { Library } from '../../actors/insights/library_state.js';
import { blockEffects } from '../../actors/transcripts/transcript_block.js';
import { readPage } from '../../actors/transcripts/transcript_page.js';
import type { Transcript } from '../../actors/transcripts/transcript_state.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { BLOCKS, placeOfMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { keysOf } from '../../src/engine/store/partitions.js';

/** What search knows = pages and items: each has its block, stands in its library's index, and nothing else has one. */
export async function searchFaults(
  redis: Redis,
  states: { transcripts: Map<string, Transcript>; libraries: Map<string, Library> },
): Promise<string[]> {
  const faults: string[] = [];
  const expected = new Map<string, Set<string>>();
  const expect = (library_id: string, member: string) => {
    expected.set(library_id, (expected.get(library_id) ?? new Set()).add(member));
  };
  const judge = async (address: { kind: string; id: string }, effects: Effect[]) => {
    const stored = await redis.hgetallBuffer(keysOf(partitionOfId(address.id)).records(address, BLOCKS));
    for (const effect of effects) {
      if (effect.effect === 'mark_changed') expect(effect.owner, effect.member);
      if (effect.effect !== 'put_record' || effect.collection !== BLOCKS) continue;
      const { id, value } = effect;
      const block = stored[id];
      if (block === undefined || !Buffer.from(value as Uint8Array).equals(decodeStored(block) as Uint8Array))
        faults.push(`block ${id} of ${address.kind} ${address.id} is ${block === undefined ? 'missing' : 'another'}`);
      delete stored[id];
    }
    for (const id of Object.keys(stored)) faults.push(`block ${id} of ${address.kind} ${address.id} is of nothing`);
  };
  const recordsOf = async (address: { kind: string; id: string }, collection: string) =>
    Object.entries(await redis.hgetallBuffer(keysOf(partitionOfId(address.id)).records(address, collection))).map(
      ([id, value]) => ({ id, number: Number.parseInt(id, 16), value: decodeStored(value) }),
    );
  for (const [id, state] of states.transcripts) {
    const address = { kind: 'transcript', id };
    const pages = await recordsOf(address, 'pages');
    await judge(
      address,
      pages.flatMap(({ number, value }) => blockEffects(state, readPage(number, value), id)),
    );
  }
  for (const [id] of states.libraries) {
    const address = { kind: 'library', id };
    const effects: Effect[] = [];
    for (const kind of ITEM_KINDS)
      for (const { number, value } of await recordsOf(address, ITEMS[kind]))
        effects.push(...itemEffects(id, entryOf(kind, number), itemBlock(kind, value as never)));
    await judge(address, effects);
  }
  for (const [library_id, members] of expected) {
    const index = keysOf(partitionOfId(library_id)).index(library_id, SEARCH_INDEX);
    const listed = new Set(await redis.zrange(index, '0', '-1'));
    for (const member of members)
      if (!listed.has(member)) faults.push(`${member} is not in the index of ${library_id}`);
    for (const member of listed)
      if (!members.has(member) && placeOfMember(member).place === 'page')
        faults.push(`${member} is in the index of ${library_id}, and there is no such page`);
  }
  return faults;
}
