import t from 'tap';
import { listenProgram, readOptions } from '../../../tools/listen/options.js';

/** As `npm run listen` reads it, without a word on the terminal. */
function read(args: string[], env: Record<string, string>) {
  const program = listenProgram('listen').configureOutput({ writeOut() {}, writeErr() {} });
  return readOptions(program.parse(args, { from: 'user' }).opts(), env);
}

const FORWARD = ['--forward', 'http://localhost:3000/hook?x=1'];

t.test('what was typed is understood', async (t) => {
  t.match(read(FORWARD, {}), {
    forward: new URL('http://localhost:3000/hook?x=1'),
    server: new URL('http://localhost:8080'),
    type: null,
    who: { by: 'code', email: null, from_inbox: false },
    secret: { is_drawn: true, text: /^whsec_.{44}$/ },
  });
  t.match(read([...FORWARD, '--server', 'https://spool.example'], { SPOOL_TOKEN: ' svc_pat_x ' }), {
    server: new URL('https://spool.example'),
    who: { by: 'token', token: 'svc_pat_x' },
  });
  t.match(read(FORWARD, { PORT: '81' }), { server: new URL('http://localhost:81') });
  t.match(listenProgram('listen').helpInformation().replaceAll(/\s+/g, ' '), /not tried again by itself/);
});

t.test('what was not names the option and the rule', async (t) => {
  const rows: [string[], Record<string, string>, RegExp][] = [
    [[], {}, /--forward is missing/],
    [['--forward', 'localhost:3000'], {}, /--forward must be an http:\/\/ or https:\/\/ URL/],
    [['--forward', 'http://u:p@localhost/'], {}, /--forward must not have credentials/],
    [['--forward', 'http://localhost/#x'], {}, /--forward must not have a fragment/],
    [['--forward', 'http://:1'], {}, /--forward must be a URL/],
    [[...FORWARD, 'extra'], {}, /too many arguments/],
    [[...FORWARD, '--server', 'http://x/api'], {}, /--server must be an http or https address without a path/],
    [FORWARD, { PORT: 'x' }, /PORT must be a port/],
    [[...FORWARD, '--email', 'ann'], {}, /--email must be an email address/],
    [[...FORWARD, '--type', 'Account'], {}, /--type must be the name of an event type/],
    [[...FORWARD, '--email', 'a@b.c'], { SPOOL_TOKEN: 'x' }, /--email and --code-from-inbox are for signing in/],
    [FORWARD, { SPOOL_TOKEN: 'x y' }, /SPOOL_TOKEN must be/],
    [FORWARD, { SPOOL_WEBHOOK_SECRET: 'whsec_AAAA' }, /SPOOL_WEBHOOK_SECRET must be whsec_ with 32 bytes/],
    [[...FORWARD, '--loud'], {}, /--loud/],
  ];
  for (const [args, env, words] of rows) t.throws(() => read(args, env), { message: words });
});
