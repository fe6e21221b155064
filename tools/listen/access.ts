import type { PublicApi } from '../../kits/typescript/src/api.js';
import { AppClient, type AppOptions, type SignedIn } from '../../kits/typescript/src/app_client.js';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { memoryStore, RenewedCredential, SignedOut } from '../../kits/typescript/src/credential.js';
import { UserError } from '../user_error.js';

/** Whoever listens asks again by itself. */
const OPTIONS = { timeout_ms: 15_000, patience: null };
const LEAVE_MAX_MS = 2_000;

type EventsQuery = NonNullable<PublicApi['GET /events']['query']>;
type EventsPage = PublicApi['GET /events']['answer'];

/** The account's side of the API, with a credential that is renewed where it can be. */
export class AccountAccess {
  readonly #server: URL;
  readonly #options: AppOptions;
  /** For sign-in, before there is a credential. */
  readonly app: AppClient;
  #signed_in: AppClient | null = null;
  #is_session = false;

  constructor(server: URL, options: AppOptions = OPTIONS) {
    this.#server = server;
    this.#options = options;
    this.app = new AppClient(server.origin, options);
  }

  useToken(token: string): void {
    this.#signed_in = new AppClient(this.#server.origin, { ...this.#options, credential: token });
  }

  async useSession(session: SignedIn): Promise<void> {
    const credential = new RenewedCredential({
      store: memoryStore(),
      refresh: (refresh_token) => this.app.call('POST /auth/refresh', { body: { refresh_token } }),
      hasEnded: isUnauthorized,
    });
    await credential.begin(session);
    this.#signed_in = new AppClient(this.#server.origin, { ...this.#options, credential });
    this.#is_session = true;
  }

  /** A page of events; throws as `ask` does. */
  events(query: EventsQuery): Promise<EventsPage> {
    return this.ask((app) => app.call('GET /events', { query }));
  }

  /** Asks with the credential; throws CallRefused for a refusal, and UserError when the credential has ended. */
  async ask<T>(question: (app: AppClient) => Promise<T>): Promise<T> {
    if (this.#signed_in === null) throw new Error('nobody is signed in');
    try {
      return await question(this.#signed_in);
    } catch (error) {
      if (!isUnauthorized(error) && !(error instanceof SignedOut)) throw error;
      throw new UserError(
        this.#is_session
          ? 'The session has ended on the server. Start again to sign in anew.'
          : 'The server does not accept the token in SPOOL_TOKEN: it is unknown, revoked or has expired.',
      );
    }
  }

  /** Ends a session that was begun here; nothing is left open that nobody uses. */
  async leave(): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MAX_MS).unref());
    if (this.#is_session) await Promise.race([this.#signed_in?.send('POST', '/auth/logout').catch(() => {}), late]);
    this.app.close();
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof CallRefused && error.status === 401;
}
