import { z } from 'zod';
import { WrittenOnce, type WrittenOnceRedis } from './written_once.js';

const record = z.object({
  fingerprint: z.string(),
  device_id: z.string(),
  kind: z.enum(['personal', 'shared']),
  not_after_ms: z.number(),
});

/** What is written once of a certificate, under its fingerprint. Whether it is revoked is the certificate actor's. */
export type IssuedCertificate = z.infer<typeof record>;

/** Records of issued certificates, by fingerprint (64 lower-case hex digits). */
export class IssuedCertificates {
  readonly #records: WrittenOnce<IssuedCertificate>;

  constructor(redis: WrittenOnceRedis) {
    this.#records = new WrittenOnce<IssuedCertificate>(redis, {
      name: 'certificate',
      fields: { fingerprint: 'string', device_id: 'string', kind: 'string', not_after_ms: 'number' },
      write: (issued) => ({ ...issued }),
      read: (fields) => record.safeParse(fields).data ?? null,
    });
  }

  save(issued: IssuedCertificate): Promise<void> {
    return this.#records.save(issued.fingerprint, issued);
  }

  /** Null for a fingerprint that we never issued. */
  find(fingerprint: string): Promise<IssuedCertificate | null> {
    return this.#records.find(fingerprint);
  }
}
