/**
 * Blobs as objects of a bucket, in any store that speaks S3. An object is put with one request that names its SHA-256
 * and length beforehand, so the store keeps the whole of it or nothing; besides, the last part of a body is held back
 * until the hash is known to be right, so that wrong bytes never become an object even where a store checks nothing.
 */
import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { partsOf } from './arriving_parts.js';
import {
  type BlobExpectation,
  type BlobStore,
  BlobStoreUnavailable,
  checkExpectation,
  checkKey,
  checkPrefix,
  isKey,
  isPart,
  OWNER_NAME,
  type PutResult,
  resolveRange,
  SMALL_BLOB_BYTES_MAX,
} from './blob_store.js';
import type { S3Location } from './s3_location.js';

/** Tries of a request whose body is at hand; what passes through is tried once, and the device comes again. */
const TRIES_MAX = 3;
const CONNECT_MAX_MS = 3_000;
/** From a request to the head of its answer, when the body is at hand. */
const ANSWER_MAX_MS = 15_000;
/** Nothing in either direction for so long ends a request; longer than an upload may stand still. */
const STILL_MAX_MS = 30_000;
const CONNECTIONS_MAX = 256;
/** Of S3, for one listing and one removal. */
const BATCH_MAX = 1_000;
/** Warnings of the client would go to the console, without a level or a form. */
const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** The bucket can't be used as configured; the message says what to do. */
export class UnusableBucket extends Error {
  override name = 'UnusableBucket';
}

type Options = {
  warn: (text: string) => void;
  /** Names in one listing and one removal; for tests. */
  batch_max?: number;
};

