import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { startFts5 } from '../fts5.mjs';
import { closedLoop, quantile, verify, whole } from '../measure.mjs';
import { temporaryFolder } from '../processes.mjs';
import { minuteOf, seeded, sentence } from '../programs/said.mjs';
import { toldRecording } from '../recordings.mjs';
import { startSpool } from '../spool_world.mjs';

const CLIENTS = 4;
const STREAMS = 20;
const TURNS_A_PAGE = 200;
const PAGE_MINUTES = 10;
const SMALL = 100_000;
const LARGE = 1_000_000;
const PUBLISHED_A_SECOND = 500;
const PEER_QUERIES = 500;
const GOALS = { p50: 10, p99: 40, large_p99: 150, cold: 500 };

export const title = 'search: what was said among 100,000 and 1,000,000 turns';

export async function run(options) {
  return [...(await rowsOf(SMALL, options, smallRows)), ...(await rowsOf(LARGE, options, largeRows))];
}

/** Whatever is measured with so many turns of one account. */
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
      return { ms: performance.now() - began, items: answer.items };
    };
    return await measure({ search, spool, spare: recordings[STREAMS], turns, ...options });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function smallRows({ search, spool, spare, turns, rounds, seconds }) {
  await search(['first']); // what is found is in memory from then on
  const alone_ms = await took(search, rounds * seconds);
  const publishing = spool.program.ask('publish_steadily', {
    ...{ stream_id: spare, turns_a_second: PUBLISHED_A_SECOND, seconds: rounds * seconds },
  });
  const beside_ms = await took(search, rounds * seconds);
  const published = await publishing;
  const peer_ms = await peer(turns);
  const [alone, beside] = [alone_ms, beside_ms].map(quantilesOf);
  const is_met = ({ p50, p99 }, times) => p50 <= GOALS.p50 * times && p99 <= GOALS.p99 * times;
  const goal = (times) => `p50 ≤ ${GOALS.p50 * times} ms, p99 ≤ ${GOALS.p99 * times} ms`;
  return [
    {
      work: `a search among ${whole(turns)} turns, ${CLIENTS} clients`,
      beside: 'SQLite FTS5 in its own process, one after the other',
      figure: textOf(alone),
      peer: peer_ms === null ? 'not there' : textOf(quantilesOf(peer_ms)),
      ...{ ratio: '', goal: goal(1), met: is_met(alone, 1) },
    },
    {
      work: `the same while ${whole(published / (rounds * seconds))} turns a second are published`,
      beside: 'alone',
      ...{ figure: textOf(beside), peer: textOf(alone), ratio: `${(beside.p99 / alone.p99).toFixed(2)}x` },
      ...{ goal: goal(2), met: is_met(beside, 2) },
    },
  ];
}

async function largeRows({ search, turns, rounds, seconds }) {
  const cold = await search(['first']);
  const { p50, p99 } = quantilesOf(await took(search, rounds * seconds));
  return [
    {
      work: `a search among ${whole(turns)} turns, ${CLIENTS} clients`,
      ...{ beside: '', figure: textOf({ p50, p99 }), peer: '', ratio: '' },
      ...{ goal: `p99 ≤ ${GOALS.large_p99} ms`, met: p99 <= GOALS.large_p99 },
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

async function took(search, seconds) {
  const randoms = Array.from({ length: CLIENTS }, (_, lane) => seeded(100 + lane));
  const all_ms = [];
  let found = 0;
  await closedLoop({
    ...{ in_flight: CLIENTS, seconds },
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

function quantilesOf(values) {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

function textOf({ p50, p99 }) {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}
