import type { Test } from 'tap';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { drawSeed, drawSome } from '../fixtures/seed.js';
import type { Servers } from './servers.js';

/** After an answer, its outbox messages are delivered within this. */
const DELIVERED_MAX_MS = 60;
/** No step has more commits than that: one that seems to is a test that never ends. */
const COMMITS_MAX = 40;
/** How many commits a step is taken to have before it was seen to have fewer. */
const COMMITS_GUESSED = 6;

/** How many steps of each kind, and after how many commits of each a server is killed: drawn at random, and Infinity is all. */
export type Kills = { steps: number; points: number };
export const SOME_KILLS: Kills = { steps: 1, points: 1 };
export const ALL_KILLS: Kills = { steps: Infinity, points: Infinity };

type AnswerOf<Step extends { ask: () => Promise<unknown> }> = Awaited<ReturnType<Step['ask']>>;

type Point = { nth: number; what: 'request' | 'reply' };

/**
 * Asks, and kills the server as it makes the nth commit. The answer is null where none came; a server that was killed
 * serves again. Killed before a commit leaves in storage what killed after the one before does, but shows an answer that
 * did not wait for its commit.
 */
async function askAndKill<Answer>(
  servers: Servers,
  { nth, what }: Point,
  ask: () => Promise<Answer>,
): Promise<{ answer: Answer | null; was_killed: boolean; commits: number }> {
  const kill = servers.loseCommit(nth, { what });
  const answer = await ask().catch(() => null);
  // The answer does not wait for all commits: outbox messages are delivered when they are.
  if (answer !== null) await kill.wait(DELIVERED_MAX_MS);
  const commits = nth - kill.cancel();
  const was_killed = kill.is_over();
  if (was_killed) await servers.restart();
  return { answer, was_killed, commits };
}

/**
 * Kills a server after commits of steps, and in each step before one. `kinds` are the names of all steps, by their kind.
 * `judge` says what must hold then; its `answer` is null where nobody heard one.
 */
export async function killWithin<Step extends { ask: () => Promise<unknown> }>(
  t: Test,
  servers: Servers,
  { steps, kinds, kills }: { steps: Record<string, () => Promise<Step>>; kinds: string[][]; kills: Kills },
  judge: (tried: { nth: number; step: Step; answer: AnswerOf<Step> | null }, t: Test) => Promise<void>,
): Promise<void> {
  const random = new SeededRandom(drawSeed(t));
  t.same(kinds.flat().toSorted(), Object.keys(steps).toSorted(), 'every step is of one kind');
  for (const name of kinds.flatMap((kind) => drawSome(random, kind, kills.steps))) {
    const prepare = steps[name] as () => Promise<Step>;
    await t.test(name, async (t) => {
      const killed: number[] = [];
      const attempt = async (nth: number, what: Point['what'] = 'reply') => {
        const step = await prepare();
        const { answer, was_killed, commits } = await askAndKill(servers, { nth, what }, step.ask);
        await judge({ nth, step, answer: answer as AnswerOf<Step> | null }, t);
        if (was_killed && what === 'reply') killed.push(nth);
        return { was_killed, commits };
      };
      if (kills.points === Infinity) {
        for (let nth = 1; (await attempt(nth)).was_killed; nth++)
          if (nth > COMMITS_MAX) throw new Error(`${name} does not end`);
      } else {
        let commits = COMMITS_GUESSED;
        while (killed.length < Math.min(kills.points, commits)) {
          const left = Array.from({ length: commits }, (_, index) => index + 1).filter((nth) => !killed.includes(nth));
          const tried = await attempt(random.pick(left));
          if (!tried.was_killed) commits = tried.commits;
        }
      }
      t.ok(killed.length > 0, `killed after commits ${killed}`);
      await attempt(random.pick(killed), 'request');
    });
  }
}
