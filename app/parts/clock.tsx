import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../language/say.js';
import { durationText, timeText } from './time.js';

/** Times that go on while a page is open. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The time, again after each `every_ms`. */
function useNow(every_ms: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

/** Calls again and again while the page is in sight: for what no event tells of. Null: not at all. */
export function useEvery(every_ms: number | null, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (every_ms === null) return;
    const timer = setInterval(() => !document.hidden && latest.current(), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
}

/** The time until something expires; `over` is called once when it has. */
export function Countdown({ until, over }: { until: string; over: () => void }) {
  const now = useNow(SECOND_MS);
  const left_ms = Date.parse(until) - now;
  const is_over = left_ms <= 0;
  useEffect(() => {
    if (is_over) over();
  }, [is_over]);
  return (
    <time dateTime={until}>
      {left_ms > MINUTE_MS ? durationText(left_ms) : `${Math.max(0, Math.ceil(left_ms / SECOND_MS))} s`}
    </time>
  );
}

/** The time since then, and after a day the date. */
export function Ago({ at }: { at: string }) {
  const now = useNow(MINUTE_MS);
  const passed_ms = now - Date.parse(at);
  const text =
    passed_ms < MINUTE_MS
      ? say('just now')
      : passed_ms < DAY_MS
        ? say('{duration} ago', { duration: durationText(passed_ms) })
        : say('on {date}', { date: timeText(at, 'date') });
  return (
    <time dateTime={at} title={timeText(at, 'moment')}>
      {text}
    </time>
  );
}
