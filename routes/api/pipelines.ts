import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { languageTag, listLimit, trimmedLines, trimmedText, uuid, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  createPipeline,
  editPipeline,
  listPipelines,
  PIPELINE_KINDS,
  pipelineShape,
  readPipeline,
  requestRun,
} from '../../src/features/insights/context/pipelines.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/**
 * Pipelines, which transcribe an account's recordings and make insights of them. Rules K-012 and C-114;
 * docs/choices.md, "Pipelines and profile".
 */

const PIPELINE_NAME_CHARS_MAX = 80; // ours: as a name of an account

const READS = ['pipelines:read', 'pipelines:experimental'] as const;
const WRITES = ['pipelines:write'] as const;
const EXPERIMENTS = ['pipelines:experimental'] as const;

const ENGINE_NAME = `must be 1 to ${LIMITS.engine_name_chars_max} letters, digits, dots, dashes or underscores`;

const engine = z
  .string(ENGINE_NAME)
  .regex(new RegExp(`^[A-Za-z0-9._-]{1,${LIMITS.engine_name_chars_max}}$`), ENGINE_NAME)
  .describe(
    "The name of one of the operator's engines; default is the one that the operator has set up without a name.",
  );
const kind = z.enum(PIPELINE_KINDS);

const name = trimmedText(PIPELINE_NAME_CHARS_MAX).describe('What people call it.');
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
      .max(PIPELINE_KINDS.length, `must be at most ${PIPELINE_KINDS.length} kinds`)
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
    handler: ({ services, who, body }) => createPipeline(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/pipelines/:id',
    params: { id: PARAMETERS.pipeline },
    summary: 'A pipeline.',
    notes: 'Without developer access there is the default one alone.',
    credential: 'account',
    permission: READS,
    recall: true,
    answer: pipelineShape,
    handler: ({ services, who, params }) => readPipeline(services, who, params.id),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/pipelines/:id',
    params: { id: PARAMETERS.pipeline },
    summary: 'Changes a pipeline, makes it the default one, or puts it away.',
    notes:
      'The default one can not be archived. To change that one, or which one it is, takes pipelines:write; any other takes pipelines:experimental and developer access.',
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
      archived: z.boolean().optional().describe('Whether it is archived; nothing runs through it then.'),
    }),
    answer: pipelineShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body }) => editPipeline(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/pipelines/:id/runs',
    params: { id: PARAMETERS.pipeline },
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
      await requestRun(services, who, { pipeline_id: params.id, ...body });
      return { accepted: true };
    },
  }),
];
