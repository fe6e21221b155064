import type { Test } from 'tap';
import type { CallAnswer } from '../../kits/typescript/src/http_call.js';
import { ALL_KILLS, type Kills, killWithin, SOME_KILLS } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { Browser, codeOf, jsonOf, OauthApp, pkce, type Shown, type Tokens } from '../fixtures/oauth.js';
import { until } from '../fixtures/until.js';

/** One step of a sign-in, ready to be asked for as often as need be. */
type Step = {
  ask: () => Promise<CallAnswer>;
  /** Errors that say that it had come into effect, though nobody heard of it. */
  in_effect?: readonly string[];
  /** What must hold once a step was answered. */
  check: (answer: CallAnswer) => Promise<void>;
};

/** Steps by their kind. */
const KINDS = [
  ['native sign-in, begun', 'native sign-in, code'],
  ['exchange', 'refresh', 'revocation'],
  ['browser sign-in, email', 'browser sign-in, code', 'consent'],
];

scenario({
  title: 'killed at any commit of any step of a sign-in: nothing is half done, and whoever asks again goes on',
  smoke: SOME_KILLS,
  full: ALL_KILLS,
  run: oauthKills,
});

async function oauthKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t);
  const ios = () => OauthApp.first(server, 'svc-ios');
  let people = 0;
  const somebody = () => `k${++people}@x.test`;
  const connectionsOf = async (access_token: string) => {
    const app = server.client(access_token);
    return (await app.ask<{ items: { id: string }[] }>('GET', '/me/connections')).items.length;
  };
  const works = async (tokens: Tokens, connections: number, says: string) => {
    t.equal((await server.client(tokens.access_token).send('GET', '/me')).status, 200, says);
    // What a commit left to be delivered comes after the restart.
    const all = async () => (await connectionsOf(tokens.access_token)) === connections;
    await until(`${says}: one connection each`, all);
    t.equal((await ios().refresh(tokens.refresh_token)).status, 200, says);
  };
  /** A browser that goes on at whichever port the server has now. */
  const pressAt = (cookies: Map<string, string>, page: Shown, action: string, typed: Record<string, string>) => {
    const browser = new Browser(server.base_url);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    return browser.press(page, action, typed).finally(() => {
      for (const [name, value] of browser.cookies) cookies.set(name, value);
    });
  };

  const STEPS: Record<string, () => Promise<Step>> = {
    async 'native sign-in, begun'() {
      const email = somebody();
      const { challenge } = pkce();
      const form = { response_type: 'code', email, code_challenge: challenge, code_challenge_method: 'S256' };
      return {
        ask: () => ios().challengeStep(form),
        async check(answer) {
          t.equal(answer.status, 403);
          const { auth_session } = jsonOf<{ auth_session: string }>(answer);
          // A code that was mailed for the sign-in that nobody heard of may come first.
          for (let tries = 0; tries < 3; tries++) {
            const entered = await ios().challengeStep({ auth_session, otp: await server.readCode(email) });
            if (entered.status === 200) return;
          }
          t.fail('no mailed code is right');
        },
      };
    },
    async 'native sign-in, code'() {
      const email = somebody();
      const { auth_session, verifier } = await ios().challenge(email);
      const otp = await server.readCode(email);
      return {
        ask: () => ios().challengeStep({ auth_session, otp }),
        in_effect: ['invalid_session'],
        async check(answer) {
          const { authorization_code } = jsonOf<{ authorization_code?: string }>(answer);
          const tokens =
            authorization_code === undefined
              ? await ios().signInNatively(email)
              : jsonOf<Tokens>(await ios().exchange(authorization_code, verifier));
          await works(tokens, 1, 'native code');
        },
      };
    },
    async exchange() {
      const email = somebody();
      const { auth_session, verifier } = await ios().challenge(email);
      const entered = await ios().challengeStep({ auth_session, otp: await server.readCode(email) });
      const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
      return {
        ask: () => ios().exchange(authorization_code, verifier),
        in_effect: ['invalid_grant'],
        async check(answer) {
          if (answer.status === 200) return works(jsonOf<Tokens>(answer), 1, 'exchange');
          // The connection whose tokens nobody has stays on the list until it runs out or is disconnected.
          await works(await ios().signInNatively(email), 2, 'exchange, once more');
        },
      };
    },
    async refresh() {
      const before = await ios().signInNatively(somebody());
      return {
        ask: () => ios().refresh(before.refresh_token),
        async check(answer) {
          const tokens = jsonOf<Tokens>(answer);
          const again = jsonOf<Tokens>(await ios().refresh(before.refresh_token));
          t.equal(again.refresh_token, tokens.refresh_token, 'one successor');
          await works(tokens, 1, 'refresh');
        },
      };
    },
    async revocation() {
      const tokens = await ios().signInNatively(somebody());
      return {
        ask: () => ios().token({ token: tokens.refresh_token }),
        async check(answer) {
          t.equal(answer.status, 200);
          t.equal((await server.client(tokens.access_token).send('GET', '/me')).status, 401);
          t.equal(jsonOf(await ios().refresh(tokens.refresh_token)).error, 'invalid_grant');
        },
      };
    },
    async 'browser sign-in, email'() {
      const email = somebody();
      const browser = new Browser(server.base_url);
      const { shown } = await OauthApp.first(server, 'svc-web').begin(browser);
      const { cookies } = browser;
      return {
        ask: () => pressAt(cookies, shown, 'email', { email }),
        async check(answer) {
          t.equal(answer.status, 200);
          for (let tries = 0; tries < 3; tries++) {
            const entered = await pressAt(cookies, answer as Shown, 'code', { code: await server.readCode(email) });
            if (entered.location !== null) return;
          }
          t.fail('no mailed code is right');
        },
      };
    },
    async 'browser sign-in, code'() {
      const email = somebody();
      const browser = new Browser(server.base_url);
      const { shown, verifier } = await OauthApp.first(server, 'svc-web').begin(browser);
      const page = await browser.press(shown, 'email', { email });
      const code = await server.readCode(email);
      const { cookies } = browser;
      return {
        ask: () => pressAt(cookies, page, 'code', { code }),
        async check(answer) {
          const web = OauthApp.first(server, 'svc-web');
          const tokens = jsonOf<Tokens>(await web.exchange(codeOf(answer as Shown), verifier));
          t.equal(await connectionsOf(tokens.access_token), 1, 'one connection for one sign-in');
          const later = new Browser(server.base_url);
          for (const [name, value] of cookies) later.cookies.set(name, value);
          t.ok(codeOf((await web.begin(later, { prompt: 'none' })).shown), 'the browser is signed in');
        },
      };
    },
    async consent() {
      const email = somebody();
      const own = await OauthApp.registered(server, { scope: 'account:manage' });
      const app = () => new OauthApp(server, own);
      const browser = new Browser(server.base_url);
      const { shown, verifier } = await app().begin(browser, { resource: 'http://localhost:8000' });
      const page = await browser.press(shown, 'email', { email });
      const consent = await browser.press(page, 'code', { code: await server.readCode(email) });
      const { cookies } = browser;
      return {
        ask: () => pressAt(cookies, consent, 'approve', {}),
        async check(answer) {
          const exchanged = await app().exchange(codeOf(answer as Shown), verifier);
          t.equal(await connectionsOf(jsonOf<Tokens>(exchanged).access_token), 1);
        },
      };
    },
  };

  await killWithin(t, server, { steps: STEPS, kinds: KINDS, kills }, async ({ nth, step, answer }, t) => {
    const settled = answer ?? (await step.ask());
    const is_json = String(settled.headers['content-type']).startsWith('application/json');
    const error = is_json ? (jsonOf<{ error?: string }>(settled).error ?? 'none') : 'none';
    if (step.in_effect?.includes(error)) t.equal(answer, null, `commit ${nth}: ${error}, for it had its effect`);
    else t.ok(settled.status < 500 && !/^invalid/.test(error), `commit ${nth}: ${settled.status} ${error}`);
    await step.check(settled);
  });
}
