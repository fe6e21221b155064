import { useEffect, useState } from 'preact/hooks';
import type { DueMailSettings } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useLoaded } from '../../api/loading.js';
import { say } from '../../language/say.js';
import { CheckField, SelectField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { useToastAction } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { DueNotificationsSetting } from './due_notifications_setting.js';

const HOURS = Array.from({ length: 24 }, (_, hour) => [String(hour), `${String(hour).padStart(2, '0')}:00`] as const);

/** Whether a daily mail says what is due, and from which hour on. */
export function DueMailSetting() {
  const settings = useLoaded(() => api('GET /me/due-mail'), []);
  return (
    <Section title={say('What is due')} lead={say('One mail a day at most, and only if something is due or overdue.')}>
      <div class="spaced">
        <Show of={settings}>{(data) => <DueMailFields settings={data} set={settings.set} />}</Show>
        <DueNotificationsSetting />
      </div>
    </Section>
  );
}

function DueMailFields({ settings, set }: { settings: DueMailSettings; set: (settings: DueMailSettings) => void }) {
  const [shown, setShown] = useState(settings);
  useEffect(() => setShown(settings), [settings]);
  const change = useToastAction(say('Nothing was changed.'), async (wanted: Partial<DueMailSettings>) => {
    setShown({ ...shown, ...wanted });
    try {
      set(await api('PATCH /me/due-mail', { body: wanted }));
      showToast(say('Saved.'));
    } catch (error) {
      setShown(settings);
      throw error;
    }
  });
  return (
    <div class="panel">
      <CheckField
        label={say('Send me a mail')}
        hint={say('It holds the texts of your tasks. A link in it ends these mails.')}
        checked={shown.is_on}
        onValue={(is_on) => void change.run({ is_on })}
      />
      {shown.is_on && (
        <SelectField
          label={say('From|an hour')}
          value={String(shown.hour)}
          onValue={(hour) => void change.run({ hour: Number(hour) })}
          options={HOURS}
          hint={say('By the time zone above.')}
        />
      )}
    </div>
  );
}
