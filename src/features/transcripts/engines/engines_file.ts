import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { EXTRACTIVE_ENGINE, OPERATORS_ENGINE } from '../../../../actors/insights/context_state.js';
import { LIMITS } from '../../../domain/limits.js';
import { COMMAND_RULE, isTranscriptionCommand } from './command_line.js';

/**
 * Further engines, by the names that pipelines have for them: `{"transcription": {"name": {"url": …} or {"command": […]}},
 * "insights": {"name": {"url": …}}}`. Each member is as the setting of its name; docs/settings.md.
 */

const ENGINES_MAX = 50;
const FILE_BYTES_MAX = 65_536;

const isAddress = (value: string) => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
};
const url = z
  .string('must be an http or https address without a password')
  .refine(isAddress, 'must be an http or https address without a password');
const key = z
  .string('must be text')
  .regex(/^[\x21-\x7e]{1,1000}$/, 'must be 1 to 1000 visible ASCII characters')
  .optional();
const model = z.string('must be text').min(1).max(200, 'must be at most 200 characters').optional();
const name = z
  .string()
  .min(1)
  .max(LIMITS.engine_name_chars_max, `must be a name of at most ${LIMITS.engine_name_chars_max} characters`)
  .refine((value) => value !== OPERATORS_ENGINE, `must not be ${OPERATORS_ENGINE}, which the settings stand for`);
const server = z.strictObject({ url, key, model }, 'must be an object');
const listOf = <Engine extends z.ZodType>(engine: Engine) =>
  z
    .record(name, engine, 'must be an object of engines by name')
    .refine((engines) => Object.keys(engines).length <= ENGINES_MAX, `must be at most ${ENGINES_MAX}`)
    .default({});
const command = z
  .array(z.string().min(1), 'must be a program and its arguments')
  .min(1)
  .refine(isTranscriptionCommand, COMMAND_RULE);
const transcriber = z
  .strictObject(
    {
      url: url.optional(),
      key,
      model,
      diarize: z.boolean('must be true or false').optional(),
      command: command.optional(),
    },
    'must be an object',
  )
  .refine((one) => (one.url === undefined) !== (one.command === undefined), 'must have either url or command')
  .refine(
    (one) => one.url !== undefined || (one.key === undefined && one.model === undefined && one.diarize === undefined),
    'must have no key, model or diarize beside command',
  );

const FORM = z.strictObject({ transcription: listOf(transcriber), insights: listOf(server) }, 'must be an object');

export type EnginesFile = z.output<typeof FORM>;
/** Names that pipelines may have for engines; null where they are for workers outside to know. */
export type EngineNames = Record<keyof EnginesFile, readonly string[]> | null;

export function engineNames(content_worker: boolean, { transcription, insights }: EnginesFile): EngineNames {
  if (!content_worker) return null;
  return {
    transcription: [OPERATORS_ENGINE, ...Object.keys(transcription)],
    insights: [OPERATORS_ENGINE, EXTRACTIVE_ENGINE, ...Object.keys(insights)],
  };
}

const NO_FURTHER_ENGINES: EnginesFile = { transcription: {}, insights: {} };

/** The message is for the author of the file: it names the member, and shows no value. */
export class WrongEnginesFile extends Error {
  override name = 'WrongEnginesFile';
}

export function readEnginesFile(path: string | null): EnginesFile {
  if (path === null) return NO_FURTHER_ENGINES;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new WrongEnginesFile(`ENGINES_FILE can't be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}.`);
  }
  return parseEngines(text);
}

export function parseEngines(text: string): EnginesFile {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX)
    throw new WrongEnginesFile(`ENGINES_FILE is larger than ${FILE_BYTES_MAX} bytes.`);
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new WrongEnginesFile('ENGINES_FILE is not JSON.');
  }
  const parsed = FORM.safeParse(said);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? [issue.keys[0] ?? ''] : [];
  const member = [...(issue?.path ?? []), ...unknown].map(String).join('.');
  // A name that is none lies a level deeper, in the words of zod.
  const inner = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  const rule = unknown.length > 0 ? 'is not known' : (inner ?? 'is wrong');
  throw new WrongEnginesFile(`ENGINES_FILE is wrong at ${member === '' ? 'its top' : member}: ${rule}.`);
}
