import { LIMITS } from '../../src/domain/limits.js';
import { mayWithdraw } from '../../src/domain/suggestions.js';
import { textKey } from './item_records.js';
import { overlap, sharedMs } from './library_spans.js';
import type {
  CheckedInsights,
  InsightTally,
  Memory,
  MemoryOp,
  RoleSpeakers,
  Roles,
  Span,
  Suggestion,
  SuggestionOp,
  Suppressed,
} from './library_state.js';

const SUGGESTIONS_PER_CONVERSATION_MAX = 200; // ours: of all runs together
const MEMORIES_PER_CONVERSATION_MAX = 100; // ours: of all runs together

/** The stored items with which a result is merged. */
export type KnownInsights = {
  /** The conversation of the result: its number, pipeline and spans. */
  of: { conversation: number; pipeline_id: string | null; parts: Span[] };
  /** The suggestions of that conversation, and others that the result names, by number. */
  suggestions: ReadonlyMap<number, Suggestion>;
  /** The memories of that conversation, those that the result names, and those with the stems of one of its texts. */
  memories: ReadonlyMap<number, Memory>;
  /** Active memories by `textKey`. */
  texts: ReadonlyMap<string, number>;
  /** The items that people dismissed or deleted, on the streams of the result. */
  suppressed: readonly (Suppressed & { stream_id: string })[];
};

const NO_ROLES: Roles = { owner_contact_id: null, requester_contact_id: null };
/** The fields by which a person fixes when a suggestion is due. */
const DUE_FIELDS: ReadonlySet<string> = new Set(['due_at', 'due_date']);
const NOBODY: RoleSpeakers = { owner: null, requester: null };

type NewSuggestion = Extract<SuggestionOp, { op: 'new' }>;
type NewMemory = Extract<MemoryOp, { op: 'new' }>;
export type ItemChange<Item> = { number: number; fields: Partial<Item>; changed_fields: string[] };

/** The outcome of a merge: new items, which the writer numbers, and changes of known ones. */
export type MergedInsights = {
  suggestions: {
    created: NewSuggestion[];
    changed: ItemChange<Suggestion>[];
    /** Changes without an event: a speaker without a contact is the owner now, or the text was heard in other words. */
    unseen: { number: number; fields: Partial<Suggestion> }[];
  };
  /** `supersedes`: the memory that a new one replaces. */
  memories: { created: NewMemory[]; changed: ItemChange<Memory>[]; removed: number[] };
  tally: InsightTally;
};

const SUGGESTION_FIELDS = {
  kind: 'kind',
  text: 'text',
  status: 'status',
  due_at: 'due_at_ms',
  due_date: 'due_date',
  roles: 'roles',
  evidence: 'evidence',
} as const satisfies Record<string, keyof Suggestion>;
const MEMORY_FIELDS = { kind: 'kind', text: 'text', evidence: 'evidence' } as const satisfies Record<
  string,
  keyof Memory
>;

/**
 * Merges a result with the stored items. Fields that a person set are never changed. Items that a person deleted,
 * dismissed or changed are neither made again nor withdrawn. Rules K-076, K-077 and K-080; docs/areas.md, "Insights".
 */
export function mergeInsights(known: KnownInsights, result: CheckedInsights): MergedInsights {
  const dropped: Dropped = { unsupported: result.unsupported, duplicate: 0, protected: 0, ...result.left_out };
  const suggestions = mergeSuggestions(known, result.suggestions, dropped);
  const memories = mergeMemories(known, result.memories, dropped);
  const tally: InsightTally = {
    suggestions: suggestions.created.length + suggestions.revised,
    memories: memories.created.length + memories.changed.length,
    withdrawn: suggestions.withdrawn + memories.withdrawn,
    dropped,
  };
  return { suggestions, memories, tally };
}

type Dropped = InsightTally['dropped'];

