import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';

/** This browser is one source of the account: what it records belongs together. */

const KEY = 'spool.source';

export async function browserSource(account_id: string): Promise<string> {
  const key = `${KEY}.${account_id}`;
  const known = localStorage.getItem(key);
  if (known !== null && (await isThere(known))) return known;
  const { id } = await api('POST /sources', { body: { name: browserName() } });
  localStorage.setItem(key, id);
  return id;
}

async function isThere(id: string): Promise<boolean> {
  try {
    await api('GET /sources/{id}', { path: { id } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['iPhone', 'an iPhone'],
  ['iPad', 'an iPad'],
  ['Android', 'Android'],
  ['Macintosh', 'a Mac'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;

function browserName(): string {
  const named = (rows: readonly (readonly [string, string])[]) =>
    rows.find(([sign]) => navigator.userAgent.includes(sign))?.[1];
  const [browser = 'Browser', system] = [named(BROWSERS), named(SYSTEMS)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
