import type { Device, Source } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { ApiError } from '../../api/api_error.js';
import type { Page } from '../../api/loading.js';
import { say } from '../../language/say.js';

/** A device by the name of the source that it records into: devices have none of their own. */
export type NamedDevice = Device & { source_id: string | null; name: string | null };

export const KIND_WORDS = { personal: 'Personal', shared: 'Shared' } as const satisfies Record<Device['kind'], string>;

const DEVICES_PER_PAGE = 25;
const SOURCES_PER_PAGE = 100;
const SOURCE_PAGES_MAX = 10; // an account has at most 1,000

export function nameOf({ name, kind }: Pick<NamedDevice, 'name' | 'kind'>): string {
  return name ?? (kind === 'personal' ? say('Personal recorder') : say('Shared recorder'));
}

export async function devicesPage(cursor: string | undefined): Promise<Page<NamedDevice>> {
  const page = await api('GET /devices', { query: { limit: DEVICES_PER_PAGE, cursor } });
  const sources = await sourcesOf(page.items.map(({ id }) => id));
  const items = page.items.map((device) => {
    const source = sources.get(device.id);
    return { ...device, source_id: source?.id ?? null, name: source?.name ?? null };
  });
  return { items, cursor: page.cursor };
}

/** Sources by device. None where the account may not read recordings: then devices just have no names. */
async function sourcesOf(device_ids: readonly string[]): Promise<Map<string, Source>> {
  const found = new Map<string, Source>();
  const isWhole = () => device_ids.every((id) => found.has(id));
  try {
    for (let cursor: string | undefined, n = 0; n < SOURCE_PAGES_MAX && !isWhole(); n++) {
      const page = await api('GET /sources', { query: { limit: SOURCES_PER_PAGE, cursor } });
      for (const source of page.items) if (source.device_id !== null) found.set(source.device_id, source);
      if (page.cursor === null) break;
      cursor = page.cursor;
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'FORBIDDEN')) throw error;
  }
  return found;
}