function mergeSuggestions(known: KnownInsights, ops: readonly SuggestionOp[], dropped: Dropped) {
  const after = new Map(known.suggestions);
  const created: NewSuggestion[] = [];
  let withdrawn = 0;
  const of_conversation = [...known.suggestions.values()].filter((one) => isOwn(known, one));
  const room = SUGGESTIONS_PER_CONVERSATION_MAX - of_conversation.length;
  const taken_back = new Set(ops.flatMap((op) => (op.op === 'withdraw' ? [op.number] : [])));
  // Something new is compared with what the others are after this result, and not with their former words.
  for (const op of newLast(ops.map((one) => replacing(one, { known, taken_back })))) {
    if (op.op === 'new') {
      const is_known = [...after.values()].some((one) => isOwn(known, one) && !isWithdrawn(one) && isSame(op, one));
      if (isSuppressed(known, 'suggestion', op)) dropped.protected += 1;
      else if (is_known || created.some((one) => isSame(op, one))) dropped.duplicate += 1;
      else if (created.length >= room) dropped.too_many = (dropped.too_many ?? 0) + 1;
      else created.push({ ...op, evidence: op.evidence.slice(0, LIMITS.evidence_spans_max) });
      continue;
    }
    const was = after.get(op.number);
    if (was === undefined || !isOwn(known, was)) {
      dropped.unsupported += 1;
      continue;
    }
    if (op.op === 'withdraw') {
      if (!taken_back.has(op.number)) continue;
      if (mayWithdraw(was)) {
        after.set(op.number, { ...was, status: 'withdrawn' });
        withdrawn += 1;
      } else if (was.touched) dropped.protected += 1;
      continue;
    }
    const { fields, is_protected } = revisionOf(was, op);
    if (is_protected) dropped.protected += 1;
    after.set(op.number, { ...was, ...fields });
  }
  const changed = changesOf(known.suggestions, after, SUGGESTION_FIELDS);
  const revised = changed.filter(({ fields }) => fields.status === undefined).length;
  const unseen = [...after].flatMap(([number, is]) => {
    const was = known.suggestions.get(number);
    const is_same = is.role_speakers === was?.role_speakers && is.made_stems === was?.made_stems;
    return is_same || changed.some((one) => one.number === number) ? [] : [{ number, fields: is }];
  });
  return { created, changed, unseen, revised, withdrawn };
}

/**
 * Finds a suggestion that a result withdraws and makes again in nearly the same words; it is rephrased and keeps its
 * number.
 */
function replacing(
  op: SuggestionOp,
  { known, taken_back }: { known: KnownInsights; taken_back: Set<number> },
): SuggestionOp {
  if (op.op !== 'new') return op;
  const same = [...known.suggestions].find(
    ([number, one]) => taken_back.has(number) && isOwn(known, one) && mayWithdraw(one) && isSame(op, one),
  );
  if (same === undefined) return op;
  const [number] = same;
  taken_back.delete(number);
  const { kind, text, stems, due_at_ms, due_date, roles, role_speakers, evidence } = op;
  return { op: 'revise', number, kind, text, stems, due_at_ms, due_date, roles, role_speakers, evidence };
}

/** Merges field by field; fields that a person set stay. */
function revisionOf(
  was: Suggestion,
  revision: Extract<SuggestionOp, { op: 'revise' }>,
): { fields: Partial<Suggestion>; is_protected: boolean } {
  const { kind, text, stems, due_at_ms, due_date = null, evidence } = revision;
  const fields: Partial<Suggestion> = {};
  let is_protected = false;
  if (kind !== undefined && kind !== was.kind) {
    if (was.protected_fields.includes('kind')) is_protected = true;
    else fields.kind = kind;
  }
  if (text !== undefined && text !== was.text) {
    if (was.protected_fields.includes('text')) {
      is_protected = true;
      if (stems !== undefined && isOther(stems, was.made_stems)) fields.made_stems = stems;
    } else Object.assign(fields, { text, stems: stems ?? [] });
  }
  if (due_at_ms !== undefined && (due_at_ms !== was.due_at_ms || due_date !== was.due_date)) {
    // Day and time are one choice.
    if (was.protected_fields.some((field) => DUE_FIELDS.has(field))) is_protected = true;
    else Object.assign(fields, { due_at_ms, due_date });
  }
  const { roles, role_speakers } = rolesAfter(was, revision);
  if (isOther(roles, was.roles) || isOther(role_speakers, was.role_speakers)) {
    if (!was.protected_fields.includes('roles')) Object.assign(fields, { roles, role_speakers });
    else is_protected ||= isOther(roles, was.roles);
  }
  if (evidence.length > 0) fields.evidence = evidence.slice(0, LIMITS.evidence_spans_max);
  return { fields, is_protected };
}

