import type { ItemKind, Items } from '../../../../actors/insights/library_state.js';
import { type Page, type PageQuery, pageOfAll } from '../../../access/cursors.js';
import { LIMITS } from '../../../domain/limits.js';
import type { FeatureServices } from '../../services.js';
import type { RevisionView } from '../library/insight_shapes.js';
import type { FoundItem } from './insight_access.js';
import type { InsightReader } from './insight_reader.js';

/** Lists the revisions of an item, the newest first, on one page. */
export async function itemRevisions<Kind extends ItemKind, View>(
  { actors }: Pick<FeatureServices, 'actors'>,
  query: PageQuery & { kind: Kind; found: FoundItem<Kind>; reading: InsightReader },
  viewOf: (was: FoundItem<Kind>) => Promise<View>,
): Promise<Page<RevisionView<View>>> {
  const { kind, found, reading, limit, cursor } = query;
  const { place, number, is_forgotten = false } = found;
  if (is_forgotten) return { items: [], cursor: null };
  const range = { descending: true, limit: LIMITS.revisions_kept_max };
  const listed = await actors.library(place.library_id).revisions({ kind, number, range });
  const page = pageOfAll(listed.revisions, { idOf: ({ revision }) => String(revision), limit, cursor });
  const items: RevisionView<View>[] = [];
  for (const { revision, at_ms, by, changed_fields, item } of page.rows) {
    const was = await reading.standing<Kind, FoundItem<Kind>>(kind, { place, number, item: item as Items[Kind] });
    // It may have rested on other speech than the item does now.
    if (was === null || was.is_forgotten === true) continue;
    const view = await viewOf(was);
    items.push({ revision, replaced_at: new Date(at_ms).toISOString(), replaced_by: by, changed_fields, item: view });
  }
  return { items, cursor: page.cursor };
}
