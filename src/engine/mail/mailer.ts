/** A mail, and its senders: SMTP when it is configured, files otherwise. */

export interface Mail {
  /** One bare address, `local@domain`. */
  to: string;
  /** One line. */
  subject: string;
  /** Plain text, lines ended by `\n`. */
  text: string;
  /** The sign-in code in the text, for a mailer that shows it to whoever runs the server. */
  code?: string;
  /** The address that ends mails of this kind: by a page, and at once by a POST (RFC 8058). */
  unsubscribe_url?: string;
}

export interface Mailer {
  /** Resolves when the mail was taken over. Rejects with MailFailed, and at once when `signal` aborts. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /** Resolves when mail could be sent now, without sending any; rejects with MailFailed. */
  verify(): Promise<void>;
  /** Closes idle connections; sends that still run are let finish. */
  close(): void;
}

/**
 * - `service`: the mail service is away, refuses us, or answered too late; the next mail may fail alike.
 * - `recipient`: it works and will not take this recipient, or this mail for them.
 * - `later`: it works and will not take them now; the same mail may go out later.
 * - `mail`: this mail can't be sent by anyone.
 */
export type MailFailure = 'service' | 'recipient' | 'later' | 'mail';

/** Says what failed, never for whom or with which words: messages of mail servers quote addresses. */
export class MailFailed extends Error {
  override readonly name = 'MailFailed';

  constructor(
    readonly failure: MailFailure,
    /** A code of Node, of nodemailer or of SMTP, such as `ECONNREFUSED` or `EENVELOPE 550`. */
    readonly reason: string,
  ) {
    super(`mail not sent: ${reason}`);
  }
}

const ADDRESS_CHARS_MAX = 254;
const SUBJECT_CHARS_MAX = 200;
const TEXT_CHARS_MAX = 65_536;
/** Narrower than RFC 5322: whatever could end a header or make two addresses of one is refused, not quoted. */
const ADDRESS = /^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()[\]\\,;:"@]+$/u;
const UNSUBSCRIBE_URL = /^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/;
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** Throws MailFailed (`mail`) unless the mail has one address, a one-line subject and a text of at most 64 Ki characters. */
export function checkMail(mail: Mail): void {
  if (mail.to.length > ADDRESS_CHARS_MAX || !ADDRESS.test(mail.to)) throw new MailFailed('mail', 'address');
  if (mail.subject.length > SUBJECT_CHARS_MAX || !ONE_LINE.test(mail.subject)) throw new MailFailed('mail', 'subject');
  const { unsubscribe_url } = mail;
  if (unsubscribe_url !== undefined && !UNSUBSCRIBE_URL.test(unsubscribe_url)) throw new MailFailed('mail', 'address');
  if (mail.text.length > TEXT_CHARS_MAX || mail.text.includes('\0')) throw new MailFailed('mail', 'text');
}
