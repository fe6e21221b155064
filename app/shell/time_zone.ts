import { api } from '../api/api.js';
import { may } from './account.js';

/** Sets the account's time zone to that of this browser, where none is set. */
export async function keepTimeZone(): Promise<void> {
  if (!may('profile:read') || !may('profile:write')) return;
  try {
    const { revision, time_zone } = await api('GET /profile');
    if (time_zone !== null) return;
    await api('PATCH /profile', { body: { revision, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone } });
  } catch {
    // The next page tries again; nothing here waits for it.
  }
}
