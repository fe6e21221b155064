import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { ANNOUNCEMENT_INDEX } from '../../../actors/transcripts/announcement_index.js';
import { type ContactsMessage, contacts } from '../../../actors/transcripts/contacts.js';
import {
  type Contact,
  type Contacts,
  clockOf,
  heardIn,
  knownIn,
  type MergedContact,
  NONE,
  type Voice,
  voicesOf,
} from '../../../actors/transcripts/contacts_state.js';
import { voiceId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { dueIndex } from '../../../src/domain/retention.js';
import { anyPlay, checkPlays, Played, START_MS } from '../../fixtures/decisions.js';

const ACCOUNT = 'a';
const WORKSPACES = ['v', 'w'];
const CONTACTS = ['1', '2', '3', '4'];

/** Contacts of an account, with the indexes that their effects leave. */
class PlayedContacts extends Played<Contacts, ContactsMessage, unknown> {
  constructor() {
    super(contacts, ACCOUNT);
  }

  say(message: ContactsMessage): unknown {
    return this.send(message).reply;
  }

  refusal(message: ContactsMessage): string {
    const reply = this.say(message);
    return isRefusal(reply) ? reply.refused : 'accepted';
  }

  indexed(index: string): Map<string, number> {
    const found = new Map<string, number>();
    for (const effect of this.effects) {
      if (effect.effect === 'add_to_index' && effect.index === index) found.set(effect.member, effect.order);
      if (effect.effect === 'remove_from_index' && effect.index === index) found.delete(effect.member);
    }
    return found;
  }

  /** The events since the last call, as `type resource fields`. */
  events(): string[] {
    const told = this.effects.slice(this.#told).flatMap((effect) => {
      if (effect.effect !== 'append_event') return [];
      const fields = (effect.data?.changed_fields as string[] | undefined) ?? [];
      return [`${effect.type} ${effect.resource_id} ${fields.join(' ')}`.trim()];
    });
    this.#told = this.effects.length;
    return told;
  }
  #told = 0;
}

/** A stream lies in one workspace. */
const STREAMS = { v: '01999999-9999-7999-8999-9a000000000b', w: '01999999-9999-7999-8999-9b000000000b' } as Record<
  string,
  string
>;
const streamIn = (workspace_id: string) => STREAMS[workspace_id] as string;
const voiceIn = (workspace_id: string, speaker: number) => voiceId(streamIn(workspace_id), speaker);
const create = (contact_id: string, more: { name?: string; is_self?: boolean } = {}): ContactsMessage => ({
  ...{ type: 'create', contact_id, name: `Name ${contact_id}`, is_self: false },
  ...more,
});
const merge = (contact_id: string, into: string): ContactsMessage => ({ type: 'merge', contact_id, into });
const remove = (contact_id: string, merged_into: string | null = null): ContactsMessage => ({
  ...{ type: 'delete', contact_id, merged_into },
});
const view = (contact_id: string): ContactsMessage => ({ type: 'view', contact_id });
const learn = (workspace_id: string, speaker: number, model = 'm'): ContactsMessage => ({
  ...{
    type: 'learn_voice',
    workspace_id,
    stream_id: streamIn(workspace_id),
    speaker,
    model,
    embedding: Buffer.of(1, 2),
  },
});
const match = (workspace_id: string, speaker: number, contact_id: string): ContactsMessage => ({
  ...{
    type: 'match_voice',
    workspace_id,
    voice_id: voiceIn(workspace_id, speaker),
    contact_id,
  },
});
const name = (workspace_id: string, speaker: number, contact_id: string | null): ContactsMessage => ({
  ...{ type: 'name_voice', workspace_id, stream_id: streamIn(workspace_id), speaker, contact_id },
});
const expire = (workspace_id: string, before_ms: number | null): ContactsMessage => ({
  ...{ type: 'expire_voices', workspace_id, before_ms, sweep_id: 'sweep', library_id: 'lib' },
});
const swept = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.effect === 'notify' ? [[effect.to.kind, effect.message]] : []));

