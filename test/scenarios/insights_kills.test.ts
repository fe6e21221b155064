import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Event, Suggestion } from '../../kits/typescript/src/api.js';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { sha256Of } from '../../kits/typescript/src/device_client.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { ScriptedChat } from '../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { ALL_KILLS, type Kills, killWithin, SOME_KILLS } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { storedSearchFaults } from '../faults/equalities.js';
import { said, type WorkView } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const TALK_MS = 20_000;
/** Longer than a lease of what the server that is no more had in hand. */
const LEASES_OVER_MS = 120_000;
/** Conversations are looked for so long after the last turn. */
const SETTLES_MS = 11_000;
const WAV = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 1_000 }) }, Buffer.alloc(TALK_MS * 2, 7));

const PROMISES = ['I will call Zoe tomorrow.', 'I will bake fresh bread.', 'I will sweep the long stairs.'];
/** Of whom, each recording says by another name: the same memory of two recordings would be one. */
const livesInGraz = (name: string) => `My brother ${name} lives in Graz.`;

type InsightWork = { job: string; claim: string; stream_id: string; run_id: string; suggestions: { ref: number }[] };
type Raw = { op: string; ref?: number; text?: string; kind?: string; evidence?: { turn: number; quote: string }[] };
type Memory = { id: string; text: string };
type Applied = Event & { data: { buckets: Record<string, { count: number }> } };

/** One step, ready to be asked for as often as need be: what it answers, and what must hold then. */
type Step = { ask: () => Promise<string>; again?: string[]; check: (t: Test) => Promise<void> };

const KINDS = [
  ['find a conversation', 'publish', 'publish once more', 'retention'],
  [
    ...['edit', 'dismiss', 'review', 'group', 'delete a suggestion', 'delete a memory', 'delete a conversation'],
    ...['delete the recording', 'move the recording'],
  ],
];

scenario({
  title: 'K-088 K-384 I-022 killed at any commit of a library: no suggestion twice, none lost, each change told once',
  smoke: SOME_KILLS,
  full: ALL_KILLS,
  run: libraryKills,
});

scenario({
  title: 'K-088 killed at any commit between a recording and its suggestions: each comes once',
  smoke: null,
  full: ALL_KILLS,
  run: makingKills,
});

/** Somebody whose recordings lie hours apart, so that no conversation goes on in another one. */
class Talker {
  #token = '';
  #source_id = '';
  #recorded = 0;

  constructor(
    readonly server: Servers,
    readonly email: string,
  ) {}

