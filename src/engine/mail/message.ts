import type { Mail } from './mailer.js';

/** The message as nodemailer takes it. Recipient and name are given apart, so that nothing in them is parsed as a list. */
export function messageOf(mail: Mail, mail_from: string) {
  return {
    from: mail_from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    // Readable as it is, also in a file: never base64.
    textEncoding: 'quoted-printable' as const,
    // Keeps holiday replies and the like away.
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribing(mail) },
  };
}

/** RFC 2369 and RFC 8058: mail programs show a button that ends such mails. */
function unsubscribing({ unsubscribe_url }: Mail): Record<string, string> {
  if (unsubscribe_url === undefined) return {};
  return { 'List-Unsubscribe': `<${unsubscribe_url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}
