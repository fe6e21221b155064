import type { ComponentChildren } from 'preact';
import type { Transcript, Turn } from '../../kits/typescript/src/api.js';
import { type Action, useAction } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useDraft } from '../parts/drafts.js';
import { FormProblem } from '../parts/field.js';
import { type Attribution, attributeAll } from './attribution.js';
import { contactNamed, PersonField, selfContactNamed } from './contact_choice.js';
import { speakerWords } from './speaker_colours.js';

/** By a speaker of the recording, or by a person: a name, or the account itself. */
type SpokenBy = { speaker: string } | { name: string; is_self: boolean };
type Attributing = { action: Action<[SpokenBy]>; count: number };

/** Says of turns who spoke, and calls `onDone` after the last. */
export function useAttribution({
  turns,
  onChanged,
  onDone,
}: {
  turns: readonly Turn[];
  onChanged: (turn: Turn) => void;
  onDone: () => void;
}): Attributing {
  const action = useAction(async (who: SpokenBy) => {
    const found = 'speaker' in who ? null : await (who.is_self ? selfContactNamed : contactNamed)(who.name);
    const to: Attribution = 'speaker' in who ? who : { contact_id: found?.id ?? null };
    const name = 'speaker' in who ? speakerWords(who.speaker) : (found?.name ?? who.name.trim());
    const said = sayCount(turns.length, { one: '{name} said this.', other: '{n} turns are by {name}.' }, { name });
    await attributeAll(turns, to, { said, onChanged });
    onDone();
  });
  return { action, count: turns.length };
}

/** The fields of a dialog in which somebody says who spoke. `further`: a button beside those of the form. */
export function AttributionForm({
  speakers,
  attribution: { action, count },
  further,
}: {
  speakers: Transcript['speakers'];
  attribution: Attributing;
  further?: ComponentChildren;
}) {
  const [name, setName] = useDraft('name', '');
  const known = speakers.flatMap((one) => (one.name === null ? [] : [one.name]));
  return (
    <>
      {speakers.length > 0 && (
        <ul class="choices" aria-label={say('Speakers of this recording')}>
          {speakers.map(({ speaker, name: given }) => (
            <li key={speaker}>
              <button type="button" class="choice" disabled={action.busy} onClick={() => void action.run({ speaker })}>
                <bdi>{given ?? speakerWords(speaker)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run({ name, is_self: false });
        }}
      >
        <PersonField
          label={speakers.length > 0 ? say('Somebody else') : say('Name')}
          without={known}
          value={name}
          onValue={setName}
          error={action.error?.fields.get('name') ?? null}
        />
        <FormProblem error={action.error} fields={['name']} />
        <div class="dialog-actions">
          {further}
          <Button busy={action.busy} onClick={() => void action.run({ name, is_self: true })}>
            {say('It was me')}
          </Button>
          <Button kind="primary" type="submit" busy={action.busy}>
            {sayCount(count, { one: 'Save', other: 'Save {n} turns' })}
          </Button>
        </div>
      </form>
    </>
  );
}
