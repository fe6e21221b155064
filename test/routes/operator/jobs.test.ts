import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Turn } from '../../../kits/typescript/src/api.js';
import { voiceId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import type { Told } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber, type WorkView } from '../../fixtures/transcribing.js';

const MINUTE_MS = 60_000;
const CAPTURED = '2026-11-01T10:00:00.000Z';
const NOTHING = { turns: 0, replaced: 0, protected: 0, suppressed: 0 };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const worker = new TestTranscriber(spool);
const ops = <T>(path: string, body: unknown) => spool.operator.ask<T>('POST', path, body);
const claimed = async (lease_s?: number) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  const work = await worker.claim(recording.id, lease_s);
  await ann.newEvents();
  return { recording, work };
};
/** Where nothing is due, nobody gets anything. */
const claimAll = async () => (await ops<{ items: WorkView[] }>('/ops/jobs/claim', { limit: 20, lease_s: 60 })).items;

const turnEvents = async () => (await ann.newEvents()).filter((event) => /^(turn|run|contact)\./.test(event));
/** Tokens last less long than windows are tried. */
const passed = async (ms: number) => {
  await spool.operator.advanceClock(ms);
  ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
};

const shared = await claimed(3_600);
const { work, recording } = shared;
const publish = `/ops/jobs/${work.job}/publish`;
await ann.newEvents();

