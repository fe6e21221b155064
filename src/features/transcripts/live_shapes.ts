import { z } from 'zod';
import { count } from '../../access/response_schemas.js';
import { turnShape } from './turn_shape.js';

const lineShape = z.strictObject({
  start_ms: count.describe("When it begins, in ms on the stream's timeline."),
  end_ms: count.describe('When it is over, in ms.'),
  text: z.string().describe('What was heard; it may be something else a moment later.'),
});

export const liveEventShape = z
  .union([
    z.strictObject({
      event: z.literal('turns').describe('Turns that were published or changed.'),
      id: z.string().describe('The revision of the transcript.'),
      data: z
        .strictObject({
          from_ms: count.describe('Turns that begin here or later are replaced, in ms of the timeline.'),
          to_ms: count.describe('Those that begin here or later are not.'),
          turns: z.array(turnShape).describe('All turns that begin between the two.'),
        })
        .meta({ id: 'LiveTurns' }),
    }),
    z.strictObject({
      event: z.literal('preview').describe('Preliminary lines.'),
      data: z
        .strictObject({
          from_ms: count.describe('What audio from here on says so far, in ms of the timeline.'),
          lines: z.array(lineShape).describe('Preliminary lines. They take the place of all earlier ones.'),
        })
        .meta({ id: 'LivePreview' }),
    }),
    z.strictObject({
      event: z.literal('end').describe('Nothing follows.'),
      data: z.strictObject({}).describe('The recording has ended, and nothing of it waits.'),
    }),
  ])
  .meta({ id: 'LiveEvent' });

export type LiveEvent = z.infer<typeof liveEventShape>;
export type LivePreview = Extract<LiveEvent, { event: 'preview' }>['data'];
export type Line = LivePreview['lines'][number];

export const NO_LINES: LivePreview = { from_ms: 0, lines: [] };

export function isSame(line: Line, other: Line | undefined): boolean {
  return line.start_ms === other?.start_ms && line.end_ms === other.end_ms && line.text === other.text;
}
