import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { Patience } from '../../../dist/kits/typescript/src/retries.js';
import { recordWeek } from '../../../dist/tools/demo/week_recordings.js';
import { ScriptedEngine } from '../../../dist/tools/speech/scripted_engine.js';
import { startFts5 } from '../fts5.mjs';
import { closedLoop, quantile, verify, whole } from '../measure.mjs';
import { temporaryFolder } from '../processes.mjs';
import { minuteOf, seeded, sentence } from '../programs/random_words.mjs';
import { toldRecording } from '../recordings.mjs';
import { startSpool } from '../spool_setup.mjs';

const CLIENTS = 4;
const STREAMS = 20;
const TURNS_A_PAGE = 200;
const PAGE_MINUTES = 10;
const SMALL = 100_000;
const LARGE = 1_000_000;
const PUBLISHED_A_SECOND = 500;
const PEER_QUERIES = 500;
const RECALLED = 8;
const GOALS = { p50: 2, p99: 20, large_p50: 8, large_p99: 80, cold: 500, recall_p50: 20, recalled_percent: 68 };

export const title = 'search: what was said among 100,000 and 1,000,000 turns';

export async function run(options) {
  const rows = [...(await rowsOf(SMALL, options, smallRows)), ...(await rowsOf(LARGE, options, largeRows))];
  return [...rows, await recallRow()];
}

/** Measures all rows with so many turns of one account. */
async function rowsOf(turns, options, measure) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder, { env: { CHUNK_WORKER: '1', CONTENT_WORKER: '0' } });
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const recordings = [];
    for (let number = 0; number <= STREAMS; number++) recordings.push(await toldRecording(spool, app, number));
    const windows = turns / STREAMS / TURNS_A_PAGE;
    for (const [number, stream_id] of recordings.slice(0, STREAMS).entries())
      await spool.program.ask('seed_turns', { stream_id, windows, minutes: PAGE_MINUTES, seed: number });
    const pool = new Pool(spool.base_url, { connections: CLIENTS, pipelining: 1 });
    stops.push(() => pool.close());
    const headers = { authorization: `Bearer ${app.access_token}` };
    const search = async (words) => {
      const began = performance.now();
      const path = `/search?kind=turn&limit=25&q=${encodeURIComponent(words.join(' '))}`;
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
      const answer = await body.json();
      if (statusCode !== 200) throw new Error(`a search got ${statusCode}: ${JSON.stringify(answer)}`);
      return { ms: performance.now() - began, items: answer.data.items };
    };
    const recall = async (words) => {
      const began = performance.now();
      const query = `When did they speak of ${words.join(' ')}?`;
      const sent = { method: 'POST', path: '/recall', body: JSON.stringify({ query }) };
      const { statusCode, body } = await pool.request({
        ...sent,
        headers: { ...headers, 'content-type': 'application/json' },
      });
      const answer = await body.json();
      if (statusCode !== 200) throw new Error(`a recall got ${statusCode}: ${JSON.stringify(answer)}`);
      return { ms: performance.now() - began, items: answer.data.items };
    };
    return await measure({ search, recall, spool, spare: recordings[STREAMS], turns, ...options });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function smallRows({ search, recall, spool, spare, turns, rounds, seconds }) {
  await search(['first']); // what is found is in memory from then on
  const single_ms = await took(search, rounds * seconds, 1);
  const alone_ms = await took(search, rounds * seconds);
  const recalled = quantilesOf(await took(recall, rounds * seconds, 1));
  const publishing = spool.program.ask('publish_steadily', {
    ...{ stream_id: spare, turns_a_second: PUBLISHED_A_SECOND, seconds: rounds * seconds },
  });
  const beside_ms = await took(search, rounds * seconds);
  const published = await publishing;
  const peer_ms = await peer(turns);
  const [single, alone, beside] = [single_ms, alone_ms, beside_ms].map(quantilesOf);
  const is_met = ({ p50, p99 }, times) => p50 <= GOALS.p50 * times && p99 <= GOALS.p99 * times;
  const goal = (times) => `p50 ≤ ${GOALS.p50 * times} ms, p99 ≤ ${GOALS.p99 * times} ms`;
  return [
    {
      work: `a search among ${whole(turns)} turns, one client`,
      beside: 'SQLite FTS5 in its own process',
      figure: textOf(single),
      peer: peer_ms === null ? 'not there' : textOf(quantilesOf(peer_ms)),
      ...{ ratio: '', goal: goal(1), met: is_met(single, 1) },
    },
    {
      // On one core each waits for the others.
      work: `the same with ${CLIENTS} clients`,
      ...{ beside: 'one client', figure: textOf(alone), peer: textOf(single) },
      ...{ ratio: `${(alone.p50 / single.p50).toFixed(2)}x`, goal: goal(CLIENTS), met: is_met(alone, CLIENTS) },
    },
    {
      work: `a recall among ${whole(turns)} turns, one client`,
      ...{ beside: '', figure: textOf(recalled), peer: '', ratio: '' },
      ...{ goal: `p50 ≤ ${GOALS.recall_p50} ms`, met: recalled.p50 <= GOALS.recall_p50 },
    },
    {
      work: `the same with ${CLIENTS} clients, while ${whole(published / (rounds * seconds))} turns a second are published`,
      beside: `${CLIENTS} clients alone`,
      ...{ figure: textOf(beside), peer: textOf(alone), ratio: `${(beside.p99 / alone.p99).toFixed(2)}x` },
      ...{ goal: goal(2 * CLIENTS), met: is_met(beside, 2 * CLIENTS) },
    },
  ];
}