t.test('K-006 K-052 contacts are made, renamed, merged and deleted, and events name fields alone', async (t) => {
  const played = new PlayedContacts();
  t.equal(played.refusal(view('1')), 'NOT_FOUND');
  t.equal(played.refusal(merge('1', '1')), 'NOT_FOUND');
  t.equal(played.refusal(remove('1')), 'NOT_FOUND');
  for (const id of ['1', '2', '3', '4']) played.say(create(id, { is_self: id === '1' }));
  t.same(played.say(create('4')), played.say(view('4')), 'the same again is the same contact');
  t.same(
    played.events(),
    ['1', '2', '3', '4'].map((id) => `contact.created ${id}`),
  );
  played.say({ type: 'change', contact_id: '2', is_self: true });
  t.same(played.events(), ['contact.updated 2 is_self', 'contact.updated 1 is_self']);
  played.say({ type: 'change', contact_id: '2', name: 'Name 2', is_self: true });
  t.same(played.events(), [], 'nothing changes');

  t.equal(played.refusal(merge('2', '2')), 'CONFLICT', 'itself');
  t.equal(played.refusal(merge('2', '9')), 'NOT_FOUND', 'into nobody');
  t.match(played.say(merge('2', '3')), { id: '2', merged_into: '3', is_self: false });
  t.same(played.events(), ['contact.updated 2 is_self merged_into', 'contact.updated 3 is_self']);
  t.match(played.say(merge('2', '3')), { merged_into: '3' }, 'again');
  t.equal(played.refusal(merge('3', '2')), 'CONFLICT', 'a circle');
  t.equal(played.refusal(merge('2', '4')), 'CONFLICT', 'of two');
  t.equal(played.refusal(merge('4', '2')), 'CONFLICT', 'into a part');
  t.equal(played.refusal({ type: 'change', contact_id: '2', name: 'x' }), 'CONFLICT', 'a part is not renamed');
  t.same(played.events(), []);
  played.say(merge('3', '4'));
  t.same(played.events(), [
    'contact.updated 3 is_self merged_into',
    'contact.updated 2 merged_into',
    'contact.updated 4 is_self',
  ]);
  played.say({ type: 'change', contact_id: '4', name: 'Whole' });
  const whole = { id: '4', name: 'Whole' };
  t.same(played.say({ type: 'resolve', ids: ['2', '3', '4', '9', '1'] }), {
    contacts: { 2: whole, 3: whole, 4: whole, 9: null, 1: { id: '1', name: 'Name 1' } },
  });
  played.events();

  t.equal(played.refusal(remove('2')), 'UNAVAILABLE', 'merged since it was looked at');
  played.say(remove('2', '4'));
  t.same(played.events(), ['contact.deleted 2']);
  played.say(remove('4'));
  t.same(played.events(), ['contact.deleted 4', 'contact.deleted 3'], 'with all that became a part of it');
  t.same([...played.records('contacts').keys()], ['1']);
  t.match(played.state, { count: 1, self_id: null });
});

t.test('K-055 what changed is announced, one after the other, from where it had come', async (t) => {
  const played = new PlayedContacts();
  const next = (holder = 'one') => (played.say({ type: 'take_change', holder }) as { change: unknown }).change;
  const due = () => [...played.indexed(ANNOUNCEMENT_INDEX.index)];
  for (const id of ['1', '2', '3']) played.say(create(id));
  played.say(merge('1', '2'));
  t.same(due(), [['contacts:a', START_MS]]);
  t.same(next(), { number: 1, contact_id: '1', after: null });
  t.same(due(), [['contacts:a', START_MS + LIMITS.announcing_lease_ms]]);
  t.same(next('another'), null, 'one tells at a time');
  const after = { order: 5, member: 'stream' };
  played.pass(10);
  played.say({ type: 'announced', number: 1, after });
  t.same(due(), [['contacts:a', START_MS + 10 + LIMITS.announcing_lease_ms]], 'whoever works on it keeps it');
  played.pass(LIMITS.announcing_lease_ms - 1);
  t.same(next('another'), null);
  played.pass(1);
  t.same(next('another'), { number: 1, contact_id: '1', after }, 'who does not come back has lost it');
  played.say(remove('2'));
  t.same(next('another'), { number: 2, contact_id: '2', after: null });
  played.say({ type: 'announced', number: 1, after: null }); // of a change that began anew
  played.say({ type: 'announced', number: 2, after: null });
  t.same(next('another'), { number: 3, contact_id: '1', after: null }, 'which shows nobody now');
  played.say({ type: 'announced', number: 3, after: null });
  t.same([due(), next(), next('another')], [[], null, null]);
  t.strictSame(played.say({ type: 'announced', number: 3, after: null }), { done: true });
});

