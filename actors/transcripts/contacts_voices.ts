import { voiceId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { dueIndex, type Expire, type Expired, isBefore, type Swept } from '../../src/domain/retention.js';
import { type Decision, DONE, type Effect, type Facts, messagesOf, type RecordQuery } from '../actor.js';
import {
  type Contact,
  type Contacts,
  contactRecord,
  countVoices,
  dropVoice,
  dropVoices,
  heardIn,
  knownIn,
  NO_CONTACT,
  NONE,
  newContact,
  putContact,
  putOwnVoice,
  putVoice,
  updated,
  type Voice,
  type VoiceRow,
  voicesOf,
} from './contacts_state.js';

const VOICES_TOLD_MAX = 100; // ours: of contacts, and as many of nobody yet, with one window

/** The number of voices that one read takes of a workspace. */
const STEP = LIMITS.voices_expired_per_commit_max;

/**
 * The voices by which an account's recordings recognise people. A voice belongs to the workspace in which it was
 * learned, and expires with it. Only workers get its embedding.
 */
export const voiceMessages = messagesOf<Contacts>()({
  /**
   * Stores the voice of a speaker of a stream in place of an earlier one of the same speaker. If a workspace is full,
   * the voice without a contact that was not heard for longest is removed.
   */
  learn_voice: {
    records: (input: LearntVoice, state) => {
      const id = voiceOf(input);
      const is_full = (state?.voices[input.workspace_id] ?? 0) >= LIMITS.voices_per_workspace_max;
      const oldest: RecordQuery = { collection: heardIn(input.workspace_id), range: { limit: 1 } };
      return [...voiceRecords(input.workspace_id, id), ...(is_full ? [oldest] : [])];
    },
    decide(state, input: LearntVoice, facts): Decision<Contacts, { kept: boolean }> {
      const { workspace_id, model, embedding } = input;
      if (embedding.length > LIMITS.voice_embedding_bytes_max || model.length > LIMITS.voice_model_chars_max)
        return { reply: { kept: false } };
      const before = state ?? NONE;
      const id = voiceOf(input);
      const put: Effect = { effect: 'put_record', collection: 'embeddings', id, value: embedding };
      const known = voiceIn(workspace_id, id, facts);
      if (known !== undefined) return { reply: { kept: true }, effects: [put, ...putVoice(id, { ...known, model })] };
      const count = before.voices[workspace_id] ?? 0;
      const evicted = count < LIMITS.voices_per_workspace_max ? [] : facts.range<Voice>(heardIn(workspace_id));
      const has_room = count === 0 ? Object.keys(before.voices).length < LIMITS.voice_workspaces_max : true;
      if (!has_room || (count >= LIMITS.voices_per_workspace_max && evicted.length === 0))
        return { reply: { kept: false } };
      const dropped = dropVoices(before.voices, evicted, facts);
      const counted = countVoices(dropped.voices, { workspace_id, by: 1 }, facts);
      const voice: Voice = {
        workspace_id,
        contact_id: null,
        model,
        created_at_ms: facts.now_ms,
        last_matched_at_ms: null,
      };
      return {
        reply: { kept: true },
        next: { ...before, voices: counted.voices },
        effects: [...dropped.effects, put, ...putVoice(id, voice), ...counted.effects],
      };
    },
  },

  /**
   * Records that a voice was heard again, and returns its contact. A voice without one gets a contact without a name.
   */
  match_voice: {
    records: ({ workspace_id, voice_id, contact_id }: MatchedVoice) => [
      ...voiceRecords(workspace_id, voice_id),
      contactRecord(contact_id),
    ],
    decide(state, input: MatchedVoice, facts): Decision<Contacts, { contact_id: string | null }> {
      const { workspace_id, voice_id, contact_id } = input;
      const known = voiceIn(workspace_id, voice_id, facts);
      if (state === null || known === undefined) return { reply: { contact_id: null } };
      const matched: Voice = { ...known, last_matched_at_ms: facts.now_ms };
      if (known.contact_id !== null)
        return { reply: { contact_id: known.contact_id }, effects: putVoice(voice_id, matched) };
      const is_taken = facts.record<Contact>('contacts', contact_id) !== undefined;
      if (is_taken || state.count >= LIMITS.contacts_per_account_max)
        return { reply: { contact_id: null }, effects: putVoice(voice_id, matched) };
      return {
        reply: { contact_id },
        next: { ...state, count: state.count + 1 },
        effects: [
          ...newContact(contact_id, null, facts).effects,
          { effect: 'delete_record', collection: heardIn(workspace_id), id: voice_id },
          ...putVoice(voice_id, { ...matched, contact_id }),
        ],
      };
    },
  },

  /** A person named a speaker, or (null) took the name back; the voice learned from the speaker follows. */
  name_voice: {
    records: (input: NamedVoice) => [
      ...voiceRecords(input.workspace_id, voiceOf(input)),
      ...(input.contact_id === null
        ? []
        : [
            contactRecord(input.contact_id),
            { collection: voicesOf(input.contact_id), range: { limit: LIMITS.voices_per_contact_max } },
          ]),
    ],
    decide(state, input: NamedVoice, facts): Decision<Contacts, typeof DONE> {
      const { workspace_id, contact_id } = input;
      const id = voiceOf(input);
      const known = voiceIn(workspace_id, id, facts);
      if (state === null || known === undefined || known.contact_id === contact_id) return { reply: DONE };
      const contact = contact_id === null ? null : facts.record<Contact>('contacts', contact_id);
      if (contact === undefined || contact?.merged) return { reply: NO_CONTACT };
      const own = contact_id === null ? [] : facts.range<Voice>(voicesOf(contact_id));
      const is_full = own.length >= LIMITS.voices_per_contact_max;
      const dropped = dropVoices(state.voices, is_full ? own.slice(0, 1) : [], facts);
      const effects = [...dropped.effects, ...takeFrom(known, { id, self: facts.self })];
      for (const gone of is_full ? own.slice(0, 1) : [])
        effects.push({ effect: 'delete_record', collection: voicesOf(contact_id as string), id: gone.id });
      effects.push(...putVoice(id, { ...known, contact_id }));
      if (contact_id !== null && contact !== null)
        effects.push(
          putContact(contact_id, { ...contact, updated_at_ms: facts.now_ms }),
          updated(facts.self, contact_id, ['voice']),
        );
      return { reply: DONE, next: { ...state, voices: dropped.voices }, effects };
    },
  },

  /** Forgets a contact's voice, so that it is not recognised until a voice is learned again. */
  delete_voice: {
    records: ({ contact_id }: { contact_id: string }) => [
      contactRecord(contact_id),
      { collection: voicesOf(contact_id), range: { limit: LIMITS.voices_per_contact_max } },
    ],
    decide(state, { contact_id }: { contact_id: string }, facts): Decision<Contacts, typeof DONE> {
      const contact = facts.record<Contact>('contacts', contact_id);
      if (state === null || contact === undefined) return { reply: NO_CONTACT };
      const rows = facts.range<Voice>(voicesOf(contact_id));
      if (!rows.some(({ value }) => value.removed_at_ms === undefined)) return { reply: DONE };
      const dropped = dropVoices(state.voices, rows, facts);
      return {
        reply: DONE,
        next: { ...state, voices: dropped.voices },
        effects: [
          ...dropped.effects,
          { effect: 'delete_collection', collection: voicesOf(contact_id) },
          putContact(contact_id, { ...contact, updated_at_ms: facts.now_ms }),
          updated(facts.self, contact_id, ['voice']),
        ],
      };
    },
  },

  /** The voices of a workspace that may be recognised, those heard last: of contacts, and without one. */
  voices: {
    records: ({ workspace_id }: { workspace_id: string }) =>
      bothOf(workspace_id, { descending: true, limit: VOICES_TOLD_MAX }),
    decide(_, { workspace_id }: { workspace_id: string }, facts) {
      const rows = [knownIn(workspace_id), heardIn(workspace_id)].flatMap((name) => facts.range<Voice>(name));
      const voices = rows.map(({ id, value: { contact_id, model } }) => ({ id, contact_id, model }));
      return { reply: { voices } };
    },
  },

  embeddings: {
    records: ({ ids }: { ids: string[] }) => ids.map((id) => ({ collection: 'embeddings', id })),
    decide(_, { ids }: { ids: string[] }, facts) {
      const found = ids.flatMap((id): [string, Uint8Array][] => {
        const embedding = facts.record<Uint8Array>('embeddings', id);
        return embedding === undefined ? [] : [[id, embedding]];
      });
      return { reply: { embeddings: Object.fromEntries(found) } };
    },
  },

  /**
   * Removes the voices of a workspace that were not matched since the cutoff, without events; contacts stay. Rule
   * I-020.
   */
  expire_voices: {
    records: ({ workspace_id }: ExpireVoices) => bothOf(workspace_id, { limit: STEP + 1 }),
    decide(state, { workspace_id, sweep_id, before_ms, library_id }: ExpireVoices, facts): Decision<Contacts, Expired> {
      if (state === null) return { reply: { removed: 0, left: false } };
      const { old, oldest_ms } = oldVoices(workspace_id, before_ms, facts);
      const gone = takeOut(state, { workspace_id, rows: old, oldest_ms }, facts);
      for (const { id, value } of old)
        if (value.contact_id !== null)
          gone.effects.push(putOwnVoice(value.contact_id, id, { ...value, removed_at_ms: facts.now_ms }));
      const swept: Swept = { type: 'swept', sweep_id, bucket: 'voice', count: old.length };
      if (old.length > 0)
        gone.effects.push({ effect: 'notify', to: { kind: 'library', id: library_id }, message: swept });
      const left = oldest_ms !== null && isBefore(oldest_ms, before_ms);
      return { reply: { removed: old.length, left }, next: gone.next, effects: gone.effects };
    },
  },

  /** Removes the voices of a deleted workspace; repeated while `left` is true. */
  forget_voices: {
    records: ({ workspace_id }: { workspace_id: string }) => bothOf(workspace_id, { limit: STEP + 1 }),
    decide(state, { workspace_id }: { workspace_id: string }, facts): Decision<Contacts, { left: boolean }> {
      if (state?.voices[workspace_id] === undefined) return { reply: { left: false } };
      const { old, oldest_ms } = oldVoices(workspace_id, null, facts);
      const { next, effects } = takeOut(state, { workspace_id, rows: old, oldest_ms }, facts);
      for (const { id, value } of old)
        if (value.contact_id !== null)
          effects.push({ effect: 'delete_record', collection: voicesOf(value.contact_id), id });
      return { reply: { left: oldest_ms !== null }, next, effects };
    },
  },
});

type LearntVoice = {
  workspace_id: string;
  stream_id: string;
  speaker: number;
  model: string;
  embedding: Uint8Array;
};
/** `contact_id`: for a new contact without a name, if the voice has none. */
type MatchedVoice = { workspace_id: string; voice_id: string; contact_id: string };
type NamedVoice = { workspace_id: string; stream_id: string; speaker: number; contact_id: string | null };
type ExpireVoices = Expire & { workspace_id: string };

/** The id of the voice learned from a speaker. */
function voiceOf({ stream_id, speaker }: { stream_id: string; speaker: number }): string {
  return voiceId(stream_id, speaker);
}

function voiceRecords(workspace_id: string, id: string): RecordQuery[] {
  return [
    { collection: knownIn(workspace_id), id },
    { collection: heardIn(workspace_id), id },
  ];
}

function voiceIn(workspace_id: string, id: string, facts: Facts): Voice | undefined {
  return facts.record<Voice>(knownIn(workspace_id), id) ?? facts.record<Voice>(heardIn(workspace_id), id);
}

function bothOf(workspace_id: string, range: { descending?: boolean; limit: number }): RecordQuery[] {
  return [
    { collection: knownIn(workspace_id), range },
    { collection: heardIn(workspace_id), range },
  ];
}

/** Removes the entries of a voice from its contact, or from the voices without one. */
function takeFrom({ workspace_id, contact_id }: Voice, { id, self }: { id: string; self: string }): Effect[] {
  if (contact_id === null) return [{ effect: 'delete_record', collection: heardIn(workspace_id), id }];
  return [
    { effect: 'delete_record', collection: knownIn(workspace_id), id },
    { effect: 'delete_record', collection: voicesOf(contact_id), id },
    updated(self, contact_id, ['voice']),
  ];
}

/** The voices whose clock is before the cutoff, as many as one commit takes, and the clock of the oldest that stays. */
function oldVoices(
  workspace_id: string,
  before_ms: number | null,
  facts: Facts,
): { old: VoiceRow[]; oldest_ms: number | null } {
  const old: VoiceRow[] = [];
  const staying: number[] = [];
  for (const name of [knownIn(workspace_id), heardIn(workspace_id)]) {
    const rows = facts.range<Voice>(name);
    const due = rows.filter(({ order }) => isBefore(order, before_ms)).slice(0, STEP);
    old.push(...due);
    const next = rows[due.length];
    if (next !== undefined) staying.push(next.order);
  }
  return { old, oldest_ms: staying.length === 0 ? null : Math.min(...staying) };
}

/** Removes voices of a workspace, and moves the workspace on the due list to its oldest voice. */
function takeOut(
  state: Contacts,
  { workspace_id, rows, oldest_ms }: { workspace_id: string; rows: VoiceRow[]; oldest_ms: number | null },
  facts: Facts,
): { next: Contacts; effects: Effect[] } {
  const effects = rows.flatMap(({ id, value }) => dropVoice(id, value));
  const counted = countVoices(state.voices, { workspace_id, by: -rows.length }, facts);
  const place = { owner: facts.self, index: dueIndex('voices', workspace_id), member: facts.self };
  effects.push(
    oldest_ms === null
      ? { effect: 'remove_from_index', ...place }
      : { effect: 'add_to_index', ...place, order: oldest_ms },
  );
  return { next: { ...state, voices: counted.voices }, effects };
}
