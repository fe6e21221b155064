import { z } from 'zod';
import { defaultPipeline } from '../../actors/insights/context.js';
import { listCursor, pageOfAll } from '../../src/access/cursors.js';
import { listLimit, whole } from '../../src/access/request_schemas.js';
import { count, id, moment, momentOrNull, pageShape } from '../../src/access/response_schemas.js';
import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { closedAs } from '../../src/engine/runtime/activation.js';
import type { Fence } from '../../src/engine/store/store.js';
import { type DebugRun, debugRuns } from '../../src/features/insights/debug_runs.js';
import { NOBODY_LOOKS } from '../../src/features/insights/look_again.js';
import { readableScene } from '../../src/features/transcripts/transcript_reading.js';
import { accountRoute, type Route } from '../rows.js';

/** What became of a recording, for those who look for a fault. Rule K-017; docs/choices.md, "Diagnostics". */

const KINDS = ['transcribe', 'insights'] as const;
const END_MS = LIMITS.transcript_pages_max * LIMITS.transcript_page_ms;
const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may have it processed again.');
const MAKES_NONE = refuse('CONFLICT', 'The default pipeline makes no insights.');

const kind = z.enum(KINDS, `must be one of ${KINDS.join(', ')}`);
const time = whole({ min: 0, max: END_MS });

const runShape = z
  .strictObject({
    run_id: id.nullable().describe('What events call it; null while nobody has it.'),
    kind: kind.describe('transcribe: audio becomes turns; insights: turns become conversations and what is in them.'),
    pipeline_id: id.describe('Whose work it is.'),
    from_ms: count.describe("Where its part of the recording begins, in ms of the stream's timeline."),
    to_ms: count.describe('Where that ends.'),
    status: z
      .enum(['waiting', 'claimed', 'published', 'failed'])
      .describe('claimed: a worker has it; failed: it is not tried any more.'),
    tries: count.describe('How often a worker has had it.'),
    engine: z.string().nullable().describe('What did it, where that was said.'),
    queued_at: moment.describe('Since when it waits, or had waited.'),
    published_at: moment.nullable().describe('When its result was published; null where there is none.'),
    failure: z.string().nullable().describe('The code of why it failed.'),
    dropped: z
      .strictObject({
        unsupported: count.describe('No turn bears it; of a transcription: the engine itself doubted it.'),
        duplicate: count.describe('It was there already, or a person did not want it.'),
        protected: count.describe('A person had said otherwise.'),
      })
      .describe('How much of its result was left out, and why.'),
  })
  .meta({ id: 'DebugRun' });

export const DEBUG_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/debug/streams/:id/runs',
    summary: 'What workers made of a stream, and what waits for them.',
    notes:
      'What came last is first. Of a stream the last hundred ends of transcription and fifty of insights are known. A try that is followed by another is no end.',
    credential: 'account',
    all_of: ['debug:read'],
    developer: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(runShape),
    async handler({ services, who, params, query: { limit, cursor } }) {
      const scene = await readableScene(services, who, params.id as string);
      const runs = await debugRuns(services, who, scene);
      const page = pageOfAll(runs, { idOf: ({ key }) => key, limit, cursor });
      return { items: page.rows.map(runView), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/debug/streams/:id/reprocess',
    summary: 'Has a stream transcribed again, or looked into again, by the default pipeline.',
    notes: 'What people have corrected stays. What is read stays until there is something in its place.',
    credential: 'account',
    all_of: ['debug:write'],
    developer: true,
    status: 202,
    body: z
      .object({
        from_ms: time.default(0).describe('From where on its timeline, in ms; the beginning when absent.'),
        to_ms: time.default(END_MS).describe('Up to where; the end when absent.'),
        kinds: z
          .array(kind)
          .min(1, 'must name at least one')
          .max(KINDS.length, 'must name each once at most')
          .describe('What is done again.'),
      })
      .refine(({ from_ms, to_ms }) => from_ms < to_ms, { path: ['to_ms'], message: 'must lie behind from_ms' }),
    example: { kinds: ['transcribe'] },
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be done.') }),
    refusals: ['CONFLICT'],
    async handler({ services, who, params, body: { kinds, from_ms, to_ms } }) {
      const { actors } = services;
      const scene = await readableScene(services, who, params.id as string);
      const { id: stream_id, account_id, workspace_id, source_id } = scene.stream;
      if (account_id !== who.account_id) throw new Refused(ONLY_OWNER);
      const context = await actors.context(account_id).view();
      if (kinds.includes('insights') && defaultPipeline(context).insights === null) throw new Refused(MAKES_NONE);
      if (kinds.includes('insights') && services.insights.made_by === null) throw new Refused(NOBODY_LOOKS);
      const open = [source_id, stream_id].map((held): Fence => ({ fence: 'open', id: held }));
      const fences = [...who.fences, ...open];
      if (kinds.includes('transcribe') && scene.transcript !== null) {
        await actors
          .transcript(stream_id)
          .reprocess({ from_ms, to_ms, only_failed: false }, fences)
          .catch(closedAs(NO_STREAM));
        services.transcription.due.offer(stream_id);
      }
      if (kinds.includes('insights')) {
        const { stored_until_ms, end_ms } = scene.stream;
        const until_ms = Math.min(to_ms, Math.max(end_ms ?? 0, stored_until_ms, from_ms + 1));
        const asked = { account_id, workspace_id, stream_id, source_id, from_ms, to_ms: until_ms, pipeline_id: null };
        await actors.library(libraryId(account_id, workspace_id)).request_run(asked, fences).catch(closedAs(NO_STREAM));
      }
      return { accepted: true };
    },
  }),
];

function runView({ key: _, queued_at_ms, published_at_ms, ...run }: DebugRun): z.infer<typeof runShape> {
  return { ...run, queued_at: new Date(queued_at_ms).toISOString(), published_at: momentOrNull(published_at_ms) };
}
