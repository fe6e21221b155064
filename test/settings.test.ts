import t from 'tap';
import { readRedisLocation } from '../src/engine/store/redis_location.js';
import { describeSettings, publicAddresses, readSettings, WrongSettings } from '../src/host/settings.js';

const complaintsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readSettings(env);
  } catch (error) {
    if (error instanceof WrongSettings) return error.lines;
    throw error;
  }
  return [];
};

t.test('with nothing set every setting has its default', async (t) => {
  const settings = readSettings({});
  t.match(settings, {
    port: 8080,
    host: '127.0.0.1',
    device_port: 8443,
    device_host: '127.0.0.1',
    device_names: ['localhost', '127.0.0.1'],
    device_cert_days: 90,
    ops_port: 9090,
    ops_token: null,
    base_url: null,
    redis_url: null,
    redis_accept_weaker: false,
    blob_url: null,
    smtp_url: null,
    brand_names: ['spool'],
    cors_origins: [],
    rate_limits: true,
    rate_sign_ins_begun: 120,
    rate_codes_sent: 60,
    rate_codes_checked: 120,
    rate_native_steps: 120,
    rate_registrations: 20,
    rate_claims: 60,
    rate_device_requests: 1200,
    connections_max: null,
    connections_per_network: 2_000,
    device_connections_max: null,
    device_connections_per_network: 5_000,
    device_handshakes_max: 256,
    overload_delay_ms: 500,
    overload_memory_mb: null,
    test_clock: false,
    transcribe_url: null,
    transcribe_command: null,
    transcribe_diarize: false,
    transcribe_nice: 10,
    transcribe_window_s: 15,
    transcribe_built_in: true,
    transcribe_model_dir: null,
    transcribe_speakers_dir: null,
    transcribe_backlog_days: 7,
    look_for_ollama: false,
    content_worker: true,
    content_at_once: 3,
    captcha_url: null,
    captcha_site_key: null,
    captcha_script_url: null,
    captcha_widget_class: 'cf-turnstile',
  });
  t.equal(settings.data_dir, `${process.cwd()}/data`);
  t.equal(settings.keys_dir, `${process.cwd()}/data/keys`);
  t.equal(settings.first_party_clients, `${process.cwd()}/data/first_party_clients.json`);
  t.ok(Object.isFrozen(settings));
  t.ok(Object.isFrozen(settings.device_names));
  t.same(
    Object.keys(settings).sort(),
    describeSettings()
      .map(({ name }) => name.toLowerCase())
      .sort(),
  );
});

t.test('a default that is a number or a switch is the one that holds', async (t) => {
  const settings = readSettings({}) as Record<string, unknown>;
  for (const { name, default_text } of describeSettings()) {
    const value = settings[name.toLowerCase()];
    const [said = ''] = default_text.split(' ', 1);
    if (typeof value === 'boolean') t.ok([value ? '1' : '0', value ? 'on' : 'off'].includes(said), name);
    if (typeof value === 'number') t.equal(said, String(value), name);
  }
});

t.test('values are read, and empty counts as unset', async (t) => {
  const settings = readSettings({
    PORT: '0',
    HOST: '0.0.0.0',
    OPS_PORT: '  ',
    DEVICE_NAMES: 'a.example, ::1,,a.example',
    DATA_DIR: '/tmp/x/../y',
    REDIS_URL: 'rediss://user:word@cache.example:6380/2',
    BLOB_URL: 's3://bucket?endpoint=http://127.0.0.1:9000',
    RATE_LIMITS: 'off',
    TEST_CLOCK: '1',
    BASE_URL: 'https://api.example/',
    TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8,127.0.0.1',
    UNKNOWN: 'ignored',
  });
  t.match(settings, {
    port: 0,
    device_host: '0.0.0.0',
    ops_port: 9090,
    device_names: ['a.example', '::1'],
    data_dir: '/tmp/y',
    keys_dir: '/tmp/y/keys',
    redis_url: 'rediss://user:word@cache.example:6380/2',
    blob_url: { bucket: 'bucket', prefix: '', endpoint: 'http://127.0.0.1:9000', region: null, path_style: true },
    rate_limits: false,
    test_clock: true,
    base_url: 'https://api.example',
    trusted_proxies: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1'],
  });
});