await t.test('K-048 what a result can not say; nothing of it is taken', async (t) => {
  const turn = { start_ms: 0, end_ms: 1_000, text: 'x' };
  const withTurn = (more: object) => ({ turns: [{ ...turn, ...more }] });
  const of = (speaker: unknown) => ({ turns: [turn], speakers: [speaker] });
  const voice = { model: 'm', embedding: Buffer.from('voice').toString('base64') };
  const rows: [says: string, body: Record<string, unknown>, path: string][] = [
    ['a member that is not known', { turns: [], segments: [] }, ''],
    ['one in a turn', withTurn({ start: 0 }), 'turns.0'],
    ['one in a speaker', of({ speaker: 'A', name: 'Ann' }), 'speakers.0'],
    ['one in a voice', of({ speaker: 'A', voice: { ...voice, dim: 256 } }), 'speakers.0.voice'],
    ['no turns', { turns: undefined }, 'turns'],
    ['turns as an object', { turns: {} }, 'turns'],
    ['too many turns', { turns: Array.from({ length: LIMITS.window_turns_max + 1 }, () => turn) }, 'turns'],
    ['no claim', { claim: undefined, turns: [] }, 'claim'],
    ['an empty claim', { claim: '', turns: [] }, 'claim'],
    ['a long claim', { claim: 'x'.repeat(65), turns: [] }, 'claim'],
    ['no text', withTurn({ text: undefined }), 'turns.0.text'],
    ['empty text', withTurn({ text: '' }), 'turns.0.text'],
    ['blank text', withTurn({ text: ' \n ' }), 'turns.0.text'],
    ['text of nothing that is seen', withTurn({ text: '\u202e\u2066' }), 'turns.0.text'],
    ['long text', withTurn({ text: 'x'.repeat(LIMITS.turn_text_chars_max + 1) }), 'turns.0.text'],
    ['half a character', withTurn({ text: 'a\ud800b' }), 'turns.0.text'],
    ['a control character', withTurn({ text: 'a\u0000b' }), 'turns.0.text'],
    ['an escape', withTurn({ text: 'a\u001b[2Jb' }), 'turns.0.text'],
    ['text as a number', withTurn({ text: 7 }), 'turns.0.text'],
    ['no start', withTurn({ start_ms: undefined }), 'turns.0.start_ms'],
    ['half a millisecond', withTurn({ start_ms: 0.5 }), 'turns.0.start_ms'],
    ['a time as text', withTurn({ start_ms: '0' }), 'turns.0.start_ms'],
    ['null as a time', withTurn({ end_ms: null }), 'turns.0.end_ms'],
    ['before the window', withTurn({ start_ms: -2_001 }), 'turns.0.start_ms'],
    ['behind the window', withTurn({ end_ms: 22_001 }), 'turns.0.end_ms'],
    ['behind every page', withTurn({ end_ms: 1e15 }), 'turns.0.end_ms'],
    ['the end before the start', withTurn({ start_ms: 500, end_ms: 499 }), 'turns.0.end_ms'],
    ['out of order', { turns: [{ ...turn, start_ms: 500 }, turn] }, 'turns.1.start_ms'],
    ['too sure', withTurn({ confidence: 1.1 }), 'turns.0.confidence'],
    ['unsure', withTurn({ confidence: -0.1 }), 'turns.0.confidence'],
    ['sure as text', withTurn({ confidence: '1' }), 'turns.0.confidence'],
    ['a language that is none', withTurn({ language: 'en_US' }), 'turns.0.language'],
    ['a language that is none for all', { turns: [], language: 'x' }, 'language'],
    ['an empty label', withTurn({ speaker: '' }), 'turns.0.speaker'],
    ['a long label', withTurn({ speaker: 'x'.repeat(65) }), 'turns.0.speaker'],
    ['a label with a control character', withTurn({ speaker: 'a\u0007' }), 'turns.0.speaker'],
    ['a word of three', withTurn({ words: [['x', 0, 1]] }), 'turns.0.words.0'],
    ['an empty word', withTurn({ words: [['', 0, 1, null]] }), 'turns.0.words.0.0'],
    ['half a character in a word', withTurn({ words: [['\udc00', 0, 1, null]] }), 'turns.0.words.0.0'],
    ['a word before its turn', withTurn({ words: [['x', -2_001, 1, null]] }), 'turns.0.words.0.1'],
    ['a word behind its turn', withTurn({ words: [['x', 0, 3_001, null]] }), 'turns.0.words.0'],
    ['a word that ends first', withTurn({ words: [['x', 5, 4, null]] }), 'turns.0.words.0'],
    ['words out of order', withTurn({ words: [...[9, 8].map((ms) => ['x', ms, 10, 1])] }), 'turns.0.words.1'],
    ['a word too sure', withTurn({ words: [['x', 0, 1, 2]] }), 'turns.0.words.0.3'],
    ['too many words', withTurn({ words: Array.from({ length: 2_001 }, () => ['x', 0, 1, 1]) }), 'turns.0.words'],
    ['consumed nothing', { turns: [], consumed_to_ms: 0 }, 'consumed_to_ms'],
    ['consumed too much', { turns: [], consumed_to_ms: 20_001 }, 'consumed_to_ms'],
    ['a final window that is not consumed', { turns: [], consumed_to_ms: 19_999 }, 'consumed_to_ms'],
    ['an unknown mode', { turns: [], mode: 'append' }, 'mode'],
    ['an unknown scope', { turns: [], speaker_scope: 'account' }, 'speaker_scope'],
    ['a speaker without a label', of({ voice }), 'speakers.0.speaker'],
    ['a match that is no id', of({ speaker: 'A', matches: 'Ann' }), 'speakers.0.matches'],
    ['a voice without a model', of({ speaker: 'A', voice: { ...voice, model: '' } }), 'speakers.0.voice.model'],
    ['no base64', of({ speaker: 'A', voice: { ...voice, embedding: '*' } }), 'speakers.0.voice.embedding'],
    [
      'a large embedding',
      of({ speaker: 'A', voice: { ...voice, embedding: Buffer.alloc(4_097 + 2).toString('base64') } }),
      'speakers.0.voice.embedding',
    ],
  ];
  for (const [says, body, path] of rows) {
    const { status, error } = await post(spool, publish, { claim: work.claim, ...body });
    t.equal(`${status} ${error?.details?.[0]?.path}`, `400 ${path}`, says);
  }
  const raw = `{"claim":"${work.claim}","turns":[{"start_ms":0,"end_ms":1e999,"text":"x"}]}`;
  for (const body of [raw, raw.replace('1e999', 'NaN'), raw.replace('1e999', 'Infinity')])
    t.equal((await postRaw(spool, publish, body)).status, 400, body.slice(-40));
  const large = await postRaw(spool, publish, JSON.stringify({ claim: work.claim, turns: [], x: 'x'.repeat(1 << 20) }));
  t.equal(large.status, 413);
  t.same(await recording.turns(), []);
  t.same(await ann.newEvents(), []);
});

await t.test('K-049 what turns the direction of text or can not be seen is taken out of a result', async (t) => {
  const { work, recording } = await claimed();
  const odd = {
    start_ms: 0,
    end_ms: 1_000,
    text: '\u202eto\u00adday\u2069 می\u200cخواهم\u{e0041}',
    speaker: '\u2066A',
  };
  await worker.publish(work, [{ ...odd, words: [['\u200fto\u206aday', 0, 500, null]] }]);
  const [turn] = await recording.turns();
  t.equal(turn?.text, 'today می\u200cخواهم');
  const { words } = await ann.ask<Turn>('GET', `/turns/${turn?.id}?include=words`);
  t.equal(words?.[0]?.text, 'today');
});