t.test('K-054 bounds: contacts, merges, changes that wait', async (t) => {
  const full = new PlayedContacts();
  full.say(create('1'));
  full.state = { ...(full.state as Contacts), count: LIMITS.contacts_per_account_max };
  t.equal(full.refusal(create('2')), 'CONFLICT');
  full.say(learn('w', 1));
  t.same(full.say(match('w', 1, '2')), { contact_id: null }, 'nobody is made of a voice either');

  const merged = new PlayedContacts();
  merged.say(create('whole'));
  for (let count = 0; count <= LIMITS.contact_aliases_max; count++) merged.say(create(`p${count}`));
  for (let count = 0; count < LIMITS.contact_aliases_max; count++) merged.say(merge(`p${count}`, 'whole'));
  t.equal(merged.refusal(merge(`p${LIMITS.contact_aliases_max}`, 'whole')), 'CONFLICT');

  const busy = new PlayedContacts();
  const change = { number: 1, contact_id: 'x', after: null };
  busy.say(create('1'));
  busy.state = {
    ...(busy.state as Contacts),
    announcing: Array.from({ length: LIMITS.contact_changes_max }, () => change),
  };
  t.equal(busy.refusal(remove('1')), 'TOO_MANY_REQUESTS');
});

t.test('K-056 K-058 a voice that is heard again makes a contact without a name, and a person names it', async (t) => {
  const played = new PlayedContacts();
  const voice = (id: string) => (played.say(view(id)) as { voice: unknown }).voice;
  t.same(played.say(match('w', 1, '1')), { contact_id: null }, 'nobody was learned');
  t.same(played.say(learn('w', 1)), { kept: true });
  t.same(played.events(), []);
  const elsewhere = { ...match('w', 1, '1'), workspace_id: 'v' } as ContactsMessage;
  t.same(played.say(elsewhere), { contact_id: null }, 'in another workspace it is not known');
  played.pass(5);
  t.same(played.say(match('w', 1, '1')), { contact_id: '1' });
  t.same(played.events(), ['contact.created 1']);
  t.match(played.say(view('1')), { name: null, voice: { state: 'recognized', last_matched_at_ms: START_MS + 5 } });
  played.pass(5);
  t.same(played.say(match('w', 1, '2')), { contact_id: '1' });
  t.same(voice('1'), { state: 'recognized', last_matched_at_ms: START_MS + 10 });
  t.same(played.events(), [], 'a match is no news');

  played.say(create('2'));
  played.events();
  played.say(name('w', 1, '2'));
  t.same(played.events(), ['contact.updated 1 voice', 'contact.updated 2 voice']);
  t.same([voice('1'), voice('2')], [{ state: 'none' }, { state: 'recognized', last_matched_at_ms: START_MS + 10 }]);
  t.same(played.say(learn('w', 1, 'better')), { kept: true }, 'the same speaker, heard better');
  t.same(played.say({ type: 'voices', workspace_id: 'w' }), {
    voices: [{ id: voiceIn('w', 1), contact_id: '2', model: 'better' }],
  });
  t.same(played.say({ type: 'embeddings', ids: [voiceIn('w', 1), voiceIn('w', 9)] }), {
    embeddings: { [voiceIn('w', 1)]: Buffer.of(1, 2) },
  });
  t.equal(played.refusal(name('w', 1, '9')), 'NOT_FOUND');
  played.say(merge('1', '2'));
  t.equal(played.refusal(name('w', 1, '1')), 'NOT_FOUND', 'what became a part of another gets no voice');
  played.events();
  played.say(name('w', 1, null));
  t.same([played.events(), voice('2')], [['contact.updated 2 voice'], { state: 'none' }]);
  played.say(name('w', 1, '2'));
  played.events();

  played.say({ type: 'delete_voice', contact_id: '2' });
  t.same([played.events(), voice('2')], [['contact.updated 2 voice'], { state: 'none' }]);
  played.say({ type: 'delete_voice', contact_id: '2' });
  t.same(played.events(), [], 'it has none');
  t.equal(played.refusal({ type: 'delete_voice', contact_id: '9' }), 'NOT_FOUND');
  t.equal(played.records('embeddings').size, 0);
});

