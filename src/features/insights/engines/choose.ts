import { EXTRACTIVE_ENGINE, OPERATORS_ENGINE } from '../../../../actors/insights/context_state.js';
import type { EnginesFile } from '../../transcripts/engines/engines_file.js';
import { Chat } from './chat.js';
import type { InsightEngine } from './insight_engine.js';

type InsightMakerSettings = {
  content_worker: boolean;
  insights: 'extractive' | 'off';
  insights_url: string | null;
  insights_key: string | null;
  insights_model: string | null;
};

/** Who looks into conversations, and which other host their text goes to. */
export type InsightMaker = { by: 'server' | 'built_in' | 'workers' | 'nobody'; host: string | null };

export function insightMakerOf({ content_worker, insights, insights_url }: InsightMakerSettings): InsightMaker {
  const is_off = insights === 'off' && insights_url === null;
  if (is_off) return { by: 'nobody', host: null };
  if (!content_worker) return { by: 'workers', host: null };
  return insights_url === null ? { by: 'built_in', host: null } : { by: 'server', host: new URL(insights_url).host };
}

/** Built-in engines by the names that pipelines have for them; none where nobody or others are to do it. */
export function insightEngines(
  settings: InsightMakerSettings,
  further: EnginesFile['insights'],
  { now, built_in }: { now: () => number; built_in: InsightEngine },
): Map<string, InsightEngine> {
  const { insights_url: url, insights_key: key, insights_model: model } = settings;
  const { by } = insightMakerOf(settings);
  if (by !== 'server' && by !== 'built_in') return new Map();
  const own = url === null ? built_in : new Chat({ url, key, model, now });
  const named = Object.entries(further).map(([name, server]): [string, InsightEngine] => {
    return [name, new Chat({ url: server.url, key: server.key ?? null, model: server.model ?? null, now })];
  });
  return new Map<string, InsightEngine>([...named, [OPERATORS_ENGINE, own], [EXTRACTIVE_ENGINE, built_in]]);
}

/** Hosts that text of conversations may go to. */
export function insightHosts(settings: InsightMakerSettings, further: EnginesFile['insights']): string[] {
  const { by, host } = insightMakerOf(settings);
  const named = by === 'server' || by === 'built_in' ? Object.values(further).map(({ url }) => new URL(url).host) : [];
  return [...new Set([...(host === null ? [] : [host]), ...named])].sort();
}
