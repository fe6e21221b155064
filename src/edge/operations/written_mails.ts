import { Refused, refuse } from '../../domain/refusals.js';
import { outboxFolder } from '../../engine/mail/outbox_folder.js';
import { listOutbox } from '../../engine/mail/outbox_mailer.js';

const SENT = refuse('NOT_FOUND', 'Mails are sent over SMTP; nothing is kept here.');

/** Mails that were written to the data folder instead of sent, newest first. NOT_FOUND where SMTP is configured. */
export async function listWrittenMails(
  settings: { data_dir: string; smtp_url: string | null },
  { limit }: { limit: number },
) {
  if (settings.smtp_url !== null) throw new Refused(SENT);
  return listOutbox(outboxFolder(settings), { limit });
}
