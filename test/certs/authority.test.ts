import { execFile, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { makeDeviceKey, openAuthority } from '../../certs/authority.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { DAY_MS } from './device_certificates.js';

const NOW_MS = Date.UTC(2030, 5, 1);
const HOUR_MS = 3_600_000;
const NAMES = ['localhost', '127.0.0.1', '::1'];
const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

t.test('H-001 an authority is made once and opened after', async (t) => {
  const folder = tempFolder(t);
  const first = await openAuthority(folder, NOW_MS);
  const again = await openAuthority(folder, NOW_MS + 300 * DAY_MS);
  t.equal(again.ca_pem, first.ca_pem);
  const files = (await readdir(folder)).sort();
  t.strictSame(files, ['issuing_ca.cert.pem', 'issuing_ca.key.pem', 'root_ca.cert.pem', 'root_ca.key.pem']);
  for (const file of files.filter((name) => name.includes('.key.'))) {
    t.equal((await stat(join(folder, file))).mode & 0o777, 0o600, file);
  }
});

t.test('H-001 processes that start at once share one authority', async (t) => {
  const folder = tempFolder(t);
  const module_url = new URL('../../certs/authority.js', import.meta.url).href;
  const script = `
    const { openAuthority } = await import(${JSON.stringify(module_url)})
    process.stdout.write((await openAuthority(${JSON.stringify(folder)}, ${NOW_MS})).ca_pem)`;
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const processes = await Promise.all([start(), start(), start(), start()]);
  const in_process = await Promise.all([openAuthority(folder, NOW_MS), openAuthority(folder, NOW_MS)]);
  t.equal(new Set([...processes.map((one) => one.stdout), ...in_process.map((one) => one.ca_pem)]).size, 1);
  t.equal((await readdir(folder)).length, 4, 'no drafts are left');
});

t.test('H-001 an authority that is broken or has ended does not open', async (t) => {
  const folders = t.testdir({ ours: {}, other: {} });
  const folder = join(folders, 'ours');
  await openAuthority(folder, NOW_MS);
  await t.rejects(openAuthority(folder, NOW_MS + 21 * 365 * DAY_MS), /ended/);

  await openAuthority(join(folders, 'other'), NOW_MS);
  await writeFile(join(folder, 'root_ca.key.pem'), await readFile(join(folders, 'other', 'root_ca.key.pem')));
  await t.rejects(openAuthority(folder, NOW_MS), /not signed by the root CA/);

  await writeFile(join(folder, 'root_ca.key.pem'), 'half a fi');
  await t.rejects(openAuthority(folder, NOW_MS));
});

t.test('H-001 a device certificate says what it is for, and no more', async (t) => {
  const authority = await openAuthority(tempFolder(t), NOW_MS);
  const { public_key } = makeDeviceKey();
  const issued = authority.issueDeviceCertificate({
    device_id: 'recorder-1',
    public_key,
    now_ms: NOW_MS + 999,
    days: 90,
  });
  if (!issued.ok) throw new Error(issued.message);
  const certificate = new X509Certificate(issued.certificate_pem);
  t.strictSame(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  t.equal(certificate.ca, false);
  t.equal(certificate.subject, 'CN=recorder-1');
  t.equal(certificate.subjectAltName, undefined);
  t.match(certificate.serialNumber, /^[4-7][0-9A-F]{31}$/, '16 bytes, positive');
  t.equal(issued.fingerprint, certificate.fingerprint256.replaceAll(':', '').toLowerCase());
  t.equal(issued.not_before_ms, NOW_MS - HOUR_MS, 'backdated an hour, whole seconds');
  t.equal(issued.not_after_ms, NOW_MS + 90 * DAY_MS);
  t.equal(issued.ca_pem, authority.ca_pem);
  const late = authority.issueDeviceCertificate({
    device_id: 'r',
    public_key,
    now_ms: NOW_MS + 7_200 * DAY_MS,
    days: 3_650,
  });
  t.equal(late.ok && late.not_after_ms, NOW_MS + 7_300 * DAY_MS, 'never outlives the CA; past 2049');
  for (const days of [0, -1, Number.NaN, 3_651]) {
    t.throws(() => authority.issueDeviceCertificate({ device_id: 'r', public_key, now_ms: NOW_MS, days }), RangeError);
  }
  t.throws(() => authority.issueDeviceCertificate({ device_id: '', public_key, now_ms: NOW_MS, days: 1 }), RangeError);
});

t.test('H-001 keys too weak for a device are refused with the rule', async (t) => {
  const authority = await openAuthority(tempFolder(t), NOW_MS);
  const keys = [
    { name: 'P-256', accepted: true, key: generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
    { name: 'P-384', accepted: true, key: generateKeyPairSync('ec', { namedCurve: 'P-384' }) },
    { name: 'RSA 2048', accepted: true, key: generateKeyPairSync('rsa', { modulusLength: 2_048 }) },
    { name: 'RSA 1024', accepted: false, key: generateKeyPairSync('rsa', { modulusLength: 1_024 }) },
    {
      name: 'RSA, e = 3',
      accepted: false,
      key: generateKeyPairSync('rsa', { modulusLength: 2_048, publicExponent: 3 }),
    },
    { name: 'P-224', accepted: false, key: generateKeyPairSync('ec', { namedCurve: 'secp224r1' }) },
    { name: 'secp256k1', accepted: false, key: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) },
    { name: 'Ed25519', accepted: false, key: generateKeyPairSync('ed25519') },
  ];
  for (const { name, accepted, key } of keys) {
    const answer = authority.issueDeviceCertificate({
      device_id: 'r',
      public_key: key.publicKey,
      now_ms: NOW_MS,
      days: 1,
    });
    t.equal(answer.ok, accepted, name);
    if (!answer.ok) t.match(answer.message, /P-256, EC P-384, or RSA of 2048/, name);
  }
});

t.test('H-001 the listener keeps its certificate until a third of its life is left or its names change', async (t) => {
  const folder = tempFolder(t);
  const authority = await openAuthority(folder, NOW_MS);
  const first = await authority.issueListenerCertificate({ names: NAMES, now_ms: NOW_MS });
  const certificate = new X509Certificate(first.certificate_pem);
  t.strictSame(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  t.equal(certificate.subjectAltName, 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  t.ok(certificate.checkPrivateKey(createPrivateKey(first.private_key_pem)));

  const issue = async (names: string[], now_ms: number) => {
    const reopened = await openAuthority(folder, now_ms);
    return (await reopened.issueListenerCertificate({ names, now_ms })).fingerprint;
  };
  t.equal(await issue(NAMES, NOW_MS + 59 * DAY_MS), first.fingerprint, 'two thirds not yet over');
  const renewed = await issue(NAMES, NOW_MS + 61 * DAY_MS);
  t.not(renewed, first.fingerprint, 'less than a third left');
  t.not(await issue(NAMES.slice(1), NOW_MS + 61 * DAY_MS), renewed, 'a name less');
  const changed = await issue(['recorders.example'], NOW_MS + 61 * DAY_MS);
  t.equal(await issue(['recorders.example'], NOW_MS + 61 * DAY_MS), changed);
  t.not(await issue(['other.example'], NOW_MS + 61 * DAY_MS), changed, 'another name');
  await writeFile(join(folder, 'listener.key.pem'), 'broken');
  t.ok(await issue(['other.example'], NOW_MS + 61 * DAY_MS), 'an unreadable file is replaced');
  await t.rejects(authority.issueListenerCertificate({ names: ['not a name'], now_ms: NOW_MS }), /not a host name/);
});

t.test('H-001 openssl accepts the chain for its purpose only', { skip: !HAS_OPENSSL && 'no openssl' }, async (t) => {
  const folder = tempFolder(t);
  const now_ms = Date.now();
  const authority = await openAuthority(folder, now_ms);
  const { public_key } = makeDeviceKey();
  const device = authority.issueDeviceCertificate({ device_id: 'r', public_key, now_ms, days: 90 });
  const listener = await authority.issueListenerCertificate({ names: NAMES, now_ms });
  if (!device.ok) throw new Error(device.message);
  await writeFile(join(folder, 'device.pem'), device.certificate_pem);
  await writeFile(join(folder, 'listener.pem'), listener.certificate_pem);
  const verify = (purpose: string, file: string) => {
    const chain = ['-CAfile', join(folder, 'root_ca.cert.pem'), '-untrusted', join(folder, 'issuing_ca.cert.pem')];
    return spawnSync('openssl', ['verify', '-x509_strict', '-purpose', purpose, ...chain, join(folder, file)]).status;
  };
  t.equal(verify('sslclient', 'device.pem'), 0);
  t.equal(verify('sslserver', 'listener.pem'), 0);
  t.not(verify('sslserver', 'device.pem'), 0);
  t.not(verify('sslclient', 'listener.pem'), 0);
});

t.test('H-001 a signing request gives its key and nothing else', { skip: !HAS_OPENSSL && 'no openssl' }, async (t) => {
  const folder = tempFolder(t);
  const authority = await openAuthority(folder, NOW_MS);
  const request = (args: string[]) => {
    const key_path = join(folder, 'csr.key');
    const made = spawnSync('openssl', ['req', '-new', '-nodes', '-keyout', key_path, '-subj', '/CN=admin', ...args]);
    return made.stdout.toString();
  };
  const p256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const issue = (csr_pem: string) =>
    authority.issueDeviceCertificate({ device_id: 'recorder-1', csr_pem, now_ms: NOW_MS, days: 90 });

  const greedy = request([
    ...p256,
    '-addext',
    'basicConstraints=critical,CA:TRUE',
    '-addext',
    'subjectAltName=DNS:admin',
  ]);
  const answer = issue(greedy);
  if (!answer.ok) throw new Error(answer.message);
  const certificate = new X509Certificate(answer.certificate_pem);
  t.equal(certificate.ca, false);
  t.equal(certificate.subject, 'CN=recorder-1');
  t.equal(certificate.subjectAltName, undefined);
  const key = createPublicKey(await readFile(join(folder, 'csr.key'), 'utf8'));
  t.ok(certificate.publicKey.equals(key), 'the key of the request');

  t.ok(issue(request(['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-sha384'])).ok, 'P-384');
  t.ok(issue(request(['-newkey', 'rsa:2048', '-sha512'])).ok, 'RSA 2048');
  t.ok(
    issue(greedy.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST').replaceAll('\n', '\r\n')).ok,
    'old label',
  );

  for (const behind of ['\0', '\n\n', '\r\n\0\0\0', ' \0\n'])
    t.ok(issue(greedy + behind).ok, `behind it ${JSON.stringify(behind)}`);

  const refused = [
    { name: 'weak RSA', csr_pem: request(['-newkey', 'rsa:1024']), message: /RSA of 2048/ },
    {
      name: 'other curve',
      csr_pem: request(['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1']),
      message: /P-256/,
    },
    { name: 'SHA-1', csr_pem: request(['-newkey', 'rsa:2048', '-sha1']), message: /SHA-256/ },
    { name: 'PSS', csr_pem: request(['-newkey', 'rsa:2048', '-sigopt', 'rsa_padding_mode:pss']), message: /PKCS#1/ },
    { name: 'a byte of the subject changed', csr_pem: changeByte(greedy, 'admin'), message: /possession/ },
    { name: 'a NUL within', csr_pem: greedy.replace('\n', '\n\0'), message: /PEM/ },
    { name: 'no PEM', csr_pem: 'hello', message: /PEM/ },
    { name: 'not a request', csr_pem: relabel(authority.root_pem), message: /PKCS#10/ },
    {
      name: 'no DER',
      csr_pem: relabel('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      message: /PKCS#10/,
    },
    { name: 'bytes after the end', csr_pem: appendByte(greedy), message: /PKCS#10/ },
    { name: 'too large', csr_pem: greedy.padEnd(20_000, '\n'), message: /16384/ },
  ];
  for (const { name, csr_pem, message } of refused) {
    const refusal = issue(csr_pem);
    t.match(refusal.ok ? undefined : refusal.message, message, name);
  }
});

function changeByte(pem: string, text: string): string {
  const der = readPem(pem);
  const at = der.indexOf(text);
  der.writeUInt8(der.readUInt8(at) ^ 1, at);
  return writeRequest(der);
}

function appendByte(pem: string): string {
  return writeRequest(Buffer.concat([readPem(pem), Buffer.from([0])]));
}

function relabel(pem: string): string {
  return pem.replaceAll(' CERTIFICATE-', ' CERTIFICATE REQUEST-');
}

function readPem(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}

function writeRequest(der: Buffer): string {
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}
