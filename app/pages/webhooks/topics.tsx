import type { EventType } from '../../../kits/typescript/src/api.js';
import { type PlainText, say } from '../../language/say.js';
import { CheckField } from '../../parts/field.js';

/** The topic of each event type; null for those that endpoints never get. */
const TOPIC_OF: Record<EventType, PlainText | null> = {
  'stream.created': 'Recordings',
  'stream.updated': 'Recordings',
  'stream.deleted': 'Recordings',
  'turn.created': 'Transcripts',
  'turn.updated': 'Transcripts',
  'turn.deleted': 'Transcripts',
  'run.published': 'Transcripts',
  'conversation.created': 'Insights',
  'conversation.updated': 'Insights',
  'conversation.deleted': 'Insights',
  'memory.created': 'Insights',
  'memory.updated': 'Insights',
  'memory.deleted': 'Insights',
  'suggestion.created': 'Insights',
  'suggestion.updated': 'Insights',
  'suggestion.deleted': 'Insights',
  'contact.created': 'Contacts',
  'contact.updated': 'Contacts',
  'contact.deleted': 'Contacts',
  'source.created': 'Sources',
  'source.updated': 'Sources',
  'source.deleted': 'Sources',
  'device_session.started': 'Recorder sessions',
  'device_session.joined': 'Recorder sessions',
  'device_session.left': 'Recorder sessions',
  'device_session.updated': 'Recorder sessions',
  'device_session.ended': 'Recorder sessions',
  'workspace.updated': 'Workspaces',
  'workspace.retention_applied': 'Workspaces',
  'workspace.deleted': 'Workspaces',
  'account.updated': 'Account',
  'account.restored': 'Account',
  'personal_access_token.created': 'Account',
  'personal_access_token.revoked': 'Account',
  'suggestion_profile.updated': 'Processing',
  'memory_context.updated': 'Processing',
  'pipeline.created': 'Processing',
  'pipeline.updated': 'Processing',
  'account.created': null,
  'account.deleted': null,
};

/** Event types by their topic, in the order of the table. */
const TOPICS: ReadonlyMap<PlainText, readonly EventType[]> = topics();

function topics(): Map<PlainText, EventType[]> {
  const by_topic = new Map<PlainText, EventType[]>();
  for (const [type, topic] of Object.entries(TOPIC_OF) as [EventType, PlainText | null][]) {
    if (topic !== null) by_topic.set(topic, [...(by_topic.get(topic) ?? []), type]);
  }
  return by_topic;
}

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
      {[...TOPICS].map(([about, types]) => (
        <fieldset key={about}>
          <legend>{say(about)}</legend>
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
