import type { Logger } from 'pino';
import { meaningOf } from '../../../../actors/accounts/account_meaning.js';
import { type PageTurn, pageKey, type TranscriptPage } from '../../../../actors/transcripts/transcript_page.js';
import { fingerprintOfTurns, type MadeVectors } from '../../../../actors/transcripts/transcript_vectors.js';
import { VECTORS_INDEX } from '../../../../actors/transcripts/vectors_index.js';
import { LIMITS } from '../../../domain/limits.js';
import { nullIfPermanent } from '../../../domain/refusals.js';
import { encodeVectors, type WindowVector, windowsOf } from '../../../domain/search/vectors.js';
import { newClaimToken } from '../../../engine/jobs/claim_token.js';
import type { DueMembersDeps } from '../../../engine/jobs/due_members.js';
import { DueWorker } from '../../../engine/jobs/due_worker.js';
import { LEASE_MS, persisting, prolonging } from '../../../engine/jobs/leases.js';
import type { Metrics } from '../../../engine/metrics/metrics.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import type { EmbeddingCall, Embeddings } from './embeddings.js';

const VECTOR_WINDOW_CHARS_MAX = 2_000; // ours: of their text
const VECTORS_ASKED_MAX = 32; // ours: texts of one request

/** Pages that other processes have left are found after this time at the latest. */
const EVERY_MS = 10_000;
const AT_ONCE = 3;
/** The code of work that its account does not want. */
const SWITCHED_OFF = 'SWITCHED_OFF';

type EmbeddingDeps = DueMembersDeps & {
  actors: Actors;
  embeddings: Embeddings;
  metrics: Pick<Metrics, 'embedding_failures' | 'vectors_made'>;
  log: Pick<Logger, 'error' | 'warn'>;
};

/** Makes vectors of pages of transcripts, when these have been quiet for a while. */
export function embeddingWorker(deps: EmbeddingDeps): DueWorker {
  const work = {
    queue: VECTORS_INDEX,
    every_ms: EVERY_MS,
    at_once: AT_ONCE,
    complaint: 'vectors of turns could not be made; that is tried again',
  };
  return DueWorker.of(deps, work, ({ name }, signal) => embedTranscript(deps, name, signal));
}

/** False if no page could be claimed, or no vectors could be made. */
async function embedTranscript(deps: EmbeddingDeps, id: string, signal: AbortSignal): Promise<boolean> {
  const { actors, log, metrics } = deps;
  const transcript = actors.transcript(id);
  const token = newClaimToken();
  const claimed = await transcript.claim_vectors({ token, lease_ms: LEASE_MS }).catch(nullIfPermanent);
  if (claimed === null || claimed.pages.length === 0) return false;
  const { account_id } = claimed;
  const account = await actors.account(account_id).view().catch(nullIfPermanent);
  if (account === null || !meaningOf(account).is_on) {
    // What is due stays so until the account switches it on again.
    await transcript.fail_vectors({ token, code: SWITCHED_OFF, retry: false }).catch(nullIfPermanent);
    return true;
  }
  const prolong = () => transcript.prolong_vectors({ token, lease_ms: LEASE_MS });
  try {
    const made = await prolonging(prolong, () =>
      vectorsOfPages(deps, { id, owner: account_id, numbers: claimed.pages, signal }),
    );
    await persisting(() => transcript.publish_vectors({ token, made }), signal).catch(nullIfPermanent);
    metrics.vectors_made.inc(made.length);
    return true;
  } catch (error) {
    if (!(error instanceof EngineFailed)) throw error;
    const { code, retry_after_ms } = error.failure;
    if (signal.aborted) await transcript.release_vectors({ token }).catch(nullIfPermanent);
    else {
      metrics.embedding_failures.inc({ code });
      log.warn({ transcript: id, code }, 'vectors of turns could not be made');
      const failure = { token, code, retry: true, rest_ms: retry_after_ms };
      await transcript.fail_vectors(failure).catch(nullIfPermanent);
    }
    return false;
  }
}

async function vectorsOfPages(
  { actors, embeddings }: EmbeddingDeps,
  { id, owner, numbers, signal }: { id: string; owner: string; numbers: readonly number[]; signal: AbortSignal },
): Promise<MadeVectors[]> {
  const made: MadeVectors[] = [];
  for (const number of numbers) {
    const after = { order: number - 1, id: pageKey(Math.max(0, number - 1)) };
    const { pages } = await actors.transcript(id).pages({ range: { after, limit: 1 } });
    const page = pages.find((one) => one.number === number);
    if (page === undefined || page.turns.length === 0) continue;
    const vectors = await vectorsOfPage(embeddings, page, { owner, stream_id: id, signal });
    made.push({ page: number, fingerprint: fingerprintOfTurns(page.turns), vectors });
  }
  return made;
}

async function vectorsOfPage(
  embeddings: Embeddings,
  { turns }: TranscriptPage,
  of: EmbeddingCall,
): Promise<Uint8Array> {
  // Turns without a language are judged together: each says little.
  const is_untold_known = embeddings.knows(joined(turns.filter(({ language }) => language === null)), null);
  const isKnown = ({ text, language }: PageTurn) =>
    language === null ? is_untold_known : embeddings.knows(text, language);
  const windows = windowsOf(turns.length, LIMITS.vector_window_turns).flatMap(({ first, last }) => {
    const text = joined(turns.slice(first, last + 1).filter(isKnown));
    return text === '' ? [] : [{ first, last, text: text.slice(0, VECTOR_WINDOW_CHARS_MAX) }];
  });
  const found: WindowVector[] = [];
  for (let from = 0; from < windows.length; from += VECTORS_ASKED_MAX) {
    const asked = windows.slice(from, from + VECTORS_ASKED_MAX);
    const texts = asked.map(({ text }) => text);
    const vectors = await embeddings.of(texts, of);
    for (const [at, { first, last }] of asked.entries()) found.push({ first, last, vector: vectors[at] as Int8Array });
  }
  return encodeVectors(embeddings.model, found);
}

function joined(turns: readonly PageTurn[]): string {
  return turns.map(({ text }) => text).join('\n');
}
