import type { ComponentChildren } from 'preact';
import { ApiError } from '../../api/api_error.js';
import { type Answer, ask } from '../api.js';
import { bytes, dateTime, digits, duration, span } from '../format.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';
import { NO_HISTORY_MS } from '../problem_banner.js';
import { INSIGHTS_BY, TRANSCRIBED_BY } from '../terms.js';

type Overview = Answer<'GET /ops/overview'>;
type Problem = Overview['health_problems'][number];
type Content = Answer<'GET /ops/content'>;
/** Null: that part of the server does not answer now. */
type Told = { overview: Overview; content: Content | null; endpoints: Answer<'GET /ops/endpoints'> | null };

/** The page that an operator opens first: whether all is well, part by part, and what to do where it is not. */
export function Health() {
  const { data } = usePolling(async (): Promise<Told> => {
    const [overview, content, endpoints] = await Promise.all([
      ask('GET /ops/overview', { query: { after_ms: NO_HISTORY_MS } }),
      ask('GET /ops/content').catch(nullIfAway),
      ask('GET /ops/endpoints', { query: { limit: LIMIT } }).catch(nullIfAway),
    ]);
    return { overview, content, endpoints };
  });
  return (
    <ViewPage title="Is all well?" name="Health">
      {data !== null && (
        <>
          <Answered problems={data.overview.health_problems} since={data.overview.watched_since} />
          <ul class="health">
            {AREAS.map(({ area, name, link, says }) => (
              <Part
                key={area}
                {...{ name, link }}
                problems={data.overview.health_problems.filter((one) => one.area === area)}
              >
                {says(data)}
              </Part>
            ))}
          </ul>
        </>
      )}
    </ViewPage>
  );
}

const LIMIT = 50;

/** For `catch`: null while Redis does not answer. Rejects with everything else. */
function nullIfAway(error: unknown): null {
  if (error instanceof ApiError && error.code === 'UNAVAILABLE') return null;
  throw error;
}

function Answered({ problems, since }: { problems: readonly Problem[]; since: string }) {
  const grave = problems.filter(({ severity }) => severity === 'grave').length;
  const words = `${digits(problems.length)} ${problems.length === 1 ? 'thing is' : 'things are'} wrong`;
  if (problems.length === 0)
    return (
      <p class="notice good" role="status">
        Yes: nothing is known to be wrong. Device activity is known since {dateTime(since)}.
      </p>
    );
  return (
    <p class={`notice ${grave > 0 ? 'problem' : 'caution'}`} role="status">
      {grave > 0 ? `No: ${words}, and people are affected.` : `Mostly: ${words}, but nobody is affected.`}
    </p>
  );
}

function Part({
  name,
  link,
  problems,
  children,
}: {
  name: string;
  link: string;
  problems: readonly Problem[];
  children: ComponentChildren;
}) {
  const worst = problems.some(({ severity }) => severity === 'grave') ? 'problem' : 'caution';
  const is = problems.length === 0 ? 'good' : worst;
  return (
    <li class={`health-part ${is}`}>
      <h2>
        <a href={link}>{name}</a>{' '}
        <span class="badge">{{ good: 'OK', caution: 'Warning', problem: 'Problem' }[is]}</span>
      </h2>
      {is === 'good' && <p>{children}</p>}
      {problems.map((one) => (
        <div key={one.name} class="health-problem" data-name={one.name}>
          <p>
            {one.text} <a href={one.link}>See why</a>
          </p>
          <p>
            <strong>What to do:</strong> {one.advice}
          </p>
        </div>
      ))}
    </li>
  );
}

