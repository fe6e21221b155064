import type { Event, Stream, StreamSummary } from '../../kits/typescript/src/api.js';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import { CallRefused, parsedBody, payloadOf } from '../../kits/typescript/src/call.js';
import type { AccountAccess } from '../listen/access.js';
import { UserError } from '../user_error.js';
import type { Waiting } from '../watch/waiting.js';
import type { NoteContent } from './note_text.js';

const DETAILS = 'title_suggested,speakers,tags';
const PAGE = 100;

/** Reads what notes are made of; null for what is gone. */
export class AccountReader {
  readonly #access: AccountAccess;
  readonly #waiting: Waiting;

  constructor(access: AccountAccess, waiting: Waiting) {
    this.#access = access;
    this.#waiting = waiting;
  }

  /** Null where the cursor does not fit the account's events any more. */
  async events(after: string): Promise<{ items: Event[]; cursor: string; is_full: boolean } | null> {
    try {
      const { items, cursor } = await this.#ask((app) => app.call('GET /events', { query: { after, limit: PAGE } }));
      return { items, cursor: cursor ?? after, is_full: items.length === PAGE };
    } catch (error) {
      if (error instanceof CallRefused && error.status === 400 && after !== 'latest') return null;
      throw error;
    }
  }

  streams(query: { cursor?: string | undefined; source_id?: string | undefined }): Promise<{
    items: Stream[];
    cursor: string | null;
  }> {
    return this.#ask((app) => app.call('GET /audio/streams', { query: { ...query, limit: PAGE, include: DETAILS } }));
  }

  stream(id: string): Promise<Stream | null> {
    return this.#found((app) => app.call('GET /audio/streams/{id}', { path: { id }, query: { include: DETAILS } }));
  }

  /** Reads the content of a note; null where the recording is gone. */
  async content(stream: Stream): Promise<NoteContent | null> {
    const [summary, text] = await Promise.all([this.#summary(stream.id), this.#text(stream)]);
    return summary === null ? null : { stream, summary, text };
  }

  /** The recordings that a suggestion was made of. */
  async streamsOfSuggestion(id: string): Promise<string[]> {
    const found = await this.#found((app) => app.call('GET /suggestions/{id}', { path: { id } }));
    return (found?.evidence ?? []).map(({ stream_id }) => stream_id);
  }

  #summary(id: string): Promise<StreamSummary | null> {
    return this.#found((app) => app.call('GET /audio/streams/{id}/summary', { path: { id } }));
  }

  async #text({ id, transcript_revision }: Stream): Promise<string | null> {
    if (transcript_revision === 0) return null;
    try {
      return await this.#found(async (app) => {
        const answer = await app.send('GET', `/audio/streams/${encodeURIComponent(id)}/transcript/text?format=md`);
        if (answer.status !== 200) return payloadOf<string>(answer, parsedBody(answer));
        return Buffer.from(answer.body).toString('utf8');
      });
    } catch (error) {
      // One of more turns than a file has.
      if (error instanceof CallRefused && error.status === 409) return error.message;
      throw error;
    }
  }

  async #found<T>(question: (app: AppClient) => Promise<T>): Promise<T | null> {
    try {
      return await this.#ask(question);
    } catch (error) {
      if (error instanceof CallRefused && error.status === 404) return null;
      throw error;
    }
  }

  async #ask<T>(question: (app: AppClient) => Promise<T>): Promise<T> {
    try {
      return await this.#waiting.until(() => this.#access.ask(question));
    } catch (error) {
      if (!(error instanceof CallRefused) || error.status !== 403) throw error;
      throw new UserError(`The server refused: ${error.message}. Notes need turns:read and insights:read.`);
    }
  }
}
