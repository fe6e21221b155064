import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Stream, StreamSummary } from '../../../kits/typescript/src/api.js';
import { NoteFiles } from '../../../tools/note_folder/note_files.js';
import { NoteWriter } from '../../../tools/note_folder/note_writer.js';
import { NotesState } from '../../../tools/note_folder/notes_state.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const SUMMARY = {
  ...{
    summary_sentences: [],
    participants: [],
    decisions: [],
    tasks: [],
    questions: [],
    conversations: [],
    state: 'ready',
  },
} as unknown as StreamSummary;

function content(id: string, title: string, text = 'Hello') {
  const of = { id, title, captured_at: '2026-11-29T12:00:00.000Z', end_ms: 1_000, transcript_revision: 1 };
  return { stream: { ...of, tags: [], speakers: [] } as unknown as Stream, summary: SUMMARY, text };
}

async function writing(t: Test, { folder = tempFolder(t), daily = false } = {}) {
  const said: string[] = [];
  const state = await NotesState.open(join(folder, '.state.json'), 'http://x', { links: false, daily });
  const writer = new NoteWriter({ folder, files: new NoteFiles(folder), state, say: (text) => said.push(text) });
  await writer.recover();
  await writer.begin();
  const notes = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort();
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { folder, state, writer, said, notes, read };
}

t.test('K-425 notes of one name get ids, a new title renames, and what is gone is removed', async (t) => {
  const { writer, notes, said, read } = await writing(t);
  await Promise.all([writer.write(content('aaaa-11111111', 'Talk')), writer.write(content('bbbb-22222222', 'TALK'))]);
  t.same(notes(), ['2026-11-29 TALK 22222222.md', '2026-11-29 Talk.md']);
  await writer.write(content('aaaa-11111111', 'Plan', 'New'));
  t.same(notes(), ['2026-11-29 Plan.md', '2026-11-29 TALK 22222222.md']);
  t.match(read('2026-11-29 Plan.md'), /New\n$/);
  await writer.write(content('aaaa-11111111', 'Plan', 'New'));
  t.match(writer.counts, { written: 3, left: 0 }, 'the same again is not written');
  await writer.remove('aaaa-11111111');
  t.same(notes(), ['2026-11-29 TALK 22222222.md']);
  t.same(said, []);
});

t.test('K-426 what people have changed, deleted or moved stays so, and is said', async (t) => {
  const { folder, writer, notes, said, read } = await writing(t);
  for (const [id, title] of [
    ['a-1', 'One'],
    ['b-2', 'Two'],
    ['c-3', 'Three'],
  ] as const)
    await writer.write(content(id, title));
  writeFileSync(join(folder, '2026-11-29 One.md'), 'mine');
  rmSync(join(folder, '2026-11-29 Two.md'));
  await writer.write(content('a-1', 'One', 'Other'));
  await writer.write(content('b-2', 'Two', 'Other'));
  await writer.write(content('a-1', 'Renamed', 'Other'));
  t.equal(read('2026-11-29 One.md'), 'mine');
  t.same(notes(), ['2026-11-29 One.md', '2026-11-29 Three.md']);
  t.match(said, [/One\.md: was changed by hand/, /Two\.md: was deleted or moved/, /One\.md: was changed/]);
  await writer.remove('a-1');
  t.equal(read('2026-11-29 One.md'), 'mine');
  t.match(said.at(-1), /its recording was deleted; the note was changed by hand, and stays/);
});

t.test('K-426 files of others are never written over', async (t) => {
  const folder = tempFolder(t);
  const outside = join(tempFolder(t), 'outside');
  writeFileSync(outside, 'theirs');
  writeFileSync(join(folder, '2026-11-29 One.md'), 'theirs');
  symlinkSync(outside, join(folder, '2026-11-29 Two.md'));
  writeFileSync(join(folder, '2026-11-29.md'), 'my day');
  const { writer, notes, read, said } = await writing(t, { folder, daily: true });
  await writer.write(content('a-1', 'One'));
  await writer.write(content('b-2', 'Two'));
  await writer.writeDays();
  t.same(notes(), [
    '2026-11-29 One a1.md',
    '2026-11-29 One.md',
    '2026-11-29 Two b2.md',
    '2026-11-29 Two.md',
    '2026-11-29.md',
  ]);
  t.equal(read('2026-11-29 One.md'), 'theirs');
  t.equal(readFileSync(outside, 'utf8'), 'theirs');
  t.equal(read('2026-11-29.md'), 'my day');
  t.match(said, [/^2026-11-29\.md: was changed by hand/]);
});

t.test(
  'K-426 notes are known again where the program ended before it had saved, and where its state was lost',
  async (t) => {
    const one = await writing(t, { daily: true });
    await one.writer.write(content('a-1', 'One'));
    await one.state.save();
    await one.writer.write(content('a-1', 'Other name', 'Other'));
    await one.writer.write(content('b-2', 'Two'));
    await one.writer.writeDays();
    const two = await writing(t, { folder: one.folder, daily: true });
    t.same(
      [...two.state.notes.values()].map(({ name }) => name),
      ['2026-11-29 Other name.md', '2026-11-29 Two.md'],
    );
    t.notOk(existsSync(join(one.folder, '.state.json.journal')));
    await two.writer.write(content('b-2', 'Two', 'Changed'));
    await two.writer.writeDays();
    t.same(two.said, []);

    rmSync(join(one.folder, '.state.json'));
    writeFileSync(join(one.folder, '2026-11-29 Other name.md'), `${one.read('2026-11-29 Other name.md')}mine`);
    const three = await writing(t, { folder: one.folder, daily: true });
    await three.writer.write(content('a-1', 'Other name', 'Other'));
    await three.writer.write(content('b-2', 'Two', 'Changed'));
    await three.writer.writeDays();
    t.same(three.notes(), ['2026-11-29 Other name.md', '2026-11-29 Two.md', '2026-11-29.md']);
    t.match(three.read('2026-11-29 Other name.md'), /mine$/);
    t.match(three.said, [/Other name\.md: was changed by hand/]);
    t.match(three.writer.counts, { written: 0, left: 1 });
    t.match(three.read('2026-11-29.md'), /\[\[2026-11-29 Other name\]\][\s\S]*\[\[2026-11-29 Two\]\]/);
  },
);
