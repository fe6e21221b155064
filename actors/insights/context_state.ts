import { pipelineId } from '../../src/domain/ids.js';
import { MEMORY_KINDS, type MemoryKind, SUGGESTION_KINDS, type SuggestionKind } from './library_state.js';

/**
 * An account's profile, context items and pipelines; its id is the account's. Records:
 *
 *   profiles   what the profile was saved as, the newest 50 revisions with the present one, in their order
 *   items      what it wants pipelines to know, in the order in which they were made
 */
export type Context = {
  /** In the order of their numbers; the first always exists. */
  pipelines: Pipeline[];
  /** The number of pipelines ever made. */
  numbers: number;
  profile: Profile;
  /** Rises with each change of an item. */
  version: number;
  items: number;
};

export type Pipeline = {
  number: number;
  name: string;
  default: boolean;
  archived: boolean;
  transcription: { engine: string; language: string | null; diarize: boolean; final_pass: boolean };
  insights: {
    engine: string;
    suggestion_kinds: SuggestionKind[];
    memory_kinds: MemoryKind[];
    instructions: string;
  } | null;
  revision: number;
  created_at_ms: number;
  updated_at_ms: number;
};

export type Profile = {
  revision: number;
  about: string | null;
  languages: string[];
  vocabulary: string[];
  time_zone: string | null;
  updated_at_ms: number | null;
};

export type ContextItem = { text: string; created_at_ms: number; updated_at_ms: number };

/** The name of the engine that the operator has set up without a name. */
export const OPERATORS_ENGINE = 'default';
/** The engine that needs no model. */
export const EXTRACTIVE_ENGINE = 'extractive';

/** The pipeline that every account has from the start. */
export function firstPipeline(now_ms: number): Pipeline {
  return {
    number: 1,
    name: 'Default',
    default: true,
    archived: false,
    transcription: { engine: OPERATORS_ENGINE, language: null, diarize: false, final_pass: false },
    insights: {
      engine: OPERATORS_ENGINE,
      suggestion_kinds: [...SUGGESTION_KINDS],
      memory_kinds: [...MEMORY_KINDS],
      instructions: '',
    },
    revision: 1,
    created_at_ms: now_ms,
    updated_at_ms: now_ms,
  };
}

/**
 * The pipeline that made something: by its id, or the default pipeline of that time, by its number if that is not 1.
 */
export type MadeByPipeline = { pipeline_id: string | null; pipeline?: number };

export function pipelineOf(
  { pipeline_id, pipeline = 1 }: MadeByPipeline,
  { account_id }: { account_id: string },
): string {
  return pipeline_id ?? pipelineId(account_id, pipeline);
}

/** The number of a default pipeline as stored with its items; absent for the first. */
export function keptPipeline(number: number | undefined): { pipeline?: number } {
  return number === undefined || number === 1 ? {} : { pipeline: number };
}
