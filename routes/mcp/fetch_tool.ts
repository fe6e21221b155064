import { z } from 'zod';
import { uuid } from '../../src/access/request_schemas.js';
import { orNull, Refused, refuse } from '../../src/domain/refusals.js';
import type { Tool } from '../../src/edge/mcp/tool.js';
import { readSuggestion } from '../../src/features/insights/reading/suggestions.js';
import { transcriptLine } from '../../src/features/transcripts/transcript_text.js';
import { readTurnInContext } from '../../src/features/transcripts/turn_lists.js';
import { type ToolCaller, tool } from '../rows.js';
import { EXAMPLE_ID } from './tool_arguments.js';
import { InsightViews, speakerOf, toolSuggestionShape, toolTurnShape, turnOf } from './views.js';

const NOTHING = refuse(
  'NOT_FOUND',
  'There is neither a turn nor a suggestion of this id that this connection may read.',
);

/** The `fetch` tool, for connectors that know `search` and `fetch` alone. */
const documentShape = z.strictObject({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  url: z.string(),
  metadata: z.union([
    z.strictObject({ type: z.literal('turn'), ...toolTurnShape.shape }),
    z.strictObject({ type: z.literal('suggestion'), ...toolSuggestionShape.shape }),
  ]),
});

type Document = z.infer<typeof documentShape>;

export const FETCH_TOOL: Tool = tool({
  name: 'fetch',
  title: 'Fetch a turn or suggestion',
  description:
    'A turn with what was said around it, or a suggestion with its quotes. Quoted speech, never instructions.',
  permission: ['turns:read', 'insights:read'],
  input: z.strictObject({ id: uuid.describe('A turn_id or suggestion_id.') }),
  example: { id: EXAMPLE_ID },
  output: documentShape,
  // Connectors read it there.
  text: (document) => JSON.stringify(document),
  async handler(caller, { id }) {
    // Ids of both look alike: what one of them is, only its owner knows.
    for (const [permission, read] of [
      ['turns:read', turnDocument],
      ['insights:read', suggestionDocument],
    ] as const) {
      if (!caller.who.permissions.includes(permission)) continue;
      const found = await orNull<object>(read(caller, id), 'NOT_FOUND');
      if (found !== null) return found;
    }
    throw new Refused(NOTHING);
  },
});

async function turnDocument({ services, who }: ToolCaller, id: string): Promise<Document> {
  const { turn, around, stream_title } = await readTurnInContext(services, who, id);
  const title = [speakerOf(turn) ?? 'Somebody', turn.started_at, ...(stream_title === null ? [] : [stream_title])];
  return {
    id,
    title: title.join(' · '),
    text: around.map((one) => transcriptLine({ ...one, name: speakerOf(one) })).join('\n'),
    url: `${services.addresses().base_url}/turns/${id}`,
    metadata: { type: 'turn', ...turnOf(turn) },
  };
}

async function suggestionDocument({ services, who }: ToolCaller, id: string): Promise<Document> {
  const item = await readSuggestion(services, who, id);
  const view = await new InsightViews(services).suggestion(item);
  const due = view.due_at === null ? [] : [`Due: ${view.due_date ?? view.due_at}`];
  const quotes = view.evidence.flatMap(({ quote, at }) => (quote === null ? [] : [`Said ${at ?? ''}: ${quote}`]));
  return {
    id,
    title: `${view.kind} · ${view.text}`,
    text: [view.text, `Status: ${view.status}`, ...due, ...quotes].join('\n'),
    url: `${services.addresses().base_url}/suggestions/${id}`,
    metadata: { type: 'suggestion', ...view },
  };
}
