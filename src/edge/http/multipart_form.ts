import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { type Refusal, Refused, refuse } from '../../domain/refusals.js';
import { askForBody } from './body_arrival.js';
import { CUT_SHORT, watchSilence } from './body_upload.js';
import type { Exchange } from './request_state.js';

/** Forms with one file (RFC 7578), whose bytes are passed on as they come. */

const FIELDS_MAX = 64;
const FIELD_BYTES_MAX = 16 * 1024;
const NAME_BYTES_MAX = 100;
/** Of what stands around the file and the fields. */
const FRAME_BYTES_MAX = 1024 * 1024;
const NO_FORM = refuse('UNSUPPORTED_MEDIA_TYPE', 'The body must be multipart/form-data.');
const MALFORMED = refuse('BAD_REQUEST', 'The body is no well-formed multipart/form-data.');

/** `fields`: each with the last value that came; a name that ends with `[]` has all of them, without the brackets. */
export type MultipartForm = { fields: ReadonlyMap<string, string[]>; file_name: string | null; has_file: boolean };

type FormFile = {
  /** The name of its field. */
  field: string;
  bytes_max: number;
  write(piece: Buffer): Promise<void>;
};

/** Reads a form to its end. Throws Refused. */
export async function takeForm({ request, reply }: Exchange, file: FormFile): Promise<MultipartForm> {
  const { raw } = request;
  const { 'content-type': type = '', 'content-length': length, 'content-encoding': encoding } = raw.headers;
  if (!/^multipart\/form-data\s*;/i.test(type) || (encoding !== undefined && encoding !== 'identity'))
    throw new Refused(NO_FORM);
  const body_bytes_max = file.bytes_max + FIELDS_MAX * FIELD_BYTES_MAX + FRAME_BYTES_MAX;
  if (Number(length) > body_bytes_max) throw new Refused(tooLarge(file));
  const form = new FormReading(type, file);
  askForBody(request, reply);
  const silence = watchSilence(raw);
  try {
    await Promise.race([pipeline(raw, atMost(body_bytes_max, file), form.parser), silence.fell]);
    return await form.ended();
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw form.failure ?? new Refused(raw.complete ? MALFORMED : CUT_SHORT);
  } finally {
    silence.end();
    form.parser.destroy();
  }
}

/** Passes bytes on, as far as a body may have them. */
function atMost(bytes_max: number, file: FormFile): Transform {
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      if (bytes > bytes_max) done(new Refused(tooLarge(file)));
      else done(null, piece);
    },
  });
}

type Parser = InstanceType<typeof Busboy>;

class FormReading {
  readonly parser: Parser;
  readonly #fields = new Map<string, string[]>();
  #written: Promise<void> | null = null;
  #file_name: string | null = null;
  /** The first fault of what came, or of writing it. */
  failure: unknown = null;

  constructor(type: string, file: FormFile) {
    this.parser = parserOf(type, file);
    this.parser.on('error', () => {}); // the pipeline has it as well
    this.parser.on('field', (name: string, value: string, name_is_cut: boolean, value_is_cut: boolean) => {
      if (name_is_cut || value_is_cut) this.#fail(new Refused(tooLong(name)));
      const plain = name.replace(/\[\]$/, '');
      this.#fields.set(plain, plain === name ? [value] : [...(this.#fields.get(plain) ?? []), value]);
    });
    this.parser.on('file', (name, stream, file_name) => {
      stream.on('error', () => {}); // a body that breaks off ends the pipeline
      if (name !== file.field || this.#written !== null) return void stream.resume();
      this.#file_name = file_name === undefined || file_name === '' ? null : file_name;
      stream.once('limit', () => this.#fail(new Refused(tooLarge(file))));
      this.#written = written(stream, file).catch((error: unknown) => this.#fail(error));
    });
    const tooMany = () => this.#fail(new Refused(refuse('BAD_REQUEST', `A form has at most ${FIELDS_MAX} fields.`)));
    this.parser.once('fieldsLimit', tooMany).once('partsLimit', tooMany).once('filesLimit', tooMany);
  }

  async ended(): Promise<MultipartForm> {
    await this.#written;
    if (this.failure !== null) throw this.failure;
    return { fields: this.#fields, file_name: this.#file_name, has_file: this.#written !== null };
  }

  #fail(error: unknown): void {
    this.failure ??= error;
    this.parser.destroy(this.failure as Error);
  }
}

function parserOf(type: string, { field, bytes_max }: FormFile): Parser {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      isPartAFile: (name, _type, file_name) => name === field || file_name !== undefined,
      limits: {
        fields: FIELDS_MAX,
        fieldNameSize: NAME_BYTES_MAX,
        fieldSize: FIELD_BYTES_MAX,
        fileSize: bytes_max,
        files: 2,
        parts: FIELDS_MAX + 2,
        headerPairs: 32,
        headerSize: 8 * 1024,
      },
    });
  } catch {
    throw new Refused(MALFORMED); // without a boundary
  }
}

async function written(stream: AsyncIterable<Buffer>, { write }: FormFile): Promise<void> {
  for await (const piece of stream) await write(piece);
}

function tooLarge({ field, bytes_max }: FormFile): Refusal {
  const message = `must have at most ${Math.floor(bytes_max / 1_000_000)} MB`;
  return refuse('PAYLOAD_TOO_LARGE', `${field}: ${message}.`, { details: [{ path: field, message }] });
}

function tooLong(field: string): Refusal {
  const message = `must have at most ${FIELD_BYTES_MAX} bytes`;
  return refuse('BAD_REQUEST', `${field}: ${message}.`, { details: [{ path: field, message }] });
}
