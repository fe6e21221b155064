import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { DebugRun } from '../../../kits/typescript/src/api.js';
import { defaultPipelineId, pipelineId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { makeInsights } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Page = { items: DebugRun[]; cursor: string | null };

t.test('what became of a recording', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  for (const person of [ann, bob]) await person.entitle('developer.tools', true);
  const worker = new TestTranscriber(spool);
  const runsOf = async (stream_id: string) => (await ann.ask<Page>('GET', `/debug/streams/${stream_id}/runs`)).items;

  await t.test('K-133 K-134 a transcription from its audio to its end, and once more', async (t) => {
    const recording = await TestRecording.begin(ann);
    const again = (body: object) => ann.says('POST', `/debug/streams/${recording.id}/reprocess`, body);
    t.same(await runsOf(recording.id), []);
    t.equal(await again({ kinds: ['transcribe'] }), '202', 'there is nothing to do again');
    await recording.add(20_000);
    await recording.end();
    t.match(await runsOf(recording.id), [
      { run_id: null, kind: 'transcribe', status: 'waiting', from_ms: 0, to_ms: 20_000, tries: 0, failure: null },
    ]);
    const work = await worker.claim(recording.id);
    const [claimed, ...others] = await runsOf(recording.id);
    t.match(claimed, { run_id: work.run_id, status: 'claimed', tries: 1, from_ms: 0, to_ms: 20_000 });
    t.same([claimed?.published_at, claimed?.engine, others], [null, null, []]);
    const result = { speaker_scope: 'window', mode: 'replace', turns: [said('Good morning.', [500, 2_000])] } as const;
    await spool.server.services.transcription.publish(work.job, {
      ...{
        claim: work.claim,
        digest: 'x',
        engine: 'server',
        result: { ...result, turns: [...result.turns], dropped: 3 },
      },
    });
    const [published, ...more] = await runsOf(recording.id);
    t.match(published, { run_id: work.run_id, status: 'published', engine: 'server', queued_at: claimed?.queued_at });
    t.match(published?.dropped, { unsupported: 3, duplicate: 0, protected: 0, malformed: 0, too_many: 0 });
    t.same([typeof published?.published_at, published?.pipeline_id], ['string', defaultPipelineId(ann.id)]);
    t.same(more, []);

    t.equal(await again({ kinds: ['transcribe'], from_ms: 0, to_ms: 10_000 }), '202');
    const second = await worker.claim(recording.id);
    t.match(second, { from_ms: 0, to_ms: 10_000 });
    await spool.operator.ask('POST', `/ops/jobs/${second.job}/failed`, {
      ...{ claim: second.claim, code: 'BROKEN', message: 'It broke.', retry: false },
    });
    const [failed] = await runsOf(recording.id);
    t.match(failed, { run_id: second.run_id, status: 'failed', failure: 'BROKEN', published_at: null });
    const path = `/debug/streams/${recording.id}/runs?limit=1`;
    const first_page = await ann.ask<Page>('GET', path);
    const next_page = await ann.ask<Page>('GET', `${path}&cursor=${first_page.cursor}`);
    t.same(
      [first_page, next_page].map(({ items }) => items[0]?.run_id),
      [second.run_id, work.run_id],
    );
    t.equal(next_page.cursor, null);
  });

  await t.test('K-133 K-134 insights, of whichever pipeline, and once more', async (t) => {
    const recording = await TestRecording.begin(ann);
    await recording.add(20_000);
    await recording.end();
    await worker.publish(await worker.claim(recording.id), [said('I will send it to you.', [500, 2_000])]);
    const made = await makeInsights(ann, recording, { suggestions: [{ text: 'Send it.' }] });
    const [run] = (await runsOf(recording.id)).filter(({ kind }) => kind === 'insights');
    t.match(run, { run_id: made.run_id, status: 'published', pipeline_id: defaultPipelineId(ann.id), to_ms: 20_000 });
    const own = await ann.ask<{ id: string }>('POST', '/pipelines', { name: 'Other' });
    await makeInsights(ann, recording, { pipeline_id: own.id });
    const [newest] = (await runsOf(recording.id)).filter(({ kind }) => kind === 'insights');
    t.equal(newest?.pipeline_id, pipelineId(ann.id, 2));
    const unsettled = async () => {
      const { unsettled } = (await spool.server.services.actors.library(made.library_id).due_work()) as {
        unsettled: { stream_id: string; again: boolean; pipeline_id: string | null; from_ms: number; to_ms: number }[];
      };
      return unsettled.filter(({ stream_id, again }) => again && stream_id === recording.id);
    };
    const body = { kinds: ['insights'] };
    t.equal(await ann.says('POST', `/debug/streams/${recording.id}/reprocess`, body), '202');
    t.match(await unsettled(), [{ pipeline_id: null, from_ms: 0, to_ms: 20_000 }]);
    await ann.ask('PATCH', `/pipelines/${defaultPipelineId(ann.id)}`, { insights: null });
    t.equal(await ann.says('POST', `/debug/streams/${recording.id}/reprocess`, body), '409 CONFLICT');
  });

  await t.test('K-017 C-112 who may look, and who may have it done again', async (t) => {
    const shared = await ann.workspace('Team');
    await ann.bring(shared.id, [bob]);
    const { source_id } = await TestRecording.begin(ann);
    const recording = await TestRecording.inWorkspace(ann, {
      ...{ workspace_id: shared.id, source_id, captured_at: '2026-11-01T12:00:00.000Z' },
    });
    const own = await TestRecording.begin(ann);
    const [runs, again] = [`/debug/streams/${recording.id}/runs`, `/debug/streams/${recording.id}/reprocess`];
    const body = { kinds: ['transcribe', 'insights'] };
    t.equal(await bob.says('GET', runs), '200', 'members read');
    t.equal(await bob.says('POST', again, body), '403 FORBIDDEN', 'only the owner writes');
    for (const id of [own.id, randomUUID()]) {
      t.equal(await bob.says('GET', `/debug/streams/${id}/runs`), '404 NOT_FOUND');
      t.equal(await bob.says('POST', `/debug/streams/${id}/reprocess`, body), '404 NOT_FOUND');
    }
    for (const [wrong, path] of [
      [{}, 'kinds'],
      [{ kinds: [] }, 'kinds'],
      [{ kinds: ['embed'] }, 'kinds.0'],
      [{ kinds: ['insights'], from_ms: 5, to_ms: 5 }, 'to_ms'],
    ] as const) {
      const { status, error } = await tell(ann.app, 'POST', again, wrong);
      t.same([status, error.details?.[0]?.path], [400, path]);
    }
    const tokenOf = async (permissions: string[]) => {
      const asked = { name: 'tool', permissions, expires_at: null };
      return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', asked)).value);
    };
    const reads = await tokenOf(['debug:read', 'turns:read', 'audio:read']);
    t.equal((await reads.send('GET', runs)).status, 200);
    t.equal((await reads.send('POST', again, { body })).status, 403);
    const other = await tokenOf(['turns:read', 'turns:write', 'audio:read', 'audio:write']);
    t.same([(await other.send('GET', runs)).status, (await other.send('POST', again, { body })).status], [403, 403]);
    await ann.entitle('developer.tools', false);
    t.same([await ann.says('GET', runs), await ann.says('POST', again, body)], ['403 FORBIDDEN', '403 FORBIDDEN']);
    await ann.entitle('developer.tools', true);
    await ann.ask('DELETE', `/sources/${source_id}`);
    t.same([await ann.says('GET', runs), await ann.says('POST', again, body)], ['404 NOT_FOUND', '404 NOT_FOUND']);
  });
});
