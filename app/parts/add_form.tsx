import { useId, useState } from 'preact/hooks';
import type { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button } from './button.js';
import { Field } from './field.js';

/** A field whose text a button adds to a list; it is empty again once that is saved. `known`: offered while somebody types. */
export function AddForm({
  of,
  chars_max,
  known = [],
  ...shown
}: {
  of: ReturnType<typeof useAction<[text: string]>>;
  label: string;
  hint?: string | undefined;
  error: string | undefined;
  chars_max: number;
  known?: readonly string[];
}) {
  const [text, setText] = useState('');
  const list = useId();
  const add = async () => {
    const typed = text.trim();
    if (typed !== '' && (await of.run(typed))) setText('');
  };
  return (
    <form
      class="add-form"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Field {...shown}>
        {(tied) => (
          <div class="add-line">
            <input
              {...tied}
              list={list}
              value={text}
              maxLength={chars_max}
              autoComplete="off"
              spellcheck={false}
              onInput={(event) => {
                of.clear();
                setText(event.currentTarget.value);
              }}
            />
            <Button type="submit" busy={of.busy}>
              {say('Add')}
            </Button>
          </div>
        )}
      </Field>
      <datalist id={list}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </form>
  );
}
