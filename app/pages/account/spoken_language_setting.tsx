import { useEffect, useState } from 'preact/hooks';
import type { Profile } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useLoaded } from '../../api/loading.js';
import { compareWords, languageName, listText } from '../../language/formats.js';
import { say } from '../../language/say.js';
import { SelectField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { showToast } from '../../parts/toast_queue.js';

/** Those that are offered; one that the profile has beside them stays. */
const LANGUAGES =
  'ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl sr sv ta th tr uk ur vi zh';

/** The language that is spoken in the recordings of the account, by which a server with several models chooses one. */
export function SpokenLanguageSetting() {
  const profile = useLoaded(() => api('GET /profile'), []);
  return (
    <Section
      title={say('Spoken language')}
      lead={say(
        'What is mostly spoken in your recordings. They are transcribed by a model that knows it, where there is one.',
      )}
    >
      <Show of={profile}>{({ languages }) => <LanguageForm languages={languages} set={profile.set} />}</Show>
    </Section>
  );
}

function LanguageForm({ languages, set }: { languages: readonly string[]; set: (profile: Profile) => void }) {
  const saved = languages.join(' ');
  const [spoken, setSpoken] = useState(saved);
  useEffect(() => setSpoken(saved), [saved]);
  const saving = useAction(async () => {
    // Another page may have saved the profile meanwhile: only its languages change here.
    const { revision } = await api('GET /profile');
    set(await api('PATCH /profile', { body: { revision, languages: spoken === '' ? [] : spoken.split(' ') } }));
    showToast(say('Saved.'));
  });
  const nameOf = (tags: string) => listText(tags.split(' ').map(languageName));
  const offered = [...new Set([...LANGUAGES.split(' '), ...(saved === '' ? [] : [saved])])]
    .map((tags) => [tags, nameOf(tags)] as const)
    .sort(([, one], [, other]) => compareWords(one, other));
  return (
    <div class="panel">
      <Form of={saving} submit={say('Save')} fields={['languages']} onSubmit={() => void saving.run()}>
        <SelectField
          label={say('Spoken language')}
          value={spoken}
          onValue={setSpoken}
          options={[['', say('Any, or several')], ...offered]}
          error={faultOf(saving.error, 'languages')}
        />
      </Form>
    </div>
  );
}