async function largeRows({ search, turns, rounds, seconds }) {
  const cold = await search(['first']);
  const { p50, p99 } = quantilesOf(await took(search, rounds * seconds, 1));
  return [
    {
      work: `a search among ${whole(turns)} turns, one client`,
      ...{ beside: '', figure: textOf({ p50, p99 }), peer: '', ratio: '' },
      ...{ goal: `p50 ≤ ${GOALS.large_p50} ms, p99 ≤ ${GOALS.large_p99} ms` },
      met: p50 <= GOALS.large_p50 && p99 <= GOALS.large_p99,
    },
    {
      work: `the first search among ${whole(turns)} turns`,
      ...{ beside: 'nothing of them is in memory', figure: `${whole(cold.ms)} ms`, peer: '', ratio: '' },
      ...{ goal: `≤ ${GOALS.cold} ms`, met: cold.ms <= GOALS.cold },
    },
  ];
}

/** One to three words of a sentence, as they are drawn: common ones often, rare ones seldom. */
function drawQuery(random) {
  const words = [...new Set(sentence(random).split(' '))];
  return words.slice(0, 1 + Math.floor(random() * 3));
}

async function took(search, seconds, clients = CLIENTS) {
  const randoms = Array.from({ length: clients }, (_, lane) => seeded(100 + lane));
  const all_ms = [];
  let found = 0;
  await closedLoop({
    ...{ in_flight: clients, seconds },
    async op(lane) {
      const { ms, items } = await search(drawQuery(randoms[lane]));
      all_ms.push(ms);
      if (items.length > 0) found += 1;
    },
  });
  if (found < all_ms.length / 4) throw new Error(`only ${found} of ${all_ms.length} searches found something`);
  return all_ms;
}

/** The same corpus and queries; null where there is no FTS5. */
async function peer(turns) {
  const fts5 = startFts5();
  if (fts5 === null) return null;
  try {
    let added = 0;
    for (let stream = 0; stream < STREAMS; stream++) {
      const random = seeded(stream);
      const rows = Array.from({ length: turns / STREAMS / 20 }, () => minuteOf(0, random)).flat();
      const add = rows.map(({ text }, at) => [added + at + 1, text]);
      added += (await fts5.ask({ add })).added;
    }
    verify('texts of the peer', added, turns);
    await fts5.ask({ optimize: true });
    const random = seeded(100);
    const all_ms = [];
    for (let count = 0; count < PEER_QUERIES; count++)
      all_ms.push((await fts5.ask({ search: drawQuery(random), limit: 25 })).ms);
    return all_ms;
  } finally {
    fts5.stop();
  }
}

/** Questions about the scripted week: how many of them have their answer among the first so many that are found. */
async function recallRow() {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const engine = await ScriptedEngine.start({ keeps_requests: false });
    stops.push(() => engine.close());
    const engine_env = { TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' };
    const spool = await startSpool(folder, { env: { CHUNK_WORKER: '1', INSIGHTS: 'off', ...engine_env } });
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const { recordings, said, heard } = await recordWeek({ base_url: spool.base_url, app, patience: new Patience() });
    verify('turns of the week', heard, said);
    const turns = recordings.flatMap(({ conversation }) => conversation.turns);
    const pairs = turns.flatMap(({ text, questions }) => questions.map((question) => ({ question, text })));
    let found = 0;
    for (const { question: query, text } of pairs) {
      const { items } = await app.ask('POST', '/recall', { query, limit: RECALLED, context_turns: 0 });
      if (items.some((item) => item.turns.some((turn) => turn.text === text))) found += 1;
    }
    const of_peer = await recallOfPeer(turns, pairs);
    const share = (count) => `${((100 * count) / pairs.length).toFixed(1)} %`;
    return {
      work: `answers among the first ${RECALLED} passages, ${pairs.length} questions`,
      beside: `among the first ${RECALLED} turns of SQLite FTS5`,
      ...{ figure: share(found), peer: of_peer === null ? 'not there' : share(of_peer), ratio: '' },
      ...{ goal: `≥ ${GOALS.recalled_percent} %`, met: 100 * found >= GOALS.recalled_percent * pairs.length },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function recallOfPeer(turns, pairs) {
  const fts5 = startFts5();
  if (fts5 === null) return null;
  try {
    await fts5.ask({ add: turns.map(({ text }, at) => [at + 1, text]) });
    let count = 0;
    for (const { question, text } of pairs) {
      const words = question.match(/[\p{L}\p{N}]+/gu);
      const { found } = await fts5.ask({ search: words, any: true, limit: RECALLED });
      if (found.some((number) => turns[number - 1].text === text)) count += 1;
    }
    return count;
  } finally {
    fts5.stop();
  }
}

function quantilesOf(values) {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

function textOf({ p50, p99 }) {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}
