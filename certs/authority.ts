import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import { type CertificateUse, type IssuerName, makeCertificate, readIssuerName } from './certificate_der.js';
import { readFingerprint, readValidity } from './inspection.js';
import { keepFirst, keepNewest, makeKeyFolder, readKeyFile } from './key_files.js';
import { checkKey, type KeyAnswer, readSigningRequest } from './signing_request.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const AUTHORITY_DAYS = 20 * 365;
const LISTENER_DAYS = 90;
const DEVICE_DAYS_MAX = 3_650;

// Device clocks lag; a certificate made this second must already be valid on them.
const BACKDATE_MS = HOUR_MS;

// The upper bound X.509 sets for a common name.
const DEVICE_ID_CHARACTERS_MAX = 64;

/** A certificate made for a device. Times in milliseconds, whole seconds; `ca_pem` is the issuing CA, then the root. */
export type DeviceCertificate = {
  certificate_pem: string;
  ca_pem: string;
  /** SHA-256 of the DER, 64 lower-case hex digits: the device's identity. */
  fingerprint: string;
  not_before_ms: number;
  not_after_ms: number;
};

/** Whose key the certificate is for: a public key, or a PKCS#10 request that proves possession of the private one. */
export type DeviceCertificateRequest = { device_id: string; now_ms: number; days: number } & (
  | { public_key: KeyObject }
  | { csr_pem: string }
);

export type DeviceCertificateAnswer = ({ ok: true } & DeviceCertificate) | { ok: false; message: string };

/**
 * The certificates and the key of a TLS listener. `certificate_pem` holds the issuing CA too; `ca_pem` is the root
 * alone.
 */
export type ListenerCertificate = {
  certificate_pem: string;
  private_key_pem: string;
  ca_pem: string;
  fingerprint: string;
  not_before_ms: number;
  not_after_ms: number;
};

/** An open certificate authority. */
export type Authority = {
  /**
   * The certificate that verifies devices. Nothing else belongs in a listener's `ca`: with the issuing CA there, leaves
   * would pass alone.
   */
  root_pem: string;
  /** Issuing CA, then root: what a device sends and keeps beside its own certificate. */
  ca_pem: string;
  /** The CAs that sign devices, for `PeerCertificates`. */
  issuers: readonly X509Certificate[];
  /** A client certificate. Refuses weak keys and unproven requests with a message; throws on a bad `device_id` or `days`. */
  issueDeviceCertificate(request: DeviceCertificateRequest): DeviceCertificateAnswer;
  /** The listener's own certificate, from the folder while a third of its life is left and the names are the same. */
  issueListenerCertificate(request: { names: readonly string[]; now_ms: number }): Promise<ListenerCertificate>;
};

type Signer = {
  certificate_pem: string;
  certificate: X509Certificate;
  private_key: KeyObject;
  name: IssuerName;
  not_after_ms: number;
};

/** A new P-256 key for a device. */
export function makeDeviceKey(): { private_key_pem: string; public_key: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { private_key_pem: writeKey(privateKey), public_key: publicKey };
}

/**
 * Opens the authority kept in `folder`, or makes it on first use: a root and an issuing CA, P-256, twenty years.
 * Private files `*_ca.key.pem` (0600) hold a key and its certificate; `*_ca.cert.pem` hold the certificate to give away.
 * Safe in several processes at once. Throws if the files cannot be read, or belong to no valid authority at `now_ms`.
 */
export async function openAuthority(folder: string, now_ms: number): Promise<Authority> {
  await makeKeyFolder(folder);
  const root = await openSigner({
    folder,
    name: 'root_ca',
    make: () => makeSigner({ kind: 'root_authority' }, now_ms),
  });
  const issuing = await openSigner({
    folder,
    name: 'issuing_ca',
    make: () => makeSigner({ kind: 'issuing_authority' }, now_ms, root),
  });
  assertAuthority({ root, issuing, folder, now_ms });
  const root_pem = root.certificate_pem;
  const ca_pem = issuing.certificate_pem + root_pem;

  return {
    root_pem,
    ca_pem,
    issuers: [issuing.certificate],

    issueDeviceCertificate(request) {
      assertDeviceRequest(request);
      const key = readRequestedKey(request);
      if (!key.ok) return key;
      const certificate_pem = signCertificate(issuing, {
        use: { kind: 'device' },
        subject: request.device_id,
        public_key: key.public_key,
        now_ms: request.now_ms,
        days: request.days,
      });
      return { ok: true, certificate_pem, ca_pem, ...describe(new X509Certificate(certificate_pem)) };
    },

    async issueListenerCertificate({ names, now_ms: at_ms }) {
      const path = join(folder, 'listener.key.pem');
      const kept = await readListener(path);
      if (kept !== undefined && isListenerUsable(kept, { names, issuing, now_ms: at_ms }))
        return describeListener(kept);
      const { private_key_pem, public_key } = makeDeviceKey();
      const leaf_pem = signCertificate(issuing, {
        use: { kind: 'listener', names },
        subject: 'device listener',
        public_key,
        now_ms: at_ms,
        days: LISTENER_DAYS,
      });
      await keepNewest({ path, text: private_key_pem + leaf_pem, mode: 0o600 });
      return describeListener(openSignerText(private_key_pem + leaf_pem));
    },
  };

  function describeListener(listener: Signer): ListenerCertificate {
    return {
      certificate_pem: listener.certificate_pem + issuing.certificate_pem,
      private_key_pem: writeKey(listener.private_key),
      ca_pem: root_pem,
      ...describe(listener.certificate),
    };
  }
}

