import { useEffect, useRef, useState } from 'preact/hooks';
import type { Device } from '../../../kits/typescript/src/api.js';
import { type Answer, api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useAction } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { Countdown, useEvery } from '../../parts/clock.js';
import { Dialog } from '../../parts/dialog.js';
import { Icon } from '../../parts/icon.js';
import { PairingCode } from '../../parts/pairing_code.js';
import { Loading, Problem } from '../../parts/placeholders.js';
import { BASE } from '../../router.js';

/** A device that was bound before and comes back makes no event. */
const LOOK_MS = 5_000;
/** Devices bound last come first. */
const LOOKED_AT = 10;

const ADDED = {
  personal: 'Personal recorder …{id} has been added.',
  shared: 'Shared recorder …{id} has been added.',
} as const;

type ClaimAnswer = Answer<'POST /devices/claims'>;

/** A code for one device, and what becomes of it while the dialog is open. The code is nowhere but in this dialog. */
export function AddDevice({ open, onClose, added }: { open: boolean; onClose: () => void; added: () => void }) {
  return (
    <Dialog open={open} title={say('Add a device')} onClose={onClose}>
      {open && <Adding onClose={onClose} added={added} />}
    </Dialog>
  );
}

function Adding({ onClose, added }: { onClose: () => void; added: () => void }) {
  const [claim, setClaim] = useState<ClaimAnswer | null>(null);
  const [is_over, setOver] = useState(false);
  const [device, setDevice] = useState<Device | null>(null);
  const before = useRef<ReadonlyMap<string, string>>(new Map());
  const making = useAction(async () => {
    const known = await api('GET /devices', { query: { limit: LOOKED_AT } });
    before.current = new Map(known.items.map(({ id, bound_at }) => [id, bound_at]));
    setClaim(await api('POST /devices/claims', { body: { kind: 'owner' } }));
    setOver(false);
  });
  useEffect(() => void making.run(), []);
  const look = async () => {
    if (claim === null || device !== null) return;
    const { items } = await api('GET /devices', { query: { limit: LOOKED_AT } });
    const fresh = items.find(({ id, kind, bound_at }) => kind === 'personal' && before.current.get(id) !== bound_at);
    if (fresh === undefined) return;
    setDevice(fresh);
    added();
  };
  const lookQuietly = () => void look().catch(() => {}); // it is looked again
  useEvents(['source.created'], lookQuietly);
  useEvery(claim === null || device !== null ? null : LOOK_MS, lookQuietly);
  if (device !== null) return <Added device={device} onClose={onClose} />;
  if (making.error !== null) return <Problem error={making.error} retry={() => void making.run()} />;
  if (claim === null) return <Loading what={say('Creating a code')} />;
  if (is_over) {
    return (
      <>
        <p class="notice caution">{say('This code has expired.')}</p>
        <div class="dialog-actions">
          <Button kind="primary" busy={making.busy} onClick={() => void making.run()}>
            {say('Create another code')}
          </Button>
        </div>
      </>
    );
  }
  return (
    <>
      <p>
        {say('Scan this with the device, or type the code there. It adds one device to your account: do not share it.')}
      </p>
      <PairingCode of={claim} label={say('QR code of the new device')} />
      <p class="hint">
        {sayWith('The QR code is valid for {time}, even after you close this. It is shown only once.', {
          time: <Countdown until={claim.expires_at} over={() => setOver(true)} />,
        })}
      </p>
      <p class="waits" role="status">
        <span class="spinner" aria-hidden="true" />
        <span>{say('Waiting for the device…')}</span>
      </p>
    </>
  );
}

/** It is there; what it records first is told as well. */
function Added({ device, onClose }: { device: Device; onClose: () => void }) {
  const [stream_id, setStream] = useState<string | null>(null);
  useEvents(['stream.created'], (events) => {
    const hear = async () => {
      for (const { resource } of events ?? []) {
        const stream = await api('GET /audio/streams/{id}', { path: { id: resource.id } });
        if (stream.source_device_id === device.id) setStream(stream.id);
      }
    };
    void hear().catch(() => {}); // the list of recordings shows it all the same
  });
  return (
    <>
      <div role="status" class="spaced">
        <p class="notice">{say(ADDED[device.kind], { id: device.id.slice(-6) })}</p>
        {stream_id === null ? (
          <p class="waits">
            <span class="spinner" aria-hidden="true" />
            <span>{say('Waiting for its first recording… You can close this.')}</span>
          </p>
        ) : (
          <p class="notice">
            <span>
              <Icon name="microphone" size={18} /> {say('It is recording.')}
            </span>
          </p>
        )}
      </div>
      <div class="dialog-actions">
        {stream_id !== null && (
          <ButtonLink href={`${BASE}/recordings/${stream_id}`}>{say('Open the recording')}</ButtonLink>
        )}
        <Button kind="primary" onClick={onClose}>
          {say('Done|button')}
        </Button>
      </div>
    </>
  );
}
