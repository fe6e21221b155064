import { useState } from 'preact/hooks';
import { CheckField, TextField } from '../../parts/field.js';
import { Section } from '../../parts/page.js';
import { type Answer, ask, type ItemOf } from '../api.js';
import { ago, clockTime, dateTime, digits, span } from '../format.js';
import { EntityLink, KindAndEntity } from '../parts/entity_link.js';
import { Listing } from '../parts/listing.js';
import { Table } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';

const LIMIT = 100;

/** Which device stopped uploading, and which devices there are. */
export function Devices() {
  const [minutes, setMinutes] = useState('10');
  const [recording, setRecording] = useState(true);
  const { data } = usePolling(() => {
    const silent_min = /^\d{1,6}$/.test(minutes) ? Number(minutes) : 0;
    return ask('GET /ops/devices', { query: { silent_min, recording: recording ? '1' : '0', limit: LIMIT } });
  }, [minutes, recording]);
  return (
    <ViewPage title="Devices">
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <TextField
          label="Silent for at least (minutes)"
          {...{ type: 'number', min: 0, max: 100_000, value: minutes, onValue: setMinutes }}
        />
        <CheckField label="Only with an open stream or an announced chunk" checked={recording} onValue={setRecording} />
      </form>
      {data !== null && <SilentDevices {...data} />}
      <Listing<ItemOf<'GET /ops/devices/provisioned'>>
        id="provisioned"
        title="All devices"
        hint="As stored, including devices that have not connected since the server started. Search by an id or a part of one, or by the email or id of the account."
        fields={[
          { name: 'find', label: 'Device, or email or id of an account' },
          {
            name: 'state',
            label: 'Status',
            options: [
              ['', 'any'],
              ['bound', 'bound'],
              ['unbound', 'not bound'],
              ['revoked', 'revoked'],
            ],
          },
          { name: 'unseen_min', label: 'Not seen for (minutes)', number: true },
        ]}
        load={(asked, cursor) => ask('GET /ops/devices/provisioned', { query: { ...asked, cursor } })}
        caption="Devices that were provisioned"
        columns={['Device', 'Status', 'Account', 'Last seen', 'Certificate expires', 'Provisioned']}
        cells={(row) => [
          <KindAndEntity key="device" words={row.kind} kind="device" id={row.device_id} />,
          row.state === 'unbound' ? 'not bound' : row.state,
          row.account_id === null ? '–' : <EntityLink kind="account" id={row.account_id} />,
          ago(row.last_seen_at),
          row.certificate_until === null ? '–' : dateTime(row.certificate_until),
          dateTime(row.provisioned_at),
        ]}
        empty="There is no such device."
      />
    </ViewPage>
  );
}

function SilentDevices({ items, seen, seen_max, watched_since }: Answer<'GET /ops/devices'>) {
  return (
    <Section
      id="silent-devices"
      title="Silent devices"
      lead={`What this machine has seen since ${dateTime(watched_since)}: ${digits(seen)} ${seen === 1 ? 'device' : 'devices'}, of at most ${digits(seen_max)} that it remembers. Silence counts from the last upload, or from when there was first something to upload after it.`}
    >
      <Table
        caption="Devices"
        columns={['Device', 'Silent for', 'Last request', 'Last upload', 'Waiting for', 'Last refusal']}
        rows={items}
        empty={
          seen === 0
            ? `No device has connected since ${clockTime(watched_since)}. All devices are listed below.`
            : 'No device has been silent for that long.'
        }
        cells={(row) => [
          <KindAndEntity key="device" words={row.kind ?? 'device'} kind="device" id={row.device_id} />,
          span(row.silent_s),
          ago(row.last_request_at),
          row.uploads === 0 ? 'never' : `${ago(row.last_upload_at)}, ${digits(row.uploads)} in total`,
          waitsFor(row),
          row.last_refusal === null
            ? '–'
            : `${row.last_refusal.reason}, ${ago(row.last_refusal.at)} (${row.last_refusal.route})`,
        ]}
      />
    </Section>
  );
}

function waitsFor({ open_streams, awaited_chunks }: ItemOf<'GET /ops/devices'>): string {
  const streams = open_streams.length;
  const parts = [
    ...(streams > 0 ? [`${streams} open ${streams === 1 ? 'stream' : 'streams'}`] : []),
    ...(awaited_chunks > 0 ? [`${awaited_chunks} announced ${awaited_chunks === 1 ? 'chunk' : 'chunks'}`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'nothing';
}
