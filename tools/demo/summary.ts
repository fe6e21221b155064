/** The outcome of a run. Times are ms for one chunk: its intent and its upload. */
export type DemoOutcome = {
  server: string;
  recording: string;
  devices: number;
  chunk_ms: number[];
  bytes: number;
  recording_ms: number;
  retries: number;
  events: { wanted: number; heard: number };
  /** Chunks that came back with other bytes or not at all. */
  differing: number;
};

/** The summary's lines, and whether everything is as it should be. */
export function summaryOf(outcome: DemoOutcome): { lines: string[]; good: boolean } {
  const { chunk_ms, bytes, recording_ms, events, differing } = outcome;
  const chunks = chunk_ms.length;
  const seconds = recording_ms / 1000;
  const good = differing === 0 && events.heard === events.wanted && chunks > 0;
  const rows: [string, string][] = [
    ['server', outcome.server],
    ['recording', outcome.recording],
    ['devices', String(outcome.devices)],
    ['chunks', `${chunks} in ${seconds.toFixed(2)} s, ${(chunks / seconds).toFixed(1)} a second`],
    ['bytes', `${(bytes / 1e6).toFixed(2)} MB, ${(bytes / 1e6 / seconds).toFixed(2)} MB a second`],
    [
      'a chunk',
      `p50 ${quantile(chunk_ms, 0.5).toFixed(1)} ms, p99 ${quantile(chunk_ms, 0.99).toFixed(1)} ms (intent and upload)`,
    ],
    ['retries', String(outcome.retries)],
    ['events', `${events.heard} of ${events.wanted} stream.updated heard`],
    [
      'listened',
      differing === 0
        ? `all ${chunks} chunks came back with the same SHA-256`
        : `${differing} of ${chunks} chunks DIFFER`,
    ],
  ];
  return {
    lines: [
      good ? 'Everything came back as it was recorded.' : 'NOT everything came back as it was recorded.',
      ...rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`),
    ],
    good,
  };
}

/** The smallest value that at least this share of all are not above. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
