import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  type PutObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import pMap from 'p-map';
import { gathered, verified } from './arriving_body.js';
import { newContainer, type PlacedBytes, placedBytes, streamFolder } from './blob_keys.js';
import {
  type ArrivingBytes,
  type BlobExpectation,
  type BlobStore,
  BlobStoreUnavailable,
  type ByteRange,
  checkExpectation,
  checkKey,
  checkPrefix,
  isKey,
  isPart,
  type OpenBlob,
  OWNER_NAME,
  type PutResult,
  resolveRange,
  SMALL_BLOB_BYTES_MAX,
} from './blob_store.js';
import { InTurn } from './in_turn.js';
import { adviceOn, isAbsence, reasonOf, statusOf, UnusableBucket } from './s3_errors.js';
import type { S3Location } from './s3_location.js';
import { AT_HAND, ageMs, ask, clientOf, hashOf, hasLiveRecord, headerAt, putCommand } from './s3_requests.js';
import { type ChunkBytes, encodeHeader, encodeRecords, RECORD_HEADER_BYTES } from './segment_record.js';
import { placesOf } from './segments.js';

/** The bound of S3 on one listing and one removal. */
const BATCH_MAX = 1_000;
/** The number of objects in which a request erases at once. */
const AT_ONCE_MAX = 8;
const COUNT_DIGITS = 2; // of base 36: more than `chunks_per_request_max`

type S3Options = {
  warn: (text: string) => void;
  /** Names in one listing and one removal; for tests. */
  batch_max?: number;
};

/** Opens a bucket after trying it out; throws UnusableBucket. Keys come from the environment as for all S3 clients. */
export async function openS3BlobStore(
  place: S3Location,
  { warn, batch_max = BATCH_MAX }: S3Options,
): Promise<BlobStore> {
  const store = new S3BlobStore(place, batch_max);
  await store.tryOut(warn);
  return store;
}

