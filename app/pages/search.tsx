import { useEffect, useState } from 'preact/hooks';
import { usePeople } from '../contacts/people.js';
import { say, sayChoices, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { CheckField, DateField, SelectField, TextField } from '../parts/field.js';
import { Page, Section } from '../parts/page.js';
import { EmptyState } from '../parts/placeholders.js';
import { place, setQuery } from '../router.js';
import { Answers } from '../search/answers.js';
import { Examples } from '../search/examples.js';
import { Hits } from '../search/hits.js';
import { QuestionLinks } from '../search/question_links.js';
import { keepQuestion, recentQuestions } from '../search/recent_questions.js';
import { RecordingFilter } from '../search/recording_filter.js';
import { TypedHits } from '../search/typed_hits.js';
import { may } from '../shell/account.js';

const QUERY_CHARS_MAX = 500;
/** Of fewer letters too much is found. */
const TYPED_CHARS_MIN = 2;

const KINDS = [
  ['', 'Everything'],
  ['turn', 'What was said'],
  ['suggestion', 'Suggestions'],
  ['note', 'Notes'],
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
  const recording = query.get('recording');
  return (
    <Page
      title={say('Ask')}
      lead={say('Ask a question, or look for words: answers come with the moment at which they were said.')}
    >
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
              label={say('Question or words')}
              type="search"
              value={words}
              onValue={setWords}
              maxLength={QUERY_CHARS_MAX}
              placeholder={say('When do we launch? Or words, or “a phrase in quotes”')}
            />
            <Button kind="primary" icon="search" type="submit">
              {say('Ask')}
            </Button>
          </div>
          {recording !== null && <RecordingFilter key={recording} stream_id={recording} />}
          <Filters />
        </search>
      </form>
      {is_typing ? (
        <TypedHits text={typed} query={query} />
      ) : q === '' ? (
        <Beginning />
      ) : (
        <Asked key={`${query}`} q={q} query={query} />
      )}
    </Page>
  );
}

/** Shows what a question finds. Passages answer it, unless a filter asks for words. */
function Asked({ q, query }: { q: string; query: URLSearchParams }) {
  const is_asking = may('insights:read') && !FILTERS.some((name) => query.has(name));
  const [has_passages, setHasPassages] = useState<boolean | null>(is_asking ? null : false);
  return (
    <>
      {is_asking && <Answers q={q} stream_id={query.get('recording') ?? undefined} onFound={setHasPassages} />}
      <Hits q={q} query={query} has_passages={has_passages} />
    </>
  );
}

function Filters() {
  const { query } = place.value;
  const people = usePeople();
  const chosen = FILTERS.filter((key) => query.has(key)).length;
  return (
    <details class="filters">
      <summary>{chosen === 0 ? say('Filters') : say('Filters ({chosen})', { chosen })}</summary>
      <div class="filter-fields">
        {!query.has('recording') && (
          <SelectField
            label={say('Search in')}
            value={query.get('kind') ?? ''}
            onValue={(kind) => setQuery({ kind })}
            options={sayChoices(may('debug:read') ? [...KINDS, ...DEVELOPER_KINDS] : KINDS)}
          />
        )}
        <SelectField
          label={say('Who')}
          value={query.get('who') ?? ''}
          onValue={(who) => setQuery({ who })}
          options={[['', say('Anybody')], ...people]}
        />
        <DateField label={say('From')} value={query.get('from') ?? ''} onValue={(from) => setQuery({ from })} />
        <DateField label={say('To')} value={query.get('to') ?? ''} onValue={(to) => setQuery({ to })} />
        <SelectField
          label={say('Order')}
          value={query.get('sort') ?? 'relevance'}
          onValue={(sort) => setQuery({ sort: sort === 'relevance' ? null : sort })}
          options={sayChoices(SORTS)}
        />
      </div>
      <CheckField
        label={say('Also words that sound alike')}
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
        <Section title={say('Recent questions')}>
          <QuestionLinks questions={recent} />
        </Section>
      )}
      {!place.value.query.has('recording') && <Examples />}
      <Explained />
    </>
  );
}

function Explained() {
  return (
    <EmptyState icon="search" title={say('Find what was said')}>
      <p>
        {say(
          'Ask as you would ask somebody who was there: who promised something, what was decided, what was said last week.',
        )}
      </p>
      <p>
        {sayWith(
          'Words may be in the same sentence or in the one before or after. {q} match exactly, and a word with a minus in front must not appear.',
          { q: <q>{say('words in quotes')}</q> },
        )}
      </p>
    </EmptyState>
  );
}
