import { z } from 'zod';
import type { PipelineTerms } from '../../../../actors/insights/context.js';
import type { Pipeline } from '../../../../actors/insights/context_state.js';
import { MEMORY_KINDS, SUGGESTION_KINDS } from '../../../../actors/insights/library_state.js';
import { type Page, type PageQuery, pageOfAll } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { id, moment } from '../../../access/response_schemas.js';
import { pipelineId } from '../../../domain/ids.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import { closedAs } from '../../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../../engine/store/store.js';
import { ownSource } from '../../recordings/sources.js';
import { writableStream } from '../../recordings/stream_access.js';
import type { FeatureServices } from '../../services.js';
import type { EngineNames } from '../../transcripts/engines/engines_file.js';
import { isDeveloper, NO_PIPELINE, ownPipeline, selectsPipelines } from '../../transcripts/pipeline_access.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { InsightServices } from '../library/insight_services.js';
import { runPipeline } from './pipeline_runs.js';

/**
 * Pipelines, which transcribe an account's recordings and make insights of them. Rules K-012 and C-114;
 * docs/choices.md, "Pipelines and profile".
 */

export const PIPELINE_KINDS = [...SUGGESTION_KINDS, ...MEMORY_KINDS] as const;

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

export const pipelineShape = z
  .strictObject({
    id,
    name: z.string().describe('What people call it.'),
    default: z.boolean().describe('Whether it is the one that all recordings go through.'),
    archived: z.boolean().describe('Whether it is archived; nothing runs through it.'),
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
        kinds: z.array(z.enum(PIPELINE_KINDS)).describe('Which suggestions and memories are made.'),
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

/** The request to make or change a pipeline; absent fields stay as they are. `insights`: null for none. */
type PipelineRequest = {
  name?: string | undefined;
  transcription?: SomeOf<PipelineView['transcription']> | undefined;
  insights?: SomeOf<NonNullable<PipelineView['insights']>> | null | undefined;
};
type SomeOf<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

/** A page of the pipelines that the caller sees. */
export async function listPipelines(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { limit, cursor }: PageQuery,
): Promise<Page<PipelineView>> {
  requireReading(who);
  const found = await services.actors.context(who.account_id).view();
  const seen = found.pipelines.filter((pipeline) => pipeline.default || selectsPipelines(who));
  const page = pageOfAll(seen, { idOf: ({ number }) => pipelineId(who.account_id, number), limit, cursor });
  return { items: page.rows.map((pipeline) => pipelineView(who.account_id, pipeline)), cursor: page.cursor };
}

/** Makes a pipeline beside the default one. */
export async function createPipeline(
  services: Pick<FeatureServices, 'actors'> & { engine_names: EngineNames },
  { account_id, fences }: Principal,
  { name, ...terms }: PipelineRequest & { name: string },
): Promise<PipelineView> {
  requireEngines(services, terms);
  const created = await services.actors.context(account_id).create_pipeline({ ...termsOf(terms), name }, fences);
  return pipelineView(account_id, created);
}

/** A pipeline that the caller sees: without developer access, the default one. */
export async function readPipeline(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  pipeline_id: string,
): Promise<PipelineView> {
  requireReading(who);
  const pipeline = await ownPipeline(services, who, pipeline_id);
  if (!pipeline.default && !selectsPipelines(who)) throw new Refused(NO_PIPELINE);
  return pipelineView(who.account_id, pipeline);
}

/** Changes a pipeline, makes it the default one, or archives it. */
export async function editPipeline(
  services: Pick<FeatureServices, 'actors'> & { engine_names: EngineNames },
  who: Principal,
  {
    id: pipeline_id,
    default: becomes_default,
    archived,
    ...terms
  }: PipelineRequest & { id: string; default?: true | undefined; archived?: boolean | undefined },
): Promise<PipelineView> {
  const pipeline = await ownPipeline(services, who, pipeline_id);
  // Who has this permission has developer access.
  if (!pipeline.default && !who.permissions.includes('pipelines:experimental')) throw new Refused(NEEDS_EXPERIMENTS);
  const is_of_default = pipeline.default || becomes_default === true;
  if (is_of_default && !who.permissions.includes('pipelines:write')) throw new Refused(NEEDS_WRITING);
  requireEngines(services, terms);
  const { account_id, fences } = who;
  const edit = { number: pipeline.number, ...termsOf(terms), default: becomes_default, archived };
  const edited = await services.actors.context(account_id).edit_pipeline(edit, fences);
  return pipelineView(account_id, edited);
}

/**
 * Lets a pipeline work once more on a recording of the account, from its beginning and up to its end where nothing else is
 * said. Times are ms of its timeline.
 */
export async function requestRun(
  services: Pick<FeatureServices, 'actors'> & { insights: InsightServices; transcription: TranscriptionJobs },
  who: Principal,
  {
    pipeline_id,
    stream_id,
    from_ms = 0,
    to_ms,
  }: { pipeline_id: string; stream_id: string; from_ms?: number | undefined; to_ms?: number | undefined },
): Promise<void> {
  const { account_id } = who;
  const pipeline = await ownPipeline(services, who, pipeline_id);
  const stream = await writableStream(services, who, stream_id);
  const { source_id, workspace_id, end_ms, stored_until_ms } = stream;
  const source = await orNull(ownSource(services, { account_id, id: source_id }), 'NOT_FOUND');
  if (source === null) throw new Refused(NO_STREAM);
  if (pipeline.archived) throw new Refused(IS_ARCHIVED);
  const asked = {
    account_id,
    workspace_id,
    stream_id: stream.id,
    source_id,
    from_ms,
    to_ms: to_ms ?? Math.max(end_ms ?? 0, stored_until_ms, from_ms + 1),
    pipeline_id: pipeline.default ? null : pipeline_id,
  };
  const open = [source_id, stream.id].map((held): Fence => ({ fence: 'open', id: held }));
  await runPipeline(services, { pipeline, asked, fences: [...who.fences, ...open] }).catch(closedAs(NO_STREAM));
}

function requireReading(who: Principal): void {
  if (!who.permissions.includes('pipelines:read') && !isDeveloper(who)) throw new Refused(NEEDS_READING);
}

/** BAD_REQUEST where an engine is named that nobody here has; workers outside know engines that this server does not. */
function requireEngines({ engine_names }: { engine_names: EngineNames }, terms: PipelineRequest): void {
  for (const part of ['transcription', 'insights'] as const) {
    const name = terms[part]?.engine;
    if (engine_names === null || name === undefined || engine_names[part].includes(name)) continue;
    const [path, message] = [`${part}.engine`, 'must be the name of an engine that the operator has listed'];
    throw new Refused(refuse('BAD_REQUEST', `${path} ${message}.`, { details: [{ path, message }] }));
  }
}

/** On the wire kinds are one list; no kind of suggestion is called as one of memory. */
function termsOf({ name, transcription, insights }: PipelineRequest): PipelineTerms {
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
    id: pipelineId(account_id, number),
    name,
    default: pipeline.default,
    archived,
    transcription,
    insights: engine === undefined ? null : { engine, kinds: [...suggestion_kinds, ...memory_kinds], instructions },
    revision,
    created_at: new Date(created_at_ms).toISOString(),
    updated_at: new Date(updated_at_ms).toISOString(),
  };
}