class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #batch_max: number;
  /** Erasures, one after the other in each object. */
  readonly #erasures = new InTurn();

  constructor(place: S3Location, batch_max: number) {
    this.#client = clientOf(place);
    this.#bucket = place.bucket;
    this.#prefix = place.prefix;
    this.#batch_max = batch_max;
  }

  /** Tests that objects can be put and removed, before the bucket is used. */
  async tryOut(warn: S3Options['warn']): Promise<void> {
    const name = `${this.#prefix}.write_check_${randomUUID()}`;
    try {
      await this.#putBuffer(name, Buffer.alloc(0), createHash('sha256').digest());
      await this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: name }), AT_HAND);
    } catch (error) {
      this.#client.destroy();
      throw new UnusableBucket(
        `The bucket ${this.#bucket} of BLOB_URL can't be used: ${reasonOf(error)}. ${adviceOn(error)}`.trimEnd(),
      );
    }
    // A store that does not say keeps no versions, or doesn't let us ask.
    const versioning = await this.#client
      .send(new GetBucketVersioningCommand({ Bucket: this.#bucket }), AT_HAND)
      .catch(() => null);
    if (versioning?.Status === 'Enabled')
      warn('the bucket keeps versions: audio that was erased stays in it until its lifecycle rules expire old ones');
  }

  async put(key: string, stream: ArrivingBytes, expected: BlobExpectation): Promise<PutResult> {
    checkKey(key);
    checkExpectation(expected);
    const name = this.#prefix + key;
    if (expected.size_bytes > SMALL_BLOB_BYTES_MAX) return this.#passThrough(name, stream, expected);
    const came = await gathered(stream, expected);
    if (!came.ok) return came;
    await ask('storing', () => this.#putBuffer(name, came.bytes, Buffer.from(expected.sha256_hex, 'hex')));
    return { ok: true };
  }

  /** Puts the chunks as one object, whose name ends in their number. */
  async append(chunks: readonly ChunkBytes[]): Promise<string[]> {
    const [first] = chunks;
    if (first === undefined) return [];
    const now_ms = Date.now();
    const container = newContainer(now_ms) + chunks.length.toString(36).padStart(COUNT_DIGITS, '0');
    const bytes = Buffer.concat(encodeRecords(chunks, now_ms));
    await ask('storing', () => this.#putBuffer(this.#objectOf({ ...first, container }), bytes, hashOf(bytes)));
    return placesOf(container, 0, chunks);
  }

  async open(key: string, range: ByteRange = {}): Promise<OpenBlob | null> {
    const placed = placedBytes(key);
    if (placed !== null) return this.#openPlaced(placed, range);
    checkKey(key);
    const wanted = resolveRange(Number.MAX_SAFE_INTEGER, range);
    const is_whole = range.start === undefined && range.end === undefined;
    if (wanted !== null) {
      const Range = is_whole ? undefined : `bytes=${wanted.start}-${range.end === undefined ? '' : wanted.end}`;
      const found = await this.#getObject(this.#prefix + key, Range);
      if (found === null) return null;
      if (found !== 'beyond') {
        const whole = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1];
        return { size_bytes: Number(whole ?? found.ContentLength), stream: found.Body as Readable };
      }
    }
    const found = await this.#head(this.#prefix + key);
    return found && { size_bytes: found.ContentLength ?? 0, stream: Readable.from([]) };
  }

  async has(key: string): Promise<boolean> {
    const placed = placedBytes(key);
    if (placed !== null) return (await this.#head(this.#objectOf(placed))) !== null;
    checkKey(key);
    return (await this.#head(this.#prefix + key)) !== null;
  }

  async remove(keys: readonly string[]): Promise<void> {
    const names: string[] = [];
    const of_object = new Map<string, PlacedBytes[]>();
    for (const key of keys) {
      const placed = placedBytes(key);
      if (placed === null) {
        checkKey(key);
        names.push(this.#prefix + key);
        continue;
      }
      const name = this.#objectOf(placed);
      const records = of_object.get(name);
      if (records === undefined) of_object.set(name, [placed]);
      else records.push(placed);
    }
    const parts: [string, PlacedBytes[]][] = [];
    for (const [name, records] of of_object) {
      if (new Set(records.map(({ offset }) => offset)).size === countOf(name)) names.push(name);
      else parts.push([name, records]);
    }
    for (let at = 0; at < names.length; at += BATCH_MAX) await this.#removeMany(names.slice(at, at + BATCH_MAX));
    await pMap(parts, ([name, records]) => this.#erasures.run(name, () => this.#eraseRecords(name, records)), {
      concurrency: AT_ONCE_MAX,
    });
  }

  async partitions(): Promise<string[]> {
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = await ask('listing', () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix,
            Delimiter: '/',
            ContinuationToken: token,
          }),
          AT_HAND,
        ),
      );
      for (const { Prefix = '' } of page.CommonPrefixes ?? []) names.push(Prefix.slice(this.#prefix.length, -1));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
    return names.filter(isPart);
  }

  async claim(name: string): Promise<string> {
    const read = async () => {
      const found = await this.#getObject(`${this.#prefix}${OWNER_NAME}`);
      if (found === null || found === 'beyond') return null;
      return (await text(found.Body as Readable)).trim();
    };
    const owner = await read();
    if (owner !== null) return owner;
    const bytes = Buffer.from(`${name}\n`);
    const sha256 = createHash('sha256').update(bytes).digest();
    await ask('storing', () => this.#putBuffer(`${this.#prefix}${OWNER_NAME}`, bytes, sha256));
    return (await read()) ?? name;
  }

  // A put that ends between the two requests is lost with what it replaced. Who calls this makes sure that nobody
  // may put at that moment; S3 has no removal on condition that all stores know.
  async removeOlder(key: string, age_ms: number): Promise<'removed' | 'young' | 'absent'> {
    checkKey(key);
    const found = await this.#head(this.#prefix + key);
    if (found === null) return 'absent';
    const age = ageMs(found);
    if (age === null || age < age_ms) return 'young';
    await this.#removeOne(this.#prefix + key);
    return 'removed';
  }

  async removeFolder(folder: string): Promise<void> {
    checkPrefix(folder);
    for await (const names of this.#batchesBelow(`${this.#prefix}${folder}/`)) {
      if (names.length > 0) await this.#removeMany(names);
    }
  }

  async *list(below?: string): AsyncGenerator<string> {
    if (below !== undefined) checkPrefix(below);
    for await (const names of this.#batchesBelow(below === undefined ? this.#prefix : `${this.#prefix}${below}/`)) {
      for (const name of names) {
        const key = name.slice(this.#prefix.length);
        if (isKey(key)) yield key;
      }
    }
  }

  // One request puts an object: one that ends early leaves nothing.
  async sweepTemporary(): Promise<number> {
    return 0;
  }

  // Containers are in their streams' folders, and are listed.
  async *sweepAppended(): AsyncGenerator<number> {}

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #objectOf({ stream_id, container }: { stream_id: string; container: string }): string {
    return `${this.#prefix}${streamFolder(stream_id)}/${container}`;
  }

  async #openPlaced(placed: PlacedBytes, range: ByteRange): Promise<OpenBlob | null> {
    const { size_bytes, offset } = placed;
    const asked = resolveRange(size_bytes, range);
    const name = this.#objectOf(placed);
    if (asked === null) return (await this.#head(name)) && { size_bytes, stream: Readable.from([]) };
    const begins = offset + RECORD_HEADER_BYTES;
    const found = await this.#getObject(name, `bytes=${begins + asked.start}-${begins + asked.end}`);
    return found === null || found === 'beyond' ? null : { size_bytes, stream: found.Body as Readable };
  }

  /** Puts an object again without the bytes of some of its chunks; all places in it stay valid. */
  async #eraseRecords(name: string, records: readonly PlacedBytes[]): Promise<void> {
    const found = await this.#getObject(name);
    if (found === null || found === 'beyond') return;
    const bytes = Buffer.concat(await (found.Body as Readable).toArray());
    for (const { offset, size_bytes } of records) {
      const header = headerAt(bytes, offset);
      if (header === null || header.size_bytes !== size_bytes) continue;
      encodeHeader({ ...header, is_erased: true }).copy(bytes, offset);
      bytes.fill(0, offset + RECORD_HEADER_BYTES, offset + RECORD_HEADER_BYTES + size_bytes);
    }
    if (hasLiveRecord(bytes)) await ask('removing', () => this.#putBuffer(name, bytes, hashOf(bytes)));
    else await this.#removeOne(name);
  }

  /** Streams a large body to the bucket; a fault in the body aborts the request. */
  async #passThrough(name: string, stream: ArrivingBytes, expected: BlobExpectation): Promise<PutResult> {
    const sha256 = Buffer.from(expected.sha256_hex, 'hex');
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
    const command = putCommand(
      { Bucket: this.#bucket, Key: name, Body: body, ContentLength: expected.size_bytes },
      sha256,
    );
    try {
      await this.#client.send(command, { abortSignal: cut.signal });
      return { ok: true };
    } catch (error) {
      if (refusal !== null) return refusal;
      throw new BlobStoreUnavailable(`storing: ${reasonOf(error)}`);
    } finally {
      body.destroy();
    }
  }

  #putBuffer(name: string, body: Buffer, sha256: Buffer): Promise<PutObjectCommandOutput> {
    const put = { Bucket: this.#bucket, Key: name, Body: body, ContentLength: body.length };
    return this.#client.send(putCommand(put, sha256), AT_HAND);
  }

  #getObject(Key: string, Range?: string): Promise<GetObjectCommandOutput | 'beyond' | null> {
    return ask('reading', async () => {
      try {
        return await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key, Range }), AT_HAND);
      } catch (error) {
        if (isAbsence(error)) return null;
        // A range behind the last byte; also any range of an object without bytes.
        if (statusOf(error) === 416) return 'beyond';
        throw error;
      }
    });
  }

  #head(Key: string): Promise<(HeadObjectCommandOutput & { date: string | undefined }) | null> {
    return ask('looking at an object', async () => {
      const command = new HeadObjectCommand({ Bucket: this.#bucket, Key });
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
        const found = await this.#client.send(command, AT_HAND);
        return { ...found, date };
      } catch (error) {
        if (isAbsence(error)) return null;
        throw error;
      }
    });
  }

  /** Names below a prefix, in batches. */
  async *#batchesBelow(below: string): AsyncIterable<string[]> {
    let token: string | undefined;
    do {
      const page = await ask('listing', () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: below,
            MaxKeys: this.#batch_max,
            ContinuationToken: token,
          }),
          AT_HAND,
        ),
      );
      yield (page.Contents ?? []).flatMap(({ Key }) => Key ?? []);
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async #removeMany(names: readonly string[]): Promise<void> {
    const command = new DeleteObjectsCommand({
      Bucket: this.#bucket,
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
    const { Errors = [] } = await ask('removing', () => this.#client.send(command, AT_HAND));
    const [failed] = Errors;
    if (failed !== undefined) throw new BlobStoreUnavailable(`removing: ${failed.Code}, ${Errors.length} objects`);
  }

  async #removeOne(name: string): Promise<void> {
    await ask('removing', () =>
      this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: name }), AT_HAND),
    );
  }
}

/** The number of chunks in an object. */
function countOf(name: string): number {
  return Number.parseInt(name.slice(-COUNT_DIGITS), 36);
}