/** Merges roles; a role for which the result names nobody stays. */
function rolesAfter(
  { roles: were, role_speakers: spoke }: Suggestion,
  { roles = NO_ROLES, role_speakers = NOBODY }: Extract<SuggestionOp, { op: 'revise' }>,
): Pick<Suggestion, 'roles' | 'role_speakers'> {
  const has_owner = roles.owner_contact_id !== null || role_speakers.owner !== null;
  const has_requester = roles.requester_contact_id !== null || role_speakers.requester !== null;
  if (!has_owner && !has_requester) return { roles: were, role_speakers: spoke };
  return {
    roles: {
      owner_contact_id: (has_owner ? roles : were).owner_contact_id,
      requester_contact_id: (has_requester ? roles : were).requester_contact_id,
    },
    role_speakers: {
      owner: has_owner ? role_speakers.owner : spoke.owner,
      requester: has_requester ? role_speakers.requester : spoke.requester,
    },
  };
}

function isOther(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}

function mergeMemories(known: KnownInsights, ops: readonly MemoryOp[], dropped: Dropped) {
  const { of, texts } = known;
  const after = new Map(known.memories);
  const created: NewMemory[] = [];
  const removed: number[] = [];
  let withdrawn = 0;
  const of_conversation = [...known.memories.values()].filter(({ evidence }) => overlap(evidence, of.parts));
  const room = MEMORIES_PER_CONVERSATION_MAX - of_conversation.length;
  for (const op of newLast(ops)) {
    if (op.op === 'new') {
      const equal = texts.get(textKey(of.pipeline_id, op.stems));
      const was = equal === undefined ? undefined : after.get(equal);
      if (equal !== undefined && was !== undefined && isActive(was) && sameStems(was.stems, op.stems)) {
        const evidence = withEvidence(was.evidence, op.evidence);
        if (was.protected || evidence.length === was.evidence.length) dropped.duplicate += 1;
        else after.set(equal, { ...was, evidence });
      } else if (isSuppressed(known, 'memory', op)) dropped.protected += 1;
      else if (
        [...after.values()].some(
          (one) => isOwnMemory(known, one) && overlap(one.evidence, of.parts) && isSame(op, one),
        ) ||
        created.some((one) => isSame(op, one))
      )
        dropped.duplicate += 1;
      else if (created.length >= room) dropped.too_many = (dropped.too_many ?? 0) + 1;
      else {
        const { supersedes, ...body } = op;
        const memory = { ...body, evidence: op.evidence.slice(0, LIMITS.evidence_spans_max) };
        const old = supersedes === undefined ? undefined : after.get(supersedes);
        const gives_way = old !== undefined && isOwnMemory(known, old) && isActive(old) && !old.protected;
        const is_first = !created.some((one) => one.supersedes === supersedes);
        // What a person has set stays beside what contradicts it.
        created.push(gives_way && is_first && supersedes !== undefined ? { ...memory, supersedes } : memory);
      }
      continue;
    }
    const was = after.get(op.number);
    if (was === undefined || !isOwnMemory(known, was) || !isActive(was)) {
      dropped.unsupported += 1;
      continue;
    }
    if (was.protected) {
      dropped.protected += 1;
      continue;
    }
    if (op.op === 'revise') {
      const evidence = withEvidence(elsewhere(was.evidence, of.parts), op.evidence);
      const text = op.text === undefined ? {} : { text: op.text, stems: op.stems ?? [] };
      after.set(op.number, { ...was, ...text, kind: op.kind ?? was.kind, evidence });
      continue;
    }
    withdrawn += 1;
    const evidence = elsewhere(was.evidence, of.parts);
    if (evidence.length > 0) after.set(op.number, { ...was, evidence });
    else {
      after.delete(op.number);
      removed.push(op.number);
    }
  }
  const gone = new Set([...removed, ...created.flatMap(({ supersedes }) => supersedes ?? [])]);
  const changed = changesOf(known.memories, after, MEMORY_FIELDS).filter(({ number }) => !gone.has(number));
  // A memory that was withdrawn later has nothing to give way.
  const standing = created.map(
    ({ supersedes, ...body }): NewMemory =>
      supersedes === undefined || removed.includes(supersedes) ? body : { ...body, supersedes },
  );
  return { created: standing, changed, removed, withdrawn };
}

