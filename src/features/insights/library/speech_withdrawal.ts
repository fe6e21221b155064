import { ITEM_KINDS } from '../../../../actors/insights/item_records.js';
import { LIBRARIES } from '../../../../actors/insights/library.js';
import type {
  Conversation,
  DeletedSpeech,
  ItemKind,
  Items,
  Memory,
  Span,
  Suggestion,
} from '../../../../actors/insights/library_state.js';
import type { ForgottenItem, ForgottenSpeech } from '../../../../actors/insights/library_withdrawal.js';
import { LIBRARY_MEMBER, SOURCE_MEMBER, WITHDRAWAL_INDEX } from '../../../../actors/insights/withdrawal_index.js';
import { libraryId, partitionOfId } from '../../../domain/ids.js';
import { orNull } from '../../../domain/refusals.js';
import type { DueMembersDeps } from '../../../engine/jobs/due_members.js';
import { DueWorker } from '../../../engine/jobs/due_worker.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import type { Runtime } from '../../../engine/runtime/runtime.js';
import { readableTranscriptOf } from '../../transcripts/transcript_pages.js';
import { EvidenceReader } from './evidence_reader.js';

const ITEMS_WITHDRAWN_LOOKED_MAX = 100; // ours: items of a library that one look for deleted speech reads at once
const ITEMS_WITHDRAWN_MAX = 20; // ours: with one commit; each may have 50 revisions

/** Withdrawals that an ended process left are taken up after this time. Until then callers cannot read those items. */
const EVERY_MS = 15_000;
const AT_ONCE = 4;
const LIBRARIES_STEP = 25;

type SpeechWithdrawalDeps = DueMembersDeps & {
  actors: Actors;
  runtime: Pick<Runtime, 'invalidations' | 'caches'>;
};

/** Removes deleted speech from items, library by library. */
export class SpeechWithdrawal {
  readonly #parts: SpeechWithdrawalDeps;
  readonly worker: DueWorker;

  constructor(parts: SpeechWithdrawalDeps) {
    this.#parts = parts;
    const work = {
      queue: WITHDRAWAL_INDEX,
      every_ms: EVERY_MS,
      at_once: AT_ONCE,
      complaint: 'what was made of deleted speech could not be withdrawn; it is tried again',
    };
    this.worker = DueWorker.of(parts, work, ({ name }) => this.#workOn(name));
  }

  /**
   * Withdraws items after speech of a recording was deleted. Resolves when that is done, or after a while. Never
   * rejects.
   */
  ofStream({ account_id, workspace_id }: { account_id: string; workspace_id: string }): Promise<void> {
    return this.worker.offerAndWait(LIBRARY_MEMBER + libraryId(account_id, workspace_id));
  }

  /** Withdraws items after a source was deleted, likewise. */
  ofSource(source_id: string): Promise<void> {
    return this.worker.offerAndWait(SOURCE_MEMBER + source_id);
  }

  #workOn(member: string): Promise<void> {
    if (member.startsWith(SOURCE_MEMBER)) return this.#tellLibraries(member.slice(SOURCE_MEMBER.length));
    return this.#withdrawIn(member.slice(LIBRARY_MEMBER.length));
  }

  /** Tells all libraries of the account of a deleted source, and withdraws the items in each. */
  async #tellLibraries(source_id: string): Promise<void> {
    const { actors, store } = this.#parts;
    const source = await orNull(actors.source(source_id).view(), 'NOT_FOUND');
    if (source === null) return;
    const place = { owner: source.account_id, partition: partitionOfId(source.account_id) };
    for (let after: { order: number; member: string } | undefined; !this.worker.is_stopping; ) {
      const rows = await store.list(place, LIBRARIES, { after, descending: false, limit: LIBRARIES_STEP });
      for (const { member } of rows) {
        await orNull(actors.library(member).forget_source({ source_id }), 'NOT_FOUND');
        await this.#withdrawIn(member);
      }
      after = rows.at(-1);
      if (rows.length < LIBRARIES_STEP) break;
    }
    if (!this.worker.is_stopping) await orNull(actors.source(source_id).libraries_told(), 'NOT_FOUND');
  }

  async #withdrawIn(library_id: string): Promise<void> {
    const library = this.#parts.actors.library(library_id);
    while (!this.worker.is_stopping) {
      const next = (await orNull(library.deleted_speech(), 'NOT_FOUND'))?.next ?? null;
      if (next === null) break;
      const evidence = this.#evidence();
      for (const kind of ITEM_KINDS) await this.#withdrawOf(library_id, { kind, next, evidence });
      if (!this.worker.is_stopping) await orNull(library.withdrawn(next), 'NOT_FOUND');
    }
  }

  /** Reads all items of one kind, since an item without a conversation is on no other list. */
  async #withdrawOf(
    library_id: string,
    { kind, next, evidence }: { kind: ItemKind; next: DeletedSpeech; evidence: EvidenceReader },
  ): Promise<void> {
    const library = this.#parts.actors.library(library_id);
    for (let after: { order: number; id: string } | undefined; !this.worker.is_stopping; ) {
      // Items that change meanwhile come again at the end.
      const range = { after, descending: false, limit: ITEMS_WITHDRAWN_LOOKED_MAX };
      const listed = await orNull(library.list({ kind, range }), 'NOT_FOUND');
      const items: ForgottenItem[] = [];
      for (const { number, item } of listed?.items ?? []) {
        if (!spansIn(item).some((span) => span[`${next.of}_id`] === next.id)) continue;
        const forgotten = await forgottenOf(evidence, kind, item);
        if (forgotten !== null) items.push({ kind, number, revision: item.revision, ...forgotten });
      }
      for (let at = 0; at < items.length; at += ITEMS_WITHDRAWN_MAX) {
        const some = items.slice(at, at + ITEMS_WITHDRAWN_MAX);
        await orNull(library.withdraw({ items: some, silent: next.of === 'source' }), 'NOT_FOUND');
      }
      after = listed?.last ?? undefined;
      if ((listed?.looked ?? 0) < ITEMS_WITHDRAWN_LOOKED_MAX) return;
    }
  }

  #evidence(): EvidenceReader {
    const { actors } = this.#parts;
    return new EvidenceReader(this.#parts, async (stream_id, of) => {
      const stream = await actors.stream(stream_id).view();
      return readableTranscriptOf(this.#parts, stream, of);
    });
  }
}

function spansIn(item: Items[ItemKind]): Span[] {
  return 'parts' in item ? item.parts : item.evidence;
}

/** Null if nothing is to be done. */
async function forgottenOf(
  evidence: EvidenceReader,
  kind: ItemKind,
  item: Items[ItemKind],
): Promise<ForgottenSpeech | null> {
  if (kind === 'conversation' && (await evidence.isDeleted(item as Conversation))) return { is_left: false };
  const found = await evidence.standing(kind, item as Conversation & Memory & Suggestion);
  if (found !== null && !found.is_forgotten) return null;
  if (found?.gone_sentences === undefined) return { is_left: found !== null };
  return { is_left: true, gone_sentences: found.gone_sentences };
}
