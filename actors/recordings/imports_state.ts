/** Audio files that become recordings: an account's imports; the id is the account's. */
export type Imports = {
  /** The source of recordings whose import names none; absent until such an import is announced. */
  source_id?: string;
  /** Imports that are neither done nor failed, oldest first. */
  open: OpenImport[];
  /** Imports whose pieces are to be removed from the blob store. */
  removing: { id: string; pieces: number }[];
  /** When the oldest ended import is forgotten; null without one. */
  forget_at_ms: number | null;
};

/** The fields of an import that never change. */
type Announced = {
  id: string;
  import_ref: string;
  name: string;
  size_bytes: number;
  sha256: string;
  /** How many of the last bytes are a transcript of the audio before them; absent for none. */
  transcript_bytes?: number;
  /** Null: taken from the file, or computed from when the file was written or announced. */
  captured_at: string | null;
  utc_offset_min?: number;
  /** When the file was last written. */
  file_time?: LocalTime;
  source_id: string;
  workspace_id: string;
  created_at_ms: number;
};

export type OpenImport = Announced & { stage: OpenStage };
export type EndedImport = Announced & { stage: EndedStage };
export type Import = Announced & { stage: OpenStage | EndedStage };

/** `stream_id`: the recording that it becomes. `measured`: absent until it was decoded. */
type Begun = { stream_id: string; tries: number; measured?: MeasuredAudio };

type OpenStage =
  /** The next piece begins at `received_bytes`. */
  | { status: 'uploading'; received_bytes: number; expires_at_ms: number }
  | (Begun & { status: 'waiting'; not_before_ms: number })
  | (Begun & { status: 'processing'; claim: string; lease_until_ms: number });

/** In collection `imports`, in the order of their announcement. */
type EndedStage =
  | { status: 'done'; stream_id: string; began: Pick<Began, 'captured_at' | 'by'> }
  | { status: 'failed'; received_bytes: number; code: string; message: string };

/** `recorded`: when it began according to the file; the offset is absent if the file has none. */
export type MeasuredAudio = {
  length_ms: number;
  codec: string;
  container: string;
  recorded?: { captured_at: string; utc_offset_min?: number };
};

export type LocalTime = { captured_at: string; utc_offset_min: number };

/**
 * The source of the time at which a recording began: the caller, the file, its name, or the time at which the file was
 * written or announced, less its length.
 */
export type TimeBy = 'caller' | 'metadata' | 'file_name' | 'file_time' | 'announcement';
export type Began = { captured_at: string; utc_offset_min?: number; by: TimeBy };

/** An import that a worker has claimed. */
export type ClaimedImport = Announced & { stage: Extract<OpenStage, { status: 'processing' }> };

/** The index of a partition's accounts that have imports for a worker, by when they are due. */
export const IMPORTS_INDEX = { owner: 'imports', index: 'due' } as const;
