import type { Delivery, Endpoint } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { numberText } from '../language/formats.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useEvery } from '../parts/clock.js';
import { confirm, useDialogOpen } from '../parts/dialog.js';
import { Page, Section } from '../parts/page.js';
import { Show } from '../parts/placeholders.js';
import { Time, timeText } from '../parts/time.js';
import { useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE, go } from '../router.js';
import { Deliveries } from './webhooks/deliveries.js';
import { EndpointBadge } from './webhooks/endpoint_badge.js';
import { type Health, healthOf } from './webhooks/health.js';
import { NewEndpoint } from './webhooks/new_endpoint.js';

/** Deliveries make no events: that would never end. */
const LOOK_MS = 5_000;
const LOOKED_AT = 50;

/** One endpoint: whether it works, and what was sent to it. */
export function Webhook({ params: { id = '' } }: { params: Record<string, string> }) {
  const standing = useLoaded(() => standingOf(id), [id]);
  useEvery(LOOK_MS, standing.reload);
  return (
    <Page title={say('Endpoint')} back={{ href: `${BASE}/webhooks`, name: say('Webhooks') }}>
      <Show of={standing}>
        {({ endpoint, health, newest }) => (
          <>
            <p class={`notice ${health.tone === 'good' ? '' : health.tone}`} role="status">
              {health.text}
            </p>
            <About endpoint={endpoint} newest={newest[0] ?? null} changed={standing.reload} />
            <Deliveries id={id} newest={newest} />
          </>
        )}
      </Show>
    </Page>
  );
}

type Standing = { endpoint: Endpoint; health: Health; newest: readonly Delivery[] };

async function standingOf(id: string): Promise<Standing> {
  const [endpoint, deliveries, events] = await Promise.all([
    api('GET /endpoints/{id}', { path: { id } }),
    api('GET /endpoints/{id}/deliveries', { path: { id }, query: { limit: LOOKED_AT } }),
    api('GET /events', { query: { limit: LOOKED_AT } }),
  ]);
  const tried = deliveries.items.find(({ attempt_count, status }) => attempt_count > 0 && status !== 'succeeded');
  const last_attempt = tried === undefined ? null : await lastAttempt(id, tried.id);
  const at = (moment: string) => timeText(moment, 'moment');
  const known = { endpoint, deliveries: deliveries.items, last_attempt, events: events.items, timeText: at };
  return { endpoint, health: healthOf(known), newest: deliveries.items };
}

async function lastAttempt(id: string, delivery_id: string) {
  const { attempts } = await api('GET /endpoints/{id}/deliveries/{delivery_id}', { path: { id, delivery_id } });
  return attempts.at(-1) ?? null;
}

function About({ endpoint, newest, changed }: { endpoint: Endpoint; newest: Delivery | null; changed: () => void }) {
  const { url, topics, status, created_at, last_success_at } = endpoint;
  const [replacing, setReplacing] = useDialogOpen(say('Replace endpoint'));
  return (
    <Section title={say('Details')} actions={<EndpointBadge endpoint={endpoint} newest={newest} />}>
      <div class="panel spaced">
        <dl class="facts">
          <div>
            <dt>{say('Address')}</dt>
            <dd class="cut">{url}</dd>
          </div>
          <div>
            <dt>{say('Created')}</dt>
            <dd>
              <Time at={created_at} />
            </dd>
          </div>
          <div>
            <dt>{say('Last success')}</dt>
            <dd>{last_success_at === null ? say('None yet') : <Time at={last_success_at} />}</dd>
          </div>
          <div>
            <dt>{say('Types of events')}</dt>
            <dd class="cut">{topics.length === 0 ? say('All') : topics.join(', ')}</dd>
          </div>
        </dl>
        <Actions endpoint={endpoint} changed={changed} replace={() => setReplacing(true)} />
        <p class="hint">
          {say(
            'The address, types and secret of an endpoint can’t be changed. Create another endpoint instead, and delete this one.',
          )}
        </p>
      </div>
      <NewEndpoint open={replacing} like={endpoint} onClose={() => setReplacing(false)} />
      {status === 'disabled' && <p class="hint">{say('What happened while it was disabled is not sent later.')}</p>}
    </Section>
  );
}

const STEPS = {
  active: { does: 'Activate', done: 'The endpoint is active.' },
  paused: { does: 'Pause', done: 'The endpoint is paused.' },
  disabled: { does: 'Disable', done: 'The endpoint is disabled.' },
} as const satisfies Record<Endpoint['status'], object>;

/** The statuses that an endpoint can be given, by its present one: a disabled endpoint can only be activated. */
const NEXT: Record<Endpoint['status'], readonly Endpoint['status'][]> = {
  active: ['paused', 'disabled'],
  paused: ['active', 'disabled'],
  disabled: ['active'],
};

function Actions({ endpoint, changed, replace }: { endpoint: Endpoint; changed: () => void; replace: () => void }) {
  const { id, status, url } = endpoint;
  const setting = useToastAction(say('It was not changed.'), async (next: Endpoint['status']) => {
    await api('PATCH /endpoints/{id}', { path: { id }, body: { status: next } });
    showToast(say(STEPS[next].done));
    changed();
  });
  const removal = useToastAction(say('The endpoint could not be deleted.'), async () => {
    await api('DELETE /endpoints/{id}', { path: { id } });
    showToast(say('The endpoint is deleted.'));
    go(`${BASE}/webhooks`);
  });
  const test = useToastAction(say('No test was sent.'), async () => {
    const told = await api('POST /endpoints/{id}/test', { path: { id } });
    const said =
      told.status_code === null
        ? say('no answer ({error})', { error: told.error ?? 'network' })
        : `${told.status_code}`;
    const places = { answer: said, duration: numberText(told.duration_ms) };
    showToast(
      told.is_accepted
        ? say('The test was accepted: {answer}, {duration} ms.', places)
        : say('The test was not accepted: {answer}, {duration} ms.', places),
    );
  });
  const set = async (next: Endpoint['status']) => {
    const text = say('What is waiting for it is cancelled, and what happens in the meantime is not sent later.');
    const question = { title: say('Disable this endpoint?'), action: say('Disable'), grave: true, text };
    if (next === 'disabled' && !(await confirm(question))) return;
    await setting.run(next);
  };
  const remove = async () => {
    const text = say('{url} gets nothing more. Its secret and the list of its deliveries are deleted with it.', {
      url,
    });
    const question = { title: say('Delete this endpoint?'), action: say('Delete'), grave: true, text };
    if (await confirm(question)) await removal.run();
  };
  return (
    <div class="actions">
      {NEXT[status].map((next) => (
        <Button
          key={next}
          kind={next === 'active' ? 'primary' : 'secondary'}
          busy={setting.busy}
          onClick={() => void set(next)}
        >
          {say(STEPS[next].does)}
        </Button>
      ))}
      <Button busy={test.busy} onClick={() => void test.run()}>
        {say('Send a test')}
      </Button>
      <Button onClick={replace}>{say('Replace')}</Button>
      <Button kind="danger" busy={removal.busy} onClick={() => void remove()}>
        {say('Delete')}
      </Button>
    </div>
  );
}
