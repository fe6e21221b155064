import type { Layer } from '../../src/domain/permissions.js';

/** An account's exports; the id is the account's. */
export type Exports = {
  /** Oldest first. */
  items: Export[];
  /** The times of requests by the account in the present window. */
  asked_at_ms: number[];
  /** Exports whose bytes are to be removed. */
  removing: string[];
};

export type Export = {
  id: string;
  /** An export for staff can be read by staff alone, and includes layers that the account has hidden. */
  by: 'account' | 'staff';
  audio: boolean;
  files: boolean;
  created_at_ms: number;
  stage: ExportStage;
};

export type ExportStage =
  | (Begun & { status: 'pending' })
  | (Begun & { status: 'running'; claim: string; lease_until_ms: number; progress: ExportProgress })
  | ({ status: 'ready'; claim: string; attempt: number; expires_at_ms: number } & Archived)
  | ({ status: 'failed' } & ExportFailure)
  | { status: 'expired' };

type Begun = {
  /** The account's credential epoch that it was requested under: the export goes on while that holds. */
  account_epoch: number;
  /** Counts attempts, so that each names its parts differently. */
  attempt: number;
  /** The number of these attempts that were lost. */
  tries: number;
};

export type ExportProgress = { records: number; bytes: number };
export type ExportFailure = { code: string; message: string };

/** An archive in the blob store. Its parts have one length, but for the last. */
export type Archived = {
  bytes: number;
  sha256: string;
  part_bytes: number;
  /** The layers of content in the archive. */
  layers: Layer[];
};

/** An export that a worker has claimed. */
export type RunningExport = Export & { stage: Extract<ExportStage, { status: 'running' }> };

/** The index of a partition's accounts that have work for a worker, by when it is due. */
export const EXPORTS_INDEX = { owner: 'exports', index: 'due' } as const;