function assertAuthority(authority: { root: Signer; issuing: Signer; folder: string; now_ms: number }): void {
  const { root, issuing, folder, now_ms } = authority;
  if (!issuing.certificate.verify(root.certificate.publicKey) || !issuing.certificate.checkIssued(root.certificate)) {
    throw new Error(`${folder}: the issuing CA was not signed by the root CA beside it`);
  }
  for (const { certificate, not_after_ms } of [root, issuing]) {
    if (!certificate.ca) throw new Error(`${folder}: the certificate of ${certificate.subject} is not a CA`);
    if (now_ms >= not_after_ms) throw new Error(`${folder}: the certificate of ${certificate.subject} ended`);
  }
}

function assertDeviceRequest({ device_id, days }: DeviceCertificateRequest): void {
  if (device_id === '' || device_id.length > DEVICE_ID_CHARACTERS_MAX) {
    throw new RangeError(`device_id must have 1 to ${DEVICE_ID_CHARACTERS_MAX} characters`);
  }
  if (!Number.isFinite(days) || days <= 0 || days > DEVICE_DAYS_MAX) {
    throw new RangeError(`days must be above 0 and at most ${DEVICE_DAYS_MAX}`);
  }
}

function readRequestedKey(request: DeviceCertificateRequest): KeyAnswer {
  return 'csr_pem' in request ? readSigningRequest(request.csr_pem) : checkKey(request.public_key);
}

async function openSigner(kept: { folder: string; name: string; make: () => string }): Promise<Signer> {
  const path = join(kept.folder, `${kept.name}.key.pem`);
  const text = (await readKeyFile(path)) ?? (await keepFirst({ path, text: kept.make(), mode: 0o600 }));
  const signer = openSignerText(text);
  const public_path = join(kept.folder, `${kept.name}.cert.pem`);
  if ((await readKeyFile(public_path)) !== signer.certificate_pem) {
    await keepNewest({ path: public_path, text: signer.certificate_pem, mode: 0o644 });
  }
  return signer;
}

// Key and certificate share a file so that they can never come from two different processes.
function makeSigner(use: CertificateUse, now_ms: number, issuer?: Signer): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate_pem = makeCertificate({
    use,
    subject: use.kind === 'root_authority' ? 'Spool development root CA' : 'Spool development issuing CA',
    public_key: publicKey,
    ...(issuer === undefined ? {} : { issuer: issuer.name }),
    signing_key: issuer?.private_key ?? privateKey,
    not_before_ms: now_ms - BACKDATE_MS,
    not_after_ms: now_ms + AUTHORITY_DAYS * DAY_MS,
  });
  return writeKey(privateKey) + certificate_pem;
}

function signCertificate(
  issuer: Signer,
  leaf: { use: CertificateUse; subject: string; public_key: KeyObject; now_ms: number; days: number },
): string {
  const end_ms = leaf.now_ms + leaf.days * DAY_MS;
  return makeCertificate({
    use: leaf.use,
    subject: leaf.subject,
    public_key: leaf.public_key,
    issuer: issuer.name,
    signing_key: issuer.private_key,
    not_before_ms: leaf.now_ms - BACKDATE_MS,
    not_after_ms: Math.min(end_ms, issuer.not_after_ms),
  });
}

async function readListener(path: string): Promise<Signer | undefined> {
  const text = await readKeyFile(path);
  if (text === undefined) return undefined;
  try {
    return openSignerText(text);
  } catch {
    // Nothing depends on this very certificate, so an unreadable one is replaced rather than reported.
    return undefined;
  }
}

function isListenerUsable(
  listener: Signer,
  wanted: { names: readonly string[]; issuing: Signer; now_ms: number },
): boolean {
  const { certificate } = listener;
  const { not_before_ms, not_after_ms } = readValidity(certificate);
  const life_left_ms = not_after_ms - wanted.now_ms;
  return (
    wanted.now_ms >= not_before_ms &&
    life_left_ms >= (not_after_ms - not_before_ms) / 3 &&
    certificate.verify(wanted.issuing.certificate.publicKey) &&
    certificate.subjectAltName?.split(', ').length === wanted.names.length &&
    wanted.names.every((name) => coversName(certificate, name))
  );
}

function coversName(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined;
  return certificate.checkHost(domainToASCII(name), { wildcards: false }) !== undefined;
}

function openSignerText(text: string): Signer {
  const certificate = new X509Certificate(text);
  const private_key = createPrivateKey(text);
  if (!certificate.checkPrivateKey(private_key)) throw new Error(`the key is not that of ${certificate.subject}`);
  return {
    certificate_pem: certificate.toString(),
    certificate,
    private_key,
    name: readIssuerName(certificate),
    not_after_ms: readValidity(certificate).not_after_ms,
  };
}

function describe(certificate: X509Certificate): { fingerprint: string; not_before_ms: number; not_after_ms: number } {
  return { fingerprint: readFingerprint(certificate), ...readValidity(certificate) };
}

function writeKey(private_key: KeyObject): string {
  return private_key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
