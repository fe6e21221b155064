/**
 * Server keys: what keyed hashes and sealed values rest on. A copy of Redis without them is worth nothing
 * (docs/areas.md, "Refresh tokens"). One file a key, numbered; the highest number is current, the older stay
 * readable. A key beside which a file `….introduced` lies is read but not written with yet: processes that run must
 * know it before any writes.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, link, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

const KEY_BYTES = 32;
const KEYS_MAX = 9_999;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_CHARS = 8;
/** Before each part of what is hashed. */
const LENGTH_BYTES = 4;
const SEAL_VERSION = 1;
const SEAL_HEADER_BYTES = 1 + KEY_ID_CHARS + NONCE_BYTES;
/** Purposes are words of the program, so more than this many is a bug: user input became a purpose. */
const PURPOSES_MAX = 256;
/** An unknown key id may be a key that another process added; the folder is looked at again this often at most. */
const REREAD_EVERY_MS = 1_000;

const FILE_NAME = /^server_key_(\d{4})\.key$/;
const MARK_NAME = /^server_key_(\d{4})\.introduced$/;
const FILE_TEXT = /^spool-server-key-1 ([0-9a-f]{8}) ([A-Za-z0-9_-]{43})\n$/;

/** A string counts as its UTF-8 bytes. */
export type HashPart = string | Uint8Array;

export interface KeyedHash {
  /** Eight hex digits; store it beside the mac. */
  key_id: string;
  /** HMAC-SHA256, 32 bytes. */
  mac: Uint8Array;
}

export interface ServerKeys {
  /** Id of the key that new hashes and seals are made with. */
  currentKeyId(): string;
  /** Ids of all keys that are known here, the newest last. Looks for new ones, every second at most. */
  keyIds(): string[];
  /** Looks at the folder now. */
  reread(): void;
  /** HMAC of purpose and parts under the current key. `('p', 'ab', 'c')` and `('p', 'a', 'bc')` differ. */
  keyedHash(purpose: string, ...parts: HashPart[]): KeyedHash;
  /** The mac under a given key, or null when no such key is known. */
  keyedHashWith(key_id: string, purpose: string, ...parts: HashPart[]): Uint8Array | null;
  /** AES-256-GCM under a key of this purpose; 37 bytes longer than the plaintext. Rotate before 2^32 seals. */
  seal(purpose: string, plaintext: Uint8Array): Uint8Array;
  /** The plaintext; null when the bytes were changed, are of another purpose, or their key is unknown. */
  unseal(purpose: string, sealed: Uint8Array): Uint8Array | null;
  /** 32 hex digits that name the oldest key and reveal nothing about it: equal in processes that share keys. */
  fingerprint(): string;
}

export interface ServerKeysOptions {
  /** Monotonic milliseconds; decides only how often an unknown key id makes the folder be read again. */
  monotonicMs?: () => number;
}

interface ServerKey {
  key_id: string;
  number: number;
  root: Buffer;
  /** Read, and not written with yet. */
  is_introduced: boolean;
  mac_key: KeyObject;
  seal_keys: Map<string, Buffer>;
}

/**
 * Opens the keys of `folder`, making folder (0700) and first key (0600) when there are none; processes that start
 * at once end up with the same key. Rejects when a key file can't be read or is damaged (the file is named, never
 * its content): going on with a new key would orphan everything hashed under the lost one.
 */
