import { useEffect, useState } from 'preact/hooks';
import type { Profile } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useLoaded } from '../../api/loading.js';
import { browserZone, profile_zone } from '../../language/formats.js';
import { say } from '../../language/say.js';
import { SelectField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { showToast } from '../../parts/toast_queue.js';

/** The zone by which days begin and end. */
export function TimeZoneSetting() {
  const profile = useLoaded(() => api('GET /profile'), []);
  return (
    <Section
      title={say('Time zone')}
      lead={say('It decides when a day begins and ends, for what is due and what was said.')}
    >
      <Show of={profile}>{(data) => <ZoneForm profile={data} set={profile.set} />}</Show>
    </Section>
  );
}

function ZoneForm({ profile, set }: { profile: Profile; set: (profile: Profile) => void }) {
  const here = browserZone();
  const [zone, setZone] = useState(profile.time_zone ?? here);
  useEffect(() => setZone(profile.time_zone ?? here), [profile.time_zone]);
  const saving = useAction(async () => {
    // Another page may have saved the profile meanwhile: only its zone changes here.
    const { revision } = await api('GET /profile');
    set(await api('PATCH /profile', { body: { revision, time_zone: zone } }));
    profile_zone.value = zone;
    showToast(say('Saved.'));
  });
  const names = [...new Set([zone, here, ...Intl.supportedValuesOf('timeZone')])].sort();
  return (
    <div class="panel">
      <Form of={saving} submit={say('Save')} fields={['time_zone']} onSubmit={() => void saving.run()}>
        <SelectField
          label={say('Time zone')}
          value={zone}
          onValue={setZone}
          options={names.map((name) => [name, name.replaceAll('_', ' ')] as const)}
          hint={say('This browser is in {zone}.', { zone: here.replaceAll('_', ' ') })}
          error={faultOf(saving.error, 'time_zone')}
        />
      </Form>
    </div>
  );
}