const AREAS: readonly {
  area: Problem['area'];
  name: string;
  link: string;
  says: (told: Told) => string;
}[] = [
  { area: 'redis', name: 'Redis', link: '/overview#server', says: redisWords },
  { area: 'disk', name: 'Disk', link: '/overview#server', says: diskWords },
  { area: 'processes', name: 'Processes', link: '/overview#processes', says: processWords },
  { area: 'transcription', name: 'Transcription', link: '/content#transcription', says: transcriptionWords },
  { area: 'insights', name: 'Insights', link: '/content#insights', says: insightWords },
  { area: 'webhooks', name: 'Webhooks', link: '/endpoints', says: webhookWords },
  {
    area: 'devices',
    name: 'Devices',
    link: '/devices',
    says: () => 'No open recording has been silent for long.',
  },
  {
    area: 'mail',
    name: 'Mail',
    link: '/overview#server',
    says: () => 'No problem with sending mail is known.',
  },
  { area: 'jobs', name: 'Jobs', link: '/actors', says: jobWords },
];

function redisWords({ overview: { storage } }: Told): string {
  if (storage.status === 'away') return 'It does not answer.';
  const memory = storage.memory_bytes === null ? '' : `, and uses ${bytes(storage.memory_bytes)} of memory`;
  return `It answers in ${duration(storage.round_trip_ms ?? 0)}${memory}.`;
}

function diskWords({ overview: { disk } }: Told): string {
  if (disk === null) return 'The free space is not known.';
  return `${bytes(disk.free_bytes)} of ${bytes(disk.size_bytes)} are free.`;
}

function processWords({ overview: { processes_here, process } }: Told): string {
  const count = processes_here.length;
  return `${digits(count)} ${count === 1 ? 'process serves' : 'processes serve'} on this machine; this one has been up for ${span(process.up_s)}, version ${process.version}.`;
}

const NOT_KNOWN = 'Not known while Redis does not answer.';

function transcriptionWords({ content }: Told): string {
  if (content === null) return NOT_KNOWN;
  const { transcriber, waiting, last_hour } = content;
  const speed =
    last_hour.lag_s === null
      ? ''
      : ` Half of the text appears within ${duration(last_hour.lag_s.p50 * 1000)} of its audio.`;
  if (transcriber.by === 'nobody') return 'Not set up: recordings get no text.';
  return `Transcribed by ${TRANSCRIBED_BY[transcriber.by]}. ${waitingWords(waiting, 'recording')} ${digits(last_hour.windows)} ${last_hour.windows === 1 ? 'window' : 'windows'} in the last hour.${speed}`;
}

function insightWords({ content }: Told): string {
  if (content === null) return NOT_KNOWN;
  const { by, waiting, last_hour } = content.insights;
  if (by === 'nobody') return 'Not set up: conversations are not processed.';
  return `Made by ${INSIGHTS_BY[by]}. ${waitingWords(waiting, 'account')} ${digits(last_hour.conversations)} ${last_hour.conversations === 1 ? 'conversation' : 'conversations'} in the last hour.`;
}

function waitingWords({ due, beyond, oldest_due_s }: Content['waiting'], one: string): string {
  if (due === 0) return 'Nothing is waiting.';
  const since = oldest_due_s === null ? '' : `, the oldest for ${span(oldest_due_s)}`;
  return `${digits(due)}${beyond ? ' or more' : ''} ${due === 1 ? `${one} is waiting` : `${one}s are waiting`}${since}.`;
}

function webhookWords({ endpoints }: Told): string {
  if (endpoints === null) return NOT_KNOWN;
  const { in_flight, circuit_open, failing, disabled } = endpoints;
  const troubled = circuit_open.length + failing.length + disabled.length;
  const trouble =
    troubled === 0
      ? 'No endpoint has problems'
      : `${digits(troubled)} ${troubled === 1 ? 'endpoint has' : 'endpoints have'} problems`;
  return `${trouble}; ${digits(in_flight)} ${in_flight === 1 ? 'delivery is' : 'deliveries are'} under way.`;
}

function jobWords({ overview: { summary, storage } }: Told): string {
  const late =
    summary.outbox_p99_ms === null
      ? ''
      : `Messages between entities arrive within ${duration(summary.outbox_p99_ms)}. `;
  const dead = storage.dead_letters ?? 0;
  return `${late}${dead === 0 ? 'No job has failed for good.' : `${digits(dead)} ${dead === 1 ? 'job has' : 'jobs have'} failed for good.`}`;
}
