import { z } from 'zod';
import { LIMITS } from '../../domain/limits.js';
import { ImmutableRecords, type ImmutableRecordsRedis } from './immutable_records.js';

const record = z.object({
  fingerprint: z.string(),
  device_id: z.string(),
  kind: z.enum(['personal', 'shared', 'proxy']),
  not_after_ms: z.number(),
  is_renewal: z.number().default(0),
});

/**
 * The fixed fields of a certificate, under its fingerprint. Its status belongs to the certificate actor. `kind`: of the
 * device, or that of a proxy, whose id then stands in `device_id`. `is_renewal`: 1 if a renewal made it, so that its
 * first use ends the one before it; else 0.
 */
export type IssuedCertificate = z.infer<typeof record>;

/** Records of issued certificates, by fingerprint (64 lower-case hex digits). */
export class IssuedCertificates {
  readonly #records: ImmutableRecords<IssuedCertificate>;

  constructor(redis: ImmutableRecordsRedis) {
    this.#records = new ImmutableRecords<IssuedCertificate>(redis, {
      name: 'certificate',
      fields: {
        fingerprint: 'string',
        device_id: 'string',
        kind: 'string',
        not_after_ms: 'number',
        is_renewal: 'number',
      },
      write: (issued) => ({ ...issued }),
      read: (fields) => record.safeParse(fields).data ?? null,
    });
  }

  /** Saves a certificate for as long as it may be asked for: after that, its dates alone lead to its refusal. */
  async save(issued: IssuedCertificate, now_ms: number): Promise<void> {
    const { fingerprint, not_after_ms } = issued;
    await this.#records.save(fingerprint, issued, not_after_ms + LIMITS.certificate_kept_ms - now_ms);
  }

  /** Null for a fingerprint that was never issued here. */
  find(fingerprint: string): Promise<IssuedCertificate | null> {
    return this.#records.find(fingerprint);
  }
}
