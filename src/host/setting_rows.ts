import { z } from 'zod';
import { speakerFiles, speechModelOf } from '../engine/speech/speech_model.js';
import { REDIS_URL_RULE, readRedisLocation } from '../engine/store/redis_location.js';
import { AUDIO_WORD } from '../features/transcripts/engines/command_line.js';
import {
  address,
  command,
  count,
  countOf,
  engineAddress,
  flag,
  flagText,
  headerList,
  host,
  isHost,
  isPageOrigin,
  LOG_LEVELS,
  listOf,
  networks,
  origin,
  orNull,
  perMinute,
  port,
  privateHosts,
  processes,
  row,
  type SettingRow,
  s3Place,
  share,
  text,
  wholeNumber,
} from './setting_forms.js';

/** Every variable the server reads, in the order in which docs/settings.md prints them. */
export const variables = {
  PROCESSES: row(processes.default(1), {
    default_text: '1',
    meaning: 'processes that serve on these ports; auto for one each core that may be used',
  }),
  DRAIN_S: row(wholeNumber({ min: 0, max: 600 }).default(0), {
    default_text: '0',
    meaning: 'seconds for which a server that is to stop serves on, while `/readyz` says 503',
  }),
  PORT: row(port(8080), { default_text: '8080', meaning: 'REST, OAuth, web pages and /mcp; 0 takes a free port' }),
  HOST: row(host.default('127.0.0.1'), { default_text: '127.0.0.1', meaning: 'address PORT listens on' }),
  CONNECTIONS_MAX: row(orNull(countOf), {
    default_text: '10000, less where few files may be open',
    meaning: 'open connections on PORT; one more is answered with 503',
  }),
  CONNECTIONS_PER_NETWORK: row(count(2_000), {
    default_text: '2000',
    meaning: 'the same from one network; TRUSTED_PROXIES apart',
  }),
  DEVICE_PORT: row(port(8443), { default_text: '8443', meaning: 'device routes, mutual TLS; 0 takes a free port' }),
  DEVICE_HOST: row(orNull(host), { default_text: 'HOST', meaning: 'address DEVICE_PORT listens on' }),
  DEVICE_NAMES: row(
    listOf({
      rule: 'must be host names or IP addresses, separated by commas',
      holds: isHost,
      defaults: ['localhost', '127.0.0.1'],
    }).refine((names) => names.length > 0, 'must name at least one host'),
    { default_text: 'localhost,127.0.0.1', meaning: "names in the device listener's certificate" },
  ),
  DEVICE_CERT_DAYS: row(wholeNumber({ min: 1, max: 3650 }).default(90), {
    default_text: '90',
    meaning: 'how long a device certificate is valid',
  }),
  DEVICE_PROXIES: row(networks, {
    default_text: 'none',
    meaning: 'proxies whose Client-Cert header (RFC 9440) the device listener believes',
  }),
  DEVICE_CONNECTIONS_MAX: row(orNull(countOf), {
    default_text: '20000, less where few files may be open',
    meaning: 'open connections of devices; one more is turned away',
  }),
  DEVICE_CONNECTIONS_PER_NETWORK: row(count(5_000), {
    default_text: '5000',
    meaning: 'the same from one network; proxies apart',
  }),
  DEVICE_HANDSHAKES_MAX: row(count(256), {
    default_text: '256',
    meaning: 'TLS handshakes of devices at once, a quarter of them from one network; others wait',
  }),
  OPS_PORT: row(port(9090), { default_text: '9090', meaning: 'operators, health and metrics; 0 takes a free port' }),
  OPS_HOST: row(host.default('127.0.0.1'), { default_text: '127.0.0.1', meaning: 'address OPS_PORT listens on' }),
  OPS_TOKEN: row(
    orNull(text('must be 16 to 200 visible ASCII characters', (value) => /^[\x21-\x7e]{16,200}$/.test(value))),
    {
      default_text: 'made on first start in DATA_DIR/ops_token',
      meaning: 'bearer token of the operator port',
      shown: 'nothing',
    },
  ),
  WORKER_TOKEN: row(
    orNull(text('must be 16 to 200 visible ASCII characters', (value) => /^[\x21-\x7e]{16,200}$/.test(value))),
    {
      default_text: 'made on first start in DATA_DIR/worker_token',
      meaning: 'bearer token of content workers on the operator port; opens /ops/jobs and the audio of claimed windows',
      shown: 'nothing',
    },
  ),
  BASE_URL: row(orNull(origin), {
    default_text: 'http://localhost:PORT',
    meaning: 'issuer, and start of every address the server hands out',
    shown: 'address',
  }),
  LEGACY_BASE_URL: row(orNull(origin), {
    default_text: 'none',
    meaning: 'the older address, under which older grants keep working',
    shown: 'address',
  }),
  RESTORE_URL: row(orNull(address('must be an http or https address', ['http', 'https'])), {
    default_text: 'BASE_URL/restore',
    meaning: 'page on which a deleted account is restored',
    shown: 'address',
  }),
  DATA_DIR: row(z.string().default('./data'), {
    default_text: './data',
    meaning: 'Redis files, blobs, certificates, outbox',
  }),
  KEYS_DIR: row(z.string().optional(), { default_text: 'DATA_DIR/keys', meaning: 'server keys, with ids, rotatable' }),
  REDIS_URL: row(orNull(text(REDIS_URL_RULE, (value) => readRedisLocation(value) !== null)), {
    default_text: 'own child process, files in DATA_DIR',
    meaning: 'any Redis from version 7.0 on; a cluster as redis-cluster://host:port,host:port',
    shown: 'address',
  }),
  REDIS_PASSWORD_FILE: row(orNull(z.string()), {
    default_text: 'none',
    meaning: 'file with the password of the Redis at REDIS_URL, which then holds none',
  }),
  REDIS_ACCEPT_WEAKER: row(flag, {
    default_text: '0',
    meaning: '1 starts although the Redis at REDIS_URL may lose or evict data',
  }),
  BLOB_URL: row(orNull(s3Place), {
    default_text: 'DATA_DIR/blobs',
    meaning: 'where audio is kept; s3://bucket?endpoint=…',
    shown: 'address',
  }),
  SMTP_URL: row(orNull(address('must be an smtp:// or smtps:// address', ['smtp', 'smtps'])), {
    default_text: 'files in DATA_DIR/outbox',
    meaning: 'mail server; without one each mail becomes an .eml file, and the terminal prints codes',
    shown: 'address',
  }),
  MAIL_FROM: row(
    text('must hold a mail address', (value) => /^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/.test(value)).default(
      'Spool <no-reply@localhost>',
    ),
    { default_text: 'Spool <no-reply@localhost>', meaning: 'sender of all mails' },
  ),
  CORS_ORIGINS: row(
    listOf({
      rule: 'must be origins such as https://app.example or capacitor://localhost, or *, separated by commas',
      holds: (entry) => entry === '*' || isPageOrigin(entry),
      defaults: [],
    }),
    {
      default_text: 'none',
      meaning: 'origins whose pages may call the API, those of browser extensions and of apps as well',
    },
  ),
  BRAND_NAMES: row(listOf({ rule: 'must be names, separated by commas', holds: () => true, defaults: ['spool'] }), {
    default_text: 'spool',
    meaning: 'names that a registered client may not carry',
  }),
  TRUSTED_PROXIES: row(networks, {
    default_text: 'none',
    meaning: 'proxies whose X-Forwarded-* headers are believed on PORT',
  }),
  FIRST_PARTY_CLIENTS: row(z.string().optional(), {
    default_text: 'DATA_DIR/first_party_clients.json, written on first start',
    meaning: 'file with redirect URIs, scopes and hashed secrets of the svc-* clients',
  }),
  CAPTCHA_URL: row(orNull(address('must be an http or https address', ['http', 'https'])), {
    default_text: 'none, no CAPTCHA',
    meaning: "the provider's siteverify address",
    shown: 'address',
  }),
  CAPTCHA_SECRET: row(orNull(z.string()), {
    default_text: 'none',
    meaning: "the provider's secret; goes with CAPTCHA_URL",
    shown: 'nothing',
  }),
  CAPTCHA_SITE_KEY: row(
    orNull(text('must be 1 to 200 visible ASCII characters', (value) => /^[\x21-\x7e]{1,200}$/.test(value))),
    { default_text: 'none', meaning: "the provider's public key, for the sign-in page" },
  ),
  CAPTCHA_SCRIPT_URL: row(orNull(address('must be an http or https address', ['http', 'https'])), {
    default_text: 'none',
    meaning: "script of the provider's widget; goes with CAPTCHA_SITE_KEY",
    shown: 'address',
  }),
  CAPTCHA_WIDGET_CLASS: row(
    text('must be letters, digits, - and _', (value) => /^[a-zA-Z0-9_-]{1,100}$/.test(value)).default('cf-turnstile'),
    { default_text: 'cf-turnstile', meaning: "CSS class by which the provider's script finds its place" },
  ),
  RATE_LIMITS: row(
    text('must be on or off', (value) => value === 'on' || value === 'off')
      .transform((value) => value === 'on')
      .default(true),
    { default_text: 'on', meaning: 'off for load tests' },
  ),
  RATE_SIGN_INS_BEGUN: row(perMinute(120), {
    default_text: '120',
    meaning: 'sign-ins begun in browsers, per network and minute',
  }),
  RATE_CODES_SENT: row(perMinute(60), { default_text: '60', meaning: 'mail codes sent, per network and minute' }),
  RATE_CODES_CHECKED: row(perMinute(120), {
    default_text: '120',
    meaning: 'mail codes checked, per network and minute',
  }),
  RATE_NATIVE_STEPS: row(perMinute(120), {
    default_text: '120',
    meaning: 'steps of native sign-in, per network and minute',
  }),
  RATE_REGISTRATIONS: row(perMinute(20), {
    default_text: '20',
    meaning: 'client registrations, per network and minute',
  }),
  RATE_CLAIMS: row(perMinute(60), { default_text: '60', meaning: 'device claims, per network and minute' }),
  RATE_DEVICE_REQUESTS: row(perMinute(1_200), {
    default_text: '1200',
    meaning: 'requests per device and minute, as many at once',
  }),
  OVERLOAD_DELAY_MS: row(wholeNumber({ min: 0, max: 60_000 }).default(500), {
    default_text: '500',
    meaning: 'delay of the event loop from which on requests are refused, all of them from double on; 0 for never',
  }),
  OVERLOAD_MEMORY_MB: row(orNull(wholeNumber({ min: 64, max: 1_048_576 })), {
    default_text: "nine tenths of the container's",
    meaning: "memory from which on requests are refused; nine tenths of V8's heap bound them too",
  }),
  CHUNK_WORKER: row(flagText.default(true), {
    default_text: '1',
    meaning: '1 checks stored WAV and Ogg chunks here, 0 leaves them to workers on the operator port',
  }),
  TRANSCRIBE_URL: row(orNull(engineAddress), {
    default_text: 'none, the built-in engine transcribes',
    meaning: 'server that makes text of audio, up to where /audio/transcriptions follows',
    shown: 'address',
  }),
  TRANSCRIBE_KEY: row(
    orNull(text('must be 1 to 1000 visible ASCII characters', (value) => /^[\x21-\x7e]{1,1000}$/.test(value))),
    { default_text: 'none', meaning: 'bearer token for TRANSCRIBE_URL', shown: 'nothing' },
  ),
  TRANSCRIBE_MODEL: row(orNull(z.string().max(200, 'must be at most 200 characters')), {
    default_text: "the server's own",
    meaning: 'model that TRANSCRIBE_URL is asked for',
  }),
  TRANSCRIBE_DIARIZE: row(flag, {
    default_text: '0',
    meaning: '1 asks TRANSCRIBE_URL to tell speakers apart (diarized_json)',
  }),
  TRANSCRIBE_COMMAND: row(orNull(command), {
    default_text: 'none',
    meaning: `program of this machine that makes text of the file ${AUDIO_WORD}`,
    shown: 'nothing',
  }),
  TRANSCRIBE_BUILT_IN: row(flagText.default(true), {
    default_text: '1',
    meaning: '0 turns the built-in engine off, which transcribes where nothing else is set to',
  }),
  TRANSCRIBE_MODEL_DIR: row(
    orNull(
      text(
        'must be a folder with a speech model of a known kind, see docs/transcription.md',
        (value) => speechModelOf(value) !== null,
      ),
    ),
    {
      default_text: 'the one of `spool models use`, else English',
      meaning: 'folder with the model of the built-in engine',
    },
  ),
  TRANSCRIBE_SPEAKERS_DIR: row(
    orNull(text('must be a folder with segmentation.onnx and speaker.onnx', (value) => speakerFiles(value) !== null)),
    {
      default_text: 'those of `spool models install speakers`, else none',
      meaning: 'folder with the two models by which the built-in engine tells speakers apart',
    },
  ),
  TRANSCRIBE_NICE: row(wholeNumber({ min: 0, max: 19 }).default(10), {
    default_text: '10',
    meaning:
      'how far the processes that recognize speech, decode audio and make vectors give way to all others, as with `nice`',
  }),
  TRANSCRIBE_WINDOW_S: row(orNull(wholeNumber({ min: 5, max: 600 })), {
    default_text: '15 with the built-in engine, else 60',
    meaning: 'audio that is transcribed at a time, in seconds',
  }),
  TRANSCRIBE_FINAL_PASS: row(flag, {
    default_text: '0',
    meaning: '1 runs a recording once more after its end, ten minutes at a time',
  }),
  TRANSCRIBE_BACKLOG_DAYS: row(wholeNumber({ min: 0, max: 3_650 }).default(7), {
    default_text: '7',
    meaning: 'how old a recording may be that is transcribed once there is an engine',
  }),
  INSIGHTS: row(z.enum(['extractive', 'off'], 'must be extractive or off').default('extractive'), {
    default_text: 'extractive',
    meaning: 'what finds suggestions in conversations without INSIGHTS_URL: words that were said, or off for nothing',
  }),
  LOOK_FOR_OLLAMA: row(flag, {
    default_text: '0',
    meaning:
      '1 has the start ask 127.0.0.1:11434 once whether an Ollama runs there, and say how to use it; npm start sets it',
  }),
  INSIGHTS_URL: row(orNull(engineAddress), {
    default_text: 'none',
    meaning: 'server of a language model that looks into conversations, up to where /chat/completions follows',
    shown: 'address',
  }),
  INSIGHTS_KEY: row(
    orNull(text('must be 1 to 1000 visible ASCII characters', (value) => /^[\x21-\x7e]{1,1000}$/.test(value))),
    { default_text: 'none', meaning: 'bearer token for INSIGHTS_URL', shown: 'nothing' },
  ),
  INSIGHTS_MODEL: row(orNull(z.string().max(200, 'must be at most 200 characters')), {
    default_text: "the server's own",
    meaning: 'model that INSIGHTS_URL is asked for',
  }),
  EMBED_URL: row(orNull(engineAddress), {
    default_text: 'none, the built-in model makes vectors',
    meaning: 'server of a model that makes vectors of what was said, up to where /embeddings follows',
    shown: 'address',
  }),
  EMBED_KEY: row(
    orNull(text('must be 1 to 1000 visible ASCII characters', (value) => /^[\x21-\x7e]{1,1000}$/.test(value))),
    { default_text: 'none', meaning: 'bearer token for EMBED_URL', shown: 'nothing' },
  ),
  EMBED_MODEL: row(orNull(z.string().max(200, 'must be at most 200 characters')), {
    default_text: "the server's own",
    meaning: 'model that EMBED_URL is asked for',
  }),
  EMBED_BUILT_IN: row(flagText.default(true), {
    default_text: '1',
    meaning: '0 turns the built-in model of meaning off; without EMBED_URL recall then goes by words alone',
  }),
  ENGINES_FILE: row(orNull(z.string()), {
    default_text: 'none',
    meaning: 'JSON file of further engines, by the names that pipelines have for them',
  }),
  CONTENT_WORKER: row(flagText.default(true), {
    default_text: '1',
    meaning: '1 transcribes and finds insights here, 0 leaves both to workers on the operator port',
  }),
  CONTENT_AT_ONCE: row(wholeNumber({ min: 1, max: 64 }).default(3), {
    default_text: '3',
    meaning:
      'windows of audio that this process transcribes at a time, and conversations that it looks into; one account has one less',
  }),
  WEBHOOK_BLOCK_PRIVATE: row(orNull(flagText), {
    default_text: '0 while BASE_URL is loopback, else 1',
    meaning: '1 delivers webhooks to public addresses only, 0 to any',
  }),
  WEBHOOK_PRIVATE_HOSTS: row(privateHosts, {
    default_text: 'none',
    meaning:
      'names, addresses and networks that webhooks may reach although they are private, such as n8n.lan,10.0.0.0/8',
  }),
  WEBHOOK_CA_FILE: row(orNull(z.string()), {
    default_text: 'none',
    meaning: 'PEM file of certificates that webhooks trust beside the usual ones',
  }),
  WEBHOOK_PROXY: row(orNull(address('must be an http or https address', ['http', 'https'])), {
    default_text: 'none',
    meaning: 'proxy that webhooks go through; it then decides which addresses they reach',
    shown: 'address',
  }),
  LOG_LEVEL: row(z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('warn'), {
    default_text: 'warn',
    meaning: 'what is logged: info names each request and each delivery, debug each batch of an actor',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: row(orNull(address('must be an http or https address', ['http', 'https'])), {
    default_text: 'none, no traces',
    meaning: 'base address of an OpenTelemetry collector that takes OTLP over HTTP',
    shown: 'address',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: row(headerList, {
    default_text: 'none',
    meaning: 'headers that the collector wants, name=value, separated by commas',
    shown: 'nothing',
  }),
  OTEL_SERVICE_NAME: row(z.string().max(100, 'must be at most 100 characters').default('spool'), {
    default_text: 'spool',
    meaning: 'name of this service in traces',
  }),
  OTEL_TRACES_SAMPLER_ARG: row(share.default(1), {
    default_text: '1',
    meaning: 'share of traces that are kept, 0 to 1',
  }),
  TEST_CLOCK: row(flag, { default_text: '0', meaning: '1 allows POST /ops/clock' }),
} as const satisfies Record<string, SettingRow<z.ZodType>>;

export type SettingName = keyof typeof variables;

/** The first is of no use without the second. */
export const GO_WITH: readonly [SettingName, SettingName][] = [
  ['REDIS_PASSWORD_FILE', 'REDIS_URL'],
  ['CAPTCHA_URL', 'CAPTCHA_SECRET'],
  ['CAPTCHA_SECRET', 'CAPTCHA_URL'],
  ['CAPTCHA_SITE_KEY', 'CAPTCHA_SCRIPT_URL'],
  ['CAPTCHA_SCRIPT_URL', 'CAPTCHA_SITE_KEY'],
  ['CAPTCHA_SITE_KEY', 'CAPTCHA_URL'],
  ['TRANSCRIBE_KEY', 'TRANSCRIBE_URL'],
  ['TRANSCRIBE_MODEL', 'TRANSCRIBE_URL'],
  ['TRANSCRIBE_DIARIZE', 'TRANSCRIBE_URL'],
  ['INSIGHTS_KEY', 'INSIGHTS_URL'],
  ['INSIGHTS_MODEL', 'INSIGHTS_URL'],
  ['EMBED_KEY', 'EMBED_URL'],
  ['EMBED_MODEL', 'EMBED_URL'],
];
/** Each says what the other does. */
export const EXCLUDE: readonly [SettingName, SettingName][] = [
  ['TRANSCRIBE_URL', 'TRANSCRIBE_COMMAND'],
  ['TRANSCRIBE_URL', 'TRANSCRIBE_MODEL_DIR'],
  ['TRANSCRIBE_COMMAND', 'TRANSCRIBE_MODEL_DIR'],
];
