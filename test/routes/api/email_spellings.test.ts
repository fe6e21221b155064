import t from 'tap';
import type { Session } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { Browser, OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const UNICODE = (name: string) => `${name}@exämple.com`;
const ASCII = (name: string) => `${name}@xn--exmple-cua.com`;

t.test('spellings of an email address', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  /** Signs in with one spelling of an address that another has asked a code for. Mails go to the domain in ASCII. */
  const signIn = async (asked: string, entered: string, name: string) => {
    const app = spool.client();
    await app.ask('POST', '/auth/otp', { email: asked });
    const token = await spool.readCode(ASCII(name));
    return app.ask<Session>('POST', '/auth/verify-otp', { email: entered, token });
  };
  await t.test('A-007 a code counts for the mailbox, and the account is one, however it is spelled', async (t) => {
    const first = await signIn(UNICODE('Ann'), 'ann@exa\u0308mple.com', 'ann');
    t.equal(first.user.email, ASCII('ann'));
    const second = await signIn(ASCII('ann'), 'ａｎｎ@exämple。com', 'ann');
    t.equal(second.user.id, first.user.id);
    const tagged = await signIn('ann+x@exämple.com', 'ann+x@exämple.com', 'ann+x');
    t.not(tagged.user.id, first.user.id, 'a tag is another mailbox');
  });

  await t.test('native and browser sign-in lead to the same account', async (t) => {
    const { user } = await signIn(UNICODE('dee'), UNICODE('dee'), 'dee');
    const ios = OauthApp.first(spool, 'svc-ios');
    const { auth_session, verifier } = await ios.challenge(ASCII('dee'));
    const answer = await ios.challengeStep({ auth_session, otp: await spool.readCode(ASCII('dee')) });
    const { authorization_code } = JSON.parse(answer.body.toString());
    const tokens = await ios.exchange(authorization_code, verifier);
    const app = spool.client();
    app.access_token = JSON.parse(tokens.body.toString()).access_token;
    t.match(await app.ask('GET', '/me'), { id: user.id });

    const web = OauthApp.first(spool, 'svc-web');
    const browser = new Browser(spool.server.base_url);
    const { shown } = await web.begin(browser);
    const page = await browser.press(shown, 'email', { email: 'dee@exa\u0308mple.com' });
    const back = await browser.press(page, 'code', { code: await spool.readCode(ASCII('dee')) });
    t.match(back.location, /[?&]code=/);
  });

  await t.test('I-009 an invitation reaches the account however it is spelled', async (t) => {
    const { user } = await signIn(UNICODE('eve'), UNICODE('eve'), 'eve');
    const host = await TestAccount.open(spool, 'host@x.test');
    const { id } = await host.workspace('Choir');
    const path = `/workspaces/${id}/invitations`;
    const sent = await host.ask<{ email: string }>('POST', path, { email: ASCII('eve'), role: 'member' });
    t.equal(sent.email, ASCII('eve'));
    t.equal(await host.says('POST', path, { email: UNICODE('eve'), role: 'member' }), '409 CONFLICT');
    const staff = await spool.operator.ask<{ id: string }>('GET', `/ops/accounts/${encodeURIComponent(ASCII('eve'))}`);
    t.equal(staff.id, user.id);
  });
});
