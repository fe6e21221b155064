import { defaultPipeline } from '../../../actors/insights/context.js';
import type { Pipeline } from '../../../actors/insights/context_state.js';
import type { Principal } from '../../access/principal.js';
import { uuid } from '../../access/request_schemas.js';
import { ownerOfPipeline } from '../../domain/ids.js';
import { isEnabled } from '../../domain/permissions.js';
import { Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';

/**
 * Who may do what with an account's pipelines beside the default one: with developer access only, and then with any of
 * the rights that interface and notes name. Rule C-114; docs/choices.md, "Pipelines and profile".
 */

export const NO_PIPELINE = refuse('NOT_FOUND', 'There is no such pipeline.');
const DEFAULT_ONLY = refuse(
  'FORBIDDEN',
  'Selecting another pipeline than the default one needs developer access, and pipelines:read, pipelines:experimental, or what recall needs.',
);

export function isDeveloper({ account }: Principal): boolean {
  return isEnabled(account.entitlements, 'developer.tools');
}

/** Whether it sees pipelines beside the default one, and may ask for what they made. */
export function selectsPipelines(who: Principal): boolean {
  const { permissions, recalls } = who;
  const may = permissions.includes('pipelines:read') || permissions.includes('pipelines:experimental') || recalls;
  return may && isDeveloper(who);
}

/** A pipeline of the caller's own account, whatever the caller may do with it. */
export async function ownPipeline(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Pick<Principal, 'account_id'>,
  pipeline_id: string,
): Promise<Pipeline> {
  const place = ownerOfPipeline(pipeline_id);
  if (place === null || place.account_id !== account_id) throw new Refused(NO_PIPELINE);
  const context = await actors.context(account_id).view();
  return context.pipelines.find(({ number }) => number === place.number) ?? throwRefusal(NO_PIPELINE);
}

/** `pipeline_id` in requests that read what pipelines made. */
export const selectedPipeline = uuid
  .optional()
  .describe('What another pipeline than the default one has made, for accounts with developer access.');

/** The pipeline whose output is read: its id, or null for the default one. */
export async function selectPipeline(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  pipeline_id: string | undefined,
): Promise<string | null> {
  if (pipeline_id === undefined) return null;
  const pipeline = await ownPipeline(services, who, pipeline_id);
  if (pipeline.default) return null;
  return selectsPipelines(who) ? pipeline_id : throwRefusal(DEFAULT_ONLY);
}

/** The number of the pipeline that made what names none. */
export async function defaultNumberOf(
  { actors }: Pick<FeatureServices, 'actors'>,
  account_id: string,
): Promise<number> {
  const context = await actors.context(account_id).view();
  return defaultPipeline(context).number;
}