/** Opens a bucket after trying it out; throws UnusableBucket. Keys come from the environment as for all S3 clients. */
export async function openS3BlobStore(place: S3Location, { warn, batch_max = BATCH_MAX }: Options): Promise<BlobStore> {
  const { bucket: Bucket, prefix } = place;
  // Whoever runs this server can't change which versions of Node later versions of the client will want.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const client = new S3Client({
    region: place.region ?? process.env.AWS_REGION ?? 'us-east-1',
    ...(place.endpoint === null ? {} : { endpoint: place.endpoint }),
    forcePathStyle: place.path_style,
    maxAttempts: TRIES_MAX,
    // Other stores than Amazon's know none of its newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    logger: QUIET,
    requestHandler: {
      connectionTimeout: CONNECT_MAX_MS,
      socketTimeout: STILL_MAX_MS,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: CONNECTIONS_MAX },
      httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS_MAX },
      logger: QUIET,
    },
  });
  const at_hand = { requestTimeout: ANSWER_MAX_MS };

  /** Runs a request; what goes wrong says what and why, and nothing that was signed. */
  const ask = async <Output>(what: string, request: () => Promise<Output>): Promise<Output> => {
    try {
      return await request();
    } catch (error) {
      throw new BlobStoreUnavailable(`${what}: ${reasonOf(error)}`);
    }
  };

  const putBuffer = (name: string, body: Buffer, sha256: Buffer) =>
    client.send(putCommand({ Bucket, Key: name, Body: body, ContentLength: body.length }, sha256), at_hand);

  const getObject = (Key: string, Range?: string) =>
    ask('reading', async () => {
      try {
        return await client.send(new GetObjectCommand({ Bucket, Key, Range }), at_hand);
      } catch (error) {
        if (isAbsence(error)) return null;
        // A range behind the last byte; also any range of an object without bytes.
        if (statusOf(error) === 416) return 'beyond';
        throw error;
      }
    });

  const head = (key: string): Promise<(HeadObjectCommandOutput & { date: string | undefined }) | null> =>
    ask('looking at an object', async () => {
      const command = new HeadObjectCommand({ Bucket, Key: prefix + key });
      let date: string | undefined;
      command.middlewareStack.add(
        (next) => async (args) => {
          const result = await next(args);
          date = (result.response as { headers?: Record<string, string> }).headers?.date;
          return result;
        },
        { step: 'deserialize', priority: 'high', name: 'spool_date' },
      );
      try {
        const found = await client.send(command, at_hand);
        return { ...found, date };
      } catch (error) {
        if (isAbsence(error)) return null;
        throw error;
      }
    });

  /** Names below a prefix, in batches. */
  async function* batchesBelow(below: string): AsyncIterable<string[]> {
    let token: string | undefined;
    do {
      const page = await ask('listing', () =>
        client.send(
          new ListObjectsV2Command({ Bucket, Prefix: below, MaxKeys: batch_max, ContinuationToken: token }),
          at_hand,
        ),
      );
      yield (page.Contents ?? []).flatMap(({ Key }) => Key ?? []);
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  const removeOne = (name: string) =>
    ask('removing', () => client.send(new DeleteObjectCommand({ Bucket, Key: name }), at_hand));

  await tryOut();

  /** Whether objects can be put and removed, before anybody relies on it. */
  async function tryOut(): Promise<void> {
    const name = `${prefix}.write_check_${randomUUID()}`;
    try {
      await putBuffer(name, Buffer.alloc(0), createHash('sha256').digest());
      await client.send(new DeleteObjectCommand({ Bucket, Key: name }), at_hand);
    } catch (error) {
      client.destroy();
      throw new UnusableBucket(
        `The bucket ${Bucket} of BLOB_URL can't be used: ${reasonOf(error)}. ${adviceOn(error)}`.trimEnd(),
      );
    }
    // A store that can't tell keeps no versions, or doesn't let us ask.
    const versioning = await client.send(new GetBucketVersioningCommand({ Bucket }), at_hand).catch(() => null);
    if (versioning?.Status === 'Enabled')
      warn('the bucket keeps versions: audio that was erased stays in it until its lifecycle rules expire old ones');
  }

  return {
    async put(key, stream, expected) {
      checkKey(key);
      checkExpectation(expected);
      const sha256 = Buffer.from(expected.sha256_hex, 'hex');
      const name = prefix + key;
      if (expected.size_bytes <= SMALL_BLOB_BYTES_MAX) {
        const parts: Buffer[] = [];
        for await (const part of verified(stream, expected)) {
          if ('reason' in part) return { ok: false, reason: part.reason };
          parts.push(part.bytes);
        }
        await ask('storing', () => putBuffer(name, Buffer.concat(parts), sha256));
        return { ok: true };
      }
      let refusal: PutResult | null = null;
      const cut = new AbortController();
      const arriving = async function* () {
        for await (const part of verified(stream, expected)) {
          if ('bytes' in part) yield part.bytes;
          else {
            refusal = { ok: false, reason: part.reason };
            cut.abort();
            // Never comes back: an end of the body would be one of too few bytes.
            throw new Error(part.reason);
          }
        }
      };
      const body = Readable.from(arriving(), { objectMode: false });
      body.on('error', () => {}); // `refusal` says it
      const command = putCommand({ Bucket, Key: name, Body: body, ContentLength: expected.size_bytes }, sha256);
      try {
        await client.send(command, { abortSignal: cut.signal });
        return { ok: true };
      } catch (error) {
        if (refusal !== null) return refusal;
        throw new BlobStoreUnavailable(`storing: ${reasonOf(error)}`);
      } finally {
        body.destroy();
      }
    },

    async open(key, range = {}) {
      checkKey(key);
      const wanted = resolveRange(Number.MAX_SAFE_INTEGER, range);
      const is_whole = range.start === undefined && range.end === undefined;
      if (wanted !== null) {
        const Range = is_whole ? undefined : `bytes=${wanted.start}-${range.end === undefined ? '' : wanted.end}`;
        const found = await getObject(prefix + key, Range);
        if (found === null) return null;
        if (found !== 'beyond') {
          const whole = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1];
          return { size_bytes: Number(whole ?? found.ContentLength), stream: found.Body as Readable };
        }
      }
      const found = await head(key);
      return found && { size_bytes: found.ContentLength ?? 0, stream: Readable.from([]) };
    },

    async has(key) {
      checkKey(key);
      return (await head(key)) !== null;
    },

    async remove(key) {
      checkKey(key);
      const was_there = (await head(key)) !== null;
      if (was_there) await removeOne(prefix + key);
      return was_there;
    },

    async partitions() {
      const names: string[] = [];
      let token: string | undefined;
      do {
        const page = await ask('listing', () =>
          client.send(
            new ListObjectsV2Command({ Bucket, Prefix: prefix, Delimiter: '/', ContinuationToken: token }),
            at_hand,
          ),
        );
        for (const { Prefix = '' } of page.CommonPrefixes ?? []) names.push(Prefix.slice(prefix.length, -1));
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
      return names.filter(isPart);
    },

    async claim(name) {
      const read = async () => {
        const found = await getObject(`${prefix}${OWNER_NAME}`);
        if (found === null || found === 'beyond') return null;
        return (await text(found.Body as Readable)).trim();
      };
      const owner = await read();
      if (owner !== null) return owner;
      const bytes = Buffer.from(`${name}\n`);
      const sha256 = createHash('sha256').update(bytes).digest();
      await ask('storing', () => putBuffer(`${prefix}${OWNER_NAME}`, bytes, sha256));
      return (await read()) ?? name;
    },

    // A put that ends between the two requests is lost with what it replaced. Who calls this makes sure that nobody
    // may put at that moment; S3 has no removal on condition that all stores know.
    async removeOlder(key, age_ms) {
      checkKey(key);
      const found = await head(key);
      if (found === null) return 'absent';
      const age = ageMs(found);
      if (age === null || age < age_ms) return 'young';
      await removeOne(prefix + key);
      return 'removed';
    },

    async removeFolder(folder) {
      checkPrefix(folder);
      for await (const names of batchesBelow(`${prefix}${folder}/`)) {
        if (names.length === 0) continue;
        const command = new DeleteObjectsCommand({
          Bucket,
          Delete: { Objects: names.map((Key) => ({ Key })), Quiet: true },
        });
        command.middlewareStack.add(
          (next) => (args) => {
            // Amazon's takes newer checksums as well, others want this one.
            const { headers, body } = args.request as { headers: Record<string, string>; body: string };
            headers['content-md5'] = createHash('md5').update(body).digest('base64');
            return next(args);
          },
          { step: 'build', name: 'spool_content_md5' },
        );
        const { Errors = [] } = await ask('removing', () => client.send(command, at_hand));
        const [failed] = Errors;
        if (failed !== undefined) throw new BlobStoreUnavailable(`removing: ${failed.Code}, ${Errors.length} objects`);
      }
    },

    async *list(below) {
      if (below !== undefined) checkPrefix(below);
      for await (const names of batchesBelow(below === undefined ? prefix : `${prefix}${below}/`)) {
        for (const name of names) {
          const key = name.slice(prefix.length);
          if (isKey(key)) yield key;
        }
      }
    },

    // One request puts an object: one that ends early leaves nothing.
    async sweepTemporary() {
      return 0;
    },

    async close() {
      client.destroy();
    },
  };
}

type VerifiedPart = { bytes: Buffer } | { reason: 'size' | 'checksum' | 'aborted' };

/** Parts as they arrive, each one late: the last comes only when all of them are right; else a reason comes instead. */
async function* verified(
  stream: Readable | AsyncIterable<Buffer>,
  { size_bytes, sha256_hex }: BlobExpectation,
): AsyncGenerator<VerifiedPart> {
  const parts = partsOf(stream);
  const hash = createHash('sha256');
  let seen_bytes = 0;
  let held: Buffer | null = null;
  let is_at_end = false;
  try {
    for (;;) {
      let part: IteratorResult<Buffer>;
      try {
        part = await parts.next();
      } catch {
        is_at_end = true;
        return yield { reason: 'aborted' };
      }
      if (part.done === true) break;
      seen_bytes += part.value.length;
      if (seen_bytes > size_bytes) return yield { reason: 'size' };
      hash.update(part.value);
      if (part.value.length === 0) continue;
      if (held !== null) yield { bytes: held };
      held = part.value;
    }
    is_at_end = true;
    if (seen_bytes !== size_bytes) return yield { reason: 'size' };
    if (hash.digest('hex') !== sha256_hex.toLowerCase()) return yield { reason: 'checksum' };
    if (held !== null) yield { bytes: held };
  } finally {
    if (!is_at_end) await parts.return?.();
  }
}

type Put = { Bucket: string; Key: string; Body: Buffer | Readable; ContentLength: number };

/** Names the hash twice: signed with the request, which every store checks, and as the object's checksum. */
function putCommand(put: Put, sha256: Buffer): PutObjectCommand {
  const command = new PutObjectCommand({
    ...put,
    ContentType: 'application/octet-stream',
    ChecksumSHA256: sha256.toString('base64'),
  });
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256.toString('hex');
      return next(args);
    },
    { step: 'build', name: 'spool_payload_hash' },
  );
  return command;
}

