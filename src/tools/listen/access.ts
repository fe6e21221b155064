import type { PublicApi } from '../../../kits/typescript/src/api.js';
import { AppClient, type SignedIn } from '../../../kits/typescript/src/app_client.js';
import { CallRefused } from '../../../kits/typescript/src/http_call.js';
import { UserError } from '../user_error.js';

const CALL_MAX_MS = 15_000;
const LEAVE_MAX_MS = 2_000;
/** A session's token is renewed so long before it runs out. */
const RENEW_AHEAD_MS = 60_000;

type EventsQuery = NonNullable<PublicApi['GET /events']['query']>;
type EventsPage = PublicApi['GET /events']['answer'];

/** The account's side of the API, with a credential that is renewed where it can be. */
export class Access {
  readonly #app: AppClient;
  #refresh_token: string | null = null;
  #renew_at = Number.POSITIVE_INFINITY;

  constructor(server: URL) {
    this.#app = new AppClient(server.origin, { timeout_ms: CALL_MAX_MS });
  }

  /** For sign-in, before there is a credential. */
  get app(): AppClient {
    return this.#app;
  }

  useToken(token: string): void {
    this.#app.access_token = token;
  }

  useSession({ access_token, refresh_token, expires_in }: SignedIn): void {
    this.#app.access_token = access_token;
    this.#refresh_token = refresh_token;
    this.#renew_at = performance.now() + expires_in * 1000 - RENEW_AHEAD_MS;
  }

  /** A page of events; throws CallRefused otherwise, and UserError when the credential has ended. */
  async events(query: EventsQuery): Promise<EventsPage> {
    if (performance.now() > this.#renew_at) await this.#renew();
    try {
      return await this.#app.call('GET /events', { query });
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
    }
    await this.#renew();
    try {
      return await this.#app.call('GET /events', { query });
    } catch (error) {
      throw isUnauthorized(error) ? SESSION_ENDED() : error;
    }
  }

  async #renew(): Promise<void> {
    const refresh_token = this.#refresh_token;
    if (refresh_token === null)
      throw new UserError(
        'The server does not accept the token in SPOOL_TOKEN: it is unknown, revoked or has expired.',
      );
    try {
      this.useSession(await this.#app.call('POST /auth/refresh', { body: { refresh_token } }));
    } catch (error) {
      throw isUnauthorized(error) ? SESSION_ENDED() : error;
    }
  }

  /** Ends a session that was begun here; nothing is left open that nobody uses. */
  async leave(): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MAX_MS).unref());
    if (this.#refresh_token !== null)
      await Promise.race([this.#app.send('POST', '/auth/logout').catch(() => {}), late]);
    this.#app.close();
  }
}

const SESSION_ENDED = () => new UserError('The session has ended on the server. Start again to sign in anew.');

function isUnauthorized(error: unknown): boolean {
  return error instanceof CallRefused && error.status === 401;
}
