import type { MadeBy } from '../../../../actors/insights/library_state.js';
import type { InsightInput } from '../insight_input.js';

/** An engine that makes insights of a conversation: the built-in one, or a model that is asked over HTTP. */
export interface InsightEngine {
  /** As debug answers and runs name it. */
  readonly name: string;
  readonly made_by: MadeBy;
  /** Throws EngineFailed. What it says is untrusted: checked_insights.ts. */
  think(input: InsightInput, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}
