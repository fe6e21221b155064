import { z } from 'zod';
import { isTooDeep, JSON_DEPTH_MAX } from '../../domain/json_depth.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';

/** Conversations as omi's app sends them. Members that are not known are not read. */

const ID_CHARS_MAX = 128;
const SEGMENTS_MAX = 20_000;
const TITLE = 'Conversation';
const TOO_DEEP = refuse('BAD_REQUEST', `The body must be JSON in at most ${JSON_DEPTH_MAX} levels.`);
const NOT_JSON = refuse('BAD_REQUEST', 'The body must be JSON, or audio as application/octet-stream.');

const segment = z.object({
  text: z.string('must be text'),
  start: z.number('must be a number of seconds'),
  end: z.number('must be a number of seconds'),
  speaker: z.string('must be text').optional(),
  speaker_name: z.string('must be text').optional(),
});

const conversation = z.object({
  id: z.string('must be text').min(1).max(ID_CHARS_MAX),
  started_at: z.string('must be a time').optional(),
  created_at: z.string('must be a time').optional(),
  transcript_segments: z.array(segment).max(SEGMENTS_MAX).default([]),
  structured: z.object({ title: z.string('must be text').optional() }).optional(),
  discarded: z.boolean('must be true or false').default(false),
});

/** `file`: its text as a transcript file; null where omi has discarded it, or nobody speaks. */
export type OmiConversationBody = { id: string; title: string; file: Buffer | null };

/** The conversation in a body; null for live text and the summary of a day, which are not kept. Throws Refused. */
export function readConversation(body: Buffer): OmiConversationBody | null {
  const value = parsedJson(body);
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  if (!('transcript_segments' in value || 'structured' in value)) return null;
  const read = parseGiven(conversation, value);
  if (!read.success) {
    const details = read.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join('.'), message }));
    const [first] = details;
    throw new Refused(refuse('BAD_REQUEST', `${first?.path}: ${first?.message}.`, { details }));
  }
  const { id, started_at, created_at, transcript_segments, structured, discarded } = read.data;
  const is_left_out = discarded || transcript_segments.every(({ text }) => text.trim() === '');
  const file = { id, started_at, created_at, transcript_segments };
  return {
    id,
    title: titleOf(structured?.title ?? ''),
    file: is_left_out ? null : Buffer.from(JSON.stringify(file)),
  };
}

function parsedJson(body: Buffer): unknown {
  const text = body.toString('utf8');
  if (isTooDeep(text)) throw new Refused(TOO_DEEP);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(NOT_JSON);
  }
}

/** A title that can be the name of a file. */
function titleOf(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[/\\\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  // With the ending it is the name of a file.
  return (
    [...plain]
      .slice(0, LIMITS.file_name_chars_max - '.json'.length)
      .join('')
      .trim() || TITLE
  );
}
