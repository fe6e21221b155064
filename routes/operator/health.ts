import { z } from 'zod';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { mergeMetrics } from '../../src/edge/operations/merged_metrics.js';
import { VERSION } from '../../src/engine/process/version.js';
import { engineLanguages, engineModel } from '../../src/features/transcripts/transcript_summary.js';
import { openRoute, type Route } from '../rows.js';

/** Health checks for programs that watch this server. docs/operators.md, "Routes". */
export const HEALTH_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process runs, and which version of Spool it is.',
    credential: 'none',
    answer: z.strictObject({
      alive: z.literal(true).describe('It answers, so it is.'),
      version: z.string().describe('The version of Spool.'),
    }),
    handler: async () => ({ alive: true, version: VERSION }),
  }),

  openRoute({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether it can serve requests: all, or those that the part of a Redis Cluster answers that is there.',
    notes:
      'It writes something, as requests do, and waits two seconds at most; what was found counts for a second. A server that is about to stop says 503 for DRAIN_S, and serves on.',
    credential: 'none',
    answer: z.strictObject({
      ready: z.literal(true).describe('Storage takes writes.'),
      storage: z.enum(['ok', 'slow']).describe('slow: a write takes over half a second.'),
      transcription: z
        .strictObject({
          by: z.enum(['server', 'program', 'built_in', 'workers', 'nobody']).describe('Who makes text of audio.'),
          host: z.string().nullable().describe('Of the server that audio goes to by itself.'),
          hosts: z.array(z.string()).describe('All other machines that audio may go to.'),
          languages: engineLanguages,
          model: engineModel,
          tells_speakers: z.boolean().describe('Whether it tells speakers apart by their number.'),
        })
        .describe('Who makes text of audio.'),
      insights: z
        .strictObject({
          by: z
            .enum(['server', 'built_in', 'workers', 'nobody'])
            .describe('Who looks into conversations; built_in: without a model.'),
          hosts: z.array(z.string()).describe('Other machines that their text goes to.'),
        })
        .describe('Who looks into conversations.'),
      troubled_processes: z
        .array(
          z.strictObject({
            number: z.int().describe('Which of the processes it is, from 1 on.'),
            pid: z.int().describe('Of the process that hangs, or of the one that was replaced.'),
            trouble: z
              .enum(['hangs', 'replaced'])
              .describe(
                'hangs: it does not respond; replaced: it crashed or hung within the last minute, and another serves.',
              ),
          }),
        )
        .describe('With PROCESSES of 2 or more, those that do not do their work. Others serve meanwhile.'),
    }),
    async handler({ services: { draining, storage_health, transcriber, insights, processes } }) {
      if (draining.hasBegun)
        throw new Refused(refuse('UNAVAILABLE', 'The server is about to stop.', { retry_after_s: 2 }));
      const { status } = await storage_health.current();
      if (status === 'ok' || status === 'slow')
        return {
          ready: true,
          storage: status,
          transcription: transcriber,
          insights: { by: insights.by, hosts: insights.hosts },
          troubled_processes: [...processes.troubles],
        };
      const text = status === 'away' ? 'Storage does not answer.' : 'Storage takes no writes.';
      throw new Refused(refuse('UNAVAILABLE', text, { retry_after_s: 2 }));
    },
  }),

  openRoute({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus; of several processes each sample says whose it is.',
    credential: 'none',
    answer: 'text',
    async handler({ services: { deliveries, metrics, processes }, reply }) {
      await deliveries.measure().catch(() => {}); // storage is away: the rest is worth having all the same
      return reply.type(metrics.registry.contentType).send(mergeMetrics(await processes.ask('metrics', null)));
    },
  }),
];
