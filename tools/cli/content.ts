import type { OperatorApi } from '../../kits/typescript/src/api.js';
import { UserError } from '../user_error.js';
import type { CommandGroup, CommandRow, GivenOptions } from './command.js';
import { table } from './table.js';

const BY = {
  server: 'the server at TRANSCRIBE_URL',
  program: 'the program of TRANSCRIBE_COMMAND',
  built_in: 'the built-in engine',
  workers: 'workers on the operator port',
  nobody: 'nobody',
} as const;

const INSIGHTS_BY = {
  server: 'the model at INSIGHTS_URL',
  built_in: 'the server itself, without a model',
  workers: 'workers on the operator port',
  nobody: 'nobody',
} as const;

type Content = OperatorApi['GET /ops/content']['answer'];

const status: CommandRow = {
  name: 'status',
  parameters: [],
  options: {},
  says: 'Shows who transcribes recordings and processes conversations, what is waiting, and what fails, as this process has seen it',
  async run({ operator }) {
    const content = await operator.call('GET /ops/content');
    const { transcriber, in_hand, waiting, failing, last_hour, insights, retention } = content;
    const { lag_s } = last_hour;
    const more = waiting.beyond ? ' or more' : '';
    const thought = insights.last_hour;
    const rows = [
      ['transcribed by', BY[transcriber.by] + hostsOf(transcriber)],
      ['streams due', `${waiting.due}${more}`],
      ['due for', waiting.oldest_due_s === null ? '' : `${waiting.oldest_due_s} s`],
      ['streams that wait', `${waiting.later}${more}`],
      ['windows in hand', String(in_hand)],
      ['last hour', `${last_hour.windows} windows, ${last_hour.turns} turns`],
      ['audio to turns', lag_s === null ? '' : `p50 ${lag_s.p50.toFixed(1)} s, p99 ${lag_s.p99.toFixed(1)} s`],
      ['insights by', INSIGHTS_BY[insights.by] + hostsOf(insights)],
      ['accounts due', `${insights.waiting.due}${insights.waiting.beyond ? ' or more' : ''}`],
      ['due for', insights.waiting.oldest_due_s === null ? '' : `${insights.waiting.oldest_due_s} s`],
      ['accounts that wait', `${insights.waiting.later}${insights.waiting.beyond ? ' or more' : ''}`],
      ['in hand', `${insights.in_hand} conversations`],
      [
        'last hour',
        `${thought.conversations} conversations, ${thought.suggestions} suggestions, ${thought.memories} memories`,
      ],
      ['dropped', thought.dropped.map(({ reason, count }) => `${count} ${reason}`).join(', ')],
      ['sweep failing for', retention.failing_s === null ? '' : `${retention.failing_s} s`],
    ].filter(([, value]) => value !== '') as string[][];
    const lines = [
      ...table(rows),
      ...failuresOf(failing, { last_hour, what: 'Failing' }),
      ...failuresOf(insights.failing, { last_hour: thought, what: 'Conversations fail' }),
    ];
    return { json: content, lines };
  },
};

const retry: CommandRow = {
  name: 'retry',
  parameters: ['STREAM'],
  options: {},
  says: 'Tries again what of a stream could not be transcribed or processed',
  async run({ operator, parameters }) {
    const path = { id: parameters.STREAM as string };
    const asked = await operator.call('POST /ops/streams/{id}/reprocess', {
      path,
      body: { only_failed: true, kinds: ['transcribe', 'insights'] },
    });
    return { json: asked, lines: ['What failed is being tried again.'] };
  },
};