t.test('I-020 I-025 voices expire by when they were matched last; their contacts stay', async (t) => {
  const played = new PlayedContacts();
  const due = () => [...played.indexed(dueIndex('voices', 'w'))];
  played.say(create('1'));
  for (const speaker of [1, 2, 3]) {
    played.say(learn('w', speaker));
    played.pass(10);
  }
  t.same(due(), [[ACCOUNT, START_MS]]);
  played.say(name('w', 1, '1'));
  played.say(match('w', 1, '9'));
  played.events();
  t.same(
    played.say(expire('w', START_MS + 10)),
    { removed: 0, left: false },
    'S1 was matched since, S2 is not old enough',
  );
  t.same(due(), [[ACCOUNT, START_MS + 10]]);
  t.same(swept(played.effects), [], 'nothing went');
  t.same(played.say(expire('w', START_MS + 20)), { removed: 1, left: false });
  t.same(due(), [[ACCOUNT, START_MS + 20]]);
  played.pass(10);
  t.same(played.say(expire('w', null)), { removed: 2, left: false });
  const told = (count: number) => ['library', { type: 'swept', sweep_id: 'sweep', bucket: 'voice', count }];
  t.same(swept(played.effects), [told(1), told(2)]);
  t.same([due(), played.records('embeddings').size, played.state?.voices], [[], 0, {}]);
  t.same(played.events(), []);
  t.match(played.say(view('1')), {
    voice: { state: 'expired', last_matched_at_ms: START_MS + 30, removed_at_ms: START_MS + 40 },
  });
  t.same(played.say(match('w', 1, '9')), { contact_id: null });
  played.say({ type: 'delete_voice', contact_id: '1' });
  t.same(played.events(), [], 'there is nothing left to delete');
  t.same(played.say(expire('x', null)), { removed: 0, left: false });
  t.same(new PlayedContacts().say(expire('w', null)), { removed: 0, left: false });
});

t.test('I-015 the voices of a workspace that is deleted are forgotten, however many', async (t) => {
  const played = new PlayedContacts();
  played.say(create('1'));
  for (let speaker = 1; speaker <= LIMITS.voices_expired_per_commit_max + 5; speaker++) played.say(learn('w', speaker));
  played.say(name('w', 1, '1'));
  played.say(learn('v', 1));
  t.same(played.say({ type: 'forget_voices', workspace_id: 'w' }), { left: true });
  t.same(played.say({ type: 'forget_voices', workspace_id: 'w' }), { left: false });
  t.same(played.state?.voices, { v: 1 });
  t.same([...played.records('embeddings').keys()], [voiceIn('v', 1)]);
  t.match(played.say(view('1')), { voice: { state: 'none' } }, 'not as one that expired');
  t.equal(played.indexed(dueIndex('voices', 'w')).size, 0);
});

t.test('I-020 many voices expire in steps', async (t) => {
  const played = new PlayedContacts();
  played.say(create('1'));
  const count = 2 * LIMITS.voices_expired_per_commit_max + 3;
  for (let index = 0; index < count; index++) played.say(learn('w', index + 1));
  const steps: unknown[] = [];
  for (let left = true; left; ) {
    const reply = played.say(expire('w', null)) as { removed: number; left: boolean };
    steps.push(reply.removed);
    left = reply.left;
  }
  t.same(steps, [LIMITS.voices_expired_per_commit_max, LIMITS.voices_expired_per_commit_max, 3]);
});

