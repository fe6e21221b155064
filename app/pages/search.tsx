import { useEffect, useState } from 'preact/hooks';
import { usePeople } from '../contacts/people.js';
import { Button } from '../parts/button.js';
import { CheckField, DateField, SelectField, TextField } from '../parts/field.js';
import { Page, Section } from '../parts/page.js';
import { EmptyState } from '../parts/placeholders.js';
import { BASE, place, setQuery } from '../router.js';
import { Answers } from '../search/answers.js';
import { Hits } from '../search/hits.js';
import { keepQuestion, recentQuestions } from '../search/recent_questions.js';
import { TypedHits } from '../search/typed_hits.js';
import { may } from '../shell/account.js';

const QUERY_CHARS_MAX = 500;
/** Of fewer letters too much is found. */
const TYPED_CHARS_MIN = 2;

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
  const typed = words.trim();
  const is_typing = typed !== q && [...typed].length >= TYPED_CHARS_MIN;
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
      {is_typing ? (
        <TypedHits text={typed} query={query} />
      ) : q === '' ? (
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

function Beginning() {
  const recent = recentQuestions();
  return (
    <>
      {recent.length > 0 && (
        <Section title="Recent questions">
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
        Words may be in the same sentence or in the one before or after. <q>words in quotes</q> match exactly, and a
        word with a minus in front must not appear.
      </p>
    </EmptyState>
  );
}
