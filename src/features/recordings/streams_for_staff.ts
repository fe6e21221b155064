import { z } from 'zod';
import { STREAMS } from '../../../actors/recordings/stream.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { type PageQuery, pageOf } from '../../access/cursors.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { accountNamed } from '../accounts/account_of_email.js';
import type { FeatureServices } from '../services.js';

export const listedStreamShape = z
  .strictObject({
    id,
    captured_at: moment.describe('When its timeline begins.'),
    created_at: moment,
    end_ms: count.nullable().describe('Where its timeline ends; null while it is open.'),
    device_id: id.nullable().describe('The device that uploads it; null for an app.'),
    stored_chunks: count.describe('Chunks whose bytes have come.'),
    stored_bytes: count.describe('All of them together.'),
    awaited_chunks: count.describe('Announced, and not uploaded.'),
  })
  .meta({ id: 'ListedStream' });

type ListedStreamView = z.infer<typeof listedStreamShape>;

/** A page of an account's recordings, the newest first, without their content. `named` is the account's id or email. */
export async function listStreamsForStaff(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  named: string,
  { limit, cursor: after }: PageQuery,
): Promise<{ account_id: string; items: ListedStreamView[]; cursor: string | null }> {
  const { runtime, store } = services;
  const { id: account_id } = await accountNamed(services, named);
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const listed = await store.list(place, STREAMS, { after, descending: true, limit: limit + 1 });
  const { rows, cursor } = pageOf(listed, limit);
  const found = await Promise.all(rows.map(({ member }) => runtime.stored({ kind: 'stream', id: member })));
  // One that was deleted leaves a gap.
  const items = found.flatMap((one) => {
    const state = (one?.state ?? null) as Stream | null;
    return state?.status === 'kept' ? [streamView(state)] : [];
  });
  return { account_id, items, cursor };
}

function streamView(stream: Stream): ListedStreamView {
  const { id, captured_at, created_at_ms, end_ms, recorder, stored_chunks, stored_bytes, open } = stream;
  return {
    id,
    captured_at,
    created_at: new Date(created_at_ms).toISOString(),
    end_ms,
    device_id: recorder?.device_id ?? null,
    stored_chunks,
    stored_bytes,
    awaited_chunks: open.length,
  };
}
