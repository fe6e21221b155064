import { MEANING_INDEX, meaningOf } from '../../../../actors/accounts/account_meaning.js';
import { STREAMS } from '../../../../actors/recordings/stream.js';
import { partitionOfId, pipelineOutputId } from '../../../domain/ids.js';
import { orNull } from '../../../domain/refusals.js';
import type { DueMembersDeps } from '../../../engine/jobs/due_members.js';
import { DueWorker } from '../../../engine/jobs/due_worker.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import { dropVectors } from './vector_renewal.js';

/** Switches that an ended process left are followed after this time. */
const EVERY_MS = 15_000;
const AT_ONCE = 2;
const STREAMS_STEP = 50;

/** Removes the vectors of an account that wants none, and has them made again for one that does. */
export function meaningSwitches(deps: DueMembersDeps & { actors: Actors }): DueWorker {
  const work = {
    queue: MEANING_INDEX,
    every_ms: EVERY_MS,
    at_once: AT_ONCE,
    complaint: 'vectors of an account could not follow its switch; that is tried again',
  };
  return DueWorker.of(deps, work, ({ name }, signal) => follow(deps, name, signal));
}

async function follow(
  { actors, store }: DueMembersDeps & { actors: Actors },
  account_id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const account = await actors.account(account_id).view();
  const { is_on, changes } = meaningOf(account);
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  for (let after: { order: number; member: string } | undefined; !signal.aborted; ) {
    const rows = await store.list(place, STREAMS, { after, descending: false, limit: STREAMS_STEP });
    for (const { member } of rows) {
      if (signal.aborted) return false;
      const transcript = await orNull(actors.transcript(member).view(), 'NOT_FOUND');
      if (transcript === null) continue;
      const outputs = transcript.pipeline_outputs.map((number) => pipelineOutputId(member, number));
      for (const id of [member, ...outputs]) await dropVectors(actors, id, { keeps: null, wanted: is_on });
    }
    after = rows.at(-1);
    if (rows.length < STREAMS_STEP) break;
  }
  if (signal.aborted) return false;
  await actors.account(account_id).meaning_applied({ changes });
  return true;
}