await t.test('K-044 workers get a recording once, also where another engine would tell speakers apart', async (t) => {
  const env = {
    CHUNK_WORKER: '1',
    CONTENT_WORKER: '0',
    TRANSCRIBE_URL: 'http://127.0.0.1:9/',
    TRANSCRIBE_DIARIZE: '1',
  };
  const other = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
  t.teardown(() => other.end());
  const bob = await TestAccount.open(other, 'bob@x.test');
  const once = await TestRecording.begin(bob);
  await once.add(20_000);
  await once.end();
  const transcriber = new TestTranscriber(other);
  await transcriber.publish(await transcriber.claim(once.id), [{ start_ms: 0, end_ms: 1_000, text: 'Once.' }]);
  const transcript = await bob.ask('GET', `/audio/streams/${once.id}/transcript`);
  t.match(transcript, { covered: [[0, 20_000]], waiting: [], failed: [] });
  await other.operator.advanceClock(MINUTE_MS);
  const body = { kinds: ['transcribe'], limit: 20, lease_s: 60 };
  t.match(await other.operator.ask('POST', '/ops/jobs/claim', body), { items: [] });
});

await t.test('K-045 jobs and claims that are none', async (t) => {
  const [stream_id] = work.job.split('.');
  const turns = { turns: [] };
  const rows: [job: string, claim: string, answer: string][] = [
    [work.job, 'x', '409 CONFLICT'],
    [`${stream_id}.2`, work.claim, '409 CONFLICT'],
    [`${randomUUID()}.1`, work.claim, '404 NOT_FOUND'],
    [`${stream_id}.0`, work.claim, '404 NOT_FOUND'],
    [`${stream_id}.01`, work.claim, '404 NOT_FOUND'],
    [`${stream_id}`, work.claim, '404 NOT_FOUND'],
    ['x.1', work.claim, '404 NOT_FOUND'],
    [`${stream_id}.99999999999`, work.claim, '404 NOT_FOUND'],
    [`${recording.source_id}.1`, work.claim, '404 NOT_FOUND'],
    ['__proto__', work.claim, '404 NOT_FOUND'],
  ];
  for (const [job, claim, answer] of rows) {
    const path = `/ops/jobs/${job}`;
    t.equal(await worker.says(`${path}/publish`, { claim, ...turns }), answer, `publish ${job}`);
    t.equal(await worker.says(`${path}/progress`, { claim, lease_s: 60 }), answer, `progress ${job}`);
    t.equal(await worker.says(`${path}/failed`, { claim, code: 'X', message: 'x' }), answer, `failed ${job}`);
  }
  const other = await claimed();
  const body = { claim: other.work.claim, ...turns };
  t.equal(await worker.says(publish, body), '409 CONFLICT', 'the claim of another window');
  await worker.publish(other.work, []);
  for (const [body, path] of [
    [{ kinds: [] }, 'kinds'],
    [{ kinds: ['embed'] }, 'kinds.0'],
    [{ kinds: ['transcribe', 'insights', 'transcribe'] }, 'kinds'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 21 }, 'limit'],
    [{ lease_s: 0 }, 'lease_s'],
    [{ lease_s: 3_601 }, 'lease_s'],
  ] as const) {
    const { status, error } = await post(spool, '/ops/jobs/claim', body);
    t.equal(`${status} ${error?.details?.[0]?.path}`, `400 ${path}`, JSON.stringify(body));
  }
  for (const code of ['', 'x', 'A b', '1', 'X'.repeat(65)])
    t.equal(
      await worker.says(`/ops/jobs/${work.job}/failed`, { claim: work.claim, code, message: 'x' }),
      '400 BAD_REQUEST',
      code,
    );
});

