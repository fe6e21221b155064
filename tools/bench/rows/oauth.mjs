import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientLoop, interleave, rateRow, verify } from '../measure.mjs';
import { cpuMs, startProgram, temporaryFolder } from '../processes.mjs';
import { seededAccountId } from '../programs/seeding.mjs';
import { rawForms } from '../raw_forms.mjs';
import { startSpool } from '../spool_setup.mjs';

const IN_FLIGHT = 64;
const ACCOUNTS = 1_000;
/** Grants that refreshes and introspections go over in turn; a multiple of the lanes. */
const GRANTS = 2_048;
const AT_ONCE = 10;
const TIMES = 20;
const REDIRECT_URI = 'http://localhost:3000/callback';
const CODES_FIRST = 4_000;
/** Codes for a run, by what the run before it used; those left over are dropped, since ours live for a minute. */
const CODES_SPARE = 1.5;

const WORK = {
  introspections: { work: 'introspection of 2,048 tokens', goal: 2.2 },
  refreshes: { work: 'refresh with rotation', goal: 2.2, goal_jwts: 2.2 },
  exchanges: { work: 'code exchange, PKCE S256', goal: 2, goal_jwts: 2 },
};

export const title = 'OAuth: code exchange, refresh and introspection';

export async function run(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    await spool.program.ask('seed_accounts', { count: ACCOUNTS, from: 0, domain: 'spool.example' });
    const account_ids = Array.from({ length: ACCOUNTS }, (_, number) => seededAccountId(number));
    const secrets = JSON.parse(readFileSync(join(folder, 'spool', 'first_party_secrets.json'), 'utf8'));
    const agent_secret = secrets['svc-agent'];
    // On the Redis of Spool: both store as durably. Its time counts for whoever is being measured.
    const settings = { socket_path: spool.socket_path, agent_secret, redirect_uri: REDIRECT_URI };

    const ours = await side(stops, {
      ...{ program: spool.program, port: spool.ports.public, client_id: 'svc-web', agent_secret },
      ...{ introspect_path: '/oauth/introspect', token_path: '/oauth/token', minted: { account_ids } },
      cpuMs: spool.cpuMs,
    });
    const peerOf = async (format) => {
      const program = await startProgram('oidc_provider', { ...settings, format });
      stops.push(() => program.stop());
      return side(stops, {
        ...{ program, port: program.ready.port, client_id: 'public', agent_secret },
        ...{ introspect_path: '/token/introspection', token_path: '/token', minted: {} },
        cpuMs: () => cpuMs([program.pid, spool.program.ready.redis_pid]),
      });
    };
    const [peer, jwts] = [await peerOf('opaque'), await peerOf('jwt')];
    const profiled = async (name, variants) => {
      if (options.profile === undefined) return interleave(variants, options);
      await spool.program.ask('profile_start');
      const taken = await interleave(variants, options);
      await spool.program.ask('profile_stop', { file: join(options.profile, `oauth_${name}.cpuprofile`) });
      return taken;
    };
    const rows = [];
    // Exchanges last: they leave many entities in memory, and codes that run out.
    for (const [name, { work, goal, goal_jwts }] of Object.entries(WORK)) {
      // The library introspects no JWTs of its own.
      const variants = { ours: ours[name], peer: peer[name], ...(goal_jwts && { jwts: jwts[name] }) };
      const taken = await profiled(name, variants);
      const row = { work: `${work}, ${IN_FLIGHT} in flight`, ours: taken.ours };
      rows.push(rateRow({ ...row, beside: 'oidc-provider 9, opaque tokens', peer: taken.peer, goal }));
      if (goal_jwts) rows.push(rateRow({ ...row, beside: 'the same, JWTs', peer: taken.jwts, goal: goal_jwts }));
    }
    for (const { name, isActive, recent } of [ours, peer]) {
      let active = 0;
      for (const token of recent) if (await isActive(token)) active += 1;
      verify(`tokens of ${name}`, active, recent.length);
    }
    const [our_codes, their_codes] = [await ours.codeRace(), await peer.codeRace()];
    const [our_tokens, their_tokens] = [await ours.refreshRace(), await peer.refreshRace()];
    const race = { beside: 'oidc-provider 9, Redis adapter', ratio: '' };
    return [
      ...rows,
      {
        ...{ ...race, work: `one code, exchanged ${AT_ONCE} times at once` },
        ...{ figure: racesText(our_codes, 'accepted'), peer: racesText(their_codes, 'accepted'), goal: '1 accepted' },
        met: our_codes.every((count) => count === 1),
      },
      {
        ...{ ...race, work: `successors of one refresh token, used ${AT_ONCE} times at once` },
        ...{ figure: racesText(our_tokens, 'made'), peer: racesText(their_tokens, 'made') },
        ...{ goal: '1 made', met: our_tokens.every((count) => count === 1) },
      },
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** One of the two servers: how its work is done again and again. */
async function side(stops, { program, port, client_id, agent_secret, introspect_path, token_path, minted, cpuMs }) {
  const basic = `Basic ${Buffer.from(`svc%2Dagent:${encodeURIComponent(agent_secret)}`).toString('base64')}`;
  const tokens = rawForms({ port, path: token_path, lanes: IN_FLIGHT });
  const introspection = rawForms({
    ...{ port, path: introspect_path, lanes: IN_FLIGHT },
    headers: { Authorization: basic },
  });
  stops.push(tokens.close, introspection.close);
  const verifier = randomBytes(32).toString('base64url');
  const fixed = { verifier, client_id, redirect_uri: REDIRECT_URI };
  const mint = (count) => program.ask('mint_codes', { ...minted, ...fixed, count });
  const codeForm = (code) =>
    `grant_type=authorization_code&client_id=${client_id}&code_verifier=${verifier}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&code=${code}`;
  const refreshForm = (token) => `grant_type=refresh_token&client_id=${client_id}&refresh_token=${token}`;
  const tokensOf = (body) => {
    const { access_token, refresh_token } = JSON.parse(body);
    if (access_token === undefined || refresh_token === undefined) throw new Error(`no tokens: ${body}`);
    return { access_token, refresh_token };
  };

  const grants = [];
  const overGrants = (act) =>
    Promise.all(
      Array.from({ length: IN_FLIGHT }, async (_, lane) => {
        for (let at = lane; at < GRANTS; at += IN_FLIGHT) await act(at, lane);
      }),
    );
  const first = await mint(GRANTS);
  await overGrants(async (at, lane) => {
    grants[at] = tokensOf(await tokens.post(lane, codeForm(first[at])));
  });
  /** Each lane goes over grants of its own: two must not use one refresh token. */
  const turns = new Array(IN_FLIGHT).fill(0);
  const next = (lane) => {
    const at = (turns[lane] * IN_FLIGHT + lane) % GRANTS;
    turns[lane] += 1;
    return at;
  };
  const recent = [];
  let codes = [];
  let seen = false;
  let used = CODES_FIRST / CODES_SPARE;
  return {
    name: token_path,
    recent,
    isActive: async (token) => JSON.parse(await introspection.post(0, `token=${token}`)).active,
    exchanges: {
      cpuMs,
      async prepare() {
        codes = await mint(Math.ceil(used * CODES_SPARE));
      },
      async run(seconds) {
        const taken = await clientLoop({
          ...{ in_flight: IN_FLIGHT, seconds },
          async op(lane) {
            const code = codes.pop();
            if (code === undefined) return false;
            const { access_token } = tokensOf(await tokens.post(lane, codeForm(code)));
            if (recent.length < 100 || Math.random() < 0.01) recent[recent.length % 100] = access_token;
            return true;
          },
        });
        used = taken.ops;
        return taken;
      },
    },
    refreshes: {
      cpuMs,
      run: (seconds) =>
        clientLoop({
          ...{ in_flight: IN_FLIGHT, seconds },
          async op(lane) {
            const at = next(lane);
            grants[at] = tokensOf(await tokens.post(lane, refreshForm(grants[at].refresh_token)));
          },
        }),
    },
    introspections: {
      cpuMs,
      /** Each once: whoever asks about a token asks about it again and again. */
      async prepare() {
        if (seen) return;
        seen = true;
        await overGrants((at, lane) => introspection.post(lane, `token=${grants[at].access_token}`));
      },
      run: (seconds) =>
        clientLoop({
          ...{ in_flight: IN_FLIGHT, seconds },
          async op(lane) {
            const body = await introspection.post(lane, `token=${grants[next(lane)].access_token}`);
            if (!body.startsWith('{"active":true')) throw new Error(`not active: ${body}`);
          },
        }),
    },
    /** Counts how many of so many exchanges of one code were accepted, time after time. */
    async codeRace() {
      const counts = [];
      for (const code of await mint(TIMES)) {
        const answers = await atOnce((lane) => tokens.any(lane, codeForm(code)));
        counts.push(answers.filter(({ status }) => status === 200).length);
      }
      return counts;
    },
    /** Counts the different refresh tokens to which so many uses of one have led. */
    async refreshRace() {
      const counts = [];
      for (const code of await mint(TIMES)) {
        const { refresh_token } = tokensOf(await tokens.post(0, codeForm(code)));
        const answers = await atOnce((lane) => tokens.any(lane, refreshForm(refresh_token)));
        const made = answers.filter(({ status }) => status === 200).map(({ body }) => tokensOf(body).refresh_token);
        counts.push(new Set(made).size);
      }
      return counts;
    },
  };
}

const atOnce = (ask) => Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => ask(lane)));

function racesText(counts, what) {
  const by_count = new Map();
  for (const count of counts) by_count.set(count, (by_count.get(count) ?? 0) + 1);
  return [...by_count]
    .toSorted(([a], [b]) => a - b)
    .map(([count, times]) => `${count} ${what}, ${times} times`)
    .join('; ');
}