/** The names of the fields whose values changed, as callers see them. */
function changesOf<Item extends object>(
  before: ReadonlyMap<number, Item>,
  after: ReadonlyMap<number, Item>,
  names: Record<string, keyof Item>,
): ItemChange<Item>[] {
  return [...after].flatMap(([number, is]) => {
    const was = before.get(number);
    if (was === undefined || was === is) return [];
    const changed_fields = Object.entries(names)
      .filter(([, name]) => JSON.stringify(was[name] ?? null) !== JSON.stringify(is[name] ?? null))
      .map(([shown]) => shown)
      .sort();
    if (changed_fields.length === 0) return [];
    const fields = Object.fromEntries(
      Object.entries(is).filter(([name, value]) => (was as Record<string, unknown>)[name] !== value),
    );
    return [{ number, fields: fields as Partial<Item>, changed_fields }];
  });
}

function newLast<Op extends { op: string }>(ops: readonly Op[]): Op[] {
  return [...ops.filter(({ op }) => op !== 'new'), ...ops.filter(({ op }) => op === 'new')];
}

function isOwn({ of }: KnownInsights, { conversation, pipeline_id }: Suggestion): boolean {
  return conversation === of.conversation && pipeline_id === of.pipeline_id;
}

function isOwnMemory({ of }: KnownInsights, { pipeline_id }: Memory): boolean {
  return pipeline_id === of.pipeline_id;
}

function isActive({ state }: Memory): boolean {
  return state === 'active';
}

/** Whether a run withdrew the suggestion itself, so that a run may make it again. */
function isWithdrawn({ status, touched }: Suggestion): boolean {
  return status === 'withdrawn' && !touched;
}

type FoundEvidence = { stems: readonly string[]; evidence: readonly Span[] };

/**
 * Whether two suggestions are the same, in the same place. One that a person rephrased is also known by its former
 * words.
 */
function isSame(found: FoundEvidence, one: FoundEvidence & { made_stems?: readonly string[] }): boolean {
  if (!overlap(found.evidence, one.evidence)) return false;
  return (
    sharesStems(found.stems, one.stems) || (one.made_stems !== undefined && sharesStems(found.stems, one.made_stems))
  );
}

function isSuppressed({ suppressed, of }: KnownInsights, kind: 'memory' | 'suggestion', found: FoundEvidence): boolean {
  return suppressed.some(
    (one) =>
      one.kind === kind &&
      one.pipeline_id === of.pipeline_id &&
      found.evidence.some((span) => sharedMs(span, one) > 0) &&
      sharesStems(found.stems, one.stems),
  );
}

function sharesStems(found: readonly string[], others: readonly string[]): boolean {
  const own = new Set(found);
  if (own.size === 0) return others.length === 0;
  const known = new Set(others);
  return [...own].filter((stem) => known.has(stem)).length >= LIMITS.same_stems_min * own.size;
}

function sameStems(some: readonly string[], others: readonly string[]): boolean {
  const [one, other] = [new Set(some), new Set(others)];
  return one.size === other.size && [...one].every((stem) => other.has(stem));
}

/** Adds evidence that the item does not have yet, up to the bound. */
function withEvidence(known: readonly Span[], more: readonly Span[]): Span[] {
  const fresh = more.filter((span) => !known.some((one) => sharedMs(one, span) > 0));
  return [...known, ...fresh].slice(0, LIMITS.evidence_spans_max);
}

/** Evidence outside a conversation. */
function elsewhere(evidence: readonly Span[], parts: readonly Span[]): Span[] {
  return evidence.filter((span) => !parts.some((part) => sharedMs(part, span) > 0));
}
