import type { LeftOut, MadeBy } from '../../../../actors/insights/library_state.js';
import type { InsightInput, RawInsights } from './insight_input.js';

/** An engine that makes insights of a conversation: the built-in one, or a model that is asked over HTTP. */
export interface InsightEngine {
  /** As debug answers and runs name it. */
  readonly name: string;
  readonly made_by: MadeBy;
  /**
   * Throws EngineFailed. What it says is untrusted: checked_insights.ts. `left_out`: of its answer, already.
   * `is_english_only`: it looked for no suggestions, since the conversation is in another language.
   */
  think(
    input: InsightInput,
    signal: AbortSignal,
  ): Promise<RawInsights & { left_out?: LeftOut; is_english_only?: boolean }>;
  close(): Promise<void>;
}
