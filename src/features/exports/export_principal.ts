import type { Account } from '../../../actors/accounts/account_state.js';
import type { Export } from '../../../actors/accounts/exports_state.js';
import { ownPrincipal, type Principal } from '../../access/principal.js';
import { type Entitlement, isEnabled, type Layer, permissionsOf } from '../../domain/permissions.js';

/** The principals that an export reads as. */
export type ExportReaders = {
  who: Principal;
  /** Has the rights of the account and no others. */
  plain: Principal;
};

const ALL_LAYERS = ['audio.access', 'transcripts.access', 'insights.access'] as const satisfies Layer[];

/**
 * The account itself, with developer access: data made from its recordings is its own, even if it may not read that
 * through the API. For staff, with all layers.
 */
export function exportReaders(account: Account, { by }: Pick<Export, 'by'>): ExportReaders {
  const switched: Entitlement[] = ['developer.tools', ...(by === 'staff' ? ALL_LAYERS : [])];
  const entitlements = { ...account.entitlements, ...Object.fromEntries(switched.map((name) => [name, true])) };
  return { who: principalOf({ ...account, entitlements }), plain: principalOf(account) };
}

/** The layers that the export has data of. */
export function layersOf({ who }: ExportReaders, { audio }: Pick<Export, 'audio'>): Layer[] {
  const held = ALL_LAYERS.filter((layer) => isEnabled(who.account.entitlements, layer));
  return audio ? held : held.filter((layer) => layer !== 'audio.access');
}

function principalOf(account: Account): Principal {
  return ownPrincipal(account, permissionsOf(account.entitlements));
}