  app() {
    return this.server.client(this.#token);
  }

  async signIn(): Promise<void> {
    this.#token = (await this.server.signIn(this.email)).access_token;
  }

  async open(): Promise<this> {
    await this.signIn();
    const path = `/ops/accounts/${this.email}/entitlements/developer.tools`;
    await this.server.operator.ask('PUT', path, { enabled: true });
    this.#source_id = (await this.app().ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
    return this;
  }

  /** A recording; gives its id and what uploads its audio, which is its end. */
  async record(): Promise<{ stream_id: string; upload: () => Promise<string> }> {
    const captured_at = new Date(Date.parse('2026-01-01T10:00:00Z') + this.#recorded++ * HOUR_MS).toISOString();
    const stream = { source_id: this.#source_id, captured_at };
    const { id } = await this.app().ask<{ id: string }>('POST', '/audio/streams', stream);
    const intent = await this.app().ask<{ upload_path: string }>('POST', `/audio/streams/${id}/chunks/intents`, {
      ...{ source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
      ...{ source_end_ms: TALK_MS, codec: 'pcm_s16le', container: 'wav', size_bytes: WAV.length },
      sha256: sha256Of(WAV),
    });
    await this.app().ask('POST', `/audio/streams/${id}/end`, { end_ms: TALK_MS });
    const upload = async () => {
      const put = await fetch(this.server.base_url + intent.upload_path, {
        ...{ method: 'PUT', headers: { authorization: `Bearer ${this.#token}` }, body: new Uint8Array(WAV) },
      });
      return String(put.status);
    };
    return { stream_id: id, upload };
  }

  /** All suggestions that rest on a recording. */
  async suggestions(stream_id: string): Promise<Suggestion[]> {
    const found = await this.#all<Suggestion>('/suggestions?limit=100');
    return found.filter(({ evidence }) => evidence.some((one) => one.stream_id === stream_id));
  }

  async memories(stream_id: string): Promise<Memory[]> {
    const found = await this.#all<Memory & { evidence: { stream_id: string }[] }>('/memories?limit=100');
    return found.filter(({ evidence }) => evidence.some((one) => one.stream_id === stream_id));
  }

  async conversations(stream_id: string): Promise<{ id: string }[]> {
    const found = await this.#all<{ id: string; parts: { stream_id: string }[] }>('/conversations?limit=100');
    return found.filter(({ parts }) => parts.some((one) => one.stream_id === stream_id));
  }

  events(): Promise<Event[]> {
    return this.#all<Event>('/events?limit=100');
  }

  /** How often something was told of each of these. */
  async told(ids: readonly string[], type: string): Promise<number[]> {
    const events = (await this.events()).filter((event) => event.type === type);
    return ids.map((id) => events.filter(({ resource }) => resource.id === id).length);
  }

  async #all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: string = cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
      const page: { items: T[]; cursor: string | null } = await this.app().ask('GET', next);
      items.push(...page.items);
      ({ cursor } = page);
    }
    return items;
  }
}

async function libraryKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '1', CONTENT_WORKER: '0' } });
  const ann = await new Talker(server, 'talker@x.test').open();
  const forgetful = await new Talker(server, 'forgetful@x.test').open();
  await server.operator.ask('PUT', `/ops/accounts/${ann.email}/entitlements/workspace.sharing`, { enabled: true });
  const team = await ann.app().ask<{ id: string }>('POST', '/workspaces', { name: 'Team' });
  const ask = (method: string, path: string, body?: unknown) => answerOf(ann.app().ask(method, path, body));
  const claim = async <Work extends { stream_id: string }>(kind: string, stream_id: string): Promise<Work> => {
    let work: Work | undefined;
    await until(`${kind} is due`, async () => {
      const asked = { kinds: [kind], limit: 20, lease_s: 3_600 };
      const { items } = await server.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked);
      work = items.find((one) => one.stream_id === stream_id);
      if (work === undefined) await server.operator.advanceClock(SETTLES_MS);
      return work !== undefined;
    });
    return work as Work;
  };
  const publish = (work: { job: string; claim: string }, body: object): Promise<unknown> =>
    server.operator.ask('POST', `/ops/jobs/${encodeURIComponent(work.job)}/publish`, { claim: work.claim, ...body });

  /** What was said in a recording is text. */
  let heard = 0;
  const transcribed = async (who = ann): Promise<string> => {
    heard += 1;
    const { stream_id, upload } = await who.record();
    await upload();
    const window = await claim<WorkView>('transcribe', stream_id);
    const turns = [...PROMISES, livesInGraz(brother())].map((text, at) =>
      said(text, [at * 5_000, at * 5_000 + 4_000], 'A'),
    );
    await publish(window, { kind: 'transcribe', turns });
    return stream_id;
  };
  /** As the last recording calls him. */
  const brother = () => `Bob${heard}`;
  const conversation = { title: 'A talk', topics: [] };
  const bread = (op: string, ref?: number, text = PROMISES[1] as string): Raw => ({
    ...{ op, kind: 'task', text, evidence: [{ turn: 2, quote: PROMISES[1] as string }] },
    ...(ref !== undefined && { ref }),
  });
  /** Everything that the talk promises. */
  const found = () => ({
    kind: 'insights',
    conversation,
    suggestions: PROMISES.map((text, at): Raw => {
      return { op: 'new', kind: 'task', text, evidence: [{ turn: at + 1, quote: text }] };
    }),
    memories: [
      {
        op: 'new',
        kind: 'fact',
        text: `${brother()} lives in Graz.`,
        evidence: [{ turn: 4, quote: `${brother()} lives in Graz.` }],
      },
    ],
  });
  const made = async (who = ann) => {
    const stream_id = await transcribed(who);
    await publish(await claim<InsightWork>('insights', stream_id), found());
    const suggestions = (await who.suggestions(stream_id)).sort((a, b) => (a.id < b.id ? -1 : 1));
    const [first, second, third] = suggestions as [Suggestion, Suggestion, Suggestion];
    return { stream_id, suggestions, first, second, third };
  };
  /** The same conversation is looked into once more. */
  const again = async (stream_id: string): Promise<InsightWork> => {
    const { items } = await ann.app().ask<{ items: { id: string }[] }>('GET', '/pipelines');
    await ann.app().ask('POST', `/pipelines/${items[0]?.id}/runs`, { stream_id });
    return claim<InsightWork>('insights', stream_id);
  };
  /** What a run that finds all of it once more leaves, and who is told of what. */
  const staysAfterRerun = async (t: Test, stream_id: string, texts: readonly string[]) => {
    await publish(await again(stream_id), found());
    const now = await ann.suggestions(stream_id);
    t.same(now.map(({ text }) => text).sort(), [...texts].sort(), 'what a person did stands after another run');
    t.same(
      [
        ...new Set(
          await ann.told(
            now.map(({ id }) => id),
            'suggestion.created',
          ),
        ),
      ],
      [1],
    );
    const { items } = await server.operator.ask<{ items: InsightWork[] }>('POST', '/ops/jobs/claim', {
      ...{ kinds: ['insights'], limit: 20 },
    });
    t.notOk(
      items.some((other) => other.stream_id === stream_id),
      'nothing waits',
    );
  };
  const isComplete = async (t: Test, stream_id: string) => {
    const now = await ann.suggestions(stream_id);
    t.same(now.map(({ text }) => text).sort(), [...PROMISES].sort());
    t.same(
      await ann.told(
        now.map(({ id }) => id),
        'suggestion.created',
      ),
      [1, 1, 1],
    );
    const memories = await ann.memories(stream_id);
    t.match(memories, [{ text: `${brother()} lives in Graz.` }]);
    t.same(
      await ann.told(
        memories.map(({ id }) => id),
        'memory.created',
      ),
      [1],
    );
    const conversations = await ann.conversations(stream_id);
    t.equal(conversations.length, 1);
    t.same(
      await ann.told(
        conversations.map(({ id }) => id),
        'conversation.created',
      ),
      [1],
    );
  };

  const STEPS: Record<string, () => Promise<Step>> = {
    async 'find a conversation'() {
      const stream_id = await transcribed();
      await server.operator.advanceClock(0); // its library has heard of it
      await server.operator.advanceClock(SETTLES_MS);
      let answered: InsightWork | undefined;
      return {
        async ask() {
          const asked = { kinds: ['insights'], limit: 1, lease_s: 60 };
          const { items } = await server.operator.ask<{ items: InsightWork[] }>('POST', '/ops/jobs/claim', asked);
          answered = items.find((one) => one.stream_id === stream_id);
          return '200';
        },
        async check(t) {
          await server.operator.advanceClock(LEASES_OVER_MS);
          await ann.signIn();
          const work = await claim<InsightWork>('insights', stream_id);
          // Two workers have one job, and are done at the same time.
          const lost = answered !== undefined && answered.claim !== work.claim ? answered : null;
          const both = [work, ...(lost === null ? [] : [lost])];
          for (let times = 0; times < 2; times++) {
            const answers = await Promise.all(both.map((one) => answerOf(publish(one, found()))));
            t.same(answers, ['200', '409 CONFLICT'].slice(0, both.length), 'one result counts');
          }
          await isComplete(t, stream_id);
          await staysAfterRerun(t, stream_id, PROMISES);
        },
      };
    },
    async publish() {
      const stream_id = await transcribed();
      const work = await claim<InsightWork>('insights', stream_id);
      return {
        ask: () => answerOf(publish(work, found())),
        async check(t) {
          const tally = await publish(work, found());
          t.same(tally, { published: { ...NO_TALLY, suggestions: 3, memories: 1 } }, 'the same answer');
          t.equal(await answerOf(publish(work, { ...found(), memories: [] })), '409 CONFLICT', 'something else');
          await isComplete(t, stream_id);
          await staysAfterRerun(t, stream_id, PROMISES);
        },
      };
    },
    async 'publish once more'() {
      const { stream_id, first, second } = await made();
      await ann.app().ask('POST', `/suggestions/${first.id}/review`, { state_version: 1, verdict: 'supported' });
      const work = await again(stream_id);
      const [one, two, three] = work.suggestions.map(({ ref }) => ref);
      const other = 'Bake fresh bread.';
      const suggestions = [{ op: 'withdraw', ref: one }, bread('revise', two, other), { op: 'withdraw', ref: three }];
      const result = { kind: 'insights', conversation, suggestions, memories: [] };
      return {
        ask: () => answerOf(publish(work, result)),
        async check(t) {
          const now = await ann.suggestions(stream_id);
          const standing = now.map(({ text, status }) => `${text} ${status}`).sort();
          t.same(standing, [`${other} open`, `${PROMISES[0]} open`, `${PROMISES[2]} withdrawn`].sort());
          t.same(await ann.told([first.id, second.id], 'suggestion.updated'), [1, 1], 'one reviewed, one revised');
        },
      };
    },
    async edit() {
      const { stream_id, first } = await made();
      const text = 'Call Zoe on Sunday';
      return {
        ask: () => ask('PATCH', `/suggestions/${first.id}`, { state_version: 1, text }),
        again: ['409 CONFLICT'],
        async check(t) {
          t.match(await ann.app().ask('GET', `/suggestions/${first.id}`), { text, state_version: 2, revision: 2 });
          t.same(await ann.told([first.id], 'suggestion.updated'), [1]);
          await staysAfterRerun(t, stream_id, [text, ...PROMISES.slice(1)]);
        },
      };
    },
    async dismiss() {
      const { stream_id, first } = await made();
      return {
        ask: () => ask('PATCH', `/suggestions/${first.id}`, { state_version: 1, status: 'dismissed' }),
        again: ['409 CONFLICT'],
        async check(t) {
          await staysAfterRerun(t, stream_id, PROMISES);
          t.match(await ann.app().ask('GET', `/suggestions/${first.id}`), { status: 'dismissed', state_version: 2 });
          t.same(await ann.told([first.id], 'suggestion.updated'), [1]);
        },
      };
    },
    async review() {
      const { stream_id, first } = await made();
      const review = { state_version: 1, verdict: 'contradicted', note: 'Zoe is away.' };
      return {
        ask: () => ask('POST', `/suggestions/${first.id}/review`, review),
        again: ['409 CONFLICT'],
        async check(t) {
          const { verdict, note } = review;
          t.match(await ann.app().ask('GET', `/suggestions/${first.id}`), { review: { verdict, note } });
          t.same(await ann.told([first.id], 'suggestion.updated'), [1]);
          await staysAfterRerun(t, stream_id, PROMISES);
        },
      };
    },
    async group() {
      const { stream_id, first, second } = await made();
      return {
        ask: () => ask('POST', '/suggestions/group', { suggestion_ids: [first.id, second.id] }),
        async check(t) {
          const now = await ann.suggestions(stream_id);
          const groups = now.flatMap(({ group_id }) => (group_id === null ? [] : [group_id]));
          t.equal(groups.length, 2);
          t.equal(new Set(groups).size, 1, 'one group');
        },
      };
    },
    async 'delete a suggestion'() {
      const { stream_id, first } = await made();
      return {
        ask: () => ask('DELETE', `/suggestions/${first.id}`),
        again: ['404 NOT_FOUND'],
        async check(t) {
          t.same(await ann.told([first.id], 'suggestion.deleted'), [1]);
          await staysAfterRerun(t, stream_id, PROMISES.slice(1));
        },
      };
    },
    async 'delete a memory'() {
      const { stream_id } = await made();
      const [memory] = (await ann.memories(stream_id)) as [Memory];
      return {
        ask: () => ask('DELETE', `/memories/${memory.id}`),
        again: ['404 NOT_FOUND'],
        async check(t) {
          t.same(await ann.told([memory.id], 'memory.deleted'), [1]);
          await staysAfterRerun(t, stream_id, PROMISES);
          t.same(await ann.memories(stream_id), [], 'it does not come back');
        },
      };
    },
    async 'delete a conversation'() {
      const { stream_id } = await made();
      const [talk] = (await ann.conversations(stream_id)) as [{ id: string }];
      return {
        ask: () => ask('DELETE', `/conversations/${talk.id}`),
        again: ['404 NOT_FOUND'],
        async check(t) {
          t.same(await ann.told([talk.id], 'conversation.deleted'), [1]);
          t.same(await ann.conversations(stream_id), []);
        },
      };
    },
    async 'move the recording'() {
      const { stream_id, first, suggestions } = await made();
      await ask('PATCH', `/suggestions/${first.id}`, { state_version: 1, status: 'completed' });
      const path = `/audio/streams/${stream_id}`;
      const idsOf = async () => [...(await ann.suggestions(stream_id)), ...(await ann.memories(stream_id))];
      const before = (await idsOf()).map(({ id }) => id).sort();
      return {
        ask: () => ask('PATCH', path, { workspace_id: team.id }),
        again: ['200', '409 CONFLICT'],
        async check(t) {
          await server.operator.advanceClock(0);
          t.equal(await ask('PATCH', path, { workspace_id: team.id }), '200', 'it stays where it is');
          t.same((await idsOf()).map(({ id }) => id).sort(), before, 'all of it, under its ids');
          const now = await ann.suggestions(stream_id);
          t.same([...new Set(now.map(({ workspace_id }) => workspace_id))], [team.id]);
          t.equal(now.find(({ id }) => id === first.id)?.status, 'completed');
          t.equal((await ann.conversations(stream_id)).length, 1);
          t.same(await ann.told([stream_id], 'stream.updated'), [2], 'of its end, and of its workspace');
          t.equal(now.length, suggestions.length);
          await staysAfterRerun(t, stream_id, PROMISES);
        },
      };
    },
    async 'delete the recording'() {
      const stream_id = await transcribed();
      const work = await claim<InsightWork>('insights', stream_id);
      const before = (await ann.events()).length;
      return {
        ask: () => ask('DELETE', `/audio/streams/${stream_id}`),
        again: ['404 NOT_FOUND'],
        async check(t) {
          t.match(await answerOf(publish(work, found())), /^4(09|10) /, 'its result comes too late');
          t.same(await ann.suggestions(stream_id), []);
          const events = (await ann.events()).slice(0, -before);
          t.same(
            events.map(({ type }) => type),
            ['stream.deleted'],
          );
        },
      };
    },
    async retention() {
      await forgetful.signIn();
      const [own] = (await forgetful.app().ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
      const keep = (days: number | null) =>
        forgetful.app().ask('PATCH', `/workspaces/${own?.id}`, { retention: { insights: { days } } });
      await keep(null);
      const { stream_id, first, suggestions } = await made(forgetful);
      await forgetful.app().ask('PATCH', `/suggestions/${first.id}`, { state_version: 1, text: 'Call her' });
      for (const rating of ['helpful', 'wrong'])
        await forgetful.app().ask('POST', `/suggestions/${first.id}/feedback`, { rating });
      const items = [
        ...suggestions.map(({ id }) => `/suggestions/${id}`),
        ...(await forgetful.memories(stream_id)).map(({ id }) => `/memories/${id}`),
        ...(await forgetful.conversations(stream_id)).map(({ id }) => `/conversations/${id}`),
      ];
      const applied = async () =>
        (await forgetful.events()).filter(({ type }) => type === 'workspace.retention_applied') as Applied[];
      const before = (await applied()).length;
      await keep(0);
      await server.operator.advanceClock(0); // its sweeps know
      return {
        async ask() {
          await server.operator.advanceClock(HOUR_MS);
          return '200';
        },
        async check(t) {
          for (let n = 0; n < 2; n++) await server.operator.advanceClock(LEASES_OVER_MS);
          await forgetful.signIn();
          const news = (await applied()).slice(0, -before || undefined);
          t.equal(news.length, 1, 'one event');
          t.match(news[0]?.data.buckets, { insights: { count: items.length } }, 'each counts once');
          for (const path of items)
            t.equal(await answerOf(forgetful.app().ask('GET', path)), '410 CONTENT_EXPIRED', path);
          t.same(await forgetful.suggestions(stream_id), []);
        },
      };
    },
  };

  await killWithin<Step>(t, server, { steps: STEPS, kinds: KINDS, kills }, async ({ nth, step, answer }, t) => {
    await ann.signIn();
    await forgetful.signIn();
    const got = answer ?? (await step.ask());
    t.ok(['200', ...(answer === null ? (step.again ?? []) : [])].includes(got), `after commit ${nth}: ${got}`);
    await ann.signIn();
    await step.check(t);
  });
  t.same(await storedSearchFaults(await server.connect()), [], 'what search knows is what is there');
}

