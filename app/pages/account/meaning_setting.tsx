import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/api.js';
import { CheckField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { useToastAction } from '../../parts/toast_action.js';
import { account } from '../../shell/account.js';

/** Whether questions to what was said are answered by meaning as well. */
export function MeaningSetting() {
  const saved = account.value?.recall_by_meaning ?? true;
  const [checked, setChecked] = useState(saved);
  useEffect(() => setChecked(saved), [saved]);
  const change = useToastAction('Nothing was changed.', async (recall_by_meaning: boolean) => {
    setChecked(recall_by_meaning);
    try {
      account.value = await api('PATCH /me', { body: { recall_by_meaning } });
    } catch (error) {
      setChecked(saved);
      throw error;
    }
  });
  return (
    <Section title="Recall" lead="How questions to what was said are answered.">
      <div class="panel">
        <CheckField
          label="Find what means the same in other words"
          hint="Made from the text of your recordings. Without it, what was made is removed and questions go by their words."
          checked={checked}
          onValue={(value) => void change.run(value)}
        />
      </div>
    </Section>
  );
}
