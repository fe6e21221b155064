import { useEffect, useState } from 'preact/hooks';
import type { SearchHit } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useList } from '../api/loading.js';
import { usePeople } from '../contacts/people.js';
import { Button } from '../parts/button.js';
import { CheckField, DateField, SelectField, TextField } from '../parts/field.js';
import { Page, Section } from '../parts/page.js';
import { Badge, EmptyState, List } from '../parts/placeholders.js';
import { clockText, Time } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';
import { BASE, place, setQuery } from '../router.js';
import { Answers } from '../search/answers.js';
import { keepQuestion, recentQuestions } from '../search/recent_questions.js';
import { may } from '../shell/account.js';

const PAGE_ITEMS = 20;
const QUERY_CHARS_MAX = 500;

const KINDS = [
  ['', 'Everything'],
  ['turn', 'What was said'],
  ['suggestion', 'Suggestions'],
] as const;
const DEVELOPER_KINDS = [
  ['conversation', 'Conversations'],
  ['memory', 'Memories'],
] as const;
const FILTERS = ['kind', 'who', 'from', 'to', 'sort', 'alike'] as const;
const SORTS = [
  ['relevance', 'Best first'],
  ['recent', 'Newest first'],
] as const;

/** Finds a sentence again, and leads to the moment at which it was said. The address holds what is looked for. */
export function Search() {
  const { query } = place.value;
  const q = query.get('q') ?? '';
  const [words, setWords] = useState(q);
  useEffect(() => setWords(q), [q]);
  const is_asking = may('insights:read') && !FILTERS.some((name) => query.has(name));
  return (
    <Page title="Ask" lead="Ask a question, or look for words: answers come with the moment at which they were said.">
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          const asked = words.trim();
          if (asked !== '') keepQuestion(asked);
          setQuery({ q: asked });
        }}
      >
        <search>
          <div class="search-line">
            <TextField
              label="Question or words"
              type="search"
              value={words}
              onValue={setWords}
              maxLength={QUERY_CHARS_MAX}
              placeholder="When do we launch? Or words, or “a phrase in quotes”"
            />
            <Button kind="primary" icon="search" type="submit">
              Ask
            </Button>
          </div>
          <Filters />
        </search>
      </form>
      {q === '' ? (
        <Beginning />
      ) : (
        <>
          {is_asking && <Answers key={`answers ${q}`} q={q} />}
          <Section title="Where these words were said">
            <Hits key={query.toString()} q={q} query={query} beside={is_asking} />
          </Section>
        </>
      )}
    </Page>
  );
}

function Filters() {
  const { query } = place.value;
  const people = usePeople();
  const chosen = FILTERS.filter((key) => query.has(key)).length;
  return (
    <details class="filters">
      <summary>{chosen === 0 ? 'Filters' : `Filters (${chosen})`}</summary>
      <div class="filter-fields">
        <SelectField
          label="Search in"
          value={query.get('kind') ?? ''}
          onValue={(kind) => setQuery({ kind })}
          options={may('debug:read') ? [...KINDS, ...DEVELOPER_KINDS] : KINDS}
        />
        <SelectField
          label="Who"
          value={query.get('who') ?? ''}
          onValue={(who) => setQuery({ who })}
          options={[['', 'Anybody'], ...people]}
        />
        <DateField label="From" value={query.get('from') ?? ''} onValue={(from) => setQuery({ from })} />
        <DateField label="To" value={query.get('to') ?? ''} onValue={(to) => setQuery({ to })} />
        <SelectField
          label="Order"
          value={query.get('sort') ?? 'relevance'}
          onValue={(sort) => setQuery({ sort: sort === 'relevance' ? null : sort })}
          options={SORTS}
        />
      </div>
      <CheckField
        label="Also words that sound alike"
        checked={query.get('alike') === '1'}
        onValue={(on) => setQuery({ alike: on ? '1' : null })}
      />
    </details>
  );
}

function Hits({ q, query, beside }: { q: string; query: URLSearchParams; beside: boolean }) {
  const hits = useList((cursor) => api('GET /search', { query: { ...asked(q, query), cursor } }), []);
  return (
    <List
      of={hits}
      label="Results"
      empty={
        beside ? (
          <p class="hint">No results: no sentence has all of these words.</p>
        ) : (
          <EmptyState icon="search" title="No results">
            <p>
              Try fewer words, or let it look for words that sound alike: speech is not always heard as it is spelled.
            </p>
            {query.get('alike') !== '1' && (
              <p>
                <Button onClick={() => setQuery({ alike: '1' })}>Look for words that sound alike</Button>
              </p>
            )}
          </EmptyState>
        )
      }
    >
      {(hit) => <Hit key={`${hit.kind} ${hit.id}`} hit={hit} />}
    </List>
  );
}

function asked(q: string, query: URLSearchParams) {
  const given = (name: string) => query.get(name) ?? undefined;
  const day = (name: string, time: string) => {
    const text = query.get(name);
    return text === null || !/^\d{4}-\d\d-\d\d$/.test(text) ? undefined : new Date(`${text}T${time}`).toISOString();
  };
  return {
    ...{ q, limit: PAGE_ITEMS, kind: given('kind'), contact_id: given('who') },
    ...{ from: day('from', '00:00:00'), to: day('to', '23:59:59.999') },
    sort: query.get('sort') === 'recent' ? ('recent' as const) : undefined,
    fuzzy: query.get('alike') === '1' ? ('1' as const) : undefined,
  };
}

const KIND_NAMES: Record<SearchHit['kind'], string | null> = {
  turn: null,
  suggestion: 'Suggestion',
  conversation: 'Conversation',
  memory: 'Memory',
};

function Hit({ hit }: { hit: SearchHit }) {
  const { kind, snippet, stream_id, start_ms, started_at, speaker_name } = hit;
  const text = <Snippet {...snippet} />;
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          {speaker_name !== null && (
            <strong>
              <bdi>{speaker_name}</bdi>
            </strong>
          )}
          <Time at={started_at} />
          {stream_id !== null && <RecordingLink stream_id={stream_id} at_ms={start_ms ?? 0} />}
          {start_ms !== null && <span>at {clockText(start_ms)}</span>}
        </p>
        {stream_id === null ? (
          <p class="row-title">{text}</p>
        ) : (
          <a class="row-title found" href={`${BASE}/recordings/${stream_id}?t=${start_ms ?? 0}`}>
            {text}
          </a>
        )}
      </div>
      {KIND_NAMES[kind] !== null && <Badge>{KIND_NAMES[kind]}</Badge>}
    </li>
  );
}

function Snippet({ text, highlights }: SearchHit['snippet']) {
  const parts = [];
  let at = 0;
  for (const [from, to] of highlights) {
    parts.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  return (
    <bdi>
      {parts}
      {text.slice(at)}
    </bdi>
  );
}

function Beginning() {
  const recent = recentQuestions();
  return (
    <>
      {recent.length > 0 && (
        <Section title="Asked before">
          <ul class="points">
            {recent.map((q) => (
              <li key={q}>
                <a href={`${BASE}/search?q=${encodeURIComponent(q)}`}>
                  <bdi>{q}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Explained />
    </>
  );
}

function Explained() {
  return (
    <EmptyState icon="search" title="Find what was said">
      <p>
        Ask as you would ask somebody who was there: <q>Who owns the status page?</q>, <q>What did we say last week?</q>
      </p>
      <p>
        Words may stand in a sentence or in the one before or after it. <q>words in quotes</q> stand there as they are,
        and a word with a minus before it must not.
      </p>
    </EmptyState>
  );
}
