import { createHash } from 'node:crypto';
import type { Span, Suggestion } from '../../../../actors/insights/library_state.js';
import type { Principal } from '../../../access/principal.js';
import { libraryId } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import { writableStream } from '../../recordings/stream_access.js';
import type { FeatureServices } from '../../services.js';
import { defaultNumberOf } from '../../transcripts/pipeline_access.js';
import type { SuggestionView } from '../library/insight_shapes.js';
import { InsightReader } from './insight_reader.js';
import { type DueEdit, dueOf, type RolesEdit, requireOneDue, rolesOf } from './suggestion_fields.js';
import { userTextStems } from './user_text_stems.js';

/** Adds suggestions by hand. Rule K-320; docs/choices.md, "Insights". */

const NO_RECORDING = refuse('BAD_REQUEST', 'at_ms needs stream_id.', {
  details: [{ path: 'at_ms', message: 'must be absent without stream_id' }],
});

/** `ref`: the caller's own name for it, by which a repetition is known. `at_ms`: on the recording's timeline. */
export type NewSuggestion = DueEdit & {
  ref?: string | undefined;
  text: string;
  kind: Suggestion['kind'];
  roles?: RolesEdit | undefined;
  stream_id?: string | undefined;
  at_ms?: number | undefined;
};

/** Adds a suggestion to the recording's workspace, or to the private one where no recording is named. */
export async function createSuggestion(
  services: Pick<FeatureServices, 'actors' | 'keys' | 'runtime'>,
  who: Principal,
  { ref = undefined, ...asked }: NewSuggestion,
): Promise<SuggestionView> {
  const { text, kind, due_at, due_date, stream_id, at_ms } = asked;
  if (at_ms !== undefined && stream_id === undefined) throw new Refused(NO_RECORDING);
  requireOneDue({ due_at, due_date });
  const { account_id } = who;
  const reading = new InsightReader(services, who);
  const roles = await rolesOf(reading, who, asked.roles);
  const { workspace_id, evidence } = await placeOf(services, who, { stream_id, at_ms });
  const due = await dueOf(services, { account_id, stream_id }, { due_at, due_date });
  const library_id = libraryId(account_id, workspace_id);
  const created = await services.actors.library(library_id).create_suggestion(
    {
      ...{ account_id, workspace_id, kind, text, evidence },
      ref: ref ?? null,
      digest: createHash('sha256').update(JSON.stringify(asked)).digest('base64url'),
      stems: await userTextStems(services, who, text),
      pipeline: await defaultNumberOf(services, account_id),
      due_at_ms: due.due_at_ms ?? null,
      due_date: due.due_date ?? null,
      roles: { owner_contact_id: null, requester_contact_id: null, ...roles },
    },
    who.fences,
  );
  return reading.suggestion({ place: { library_id, account_id, workspace_id }, ...created });
}

async function placeOf(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { stream_id, at_ms = 0 }: Pick<NewSuggestion, 'stream_id' | 'at_ms'>,
): Promise<{ workspace_id: string; evidence: Span[] }> {
  if (stream_id === undefined) return { workspace_id: who.account.private_workspace.id, evidence: [] };
  const { workspace_id, source_id } = await writableStream(services, who, stream_id);
  return { workspace_id, evidence: [{ stream_id, source_id, start_ms: at_ms, end_ms: at_ms }] };
}
