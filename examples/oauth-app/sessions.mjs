/* Who is signed in, in memory: a browser gets a random number as a cookie and nothing else. */
import { randomBytes } from 'node:crypto';

const IDLE_MS = 8 * 3_600_000;
const SESSIONS_MAX = 10_000;
const SWEEP_MS = 60_000;

export class Sessions {
  /** `{ used_at_ms, begun }` while somebody signs in, `{ used_at_ms, credential, app }` then. */
  #sessions = new Map();
  #name;
  #attributes;
  #revoke;

  /** `revoke` ends the grant that a refresh token is of. */
  constructor({ is_https, revoke }) {
    // With the prefix no other host may set it.
    this.#name = is_https ? '__Host-my_recordings' : 'my_recordings';
    // Lax: Spool's redirect back is a navigation, with which the cookie has to come.
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${is_https ? '; Secure' : ''}`;
    this.#revoke = revoke;
    setInterval(() => {
      for (const [id, { used_at_ms }] of this.#sessions) if (Date.now() - used_at_ms > IDLE_MS) void this.end(id);
    }, SWEEP_MS).unref();
  }

  /** The session of a request's cookie; undefined when there is none. */
  of(cookies = '') {
    const pair = cookies.split('; ').find((one) => one.startsWith(`${this.#name}=`));
    const session = this.#sessions.get(pair?.slice(this.#name.length + 1));
    if (session !== undefined) session.used_at_ms = Date.now();
    return session;
  }

  /** Gives the header that tells the browser. The oldest gives way when there are too many. */
  begin(content) {
    if (this.#sessions.size >= SESSIONS_MAX) void this.end(this.#sessions.keys().next().value);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { ...content, id, used_at_ms: Date.now() });
    return { 'Set-Cookie': `${this.#name}=${id}; Max-Age=${IDLE_MS / 1_000}; ${this.#attributes}` };
  }

  /** Forgets its tokens, and revokes the grant that they came from; gives the header that tells the browser. */
  async end(id) {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    const refresh_token = await session?.credential?.end();
    if (refresh_token)
      await this.#revoke(refresh_token).catch(({ message }) => console.error(`not revoked: ${message}`));
    return { 'Set-Cookie': `${this.#name}=; Max-Age=0; ${this.#attributes}` };
  }
}
