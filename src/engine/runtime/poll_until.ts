import { type Refusal, Refused } from '../../domain/refusals.js';

/** The time for which a route waits for outbox messages to be applied (docs/architecture.md, "Outbox messages"). */
const WAIT_MAX_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** Calls `look` repeatedly until it gives an answer; refuses with `late` after two seconds. */
export async function pollUntil<Answer>(look: () => Promise<Answer | null>, late: Refusal): Promise<Answer> {
  for (const until_ms = performance.now() + WAIT_MAX_MS; ; ) {
    const answer = await look();
    if (answer !== null) return answer;
    if (performance.now() >= until_ms) throw new Refused(late);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
