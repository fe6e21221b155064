import { useRef, useState } from 'preact/hooks';
import { type Page, useList } from '../../api/loading.js';
import { Button } from '../../parts/button.js';
import { useEvery } from '../../parts/clock.js';
import { SelectField, TextField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { List } from '../../parts/placeholders.js';
import { digits } from '../format.js';
import { EVERY_MS, reportAnswer, reportFailure } from '../polling.js';
import { Nothing, Table, type TableColumns } from './table.js';

/** Lists that come in pages, each when somebody asks for it. */

/** `looked_at` of `keys`: how far a search through all keys of Redis has come with this page. */
type ListedPage<Row> = Page<Row> & { looked_at?: number; keys?: number };

type PagedList<Row> = TableColumns<Row> & { load: (cursor: string | undefined) => Promise<ListedPage<Row>> };

/** A table with a button that gets the next page. It begins anew when one of `inputs` is another. */
export function Paged<Row>({ load, inputs, ...columns }: PagedList<Row> & { inputs: readonly unknown[] }) {
  const [keys, setKeys] = useState<{ looked_at: number; of: number } | null>(null);
  const list = useList<Row>(async (cursor) => {
    const page = await load(cursor);
    const { looked_at = 0, keys: of } = page;
    if (of !== undefined) {
      setKeys((was) => ({ looked_at: (cursor === undefined ? 0 : (was?.looked_at ?? 0)) + looked_at, of }));
    }
    return page;
  }, inputs);
  const { state, more, items, reload } = list;
  useEvery(state === 'failed' && items.length === 0 ? EVERY_MS : null, reload);
  return (
    <>
      <List
        of={list}
        empty={<Nothing>{columns.empty}</Nothing>}
        whole={(items) => <Table {...columns} rows={items} />}
      />
      {keys !== null && more !== null && (
        <p class="hint looked">
          {items.length === 0 && 'Nothing so far. '}
          Scanned {digits(Math.min(keys.looked_at, keys.of))} of {digits(keys.of)} keys.
        </p>
      )}
    </>
  );
}

/** A field of the form above a list; its name is that of the parameter. Of a choice, `options` are value and words. */
type ListingField = {
  name: string;
  label: string;
  options?: readonly (readonly [value: string, words: string])[];
  number?: true;
};

/** A part of a page with a form that says what is looked for. What was looked for stands in the address. */
export function Listing<Row>({
  id,
  title,
  hint,
  fields,
  load,
  ...columns
}: TableColumns<Row> & {
  id: string;
  title: string;
  hint: string;
  fields: readonly ListingField[];
  load: (asked: Record<string, string>, cursor: string | undefined) => Promise<ListedPage<Row>>;
}) {
  const query = useRef(new URLSearchParams(location.search)).current;
  const [given, setGiven] = useState<Record<string, string>>(
    Object.fromEntries(fields.map(({ name }) => [name, query.get(name) ?? ''])),
  );
  const [asked, setAsked] = useState(() => filled(given));
  const show = () => {
    const wanted = filled(given);
    const text = String(new URLSearchParams(wanted));
    history.replaceState(null, '', location.pathname + (text === '' ? '' : `?${text}`));
    setAsked(wanted);
  };
  const loadReported = async (cursor: string | undefined) => {
    try {
      const page = await load(asked, cursor);
      reportAnswer();
      return page;
    } catch (error) {
      reportFailure(error);
      throw error;
    }
  };
  return (
    <Section id={id} title={title} lead={hint}>
      <search aria-label={title}>
        <form
          class="filter"
          onSubmit={(event) => {
            event.preventDefault();
            show();
          }}
        >
          {fields.map(({ name, label, options, number }) => {
            const value = given[name] ?? '';
            const onValue = (text: string) => setGiven((was) => ({ ...was, [name]: text }));
            if (options !== undefined) return <SelectField key={name} {...{ label, value, onValue, options }} />;
            const kind = number ? ({ type: 'number', min: 0, max: 999_999 } as const) : ({ type: 'search' } as const);
            return (
              <TextField
                key={name}
                {...{ label, value, onValue, ...kind, maxLength: 300, autoComplete: 'off', spellcheck: false }}
              />
            );
          })}
          <Button type="submit">Show</Button>
        </form>
      </search>
      <Paged {...columns} load={loadReported} inputs={[asked]} />
    </Section>
  );
}

/** Without what nobody has typed. */
function filled(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])),
  );
}
