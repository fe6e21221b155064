import { createTransport } from 'nodemailer';
import { checkMail, type Mail, type Mailer, MailFailed } from './mailer.js';
import { messageOf } from './message.js';

export interface SmtpMailerOptions {
  /** `smtp://user:password@host:port` or `smtps://…`; nodemailer's options may follow as a query. */
  smtp_url: string;
  /** `Name <address>` or a bare address. */
  mail_from: string;
  /** Longest silence of the server, for each of name lookup, connecting, greeting and answers. */
  timeout_ms?: number;
  connections_max?: number;
}

const TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 8;
/** Commands whose refusal concerns one recipient or one message, as nodemailer names them. */
const OF_ONE_MAIL: ReadonlySet<string> = new Set(['RCPT TO', 'DATA']);

/** A mailer over SMTP that keeps its connections for the next mail. Throws when `smtp_url` is not an SMTP address. */
export class SmtpMailer implements Mailer {
  readonly #mail_from: string;
  readonly #transport: ReturnType<typeof transportOf>;

  constructor(options: SmtpMailerOptions) {
    checkUrl(options.smtp_url);
    this.#mail_from = options.mail_from;
    this.#transport = transportOf(options);
    // Of idle connections; what a mail meets reaches its sender.
    this.#transport.on('error', () => {});
  }

  async send(mail: Mail, signal: AbortSignal): Promise<void> {
    checkMail(mail);
    try {
      await this.#transport.sendMail({ ...messageOf(mail, this.#mail_from), signal });
    } catch (error) {
      throw signal.aborted ? new MailFailed('service', 'aborted') : failureOf(error);
    }
  }

  async verify(): Promise<void> {
    try {
      await this.#transport.verify();
    } catch (error) {
      throw failureOf(error);
    }
  }

  close(): void {
    this.#transport.close();
  }
}

function transportOf(options: SmtpMailerOptions) {
  const timeout_ms = options.timeout_ms ?? TIMEOUT_MS;
  return createTransport({
    url: options.smtp_url,
    pool: true,
    maxConnections: options.connections_max ?? CONNECTIONS_MAX,
    // A kept connection that the server has closed meanwhile costs one more try, not the mail.
    maxRequeues: 1,
    connectionTimeout: timeout_ms,
    greetingTimeout: timeout_ms,
    socketTimeout: timeout_ms,
    dnsTimeout: timeout_ms,
    socketCloseTimeout: 1_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function checkUrl(smtp_url: string): void {
  // The address holds a password, so no message may quote it.
  const protocol = URL.canParse(smtp_url) ? new URL(smtp_url).protocol : '';
  if (protocol !== 'smtp:' && protocol !== 'smtps:') throw new Error('SMTP_URL must start with smtp:// or smtps://');
}

function failureOf(error: unknown): MailFailed {
  const { code, command, responseCode } = error as { code?: unknown; command?: unknown; responseCode?: unknown };
  const reason = [code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown';
  // 421 closes the service as a whole, at whatever command it comes (RFC 5321, 3.8).
  const is_of_mail = typeof command === 'string' && OF_ONE_MAIL.has(command);
  if (!is_of_mail || typeof responseCode !== 'number' || responseCode === 421) return new MailFailed('service', reason);
  return new MailFailed(responseCode < 500 ? 'later' : 'recipient', reason);
}
