import type { EventType } from '../../../kits/typescript/src/api.js';
import { CheckField } from '../../parts/field.js';

/** Event types by what they are about. Those that endpoints never get are left out. */
const TOPICS: readonly (readonly [about: string, types: readonly EventType[]])[] = [
  ['Recordings', ['stream.created', 'stream.updated', 'stream.deleted']],
  ['Transcripts', ['turn.created', 'turn.updated', 'turn.deleted', 'run.published']],
  [
    'Insights',
    [
      'conversation.created',
      'conversation.updated',
      'conversation.deleted',
      'memory.created',
      'memory.updated',
      'memory.deleted',
      'suggestion.created',
      'suggestion.updated',
      'suggestion.deleted',
    ],
  ],
  ['Contacts', ['contact.created', 'contact.updated', 'contact.deleted']],
  ['Sources', ['source.created', 'source.updated', 'source.deleted']],
  [
    'Recorder sessions',
    [
      'device_session.started',
      'device_session.joined',
      'device_session.left',
      'device_session.updated',
      'device_session.ended',
    ],
  ],
  ['Workspaces', ['workspace.updated', 'workspace.retention_applied', 'workspace.deleted']],
  [
    'Account',
    ['account.updated', 'account.restored', 'personal_access_token.created', 'personal_access_token.revoked'],
  ],
  ['Processing', ['suggestion_profile.updated', 'memory_context.updated', 'pipeline.created', 'pipeline.updated']],
];

/** Of what an endpoint is told. */
export function Topics({
  chosen,
  onChosen,
  error,
}: {
  chosen: readonly EventType[];
  onChosen: (chosen: EventType[]) => void;
  error: string | null;
}) {
  const choose = (type: EventType, on: boolean) =>
    onChosen(on ? [...chosen, type] : chosen.filter((one) => one !== type));
  return (
    <>
      {TOPICS.map(([about, types]) => (
        <fieldset key={about}>
          <legend>{about}</legend>
          <div class="options">
            {types.map((type) => (
              <CheckField key={type} label={type} checked={chosen.includes(type)} onValue={(on) => choose(type, on)} />
            ))}
          </div>
        </fieldset>
      ))}
      {error !== null && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}
