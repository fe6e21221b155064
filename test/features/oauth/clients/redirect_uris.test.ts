import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import {
  matchesRegistered,
  redirectHost,
  redirectUriProblem,
} from '../../../../src/features/oauth/clients/redirect_uris.js';

const GOOD = [
  'https://a.test/cb',
  'https://a.test',
  'https://A.test/CB',
  'https://a.test:8443/cb?next=1&b=%2F',
  'https://a.test:443/cb',
  'https://a.test/cb?',
  'https://xn--80ak6aa92e.test/cb',
  'https://10.0.0.1/cb',
  'https://localhost/cb',
  'http://localhost:3/cb',
  'http://localhost:80/cb',
  'http://127.0.0.1/cb',
  'http://127.0.0.1',
  'http://127.0.0.1:65535/cb',
  'http://[::1]:9/cb',
  'http://[::1]?a=b',
  'com.example.app:/callback',
  'com.example.app:/',
  'com.example.app://callback',
  'com.example.app://callback/a?b=c',
  'com.example.app:///callback',
  'Com.Example.App:/Callback',
  'COM.EXAMPLE.APP://callback',
  'com.example-2.app3:/a/b?c=d',
];

const BAD: Record<string, string[]> = {
  'no web address': [
    'http://a.test/cb',
    'ftp://a.test',
    'ws://a.test/',
    'HTTP://a.test/cb',
    'http:a.test',
    'http:///cb',
  ],
  'no loopback address in these spellings': [
    'http://10.0.0.1/cb',
    'http://192.168.1.10/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://0x7f.0.0.1/cb',
    'http://127.0.0.2/cb',
    'http://0.0.0.0/cb',
    'http://localhost./cb',
    'http://LOCALHOST/cb',
    'http://Localhost/cb',
    'http://localhost.evil.test/cb',
    'http://localhost@evil.test/cb',
    'http://evil.test@localhost/cb',
    'http://[0:0:0:0:0:0:0:1]/cb',
    'http://[::ffff:127.0.0.1]/cb',
    'http://::1/cb',
    'http://localhost:0/cb',
    'http://localhost:070/cb',
    'http://localhost:65536/cb',
    'http://localhost:/cb',
  ],
  'no reverse-DNS scheme': [
    'myapp:/cb',
    'myapp://cb',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://a.test/x',
    'file:///etc/passwd',
    'about:blank',
    'mailto:a@b.test',
    'com..app:/cb',
    'com.:/cb',
    'com.app-:/cb',
    '1com.app:/cb',
    'com.ex+ample:/cb',
  ],
  'no slash after the scheme': ['com.x:cb', 'com.x:', 'com.x:?a=b'],
  'more than a name after the slashes': ['com.x://user@cb', 'com.x://u:p@cb/', 'com.x://cb:80/'],
  'not absolute': ['', '/cb', '//a.test/cb', 'a.test/cb', 'cb', 'localhost:3000/cb'],
  'a fragment': ['https://a.test/cb#', 'https://a.test/cb#x', 'com.example.app:/cb#x', 'http://localhost/#'],
  'other characters': [
    ' https://a.test/cb',
    'https://a.test/cb ',
    'https://a.test/c b',
    'java\tscript:alert(1)',
    'https://a.test/\ncb',
    'https://a.test\\@evil.test/',
    'https://a.test/\u0000',
    'https://аррӏе.test/cb',
    'https://a.test/ü',
    'https://a.test/"<x>',
    'https://a.test/%',
    'https://a.test/%zz',
    'https://a.test/{id}',
  ],
  'read otherwise than written': [
    'https://user:secret@a.test/cb',
    'https://user@a.test/cb',
    'https://127.1/cb',
    'https://ex%61mple.test/cb',
    'https:a.test/cb',
    'https:/a.test/cb',
    'https:///a.test/cb',
    'https://',
    'https://a.test/x/../cb',
    'https://a.test/%2e%2e/cb',
    'http://localhost/x/../cb',
    'com.example.app:/x/../cb',
    'com.example.app://cb/./x',
    "https://a.test/cb?'",
    'https://a.test:99999/',
    'https://*.a.test/cb',
    'https://xn--a/cb',
    'https://a.xn--a-.test/cb',
  ],
};

