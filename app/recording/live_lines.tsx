import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveEvent, LivePreview, LiveTurns, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { followLiveText } from '../api/live_text.js';
import { say } from '../language/say.js';

/** The live text of a recording under way. */

type Lines = LivePreview['lines'];

/** Preliminary lines of a recording while `on`; turns are handed on as they come. No page that is out of sight follows. */
export function useLiveText(stream_id: string, on: boolean, onTurns: (changed: LiveTurns) => void): Lines {
  const [lines, setLines] = useState<Lines>([]);
  const is_seen = useIsSeen();
  const latest = useRef(onTurns);
  latest.current = onTurns;
  useEffect(() => {
    if (!on || !is_seen) return;
    const stop = new AbortController();
    const hear = (event: LiveEvent) => {
      if (event.event === 'preview') setLines(event.data.lines);
      if (event.event === 'turns') latest.current(event.data);
    };
    void followLiveText(stream_id, stop.signal, hear).then(() => setLines([]));
    return () => stop.abort();
  }, [stream_id, on, is_seen]);
  return lines;
}

/** With what begins in a stretch of the recording in place of what was there. */
export function withChanged(turns: readonly Turn[], { from_ms, to_ms, turns: changed }: LiveTurns): Turn[] {
  const others = turns.filter(({ start_ms }) => start_ms < from_ms || start_ms >= to_ms);
  return [...others, ...changed].sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
}

/** Lines that turns take the place of soon. */
export function LiveLines({ lines }: { lines: Lines }) {
  return (
    <ol class="live-lines" aria-label={say('Heard just now')} aria-live="polite">
      {lines.map(({ start_ms, text }) => (
        <li key={start_ms} class="turn">
          <span class="turn-at">{clockText(start_ms)}</span>
          <p class="turn-said">
            <bdi>{text}</bdi>
          </p>
        </li>
      ))}
    </ol>
  );
}

/** The text of a recording under way: its last turns, and behind them preliminary lines. */
export function LiveText({ stream_id }: { stream_id: string }) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const lines = useLiveText(stream_id, true, (changed) => setTurns((was) => withChanged(was, changed)));
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [turns, lines]);
  if (turns.length + lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="live-text" ref={box} aria-label={say('What is said')} tabIndex={0}>
      <ol class="turns">
        {turns.map(({ id, start_ms, text, language }) => (
          <li key={id} class="turn">
            <span class="turn-at">{clockText(start_ms)}</span>
            <p class="turn-said" lang={language ?? undefined}>
              <bdi>{text}</bdi>
            </p>
          </li>
        ))}
      </ol>
      <LiveLines lines={lines} />
    </section>
  );
}

function useIsSeen(): boolean {
  const [is_seen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setSeen(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return is_seen;
}
