/** What errors of Redis' clients mean, for a person. */

const TAKES_NO_WRITES = /^(OOM|MISCONF|READONLY|NOREPLICAS)/;
const REFUSES_US = /^(NOAUTH|WRONGPASS|NOPERM)/;
const NOT_YET = /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN)/;
const NO_ANSWER =
  /timed? ?out|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE|ENOENT|connection is closed|socket closed|no connection|the cluster is not there|startup nodes|refresh slots cache/i;

/** Whether Redis refuses writes alone. Of other refusals, such as those of a cluster that is down, reads have no better. */
export function takesNoWrites(error: Error): boolean {
  return TAKES_NO_WRITES.test(error.message);
}

/** What is wrong with storage, in words; null for an error that storage has nothing to do with. */
export function storageProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { message, name } = error;
  const is_reply = ['ReplyError', 'ErrorReply', 'SimpleError'].includes(name);
  if (takesNoWrites(error)) return `Redis takes no writes: ${message}`;
  if (REFUSES_US.test(message)) return `Redis does not let us in: ${message}`;
  if (NOT_YET.test(message)) return `Redis is not ready: ${message}`;
  if (!is_reply && NO_ANSWER.test(`${(error as NodeJS.ErrnoException).code ?? ''} ${message}`))
    return `Redis does not answer: ${message}`;
  return null;
}
