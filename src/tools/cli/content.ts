import { UserError } from '../user_error.js';
import type { CommandGroup, CommandRow, GivenOptions } from './command.js';
import { table } from './table.js';

const BY = {
  server: 'the server at TRANSCRIBE_URL',
  program: 'the program of TRANSCRIBE_COMMAND',
  workers: 'workers on the operator port',
  nobody: 'nobody',
} as const;

const status: CommandRow = {
  name: 'status',
  parameters: [],
  options: {},
  says: 'Says who transcribes recordings, what waits, and what fails, as this process has seen it',
  async run({ operator }) {
    const content = await operator.call('GET /ops/content');
    const { transcriber, in_hand, waiting, failing, last_hour, retention } = content;
    const { lag_s } = last_hour;
    const more = waiting.beyond ? ' or more' : '';
    const rows = [
      ['transcribed by', BY[transcriber.by] + (transcriber.host === null ? '' : ` (${transcriber.host})`)],
      ['streams due', `${waiting.due}${more}`],
      ['due for', waiting.oldest_due_s === null ? '' : `${waiting.oldest_due_s} s`],
      ['streams that wait', `${waiting.later}${more}`],
      ['windows in hand', String(in_hand)],
      ['last hour', `${last_hour.windows} windows, ${last_hour.turns} turns`],
      ['audio to turns', lag_s === null ? '' : `p50 ${lag_s.p50.toFixed(1)} s, p99 ${lag_s.p99.toFixed(1)} s`],
      ['sweep failing for', retention.failing_s === null ? '' : `${retention.failing_s} s`],
    ].filter(([, value]) => value !== '') as string[][];
    const lines = table(rows);
    if (failing !== null)
      lines.push('', `Failing since ${failing.since}, ${failing.tries} in a row, the last with ${failing.code}.`);
    const { failures } = last_hour;
    if (failures.length > 0)
      lines.push(
        '',
        ...table([['FAILURE', 'TRIES', 'LAST'], ...failures.map((one) => [one.code, String(one.tries), one.last_at])]),
      );
    return { json: content, lines };
  },
};

const retry: CommandRow = {
  name: 'retry',
  parameters: ['STREAM'],
  options: {},
  says: 'Has what of a stream could not be transcribed tried again',
  async run({ operator, parameters }) {
    const path = { id: parameters.STREAM as string };
    const asked = await operator.call('POST /ops/streams/{id}/reprocess', { path, body: { only_failed: true } });
    return { json: asked, lines: ['What failed is tried again.'] };
  },
};

const reprocess: CommandRow = {
  name: 'reprocess',
  parameters: ['STREAM'],
  options: {
    'from-ms': { value: 'MS', says: 'from there on, on its timeline; from its beginning when not given' },
    'to-ms': { value: 'MS', says: 'up to there; to its end when not given' },
  },
  says: 'Has a stream transcribed again. What people have corrected stays',
  async run({ operator, parameters, options }) {
    const [from_ms, to_ms] = [millisecondsOf(options, 'from-ms'), millisecondsOf(options, 'to-ms')];
    const body = { ...(from_ms !== undefined && { from_ms }), ...(to_ms !== undefined && { to_ms }) };
    const path = { id: parameters.STREAM as string };
    const asked = await operator.call('POST /ops/streams/{id}/reprocess', { path, body });
    return {
      json: asked,
      lines: ['It is transcribed again. What is read stays until there is something in its place.'],
    };
  },
};

export const CONTENT_COMMANDS: CommandGroup = {
  name: 'content',
  says: 'Transcripts of recordings, and why one has none',
  commands: [status, retry, reprocess],
};

function millisecondsOf(options: GivenOptions, name: string): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw new UserError(`--${name} must be whole milliseconds.`);
  return Number(text);
}
