import { appendFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { readIfThere, writeDurably } from '../../kits/typescript/src/durable_files.js';
import { UserError } from '../user_error.js';
import { NOTE_NAME, nameKey } from './note_names.js';

const nameShape = z.string().regex(NOTE_NAME);
/**
 * `hash`: of what was written last. `pending`: something is still to be made of the recording. `items`: what was made of it.
 * `contacts`: who is named.
 */
const noteShape = z.strictObject({
  name: nameShape,
  hash: z.string(),
  at: z.string(),
  day: z.string(),
  length_ms: z.number().nullable(),
  title: z.string(),
  revision: z.number(),
  first_line: z.string().nullable(),
  pending: z.boolean(),
  items: z.array(z.string()),
  contacts: z.array(z.string()),
});
const dayShape = z.strictObject({ name: nameShape, hash: z.string() });
const stateShape = z.strictObject({
  version: z.literal(1),
  server: z.string(),
  /** Another form has all notes written again. */
  form: z.strictObject({ links: z.boolean(), daily: z.boolean() }),
  /** Null until all recordings were listed once. */
  cursor: z.string().nullable(),
  notes: z.record(z.string(), noteShape),
  days: z.record(z.string(), dayShape),
});

/** A file that is about to be written: a note, or that of a day. */
const intentShape = z.union([
  z.strictObject({ id: z.string(), note: noteShape }),
  z.strictObject({ day: z.string(), note: dayShape }),
]);

export type NoteRecord = z.infer<typeof noteShape>;
export type NoteIntent = z.infer<typeof intentShape>;
type NotesForm = z.infer<typeof stateShape>['form'];

/** The notes as they were written last, and the event up to which. */
export class NotesState {
  readonly #file: string;
  readonly server: string;
  readonly form: NotesForm;
  readonly notes = new Map<string, NoteRecord>();
  readonly days = new Map<string, { name: string; hash: string }>();
  cursor: string | null = null;
  readonly #ids = new Map<string, string>();

  private constructor(file: string, server: string, form: NotesForm) {
    this.#file = file;
    this.server = server;
    this.form = form;
  }

  /** Throws UserError where the file is of another server, or none of these. */
  static async open(file: string, server: string, form: NotesForm): Promise<NotesState> {
    const state = new NotesState(file, server, form);
    const text = await readIfThere(file);
    if (text === null) return state;
    const { success, data } = stateShape.safeParse(jsonOf(text));
    if (!success) throw new UserError(`${file} is not a state of spool notes: name another one with --state.`);
    if (data.server !== server)
      throw new UserError(
        `${file} says what was written from ${data.server}. For another server use another folder; if that server has moved, change its address there.`,
      );
    for (const [id, note] of Object.entries(data.notes)) state.set(id, note);
    for (const [day, note] of Object.entries(data.days)) state.days.set(day, note);
    if (data.form.links === form.links && data.form.daily === form.daily) state.cursor = data.cursor;
    return state;
  }

  set(id: string, note: NoteRecord): void {
    this.delete(id);
    this.notes.set(id, note);
    this.#ids.set(nameKey(note.name), id);
  }

  delete(id: string): void {
    const note = this.notes.get(id);
    if (note !== undefined) this.#ids.delete(nameKey(note.name));
    this.notes.delete(id);
  }

  /** The recording whose note has a name. */
  ownerOf(name: string): string | undefined {
    return this.#ids.get(nameKey(name));
  }

  /** The recordings that show an item or a contact. */
  showing(ids: ReadonlySet<string>): string[] {
    return [...this.notes].flatMap(([id, { items, contacts }]) =>
      items.some((item) => ids.has(item)) || contacts.some((contact) => ids.has(contact)) ? [id] : [],
    );
  }

  /** Keeps what is about to be written, so that nobody takes it for a change by hand if the program ends before `save`. */
  async intend(intent: NoteIntent): Promise<void> {
    await appendFile(this.#journal, `${JSON.stringify(intent)}\n`);
  }

  /** The files that were about to be written when the program ended, oldest first. */
  async intended(): Promise<NoteIntent[]> {
    const lines = ((await readIfThere(this.#journal)) ?? '').split('\n');
    return lines.flatMap((line) => {
      const { success, data } = intentShape.safeParse(jsonOf(line));
      return success ? [data] : [];
    });
  }

  /** Nothing may be written meanwhile. */
  async save(): Promise<void> {
    const { server, form, cursor } = this;
    const [notes, days] = [Object.fromEntries(this.notes), Object.fromEntries(this.days)];
    await writeDurably(this.#file, `${JSON.stringify({ version: 1, server, form, cursor, notes, days })}\n`);
    await rm(this.#journal, { force: true });
  }

  get #journal(): string {
    return `${this.#file}.journal`;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
