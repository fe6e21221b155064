import { defaultPipeline } from '../../../../actors/insights/context.js';
import type { Principal } from '../../../access/principal.js';
import type { FeatureServices } from '../../services.js';
import { stemsOf } from '../engines/stems.js';

/** The stems of a person's text, for comparison with results of runs, in the language of the account's transcripts. */
export async function userTextStems<Text extends string | undefined>(
  { actors, keys }: Pick<FeatureServices, 'actors' | 'keys'>,
  { account_id }: Principal,
  text: Text,
): Promise<Text extends string ? string[] : undefined> {
  type Stems = Text extends string ? string[] : undefined;
  if (text === undefined) return undefined as Stems;
  const context = await actors.context(account_id).view();
  const language = defaultPipeline(context).transcription.language ?? context.profile.languages[0] ?? null;
  return stemsOf(keys, text, language) as Stems;
}
