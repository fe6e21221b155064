import { CallRefused } from '../../kits/typescript/src/call.js';

/**
 * What callers did and heard. A call is a span of the run's own time: whatever was acknowledged before a call was sent
 * must show in its answer, and only what was sent before its answer came may.
 */
export type Answer = { status: number; code: string; data: unknown; retry_after_s?: number | null };
type Outcome = 'under way' | 'done' | 'refused' | 'unknown';
export type Call<What = unknown> = {
  what: What;
  began: number;
  ended: number;
  outcome: Outcome;
  /** Null until it is answered, and for ever where nobody knows the outcome. */
  answer: Answer | null;
};

/** Between two things that happen at the same time. */
const INSTANT_MS = 1e-6;

/** When calls were sent and answered: by a clock where there is one, and always in their order. */
export class RunTime {
  readonly #elapsed_ms: () => number;
  #now_ms = 0;

  constructor(elapsed_ms = () => 0) {
    this.#elapsed_ms = elapsed_ms;
  }

  #instant(): number {
    this.#now_ms = Math.max(this.#now_ms + INSTANT_MS, this.#elapsed_ms());
    return this.#now_ms;
  }

  /** `stale_max_ms`: the answer may be so old. */
  begin<What>(list: Call<What>[], what: What, stale_max_ms = 0): Call<What> {
    const call: Call<What> = {
      ...{ what, began: this.#instant() - stale_max_ms, ended: Number.POSITIVE_INFINITY },
      ...{ outcome: 'under way', answer: null },
    };
    list.push(call);
    return call;
  }

  end(call: Call, answer: Answer): void {
    const { status } = answer;
    call.ended = this.#instant();
    // Of what was answered 503, or nothing, nobody knows whether it came into effect.
    call.outcome = status === 0 || status >= 500 ? 'unknown' : status < 300 ? 'done' : 'refused';
    if (call.outcome !== 'unknown') call.answer = answer;
  }
}

/** A success with these data. */
export const succeeded = (data: unknown = null): Answer => ({ status: 200, code: '', data });

/** What came of a client's call; status 0 where no answer came. */
export async function answerOf(work: Promise<unknown>): Promise<Answer> {
  try {
    return succeeded(await work);
  } catch (error) {
    if (error instanceof CallRefused) {
      const { status, code, retry_after_s } = error;
      return { status, code, data: null, retry_after_s };
    }
    return { status: 0, code: (error as NodeJS.ErrnoException).code ?? String(error), data: null };
  }
}
