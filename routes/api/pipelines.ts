import { z } from 'zod';
import type { PipelineTerms } from '../../actors/insights/context.js';
import type { Pipeline } from '../../actors/insights/context_state.js';
import { MEMORY_KINDS, SUGGESTION_KINDS } from '../../actors/insights/library_state.js';
import { listCursor, type Position, pageOfAll } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { languageTag, listLimit, trimmedLines, trimmedText, uuid, whole } from '../../src/access/request_schemas.js';
import { id, moment, pageShape } from '../../src/access/response_schemas.js';
import { pipelineId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { orNull, type Refusal, Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { closedAs } from '../../src/engine/runtime/activation.js';
import type { Fence } from '../../src/engine/store/store.js';
import { runPipeline } from '../../src/features/insights/pipeline_runs.js';
import { ownSource } from '../../src/features/recordings/sources.js';
import { writableStream } from '../../src/features/recordings/stream_access.js';
import {
  isDeveloper,
  NO_PIPELINE,
  ownPipeline,
  selectsPipelines,
} from '../../src/features/transcripts/pipeline_access.js';
import type { Services } from '../services.js';

/** How an account's recordings are read. Rules K-012 and C-114; docs/choices.md, "Pipelines and profile". */

const READS = ['pipelines:read', 'pipelines:experimental'] as const;
const WRITES = ['pipelines:write'] as const;
const EXPERIMENTS = ['pipelines:experimental'] as const;
const KINDS = [...SUGGESTION_KINDS, ...MEMORY_KINDS] as const;

const NEEDS_WRITING = refuse(
  'FORBIDDEN',
  'The default pipeline, and which one it is, are changed with the permission pipelines:write.',
);
const NEEDS_READING = refuse('FORBIDDEN', 'This needs the permission pipelines:read, or developer access.');
const NEEDS_EXPERIMENTS = refuse(
  'FORBIDDEN',
  'Pipelines beside the default one need developer access and the permission pipelines:experimental.',
);
const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
const IS_ARCHIVED = refuse('CONFLICT', 'The pipeline is archived.');
const ENGINE_NAME = `must be 1 to ${LIMITS.engine_name_chars_max} letters, digits, dots, dashes or underscores`;

const engine = z
  .string(ENGINE_NAME)
  .regex(new RegExp(`^[A-Za-z0-9._-]{1,${LIMITS.engine_name_chars_max}}$`), ENGINE_NAME)
  .describe(
    "The name of one of the operator's engines; default is the one that the operator has set up without a name.",
  );
const kind = z.enum(KINDS);

const pipelineShape = z
  .strictObject({
    id,
    name: z.string().describe('What people call it.'),
    default: z.boolean().describe('Whether it is the one that all recordings go through.'),
    archived: z.boolean().describe('Whether it is put away; nothing runs through it.'),
    transcription: z
      .strictObject({
        engine: z.string().describe("The name of one of the operator's engines."),
        language: z.string().nullable().describe('The BCP 47 tag of what is spoken; null: the engine finds out.'),
        diarize: z.boolean().describe('Whether speakers are told apart.'),
        final_pass: z.boolean().describe('Whether a recording that ended is transcribed once more as a whole.'),
      })
      .describe('How speech becomes text.'),
    insights: z
      .strictObject({
        engine: z.string().describe("The name of one of the operator's engines."),
        kinds: z.array(kind).describe('Which suggestions and memories are made.'),
        instructions: z.string().describe('What the engine is told beside; empty for nothing.'),
      })
      .nullable()
      .describe('How conversations, suggestions and memories are made; null: none are.'),
    revision: z.int().min(1).describe('Rises with each change.'),
    created_at: moment,
    updated_at: moment.describe('When it last changed.'),
  })
  .meta({ id: 'Pipeline' });

export type PipelineView = z.infer<typeof pipelineShape>;

const name = trimmedText(LIMITS.pipeline_name_chars_max).describe('What people call it.');
const transcription = z
  .object({
    engine: engine.optional(),
    language: languageTag.nullable().optional().describe('A BCP 47 tag; null: the engine finds out.'),
    diarize: z.boolean().optional().describe('Whether speakers are told apart.'),
    final_pass: z.boolean().optional().describe('Whether a recording that ended is transcribed once more as a whole.'),
  })
  .optional()
  .describe('What is absent stays as it is.');
const insights = z
  .object({
    engine: engine.optional(),
    kinds: z
      .array(kind)
      .max(KINDS.length, `must be at most ${KINDS.length} kinds`)
      .optional()
      .describe('Which suggestions and memories are made.'),
    instructions: z
      .union([z.literal(''), trimmedLines(LIMITS.pipeline_instructions_chars_max)])
      .optional()
      .describe('What the engine is told beside.'),
  })
  .nullable()
  .optional()
  .describe('What is absent stays as it is; null: none are made.');

export const PIPELINE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/pipelines',
    summary: "An account's pipelines, the first one first.",
    notes: 'Without developer access it is the default one alone.',
    credential: 'account',
    permission: READS,
    recall: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(pipelineShape),
    handler: ({ services, who, query }) => listPipelines(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/pipelines',
    summary: 'Makes a pipeline beside the default one.',
    notes: `An account has at most ${LIMITS.pipelines_per_account_max}; archived ones count.`,
    credential: 'account',
    all_of: EXPERIMENTS,
    developer: true,
    status: 201,
    body: z.object({ name, transcription, insights }),
    answer: pipelineShape,
    refusals: ['CONFLICT'],
    async handler({ services, who: { account_id, fences }, body }) {
      const unknown = unknownEngine(services, body);
      if (unknown !== null) throw new Refused(unknown);
      const made = await services.actors
        .context(account_id)
        .create_pipeline({ ...termsOf(body), name: body.name }, fences);
      return pipelineView(account_id, made);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/pipelines/:id',
    summary: 'A pipeline.',
    notes: 'Without developer access there is the default one alone.',
    credential: 'account',
    permission: READS,
    recall: true,
    answer: pipelineShape,
    async handler({ services, who, params }) {
      if (!who.permissions.includes('pipelines:read') && !isDeveloper(who)) throw new Refused(NEEDS_READING);
      const pipeline = await ownPipeline(services, who, params.id as string);
      return pipeline.default || selectsPipelines(who)
        ? pipelineView(who.account_id, pipeline)
        : throwRefusal(NO_PIPELINE);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/pipelines/:id',
    summary: 'Changes a pipeline, makes it the default one, or puts it away.',
    notes:
      'The default one can not be put away. To change that one, or which one it is, takes pipelines:write; any other takes pipelines:experimental and developer access.',
    credential: 'account',
    permission: [...WRITES, ...EXPERIMENTS],
    body: z.object({
      name: name.optional(),
      transcription,
      insights,
      default: z
        .literal(true, 'must be true; make another pipeline the default instead')
        .optional()
        .describe('It becomes the default one.'),
      archived: z.boolean().optional().describe('Whether it is put away; nothing runs through it then.'),
    }),
    answer: pipelineShape,
    refusals: ['CONFLICT'],
    async handler({ services, who, params, body }) {
      const pipeline = await ownPipeline(services, who, params.id as string);
      // Who has this permission has developer access.
      if (!pipeline.default && !who.permissions.includes('pipelines:experimental'))
        throw new Refused(NEEDS_EXPERIMENTS);
      const is_of_default = pipeline.default || body.default === true;
      if (is_of_default && !who.permissions.includes('pipelines:write')) throw new Refused(NEEDS_WRITING);
      const unknown = unknownEngine(services, body);
      if (unknown !== null) throw new Refused(unknown);
      const { account_id, fences } = who;
      const edit = { number: pipeline.number, ...termsOf(body), default: body.default, archived: body.archived };
      const edited = await services.actors.context(account_id).edit_pipeline(edit, fences);
      return pipelineView(account_id, edited);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/pipelines/:id/runs',
    summary: 'Lets a pipeline work on a recording once more.',
    notes:
      'What the default pipeline makes takes the place of what it made before; what another one makes is read with its pipeline_id. One whose transcription is another than that of the default one transcribes for itself first.',
    credential: 'account',
    all_of: EXPERIMENTS,
    developer: true,
    status: 202,
    body: z
      .object({
        stream_id: uuid.describe('The recording; one of the account itself.'),
        from_ms: whole({ min: 0 }).optional().describe('From where on its timeline; the beginning when absent.'),
        to_ms: whole({ min: 1 }).optional().describe('Up to where; the end when absent.'),
      })
      .refine(({ from_ms = 0, to_ms }) => to_ms === undefined || from_ms < to_ms, {
        path: ['to_ms'],
        message: 'must be later than from_ms',
      }),
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be done.') }),
    refusals: ['CONFLICT'],
    async handler({ services, who, params, body }) {
      const { account_id } = who;
      const pipeline = await ownPipeline(services, who, params.id as string);
      const stream = await writableStream(services, who, body.stream_id);
      const { id: stream_id, source_id, workspace_id } = stream;
      const source = await orNull(ownSource(services, { account_id, id: source_id }), 'NOT_FOUND');
      if (source === null) throw new Refused(NO_STREAM);
      if (pipeline.archived) throw new Refused(IS_ARCHIVED);
      const { from_ms = 0, to_ms = Math.max(stream.end_ms ?? 0, stream.stored_until_ms, from_ms + 1) } = body;
      const pipeline_id = pipeline.default ? null : (params.id as string);
      const asked = { account_id, workspace_id, stream_id, source_id, from_ms, to_ms, pipeline_id };
      const fences = [...who.fences, ...[source_id, stream_id].map((held): Fence => ({ fence: 'open', id: held }))];
      await runPipeline(services, { pipeline, asked, fences }).catch(closedAs(NO_STREAM));
      return { accepted: true };
    },
  }),
];

/** A page of the pipelines that the caller sees. */
export async function listPipelines(
  services: Services,
  who: Principal,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<{ items: PipelineView[]; cursor: string | null }> {
  if (!who.permissions.includes('pipelines:read') && !isDeveloper(who)) throw new Refused(NEEDS_READING);
  const found = await services.actors.context(who.account_id).view();
  const seen = found.pipelines.filter((pipeline) => pipeline.default || selectsPipelines(who));
  const page = pageOfAll(seen, { idOf: ({ number }) => pipelineId(who.account_id, number), limit, cursor });
  return { items: page.rows.map((pipeline) => pipelineView(who.account_id, pipeline)), cursor: page.cursor };
}

type Said = {
  name?: string | undefined;
  transcription?: z.output<typeof transcription>;
  insights?: z.output<typeof insights>;
};

/** Workers outside know engines that nobody here does. */
function unknownEngine({ engine_names }: Services, said: Said): Refusal | null {
  for (const part of ['transcription', 'insights'] as const) {
    const name = said[part]?.engine;
    if (engine_names === null || name === undefined || engine_names[part].includes(name)) continue;
    const [path, message] = [`${part}.engine`, 'must be the name of an engine that the operator has listed'];
    return refuse('BAD_REQUEST', `${path} ${message}.`, { details: [{ path, message }] });
  }
  return null;
}

/** On the wire kinds are one list; no kind of suggestion is called as one of memory. */
function termsOf({ name, transcription, insights }: Said): PipelineTerms {
  if (insights == null) return { name, transcription, insights };
  const { kinds, ...rest } = insights;
  const of_kinds =
    kinds === undefined
      ? {}
      : {
          suggestion_kinds: SUGGESTION_KINDS.filter((one) => kinds.includes(one)),
          memory_kinds: MEMORY_KINDS.filter((one) => kinds.includes(one)),
        };
  return { name, transcription, insights: { ...rest, ...of_kinds } };
}

function pipelineView(account_id: string, pipeline: Pipeline): PipelineView {
  const { number, name, archived, transcription, insights, revision, created_at_ms, updated_at_ms } = pipeline;
  const { engine, suggestion_kinds = [], memory_kinds = [], instructions = '' } = insights ?? {};
  return {
    ...{ id: pipelineId(account_id, number), name, default: pipeline.default, archived, transcription },
    insights: engine === undefined ? null : { engine, kinds: [...suggestion_kinds, ...memory_kinds], instructions },
    revision,
    created_at: new Date(created_at_ms).toISOString(),
    updated_at: new Date(updated_at_ms).toISOString(),
  };
}