const reprocess: CommandRow = {
  name: 'reprocess',
  parameters: ['STREAM'],
  options: {
    'from-ms': { value: 'MS', says: 'from there on, on its timeline; from its beginning when not given' },
    'to-ms': { value: 'MS', says: 'up to there; to its end when not given' },
    insights: { says: 'its conversations are processed again, and nothing is transcribed' },
  },
  says: 'Transcribes a stream again, or processes its conversations again. What people have corrected stays',
  async run({ operator, parameters, options }) {
    const [from_ms, to_ms] = [millisecondsOf(options, 'from-ms'), millisecondsOf(options, 'to-ms')];
    const is_insights = options.flag('insights');
    const body = {
      ...(from_ms !== undefined && { from_ms }),
      ...(to_ms !== undefined && { to_ms }),
      ...(is_insights && { kinds: ['insights' as const] }),
    };
    const path = { id: parameters.STREAM as string };
    const asked = await operator.call('POST /ops/streams/{id}/reprocess', { path, body });
    const what = is_insights ? 'Its conversations are being processed again.' : 'It is being transcribed again.';
    return { json: asked, lines: [`${what} The present text stays until it is replaced.`] };
  },
};

type Trial = OperatorApi['POST /ops/streams/{id}/trials']['answer']['items'][number];

const COLUMN_CHARS = 56;

const trial: CommandRow = {
  name: 'try',
  parameters: ['STREAM'],
  options: { engine: { value: 'NAME', required: true, says: 'the engine, such as extractive or one of ENGINES_FILE' } },
  says: 'Has another engine look into the conversations of a stream, and prints what is published beside what that makes of it. Nothing is changed',
  async run({ operator, parameters, options }) {
    const path = { id: parameters.STREAM as string };
    const engine = options.text('engine') ?? '';
    const tried = await operator.call('POST /ops/streams/{id}/trials', { path, body: { engine } });
    const lines = tried.items.flatMap((one) => ['', ...sideBySide(one, engine)]).slice(1);
    return { json: tried, lines: lines.length === 0 ? ['Nothing was made of it yet.'] : lines };
  },
};

function sideBySide({ present, tried, failure, dropped }: Trial, engine: string): string[] {
  const right = tried === null ? [`failed: ${failure ?? ''}`] : resultLines(tried);
  const left = resultLines(present);
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
    return [left[at] ?? '', right[at] ?? ''];
  });
  const left_out = dropped === 0 ? [] : [`${dropped} of its answer was left out.`];
  return [...table([['PUBLISHED', engine.toUpperCase()], ...rows]), ...left_out];
}

function resultLines({ title, sentences, suggestions }: Trial['present']): string[] {
  return [
    ...wrapped(title ?? '(no title)'),
    '',
    ...sentences.flatMap(wrapped),
    '',
    ...suggestions.flatMap(({ kind, text, due_date, due_at }) => {
      const due = due_date ?? due_at;
      return wrapped(`${kind}: ${text}${due === null ? '' : ` (due ${due})`}`);
    }),
  ];
}

/** A text in lines of a column; a longer word has a line of its own. */
function wrapped(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) as string;
    if (line !== '' && line.length + word.length >= COLUMN_CHARS) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

export const CONTENT_COMMANDS: CommandGroup = {
  name: 'content',
  says: 'Transcripts and insights of recordings, and why there are none',
  commands: [status, retry, reprocess, trial],
};

function hostsOf({ hosts }: { hosts: string[] }): string {
  return hosts.length === 0 ? '' : ` (${hosts.join(', ')})`;
}

function failuresOf(
  failing: Content['failing'],
  { last_hour: { failures }, what }: { last_hour: Pick<Content['last_hour'], 'failures'>; what: string },
): string[] {
  const rows = failures.map((one) => [one.code, String(one.tries), one.last_at]);
  return [
    ...(failing === null
      ? []
      : ['', `${what} since ${failing.since}, ${failing.tries} in a row, the last with ${failing.code}.`]),
    ...(rows.length === 0 ? [] : ['', ...table([['FAILURE', 'TRIES', 'LAST'], ...rows])]),
  ];
}

function millisecondsOf(options: GivenOptions, name: string): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw new UserError(`--${name} must be whole milliseconds.`);
  return Number(text);
}
