import type { OperatorApi } from '../../../kits/typescript/src/api.js';
import { ApiError } from '../../api/api_error.js';
import { CheckField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { useToastAction } from '../../parts/toast_action.js';
import { ask, orNotFound } from '../api.js';
import { usePolling } from '../polling.js';

type Entitlement = OperatorApi['PUT /ops/accounts/{account}/entitlements/{name}']['path']['name'];

const WORDS: Record<Entitlement, readonly [label: string, hint: string]> = {
  'audio.access': ['Audio', 'It records, and hears its recordings.'],
  'transcripts.access': ['Transcripts', 'It reads and corrects what was said.'],
  'insights.access': ['Insights', 'It reads summaries, tasks and decisions.'],
  'workspace.sharing': ['Sharing', 'It makes workspaces, accepts invitations and shares recordings by link.'],
  'developer.tools': ['Developer tools', 'It sees runs of engines and makes pipelines.'],
  'agent.experimental': ['Experimental agent', 'Apps may show it what is not released.'],
};

/** Switches for what an account may do. */
export function AccountEntitlements({ account }: { account: string }) {
  const { data, look } = usePolling(() => orNotFound(ask('GET /ops/accounts/{account}', { path: { account } })));
  const switching = useToastAction('It could not be switched.', async (name: Entitlement, enabled: boolean) => {
    await ask('PUT /ops/accounts/{account}/entitlements/{name}', { path: { account, name }, body: { enabled } });
    await look();
  });
  if (data === null || data instanceof ApiError) return null;
  return (
    <Section title="Entitlements" id="account-entitlements">
      {(Object.keys(WORDS) as Entitlement[]).map((name) => (
        <CheckField
          key={name}
          label={WORDS[name][0]}
          hint={WORDS[name][1]}
          checked={data.entitlements[name]}
          onValue={(enabled) => void switching.run(name, enabled)}
        />
      ))}
    </Section>
  );
}
