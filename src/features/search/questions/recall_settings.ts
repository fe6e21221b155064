import { z } from 'zod';
import { meaningOf } from '../../../../actors/accounts/account_meaning.js';
import type { Principal } from '../../../access/principal.js';
import type { FeatureServices } from '../../services.js';

/** How questions of an account are answered. Rule K-275. */

export const recallSettingsShape = z
  .strictObject({
    by_meaning: z
      .boolean()
      .describe(
        'Whether recall also finds what means the same in other words. Vectors of what was said are made for it.',
      ),
  })
  .meta({ id: 'RecallSettings' });

type RecallSettings = z.infer<typeof recallSettingsShape>;

export function recallSettings({ account }: Pick<Principal, 'account'>): RecallSettings {
  return { by_meaning: meaningOf(account).is_on };
}

/** Vectors of an account that wants none are removed in the background. */
export async function changeRecallSettings(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Pick<Principal, 'account_id' | 'fences'>,
  { by_meaning }: RecallSettings,
): Promise<RecallSettings> {
  const account = await actors.account(account_id).switch_meaning({ is_on: by_meaning }, fences);
  return recallSettings({ account });
}
