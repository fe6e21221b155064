import { useEffect, useState } from 'preact/hooks';
import type { RecalledAnswer, RecallItem } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { type Answer, api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { Section } from '../parts/page.js';
import { Badge, Loading, Show } from '../parts/placeholders.js';
import { Time, timeText } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';
import { BASE } from '../router.js';
import { DOCUMENT_DATA } from '../shell/document_data.js';

const SHOWN = 3;
const AROUND_TURNS = 1;
/** An answer that comes sooner needs no word that it is being written. */
const MODEL_MS = 700;

/** The passages that answer a question best, each with its recording, day and speakers; above them a model's answer. */
export function Answers({ q }: { q: string }) {
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = { query: q, limit: SHOWN, context_turns: AROUND_TURNS, time_zone };
  const found = useLoaded(() => api('POST /recall', { body }), [q]);
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
            <Section title={answer === null ? 'Best answers' : 'Where it was said'}>
              <PeriodNote of={passages} />
              <ol class="list">
                {items.map((item, at) => (
                  <Passage
                    key={`${item.kind} ${item.stream_id} ${item.start_ms}`}
                    item={item}
                    number={answer === null ? null : at + 1}
                  />
                ))}
              </ol>
            </Section>
          </>
        );
      }}
    </Show>
  );
}

/** Shown once an answer takes as long as only a model does. */
function Writing() {
  const [is_long, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), MODEL_MS);
    return () => clearTimeout(timer);
  }, []);
  return is_long ? <Loading what="Writing an answer" /> : null;
}

/** The sentences of an answer, each with the way to the turns that bear it. */
function Written({ answer, items }: { answer: RecalledAnswer; items: readonly RecallItem[] }) {
  return (
    <Section title="Answer">
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
                  <span class="visually-hidden">Said in passage </span>
                  {at + 1}
                  <span class="visually-hidden"> at {clockText(turn.start_ms)}</span>
                </a>
              );
            })}
          </p>
        ))}
      </div>
      <p class="hint">Written by a language model from the passages below.</p>
    </Section>
  );
}

function PeriodNote({ of: { period, period_relaxed } }: { of: Answer<'POST /recall'> }) {
  if (period === null) return null;
  const days = `${timeText(period.from, 'date')} to ${timeText(Date.parse(period.to) - 1, 'date')}`;
  return (
    <p class="hint typed-count">
      {period_relaxed ? `Nothing found from ${days}. These are from other times.` : `From ${days}.`}
    </p>
  );
}

function Passage({ item, number }: { item: RecallItem; number: number | null }) {
  const { stream_id, start_ms, started_at, suggestion, turns } = item;
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          {number !== null && <span class="citation">{number}</span>}
          {stream_id !== null && <RecordingLink stream_id={stream_id} at_ms={start_ms ?? 0} />}
          <Time at={started_at} />
          {suggestion !== null && <Badge>To do</Badge>}
        </p>
        {suggestion !== null && (
          <p class="row-title">
            <bdi>{suggestion.text}</bdi>
          </p>
        )}
        {turns.map(({ id, speaker_name, text }) => (
          <p key={id} class="row-text">
            {speaker_name !== null && (
              <strong>
                <bdi>{speaker_name}:</bdi>{' '}
              </strong>
            )}
            <bdi>{text}</bdi>
          </p>
        ))}
      </div>
    </li>
  );
}
