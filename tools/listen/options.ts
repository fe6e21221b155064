import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { EVENT_TYPE_FORM } from '../../src/domain/event_types.js';
import { LIMITS } from '../../src/domain/limits.js';
import { destinationFault } from '../../src/features/webhooks/destination.js';
import { parseSigningSecret, signingSecretText } from '../../src/features/webhooks/signing_secret.js';
import { newProgram } from '../command_line.js';
import { UserError, WRONG_USAGE } from '../user_error.js';

const AFTER = `
In the environment, since everybody on a machine can see arguments:
  SPOOL_TOKEN           a personal access token with turns:read, instead of
                        signing in
  SPOOL_WEBHOOK_SECRET  the secret to sign with, whsec_...; a new one is drawn
                        and printed when not set
  OPS_URL, OPS_TOKEN, DATA_DIR
                        where --code-from-inbox finds the operator port and its
                        token
  NO_COLOR              no colours

Keys on a terminal: r sends the last event again (same webhook-id, new
timestamp), q or Ctrl-C ends with a summary.
Exit codes: 0 ended by hand or signal, 1 something went wrong, 2 not understood.`;

/** `listen`, called by this name; the caller adds what it does. */
export const listenProgram = (name: string) =>
  newProgram(
    name,
    `Forwards an account's events, from now on or from where --state says, to a program on this machine. Each is a POST that is signed as deliveries to a webhook endpoint are: webhook-id, webhook-timestamp and webhook-signature, over the event as raw JSON. No endpoint is made, and http:// will do. One event goes after the other, in their order; redirects are not followed; after ${LIMITS.delivery_timeout_ms / 1000} seconds an event counts as failed. Unlike deliveries, what failed is shown and not tried again by itself, unless --state is given.`,
  )
    .summary("Forwards an account's events to a program on this machine")
    .option('--forward <URL>', 'where events go, such as http://localhost:3000/webhooks; required')
    .option('--server <URL>', 'the server; http://localhost:8080 when not given (with PORT set, that port)')
    .option('--email <EMAIL>', 'whose events; on a terminal it is asked for when not given')
    .option('--code-from-inbox', "read the emailed code from a development server's operator port")
    .option('--type <TYPE>', 'only events of this type, such as account.updated')
    .option('--state <FILE>', 'keep the position in a file: go on there, and try an event again until it is taken')
    .option('--print-json', 'print the body of each event as well')
    .addHelpText('after', AFTER);

/** The typed options, as commander gives them. */
export type TypedOptions = {
  forward?: string;
  server?: string;
  email?: string;
  codeFromInbox?: true;
  type?: string;
  state?: string;
  printJson?: true;
};

/** Whose account a program works with. */
export type AccountChoice = { by: 'token'; token: string } | { by: 'code'; email: string | null; from_inbox: boolean };

/** The options of a person at the terminal. */
export type ListenOptions = {
  forward: URL;
  server: URL;
  type: string | null;
  /** The file that keeps the position; null for none. */
  state: string | null;
  print_json: boolean;
  who: AccountChoice;
  secret: { text: string; key: Uint8Array; is_drawn: boolean };
};

export type Env = Readonly<Record<string, string | undefined>>;

/** Throws UserError for a value that can't be. */
export function readOptions(typed: TypedOptions, env: Env): ListenOptions {
  const { forward, type = null, state = null } = typed;
  // Not by commander, which would say this of an unknown option, too.
  if (forward === undefined) throw new UserError('--forward is missing.', WRONG_USAGE);
  if (type !== null && !EVENT_TYPE_FORM.test(type)) {
    throw new UserError('--type must be the name of an event type, such as account.updated.', WRONG_USAGE);
  }
  return {
    forward: readForward(forward),
    server: readServer(typed.server, env),
    type,
    state: state === null ? null : resolve(state),
    print_json: typed.printJson === true,
    who: readAccount(typed, env),
    secret: readSecret(env.SPOOL_WEBHOOK_SECRET?.trim() || null),
  };
}

/** With the token in the environment, or by an emailed code. */
export function readAccount(typed: Pick<TypedOptions, 'email' | 'codeFromInbox'>, env: Env): AccountChoice {
  const { email = null, codeFromInbox: from_inbox = false } = typed;
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new UserError('--email must be an email address.', WRONG_USAGE);
  }
  const token = env.SPOOL_TOKEN?.trim() || null;
  if (token !== null && (email !== null || from_inbox))
    throw new UserError(
      '--email and --code-from-inbox are for signing in; with SPOOL_TOKEN set there is no need to.',
      WRONG_USAGE,
    );
  if (token !== null && !/^[\x21-\x7e]+$/.test(token))
    throw new UserError('SPOOL_TOKEN must be a personal access token.', WRONG_USAGE);
  return token === null ? { by: 'code', email, from_inbox } : { by: 'token', token };
}

function readForward(text: string): URL {
  // As strict as for an endpoint, but for the scheme: nothing leaves this machine.
  const fault = /^https?:/i.test(text)
    ? destinationFault(text.replace(/^http:/i, 'https:'))
    : 'must be an http:// or https:// URL, such as http://localhost:3000/webhooks';
  if (fault !== null) throw new UserError(`--forward ${fault}.`, WRONG_USAGE);
  return new URL(text);
}

export function readServer(text: string | undefined, env: Env): URL {
  const from = text === undefined ? 'PORT' : '--server';
  const written = text ?? `http://localhost:${env.PORT?.trim() || '8080'}`;
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    const rule =
      text === undefined ? 'a port' : 'an http or https address without a path, such as http://localhost:8080';
    throw new UserError(`${from} must be ${rule}.`, WRONG_USAGE);
  }
  return url;
}

function readSecret(text: string | null): ListenOptions['secret'] {
  if (text === null) {
    const drawn = randomBytes(LIMITS.endpoint_secret_bytes);
    return { text: signingSecretText(drawn), key: drawn, is_drawn: true };
  }
  const key = parseSigningSecret(text);
  if (key === null)
    throw new UserError(
      `SPOOL_WEBHOOK_SECRET must be whsec_ with ${LIMITS.endpoint_secret_bytes} bytes in base64 behind it.`,
      WRONG_USAGE,
    );
  return { text, key, is_drawn: false };
}
