import type { Test } from 'tap';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { Browser, codeOf, jsonOf, OauthApp, type SpoolPlace, type Tokens } from '../fixtures/oauth.js';

const FREEZES = 12;
/** From one round to the next a process freezes a millisecond later, up to this. */
const FREEZE_AFTER_MS = 4;

type Size = { rounds: number; callers: number };

scenario<Size>({
  title: 'what may happen once happens once, whichever of two processes is asked',
  smoke: { rounds: 8, callers: 10 },
  full: { rounds: 100, callers: 64 },
  run: oauthRaces,
});

/** By many callers at once, over two server processes on one Redis. */
async function oauthRaces(t: Test, { rounds, callers }: Size): Promise<void> {
  // One issuer, as behind a load balancer; each is asked at a port of its own.
  const servers = await Servers.open(t, { count: 2, storage: 'beside' });
  const [one, two] = servers.all as [SpoolProcess, SpoolProcess];
  const placeOf = (server: SpoolProcess): SpoolPlace => ({
    folder: servers.folder,
    base_url: server.base_url,
    client: () => server.client(),
    readCode: (email) => servers.readCode(email),
  });
  const places = [placeOf(one), placeOf(two)];
  /** The same app at each of the processes in turn. */
  const appsOf = (client_id: `svc-${string}`) => places.map((place) => OauthApp.first(place, client_id));
  const ios = appsOf('svc-ios');
  const at = <T>(list: T[], index: number) => list[index % list.length] as T;
  const all = <T>(run: (index: number) => Promise<T>) => Promise.all(Array.from({ length: callers }, (_, n) => run(n)));
  const statusOf = async (index: number, access_token: string) =>
    (await at([one, two], index).client(access_token).send('GET', '/me')).status;
  let people = 0;
  const somebody = () => `t${++people}@x.test`;
  const nativeCode = async (email: string) => {
    const [app] = ios as [OauthApp];
    const { auth_session, verifier } = await app.challenge(email);
    const otp = await places[0]?.readCode(email);
    return { auth_session, verifier, otp: otp ?? '' };
  };

  await t.test('one code: one exchange wins, and its tokens work afterwards', async (t) => {
    for (let round = 0; round < rounds; round++) {
      const { auth_session, verifier, otp } = await nativeCode(somebody());
      const entered = await at(ios, round).challengeStep({ auth_session, otp });
      const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
      const answers = await all((n) => at(ios, n).exchange(authorization_code, verifier));
      const won = answers.filter(({ status }) => status === 200);
      t.equal(won.length, 1);
      for (const answer of answers) if (answer.status !== 200) t.equal(jsonOf(answer).error, 'invalid_grant');
      const tokens = jsonOf<Tokens>(won[0] as (typeof won)[0]);
      for (const n of [0, 1]) t.equal(await statusOf(n, tokens.access_token), 200);
      t.equal((await at(ios, round + 1).refresh(tokens.refresh_token)).status, 200);
    }
  });

  await t.test('one refresh token: one successor, and every caller can go on', async (t) => {
    for (let round = 0; round < rounds; round++) {
      const { refresh_token } = await at(ios, round).signInNatively(somebody());
      const answers = await all((n) => at(ios, n).refresh(refresh_token));
      const renewed = answers.filter(({ status }) => status === 200).map((answer) => jsonOf<Tokens>(answer));
      t.ok(renewed.length >= callers / 2, `${renewed.length} of ${callers} were answered`);
      for (const { status } of answers) t.ok(status === 200 || status === 503);
      t.equal(new Set(renewed.map((tokens) => tokens.refresh_token)).size, 1);
      for (const [n, { access_token }] of renewed.entries()) t.equal(await statusOf(n, access_token), 200);
      t.equal((await at(ios, round).refresh(renewed[0]?.refresh_token ?? '')).status, 200);
    }
  });

  await t.test('revoked here while refreshed there: nothing is left alive', async (t) => {
    for (let round = 0; round < rounds; round++) {
      const { refresh_token } = await at(ios, round).signInNatively(somebody());
      const [answer, revoked] = await Promise.all([
        at(ios, round).refresh(refresh_token),
        at(ios, round + 1).token({ token: refresh_token }),
      ]);
      t.equal(revoked.status, 200);
      t.equal((await at(ios, round).refresh(refresh_token)).status, 400);
      if (answer.status !== 200) continue;
      const { access_token, refresh_token: next } = jsonOf<Tokens>(answer);
      for (const n of [0, 1]) t.equal(await statusOf(n, access_token), 401);
      t.equal((await at(ios, round).refresh(next)).status, 400);
    }
  });

  await t.test('wrong codes at both count together; a right one signs in once', async (t) => {
    for (let round = 0; round < rounds; round++) {
      const { auth_session, otp } = await nativeCode(somebody());
      const wrong = otp === '000000' ? '111111' : '000000';
      const judged = await all((n) => at(ios, n).challengeStep({ auth_session, otp: wrong }));
      t.ok(judged.filter(({ status }) => status === 403).length <= 4);
      t.equal((await at(ios, round).challengeStep({ auth_session, otp })).status, 400, 'after five it is over');

      const again = await nativeCode(somebody());
      const right = { auth_session: again.auth_session, otp: again.otp };
      const answers = await all((n) => at(ios, n).challengeStep(right));
      t.equal(answers.filter(({ status }) => status === 200).length, 1);
      const late = await at(ios, round).challengeStep(right);
      t.equal(jsonOf(late).error, 'invalid_session');
    }
  });

  await t.test('a browser whose requests go to either signs in once and stays signed in', async (t) => {
    const web = appsOf('svc-web') as [OauthApp, OauthApp];
    for (let round = 0; round < rounds / 2; round++) {
      const [here, there] = [new Browser(one.base_url), new Browser(two.base_url)];
      const email = somebody();
      const { shown, verifier } = await web[0].begin(here);
      const page = await here.press(shown, 'email', { email });
      for (const [name, value] of here.cookies) there.cookies.set(name, value);
      const code = (await places[0]?.readCode(email)) ?? '';
      const backs = await Promise.all(
        [here, there, here, there].map((browser) => browser.press(page, 'code', { code })),
      );
      t.equal(new Set(backs.map(codeOf)).size, 1, 'one code for four presses');
      t.equal((await web[1].exchange(codeOf(backs[0] as (typeof backs)[0]), verifier)).status, 200);
      for (const [app, browser] of [
        [web[0], here],
        [web[1], there],
      ] as const) {
        t.ok(codeOf((await app.begin(browser, { prompt: 'none' })).shown));
      }
    }
  });

  await t.test('signing out everywhere here ends everything there at once', async (t) => {
    const email = somebody();
    const [first, second] = [await at(ios, 0).signInNatively(email), await at(ios, 1).signInNatively(email)];
    for (const n of [0, 1]) t.equal(await statusOf(n, second.access_token), 200);
    const out = await one.client(first.access_token).send('POST', '/me/sign-out', { body: { everywhere: true } });
    t.equal(out.status, 204);
    for (const n of [0, 1]) t.equal(await statusOf(n, second.access_token), 401);
    t.equal((await at(ios, 1).refresh(second.refresh_token)).status, 400);
  });

  /** Asks one, freezes it a moment later, asks the other, and lets the first go on. */
  const whileFrozen = async <T>(round: number, first: () => Promise<T>, then: () => Promise<T>): Promise<[T, T]> => {
    const late = first();
    late.catch(() => {}); // until it is awaited
    await new Promise((resolve) => setTimeout(resolve, round % FREEZE_AFTER_MS));
    one.signal('SIGSTOP');
    const answer = await then().finally(() => one.signal('SIGCONT'));
    return [await late, answer];
  };

  await t.test('one freezes with a step in its hands and goes on when the other has taken it', async (t) => {
    const [here, there] = ios as [OauthApp, OauthApp];
    let answered_by_other = 0;
    for (let round = 0; round < FREEZES; round++) {
      const { auth_session, verifier, otp } = await nativeCode(somebody());
      const step = { auth_session, otp };
      const entered = await whileFrozen(
        round,
        () => here.challengeStep(step),
        () => there.challengeStep(step),
      );
      const right = entered.filter(({ status }) => status === 200);
      t.equal(right.length, 1, 'the code is right once');
      const { authorization_code } = jsonOf<{ authorization_code: string }>(right[0] as (typeof right)[0]);
      const exchanged = await whileFrozen(
        round,
        () => here.exchange(authorization_code, verifier),
        () => there.exchange(authorization_code, verifier),
      );
      const won = exchanged.filter(({ status }) => status === 200);
      t.equal(won.length, 1, 'one exchange');
      if (won[0] === exchanged[1]) answered_by_other += 1;
      const tokens = jsonOf<Tokens>(won[0] as (typeof won)[0]);
      const refreshed = await whileFrozen(
        round,
        () => here.refresh(tokens.refresh_token),
        () => there.refresh(tokens.refresh_token),
      );
      const successors = refreshed.filter(({ status }) => status === 200).map((answer) => jsonOf<Tokens>(answer));
      t.ok(successors.length > 0);
      t.equal(new Set(successors.map((next) => next.refresh_token)).size, 1, 'one successor');
      for (const { status } of refreshed) t.ok(status === 200 || status === 503, `${status}`);
      for (const n of [0, 1]) t.equal(await statusOf(n, successors[0]?.access_token ?? ''), 200);
    }
    t.comment(`frozen before its commit ${answered_by_other} times of ${FREEZES}`);
  });

  await t.test('one that was frozen while a grant ended does not take its token', async (t) => {
    const [here, there] = ios as [OauthApp, OauthApp];
    for (const everywhere of [false, true]) {
      const email = somebody();
      const [tokens, other] = [await here.signInNatively(email), await there.signInNatively(email)];
      for (const { access_token } of [tokens, other]) t.equal(await statusOf(0, access_token), 200, 'it is remembered');
      one.signal('SIGSTOP');
      const late = statusOf(0, tokens.access_token);
      const ended = everywhere
        ? await two.client(other.access_token).send('POST', '/me/sign-out', { body: { everywhere } })
        : await there.token({ token: tokens.refresh_token });
      t.ok(ended.status < 300);
      one.signal('SIGCONT');
      t.equal(await late, 401, 'not even what was asked while it was frozen');
      t.equal(jsonOf(await here.refresh(tokens.refresh_token)).error, 'invalid_grant');
      t.equal(await statusOf(0, other.access_token), everywhere ? 401 : 200);
    }
  });
}
