import { api } from '../api/api.js';
import { browserZone, profile_zone } from '../language/formats.js';
import { may } from './account.js';

/** Shows times in the account's zone, and sets that to the browser's where none is set. */
export async function keepTimeZone(): Promise<void> {
  profile_zone.value = null;
  if (!may('profile:read') || !may('profile:write')) return;
  try {
    const { revision, time_zone } = await api('GET /profile');
    profile_zone.value = time_zone;
    if (time_zone !== null) return;
    await api('PATCH /profile', { body: { revision, time_zone: browserZone() } });
  } catch {
    // The next page tries again; nothing here waits for it.
  }
}
