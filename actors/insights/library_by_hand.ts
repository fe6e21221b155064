import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { keptPipeline } from './context_state.js';
import { itemIn, itemRecord, type LibraryOwner } from './item_records.js';
import { begin, Writing } from './library_items.js';
import { HAND_REFS, type HandRef, type Library, type Suggestion } from './library_state.js';

/** Suggestions that a person adds by hand. No run finds, changes or withdraws them. */

const SET_BY_HAND = ['due_at', 'due_date', 'kind', 'roles', 'text'];
const TOO_MANY = refuse(
  'CONFLICT',
  `At most ${LIMITS.suggestions_by_hand_max} suggestions are added by hand in one workspace. Delete some first.`,
);
const OTHER_CONTENT = refuse('CONFLICT', 'Another suggestion was added under this ref.', {
  details: [{ path: 'ref', message: 'must be another one, since something else was added under it' }],
});

/** `ref`: the caller's own name for it, null for none. `digest`: of what is asked. `pipeline`: the default one's number. */
type AddedSuggestion = LibraryOwner &
  Pick<Suggestion, 'kind' | 'text' | 'stems' | 'due_at_ms' | 'due_date' | 'roles' | 'evidence'> & {
    ref: string | null;
    digest: string;
    pipeline?: number;
  };

export const handMessages = messagesOf<Library>()({
  /** Adds a suggestion; makes the library where there is none. The same ref again gets the same suggestion. */
  create_suggestion: {
    records: ({ ref }: AddedSuggestion) => (ref === null ? [] : [{ collection: HAND_REFS, id: ref }]),
    further: ({ ref }: AddedSuggestion, _state, read: Read): RecordQuery[] => {
      const before = addedUnder(ref, read);
      return before === undefined ? [] : [itemRecord('suggestion', before.number)];
    },
    decide(state, asked: AddedSuggestion, facts): Decision<Library, { number: number; item: Suggestion }> {
      const { account_id, workspace_id, ref, digest } = asked;
      const before = addedBefore(asked, facts);
      if (before !== null) return { reply: before };
      if ((state?.insights?.by_hand ?? 0) >= LIMITS.suggestions_by_hand_max) return { reply: TOO_MANY };
      // From here on it succeeds.
      const place = { account_id, workspace_id };
      const { library, effects } = state === null ? begin(place, facts) : { library: state, effects: [] };
      const writing = new Writing(library, facts);
      writing.effects.push(...effects);
      const number = writing.give('suggestion');
      const item = newSuggestion(asked, facts.now_ms);
      writing.create('suggestion', number, item);
      if (ref !== null) writing.write(HAND_REFS, ref, { value: { number, digest } satisfies HandRef });
      const source_id = item.evidence[0]?.source_id;
      const data = { state_version: 1, ...(source_id === undefined ? {} : { source_id }) };
      writing.suggestionEvent('suggestion.created', number, { item, data });
      return writing.done({ number, item });
    },
  },
});

function addedUnder(ref: string | null, read: Pick<Read, 'record'>): HandRef | undefined {
  return ref === null ? undefined : read.record<HandRef>(HAND_REFS, ref);
}

/** The answer to a repetition; null for something new. */
function addedBefore(
  { ref, digest }: AddedSuggestion,
  read: Pick<Read, 'record'>,
): { number: number; item: Suggestion } | Refusal | null {
  const before = addedUnder(ref, read);
  const item = before === undefined ? undefined : itemIn(read, 'suggestion', before.number);
  if (before === undefined || item === undefined) return null;
  return before.digest === digest ? { number: before.number, item } : OTHER_CONTENT;
}

function newSuggestion(asked: AddedSuggestion, now_ms: number): Suggestion {
  const { ref, kind, text, stems, due_at_ms, due_date, roles, evidence, pipeline } = asked;
  return {
    ...{ kind, text, stems, due_at_ms, due_date, roles, evidence },
    ...(ref !== null && { ref }),
    ...keptPipeline(pipeline),
    pipeline_id: null,
    session_id: null,
    revision: 1,
    protected_fields: SET_BY_HAND,
    created_at_ms: now_ms,
    updated_at_ms: now_ms,
    conversation: null,
    status: 'open',
    role_speakers: { owner: null, requester: null },
    group: null,
    review: null,
    feedback: { helpful: 0, not_helpful: 0, wrong: 0 },
    state_version: 1,
    touched: true,
    made_by: 'person',
  };
}
