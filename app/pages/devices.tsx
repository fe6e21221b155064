import { useState } from 'preact/hooks';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList } from '../api/loading.js';
import { say, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Ago } from '../parts/clock.js';
import { confirm, useDialogAbout } from '../parts/dialog.js';
import { Page, Section } from '../parts/page.js';
import { Badge, EmptyState, List } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { leaveRow, useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE } from '../router.js';
import { AddDevice } from './devices/add_device.js';
import { dialogOf, NameDevice } from './devices/name_device.js';
import { devicesPage, KIND_WORDS, type NamedDevice, nameOf } from './devices/named_devices.js';

/** Recorders that are bound to the account. */
export function Devices() {
  const devices = useList(devicesPage, []);
  const [adding, setAdding] = useState(false);
  const [naming, setNaming] = useDialogAbout(devices.items, dialogOf);
  useEvents(
    ['source.created', 'source.updated', 'source.deleted', 'device_session.started', 'device_session.ended'],
    () => devices.reload(),
  );
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {say('Add a device')}
    </Button>
  );
  return (
    <Page title={say('Devices')} lead={say('Devices that record for you.')} actions={add}>
      <List of={devices} empty={<Nothing />} label={say('Devices')}>
        {(device) => <Row key={device.id} device={device} rename={() => setNaming(device)} removed={devices.reload} />}
      </List>
      <Needs />
      <AddDevice open={adding} onClose={() => setAdding(false)} added={devices.reload} />
      <NameDevice device={naming} onClose={() => setNaming(null)} named={devices.reload} />
    </Page>
  );
}

function Row({ device, rename, removed }: { device: NamedDevice; rename: () => void; removed: () => void }) {
  const { id, kind, bound_at, last_seen_at, session_id, source_id } = device;
  const name = nameOf(device);
  const removal = useToastAction(say('{name} could not be removed.', { name }), async () => {
    await api('DELETE /devices/{id}', { path: { id } });
    showToast(say('{name} is removed.', { name }));
    leaveRow();
    removed();
  });
  const remove = async () => {
    const question = {
      title: say('Remove {name}?', { name }),
      action: say('Remove'),
      grave: true,
      text: <Consequences kind={kind} />,
    };
    if (await confirm(question)) await removal.run();
  };
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
        </p>
        <p class="row-facts">
          <span>
            {last_seen_at === null ? say('Not seen yet') : sayWith('Seen {ago}', { ago: <Ago at={last_seen_at} /> })}
          </span>
          <span>{sayWith('Added {time}', { time: <Time at={bound_at} style="date" /> })}</span>
          <span title={id}>…{id.slice(-6)}</span>
        </p>
      </div>
      <div class="row-end">
        <Badge>{say(KIND_WORDS[kind])}</Badge>
        {session_id !== null && <a href={`${BASE}/sessions/${session_id}`}>{say('Its session')}</a>}
        {source_id !== null && (
          <Button small kind="quiet" onClick={rename} aria-label={say('Rename {name}', { name })}>
            {say('Rename')}
          </Button>
        )}
        <Button
          small
          kind="danger"
          busy={removal.busy}
          onClick={() => void remove()}
          aria-label={say('Remove {name}', { name })}
        >
          {say('Remove')}
        </Button>
      </div>
    </li>
  );
}

function Consequences({ kind }: { kind: NamedDevice['kind'] }) {
  return (
    <ul class="points">
      <li>
        {kind === 'shared'
          ? say('It stops recording for you at once, and its session ends.')
          : say('It stops recording for you at once.')}
      </li>
      <li>{say('What it has sent stays. What it has not sent yet is lost.')}</li>
      <li>{say('It can be added again with a new code.')}</li>
    </ul>
  );
}

function Nothing() {
  return (
    <EmptyState icon="microphone" title={say('No device records for you yet')}>
      <p>{say('Press “Add a device”, then enter the code on the device.')}</p>
    </EmptyState>
  );
}

function Needs() {
  return (
    <Section title={say('What a device needs')}>
      <ul class="points">
        <li>
          {say('A certificate from this server, which its operator issues. Recorders that come set up have one.')}
        </li>
        <li>{say('A way to enter the code: a keyboard, a camera, or an app that passes it on.')}</li>
        <li>
          {sayWith('To build one, read the {link}.', { link: <a href="/guides/devices">{say('device guide')}</a> })}
        </li>
      </ul>
    </Section>
  );
}
