/** Accounts by the keys that a first sign-in leaves behind, written straight into Redis. */

import { account as accountKind } from '../../../dist/actors/accounts/account.js';
import { email as emailKind } from '../../../dist/actors/emails/email.js';
import { makeId } from '../../../dist/src/domain/ids.js';
import { encodeStored } from '../../../dist/src/engine/store/codec.js';
import { keysOf, partitionOfText } from '../../../dist/src/engine/store/partitions.js';
import { Redis } from '../../../node_modules/ioredis/built/index.js';

const STEP = 2_000;

/** The account's id is made from its number, so that whoever measures knows it too. */
export function seededAccountId(number) {
  const random = Buffer.alloc(5);
  random.writeUInt32BE(number, 1);
  return makeId({ partition: number % 256, now_ms: 1_700_000_000_000, random });
}

export async function seedAccounts({ socket_path, count, from, domain }) {
  const redis = new Redis(socket_path);
  // One entity's header as commit.lua writes it: one writer, its commit, version 1.
  const header = Buffer.concat([Buffer.from([1]), Buffer.alloc(12, 7), Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])]);
  const entity = (state) => Buffer.concat([header, encodeStored({ k: 1, s: state })]);
  const now_ms = Date.now();
  for (let at = 0; at < count; at += STEP) {
    const pipeline = redis.pipeline();
    for (let number = from + at; number < from + Math.min(count, at + STEP); number++) {
      const id = seededAccountId(number);
      const email = `seeded-${number}@${domain}`;
      const keys = keysOf(number % 256);
      const { next: asked } = emailKind.decide(null, { type: 'take_send', network: '192.0.2.1' }, { now_ms });
      const window = { began_ms: 0, sent: {}, total: 0 };
      pipeline.set(
        keysOf(partitionOfText(email)).entity({ kind: 'email', id: email }),
        entity({ ...asked, window, account_id: id }),
      );
      const { next: account } = accountKind.decide(null, { type: 'create', email }, { self: id, now_ms });
      pipeline.set(keys.entity({ kind: 'account', id }), entity(account));
      const body = JSON.stringify({
        id,
        schema_version: 1,
        account_id: id,
        type: 'account.created',
        resource: { type: 'account', id },
        data: {},
      });
      pipeline.xadd(keys.log(id), `${now_ms}-1`, 't', 'account.created', 'b', body);
      pipeline.hset(
        keys.logHead(id),
        'sequence',
        1,
        'last_ms',
        now_ms,
        't:account.created',
        `${now_ms}-1`,
        'name',
        'benchabc',
      );
    }
    const failed = (await pipeline.exec()).find(([error]) => error !== null);
    if (failed !== undefined) throw failed[0];
  }
  redis.disconnect();
}
