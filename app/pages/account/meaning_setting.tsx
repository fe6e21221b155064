import { useEffect, useState } from 'preact/hooks';
import type { RecallSettings } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useLoaded } from '../../api/loading.js';
import { say } from '../../language/say.js';
import { CheckField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { useToastAction } from '../../parts/toast_action.js';

/** Whether questions to what was said are answered by meaning as well. */
export function MeaningSetting() {
  const settings = useLoaded(() => api('GET /recall/settings'), []);
  return (
    <Section title={say('Recall')} lead={say('How questions to what was said are answered.')}>
      <Show of={settings}>{(data) => <MeaningField settings={data} set={settings.set} />}</Show>
    </Section>
  );
}

function MeaningField({ settings, set }: { settings: RecallSettings; set: (settings: RecallSettings) => void }) {
  const [checked, setChecked] = useState(settings.by_meaning);
  useEffect(() => setChecked(settings.by_meaning), [settings.by_meaning]);
  const change = useToastAction(say('Nothing was changed.'), async (by_meaning: boolean) => {
    setChecked(by_meaning);
    try {
      set(await api('PATCH /recall/settings', { body: { by_meaning } }));
    } catch (error) {
      setChecked(settings.by_meaning);
      throw error;
    }
  });
  return (
    <div class="panel">
      <CheckField
        label={say('Find what means the same in other words')}
        hint={say(
          'Made from the text of your recordings. Without it, what was made is removed and questions go by their words.',
        )}
        checked={checked}
        onValue={(value) => void change.run(value)}
      />
    </div>
  );
}
