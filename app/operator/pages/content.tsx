import { Section } from '../../parts/page.js';
import { type Answer, ask } from '../api.js';
import { ago, bytes, digits, duration, span } from '../format.js';
import { Facts } from '../parts/facts.js';
import { Table } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';
import { DROPPED, INSIGHTS_BY, TRANSCRIBED_BY } from '../terms.js';

type ContentAnswer = Answer<'GET /ops/content'>;

/** The page on content: who makes text and suggestions of recordings, what waits, what fails, and what is removed. */
export function Content() {
  const { data } = usePolling(() => ask('GET /ops/content'));
  return (
    <ViewPage title="Content">
      {data !== null && (
        <>
          <Transcription {...data} />
          <Failures {...data} />
          <Insights {...data.insights} />
          <Retention {...data.retention} />
        </>
      )}
    </ViewPage>
  );
}

function Transcription(content: ContentAnswer) {
  const { transcriber, in_hand, waiting, last_hour } = content;
  const { windows, turns, lag_s } = last_hour;
  const more = waiting.beyond ? ' or more' : '';
  return (
    <Section
      id="transcription"
      title="Transcription"
      lead="Waiting work is that of all processes; the rest is what this process has seen in the last hour."
    >
      <Facts
        rows={[
          ['Transcribed by', TRANSCRIBED_BY[transcriber.by]],
          ...(transcriber.by === 'built_in' ? modelRows(content) : []),
          ['Audio goes to', goesTo(transcriber.hosts)],
          ['Streams with a window due', `${digits(waiting.due)}${more}`],
          ['Oldest overdue by', waiting.oldest_due_s === null ? '–' : span(waiting.oldest_due_s)],
          ['Streams waiting', `${digits(waiting.later)}${more}`],
          ['Windows in progress here', digits(in_hand)],
          ['Windows transcribed', digits(windows)],
          ['Turns published', digits(turns)],
          [
            'Audio to turns, p50, p99',
            lag_s === null ? '–' : `${duration(lag_s.p50 * 1000)}, ${duration(lag_s.p99 * 1000)}`,
          ],
        ]}
      />
    </Section>
  );
}

/** The model of the built-in engine, and what it costs. */
function modelRows({ transcriber, speech_memory_bytes, voices_memory_bytes }: ContentAnswer): [string, string][] {
  const { model, languages, tells_speakers } = transcriber;
  const memoryText = (memory_bytes: number | null) => (memory_bytes === null ? 'not running now' : bytes(memory_bytes));
  return [
    ['Model', model ?? 'none'],
    ['Languages', languages === null ? 'many' : languagesText(languages)],
    ['Memory of its process', memoryText(speech_memory_bytes)],
    ...(tells_speakers
      ? [['Memory of the process for speakers', memoryText(voices_memory_bytes)] as [string, string]]
      : []),
  ];
}

function languagesText(tags: readonly string[]): string {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  return tags.map((tag) => names.of(tag) ?? tag).join(', ');
}

function Failures({ failing, last_hour }: ContentAnswer) {
  const usual =
    'A window that fails is tried again after 1, 4, 16 and 60 minutes. After five attempts it is given up; spool content retry tries it again.';
  return (
    <Section id="failures" title="Failures" lead={failingWords(failing) ?? usual}>
      <FailuresTable caption="Failures of the last hour" rows={last_hour.failures} />
    </Section>
  );
}

function Insights({ by, hosts, in_hand, waiting, failing, last_hour }: ContentAnswer['insights']) {
  const more = waiting.beyond ? ' or more' : '';
  const usual =
    'Conversations are processed when they are over. One that fails is tried again after 1, 4, 16 and 60 minutes. After five attempts it is given up; spool content retry tries it again.';
  return (
    <Section id="insights" title="Insights" lead={failingWords(failing) ?? usual}>
      <Facts
        rows={[
          ['Made by', INSIGHTS_BY[by]],
          ['Text goes to', goesTo(hosts)],
          ['Accounts with something due', `${digits(waiting.due)}${more}`],
          ['Oldest overdue by', waiting.oldest_due_s === null ? '–' : span(waiting.oldest_due_s)],
          ['Accounts waiting', `${digits(waiting.later)}${more}`],
          ['Conversations in progress here', digits(in_hand)],
          ['Conversations processed', digits(last_hour.conversations)],
          ['Suggestions made', digits(last_hour.suggestions)],
          ['Memories made', digits(last_hour.memories)],
        ]}
      />
      <Table
        caption="Dropped in the last hour"
        columns={['Reason', 'Count', 'Meaning']}
        rows={last_hour.dropped}
        empty="Nothing was dropped."
        cells={({ reason, count }) => [
          <span key="reason" class="mono">
            {reason}
          </span>,
          digits(count),
          DROPPED[reason] ?? '',
        ]}
      />
      <FailuresTable caption="Conversations that failed in the last hour" rows={last_hour.failures} />
    </Section>
  );
}

function failingWords(failing: ContentAnswer['failing']): string | null {
  if (failing === null) return null;
  return `It is failing here: ${digits(failing.tries)} ${failing.tries === 1 ? 'attempt' : 'attempts'} in a row, the first ${ago(failing.since)}.`;
}

function FailuresTable({ caption, rows }: { caption: string; rows: ContentAnswer['last_hour']['failures'] }) {
  return (
    <Table
      caption={caption}
      columns={['Code', 'Attempts', 'Last']}
      rows={rows}
      empty="No attempt failed."
      cells={({ code, tries, last_at }) => [
        <span key="code" class="mono">
          {code}
        </span>,
        digits(tries),
        ago(last_at),
      ]}
    />
  );
}

function goesTo(hosts: readonly string[]): string {
  return hosts.length === 0 ? 'nowhere else' : hosts.join(', ');
}

function Retention({ failing_s, parts, removed }: ContentAnswer['retention']) {
  return (
    <Section
      id="retention"
      title="Retention"
      lead={
        failing_s === null
          ? `Sweeps run every hour. ${digits(parts)} parts of sweeps ended here, each of one account in one workspace.`
          : `A part of a sweep has failed here for ${span(failing_s)} and is tried again; the log says why.`
      }
    >
      <Table
        caption="Removed since this process started"
        columns={['List', 'Records']}
        rows={removed}
        empty="Nothing was removed."
        cells={({ list, records }) => [list, digits(records)]}
      />
    </Section>
  );
}