await t.test('K-037 K-047 labels and words of any kind are only text', async (t) => {
  const labels = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '1'];
  const turns = labels.map((label, at) => said(`${label} said`, [at * 1_000, at * 1_000 + 900], label));
  const speakers = labels.map((speaker) => ({ speaker, matches: randomUUID() }));
  await worker.publish(work, turns, { speakers, speaker_scope: 'stream' });
  const published = await recording.turns();
  t.same(
    published.map(({ text, speaker }) => `${text} ${speaker}`),
    labels.map((label, at) => `${label} said S${at + 1}`),
  );
  const { turns: again } = { turns };
  t.same(await worker.publish(work, again, { speakers, speaker_scope: 'stream' }), {
    published: { ...NOTHING, turns: labels.length },
  });
  t.equal((await turnEvents()).length, labels.length, 'the same again changes nothing');
  // Words that reach out of their turn are moved into it, so that a half never lies in another place.
  const next = await claimed();
  const words = [
    ['One', -900, 300, null],
    ['two', 19_999, 20_500, 0.5],
    ['three', 20_600, 21_000, 0.5],
  ];
  await worker.publish(next.work, [{ start_ms: -500, end_ms: 20_800, text: 'One two three', words: words as never }]);
  const [turn] = (await next.recording.turns()) as [Turn];
  t.match(turn, { start_ms: 0, end_ms: 20_800 });
  const read = await ann.ask<{ words: { start_ms: number; end_ms: number }[] }>(
    'GET',
    `/turns/${turn.id}?include=words`,
  );
  t.same(
    read.words.map(({ start_ms, end_ms }) => [start_ms, end_ms]),
    [
      [0, 300],
      [19_999, 20_500],
      [19_999, 20_800],
    ],
  );
  const { items } = await ann.ask<{ items: Turn[] }>('POST', `/turns/${turn.id}/split`, { at_ms: 10_000 });
  t.match(items, [
    { text: 'One', start_ms: 0, end_ms: 300 },
    { text: 'two three', start_ms: 19_999, end_ms: 20_800 },
  ]);
});

await t.test('K-051 the chunks of a claimed window as one file', async (t) => {
  const joined = await TestRecording.begin(ann);
  for (let at = 0; at < 3; at++) await joined.add(2_000);
  await joined.end();
  const { joined_path, ...work } = await worker.claim(joined.id);
  t.equal(joined_path, `/ops/jobs/${work.job}/audio`);
  const answer = await spool.operator.send('GET', joined_path as string);
  const app = { headers: { authorization: `Bearer ${ann.app.access_token}` } };
  const wanted = await fetch(new URL(`/audio/streams/${joined.id}/content`, spool.base_url), app);
  t.equal(answer.status, 200);
  t.ok(answer.body.equals(Buffer.from(await wanted.arrayBuffer())), 'as the whole recording, which it is');
  await worker.publish({ ...work, joined_path }, []);
  for (const [path, status] of [
    [joined_path as string, 409],
    [`/ops/jobs/${randomUUID()}.1/audio`, 404],
    ['/ops/jobs/x/audio', 404],
  ] as const)
    t.equal((await spool.operator.send('GET', path)).status, status, path);
});

await t.test('K-051 chunks that can not be one file have no joined path', async (t) => {
  const recording = await TestRecording.begin(ann);
  const webm = { bytes: Buffer.from('webm'), codec: 'opus', container: 'webm' };
  await recording.add(2_000, { file: webm });
  await recording.end();
  const work = await worker.claim(recording.id);
  t.equal(work.joined_path, null);
  await worker.publish(work, []);
});

await t.test('K-045 two workers at once: each window is in one hand', async (t) => {
  const recordings = [await TestRecording.begin(ann), await TestRecording.begin(ann), await TestRecording.begin(ann)];
  for (const one of recordings) {
    await one.add(70_000);
    await one.end();
  }
  const answers = await Promise.all(Array.from({ length: 8 }, claimAll));
  const jobs = answers.flat();
  t.same(jobs.map(({ job }) => job).sort(), recordings.map(({ id }) => `${id}.1`).sort());
  t.same(await claimAll(), []);
  const turns = (one: WorkView) => [said('Hello there.', [one.from_ms, one.from_ms + 500])];
  await Promise.all(jobs.flatMap((one) => [worker.publish(one, turns(one)), worker.publish(one, turns(one))]));
  for (const one of recordings) t.equal((await one.turns()).length, 1);
  const rest = await Promise.all(Array.from({ length: 4 }, claimAll));
  t.same(
    rest
      .flat()
      .map(({ job }) => job)
      .sort(),
    recordings.map(({ id }) => `${id}.2`).sort(),
  );
  for (const one of rest.flat()) await worker.publish(one, []);
  await ann.newEvents();
});

