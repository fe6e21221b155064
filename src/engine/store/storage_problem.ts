/** Messages for people about errors of Redis' clients. */

const TAKES_NO_WRITES = /^(OOM|MISCONF|READONLY|NOREPLICAS)/;
const REFUSES_US = /^(NOAUTH|WRONGPASS|NOPERM)\b\s*(.*)/s;
/** Codes of OpenSSL and of Node. */
const NOT_TRUSTED = /CERT|UNABLE_TO_VERIFY/;
const NOT_YET = /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN)/;
const NO_ANSWER =
  /timed? ?out|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE|ENOENT|connection is closed|socket closed|no connection|the cluster is not there|startup nodes|refresh slots cache/i;

/** Whether Redis refuses only writes. Other refusals, such as those of a cluster that is down, affect reads as well. */
export function takesNoWrites(error: Error): boolean {
  return TAKES_NO_WRITES.test(error.message);
}

/** Whether a connection error gives the reason for the missing connection. */
export function saysWhy(error: Error): boolean {
  return REFUSES_US.test(error.message) || NOT_YET.test(error.message) || NOT_TRUSTED.test(codeOf(error));
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? '';
}

/** Describes why storage fails, the deciding word first; null for an error that does not concern storage. */
export function storageProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { message, name } = error;
  const is_reply = ['ReplyError', 'ErrorReply', 'SimpleError'].includes(name);
  if (takesNoWrites(error)) return `Redis takes no writes: ${message}`;
  const [, refused, why] = REFUSES_US.exec(message) ?? [];
  if (refused !== undefined) return `${refused}: Redis does not let us in: ${why}`;
  if (NOT_TRUSTED.test(codeOf(error)))
    return `certificate: that of Redis is not trusted: ${message}. NODE_EXTRA_CA_CERTS names the CA of one that is not public.`;
  if (NOT_YET.test(message)) return `Redis is not ready: ${message}`;
  if (!is_reply && NO_ANSWER.test(`${codeOf(error)} ${message}`)) return `Redis does not answer: ${message}`;
  return null;
}
