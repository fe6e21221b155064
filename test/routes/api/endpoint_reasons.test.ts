import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import {
  type EndpointFacts,
  endpointHeadline,
  endpointReasons,
} from '../../../src/features/webhooks/endpoint_reasons.js';
import { START_MS } from '../../fixtures/decisions.js';
import { FRESH } from '../../fixtures/endpoint_state.js';

const NOW_MS = START_MS + 3_600_000;
const fine: EndpointFacts = {
  endpoint: { ...FRESH, last_success_at_ms: NOW_MS - 5_000 },
  account: 'open',
  recent_types: ['account.updated'],
  deliveries: [],
  last_seen: { at_ms: NOW_MS - 5_000, status_code: 204, error: null },
  now_ms: NOW_MS,
};
const timeout = { at_ms: NOW_MS - 60_000, status_code: null, error: 'timeout' };

t.test('each reason is given where it holds, and none where nothing speaks against an endpoint', async (t) => {
  t.same(endpointReasons(fine), []);
  t.equal(endpointHeadline(fine, []), 'It gets its events; the last was accepted 5 s ago');
  const rows: [Partial<EndpointFacts>, string[], RegExp][] = [
    [{ account: 'deleted' }, ['account_deleted'], /unless the account is restored/],
    [{ account: 'gone' }, ['account_deleted'], /erased/],
    [{ endpoint: { ...FRESH, standing: { status: 'paused', since_ms: NOW_MS - 7_200_000 } } }, ['paused'], /2 h ago/],
    [
      {
        endpoint: {
          ...FRESH,
          standing: { status: 'disabled', reason: 'consecutive_failures', since_ms: NOW_MS - 60_000 },
        },
        last_seen: timeout,
      },
      ['disabled'],
      /1 min ago: 10 deliveries in a row failed\. The last request: no answer came \(timeout\)\./,
    ],
    [
      { endpoint: { ...FRESH, standing: { status: 'disabled', reason: null, since_ms: NOW_MS } } },
      ['disabled'],
      /Its owner disabled it/,
    ],
    [{ recent_types: [] }, ['no_events'], /Nothing has happened/],
    [{ endpoint: { ...FRESH, topics: ['stream.created'] } }, ['topics'], /it wants stream\.created/],
    [
      {
        endpoint: { ...FRESH, retryable_failures: LIMITS.circuit_opens_after, probe_at_ms: NOW_MS + 90_000 },
        last_seen: timeout,
      },
      ['circuit_open', 'failing'],
      /the next in 2 min.*no answer came \(timeout\), 1 min ago/,
    ],
    [{ last_seen: { ...timeout, status_code: 410, error: null } }, ['failing'], /answered with 410/],
    [
      { deliveries: [{ status: 'pending', next_attempt_at_ms: NOW_MS - 1, attempts: [] }] },
      ['waiting'],
      /1 of its last 1 deliveries waits; the next is tried as soon as it is taken up/,
    ],
  ];
  for (const [change, names, text] of rows) {
    const facts = { ...fine, ...change };
    const found = endpointReasons(facts);
    t.same(
      found.map(({ name }) => name),
      names,
    );
    t.match(found.map((reason) => reason.text).join(' '), text, names.join());
    const blocked = found.some(({ blocks }) => blocks);
    t.equal(/gets nothing/.test(endpointHeadline(facts, found)), blocked, names.join());
  }
  const failing = { ...fine, last_seen: timeout };
  t.equal(endpointHeadline(failing, endpointReasons(failing)), 'It does not accept what it is sent');
  t.equal(endpointHeadline({ ...fine, endpoint: FRESH }, []), 'It has not accepted anything yet');
});
