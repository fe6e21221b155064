import { Refused, refuse } from '../../domain/refusals.js';
import type { SharedPool } from '../../engine/pools/shared_pool.js';
import type { FeatureServices } from '../services.js';
import { omiSender } from './omi_address.js';
import { type OmiAudioServices, takeOmiAudio } from './omi_audio.js';
import { readConversation } from './omi_conversation.js';
import type { OmiConversations, OmiServices } from './omi_conversations.js';

/** A body that omi sends to an address: audio, a conversation, or what is not kept. docs/choices.md, "omi". */

type OmiBodyServices = OmiServices &
  OmiAudioServices &
  Pick<FeatureServices, 'keys' | 'rates'> & {
    account_requests: SharedPool;
    omi_conversations: OmiConversations;
  };

/** `secret`: the last part of the address. `idempotency_key`: names a body of audio. `signal`: the sender has left. */
type OmiBody = {
  secret: string;
  uid: string;
  is_audio: boolean;
  sample_rate: number;
  idempotency_key: string | null;
  /** Reads the body, on behalf of an account. */
  takeBytes(account_id: string): Promise<Buffer>;
  signal: AbortSignal;
};

/** Whose address it is comes first: only then a body is read. It takes one of the places of requests of that account. */
export async function takeOmiBody(services: OmiBodyServices, body: OmiBody): Promise<void> {
  const { secret, uid, is_audio, sample_rate, idempotency_key, signal } = body;
  const who = await omiSender(services, { secret, uid });
  const { account_id } = who;
  const wait_s = await services.rates.take('omi_bodies', account_id);
  if (wait_s !== null) throw new Refused(tooMany(wait_s));
  const bytes = await body.takeBytes(account_id);
  const take = async () => {
    if (is_audio) {
      if (bytes.length > 0) await takeOmiAudio(services, who, { bytes, sample_rate, idempotency_key });
      return;
    }
    const conversation = readConversation(bytes);
    if (conversation !== null) await services.omi_conversations.take(services, who, { conversation, signal });
  };
  await services.account_requests.run(account_id, take, { signal });
}

function tooMany(wait_s: number) {
  return refuse('TOO_MANY_REQUESTS', `Too much comes to this address; wait ${wait_s} seconds.`, {
    retry_after_s: wait_s,
  });
}
