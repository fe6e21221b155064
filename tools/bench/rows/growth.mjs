import { freemem } from 'node:os';
import { Pool } from 'undici';
import { LIMITS } from '../../../dist/src/domain/limits.js';
import { clientLoop, costRow, interleave, verify } from '../measure.mjs';
import { temporaryFolder } from '../processes.mjs';
import { registerStream, sendChunk, startSpool } from '../spool_setup.mjs';

const FIXED_CODE = 123_456;
const FEW_ACCOUNTS = 2_000;
const CODES_AN_EMAIL = 5;
/** The bytes of a dormant account while it is seeded, its log's rewrite included. */
const ACCOUNT_BYTES = 8_000;

export const title = 'cost of a chunk in a long stream, and of a sign-in among many accounts';

export async function run(options) {
  return [await streamRow(options), await accountsRow(options)];
}

async function streamRow(options) {
  // As many as a device may have.
  const in_flight = LIMITS.device_uploads_in_flight_max;
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const device = await spool.device(app, in_flight);
    const seeded = async (count) => {
      const stream = await registerStream(device);
      await spool.program.ask('seed_chunks', { stream_id: stream.id, count });
      return { ...stream, sequence: count };
    };
    const long = await seeded(options.chunks);
    const send = (stream, seconds) => clientLoop({ in_flight, seconds, op: () => sendChunk(device, stream) });
    const variants = {
      // A new stream each time: within a round it grows, by far less than the long one has.
      small: { cpuMs: spool.cpuMs, run: async (seconds) => send(await seeded(10), seconds) },
      large: { cpuMs: spool.cpuMs, run: (seconds) => send(long, seconds) },
    };
    const { small, large } = await interleave(variants, options);
    const { stored_chunks } = await app.ask('GET', `/audio/streams/${long.id}`);
    verify('chunks of the long stream', stored_chunks, long.sequence);
    return costRow({
      ...{ work: `a chunk at ${options.chunks.toLocaleString('en')} chunks in the stream`, beside: 'at 10 chunks' },
      ...{ small, large, goal: 1.1 },
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function accountsRow(options) {
  const { folder, remove } = temporaryFolder();
  const few = temporaryFolder();
  const stops = [remove, few.remove];
  const count = Math.min(options.accounts, Math.floor((freemem() * 0.6) / ACCOUNT_BYTES));
  try {
    const sides = {};
    for (const [name, at, accounts] of [
      ['small', few.folder, FEW_ACCOUNTS],
      ['large', folder, count],
    ]) {
      const spool = await startSpool(at, { fixed_code: FIXED_CODE });
      stops.push(() => spool.stop());
      await spool.program.ask('seed_accounts', { count: accounts, from: 0, domain: 'spool.example' });
      const pool = new Pool(spool.base_url, { connections: 16, pipelining: 1 });
      stops.push(() => pool.destroy());
      let signed_in = 0;
      sides[name] = {
        cpuMs: spool.cpuMs,
        run: (seconds) =>
          clientLoop({
            in_flight: 16,
            seconds,
            op() {
              // Codes of one address are few in ten minutes, so addresses take turns; the same ones on both sides.
              const number = signed_in++;
              if (number >= FEW_ACCOUNTS * CODES_AN_EMAIL)
                throw new Error('more sign-ins than the accounts may have codes');
              return signIn(pool, number % FEW_ACCOUNTS);
            },
          }),
      };
    }
    const { small, large } = await interleave(sides, options);
    return costRow({
      ...{
        work: `a sign-in at ${count.toLocaleString('en')} accounts`,
        beside: `at ${FEW_ACCOUNTS.toLocaleString('en')} accounts`,
      },
      ...{ small, large, goal: 1.1 },
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function signIn(pool, number) {
  const email = `seeded-${number}@spool.example`;
  const post = async (path, body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
    const { success, data, error } = await answer.body.json();
    if (!success) throw new Error(`${path}: ${error.code}`);
    return data;
  };
  await post('/auth/otp', { email });
  const { user } = await post('/auth/verify-otp', { email, token: String(FIXED_CODE) });
  if (user.email !== email) throw new Error('another account');
}
