/** Access tokens that are renewed: refresh tokens change with each use, so only one call at a time may use one. */

/** Whoever knows which token goes with a request. */
export type Credential = {
  /** A token that may be used now. */
  token(): Promise<string>;
  /** Another one than that which the server refused. */
  tokenAfter(refused: string): Promise<string>;
};

/** As the token endpoint and `/auth/verify-otp` answer. */
export type Tokens = { access_token: string; refresh_token: string; expires_in: number };

/** What has to outlive the program. */
export type KeptTokens = { access_token: string; refresh_token: string; expires_at_ms: number };

/**
 * Where tokens lie. Whoever shares them between tabs or processes gives `exclusive`, which runs one `work` at a time
 * (in browsers `navigator.locks`).
 */
export type TokenStore = {
  load(): Promise<KeptTokens | null>;
  save(tokens: KeptTokens | null): Promise<void>;
  exclusive?<T>(work: () => Promise<T>): Promise<T>;
};

/** Nobody is signed in, or the sign-in has ended on the server: sign in again. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

/** Tokens that end with the program. */
export function memoryStore(): TokenStore {
  let kept: KeptTokens | null = null;
  return {
    load: async () => kept,
    save: async (tokens) => {
      kept = tokens;
    },
  };
}

/** A token is renewed so long before it ends. */
const AHEAD_MS = 60_000;

export class RenewedCredential implements Credential {
  readonly #store: TokenStore;
  readonly #refresh: (refresh_token: string) => Promise<Tokens>;
  readonly #hasEnded: (error: unknown) => boolean;
  #kept: KeptTokens | null = null;
  #renewing: Promise<string> | null = null;

  /** `refresh` may be repeated by its own means; `hasEnded` tells a refresh token that is worth nothing from other failures. */
  constructor(of: {
    store: TokenStore;
    refresh: (refresh_token: string) => Promise<Tokens>;
    hasEnded: (error: unknown) => boolean;
  }) {
    this.#store = of.store;
    this.#refresh = of.refresh;
    this.#hasEnded = of.hasEnded;
  }

  /** Keeps what a sign-in gave. */
  async begin({ access_token, refresh_token, expires_in }: Tokens): Promise<void> {
    const kept = { access_token, refresh_token, expires_at_ms: Date.now() + expires_in * 1_000 };
    // Before it is used: the token that it was given for is worth nothing soon.
    await this.#store.save(kept);
    this.#kept = kept;
  }

  /** Forgets them; gives the refresh token, which the caller may want to revoke. */
  async end(): Promise<string | null> {
    const kept = await this.#store.load();
    this.#kept = null;
    await this.#store.save(null);
    return kept?.refresh_token ?? null;
  }

  async token(): Promise<string> {
    this.#kept ??= await this.#store.load();
    if (this.#kept === null) throw new SignedOut('Nobody is signed in.');
    return isFresh(this.#kept) ? this.#kept.access_token : this.tokenAfter(this.#kept.access_token);
  }

  async tokenAfter(refused: string): Promise<string> {
    // Another call has renewed it meanwhile.
    if (this.#kept !== null && this.#kept.access_token !== refused && isFresh(this.#kept))
      return this.#kept.access_token;
    this.#renewing ??= this.#inTurn(() => this.#renew(refused)).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  #inTurn(work: () => Promise<string>): Promise<string> {
    return this.#store.exclusive === undefined ? work() : this.#store.exclusive(work);
  }

  async #renew(refused: string): Promise<string> {
    const stored = await this.#store.load();
    if (stored === null) throw new SignedOut('Nobody is signed in.');
    if (stored.access_token !== refused && isFresh(stored)) {
      this.#kept = stored;
      return stored.access_token;
    }
    let tokens: Tokens;
    try {
      tokens = await this.#refresh(stored.refresh_token);
    } catch (error) {
      if (!this.#hasEnded(error)) throw error;
      await this.end();
      throw new SignedOut('The sign-in has ended on the server.');
    }
    await this.begin(tokens);
    return tokens.access_token;
  }
}

function isFresh({ expires_at_ms }: KeptTokens): boolean {
  return expires_at_ms - Date.now() > AHEAD_MS;
}