t.test('K-059 bounds of voices: of a workspace, of a contact, and of what is learned', async (t) => {
  const played = new PlayedContacts();
  const own = LIMITS.voices_per_contact_max;
  played.say(create('1'));
  for (let index = 0; index <= own; index++) {
    played.say(learn('v', index + 1));
    played.say(name('v', index + 1, '1'));
    played.pass(1);
  }
  const kept = [...played.records(voicesOf('1')).keys()];
  t.equal(kept.length, own);
  t.notOk(kept.includes(voiceIn('v', 1)), 'the one that was heard longest ago gave way');
  t.equal(played.state?.voices.v, own);

  for (let index = 0; index < LIMITS.voices_per_workspace_max; index++) played.say(learn('w', index + 1));
  played.pass(1);
  played.say(match('w', 1, '2'));
  t.same(played.say(learn('w', 4_000)), { kept: true });
  const heard = played.records(heardIn('w'));
  t.same(
    [heard.has(voiceIn('w', 2)), heard.has(voiceIn('w', 4_000)), played.records(knownIn('w')).has(voiceIn('w', 1))],
    [false, true, true],
  );
  t.equal(played.state?.voices.w, LIMITS.voices_per_workspace_max);
  const large = { ...learn('w', 4_001), embedding: Buffer.alloc(LIMITS.voice_embedding_bytes_max + 1) };
  t.same(played.say(large as ContactsMessage), { kept: false });
  t.same(played.say(learn('w', 4_001, 'm'.repeat(LIMITS.voice_model_chars_max + 1))), { kept: false });
});

t.test(
  'K-052 a voice that expired and was learned again stays with whom it matched since, when contacts are merged',
  async (t) => {
    const played = new PlayedContacts();
    played.say(learn('v', 3));
    played.say(match('v', 3, '1'));
    played.say(expire('v', null));
    played.say(learn('v', 3));
    played.say(match('v', 3, '4'));
    played.say(merge('1', '4'));
    const voice = played.records(knownIn('v')).get(voiceIn('v', 3));
    t.match(voice, { contact_id: '4' });
    t.same(played.records(voicesOf('4')).get(voiceIn('v', 3)), voice);
    t.equal(played.records(voicesOf('1')).size, 0);
  },
);

t.test('D-033 erased, nothing is left of contacts and voices, however many', async (t) => {
  const played = new PlayedContacts();
  t.same(played.say({ type: 'erase' }), { left: false });
  for (let count = 0; count < LIMITS.contacts_erased_per_commit_max + 5; count++) played.say(create(`c${count}`));
  for (const workspace of WORKSPACES) {
    played.say(learn(workspace, 1));
    played.say(learn(workspace, 2));
    played.say(name(workspace, 1, 'c7'));
  }
  played.say(merge('c1', 'c2'));
  t.same(played.say({ type: 'erase' }), { left: true });
  t.same(played.say({ type: 'erase' }), { left: false });
  t.equal(played.state, null);
  const collections = [
    'contacts',
    'merged',
    'embeddings',
    voicesOf('c7'),
    ...WORKSPACES.flatMap((w) => [knownIn(w), heardIn(w)]),
  ];
  for (const collection of collections) t.equal(played.records(collection).size, 0, collection);
  for (const index of [ANNOUNCEMENT_INDEX.index, ...WORKSPACES.map((w) => dueIndex('voices', w))])
    t.equal(played.indexed(index).size, 0, index);
});

