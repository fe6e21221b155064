import { randomBytes } from 'node:crypto';
import { EVENT_TYPE_FORM } from '../../domain/event_types.js';
import { LIMITS } from '../../domain/limits.js';
import { destinationFault } from '../../webhooks/destination.js';
import { parseSigningSecret, signingSecretText } from '../../webhooks/signing_secret.js';
import { type Option, WrongUsage } from '../cli/command.js';
import { readOptions } from '../cli/command_line.js';
import { helpOfOptions } from '../cli/help.js';

const OPTIONS: Record<string, Option> = {
  forward: { value: 'URL', required: true, says: 'where events go, such as http://localhost:3000/webhooks' },
  server: { value: 'URL', says: 'the server; http://localhost:8080 when not given (with PORT set, that port)' },
  email: { value: 'EMAIL', says: 'whose events; on a terminal it is asked for when not given' },
  'code-from-inbox': { says: "reads the emailed code from a development server's operator port" },
  type: { value: 'TYPE', says: 'only events of this type, such as account.updated' },
  'print-json': { says: 'prints the body of each event as well' },
  help: { says: 'this text' },
};

export const USAGE = `npm run listen -- --forward URL [options]

Forwards an account's events, from now on, to a program on this machine, each as a POST that is signed as deliveries to
a webhook endpoint are: webhook-id, webhook-timestamp and webhook-signature, over the event as raw JSON. No endpoint is
made, and http:// will do. One event goes after the other, in their order; redirects are not followed; after
${LIMITS.delivery_timeout_ms / 1000} seconds an event counts as failed. Unlike deliveries, what failed is shown and not tried again by itself.

${helpOfOptions(OPTIONS).join('\n')}

In the environment, since arguments can be seen by everybody on a machine:
  SPOOL_TOKEN           a personal access token with turns:read, instead of signing in
  SPOOL_WEBHOOK_SECRET  the secret to sign with, whsec_…; a new one is drawn and printed when not set
  OPS_URL, OPS_TOKEN, DATA_DIR   where --code-from-inbox finds the operator port and its token
  NO_COLOR              no colours

Keys on a terminal: r sends the last event again (same webhook-id, new timestamp), q or Ctrl-C ends with a summary.
Exit codes: 0 ended by hand or signal, 1 something went wrong, 2 not understood.`;

/** What the person at the terminal wants. */
export type Wishes = {
  forward: URL;
  server: URL;
  type: string | null;
  print_json: boolean;
  who: { by: 'token'; token: string } | { by: 'code'; email: string | null; from_inbox: boolean };
  secret: { text: string; key: Uint8Array; is_drawn: boolean };
};

type Env = Readonly<Record<string, string | undefined>>;

/** Null when only help is wanted. Throws WrongUsage. */
export function readWishes(args: string[], env: Env): Wishes | null {
  const { values, positionals } = readOptions(OPTIONS, args, USAGE);
  if (values.help === true) return null;
  const text = (name: string) => values[name] as string | undefined;
  const [extra] = positionals;
  if (extra !== undefined) throw new WrongUsage(`${JSON.stringify(extra)} is one too many.\n\n${USAGE}`);
  const forward = text('forward');
  if (forward === undefined) throw new WrongUsage(`--forward is missing.\n\n${USAGE}`);
  const type = text('type') ?? null;
  if (type !== null && !EVENT_TYPE_FORM.test(type))
    throw new WrongUsage('--type must be the name of an event type, such as account.updated.');
  const email = text('email') ?? null;
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email)) throw new WrongUsage('--email must be an email address.');
  const from_inbox = values['code-from-inbox'] === true;
  const token = env.SPOOL_TOKEN?.trim() || null;
  if (token !== null && (email !== null || from_inbox))
    throw new WrongUsage('--email and --code-from-inbox are for signing in; with SPOOL_TOKEN set there is no need to.');
  if (token !== null && !/^[\x21-\x7e]+$/.test(token))
    throw new WrongUsage('SPOOL_TOKEN must be a personal access token.');
  return {
    forward: readForward(forward),
    server: readServer(text('server'), env),
    type,
    print_json: values['print-json'] === true,
    who: token === null ? { by: 'code', email, from_inbox } : { by: 'token', token },
    secret: readSecret(env.SPOOL_WEBHOOK_SECRET?.trim() || null),
  };
}

function readForward(text: string): URL {
  // As strict as for an endpoint, but for the scheme: nothing leaves this machine.
  const fault = /^https?:/i.test(text)
    ? destinationFault(text.replace(/^http:/i, 'https:'))
    : 'must be an http:// or https:// URL, such as http://localhost:3000/webhooks';
  if (fault !== null) throw new WrongUsage(`--forward ${fault}.`);
  return new URL(text);
}

function readServer(text: string | undefined, env: Env): URL {
  const from = text === undefined ? 'PORT' : '--server';
  const written = text ?? `http://localhost:${env.PORT?.trim() || '8080'}`;
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    const rule =
      text === undefined ? 'a port' : 'an http or https address without a path, such as http://localhost:8080';
    throw new WrongUsage(`${from} must be ${rule}.`);
  }
  return url;
}

function readSecret(text: string | null): Wishes['secret'] {
  if (text === null) {
    const drawn = randomBytes(LIMITS.endpoint_secret_bytes);
    return { text: signingSecretText(drawn), key: drawn, is_drawn: true };
  }
  const key = parseSigningSecret(text);
  if (key === null)
    throw new WrongUsage(
      `SPOOL_WEBHOOK_SECRET must be whsec_ with ${LIMITS.endpoint_secret_bytes} bytes in base64 behind it.`,
    );
  return { text, key, is_drawn: false };
}
