import { readdir } from 'node:fs/promises';
import { hashOf, type NoteFiles } from './note_files.js';
import { nameKey, noteNames } from './note_names.js';
import { type DayEntry, dayOf, dayText, type NoteContent, noteText, noteTitle } from './note_text.js';
import type { NoteIntent, NoteRecord, NotesState } from './notes_state.js';

/** Of a note that was there before its state: it is taken as changed. */
const UNKNOWN_HASH = '';

/** Counts the files that were written, removed, and left since people had changed them. */
export type NoteCounts = { written: number; removed: number; left: number };

type WriterDeps = { folder: string; files: NoteFiles; state: NotesState; say: (text: string) => void };

/** Writes notes and their days; what people have changed, deleted or moved stays so, and is said. */
export class NoteWriter {
  readonly #deps: WriterDeps;
  /** Names in the folder; not all of them are notes of ours. */
  #present = new Set<string>();
  readonly #reserved = new Set<string>();
  #days = new Set<string>();
  counts: NoteCounts = { written: 0, removed: 0, left: 0 };

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  /** Sees which names there are. */
  async begin(): Promise<void> {
    this.#present = new Set((await readdir(this.#deps.folder)).map(nameKey));
    this.#days = new Set();
    this.counts = { written: 0, removed: 0, left: 0 };
  }

  /** Takes over what was written before the program ended in the middle. */
  async recover(): Promise<void> {
    const { files, state } = this.#deps;
    const intents = await state.intended();
    for (const intent of intents) {
      const { name, hash } = intent.note;
      if ((await files.state(name, hash)) !== 'same') continue;
      if ('day' in intent) {
        state.days.set(intent.day, intent.note);
        continue;
      }
      const before = state.notes.get(intent.id);
      if (before !== undefined && before.name !== name && (await files.state(before.name, before.hash)) === 'same')
        await files.remove(before.name);
      state.set(intent.id, intent.note);
    }
    if (intents.length > 0) await state.save();
  }

  async write(content: NoteContent): Promise<void> {
    const { files, state } = this.#deps;
    const { stream } = content;
    const before = state.notes.get(stream.id);
    const address = `${state.server}/app/recordings/${stream.id}`;
    const text = noteText(content, { address, links: state.form.links });
    const record = recordOf(content);
    if (before !== undefined) this.#days.add(before.day);
    this.#days.add(record.day);
    if (before === undefined) return this.#add(record, stream.id, text);
    const hash = hashOf(text);
    const is = await files.state(before.name, before.hash);
    const here = { ...record, name: before.name, hash };
    if (is !== 'same') {
      if (is === 'changed' && (await files.state(before.name, hash)) === 'same') state.set(stream.id, here);
      else {
        state.set(stream.id, { ...here, hash: before.hash });
        if (hash !== before.hash) this.#leave(before.name, is);
      }
    } else if (before.title === record.title && before.day === record.day) {
      if (hash !== before.hash) await this.#put({ id: stream.id, note: here }, text);
      state.set(stream.id, here);
    } else {
      await this.#add(record, stream.id, text);
      if (state.notes.get(stream.id)?.name !== before.name) await files.remove(before.name);
    }
  }

  /** Of a recording that is gone. */
  async remove(id: string): Promise<void> {
    const { files, state, say } = this.#deps;
    const note = state.notes.get(id);
    if (note === undefined) return;
    this.#days.add(note.day);
    const is = await files.state(note.name, note.hash);
    if (is === 'same') {
      await files.remove(note.name);
      this.counts.removed += 1;
    } else if (is === 'changed') {
      this.counts.left += 1;
      say(`${note.name}: its recording was deleted; the note was changed by hand, and stays`);
    }
    state.delete(id);
  }

  /** Writes the notes of the days that have changed. */
  async writeDays(): Promise<void> {
    const { state } = this.#deps;
    if (!state.form.daily || this.#days.size === 0) return;
    const entries = new Map<string, DayEntry[]>([...this.#days].map((day) => [day, []]));
    for (const { day, at, name, length_ms } of state.notes.values())
      entries.get(day)?.push({ at, note: name, length_ms });
    for (const [day, found] of entries) await this.#writeDay(day, found);
  }

  async #writeDay(day: string, entries: readonly DayEntry[]): Promise<void> {
    const { files, state } = this.#deps;
    const name = `${day}.md`;
    const text = dayText(day, entries);
    const note = { name, hash: hashOf(text) };
    const before = state.days.get(day);
    if (before === undefined) {
      if (entries.length === 0) return;
      const there = await files.read(name);
      if (there !== null && there !== text) return this.#leave(name, 'changed');
      if (there === null) await this.#put({ day, note }, text);
      state.days.set(day, note);
      return;
    }
    const is = await files.state(name, before.hash);
    if (is !== 'same') return this.#leave(name, is);
    if (entries.length === 0) {
      await files.remove(name);
      state.days.delete(day);
    } else if (note.hash !== before.hash) {
      await this.#put({ day, note }, text);
      state.days.set(day, note);
    }
  }

  /** Under the first name that is free, or its own from before this folder's state was lost. */
  async #add(record: Omit<NoteRecord, 'name' | 'hash'>, id: string, text: string): Promise<void> {
    const { files, state } = this.#deps;
    for (const name of noteNames({ id, ...record })) {
      const key = nameKey(name);
      const owner = state.ownerOf(name);
      if ((owner !== undefined && owner !== id) || this.#reserved.has(key)) continue;
      if (owner === undefined && this.#present.has(key)) {
        const there = await files.read(name);
        if (there === null || !there.includes(`\nspool_id: ${JSON.stringify(id)}\n`)) continue;
        const is_same = there === text;
        state.set(id, { ...record, name, hash: is_same ? hashOf(text) : UNKNOWN_HASH });
        if (!is_same) this.#leave(name, 'changed');
        return;
      }
      this.#reserved.add(key);
      try {
        const note = { ...record, name, hash: hashOf(text) };
        await this.#put({ id, note }, text);
        state.set(id, note);
        this.#present.add(key);
      } finally {
        this.#reserved.delete(key);
      }
      return;
    }
    this.#leave(`${record.day} ${record.title}`, 'changed');
  }

  async #put(intent: NoteIntent, text: string): Promise<void> {
    await this.#deps.state.intend(intent);
    await this.#deps.files.write(intent.note.name, text);
    this.counts.written += 1;
  }

  #leave(name: string, is: 'changed' | 'gone'): void {
    this.counts.left += 1;
    const why = is === 'gone' ? 'was deleted or moved, and is not written again' : 'was changed by hand, and stays';
    this.#deps.say(`${name}: ${why}`);
  }
}

function recordOf({ stream, summary }: NoteContent): Omit<NoteRecord, 'name' | 'hash'> {
  const { decisions, tasks, questions, conversations, participants } = summary;
  const items = [...conversations, ...decisions, ...tasks, ...questions].map(({ id }) => id);
  const talked = [...participants, ...(stream.speakers ?? [])].flatMap(({ contact_id }) => contact_id ?? []);
  return {
    at: stream.captured_at,
    day: dayOf(stream.captured_at),
    length_ms: stream.end_ms ?? null,
    title: noteTitle(stream),
    revision: stream.transcript_revision,
    first_line: stream.first_line ?? null,
    pending: summary.state === 'pending',
    items: [...new Set(items)],
    contacts: [...new Set(talked)],
  };
}
