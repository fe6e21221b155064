import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { certificateRequest, newPrivateKey } from './certificate_request.js';
import type { Repeat } from './chunk_sender.js';
import type { DeviceClient, DeviceCredentials } from './device_client.js';
import { readIfThere, readJson, writeDurably } from './durable_files.js';

/** Who a device is, on its own disk: its certificate, its key, and when to renew. */

type KeptIdentity = DeviceCredentials & { renew_after: string };

const IDENTITY_FILE = 'device.json';
const NEXT_KEY_FILE = 'next_key.pem';
/** Of a certificate's validity, where the server has not said when to renew. */
const RENEW_AT = 2 / 3;

export class DeviceIdentity {
  readonly #folder: string;
  #kept: KeptIdentity;

  private constructor(folder: string, kept: KeptIdentity) {
    this.#folder = folder;
    this.#kept = kept;
  }

  /** What lies in the folder counts; `credentials` begin it. */
  static async open(folder: string, credentials: DeviceCredentials | undefined): Promise<DeviceIdentity> {
    const file = join(folder, IDENTITY_FILE);
    const kept = await readJson<KeptIdentity>(file);
    if (kept !== null) return new DeviceIdentity(folder, kept);
    if (credentials === undefined) throw new Error(`There is no device in ${folder}: give its credentials.`);
    const { certificate_pem, private_key_pem, ca_pem } = credentials;
    const made = { certificate_pem, private_key_pem, ca_pem, renew_after: renewAfter(certificate_pem) };
    await writeDurably(file, JSON.stringify(made));
    return new DeviceIdentity(folder, made);
  }

  get credentials(): DeviceCredentials {
    return this.#kept;
  }

  get renew_after_ms(): number {
    return Date.parse(this.#kept.renew_after);
  }

  /**
   * Gets the next certificate. Its key is on disk before it is asked for and the certificate before it is used, so that
   * whoever is cut off asks again with the same key and gets the same answer.
   */
  async renew(device: DeviceClient, repeat: Repeat): Promise<void> {
    const key_file = join(this.#folder, NEXT_KEY_FILE);
    let private_key_pem = await readIfThere(key_file);
    if (private_key_pem === null || private_key_pem === this.#kept.private_key_pem) {
      private_key_pem = newPrivateKey();
      await writeDurably(key_file, private_key_pem);
    }
    const body = { csr_pem: certificateRequest(private_key_pem) };
    const made = await repeat(() => device.call('POST /device/certificates/renew', { body }));
    const { certificate_pem, ca_pem, renew_after } = made;
    const kept = { certificate_pem, private_key_pem, ca_pem, renew_after };
    await writeDurably(join(this.#folder, IDENTITY_FILE), JSON.stringify(kept));
    this.#kept = kept;
    await rm(key_file, { force: true });
  }
}

function renewAfter(certificate_pem: string): string {
  const { validFrom, validTo } = new X509Certificate(certificate_pem);
  const [from_ms, to_ms] = [Date.parse(validFrom), Date.parse(validTo)];
  return new Date(from_ms + (to_ms - from_ms) * RENEW_AT).toISOString();
}
