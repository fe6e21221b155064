import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { ModelRefused } from './installed_models.js';

/** Fetches a large file over HTTP. What came before a break stays, and the next call goes on from there. */

const BYTES_MAX = 4 * 1024 * 1024 * 1024;

/** The file that a part belongs to. `validator`: a strong ETag or a date. */
type FetchNote = { url: string; validator: string };

/** `room` throws where so many bytes are not free. */
export type FetchWishes = {
  url: string;
  to: string;
  room: (bytes: number) => Promise<void>;
  onProgress: (bytes: number, bytes_total: number | null) => void;
};

/** The whole file is at `to` afterwards. Throws ModelRefused. */
export async function fetchArchive({ url, to, room, onProgress }: FetchWishes): Promise<void> {
  const noted = await noteOf(to);
  const before = noted?.url === url ? await sizeOf(to) : 0;
  const headers = before === 0 ? {} : { range: `bytes=${before}-`, 'if-range': noted?.validator ?? '' };
  const answer = await fetch(url, { headers: { ...headers, 'accept-encoding': 'identity' } }).catch((error: Error) => {
    throw new ModelRefused(
      `${hostOf(url)} could not be reached (${causeOf(error)}). --from FILE takes an archive that is here.`,
    );
  });
  const { start, total } = placeOf(answer, before);
  if (answer.status === 416 && total === before) return answer.body?.cancel();
  if (!answer.ok || answer.body === null || start === null) {
    await answer.body?.cancel();
    if (answer.status === 416) await rm(to, { force: true });
    throw new ModelRefused(`${hostOf(url)} answered ${answer.status} for ${url}.`);
  }
  if (total !== null && total > BYTES_MAX) throw new ModelRefused(`${url} has more than ${BYTES_MAX / 1024 ** 3} GiB.`);
  await room((total ?? 0) - start);
  await note(to, { url, validator: validatorOf(answer) });
  await receive(answer.body, { to, start, total, onProgress });
}

async function receive(
  body: AsyncIterable<Uint8Array>,
  { to, start, total, onProgress }: Pick<FetchWishes, 'to' | 'onProgress'> & { start: number; total: number | null },
): Promise<void> {
  const file = await open(to, start === 0 ? 'w' : 'a', 0o600);
  let bytes = start;
  try {
    for await (const piece of orBroken(body, () => bytes)) {
      bytes += piece.length;
      if (bytes > (total ?? BYTES_MAX)) throw new ModelRefused('The server sent more than it announced.');
      await file.appendFile(piece);
      onProgress(bytes, total);
    }
  } finally {
    await file.close();
  }
  if (total !== null && bytes !== total) throw broken(bytes, new Error('too few bytes came'));
}

async function* orBroken(body: AsyncIterable<Uint8Array>, bytes: () => number): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw broken(bytes(), error as Error);
  }
}

function broken(bytes: number, error: Error): ModelRefused {
  return new ModelRefused(
    `The connection broke after ${Math.floor(bytes / 1_000_000)} MB (${causeOf(error)}). The same command goes on from there.`,
  );
}

/** Where the body of an answer begins in the file, and how long the file is. `start` is null where that is unknown. */
function placeOf({ status, headers }: Response, before: number): { start: number | null; total: number | null } {
  const [, from, all] = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (status === 206 || status === 416)
    return { start: Number(from) === before ? before : null, total: all === undefined ? null : Number(all) };
  const length = headers.get('content-length');
  return { start: 0, total: length === null ? null : Number(length) };
}

function validatorOf({ headers }: Response): string {
  const tag = headers.get('etag') ?? '';
  return tag.startsWith('"') ? tag : (headers.get('last-modified') ?? '');
}

/** Without a validator a part is of no use later: nobody knows whether the file is still the same. */
async function noteOf(path: string): Promise<FetchNote | null> {
  const text = await readFile(`${path}.note`, 'utf8').catch(() => null);
  try {
    const note = text === null ? null : (JSON.parse(text) as FetchNote);
    return note?.validator ? note : null;
  } catch {
    return null;
  }
}

async function note(path: string, what: FetchNote): Promise<void> {
  await writeFile(`${path}.note`, JSON.stringify(what), { mode: 0o600 });
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function hostOf(url: string): string {
  return new URL(url).host;
}

function causeOf(error: Error): string {
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