await t.test('K-045 who lost a lease and comes late', async (t) => {
  const { recording, work } = await claimed(30);
  t.match(await ops(`/ops/jobs/${work.job}/progress`, { claim: work.claim, lease_s: 40 }), { lease_until: /Z$/ });
  await spool.operator.advanceClock(20_000);
  t.same(await claimAll(), []);
  await spool.operator.advanceClock(20_000);
  t.equal(
    await worker.says(`/ops/jobs/${work.job}/progress`, { claim: work.claim }),
    '409 CONFLICT',
    'what is over is not prolonged',
  );
  const taken = await worker.claim(recording.id);
  t.match(taken, { tries: 2, from_ms: 0, to_ms: 20_000, job: `${recording.id}.2` });
  t.not(taken.claim, work.claim);
  for (const job of [work.job, taken.job])
    t.equal(await worker.says(`/ops/jobs/${job}/publish`, { claim: work.claim, turns: [] }), '409 CONFLICT');
  const failed = { claim: work.claim, code: 'LATE', message: 'late' };
  t.equal(await worker.says(`/ops/jobs/${work.job}/failed`, failed), '409 CONFLICT');
  await worker.publish(taken, [said('In time.', [0, 900])]);
  t.equal((await recording.turns()).length, 1);
  const late = await claimed(1);
  await spool.operator.advanceClock(2_000);
  await worker.publish(late.work, [said('Late, and nobody else has it.', [0, 900])]);
  t.equal((await late.recording.turns()).length, 1);
  await ann.newEvents();
});

