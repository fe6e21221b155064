import t from 'tap';
import type { LibraryMessage } from '../../../actors/insights/library.js';
import type { Library, Suggestion } from '../../../actors/insights/library_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { ANN, OWN, PlayedLibrary, stemsIn, suggest } from '../../fixtures/library.js';

type Added = { number: number; item: Suggestion };

const add = (text: string, ref: string | null = null): LibraryMessage =>
  ({
    ...{ type: 'create_suggestion', account_id: ANN, workspace_id: OWN, ref, digest: text, kind: 'task', text },
    ...{ stems: stemsIn(text), due_at_ms: null, due_date: null, evidence: [] },
    roles: { owner_contact_id: null, requester_contact_id: null },
  }) as LibraryMessage;

t.test('K-321 an account adds so many by hand in a workspace; one that goes makes room', async (t) => {
  const played = new PlayedLibrary();
  const { number } = played.say<Added>(add('buy bread', 'a'));
  const { insights, ...library } = played.state as Library;
  played.state = { ...library, insights: { ...insights, by_hand: LIMITS.suggestions_by_hand_max } } as Library;
  t.equal(played.refusal(add('buy milk', 'b')), 'CONFLICT');
  t.equal(played.say<Added>(add('buy bread', 'a')).number, number, 'a repetition is no further one');
  t.equal(played.refusal(add('buy butter', 'a')), 'CONFLICT', 'other content under a ref');
  played.say({ type: 'delete', kind: 'suggestion', number });
  t.equal(played.state?.insights?.by_hand, LIMITS.suggestions_by_hand_max - 1);
  t.not(played.say<Added>(add('buy butter', 'a')).number, number, 'a ref goes with its suggestion');
});

t.test('K-320 what a run has made does not count, and a run changes none by hand', async (t) => {
  const played = new PlayedLibrary();
  const { number } = played.say<Added>(add('call them soon'));
  const before = played.suggestion(number);
  const wrong = { ...suggest('call them later', 0), op: 'revise', number } as ReturnType<typeof suggest>;
  played.make(0, 60_000, { suggestions: [wrong, { op: 'withdraw', number }, suggest('call them soon', 0)] });
  t.strictSame(played.suggestion(number), before);
  t.equal(played.state?.insights?.by_hand, 1);
});

t.test('K-076 a kind that a person set stays', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, 60_000, { suggestions: [suggest('call them soon', 0)] });
  played.say({ type: 'edit_suggestion', number: 1, state_version: 1, kind: 'question' });
  const again = { ...suggest('call them soon', 0), op: 'revise', number: 1 } as ReturnType<typeof suggest>;
  played.remake(0, 60_000, { suggestions: [again] });
  t.match(played.suggestion(1), { kind: 'question', protected_fields: ['kind'] });
});