t.test('K-052 K-054 whatever happens, records say the same on both sides, and are counted', async (t) => {
  const contact = fc.constantFrom(...CONTACTS);
  const workspace = fc.constantFrom(...WORKSPACES);
  const speaker = fc.constantFrom(1, 2, 3);
  const before = fc.constantFrom(null, START_MS + 5, START_MS + 50);
  const message: fc.Arbitrary<ContactsMessage> = fc.oneof(
    fc.tuple(contact, fc.boolean()).map(([id, is_self]) => create(id, { is_self })),
    fc
      .tuple(contact, fc.constantFrom('x', 'y'), fc.boolean())
      .map(([contact_id, name, is_self]): ContactsMessage => ({ type: 'change', contact_id, name, is_self })),
    fc.tuple(contact, contact).map(([id, into]) => merge(id, into)),
    fc.tuple(contact, fc.option(contact)).map(([id, into]) => remove(id, into)),
    fc.tuple(workspace, speaker).map(([of, who]) => learn(of, who)),
    fc.tuple(workspace, speaker, contact).map(([of, who, id]) => match(of, who, id)),
    fc.tuple(workspace, speaker, fc.option(contact)).map(([of, who, id]) => name(of, who, id)),
    contact.map((contact_id): ContactsMessage => ({ type: 'delete_voice', contact_id })),
    fc.tuple(workspace, before).map(([of, ms]) => expire(of, ms)),
    workspace.map((workspace_id): ContactsMessage => ({ type: 'forget_voices', workspace_id })),
  );
  checkPlays(t, { plays: anyPlay(message, [1, 20]), runs: 600 }, (steps) => {
    const played = new PlayedContacts();
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else played.send(step.send);
      holdTogether(played);
    }
  });
});

function holdTogether(played: PlayedContacts): void {
  const must = (holds: boolean, text: string) => {
    if (!holds) throw new Error(text);
  };
  const state = played.state ?? NONE;
  const all = played.records<Contact>('contacts');
  must(state.count === all.size, `${state.count} are counted of ${all.size}`);
  must(state.self_id === null || all.get(state.self_id)?.merged === undefined, 'nobody is the account itself');
  must(state.self_id === null || all.has(state.self_id), 'somebody gone is the account itself');
  const merged = played.records<MergedContact>('merged');
  const aliases = [...all].flatMap(([id, { aliases, name }]) => aliases.map((alias) => [alias, id, name] as const));
  must(aliases.length === merged.size, 'aliases and what is merged differ');
  for (const [alias, into, name] of aliases) {
    must(all.get(alias)?.merged === true && all.get(into)?.merged === undefined, `${alias} is no part of ${into}`);
    must(merged.get(alias)?.into === into && merged.get(alias)?.name === name, `${alias} says another whole`);
  }
  const living = new Set<string>();
  for (const workspace of WORKSPACES) {
    const known = played.records<Voice>(knownIn(workspace));
    const heard = played.records<Voice>(heardIn(workspace));
    const count = known.size + heard.size;
    must((state.voices[workspace] ?? 0) === count, `${state.voices[workspace]} voices are counted of ${count}`);
    for (const id of [...known.keys(), ...heard.keys()]) living.add(`${workspace} ${id}`);
    for (const voice of heard.values()) must(voice.contact_id === null, "a voice of nobody's is somebody's");
    for (const [id, voice] of known) {
      const own = played.records<Voice>(voicesOf(voice.contact_id ?? '')).get(id);
      must(all.get(voice.contact_id ?? '')?.merged === undefined, 'a voice of what was merged');
      must(JSON.stringify(own) === JSON.stringify(voice), `${id} says two things: ${JSON.stringify([own, voice])}`);
    }
    const clocks = [...known.values(), ...heard.values()].map(clockOf);
    const due = played.indexed(dueIndex('voices', workspace)).get(ACCOUNT);
    must((due !== undefined) === count > 0, 'it is listed as due without voices, or is not with some');
    must(due === undefined || due <= Math.min(...clocks), 'it is due too late');
  }
  for (const id of CONTACTS) {
    for (const [voice_id, voice] of played.records<Voice>(voicesOf(id))) {
      must(all.has(id) && voice.contact_id === id, 'a voice of a contact that is gone');
      const is_known = played.records<Voice>(knownIn(voice.workspace_id)).get(voice_id)?.contact_id === id;
      must(is_known === (voice.removed_at_ms === undefined), `${voice_id} of ${id} is half there`);
    }
  }
  must(
    played.indexed(ANNOUNCEMENT_INDEX.index).size === (state.announcing.length > 0 ? 1 : 0),
    'announcing is not listed',
  );
}
