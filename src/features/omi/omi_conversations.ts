import { createHash } from 'node:crypto';
import type { MadeOfOmi, OmiConversation } from '../../../actors/recordings/omi.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import type { Principal } from '../../access/principal.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull, Refused, refuse } from '../../domain/refusals.js';
import { fitsPages, TOO_DENSE } from '../../domain/transcript_files/transcript_file.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { SharedPool } from '../../engine/pools/shared_pool.js';
import type { DeviceActivity } from '../devices/activity.js';
import { deleteImport } from '../recordings/imports.js';
import { deleteStream } from '../recordings/streams.js';
import type { TranscriptReaders } from '../recordings/transcript_reader.js';
import { importWhole, type WholeFile } from '../recordings/whole_import.js';
import type { FeatureServices } from '../services.js';
import { isChanged } from './changed_recording.js';
import type { OmiConversationBody } from './omi_conversation.js';
import { omiSource } from './omi_source.js';

/** Conversations of omi that become recordings with their text, and no audio. docs/choices.md, "omi". */

/** A conversation is read in a thread of its own. */
const PLACES = { places_max: 8, share_max: 1, waiting_max: 256, waiting_share_max: 16, wait_ms_max: 20_000 };
const NOTHING = 'nothing';
/** The code of an import whose recording was deleted before it was whole. */
const DELETED_MEANWHILE = 'RECORDING_DELETED';
const BUSY = refuse('UNAVAILABLE', 'The conversation becomes a recording at this moment; try again.', {
  retry_after_s: 5,
});
const FULL = refuse('UNAVAILABLE', 'Too many imports of the account are under way; try again.', { retry_after_s: 30 });

export type OmiServices = Pick<FeatureServices, 'actors' | 'blobs' | 'clock'> & {
  imports: DueWorker;
  device_activity: DeviceActivity;
  transcript_readers: TranscriptReaders;
  speech_withdrawal: { ofStream(stream: Stream): Promise<void> };
};

/** `signal`: aborts when the sender has left. */
type Taken = { conversation: OmiConversationBody; signal: AbortSignal };

export class OmiConversations {
  readonly pool = new SharedPool('omi_conversations', PLACES);

  /**
   * Makes a recording of a conversation. Another content under the same id replaces a recording that nobody has changed.
   * Each step may be repeated.
   */
  take(services: OmiServices, who: Principal, { conversation, signal }: Taken): Promise<void> {
    return this.pool.run(who.account_id, () => takeConversation(services, who, { conversation, signal }), { signal });
  }
}

async function takeConversation(services: OmiServices, who: Principal, { conversation, signal }: Taken): Promise<void> {
  const omi = services.actors.omi(who.account_id);
  const key = hashOf(conversation.id);
  const { known } = await omi.conversation({ key });
  const { file } = conversation;
  const content = file === null ? NOTHING : hashOf(file);
  const was = known?.content ?? null;
  const before = known?.made ?? null;
  await finish(services, who, { key, known });
  const is_same = was === content && !(before !== null && (await hasFailed(services, who, before)));
  if (is_same || (known === null && file === null)) return;
  const note = (is: OmiConversation) => omi.note_conversation({ key, was, is }, who.fences);
  const standing = before === null ? 'none' : await standingOf(services, who, before);
  // Whoever has changed or deleted it keeps it so.
  if (before !== null && standing === 'kept') return note({ content, made: before, going: null }).then(() => {});
  if (before !== null && standing === 'open') await cancel(services, who, before.import_id);
  const made = file === null ? null : await madeOf(services, who, { conversation, file, content, signal });
  const is: OmiConversation = { content, made, going: standing === 'untouched' ? (before?.stream_id ?? null) : null };
  try {
    await note(is);
  } catch (error) {
    if (made !== null) await deleteImport(services, who, made.import_id).catch(() => {});
    throw error;
  }
  await finish(services, who, { key, known: is });
}

