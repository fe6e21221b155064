import t from 'tap';
import { readWishes, USAGE } from '../../../src/tools/listen/wishes.js';

const FORWARD = ['--forward', 'http://localhost:3000/hook?x=1'];

t.test('what was typed is understood', async (t) => {
  t.match(readWishes(FORWARD, {}), {
    forward: new URL('http://localhost:3000/hook?x=1'),
    server: new URL('http://localhost:8080'),
    type: null,
    who: { by: 'code', email: null, from_inbox: false },
    secret: { is_drawn: true, text: /^whsec_.{44}$/ },
  });
  t.match(readWishes([...FORWARD, '--server', 'https://spool.example'], { SPOOL_TOKEN: ' svc_pat_x ' }), {
    server: new URL('https://spool.example'),
    who: { by: 'token', token: 'svc_pat_x' },
  });
  t.match(readWishes(FORWARD, { PORT: '81' }), { server: new URL('http://localhost:81') });
  t.equal(readWishes(['--help'], {}), null);
  t.match(USAGE, /not tried again by itself/);
});

t.test('what was not names the option and the rule', async (t) => {
  const rows: [string[], Record<string, string>, RegExp][] = [
    [[], {}, /--forward is missing/],
    [['--forward', 'localhost:3000'], {}, /--forward must be an http:\/\/ or https:\/\/ URL/],
    [['--forward', 'http://u:p@localhost/'], {}, /--forward must not have credentials/],
    [['--forward', 'http://localhost/#x'], {}, /--forward must not have a fragment/],
    [['--forward', 'http://:1'], {}, /--forward must be a URL/],
    [[...FORWARD, 'extra'], {}, /"extra" is one too many/],
    [[...FORWARD, '--server', 'http://x/api'], {}, /--server must be an http or https address without a path/],
    [FORWARD, { PORT: 'x' }, /PORT must be a port/],
    [[...FORWARD, '--email', 'ann'], {}, /--email must be an email address/],
    [[...FORWARD, '--type', 'Account'], {}, /--type must be the name of an event type/],
    [[...FORWARD, '--email', 'a@b.c'], { SPOOL_TOKEN: 'x' }, /--email and --code-from-inbox are for signing in/],
    [FORWARD, { SPOOL_TOKEN: 'x y' }, /SPOOL_TOKEN must be/],
    [FORWARD, { SPOOL_WEBHOOK_SECRET: 'whsec_AAAA' }, /SPOOL_WEBHOOK_SECRET must be whsec_ with 32 bytes/],
    [[...FORWARD, '--loud'], {}, /--loud/],
  ];
  for (const [args, env, words] of rows) t.throws(() => readWishes(args, env), { name: 'WrongUsage', message: words });
});
