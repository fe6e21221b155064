import t from 'tap';
import { type Health, healthOf, type KnownHealth, shortHealth } from '../../app/pages/webhooks/health.js';

/** What the page of an endpoint says of it. */

const AT = '2026-01-02T12:00:00.000Z';
const BEFORE = '2026-01-01T12:00:00.000Z';
const LATER = '2026-01-02T13:00:00.000Z';

const ENDPOINT: KnownHealth['endpoint'] = {
  ...{ id: 'e', status: 'active', topics: [], url: 'https://app.example/', failure_count: 0 },
  ...{ last_success_at: null, disabled_reason: null, created_at: AT },
};
const DELIVERY: KnownHealth['deliveries'][number] = {
  ...{ id: 'd', status: 'pending', event_id: 'v', event_type: 'stream.created', attempt_count: 0 },
  ...{ next_attempt_at: LATER, created_at: AT },
};
const BUSY = { attempted_at: AT, status_code: 503, status_text: 'Busy', error: null, duration_ms: 1 };
const SILENT = { ...BUSY, status_code: null, status_text: null, error: 'timeout' };

type Case = {
  name: string;
  endpoint?: Partial<KnownHealth['endpoint']>;
  deliveries?: Partial<KnownHealth['deliveries'][number]>[];
  last_attempt?: KnownHealth['last_attempt'];
  events?: KnownHealth['events'];
  tone: Health['tone'];
  says: RegExp;
};

const CASES: readonly Case[] = [
  {
    name: 'disabled by failures',
    endpoint: { status: 'disabled', disabled_reason: 'consecutive_failures', failure_count: 10 },
    last_attempt: SILENT,
    ...{ tone: 'problem', says: /10 deliveries in a row failed.*no answer within ten seconds\. Fix the receiver/ },
  },
  {
    name: 'disabled by the person',
    endpoint: { status: 'disabled' },
    ...{ tone: 'problem', says: /switched off\. Activate it/ },
  },
  { name: 'paused', endpoint: { status: 'paused' }, tone: 'caution', says: /because it is paused/ },
  {
    name: 'one try failed',
    deliveries: [{ attempt_count: 1 }],
    last_attempt: BUSY,
    ...{ tone: 'caution', says: /sent again\. The last attempt: it answered 503 Busy\. The next attempt is at 13:00/ },
  },
  {
    name: 'so many failed that it is probed',
    deliveries: [{ attempt_count: 2 }, { attempt_count: 3, next_attempt_at: null }],
    last_attempt: SILENT,
    ...{ tone: 'problem', says: /one delivery at a time is tried until one succeeds/ },
  },
  {
    name: 'deliveries failed for good',
    endpoint: { failure_count: 9 },
    deliveries: [{ status: 'failed', attempt_count: 1 }],
    last_attempt: { ...BUSY, status_code: 400, status_text: null },
    ...{
      tone: 'caution',
      says: /After 1 more failure in a row it is disabled\. The last attempt: it answered 400\./,
    },
  },
  {
    name: 'the first is on its way',
    deliveries: [{}],
    ...{ tone: 'good', says: /on its way/ },
  },
  {
    name: 'it works',
    endpoint: { last_success_at: LATER },
    deliveries: [{ status: 'succeeded', attempt_count: 1 }],
    ...{ tone: 'good', says: /It works: the last delivery succeeded at 13:00/ },
  },
  {
    name: 'nothing has happened since it was made',
    events: [{ type: 'stream.created', occurred_at: BEFORE }],
    ...{ tone: 'caution', says: /nothing has happened in your account since/ },
  },
  {
    name: 'nothing but what nobody is sent',
    events: [{ type: 'account.created', occurred_at: LATER }],
    ...{ tone: 'caution', says: /nothing has happened in your account since/ },
  },
  {
    name: 'nothing that it asked for',
    endpoint: { topics: ['turn.created'] },
    events: [{ type: 'stream.created', occurred_at: LATER }],
    ...{ tone: 'caution', says: /types that it is not subscribed to, such as stream\.created at 13:00/ },
  },
];

t.test('why an endpoint gets nothing is said in one sentence', async (t) => {
  for (const { name, endpoint, deliveries = [], last_attempt = null, events = [], tone, says } of CASES) {
    const health = healthOf({
      endpoint: { ...ENDPOINT, ...endpoint },
      deliveries: deliveries.map((one) => ({ ...DELIVERY, ...one })),
      ...{ last_attempt, events },
      timeText: (at) => at.slice(11, 16),
    });
    t.match(health.text, says, name);
    t.equal(health.tone, tone, name);
  }
});

t.test('the list of endpoints says it in a few words', async (t) => {
  t.equal(shortHealth(ENDPOINT, null), 'Nothing delivered yet');
  t.equal(shortHealth(ENDPOINT, { ...DELIVERY, attempt_count: 1 }), 'The last delivery was not accepted yet');
  t.equal(shortHealth({ ...ENDPOINT, failure_count: 3 }, null), '3 of 10 failures in a row');
  t.equal(shortHealth({ ...ENDPOINT, last_success_at: AT }, DELIVERY), 'Works');
  t.equal(shortHealth({ ...ENDPOINT, status: 'paused' }, null), 'Gets nothing for now');
});
