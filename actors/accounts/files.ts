import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  defineActor,
  type Effect,
  type MessageOf,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';

/** An account's files; the id is the account's. Each is a record under its id, in the order in which they were declared. */
export type Files = {
  count: number;
  /** The file as declared, uploaded or not. */
  bytes: number;
};

export type FileRecord = {
  name: string;
  media_type: string;
  size_bytes: number;
  sha256: string;
  status: 'awaiting_upload' | 'stored';
  created_at_ms: number;
};

export type KeptFile = FileRecord & { id: string };
export type FilesMessage = MessageOf<typeof files>;

type Declared = Pick<FileRecord, 'name' | 'media_type' | 'size_bytes' | 'sha256'>;
type OfFile = { file_id: string };
type OneFile = Decision<Files, KeptFile>;

const FILES = 'files';
const NO_FILE = refuse('NOT_FOUND', 'There is no such file.');
const TOO_MANY = refuse('CONFLICT', `An account has at most ${LIMITS.files_per_account_max} files.`);
const TOO_LARGE = refuse(
  'CONFLICT',
  `An account's files have at most ${LIMITS.file_bytes_per_account_max} bytes together.`,
);

/** Rule K-014; docs/choices.md, "Files and exports". */
export const files = defineActor<Files>()({
  kind: 'files',
  home: 'id',
  schema: 1,
  messages: {
    view: {
      reads: true,
      records: ({ file_id }: OfFile) => [recordOf(file_id)],
      decide(_, { file_id }: OfFile, facts): OneFile {
        const file = facts.record<FileRecord>(FILES, file_id);
        return { reply: file === undefined ? NO_FILE : { id: file_id, ...file } };
      },
    },

    list: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: FILES, range }],
      decide: (_, __: { range: RangeQuery }, facts) => ({ reply: { files: facts.range<FileRecord>(FILES) } }),
    },

    /** The bytes must be uploaded within a day. */
    declare: {
      records: ({ file_id }: OfFile) => [recordOf(file_id)],
      decide(state, { file_id, ...declared }: Declared & OfFile, facts): OneFile {
        const known = facts.record<FileRecord>(FILES, file_id);
        if (known !== undefined) return { reply: { id: file_id, ...known } };
        const { count, bytes } = state ?? { count: 0, bytes: 0 };
        if (count >= LIMITS.files_per_account_max) return { reply: TOO_MANY };
        if (bytes + declared.size_bytes > LIMITS.file_bytes_per_account_max) return { reply: TOO_LARGE };
        // From here on it succeeds.
        const file: FileRecord = { ...declared, status: 'awaiting_upload', created_at_ms: facts.now_ms };
        return {
          reply: { id: file_id, ...file },
          next: { count: count + 1, bytes: bytes + file.size_bytes },
          effects: [putFile(file_id, file), awaitUpload(file_id, facts.now_ms)],
        };
      },
    },

    /** The bytes lie in the blob store. */
    stored: {
      records: ({ file_id }: OfFile) => [recordOf(file_id)],
      decide(_, { file_id }: OfFile, facts): OneFile {
        const file = facts.record<FileRecord>(FILES, file_id);
        if (file === undefined) return { reply: NO_FILE };
        if (file.status === 'stored') return { reply: { id: file_id, ...file } };
        const stored: FileRecord = { ...file, status: 'stored' };
        const effects = [putFile(file_id, stored), uploadAwaitedNoMore(file_id)];
        return { reply: { id: file_id, ...stored }, effects };
      },
    },

    rename: {
      records: ({ file_id }: OfFile) => [recordOf(file_id)],
      decide(_, { file_id, name }: OfFile & { name: string }, facts): OneFile {
        const file = facts.record<FileRecord>(FILES, file_id);
        if (file === undefined) return { reply: NO_FILE };
        if (file.name === name) return { reply: { id: file_id, ...file } };
        const renamed: FileRecord = { ...file, name };
        return { reply: { id: file_id, ...renamed }, effects: [putFile(file_id, renamed)] };
      },
    },

    delete: {
      records: ({ file_id }: OfFile) => [recordOf(file_id)],
      decide(state, { file_id }: OfFile, facts): Decision<Files, typeof DONE> {
        const file = facts.record<FileRecord>(FILES, file_id);
        if (state === null || file === undefined) return { reply: NO_FILE };
        return { reply: DONE, ...dropped(state, file_id, file) };
      },
    },

    /** A reminder: the time for the upload has passed. */
    drop_upload: {
      records: ({ file_id }: OfFile) => [recordOf(file_id)],
      decide(state, { file_id }: OfFile, facts): Decision<Files, typeof DONE> {
        const file = facts.record<FileRecord>(FILES, file_id);
        if (state === null || file?.status !== 'awaiting_upload') return { reply: DONE };
        return { reply: DONE, ...dropped(state, file_id, file) };
      },
    },

    /** Ends with its account. */
    erase: {
      records: (): RecordQuery[] => [{ collection: FILES, range: { limit: LIMITS.files_per_account_max } }],
      decide(state, _: unknown, facts): Decision<Files, { left: boolean }> {
        if (state === null) return { reply: { left: false } };
        const awaited = facts.range<FileRecord>(FILES).filter(({ value }) => value.status === 'awaiting_upload');
        const effects: Effect[] = [
          ...awaited.map(({ id }) => uploadAwaitedNoMore(id)),
          { effect: 'delete_collection', collection: FILES },
          { effect: 'delete' },
        ];
        return { reply: { left: false }, next: null, effects };
      },
    },
  },

  invariant({ count, bytes }) {
    if (count < 0 || count > LIMITS.files_per_account_max) return 'too many or too few files';
    return bytes < 0 || bytes > LIMITS.file_bytes_per_account_max ? 'too many or too few bytes' : null;
  },
});

function dropped(state: Files, file_id: string, file: FileRecord): { next: Files; effects: Effect[] } {
  return {
    next: { count: state.count - 1, bytes: state.bytes - file.size_bytes },
    effects: [
      { effect: 'delete_record', collection: FILES, id: file_id },
      ...(file.status === 'awaiting_upload' ? [uploadAwaitedNoMore(file_id)] : []),
    ],
  };
}

function recordOf(file_id: string): RecordQuery {
  return { collection: FILES, id: file_id };
}

function putFile(file_id: string, value: FileRecord): Effect {
  return { effect: 'put_record', collection: FILES, id: file_id, value, order: value.created_at_ms };
}

function awaitUpload(file_id: string, now_ms: number): Effect {
  const message: FilesMessage = { type: 'drop_upload', file_id };
  const at_ms = now_ms + LIMITS.file_upload_life_ms;
  return { effect: 'schedule_reminder', name: reminderOf(file_id), at_ms, message };
}

function uploadAwaitedNoMore(file_id: string): Effect {
  return { effect: 'cancel_reminder', name: reminderOf(file_id) };
}

function reminderOf(file_id: string): string {
  return `upload:${file_id}`;
}