await t.test('K-044 K-046 a window that fails comes again after 1, 4, 16 and 60 minutes', async (t) => {
  let { recording, work } = await claimed();
  const fail = (retry?: boolean) =>
    ops(`/ops/jobs/${work.job}/failed`, { claim: work.claim, code: 'ENGINE_DOWN', message: 'secret words', retry });
  for (const [at, minutes] of [1, 4, 16, 60].entries()) {
    t.same(await fail(), { again: true, tries: at + 1 });
    t.equal(
      await worker.says(`/ops/jobs/${work.job}/failed`, { claim: work.claim, code: 'X', message: 'x' }),
      '409 CONFLICT',
    );
    await passed(minutes * MINUTE_MS - 20_000); // the clock goes on by itself as well
    t.same(await claimAll(), [], `not before ${minutes} minutes`);
    await spool.operator.advanceClock(20_000);
    work = await worker.claim(recording.id);
    t.equal(work.tries, at + 2);
  }
  t.same(await fail(), { again: false, tries: 5 });
  await passed(120 * MINUTE_MS);
  t.same(await claimAll(), []);
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}/transcript`), {
    ...{ failed: [{ from_ms: 0, to_ms: 20_000, code: 'ENGINE_DOWN' }], waiting: [], covered: [] },
  });
  await ops(`/ops/streams/${recording.id}/reprocess`, { only_failed: true });
  work = await worker.claim(recording.id);
  t.equal(work.tries, 1);
  t.same(await fail(false), { again: false, tries: 1 }, 'no try will succeed');
  t.same(await claimAll(), []);
  t.same(await ann.newEvents(), [], 'no event tells of it');
});

await t.test('K-057 voices: what one recording taught, the next one knows', async (t) => {
  const eva = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Eva' });
  const first = await claimed();
  const embedding = Buffer.from('voice of eva').toString('base64');
  const spoken = [said('I am Eva.', [0, 900], 'A'), said('And I am not.', [1_000, 1_900], 'B')];
  await worker.publish(first.work, spoken, {
    speakers: [
      { speaker: 'A', voice: { model: 'm1', embedding } },
      { speaker: 'B', voice: { model: 'm1', embedding: Buffer.from('voice of nobody').toString('base64') } },
      { speaker: 'C', voice: { model: 'm1', embedding } },
    ],
  });
  await ann.ask('PATCH', `/audio/streams/${first.recording.id}/speakers/S1`, { contact_id: eva.id });
  await ann.newEvents();

  const second = await claimed();
  const known = (
    second.work as WorkView & { known_speakers: { speaker: string; voice: { id: string; embedding: string } }[] }
  ).known_speakers;
  t.equal(known.length, 2);
  const of_eva = known.find(({ voice }) => voice?.embedding === embedding);
  const of_nobody = known.find(({ voice }) => voice?.embedding !== embedding);
  t.match(of_eva, { speaker: of_eva?.voice?.id, voice: { model: 'm1' } });
  const matches = [
    { speaker: 'X', matches: of_eva?.voice?.id },
    { speaker: 'Y', matches: of_nobody?.voice?.id },
    { speaker: 'Z', matches: voiceId(first.recording.id, 9) },
  ];
  const next = ['X', 'Y', 'Z'].map((label, at) => said(`I am ${label}.`, [at * 1_000, at * 1_000 + 900], label));
  const refused = { claim: second.work.claim, turns: [{ ...next[0], end_ms: 99_000 }], speakers: matches };
  t.equal(await worker.says(`/ops/jobs/${second.work.job}/publish`, refused), '400 BAD_REQUEST');
  t.equal(
    await worker.says(`/ops/jobs/${second.work.job}/publish`, { ...refused, claim: 'x', turns: next }),
    '409 CONFLICT',
  );
  t.same(await ann.newEvents(), [], 'what is refused makes no contact of a voice');
  await worker.publish(second.work, next, { speakers: matches });
  const turns = await second.recording.turns();
  t.match(turns, [
    { contact_id: eva.id, speaker_name: 'Eva', attribution: 'recognized' },
    { contact_id: /-/, speaker_name: null, attribution: 'recognized' },
    { contact_id: null, speaker_name: null, attribution: 'detected' },
  ]);
  const events = await ann.newEvents();
  t.match(events[0], `contact.created ${turns[1]?.contact_id}`);
  t.equal(events.length, 4);
  await worker.publish(second.work, next, { speakers: matches });
  t.same(await ann.newEvents(), [], 'the same again');
});

await t.test('K-050 nothing is published into what is gone, and no event is recorded', async (t) => {
  const gone = async (how: (recording: TestRecording) => Promise<unknown>, one = claimed(3_600)) => {
    const { recording, work } = await one;
    await how(recording);
    const body = { claim: work.claim, turns: [said('Too late.', [0, 900], 'A')] };
    return worker.says(`/ops/jobs/${work.job}/publish`, body);
  };
  t.equal(await gone(({ source_id }) => ann.ask('DELETE', `/sources/${source_id}`)), '410 GONE');
  t.match(await gone(({ id }) => ann.ask('DELETE', `/audio/streams/${id}`)), /^(410 GONE|404 NOT_FOUND)$/);
  const one = await claimed(3_600);
  const layer_off = () => ann.entitle('transcripts.access', false);
  t.equal(await gone(layer_off, Promise.resolve(one)), '410 GONE');
  t.same(await claimAll(), [], 'nobody gets what is not to be transcribed');
  await ann.entitle('transcripts.access', true);
  t.same(await one.recording.turns(), []);
  await worker.publish(one.work, []);
  const { id: workspace_id } = await ann.workspace('Team');
  const { source_id } = one.recording;
  const in_team = await TestRecording.inWorkspace(ann, { workspace_id, source_id, captured_at: CAPTURED });
  await in_team.add(70_000);
  await in_team.end();
  const work = await worker.claim(in_team.id, 3_600);
  const team_gone = () => ann.ask('DELETE', `/workspaces/${workspace_id}`);
  t.equal(await gone(team_gone, Promise.resolve({ recording: in_team, work })), '410 GONE');
  await passed(3_600_000);
  t.same(await claimAll(), [], 'and nothing of it is to be done');
  t.same(await turnEvents(), []);
});

await t.test('K-050 nothing is published for an account that is deleted', async (t) => {
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const recording = await TestRecording.begin(bob);
  await recording.add(20_000);
  await recording.end();
  const work = await worker.claim(recording.id, 3_600);
  await bob.ask('DELETE', '/me');
  const body = { claim: work.claim, turns: [said('Too late.', [0, 900])] };
  t.equal(await worker.says(`/ops/jobs/${work.job}/publish`, body), '410 GONE');
  await spool.operator.advanceClock(3_600_000);
  t.notOk((await claimAll()).some(({ stream_id }) => stream_id === recording.id));
});

async function post(spool: TestSpool, path: string, body: object): Promise<Told> {
  const answer = await postRaw(spool, path, JSON.stringify(body));
  return { status: answer.status, ...((await answer.json()) as Omit<Told, 'status'>) };
}

async function postRaw(spool: TestSpool, path: string, body: string): Promise<Response> {
  const { ports, services } = spool.server;
  return fetch(`http://127.0.0.1:${ports.operator}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${services.ops_token}`, 'Content-Type': 'application/json' },
    body,
  });
}
