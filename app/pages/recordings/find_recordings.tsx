import { useEffect, useState } from 'preact/hooks';
import { say, sayChoices, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { SelectField, TextField } from '../../parts/field.js';
import { BASE, place, setQuery } from '../../router.js';
import { may } from '../../shell/account.js';
import { SORTS, sortIn } from './ordering.js';

const QUERY_CHARS_MAX = 500;

/** Searches and sorts the list of recordings. The address holds what is chosen. */
export function FindRecordings() {
  const { query } = place.value;
  const q = query.get('q') ?? '';
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  const is_starred = query.get('starred') !== null;
  return (
    <form
      class="find-recordings"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ q: text.trim() });
      }}
    >
      <search>
        <div class="search-line">
          <TextField
            label={say('Find recordings')}
            type="search"
            value={text}
            onValue={(value) => {
              setText(value);
              if (value === '') setQuery({ q: null });
            }}
            maxLength={QUERY_CHARS_MAX}
            placeholder={say('Title, person or tag')}
          />
          <Button type="submit" icon="search">
            {say('Find')}
          </Button>
          <div class="find-order">
            <SelectField
              label={say('Sort')}
              value={sortIn(query)}
              onValue={(sort) => setQuery({ sort })}
              options={sayChoices(SORTS)}
            />
            <Button
              icon={is_starred ? 'starred' : 'star'}
              aria-pressed={is_starred}
              onClick={() => setQuery({ starred: is_starred ? null : 'true' })}
            >
              {say('Starred')}
            </Button>
          </div>
        </div>
      </search>
      {q !== '' && may('turns:read') && (
        <p class="find-said">
          <a href={`${BASE}/search?q=${encodeURIComponent(q)}`}>
            {sayWith('Search what was said for “{q}”', { q: <bdi>{q}</bdi> })}
          </a>
        </p>
      )}
    </form>
  );
}
