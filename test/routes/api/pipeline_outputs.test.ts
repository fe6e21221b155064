import t from 'tap';
import type { DebugRun, Pipeline, Suggestion, Transcript, Turn } from '../../../kits/typescript/src/api.js';
import { libraryId, pipelineOutputId, placeOfTurn } from '../../../src/domain/ids.js';
import { orNull } from '../../../src/domain/refusals.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const DEFAULT = [
  'Good morning, the budget of the garden is here.',
  'I will send you the new budget.',
  'Thank you so much.',
];
const OWN = ['Guten Morgen, das Budget des Gartens ist da.', 'Ich schicke dir das neue Budget.', 'Vielen Dank dafür.'];

type InsightWork = { job: string; claim: string; pipeline: { id: string }; turns: { text: string }[] };

const NOT_FOUND = { name: 'Refused', code: 'NOT_FOUND' };
t.test('what another pipeline hears in a recording', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const { actors, clock, retention, erasures } = spool.server.services;
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  for (const who of [ann, bob]) await who.entitle('developer.tools', true);
  const worker = new TestTranscriber(spool);
  const own = await ann.ask<Pipeline>('POST', '/pipelines', {
    ...{ name: 'German', transcription: { engine: 'precise', language: 'de', diarize: true } },
  });
  const spoken = (texts: string[]) =>
    texts.map((text, at) => said(text, [at * 6_000, at * 6_000 + 5_000], at === 1 ? 'B' : 'A'));
  const run = (recording: TestRecording, more: object = {}, pipeline = own.id) =>
    ann.says('POST', `/pipelines/${pipeline}/runs`, { stream_id: recording.id, ...more });
  const recorded = async (recording?: TestRecording) => {
    const made = recording ?? (await TestRecording.begin(ann));
    await made.add(20_000);
    await made.end();
    await worker.publish(await worker.claim(made.id), spoken(DEFAULT));
    return made;
  };
  const heard = async (recording: TestRecording, texts = OWN) => {
    t.equal(await run(recording), '202');
    await worker.publish(await worker.claim(recording.id), spoken(texts));
  };
  const runsOf = async ({ id }: TestRecording) =>
    (await ann.ask<{ items: DebugRun[] }>('GET', `/debug/streams/${id}/runs`)).items;
  const textsOf = (turns: Turn[]) => turns.map(({ text }) => text);
  const outputTurns = (recording: TestRecording) => recording.turns(`&pipeline_id=${own.id}`);
  const outputOf = ({ id }: TestRecording) => actors.transcript(pipelineOutputId(id, 2));
  const signInAgain = async () => {
    ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
  };

  await t.test('K-115 it lies beside what the default pipeline heard, and replaces nothing', async (t) => {
    const empty = await TestRecording.begin(ann);
    t.equal(await run(empty), '409 CONFLICT', 'there is nothing to hear');
    const recording = await recorded();
    const before = {
      turns: await recording.turns(),
      transcript: await ann.ask<Transcript>('GET', `/audio/streams/${recording.id}/transcript`),
      stream: await ann.ask('GET', `/audio/streams/${recording.id}`),
      list: await ann.ask('GET', '/turns?limit=100'),
    };
    await ann.newEvents();
    t.same(await outputTurns(recording), [], 'it has heard nothing yet');
    t.equal(await run(recording), '202');
    t.match((await runsOf(recording))[0], { status: 'waiting', kind: 'transcribe', pipeline_id: own.id });
    const work = await worker.claim(recording.id);
    t.match((await runsOf(recording))[0], { status: 'claimed', run_id: work.run_id, pipeline_id: own.id });
    t.match(work, {
      ...{ stream_id: recording.id, from_ms: 0, to_ms: 20_000, language: 'de', known_speakers: [] },
      pipeline: { id: own.id, engine: 'precise', diarize: true },
    });
    t.notOk(work.job.startsWith(recording.id));
    const published = await worker.publish(work, spoken(OWN), { language: 'de' });
    t.same(published, { published: { turns: 3, replaced: 0, protected: 0, suppressed: 0 } });
    t.strictSame(
      {
        turns: await recording.turns(),
        transcript: await ann.ask('GET', `/audio/streams/${recording.id}/transcript`),
        stream: await ann.ask('GET', `/audio/streams/${recording.id}`),
        list: await ann.ask('GET', '/turns?limit=100'),
      },
      before,
    );
    t.same(await ann.newEvents(), []);
    t.match((await runsOf(recording))[0], { status: 'published', run_id: work.run_id, pipeline_id: own.id });
    const turns = await outputTurns(recording);
    t.same(textsOf(turns), OWN);
    t.match(turns[1], { stream_id: recording.id, pipeline_id: own.id, language: 'de', speaker: 'S2', start_ms: 6_000 });
    t.equal(placeOfTurn(turns[0]?.id ?? '')?.stream_id, pipelineOutputId(recording.id, 2));
    t.strictSame(await ann.ask('GET', `/turns/${turns[0]?.id}`), turns[0]);
    const path = `/audio/streams/${recording.id}/transcript`;
    t.match(await ann.ask('GET', `${path}?pipeline_id=${own.id}`), {
      ...{ stream_id: recording.id, languages: ['de'], covered: [[0, 20_000]] },
      speakers: [
        { speaker: 'S1', turns: 2 },
        { speaker: 'S2', turns: 1 },
      ],
    });
    const text = (await ann.app.send('GET', `${path}/text?pipeline_id=${own.id}`)).body.toString();
    t.ok(text.includes(OWN[1] as string) && !text.includes(DEFAULT[1] as string), text);

    // A part of it once more: what is heard there now takes its place.
    t.equal(await run(recording, { from_ms: 0, to_ms: 6_000 }), '202');
    const again = await worker.claim(recording.id);
    t.match(again, { from_ms: 0, to_ms: 6_000 });
    t.match(await worker.publish(again, spoken(['Guten Abend.'])), { published: { turns: 1, replaced: 1 } });
    t.same(textsOf(await outputTurns(recording)), ['Guten Abend.', ...OWN.slice(1)]);
    t.strictSame(await recording.turns(), before.turns);
    t.same(await ann.newEvents(), []);
  });

  await t.test('K-116 C-114 who may read it, and that nobody corrects it', async (t) => {
    const team = await ann.workspace('Team');
    await ann.bring(team.id, [bob]);
    const { source_id } = await TestRecording.begin(ann);
    const captured_at = '2026-11-02T10:00:00.000Z';
    const recording = await recorded(
      await TestRecording.inWorkspace(ann, { workspace_id: team.id, source_id, captured_at }),
    );
    await heard(recording);
    const [turn] = await outputTurns(recording);
    const at = `/turns/${turn?.id}`;
    const query = `pipeline_id=${own.id}`;
    const read = async (app: AppClient) =>
      Promise.all(
        [
          at,
          `/turns?stream_id=${recording.id}&${query}`,
          `/audio/streams/${recording.id}/transcript?${query}`,
          `/audio/streams/${recording.id}/transcript/text?${query}`,
        ].map(async (path) => (await app.send('GET', path)).status),
      );
    const tokenOf = async (permissions: string[]) => {
      const asked = { name: 'tool', permissions, expires_at: null };
      return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', asked)).value);
    };
    const [turns_alone, pipelines] = [await tokenOf(['turns:read']), await tokenOf(['turns:read', 'pipelines:read'])];
    t.same(await read(ann.app), [200, 200, 200, 200]);
    t.same(await read(pipelines), [200, 200, 200, 200]);
    t.same(await read(turns_alone), [404, 403, 403, 403]);
    t.same(await read(bob.app), [404, 404, 404, 404], 'pipelines are their account’s');
    t.equal((await bob.ask<{ items: Turn[] }>('GET', `/turns?stream_id=${recording.id}`)).items.length, 3);
    t.equal(await ann.says('GET', `/turns?${query}`), '400 BAD_REQUEST', 'it goes with a stream');
    for (const [method, path, body] of [
      ['PATCH', at, { speaker: 'S2' }],
      ['POST', `${at}/split`, { at_ms: 2_000 }],
      ['DELETE', at, undefined],
    ] as const)
      t.equal(await ann.says(method, path, body), '404 NOT_FOUND', `${method} ${path}`);
    await ann.entitle('developer.tools', false);
    t.same(await read(ann.app), [404, 403, 403, 403]);
    await ann.entitle('developer.tools', true);
    t.same(await read(ann.app), [200, 200, 200, 200]);
    // As the default one it is the default output, and its own stays where it is.
    await ann.ask('PATCH', `/pipelines/${own.id}`, { default: true });
    t.same(textsOf(await outputTurns(recording)), DEFAULT);
    const [first] = (await ann.ask<{ items: Pipeline[] }>('GET', '/pipelines')).items;
    await ann.ask('PATCH', `/pipelines/${first?.id}`, { default: true });
    t.same(textsOf(await outputTurns(recording)), OWN);
  });

  await t.test('K-115 what it makes rests on what it heard', async (t) => {
    const recording = await recorded();
    await heard(recording);
    const claimOf = async (pipeline_id: string) => {
      let work: InsightWork | undefined;
      await until('a conversation is due', async () => {
        await spool.operator.advanceClock(11_000);
        const asked = { kinds: ['insights'], limit: 20, lease_s: 3_600 };
        const { items } = await spool.operator.ask<{ items: (InsightWork & { stream_id: string })[] }>(
          ...(['POST', '/ops/jobs/claim', asked] as const),
        );
        work = items.find((one) => one.pipeline.id === pipeline_id && one.stream_id === recording.id);
        // An account has few in hand: the others are let go.
        for (const { job, claim } of items.filter((one) => one !== work))
          await spool.operator.ask('POST', `/ops/jobs/${job}/failed`, { claim, code: 'X', message: 'x', retry: false });
        return work !== undefined;
      });
      return work as InsightWork;
    };
    const work = await claimOf(own.id);
    t.same(
      work.turns.map(({ text }) => text),
      OWN,
    );
    await spool.operator.ask('POST', `/ops/jobs/${work.job}/publish`, {
      ...{ kind: 'insights', claim: work.claim, conversation: { title: 'Garten', topics: [] } },
      suggestions: [{ op: 'new', kind: 'task', text: 'Schicken', evidence: [{ turn: 2, quote: 'Ich schicke dir' }] }],
      memories: [],
    });
    const listed = async (query = '') =>
      (await ann.ask<{ items: Suggestion[] }>('GET', `/suggestions?limit=100${query}`)).items;
    const turns = await outputTurns(recording);
    t.match(await listed(`&pipeline_id=${own.id}`), [
      { text: 'Schicken', pipeline_id: own.id, evidence: [{ quote: OWN[1], turn_ids: [turns[1]?.id] }] },
    ]);
    t.same(await listed(), []);
    // One that hears as the default one does takes its turns.
    const same = await ann.ask<Pipeline>('POST', '/pipelines', { name: 'Other words' });
    t.equal(await run(recording, {}, same.id), '202');
    await t.rejects(actors.transcript(pipelineOutputId(recording.id, 3)).view(), NOT_FOUND, 'it has none of its own');
    t.same(
      (await claimOf(same.id)).turns.map(({ text }) => text),
      DEFAULT,
    );
    await ann.ask('PATCH', `/pipelines/${same.id}`, { insights: null });
    t.equal(await run(recording, {}, same.id), '409 CONFLICT', 'there is nothing to do');
  });

  await t.test('K-117 it goes with retention, source and recording', async (t) => {
    const recording = await recorded();
    await heard(recording);
    const [turn] = await outputTurns(recording);
    const workspace_id = await privateWorkspaceOf(ann);
    const library = actors.library(libraryId(ann.id, workspace_id));
    const began_at_ms = clock.now();
    await spool.operator.advanceClock(1_000);
    const asked = { workspace_id, sweep_id: 'test', began_at_ms: clock.now(), cutoffs: { transcripts: clock.now() } };
    t.ok(began_at_ms < asked.began_at_ms);
    await library.sweep(asked);
    await retention.worker.look();
    t.equal(await ann.says('GET', `/turns/${turn?.id}`), '410 CONTENT_EXPIRED');
    t.same([(await recording.turns()).length, (await outputTurns(recording)).length], [0, 0]);

    const hidden = await recorded();
    await heard(hidden);
    const [of_hidden] = await outputTurns(hidden);
    t.equal(await run(hidden), '202');
    const held = await worker.claim(hidden.id);
    await ann.ask('DELETE', `/sources/${hidden.source_id}`);
    t.equal(await ann.says('GET', `/turns/${of_hidden?.id}`), '404 NOT_FOUND');
    t.equal(await ann.says('GET', `/turns?stream_id=${hidden.id}&pipeline_id=${own.id}`), '404 NOT_FOUND');
    t.equal(await worker.says(`/ops/jobs/${held.job}/publish`, { claim: held.claim, turns: [] }), '410 GONE');

    const deleted = await recorded();
    await heard(deleted);
    const [of_deleted] = await outputTurns(deleted);
    await outputOf(deleted).view();
    await ann.ask('DELETE', `/audio/streams/${deleted.id}`);
    t.equal(await ann.says('GET', `/turns/${of_deleted?.id}`), '404 NOT_FOUND');
    await until('it is erased', async () => {
      await erasures.worker.look();
      return (await orNull(actors.transcript(deleted.id).view(), 'NOT_FOUND')) === null;
    });
    await t.rejects(outputOf(deleted).view(), NOT_FOUND);
    await signInAgain();
    const archived = await recorded();
    t.equal(await run(archived), '202');
    await ann.ask('PATCH', `/pipelines/${own.id}`, { archived: true });
    const { items } = await spool.operator.ask<{ items: { stream_id: string }[] }>(
      ...(['POST', '/ops/jobs/claim', { limit: 20, lease_s: 60 }] as const),
    );
    t.same(
      items.filter(({ stream_id }) => stream_id === archived.id),
      [],
      'nothing runs through it any more',
    );
    t.equal(await run(archived), '409 CONFLICT');
  });
});
