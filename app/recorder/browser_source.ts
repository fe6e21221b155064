import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { say } from '../language/say.js';

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
  ['iPhone', '{browser} on an iPhone'],
  ['iPad', '{browser} on an iPad'],
  ['Android', '{browser} on Android'],
  ['Macintosh', '{browser} on a Mac'],
  ['Windows', '{browser} on Windows'],
  ['Linux', '{browser} on Linux'],
] as const;

function browserName(): string {
  const isOf = ([sign]: readonly [string, string]) => navigator.userAgent.includes(sign);
  const browser = BROWSERS.find(isOf)?.[1] ?? say('Browser');
  const on = SYSTEMS.find(isOf)?.[1];
  return on === undefined ? browser : say(on, { browser });
}
