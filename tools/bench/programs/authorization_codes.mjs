/** Authorization codes of Spool without pages and mails: the same message that a sign-in ends with. */
import { createHash } from 'node:crypto';
import { partitionOfId } from '../../../dist/src/domain/ids.js';
import { randomBytes, randomId } from '../../../dist/src/engine/random/random.js';
import { deriveToken } from '../../../dist/src/engine/secrets/tokens.js';

export async function mintCodes({ runtime, keys, clock }, { account_ids, count, verifier, client_id, redirect_uri }) {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const mint = async (number) => {
    const account_id = account_ids[number % account_ids.length];
    const own = { seed: randomBytes(16), key_id: keys.currentKeyId() };
    const id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
    const grant = {
      ...{ ...own, account_id, client_id, name: 'Bench', scopes: ['account:manage', 'turns:read'], audience: 'api' },
      ...{ issuer: 'base', issued_under: { account: 0, grants: 0 }, verified_at_ms: clock.now() },
      code: { challenge, redirect_uri },
    };
    const fences = [{ fence: 'epoch', account_id, epoch: 'grants', value: 0 }];
    const opened = await runtime.ask({ kind: 'grant', id }, { type: 'open', grant }, fences);
    if (opened.client_id === undefined) throw new Error(`a grant was not opened: ${JSON.stringify(opened)}`);
    return deriveToken(keys, 'authorization_code', { ...own, id, counter: 0 });
  };
  const codes = [];
  while (codes.length < count) {
    const from = codes.length;
    const step = Array.from({ length: Math.min(256, count - from) }, (_, index) => mint(from + index));
    codes.push(...(await Promise.all(step)));
  }
  return codes;
}