const NO_TALLY = {
  ...{ suggestions: 0, memories: 0, withdrawn: 0 },
  dropped: { unsupported: 0, duplicate: 0, protected: 0 },
};

/** The built-in workers do all of it, from the upload on. */
async function makingKills(t: Test, kills: Kills): Promise<void> {
  const engine = await ScriptedEngine.start(t);
  const chat = await ScriptedChat.start(t);
  engine.hears = () => [...PROMISES, livesInGraz('Bob')].map((text, at) => ({ text, start: at * 5, end: at * 5 + 4 }));
  const env = { CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url };
  const server = await Servers.open(t, { env: env });
  const ann = await new Talker(server, 'talker@x.test').open();
  const prepare = async (): Promise<Step> => {
    await ann.signIn();
    const { stream_id, upload } = await ann.record();
    return {
      async ask() {
        const answer = await upload();
        for (let n = 0; n < 4; n++) await server.operator.advanceClock(SETTLES_MS);
        return answer;
      },
      async check(t) {
        await until('all is made', async () => {
          await server.operator.advanceClock(MINUTE_MS);
          await ann.signIn();
          return (await ann.suggestions(stream_id)).length > 0;
        });
        for (let n = 0; n < 3; n++) await server.operator.advanceClock(LEASES_OVER_MS);
        await ann.signIn();
        const now = await ann.suggestions(stream_id);
        t.same(now.map(({ text }) => text).sort(), [...PROMISES].sort());
        t.same(
          await ann.told(
            now.map(({ id }) => id),
            'suggestion.created',
          ),
          [1, 1, 1],
        );
        t.equal((await ann.conversations(stream_id)).length, 1);
      },
    };
  };
  const steps = { 'a recording becomes suggestions': prepare };
  await killWithin<Step>(t, server, { steps, kinds: [Object.keys(steps)], kills }, async ({ step, answer }, t) => {
    await ann.signIn();
    if (answer === null) await step.ask().catch(() => null);
    await step.check(t);
  });
  t.same(await storedSearchFaults(await server.connect()), [], 'what search knows is what is there');
}

/** `200`, or status and code of a refusal. */
function answerOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => '200',
    (error: unknown) => {
      if (error instanceof CallRefused) return `${error.status} ${error.code}`;
      throw error;
    },
  );
}