/** By the store's own clock: its answers say what time it is there. */
function ageMs({ LastModified, date }: { LastModified?: Date | undefined; date: string | undefined }): number | null {
  const age = Date.parse(date ?? '') - (LastModified?.getTime() ?? Number.NaN);
  return Number.isNaN(age) ? null : Math.max(0, age); // whole seconds, and some stores round up
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

function isAbsence(error: unknown): boolean {
  // Without its bucket nothing is absent: everything would look erased.
  return statusOf(error) === 404 && (error as S3ServiceException).name !== 'NoSuchBucket';
}

/** What went wrong in words that hold nothing of the request. */
function reasonOf(error: unknown): string {
  if (error instanceof S3ServiceException)
    return `${error.name}, status ${error.$metadata.httpStatusCode ?? 'unknown'}`;
  const { name, code, message } = error as NodeJS.ErrnoException;
  return code ?? (name === 'Error' ? message : name);
}

const ADVICE: Record<string, string> = {
  NoSuchBucket: 'Make the bucket, or name another one.',
  CredentialsProviderError: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  AccessDenied: 'Its keys must be allowed to get, put, list and delete objects there.',
  InvalidAccessKeyId: 'Check AWS_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'Check AWS_SECRET_ACCESS_KEY and the region of BLOB_URL.',
  PermanentRedirect: 'The bucket is in another region: set region in BLOB_URL.',
  AuthorizationHeaderMalformed: 'The bucket is in another region: set region in BLOB_URL.',
};

function adviceOn(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  return ADVICE[name] ?? (code === undefined ? '' : 'Check the endpoint of BLOB_URL, and that the store is running.');
}
