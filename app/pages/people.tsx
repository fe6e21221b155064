import { useEffect, useRef, useState } from 'preact/hooks';
import type { Contact, Spoken } from '../../kits/typescript/src/api.js';
import { useEvents } from '../api/event_feed.js';
import { type LoadedList, useList } from '../api/loading.js';
import { contactName, lastHeardText, spokenText } from '../contacts/contact_names.js';
import { loadContacts } from '../contacts/people.js';
import { useSpoken } from '../contacts/spoken.js';
import { compareWords } from '../language/formats.js';
import { say } from '../language/say.js';
import { ButtonLink } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { Page } from '../parts/page.js';
import { Badge, EmptyState, List } from '../parts/placeholders.js';
import { BASE, place, setQuery } from '../router.js';

const PAGE_ITEMS = 20;
const NAME_CHARS_MAX = 80;
const TYPED_MS = 250;

/** The people who are heard in recordings. The address holds the name that is looked for. */
export function People() {
  const q = place.value.query.get('q') ?? '';
  const { people, is_cut } = usePeopleByName(q);
  useEvents(['contact.created', 'contact.updated', 'contact.deleted'], people.reload);
  const spoken = useSpoken(people.items.map(({ id }) => id));
  const is_new = q === '' && people.state === 'ready' && people.items.length === 0;
  return (
    <Page title={say('People')} lead={say('Who is heard in your recordings, and how much they said.')}>
      {!is_new && <NameField q={q} />}
      <List of={people} label={say('People')} empty={q === '' ? <NobodyYet /> : <NobodyFound />}>
        {(contact) => <PersonRow key={contact.id} contact={contact} spoken={spoken.get(contact.id)} />}
      </List>
      {is_cut && <p class="soft">{say('Only the newest 1,000 people are listed.')}</p>}
    </Page>
  );
}

/** All are read at once, since the server has the newest first, and shown page by page. */
function usePeopleByName(q: string): { people: LoadedList<Contact>; is_cut: boolean } {
  const read = useRef<{ items: Contact[]; is_cut: boolean }>({ items: [], is_cut: false });
  const people = useList(
    async (cursor) => {
      if (cursor === undefined) {
        read.current = await loadContacts(q === '' ? {} : { q });
        read.current.items.sort(inOrder);
      }
      const from = Number(cursor ?? 0);
      const to = from + PAGE_ITEMS;
      const { items } = read.current;
      return { items: items.slice(from, to), cursor: to < items.length ? String(to) : null };
    },
    [q],
  );
  return { people, is_cut: read.current.is_cut };
}

/** The account's own person first, then by name, and last who has none. */
function inOrder(one: Contact, other: Contact): number {
  if (one.is_self !== other.is_self) return one.is_self ? -1 : 1;
  if (one.name === null || other.name === null) return Number(one.name === null) - Number(other.name === null);
  return compareWords(one.name, other.name);
}

function NameField({ q }: { q: string }) {
  const [name, setName] = useState(q);
  useEffect(() => {
    const wanted = name.trim();
    if (wanted === q) return;
    const timer = setTimeout(() => setQuery({ q: wanted }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return (
    <search class="people-search">
      <TextField label={say('Find by name')} type="search" value={name} onValue={setName} maxLength={NAME_CHARS_MAX} />
    </search>
  );
}

function PersonRow({ contact, spoken }: { contact: Contact; spoken: Spoken | undefined }) {
  const heard = spoken === undefined ? null : lastHeardText(spoken);
  return (
    <li>
      <div class="row-main">
        <a class="row-title" href={`${BASE}/people/${contact.id}`}>
          <bdi>{contactName(contact)}</bdi>
        </a>
        <p class="row-facts">
          {spoken === undefined ? <span>{say('Counting…')}</span> : <span>{spokenText(spoken)}</span>}
          {heard !== null && <span>{heard}</span>}
        </p>
      </div>
      {contact.is_self && (
        <div class="row-end">
          <Badge>{say('You')}</Badge>
        </div>
      )}
    </li>
  );
}

function NobodyYet() {
  return (
    <EmptyState
      icon="person"
      title={say('No people yet')}
      action={<ButtonLink href={`${BASE}/recordings`}>{say('Go to your recordings')}</ButtonLink>}
    >
      <p>
        {say(
          'Open a recording and name its speakers under “Who speaks”. Whoever you name appears here, and is recognised by the voice in later recordings where the server knows voices.',
        )}
      </p>
    </EmptyState>
  );
}

function NobodyFound() {
  return (
    <EmptyState icon="search" title={say('Nobody has this name')}>
      <p>{say('Try a part of the name.')}</p>
    </EmptyState>
  );
}
