import {
  ANNOUNCEMENT_INDEX,
  CONTACTS_MEMBER,
  TRANSCRIPT_MEMBER,
  transcriptsShowing,
} from '../../../actors/transcripts/announcement_index.js';
import { partitionOfId } from '../../domain/ids.js';
import { orNull } from '../../domain/refusals.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import { randomBytes } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { isClosed } from '../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../engine/store/store.js';

/** Announcements that other processes have left are found after this time at the latest. */
const EVERY_MS = 60_000;
const AT_ONCE = 4;
const TRANSCRIPTS_READ = 20;
/** A source is deleted once: whoever saw it before looks a second time. */
const TRIES_MAX = 2;
const HOLDER_BYTES = 6;

/** `into`: the contact that its turns show now; null for none. */
type ContactChange = { contact_id: string; into: string | null; number: number };

type AnnouncementsDeps = DueMembersDeps & {
  actors: Actors;
  /** Who speaks in a stream may be others now: what rests on that follows, as often as it is asked. */
  speakersChanged: (stream_id: string) => Promise<void>;
};

/**
 * Records the events of changes that are seen at once and told step by step: of a speaker, by its transcript; of a contact
 * that was merged or deleted, by each transcript that shows it. What is left to tell, those entities keep.
 */
export class Announcements {
  readonly #deps: AnnouncementsDeps;
  readonly worker: DueWorker;

  constructor(deps: AnnouncementsDeps) {
    this.#deps = deps;
    const work = {
      queue: ANNOUNCEMENT_INDEX,
      every_ms: EVERY_MS,
      at_once: AT_ONCE,
      complaint: 'changes of turns could not be announced; they are tried again',
    };
    this.worker = DueWorker.of(deps, work, ({ name }) => this.#workOn(name));
  }

  /** A member of the index has something to announce. Resolves when that is done, or after a while. Never rejects. */
  offer(member: string): Promise<void> {
    return this.worker.offerAndWait(member);
  }

  #workOn(member: string): Promise<boolean> {
    if (member.startsWith(CONTACTS_MEMBER)) return this.#ofContacts(member.slice(CONTACTS_MEMBER.length));
    return this.#ofTranscript(member.slice(TRANSCRIPT_MEMBER.length));
  }

  /**
   * Tells each transcript that shows a changed contact. Only the process that holds the changes does, so that none is
   * told twice.
   */
  async #ofContacts(account_id: string): Promise<boolean> {
    const { actors, store } = this.#deps;
    const contacts = actors.contacts(account_id);
    const holder = Buffer.from(randomBytes(HOLDER_BYTES)).toString('hex');
    const place = { owner: account_id, partition: partitionOfId(account_id) };
    for (let taken = false; !this.worker.is_stopping; taken = true) {
      const { change } = await contacts.take_change({ holder });
      if (change === null) return taken;
      const { number, contact_id } = change;
      const resolved = await contacts.resolve({ ids: [contact_id] });
      const into = resolved.contacts[contact_id]?.id ?? null;
      let after = change.after ?? undefined;
      for (let left = true; left && !this.worker.is_stopping; ) {
        const page = { after, descending: false, limit: TRANSCRIPTS_READ };
        const rows = await store.list(place, transcriptsShowing(contact_id), page);
        for (const row of rows) {
          await this.#tellTranscript(row.member, { contact_id, into, number });
          await contacts.announced({ number, after: row });
        }
        after = rows.at(-1);
        left = rows.length === TRANSCRIPTS_READ;
      }
      if (!this.worker.is_stopping) await contacts.announced({ number, after: null });
    }
    return true;
  }

  async #tellTranscript(stream_id: string, { contact_id, into, number }: ContactChange): Promise<void> {
    try {
      await this.#deps.actors
        .transcript(stream_id)
        .contact_changed({ contact_id, into, number }, [{ fence: 'open', id: stream_id }]);
    } catch (error) {
      if (isClosed(error)) return; // it is being removed
      throw error;
    }
    await this.#ofTranscript(stream_id);
  }

  async #ofTranscript(stream_id: string): Promise<boolean> {
    // Before the last of the events: what is cut off is begun anew.
    await this.#deps.speakersChanged(stream_id);
    for (let left = true; left && !this.worker.is_stopping; ) left = await this.#announceTurns(stream_id);
    return true;
  }

  /** Announces the next events of a transcript. Returns whether more are left. */
  async #announceTurns(stream_id: string): Promise<boolean> {
    const { actors } = this.#deps;
    const transcript = actors.transcript(stream_id);
    for (let tries = 1; ; tries++) {
      const seen = await orNull(transcript.view(), 'NOT_FOUND');
      if (seen === null) return false;
      const { source_id } = seen;
      const source = await orNull(actors.source(source_id).view(), 'NOT_FOUND');
      // No event comes after that of its source's deletion.
      const silent = source === null || source.status === 'deleted';
      const open = silent ? [stream_id] : [source_id, stream_id];
      const fences = open.map((id): Fence => ({ fence: 'open', id }));
      try {
        return (await transcript.announce(silent ? { silent } : {}, fences)).left;
      } catch (error) {
        if (!isClosed(error)) throw error;
        if (tries >= TRIES_MAX) return false; // it is being removed
      }
    }
  }
}
