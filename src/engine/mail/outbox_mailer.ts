/** Mail for development: one `.eml` file a mail, in a folder. Nothing is synced to disk; only names are atomic. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import MailComposer from 'nodemailer/lib/mail-composer';
import { checkMail, type Mail, type Mailer, MailFailed } from './mailer.js';
import { messageOf } from './message.js';

export interface OutboxMailerOptions {
  dir: string;
  mail_from: string;
  /** Wall clock; names and dates of the mails follow it. */
  nowMs: () => number;
  files_max?: number;
  /** Takes a line about each mail with a sign-in code, for the terminal. */
  print?: (line: string) => void;
}

export interface OutboxMail {
  file: string;
  to: string;
  subject: string;
  text: string;
  /** ISO 8601, UTC; seconds, as in the mail's header. */
  date: string;
}

const FILES_MAX = 10_000;
const FILE_BYTES_MAX = 1_048_576;
/** `20260102T030405678Z-000001-1a2b3c4d.eml`: names sort by time, then by order of sending. */
const FILE_NAME = /^\d{8}T\d{9}Z-\d{6}-[0-9a-f]{8}\.eml$/;

/** A mailer that writes into `dir` (made 0700: codes lie there in the clear) and keeps the newest 10,000 files. */
export class OutboxMailer implements Mailer {
  readonly #options: OutboxMailerOptions;
  #names: Promise<string[]> | null = null;
  #last_ms = 0;
  #count = 0;

  constructor(options: OutboxMailerOptions) {
    this.#options = options;
  }

  async send(mail: Mail, signal: AbortSignal): Promise<void> {
    const { dir, mail_from, files_max = FILES_MAX, print = () => {} } = this.#options;
    checkMail(mail);
    try {
      const files = await this.#known();
      const { name, date } = this.#nextName();
      const message = await compose({ ...messageOf(mail, mail_from), date });
      signal.throwIfAborted();
      const temporary = path.join(dir, `.${name}.tmp`);
      try {
        await writeFile(temporary, message, { flag: 'wx', mode: 0o600, signal });
        await rename(temporary, path.join(dir, name));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      if (mail.code !== undefined) print(`Sign-in code ${mail.code} for ${mail.to}`);
      files.push(name);
      const surplus = files.splice(0, Math.max(0, files.length - files_max));
      for (const file of surplus) await rm(path.join(dir, file), { force: true });
    } catch (error) {
      throw signal.aborted ? new MailFailed('service', 'aborted') : failureOf(error);
    }
  }

  async verify(): Promise<void> {
    const { dir } = this.#options;
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await access(dir, constants.W_OK);
    } catch (error) {
      throw failureOf(error);
    }
  }

  close(): void {}

  /** All files, oldest first. Read once: other processes' files are theirs to bound. */
  #known(): Promise<string[]> {
    const { dir } = this.#options;
    this.#names ??= mkdir(dir, { recursive: true, mode: 0o700 }).then(() => fileNames(dir));
    this.#names.catch(() => {
      this.#names = null;
    });
    return this.#names;
  }

  #nextName(): { name: string; date: Date } {
    // A clock that is set back must not sort a new mail before an old one.
    this.#last_ms = Math.max(this.#last_ms, this.#options.nowMs());
    this.#count = (this.#count + 1) % 1_000_000;
    const date = new Date(this.#last_ms);
    const time = date.toISOString().replace(/[-:.]/g, '');
    return { name: `${time}-${String(this.#count).padStart(6, '0')}-${randomBytes(4).toString('hex')}.eml`, date };
  }
}

/** The newest mails first, at most `limit`; empty when the folder is not there. Passes over what is no mail of ours. */
export async function listOutbox(dir: string, { limit }: { limit: number }): Promise<OutboxMail[]> {
  const names = await fileNames(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const mails: OutboxMail[] = [];
  while (names.length > 0 && mails.length < limit) {
    const newest = names.splice(-(limit - mails.length)).reverse();
    const read = await Promise.all(newest.map((file) => readMail(path.join(dir, file))));
    for (const [index, mail] of read.entries())
      if (mail !== null) mails.push({ file: newest[index] as string, ...mail });
  }
  return mails;
}

/** Null when it is no mail of ours, or was removed since to make room. */
async function readMail(file: string): Promise<Omit<OutboxMail, 'file'> | null> {
  try {
    const bytes = await readFile(file);
    return bytes.length > FILE_BYTES_MAX ? null : parse(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function fileNames(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((name) => FILE_NAME.test(name)).sort();
}

function compose(message: object): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    new MailComposer({ ...message, disableFileAccess: true, disableUrlAccess: true, newline: 'windows' })
      .compile()
      .build((error, built) => (error ? reject(error) : resolve(built as Buffer)));
  });
}

/** Reads what `compose` writes: one part of text, quoted-printable or plain. It is no general mail parser. */
function parse(bytes: Buffer): Omit<OutboxMail, 'file'> {
  const message = bytes.toString('latin1');
  const split = message.indexOf('\r\n\r\n');
  const head = message.slice(0, split).replace(/\r\n[ \t]+/g, ' ');
  const headers = new Map(
    head.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = message.slice(split + 4);
  const is_quoted = headers.get('content-transfer-encoding')?.toLowerCase() === 'quoted-printable';
  const text = Buffer.from(is_quoted ? unquote(body.replace(/=\r\n/g, '')) : body, 'latin1');
  const time = Date.parse(headers.get('date') ?? '');
  return {
    to: Buffer.from(headers.get('to') ?? '', 'latin1')
      .toString()
      .replace(/^<(.*)>$/, '$1'),
    subject: decodeWords(headers.get('subject') ?? ''),
    text: text.toString().replace(/\r\n/g, '\n'),
    date: Number.isNaN(time) ? '' : new Date(time).toISOString(),
  };
}

function unquote(quoted: string): string {
  return quoted.replace(/=([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Encoded words (RFC 2047). Neighbours are joined as bytes first: a character may be split between two. */
function decodeWords(value: string): string {
  return value.replace(/=\?utf-8\?[bq]\?[^?]*\?=(?:\s+=\?utf-8\?[bq]\?[^?]*\?=)*/gi, (run) =>
    Buffer.concat(
      [...run.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)].map(([, form, data]) =>
        form?.toLowerCase() === 'b'
          ? Buffer.from(data as string, 'base64')
          : Buffer.from(unquote((data as string).replace(/_/g, ' ')), 'latin1'),
      ),
    ).toString(),
  );
}

function failureOf(error: unknown): MailFailed {
  return new MailFailed('service', String((error as NodeJS.ErrnoException).code ?? 'unknown'));
}
