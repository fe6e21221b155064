import t from 'tap';
import type { Stream, StreamSummary, Suggestion } from '../../../kits/typescript/src/api.js';
import { dayText, noteText } from '../../../tools/note_folder/note_text.js';

const stream = {
  ...{ id: 'S', title: 'Say "hi": # no\n- tag', captured_at: '2026-11-29T09:15:00.000Z', end_ms: 2_530_000 },
  ...{ tags: ['two words', '#urgent', '---'], transcript_revision: 1 },
  speakers: [{ speaker: 'S1', contact_id: 'C1', name: 'Anna_B' }],
} as unknown as Stream;
const item = (text: string, more: Partial<Suggestion> = {}) =>
  ({ text, status: 'open', due_at: null, due_date: null, roles: { owner_contact_id: null }, ...more }) as Suggestion;
/** By the clocks here. */
const ring = {
  day: new Date('2026-12-09T08:30:00.000Z').toLocaleDateString('sv-SE'),
  time: new Date('2026-12-09T08:30:00.000Z').toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' }),
};
const summary = {
  summary_sentences: [{ text: 'They *agree*.', evidence: [] }],
  participants: [{ contact_id: 'C2', speaker_name: 'Ben', talk_ms: 1 }],
  decisions: [item('Go')],
  tasks: [
    item('Book the room', { due_date: '2026-12-07', roles: { owner_contact_id: 'C2' } as Suggestion['roles'] }),
    item('Call', { status: 'completed' }),
    item('Ring Tom', { due_at: '2026-12-09T08:30:00.000Z' }),
    item('Nothing', { status: 'dismissed' }),
  ],
  questions: [],
} as unknown as StreamSummary;
const text =
  '# Say hi\n\n- Day: 2026-11-29\n- Speakers: Anna\\_B\n\n**0:00 Anna\\_B:** Good morning.\n\n**0:05 S2:** [[x]]\n';

t.test(
  'K-424 a note has front matter of quoted texts, what was made of the recording, and its text at the end',
  async (t) => {
    const note = noteText({ stream, summary, text }, { address: 'http://x/app/recordings/S', links: false });
    const [, front = '', body = ''] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(note) ?? [];
    const facts = Object.fromEntries(front.split('\n').map((line) => line.split(/: (.*)/)));
    t.match(facts.date, /^"2026-11-2\dT\d\d:\d5:00[+-]\d\d:\d\d"$/);
    t.match(facts, {
      title: '"Say \\"hi\\": # no - tag"',
      tags: '["two-words", "urgent", "---"]',
      type: '"recording"',
      participants: '["Ben", "Anna_B"]',
      duration: '"42:10"',
      source: '"http://x/app/recordings/S"',
      spool_id: '"S"',
    });
    t.equal(
      body,
      [
        '## Summary\n\n- They \\*agree\\*.\n\n## Decisions\n\n- Go\n\n',
        '## Tasks\n\n- [ ] Book the room (Ben) 📅 2026-12-07\n- [x] Call\n',
        `- [ ] Ring Tom (${ring.time}) 📅 ${ring.day}\n\n`,
        '## Transcript\n\n**0:00 Anna\\_B:** Good morning.\n\n**0:05 S2:** [[x]]\n',
      ].join(''),
    );
  },
);

t.test('K-424 with links those who are named become links, and nobody else', async (t) => {
  const note = noteText({ stream, summary, text }, { address: 'http://x', links: true });
  t.match(note, 'participants: ["[[Ben]]", "[[Anna_B]]"]');
  t.match(note, '- [ ] Book the room ([[Ben]]) 📅 2026-12-07');
  t.match(note, '**0:00 [[Anna_B]]:** Good morning.');
  t.match(note, '**0:05 S2:** ');
});

t.test('K-424 a recording of which nothing is known yet has front matter alone', async (t) => {
  const none = { summary_sentences: [], participants: [], decisions: [], tasks: [], questions: [] };
  const bare = { ...stream, title: null, end_ms: undefined, tags: [], speakers: null } as unknown as Stream;
  const note = noteText(
    { stream: bare, summary: none as unknown as StreamSummary, text: null },
    { address: 'a', links: true },
  );
  t.match(note, /^---\ntitle: "Recording"\n[\s\S]*\nduration: null\nsource: "a"\nspool_id: "S"\n---\n$/);
});

t.test('K-424 the note of a day lists its recordings in their order', async (t) => {
  const entry = (at: string, note: string, length_ms: number | null) => ({ at, note, length_ms });
  const note = dayText('2026-11-29', [
    entry('2026-11-29T11:00:00.000Z', '2026-11-29 B.md', null),
    entry('2026-11-29T10:00:00.000Z', '2026-11-29 A.md', 65_000),
  ]);
  t.match(
    note,
    /^---\ndate: "2026-11-29"\ntype: "day"\n---\n\n## Recordings\n\n- \d\d:\d\d \[\[2026-11-29 A\]\] \(1:05\)\n- \d\d:\d\d \[\[2026-11-29 B\]\]\n$/,
  );
});
