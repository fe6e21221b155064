import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useEvery } from '../parts/clock.js';
import { type Answer, ask } from './api.js';
import { dateTime } from './format.js';
import { EVERY_MS } from './polling.js';

/** The banner with health problems, on top of every page. */

type Overview = Answer<'GET /ops/overview'>;

/** Later than any sample: no history is wanted. */
export const NO_HISTORY_MS = 999_999_999_999_999;

const shown = signal<Pick<Overview, 'health_problems' | 'watched_since'> | null>(null);

export function showProblems({ health_problems, watched_since }: Overview): void {
  shown.value = { health_problems, watched_since };
}

/** On every page but the one that shows the problems itself. `polls`: the page loads no overview. */
export function ProblemBanner({ polls }: { polls: boolean }) {
  // The page says that the server is away.
  const look = () => void ask('GET /ops/overview', { query: { after_ms: NO_HISTORY_MS } }).then(showProblems, () => {});
  useEffect(() => {
    if (polls) look();
  }, [polls]);
  useEvery(polls ? EVERY_MS : null, look);
  return (
    <div id="band" class="band" role="status">
      {shown.value !== null && <Problems {...shown.value} />}
    </div>
  );
}

function Problems({ health_problems, watched_since }: Pick<Overview, 'health_problems' | 'watched_since'>) {
  if (health_problems.length === 0) {
    return (
      <p class="notice">Nothing is known to be wrong. Device activity is known since {dateTime(watched_since)}.</p>
    );
  }
  return (
    <>
      {health_problems.map(({ name, severity, text, link }) => (
        <p key={name} class={`notice ${severity === 'grave' ? 'problem' : 'caution'}`} data-name={name}>
          {text} <a href={link}>See why</a>
        </p>
      ))}
    </>
  );
}
