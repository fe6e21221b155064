import type { ClusterView } from '../cluster/cluster_processes.js';
import type { DueMembersDeps } from '../jobs/due_members.js';
import type { DueWorker } from '../jobs/due_worker.js';
import { queueWorker } from '../jobs/leases.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ServerKeys } from '../secrets/server_keys.js';
import type { MailSender } from './mail_sender.js';
import { openMail } from './sealed_mail.js';

const EVERY_MS = 1_000;
/** Longer than the sender's deadline. */
const LEASE_MS = 30_000;
/** The sender has a bound of its own, for each recipient. */
const AT_ONCE = 256;

type MailWorkerDeps = DueMembersDeps & {
  mail: MailSender;
  keys: ServerKeys;
  members: ClusterView;
  metrics: Metrics;
};

type QueuedMail = { sealed: Uint8Array; give_up_at_ms: number };

/** Sends the mails that commits left in the partitions; a lease keeps two processes from sending one at the same time. */
export function mailWorker(deps: MailWorkerDeps): DueWorker {
  const { mail, keys, metrics, now } = deps;
  const work = {
    ...({ queue: 'mails', every_ms: EVERY_MS, at_once: AT_ONCE, lease_ms: LEASE_MS } as const),
    complaint: 'a mail could not be sent; it is tried again',
  };
  return queueWorker<QueuedMail>(deps, work, async ({ content: { sealed, give_up_at_ms } }) => {
    if (now() >= give_up_at_ms) {
      metrics.mails.inc({ outcome: 'given_up' });
      return 'done';
    }
    const opened = openMail(keys, sealed);
    if (opened === null) {
      metrics.mails.inc({ outcome: 'unreadable' }); // perhaps another process can
      return false;
    }
    const outcome = await mail.send(opened);
    metrics.mails.inc({ outcome: outcome.sent ? 'sent' : outcome.failure });
    return outcome.sent || outcome.failure === 'recipient' || outcome.failure === 'mail' ? 'done' : false;
  });
}
