import { api } from '../../api/api.js';
import { say, sayWith } from '../../language/say.js';
import { Ago } from '../../parts/clock.js';
import { Section } from '../../parts/page.js';
import { SecretAddress } from '../../parts/secret_address.js';

/** The address for omi's app. */
export function Omi() {
  return (
    <Section
      title={say('omi')}
      lead={say('The app omi can send its conversations and audio here. They become recordings.')}
    >
      <p class="hint">
        {say('Paste the address in omi under Settings, Developer Mode, Conversation events.')}{' '}
        <a href="/guides/omi">{say('How it works')}</a>
      </p>
      <SecretAddress
        read={async () => timesOf(await api('GET /me/omi'))}
        make={async () => {
          const { url, ...address } = await api('POST /me/omi');
          return { url, ...timesOf(address) };
        }}
        end={() => api('DELETE /me/omi')}
        renewal={say('Nothing comes to the present address any more. Paste the new one in omi.')}
        ending={say('Nothing comes to it any more. What has come stays.')}
        used={(at) => (at === null ? say('Never used') : sayWith('Used {ago}', { ago: <Ago at={at} /> }))}
      />
    </Section>
  );
}

function timesOf({ made_at, last_used_at }: { made_at: string | null; last_used_at: string | null }) {
  return { made_at, used_at: last_used_at };
}
