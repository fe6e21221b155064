import { useEffect, useState } from 'preact/hooks';
import type { RecalledAnswer, RecallItem } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { type Answer, api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { timeZone } from '../language/formats.js';
import { say, sayWith } from '../language/say.js';
import { Section } from '../parts/page.js';
import { Badge, Loading, Show } from '../parts/placeholders.js';
import { Time, timeText } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';
import { BASE } from '../router.js';
import { DOCUMENT_DATA } from '../shell/document_data.js';
import { HighlightedText } from './hit.js';

const SHOWN = 3;
const AROUND_TURNS = 1;
/** An answer that comes sooner needs no word that it is being written. */
const MODEL_MS = 700;

/** The passages that answer a question best, each with its recording, day and speakers; above them a model's answer. */
export function Answers({
  q,
  stream_id,
  onFound,
}: {
  q: string;
  /** The recording that alone is asked; undefined for all. */
  stream_id: string | undefined;
  /** Hears whether there are passages. */
  onFound: (has_passages: boolean) => void;
}) {
  const time_zone = timeZone();
  const body = { query: q, limit: SHOWN, context_turns: AROUND_TURNS, time_zone, stream_id };
  const found = useLoaded(() => api('POST /recall', { body }), [q]);
  const count = found.error === null ? found.data?.items.length : 0;
  useEffect(() => {
    if (count !== undefined) onFound(count > 0);
  }, [count]);
  // Passages do not wait for what a model makes of them.
  const written = useLoaded(async () => {
    if (!DOCUMENT_DATA.has_answers) return null;
    return api('POST /recall', { body: { ...body, answer: true } }).catch(() => null);
  }, [q]);
  return (
    <Show of={found}>
      {(passages) => {
        if (passages.items.length === 0) return null;
        const { answer = null, items = passages.items } = written.data ?? {};
        return (
          <>
            {written.loading && <Writing />}
            {answer !== null && <Written answer={answer} items={items} />}
            <Section title={answer === null ? say('Best answers') : say('Where it was said')}>
              <PeriodNote of={passages} />
              <ol class="list">
                {items.map((item, at) => (
                  <Passage
                    key={`${item.kind} ${item.stream_id} ${item.start_ms} ${item.note?.id}`}
                    item={item}
                    number={answer === null ? null : at + 1}
                  />
                ))}
              </ol>
              {!DOCUMENT_DATA.has_answers && <NoModel />}
            </Section>
          </>
        );
      }}
    </Show>
  );
}

/** For whoever runs the server: others can't change it, but read why there are passages alone. */
function NoModel() {
  return (
    <p class="hint under-list">
      {sayWith('Answers in words need a language model. {link}', {
        link: <a href="/guides/running#answers-in-words">{say('How the operator sets one')}</a>,
      })}
    </p>
  );
}

/** Shown once an answer takes as long as only a model does. */
function Writing() {
  const [is_long, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), MODEL_MS);
    return () => clearTimeout(timer);
  }, []);
  return is_long ? <Loading what={say('Writing an answer')} /> : null;
}

/** The sentences of an answer, each with the way to the turns that bear it. */
function Written({ answer, items }: { answer: RecalledAnswer; items: readonly RecallItem[] }) {
  return (
    <Section title={say('Answer')}>
      <div class="panel">
        {answer.sentences.map(({ text, citations }) => (
          <p key={text} class="answer">
            <bdi>{text}</bdi>{' '}
            {citations.map(({ item: at, turn_id }) => {
              const item = items[at];
              const turn = item?.turns.find(({ id }) => id === turn_id);
              if (item === undefined || turn === undefined) return null;
              return (
                <a key={turn_id} class="citation" href={`${BASE}/recordings/${turn.stream_id}?t=${turn.start_ms}`}>
                  <span class="visually-hidden">{say('Said in passage')} </span>
                  {at + 1}
                  <span class="visually-hidden"> {say('at {time}', { time: clockText(turn.start_ms) })}</span>
                </a>
              );
            })}
          </p>
        ))}
      </div>
      <p class="hint">{say('Written by a language model from the passages below.')}</p>
    </Section>
  );
}

function PeriodNote({ of: { period, period_relaxed } }: { of: Answer<'POST /recall'> }) {
  if (period === null) return null;
  const days = say('{from} to {to}', {
    from: timeText(period.from, 'date'),
    to: timeText(Date.parse(period.to) - 1, 'date'),
  });
  return (
    <p class="hint typed-count">
      {period_relaxed
        ? say('Nothing found from {days}. These are from other times.', { days })
        : say('From {days}.', { days })}
    </p>
  );
}

function Passage({ item, number }: { item: RecallItem; number: number | null }) {
  const { stream_id, start_ms, started_at, suggestion, note, turns, highlights, found_by } = item;
  const title = suggestion?.text ?? note?.text;
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          {number !== null && <span class="citation">{number}</span>}
          {stream_id !== null && <RecordingLink stream_id={stream_id} at_ms={start_ms ?? 0} />}
          <Time at={started_at} />
          {suggestion !== null && <Badge>{say('To do')}</Badge>}
          {note !== null && <Badge>{say('Note|a mark')}</Badge>}
          {found_by === 'meaning' && <Badge>{say('Found by meaning')}</Badge>}
        </p>
        {title !== undefined && (
          <p class="row-title">
            <bdi>{title}</bdi>
          </p>
        )}
        {turns.map(({ id, stream_id: said_in, start_ms: said_at_ms, speaker_name, text }, at) => (
          <p key={id} class="row-text">
            <a class="said-at" href={`${BASE}/recordings/${said_in}?t=${said_at_ms}`}>
              <span class="visually-hidden">{say('Said at')} </span>
              {clockText(said_at_ms)}
            </a>{' '}
            {speaker_name !== null && (
              <strong>
                <bdi>{speaker_name}:</bdi>{' '}
              </strong>
            )}
            <HighlightedText text={text} highlights={highlights[at] ?? []} />
          </p>
        ))}
      </div>
    </li>
  );
}