/** Deletes the recording that another one has replaced, also where the body that did so was cut off. */
async function finish(
  services: OmiServices,
  who: Principal,
  { key, known }: { key: string; known: OmiConversation | null },
): Promise<void> {
  if (known === null || known.going === null) return;
  await deleteStream(services, who, known.going).catch((error: unknown) => {
    if (!isRefused(error, 'NOT_FOUND', 'FORBIDDEN')) throw error;
  });
  const is = { ...known, going: null };
  await services.actors.omi(who.account_id).note_conversation({ key, was: known.content, is }, who.fences);
}

async function cancel(services: OmiServices, who: Principal, import_id: string): Promise<void> {
  try {
    await deleteImport(services, who, import_id);
  } catch (error) {
    if (isRefused(error, 'CONFLICT')) throw new Refused(BUSY);
    if (!isRefused(error, 'NOT_FOUND')) throw error;
  }
}

type NewContent = { conversation: OmiConversationBody; file: Buffer; content: string; signal: AbortSignal };

async function madeOf(
  services: OmiServices,
  who: Principal,
  { conversation: { id, title }, file, content, signal }: NewContent,
): Promise<MadeOfOmi> {
  const read = await services.transcript_readers.read(file, signal);
  if (!read.ok) throw unreadable(read.why);
  if (!fitsPages(read.file)) throw unreadable(TOO_DENSE);
  const pages = new Set(read.file.lines.map(({ start_ms }) => Math.floor(start_ms / LIMITS.transcript_page_ms))).size;
  const source_id = await omiSource(services, who);
  const whole = {
    ...{ name: `${title}.json`, size_bytes: file.length, source_id },
    import_ref: `omi ${hashOf(id).slice(0, 32)} ${content.slice(0, 32)}`,
    async *read(from: number, to: number) {
      yield file.subarray(from, to);
    },
  };
  const import_id = await imported(services, who, whole);
  const { stage } = await services.actors.imports(who.account_id).view({ import_id });
  if (!('stream_id' in stage)) throw new Refused(BUSY);
  return { import_id, stream_id: stage.stream_id, title, pages };
}

function unreadable(why: string): Refused {
  const details = [{ path: 'transcript_segments', message: `must be readable: the transcript ${why}` }];
  return new Refused(refuse('BAD_REQUEST', `transcript_segments: the transcript ${why}.`, { details }));
}

/** The id of the import of a file; one that has failed begins anew. */
async function imported(services: OmiServices, who: Principal, file: WholeFile): Promise<string> {
  try {
    const found = await importWhole(services, who, file);
    if (found.status !== 'failed') return found.id;
    await deleteImport(services, who, found.id);
    return (await importWhole(services, who, file)).id;
  } catch (error) {
    throw isRefused(error, 'CONFLICT') ? new Refused(FULL) : error;
  }
}

/** Whether the import of a conversation has failed. A deletion by its owner is no failure. */
async function hasFailed({ actors }: Pick<OmiServices, 'actors'>, who: Principal, made: MadeOfOmi): Promise<boolean> {
  const found = await orNull(actors.imports(who.account_id).view({ import_id: made.import_id }), 'NOT_FOUND');
  return found?.stage.status === 'failed' && found.stage.code !== DELETED_MEANWHILE;
}

/**
 * `open`: it is no recording yet. `none`: it became none. `untouched`: a recording that nobody has changed. `kept`: one that
 * somebody has changed or deleted.
 */
type Standing = 'open' | 'none' | 'untouched' | 'kept';

async function standingOf(services: OmiServices, who: Principal, made: MadeOfOmi): Promise<Standing> {
  const { actors } = services;
  const found = await orNull(actors.imports(who.account_id).view({ import_id: made.import_id }), 'NOT_FOUND');
  if (found?.stage.status === 'failed') return found.stage.code === DELETED_MEANWHILE ? 'kept' : 'none';
  if (found !== null && found.stage.status !== 'done') return 'open';
  const stream = await orNull(actors.stream(made.stream_id).view(), 'NOT_FOUND');
  if (stream === null || (await isChanged(services, who.account, { made, stream }))) return 'kept';
  return 'untouched';
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
