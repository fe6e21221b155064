import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Export } from '../../../actors/accounts/exports_state.js';
import { streamOfChunk } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { fileKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { StreamView } from '../recordings/streams.js';
import { transcriptMarkdown } from '../transcripts/transcript_markdown.js';
import type { AccountReader } from './account_reader.js';
import type { Archive } from './archive.js';
import type { ExportReaders } from './export_principal.js';
import { type Item, LEFT_OUT, LEFT_OUT_BESIDE, RESOURCES, type Resource } from './export_resources.js';
import {
  type ListedRecording,
  recordingsPage,
  speakersOf,
  spokenTurns,
  transcriptName,
} from './readable_recordings.js';
import { stableList } from './stable_list.js';

/** The version of the archive's layout. The files in it follow the API's version. */
const FORMAT = 1;
/** The number of characters of lines that are written together. */
const LINES_CHARS = 64 * 1024;

/** `records`: the number of lines of a file of lines. */
type ListedFile = { path: string; bytes: number; sha256: string; records?: number };
type LeftOut = { what: string; why: string };

type ExportContentsDeps = {
  reader: AccountReader;
  blobs: BlobStore;
  /** The bytes of a stored chunk; null if they are gone. */
  chunkBytes: (chunk_id: string) => Promise<Readable | null>;
  now: () => number;
  readers: ExportReaders;
  wanted: Pick<Export, 'audio' | 'files'>;
  /** Called for each record that was added. */
  onRecord: () => void;
};

/** Fills an archive with all data of an account. */
export class ExportContents {
  readonly #deps: ExportContentsDeps;
  readonly #files: ListedFile[] = [];
  readonly #missing: string[] = [];
  readonly #left_out: LeftOut[] = [];
  readonly #recordings: ListedRecording[] = [];

  constructor(deps: ExportContentsDeps) {
    this.#deps = deps;
  }

  async fill(archive: Archive): Promise<void> {
    const { wanted, now } = this.#deps;
    const made_at = new Date(now()).toISOString();
    for (const resource of RESOURCES) await this.#addLines(archive, resource);
    await this.#addTranscripts(archive);
    if (wanted.audio) await this.#addAudio(archive);
    else this.#left_out.push({ what: 'audio/', why: 'It was not asked for.' });
    if (wanted.files) await this.#addFiles(archive);
    else this.#left_out.push({ what: 'files/', why: 'It was not asked for.' });
    await this.#addRecordingsPage(archive, made_at);
    const { account_id } = this.#deps.readers.who;
    const manifest = { format: FORMAT, account_id, made_at, files: this.#files, missing: this.#missing };
    const left_out = [
      ...this.#left_out,
      ...LEFT_OUT.map(({ path, why }) => ({ what: routeName(path), why })),
      ...LEFT_OUT_BESIDE,
    ];
    await archive.add({ path: 'manifest.json', from: textOf({ ...manifest, left_out }), compress: true });
    await archive.end();
  }

  async #addLines(archive: Archive, resource: Resource): Promise<void> {
    const path = `${resource.name}.ndjson`;
    const hinders = this.#hinders(resource);
    if (hinders !== null) {
      this.#left_out.push({ what: path, why: hinders });
      return;
    }
    let records = 0;
    const count = () => {
      records += 1;
      this.#deps.onRecord();
    };
    const added = await archive.add({ path, from: linesOf(this.#items(resource), count), compress: true });
    this.#files.push({ path, records, ...added });
  }

  #hinders(resource: Resource): string | null {
    const { reader, readers } = this.#deps;
    const parent = RESOURCES.find(({ name }) => name === resource.of?.name);
    const all = parent === undefined ? [resource] : [resource, parent];
    const [missing = null] = all.flatMap((one) => reader.missingLayer(one, readers.who) ?? []);
    if (missing === null) return null;
    return missing === 'rights' ? 'The account has no right to it.' : `The layer ${missing} is switched off.`;
  }

  /** Reads the items of a resource, in its order. */
  async *#items(resource: Resource): AsyncGenerator<Item> {
    const { reader, readers, now } = this.#deps;
    const { of, moves, secret = [] } = resource;
    const who = resource.says_rights ? readers.plain : readers.who;
    const read = (id?: string) =>
      'read' in resource ? oneItem(() => reader.one(resource, { who, id })) : reader.list(resource, { who, id });
    if (of === undefined) {
      for await (const item of moves ? stableList(read, now) : read()) yield without(item, secret);
      return;
    }
    const parent = RESOURCES.find(({ name }) => name === of.name) as Resource;
    for await (const item of this.#items(parent)) {
      if (of.where?.(item) === false) continue;
      const id = String(item.id);
      for await (const part of read(id)) yield { [of.as]: id, ...part };
    }
  }

  /** A readable text for each recording with speech, the newest first. */
  async #addTranscripts(archive: Archive): Promise<void> {
    const { reader, readers, onRecord } = this.#deps;
    if (this.#hinders(resourceNamed('streams')) !== null) return;
    const hinders = this.#hinders(resourceNamed('turns'));
    if (hinders !== null) this.#left_out.push({ what: 'transcripts/', why: hinders });
    const names = new Set<string>();
    let beyond = 0;
    for await (const item of this.#items(resourceNamed('streams'))) {
      if (this.#recordings.length >= LIMITS.export_recordings_listed_max) {
        beyond += 1;
        continue;
      }
      const stream = item as StreamView;
      const head = await reader.recordingHead(readers.who, stream);
      const turns = () => reader.turns(readers.who, stream.id);
      const said = hinders === null ? await speakersOf(turns()) : null;
      if (said === null || said.turns === 0) {
        this.#recordings.push({ ...head, transcript: null });
        continue;
      }
      const transcript = `transcripts/${unusedName(names, transcriptName(head, nameInArchive))}.md`;
      const from = piecesOf(transcriptMarkdown(head, said.speakers, spokenTurns(turns())));
      const added = await archive.add({ path: transcript, from, compress: true });
      this.#files.push({ path: transcript, ...added });
      this.#recordings.push({ ...head, transcript });
      onRecord();
    }
    if (beyond === 0) return;
    const why = `One archive lists ${LIMITS.export_recordings_listed_max} recordings to read at most.`;
    this.#left_out.push({ what: `texts of the ${beyond} recordings that come last in streams.ndjson`, why });
  }

  /** The page that lists the recordings in the archive. */
  async #addRecordingsPage(archive: Archive, made_at: string): Promise<void> {
    const hinders = this.#hinders(resourceNamed('streams'));
    if (hinders !== null) {
      this.#left_out.push({ what: 'index.html', why: hinders });
      return;
    }
    const audio = new Map<string, string[]>();
    for (const { path } of this.#files) {
      const [folder, stream_id = ''] = path.split('/');
      if (folder !== 'audio') continue;
      const pieces = audio.get(stream_id) ?? [];
      pieces.push(path);
      audio.set(stream_id, pieces);
    }
    const page = recordingsPage(this.#recordings, { made_on: made_at.slice(0, 10), audio });
    const added = await archive.add({ path: 'index.html', from: piecesOf(page), compress: true });
    this.#files.push({ path: 'index.html', ...added });
  }

  /** Audio of the newest streams first, until the archive is full. */
  async #addAudio(archive: Archive): Promise<void> {
    const { readers } = this.#deps;
    if (!readers.who.permissions.includes('audio:read')) {
      this.#left_out.push({ what: 'audio/', why: 'The layer audio.access is switched off.' });
      return;
    }
    const total = { files: 0, bytes: 0, beyond: 0 };
    for await (const chunk of this.#items(resourceNamed('chunks'))) {
      const { id, stream_id, container, size_bytes, stored_at, status } = chunk as unknown as ChunkItem;
      if (stored_at === null || status === 'expired') continue;
      const is_beyond =
        total.files >= LIMITS.export_audio_files_max || total.bytes + size_bytes > LIMITS.export_audio_bytes_max;
      if (is_beyond) {
        total.beyond += 1;
        continue;
      }
      const path = `audio/${stream_id}/${streamOfChunk(id)?.number}.${extensionOf(container)}`;
      total.files += 1;
      total.bytes += size_bytes;
      await this.#addBytes(archive, path, await this.#deps.chunkBytes(id));
    }
    if (total.beyond > 0) {
      const why = `One archive holds ${LIMITS.export_audio_files_max} chunks and ${LIMITS.export_audio_bytes_max} bytes of audio at most.`;
      this.#left_out.push({ what: `audio of the ${total.beyond} chunks that come last in chunks.ndjson`, why });
    }
  }

  async #addFiles(archive: Archive): Promise<void> {
    const { blobs, readers } = this.#deps;
    for await (const file of this.#items(resourceNamed('files'))) {
      const { id, name, status } = file as { id: string; name: string; status: string };
      if (status !== 'stored') continue;
      const blob = await blobs.open(fileKey(readers.who.account_id, id));
      await this.#addBytes(archive, `files/${id}/${nameInArchive(name)}`, blob?.stream ?? null);
    }
  }

  async #addBytes(archive: Archive, path: string, bytes: Readable | null): Promise<void> {
    if (bytes === null) {
      this.#missing.push(path);
      return;
    }
    // Audio is compressed already as a rule; of files nobody knows.
    const added = await archive.add({ path, from: bytes, compress: false });
    this.#files.push({ path, ...added });
    this.#deps.onRecord();
  }
}