export async function openServerKeys(folder: string, options: ServerKeysOptions = {}): Promise<ServerKeys> {
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  await makeFolder(folder);
  if (keyNumbers(await readdir(folder)).length === 0) await writeKey(folder, 1);
  let keys = readKeys(folder);
  let current = currentOf(keys);
  let read_at_ms = monotonicMs();

  function reread(): void {
    read_at_ms = monotonicMs();
    try {
      keys = readKeys(folder, keys);
      current = currentOf(keys);
    } catch {
      // What is loaded stays good; a key that can't be read is the same as one that isn't there.
    }
  }

  function rereadNowAndThen(): void {
    if (monotonicMs() - read_at_ms >= REREAD_EVERY_MS) reread();
  }

  function find(key_id: string): ServerKey | null {
    const known = keys.find((key) => key.key_id === key_id);
    if (known !== undefined) return known;
    rereadNowAndThen();
    return keys.find((key) => key.key_id === key_id) ?? null;
  }

  return {
    currentKeyId: () => current.key_id,
    keyIds() {
      rereadNowAndThen();
      return keys.map(({ key_id }) => key_id);
    },
    reread,

    keyedHash(purpose, ...parts) {
      const key = current;
      return { key_id: key.key_id, mac: macOf(key, purpose, parts) };
    },

    keyedHashWith(key_id, purpose, ...parts) {
      const key = find(key_id);
      return key === null ? null : macOf(key, purpose, parts);
    },

    seal(purpose, plaintext) {
      const key = current;
      const header = Buffer.concat([
        Buffer.of(SEAL_VERSION),
        Buffer.from(key.key_id, 'latin1'),
        randomBytes(NONCE_BYTES),
      ]);
      const cipher = createCipheriv('aes-256-gcm', sealKey(key, purpose), header.subarray(1 + KEY_ID_CHARS));
      cipher.setAAD(associatedData(header, purpose));
      return Buffer.concat([header, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    },

    unseal(purpose, sealed) {
      if (sealed.length < SEAL_HEADER_BYTES + TAG_BYTES || sealed[0] !== SEAL_VERSION) return null;
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      const header = bytes.subarray(0, SEAL_HEADER_BYTES);
      const key = find(header.toString('latin1', 1, 1 + KEY_ID_CHARS));
      if (key === null) return null;
      const decipher = createDecipheriv('aes-256-gcm', sealKey(key, purpose), header.subarray(1 + KEY_ID_CHARS), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associatedData(header, purpose));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plaintext = decipher.update(bytes.subarray(SEAL_HEADER_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([plaintext, decipher.final()]);
      } catch {
        return null;
      }
    },

    fingerprint: () => derive((keys[0] as ServerKey).root, 'fingerprint', 16).toString('hex'),
  };
}

/** A key that is read and not written with yet, and when that was said, ms since 1970. */
export type IntroducedKey = { key_id: string; since_ms: number };

/** Adds a key that everybody can read and nobody writes with before it is activated; resolves with its id. */
export async function introduceServerKey(folder: string, since_ms: number): Promise<IntroducedKey> {
  for (let tries = 0; tries < 100; tries++) {
    const names = await readdir(folder);
    const number = Math.max(0, ...keyNumbers(names), ...markNumbers(names)) + 1;
    // Before the key: at no moment may it look like one to write with. Who has made the mark makes the key.
    const mark = path.join(folder, markName(number));
    if (!(await writeOnce(mark, `${since_ms}\n`))) continue;
    const key_id = await writeKey(folder, number);
    if (key_id !== null) return { key_id, since_ms };
    // The key was active before the mark was made, which is not its own.
    await rm(mark, { force: true });
  }
  throw new Error(`server keys: no free number in ${folder}`);
}

/** Keys that are introduced and not active, the oldest first. */
export async function introducedServerKeys(folder: string): Promise<IntroducedKey[]> {
  const introduced = readKeys(folder).filter(({ is_introduced }) => is_introduced);
  const found = await Promise.all(
    introduced.map(async ({ key_id, number }) => {
      const since = await readFile(path.join(folder, markName(number)), 'latin1').catch(nullIfMissing);
      return since === null ? [] : [{ key_id, since_ms: Number(since) }];
    }),
  );
  return found.flat();
}

/** Lets everybody write with a key who looks at the folder from now on. Again, it does nothing. */
export async function activateServerKey(folder: string, key_id: string): Promise<void> {
  const key = readKeys(folder).find((one) => one.key_id === key_id);
  if (key === undefined) throw new Error(`server keys: no key ${key_id} in ${folder}`);
  await rm(path.join(folder, markName(key.number)), { force: true });
  await syncFolder(folder);
}

/** Equal content, in a time that depends on the lengths only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Resolves with the new key's id, or null when another process has taken the number. */
async function writeKey(folder: string, number: number): Promise<string | null> {
  if (number > KEYS_MAX) throw new Error(`server keys: more than ${KEYS_MAX} in ${folder}`);
  const root = randomBytes(KEY_BYTES);
  const key_id = keyId(root);
  const content = `spool-server-key-1 ${key_id} ${root.toString('base64url')}\n`;
  if (!(await writeOnce(path.join(folder, fileName(number)), content))) return null;
  await syncFolder(folder);
  return key_id;
}

/** Writes a whole file of that name (0600); false when there is one. */
async function writeOnce(name: string, content: string): Promise<boolean> {
  const temporary = path.join(path.dirname(name), `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
    // link, not rename: it fails on a taken name, so of two processes at once one makes the file.
    await link(temporary, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Oldest first. Files of those known are not read again: a key never changes. */
function readKeys(folder: string, known: readonly ServerKey[] = []): ServerKey[] {
  const names = readdirSync(folder);
  const numbers = keyNumbers(names).sort((a, b) => a - b);
  if (numbers.length === 0) throw new Error(`server keys: none in ${folder}`);
  const marked = new Set(markNumbers(names));
  return numbers.map((number) => {
    const is_introduced = marked.has(number);
    const same = known.find((key) => key.number === number);
    if (same !== undefined) return same.is_introduced === is_introduced ? same : { ...same, is_introduced };
    const file = path.join(folder, fileName(number));
    const match = FILE_TEXT.exec(readFileSync(file, 'latin1'));
    const root = Buffer.from(match?.[2] ?? '', 'base64url');
    if (match === null || root.length !== KEY_BYTES || keyId(root) !== match[1]) {
      throw new Error(`server keys: ${file} is damaged`);
    }
    return {
      key_id: match[1],
      number,
      root,
      is_introduced,
      mac_key: createSecretKey(derive(root, 'keyed hash', KEY_BYTES)),
      seal_keys: new Map(),
    };
  });
}

function keyNumbers(names: readonly string[]): number[] {
  return numbersIn(names, FILE_NAME);
}

/** Of keys that are introduced, and of what a process that was killed left behind. */
function markNumbers(names: readonly string[]): number[] {
  return numbersIn(names, MARK_NAME);
}

function numbersIn(names: readonly string[], form: RegExp): number[] {
  return names.flatMap((name) => form.exec(name)?.[1] ?? []).map(Number);
}

function fileName(number: number): string {
  return `server_key_${String(number).padStart(4, '0')}.key`;
}

function markName(number: number): string {
  return `server_key_${String(number).padStart(4, '0')}.introduced`;
}

/** The newest that is written with; the first always is. */
function currentOf(keys: readonly ServerKey[]): ServerKey {
  return keys.findLast(({ is_introduced }) => !is_introduced) ?? (keys[0] as ServerKey);
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (((await stat(folder)).mode & 0o077) === 0) return;
  try {
    await chmod(folder, 0o700);
  } catch (error) {
    // A folder mounted by the operator may belong to somebody else; who may read it is then the mount's matter.
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function keyId(root: Buffer): string {
  return derive(root, 'key id', KEY_ID_CHARS / 2).toString('hex');
}

function derive(root: Buffer, use: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', root, 'spool server key', use, bytes));
}

function sealKey(key: ServerKey, purpose: string): Buffer {
  const known = key.seal_keys.get(purpose);
  if (known !== undefined) return known;
  if (key.seal_keys.size >= PURPOSES_MAX) throw new Error('server keys: too many purposes');
  const made = derive(key.root, `seal ${purpose}`, KEY_BYTES);
  key.seal_keys.set(purpose, made);
  return made;
}

/** The header's nonce is authenticated by GCM itself; version and key id are only so. */
function associatedData(header: Buffer, purpose: string): Buffer {
  return Buffer.concat([header.subarray(0, 1 + KEY_ID_CHARS), Buffer.from(purpose)]);
}

function macOf(key: ServerKey, purpose: string, parts: HashPart[]): Uint8Array {
  const all = [purpose, ...parts];
  const lengths = all.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : part.length));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0));
  let at = 0;
  for (const [index, part] of all.entries()) {
    const length = lengths[index] as number;
    at = bytes.writeUInt32BE(length, at);
    if (typeof part === 'string') bytes.write(part, at);
    else bytes.set(part, at);
    at += length;
  }
  return createHmac('sha256', key.mac_key).update(bytes).digest();
}