t.test('C-009 redirect URIs that can be registered', async (t) => {
  for (const uri of GOOD) t.equal(redirectUriProblem(uri), null, uri);
  t.equal(redirectUriProblem(`https://a.test/${'a'.repeat(LIMITS.redirect_uri_chars_max - 15)}`), null);
});

t.test('C-010 redirect URIs that can not, and why', async (t) => {
  for (const [why, uris] of Object.entries(BAD)) {
    for (const uri of uris) t.type(redirectUriProblem(uri), 'string', `${why}: ${JSON.stringify(uri)}`);
  }
  t.match(redirectUriProblem(`https://a.test/${'a'.repeat(LIMITS.redirect_uri_chars_max - 14)}`), /characters/);
  t.match(redirectUriProblem('com.x:cb'), /com\.x:\/callback/, 'it says how to write it');
});

t.test('a request comes back to what was registered, on a loopback address at any port', async (t) => {
  const same = [
    ['https://a.test/cb', 'https://a.test/cb'],
    ['com.example.app:/cb', 'com.example.app:/cb'],
    ['Com.Example.App:/cb', 'com.example.app:/cb'],
    ['com.example.app://cb', 'COM.example.app://cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5123/cb'],
    ['http://127.0.0.1:1/cb', 'http://127.0.0.1/cb'],
    ['http://[::1]:9/cb?a=b', 'http://[::1]:10/cb?a=b'],
    ['http://localhost:3000', 'http://localhost:4000'],
  ] as const;
  for (const [registered, requested] of same) t.ok(matchesRegistered(registered, requested), requested);
  const other = [
    ['https://a.test/cb', 'https://a.test/cb/'],
    ['https://a.test/cb', 'https://a.test/cb?x=1'],
    ['https://a.test/cb', 'https://a.test:8443/cb'],
    ['https://a.test/cb', 'https://A.test/cb'],
    ['https://localhost/cb', 'https://localhost:1/cb'],
    ['http://127.0.0.1/cb', 'http://localhost/cb'],
    ['http://127.0.0.1/cb', 'http://[::1]/cb'],
    ['http://localhost/cb', 'http://127.0.0.1:3/cb'],
    ['http://127.0.0.1/cb', 'https://127.0.0.1/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:3/cb2'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:3/cb?x'],
    ['http://127.0.0.1', 'http://127.0.0.1:3/'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:99999/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:3@evil.test/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:3/cb#x'],
    ['com.example.app:/cb', 'com.example.app:/cb2'],
    ['com.example.app:/cb', 'com.example.app:/CB'],
    ['com.example.app:/cb', 'com.example.app://cb'],
    ['https://a.test/cb', 'HTTPS://a.test/cb'],
  ] as const;
  for (const [registered, requested] of other) t.notOk(matchesRegistered(registered, requested), requested);
});

t.test('what a consent page shows of a redirect URI', async (t) => {
  t.same(redirectHost('https://a.test/cb'), { host: 'a.test', kind: 'web' });
  t.same(redirectHost('https://a.test:8443/cb'), { host: 'a.test:8443', kind: 'web' });
  t.same(
    redirectHost('https://xn--80ak6aa92e.test/'),
    { host: 'xn--80ak6aa92e.test', kind: 'web' },
    'punycode as it is',
  );
  t.same(redirectHost('http://127.0.0.1:80/cb'), { host: '127.0.0.1', kind: 'loopback' });
  t.same(redirectHost('http://[::1]:9/cb'), { host: '[::1]:9', kind: 'loopback' });
  t.same(redirectHost('http://localhost:3000/cb'), { host: 'localhost:3000', kind: 'loopback' });
  t.same(redirectHost('com.example.app:/cb'), { host: 'com.example.app', kind: 'app' });
  t.same(redirectHost('Com.Example.App://cb'), { host: 'com.example.app', kind: 'app' });
});