type ChunkItem = {
  id: string;
  stream_id: string;
  container: string;
  size_bytes: number;
  stored_at: string | null;
  status: string;
};

function resourceNamed(wanted: string): Resource {
  return RESOURCES.find(({ name }) => name === wanted) as Resource;
}

async function* oneItem(read: () => Promise<Item | null>): AsyncGenerator<Item> {
  const item = await read();
  if (item !== null) yield item;
}

function without(item: Item, members: readonly string[]): Item {
  if (!members.some((name) => name in item)) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !members.includes(name)));
}

/** One JSON text a line, in pieces of some lines. */
async function* linesOf(items: AsyncIterable<Item>, onLine: () => void): AsyncGenerator<Buffer> {
  const lines = async function* () {
    for await (const item of items) {
      yield `${JSON.stringify(item)}\n`;
      onLine();
    }
  };
  yield* piecesOf(lines());
}

/** The same text in larger pieces. */
async function* piecesOf(texts: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Buffer> {
  let text = '';
  for await (const part of texts) {
    text += part;
    if (text.length < LINES_CHARS) continue;
    yield Buffer.from(text);
    text = '';
    await setImmediate();
  }
  if (text !== '') yield Buffer.from(text);
}

/** The name, or the name with a number where another file has it in any letter case. */
function unusedName(used: Set<string>, name: string): string {
  for (let number = 1; ; number++) {
    const tried = number === 1 ? name : `${name} (${number})`;
    const folded = tried.normalize('NFC').toLowerCase();
    if (used.has(folded)) continue;
    used.add(folded);
    return tried;
  }
}

async function* textOf(document: object): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
}

/** The file extension for audio in a container. */
function extensionOf(container: string): string {
  const name =
    container
      .toLowerCase()
      .split(/[;/]/)
      .find((part) => part !== 'audio') ?? '';
  return /^[a-z0-9]{1,8}$/.test(name.trim()) ? name.trim() : 'bin';
}

/** Characters that Windows allows in no file name, and those that it removes from the end of one. */
const NO_FILE_NAME = /[<>:"/\\|?*\p{Cc}]|[. ]+$/gu;
/** Names of devices in Windows, whatever follows the first dot. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?=\.|$)/i;

/** A file's name in a form that every system can unpack; `files.ndjson` has the original name. */
export function nameInArchive(name: string): string {
  return name.replaceAll(NO_FILE_NAME, (found) => '_'.repeat(found.length)).replace(DEVICE_NAME, '_$&');
}

function routeName(path: string): string {
  return `GET ${path.replaceAll(/:([a-z_]+)/g, '{$1}')}`;
}