t.test(
  'webhooks reach private addresses by default only where the server is known by one of its own machine',
  async (t) => {
    const blocks = (env: Record<string, string>) => readSettings(env).webhook_block_private;
    for (const BASE_URL of [
      '',
      'http://localhost:8000',
      'https://127.0.0.1',
      'http://127.9.0.1:1',
      'http://[::1]:8080',
    ])
      t.equal(blocks({ BASE_URL }), false, BASE_URL);
    for (const BASE_URL of [
      'https://api.example',
      'https://localhost.example',
      'http://10.0.0.1',
      'http://127.0.0.1.nip.example',
    ])
      for (const HOST of ['127.0.0.1', '0.0.0.0']) t.equal(blocks({ BASE_URL, HOST }), true, `${BASE_URL} on ${HOST}`);
    t.equal(blocks({ BASE_URL: 'https://api.example', WEBHOOK_BLOCK_PRIVATE: '0' }), false);
    t.equal(blocks({ WEBHOOK_BLOCK_PRIVATE: '1' }), true);
  },
);

t.test('J-007 origins of browser extensions and of apps in a web view are taken', async (t) => {
  const origins = [
    ...['https://app.example', 'http://localhost:5173', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'],
    ...['moz-extension://0f6d2c3a-8a5e-4c1b-9d11-2f3e4a5b6c7d', 'capacitor://localhost', 'tauri://localhost'],
    ...['app://notes.example', 'ionic://localhost:8100', 'safari-web-extension://0F6D2C3A-8A5E-4C1B-9D11-2F3E4A5B6C7D'],
  ];
  t.same(readSettings({ CORS_ORIGINS: origins.join(', ') }).cors_origins, origins);
});

t.test('a bucket may be one of Amazon, in a region, below folders', async (t) => {
  t.same(readSettings({ BLOB_URL: 's3://my.bucket/a/b/?region=eu-central-1' }).blob_url, {
    ...{ bucket: 'my.bucket', prefix: 'a/b/', endpoint: null, region: 'eu-central-1', path_style: false },
  });
  t.match(readSettings({ BLOB_URL: 's3://bucket?endpoint=https://s3.example&path_style=0' }).blob_url, {
    ...{ endpoint: 'https://s3.example', path_style: false },
  });
});

t.test('each wrong value is refused with its name, itself and the rule', async (t) => {
  const rows: [string, string, RegExp][] = [
    ['PORT', '65536', /^PORT="65536": must be a whole number from 0 to 65535$/],
    ['PORT', '80a', /^PORT="80a": must be a whole number/],
    ['OPS_PORT', '-1', /^OPS_PORT="-1": must/],
    ['HOST', 'no host', /^HOST="no host": must be an IP address or a host name$/],
    ['DEVICE_NAMES', ',', /^DEVICE_NAMES=",": must name at least one host$/],
    ['BASE_URL', 'https://api.example/v1', /^BASE_URL=".*": must be an http or https address without a path/],
    ['BASE_URL', 'ftp://api.example', /^BASE_URL=/],
    ['CORS_ORIGINS', 'https://a.example/', /^CORS_ORIGINS=".*": must be origins/],
    ...[
      ...['javascript:alert(1)', 'javascript://a.example', 'data:text/html,x', 'file://localhost', 'null', 'app'],
      ...['capacitor://localhost/', 'chrome-extension://', 'https://a.example:443', 'https://user@a.example'],
    ].map((wrong): [string, string, RegExp] => ['CORS_ORIGINS', wrong, /^CORS_ORIGINS=".*": must be origins/]),
    ['TRUSTED_PROXIES', '10.0.0.0/33', /^TRUSTED_PROXIES=/],
    ['RATE_LIMITS', 'no', /^RATE_LIMITS="no": must be on or off$/],
    ['RATE_CLAIMS', '0', /^RATE_CLAIMS="0": must/],
    ['TEST_CLOCK', 'yes', /^TEST_CLOCK="yes": must be 0 or 1$/],
    ['BLOB_URL', 'file:///tmp', /^BLOB_URL="file:.*": must be s3:\/\/bucket\?endpoint=…$/],
    ['BLOB_URL', 's3://B_', /^BLOB_URL=.*: must name a bucket/],
    ['BLOB_URL', 's3://bucket?endpoint=ftp://x', /^BLOB_URL="s3:\/\/bucket\?\*\*\*": must have an http or https/],
    [
      'BLOB_URL',
      's3://bucket?endpoint=http://x/path',
      /^BLOB_URL=.*: must have an http or https address without a path/,
    ],
    [
      'BLOB_URL',
      's3://bucket?path-style=1',
      /^BLOB_URL=.*: must have no other parameters than endpoint, region, path_style$/,
    ],
    ['BLOB_URL', 's3://bucket?region=a&region=b', /^BLOB_URL=.*: must have region once$/],
    ['BLOB_URL', 's3://bucket?path_style=yes', /^BLOB_URL=.*: must have 0 or 1 as path_style$/],
    ['BLOB_URL', 's3://bucket/a.b', /^BLOB_URL=.*: may have at most five folders/],
    ['MAIL_FROM', 'nobody', /^MAIL_FROM="nobody"/],
    ['CAPTCHA_WIDGET_CLASS', 'a b', /^CAPTCHA_WIDGET_CLASS="a b": must be letters, digits, - and _$/],
    ['DEVICE_CERT_DAYS', '1.5', /^DEVICE_CERT_DAYS=/],
    ['TRANSCRIBE_URL', 'localhost:8000', /^TRANSCRIBE_URL="localhost:8000": must be an http or https address without/],
    ['TRANSCRIBE_URL', 'http://me:word@x/v1', /^TRANSCRIBE_URL="http:\/\/\*\*\*@x\/v1": must be .* without a password/],
    ['TRANSCRIBE_COMMAND', 'whisper "{audio}', /^TRANSCRIBE_COMMAND=\(value not shown\): must not leave a quote/],
    ['TRANSCRIBE_COMMAND', 'whisper file.wav', /^TRANSCRIBE_COMMAND=.*: must be a program .* holds \{audio\}$/],
    ['TRANSCRIBE_COMMAND', '{audio}', /^TRANSCRIBE_COMMAND=.*: must be a program/],
    ['TRANSCRIBE_NICE', '20', /^TRANSCRIBE_NICE="20": must be a whole number from 0 to 19$/],
    ['TRANSCRIBE_WINDOW_S', '4', /^TRANSCRIBE_WINDOW_S="4": must be a whole number from 5 to 600$/],
  ];
  for (const [name, value, line] of rows) {
    const lines = complaintsOf({ [name]: value });
    t.equal(lines.length, 1, name);
    t.match(lines[0], line);
  }
});

t.test('all wrong ones are in one message', async (t) => {
  t.throws(() => readSettings({ PORT: 'x', TEST_CLOCK: '2', CAPTCHA_URL: 'http://127.0.0.1/verify' }), {
    message:
      'Settings are wrong:\n' +
      '  PORT="x": must be a whole number from 0 to 65535\n' +
      '  TEST_CLOCK="2": must be 0 or 1\n' +
      '  CAPTCHA_SECRET: must be set when CAPTCHA_URL is',
  });
  t.same(complaintsOf({ TRANSCRIBE_URL: 'http://127.0.0.1:1/v1', TRANSCRIBE_COMMAND: 'hear {audio}' }), [
    'TRANSCRIBE_COMMAND: must not be set when TRANSCRIBE_URL is',
  ]);
  t.same(complaintsOf({ TRANSCRIBE_KEY: 'hush-hush', TRANSCRIBE_MODEL: 'small' }), [
    'TRANSCRIBE_URL: must be set when TRANSCRIBE_KEY is',
    'TRANSCRIBE_URL: must be set when TRANSCRIBE_MODEL is',
  ]);
  t.match(complaintsOf({ CAPTCHA_SECRET: 'hush-hush' }), ['CAPTCHA_URL: must be set when CAPTCHA_SECRET is']);
  t.same(complaintsOf({ CAPTCHA_SCRIPT_URL: 'javascript:1' }), [
    'CAPTCHA_SCRIPT_URL="javascript:1": must be an http or https address',
    'CAPTCHA_SITE_KEY: must be set when CAPTCHA_SCRIPT_URL is',
  ]);
  t.same(complaintsOf({ CAPTCHA_SITE_KEY: 'key' }), [
    'CAPTCHA_SCRIPT_URL: must be set when CAPTCHA_SITE_KEY is',
    'CAPTCHA_URL: must be set when CAPTCHA_SITE_KEY is',
  ]);
});

t.test('a Redis is one server, or nodes of a cluster', (t) => {
  const of = (REDIS_URL: string) => readRedisLocation(readSettings({ REDIS_URL }).redis_url ?? '');
  t.same(of('redis://a.example:1/2'), { url: 'redis://a.example:1/2' });
  t.same(of('redis-cluster://a.example:1,b.example'), {
    nodes: [
      { host: 'a.example', port: 1 },
      { host: 'b.example', port: 6379 },
    ],
    tls: false,
  });
  t.same(of('rediss-cluster://user:p%40ss@[::1]:7000/'), {
    nodes: [{ host: '::1', port: 7000 }],
    tls: true,
    username: 'user',
    password: 'p@ss',
  });
  for (const wrong of [
    'redis-cluster://',
    'redis-cluster://a:0',
    'redis-cluster://a:1,,b:2',
    'redis-cluster://%zz:x@a',
  ])
    t.match(complaintsOf({ REDIS_URL: wrong }), [
      /^REDIS_URL=.*: must be a redis:\/\/ or rediss:\/\/ address, or redis-cluster/,
    ]);
  t.end();
});

t.test('the token of workers must not be that of operators', async (t) => {
  const token = 'the-token-of-everybody';
  t.same(complaintsOf({ OPS_TOKEN: token, WORKER_TOKEN: ` ${token}` }), [
    'WORKER_TOKEN: must not be the token in OPS_TOKEN',
  ]);
  t.equal(readSettings({ OPS_TOKEN: token, WORKER_TOKEN: `${token}2` }).worker_token, `${token}2`);
});

t.test('secrets are in no message', async (t) => {
  const secret = 'Tr0ub4dor';
  const rows: [string, string][] = [
    ['OPS_TOKEN', secret],
    ['WORKER_TOKEN', secret],
    ['REDIS_URL', `http://user:${secret}@cache.example`],
    ['REDIS_URL', `redis//user:${secret}@cache.example`],
    ['REDIS_URL', `cache.example?password=${secret}`],
    ['REDIS_URL', `redis:/x:p@${secret}@host:port:`.replace('redis', 'redos')],
    ['REDIS_URL', `redis-cluster://user:${secret}@a:1,b:x`],
    ['SMTP_URL', `mail://user:${secret}@mail.example`],
    ['SMTP_URL', `smtp://user:${secret}@[mail`],
    ['BLOB_URL', `s4://key:${secret}@bucket`],
    ['BLOB_URL', `s3://key:${secret}@bucket`],
    ['BASE_URL', `https://user:${secret}@api.example`],
  ];
  for (const [name, value] of rows) {
    const lines = complaintsOf({ [name]: value });
    t.equal(lines.length, 1, `${name} is refused`);
    t.notMatch(lines.join('\n'), secret);
    t.match(lines[0], name);
  }
});

t.test('public addresses follow the port that was found', async (t) => {
  t.same(publicAddresses(readSettings({ PORT: '0' }), 4321), {
    base_url: 'http://localhost:4321',
    legacy_base_url: null,
    restore_url: 'http://localhost:4321/restore',
  });
  t.match(publicAddresses(readSettings({ BASE_URL: 'https://api.example' }), 8080), {
    restore_url: 'https://api.example/restore',
  });
});
