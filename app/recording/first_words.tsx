import { useEffect, useState } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { recordingName } from './stream_names.js';

/** A recording without a title is known by how it begins. A few are looked up at a time, and each once. */

const AT_ONCE = 3;
const CHARS_MAX = 80;
const KEPT_MAX = 500;

const found = new Map<string, string | null>();
const waiting: (() => Promise<void>)[] = [];
let running = 0;

export function FirstWords({ stream }: { stream: Stream }) {
  const key = `${stream.id} ${Math.min(1, stream.transcript_revision)}`;
  const [words, setWords] = useState(found.get(key) ?? null);
  useEffect(() => {
    if (stream.transcript_revision === 0) return;
    const known = found.get(key);
    if (known !== undefined) return setWords(known);
    let is_shown = true;
    waiting.push(async () => {
      if (!is_shown) return;
      const text = await firstWords(stream.id).catch(() => null);
      if (found.size >= KEPT_MAX) found.clear();
      found.set(key, text);
      if (is_shown) setWords(text);
    });
    goOn();
    return () => {
      is_shown = false;
    };
  }, [key]);
  return <>{words === null ? recordingName(stream) : `“${words}”`}</>;
}

function goOn(): void {
  while (running < AT_ONCE) {
    const next = waiting.shift();
    if (next === undefined) return;
    running++;
    void next().finally(() => {
      running--;
      goOn();
    });
  }
}

async function firstWords(stream_id: string): Promise<string | null> {
  const { items } = await api('GET /turns', { query: { stream_id, limit: 1 } });
  const text = items[0]?.text;
  if (text === undefined) return null;
  return text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX).trimEnd()}…` : text;
}
