import type { ComponentChildren } from 'preact';
import { Section } from '../../parts/page.js';
import { ago, dateTime, digits, serverNow, span } from '../format.js';
import { EntityLink } from '../parts/entity_link.js';
import { Facts } from '../parts/facts.js';
import { Nothing } from '../parts/table.js';
import { meaningOf } from '../terms.js';

/** The stored state of an entity, as far as it may be shown. */

/** By field; its values are JSON. */
type State = Record<string, unknown>;

export type Stored =
  | { is: 'absent' }
  | { is: 'ended'; version: number }
  | { is: 'kept'; version: number; bytes: number; state: State }
  | { is: 'unusable'; reason: string };

/** Whose state it is, and the field of it that is shown. */
type EntityPlace = { kind: string; id: string; within: string };

/** Stands for what must not be shown. */
type Hidden = { hidden: string; size?: number };

/** Folded, and so it stays while the page is up to date again. */
export function StoredState({ kind, id, stored }: { kind: string; id: string; stored: Stored }) {
  const size =
    stored.is === 'kept' ? `${digits(Object.keys(stored.state).length)} fields, ${digits(stored.bytes)} bytes` : '';
  return (
    <section id="entity-state" class="section" aria-label="State">
      <details class="panel folded">
        <summary>
          <span class="to">State as it is stored</span>
          <span class="hint">{size}</span>
        </summary>
        <p class="hint">Secrets and content are not shown, only their type and size.</p>
        {stored.is === 'kept' ? (
          <Tree state={stored.state} place={{ kind, id, within: '' }} />
        ) : (
          <Nothing>{nothingWords(stored)}</Nothing>
        )}
      </details>
    </section>
  );
}

function nothingWords(stored: Exclude<Stored, { is: 'kept' }>): string {
  if (stored.is === 'unusable') return stored.reason;
  return stored.is === 'absent' ? 'Nothing is stored.' : 'It has ended; nothing is left of its state.';
}

/** Fields that say what an entity belongs to, or is about. */
const LEADS: Record<string, string> = {
  account_id: 'Account',
  host_account_id: 'Host',
  workspace_id: 'Workspace',
  device_id: 'Device',
  source_id: 'Source',
  stream_id: 'Stream',
  client_id: 'Client',
  claim_id: 'Claim',
};

/** Where the entity leads, so that nobody has to look for it in the state. */
export function Leads({ kind, id, state }: { kind: string; id: string; state: State }) {
  const found = new Map<string, ComponentChildren>();
  const collect = (fields: State, within: string) => {
    for (const [name, value] of Object.entries(fields)) {
      if (within === '' && isObject(value)) collect(value, name);
      const label = LEADS[name];
      if (label === undefined || typeof value !== 'string' || value === id || found.has(label)) continue;
      found.set(label, <Value name={name} value={value} place={{ kind, id, within }} />);
    }
  };
  collect(state, '');
  if (found.size === 0) return null;
  return (
    <Section id="leads" title="Related entities">
      <Facts rows={[...found]} />
    </Section>
  );
}

function isObject(value: unknown): value is State {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function Tree({ state, place }: { state: State; place: EntityPlace }) {
  return (
    <dl class="tree">
      {Object.entries(state).map(([name, value]) => {
        const meaning = place.within === '' ? meaningOf(place.kind, name) : null;
        return (
          <div key={name}>
            <dt>{name.replace(/_ms$/, '')}</dt>
            <dd>
              <Value name={name} value={value} place={place} />
              {meaning !== null && <p class="hint">{meaning}</p>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Value({ name, value, place }: { name: string; value: unknown; place: EntityPlace }) {
  if (value === null) return <span class="none">none</span>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span class="none">empty</span>;
    return (
      <ul class="items">
        {value.map((one, at) => (
          <li key={at}>
            <Value name={name} value={one} place={place} />
          </li>
        ))}
      </ul>
    );
  }
  if (isObject(value)) {
    if (typeof value.hidden === 'string') return <span class="none">{hiddenWords(value as Hidden)}</span>;
    return <Tree state={value} place={{ ...place, within: name }} />;
  }
  if (typeof value === 'number' && /_ms$/.test(name)) return <>{timeWords(value)}</>;
  if (typeof value === 'string' && name === 'client_id') return <EntityLink kind="client" id={value} />;
  if (typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)) {
    return <Id name={name} id={value} place={place} />;
  }
  return <>{String(value)}</>;
}

/** `ms`: since 1970, or how long something is. */
function timeWords(ms: number): string {
  if (ms < 1e12) return `${ms.toLocaleString('en')} ms`;
  const passed = ms > serverNow() ? `in ${span((ms - serverNow()) / 1000)}` : ago(new Date(ms).toISOString());
  return `${dateTime(ms)} (${passed})`;
}

function hiddenWords({ hidden, size }: Hidden): string {
  if (size === undefined) return `${hidden}, not shown`;
  const units: Record<string, string> = { text: 'characters', bytes: 'bytes', list: 'items', object: 'fields' };
  return `${hidden}, ${digits(size)} ${units[hidden]}`;
}

/** Ids that no entity has: invitations lie in their workspaces, a device's own names are known to it alone. */
const LEADS_NOWHERE = ['source_stream_ref', 'invitation_id', 'invitations.id'];

/** The kinds of what fields name, as far as these have labels. */
const KINDS_OF_FIELDS: Record<string, string> = {
  account_id: 'account',
  host_account_id: 'account',
  invited_by: 'account',
  holds: 'account',
  workspace_id: 'workspace',
  device_id: 'device',
  source_id: 'source',
  stream_id: 'stream',
  claim_id: 'claim',
  endpoints: 'endpoint',
  sessions: 'device_session',
};

function Id({ name, id, place }: { name: string; id: string; place: EntityPlace }) {
  const leads_nowhere = LEADS_NOWHERE.some((one) => one === name || one === `${place.within}.${name}`);
  if (id === place.id || leads_nowhere) return <span class="mono">{id}</span>;
  // A field may name what is no entity of its kind, such as a private workspace: the search finds what it is a part of.
  return <EntityLink kind={KINDS_OF_FIELDS[name] ?? ''} id={id} href={`/entity?find=${id}`} />;
}
