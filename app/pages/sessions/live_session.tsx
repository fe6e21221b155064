import { useEffect, useState } from 'preact/hooks';
import type { RecorderSession } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useAction, useLoaded } from '../../api/loading.js';
import { say, sayCount, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { useEvery } from '../../parts/clock.js';
import { confirm, Dialog } from '../../parts/dialog.js';
import { SelectField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { Loading, Problem, Show } from '../../parts/placeholders.js';
import { QrCode } from '../../parts/qr_code.js';
import { Secret } from '../../parts/secret.js';
import { Time } from '../../parts/time.js';
import { useToastAction } from '../../parts/toast_action.js';
import { BASE, go } from '../../router.js';
import { account } from '../../shell/account.js';
import { SessionRecordings } from './session_recordings.js';
import { SessionSummary } from './session_summary.js';
import { inHours, isOver, lengths, SESSION_EVENTS, StateBadge, standOf } from './session_texts.js';

/** No event says that a recorder has sent the rest. */
const LOOK_MS = 15_000;

/** A session as it goes on. */
export function LiveSession({ id, began, unknown }: { id: string; began?: () => void; unknown?: () => void }) {
  const session = useLoaded(() => api('GET /device-sessions/{id}', { path: { id } }), [id]);
  const { data, error, reload } = session;
  useEvents(SESSION_EVENTS, (events) => {
    if (events === null || events.some(({ resource }) => resource.id === id)) reload();
  });
  useEvery(data === null || data.status === 'ended' ? null : LOOK_MS, reload);
  useEffect(() => {
    if (data !== null && data.status !== 'waiting') began?.();
  }, [data?.status]);
  useEffect(() => {
    if (error?.code === 'NOT_FOUND') unknown?.();
  }, [error]);
  if (data === null && error?.code === 'NOT_FOUND') return <Loading />;
  if (data === null && error !== null) return <Problem error={error} retry={reload} />;
  return <Show of={session}>{(found) => <Present session={found} set={session.set} />}</Show>;
}

function Present({ session, set }: { session: RecorderSession; set: (session: RecorderSession) => void }) {
  const { participants, join_code, created_at, started_at, expires_at, ended_at, device_id } = session;
  const is_host = session.host_account_id === account.value?.id;
  return (
    <>
      <div class="panel spaced">
        <div role="status" class="spaced">
          <StateBadge session={session} />
          <p>{standOf(session)}</p>
        </div>
        <dl class="facts">
          <Fact name={say('Opened')} at={created_at} />
          {started_at !== null && <Fact name={say('Recorder joined')} at={started_at} />}
          {ended_at === null ? (
            <Fact name={say('Ends by itself')} at={expires_at} />
          ) : (
            <Fact name={say('Ended')} at={ended_at} />
          )}
          {device_id !== null && (
            <div>
              <dt>{say('Recorder')}</dt>
              <dd title={device_id}>…{device_id.slice(-6)}</dd>
            </div>
          )}
          <div>
            <dt>{say('Participants')}</dt>
            <dd>
              {participants.length === 0
                ? say('Only the host')
                : sayCount(participants.length, { one: 'The host and {n} other', other: 'The host and {n} others' })}
            </dd>
          </div>
        </dl>
        {!isOver(session) && (is_host ? <Hosting session={session} set={set} /> : <Leave id={session.id} />)}
      </div>
      {join_code !== undefined && <Joining id={session.id} code={join_code} />}
      {session.source_id !== null && is_host && <SessionRecordings session={session} source_id={session.source_id} />}
      {is_host && started_at !== null && <SessionSummary id={session.id} />}
    </>
  );
}

function Fact({ name, at }: { name: string; at: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Time at={at} />
      </dd>
    </div>
  );
}

function Hosting({ session: { id }, set }: { session: RecorderSession; set: (session: RecorderSession) => void }) {
  const [hours, setHours] = useState('1');
  const [open, setOpen] = useState(false);
  const ending = useToastAction(say('The session could not be ended.'), async () =>
    set(await api('POST /device-sessions/{id}/end', { path: { id } })),
  );
  const extending = useAction(async () => {
    set(await api('POST /device-sessions/{id}/extend', { path: { id }, body: { expires_at: inHours(hours) } }));
    setOpen(false);
  });
  const end = async () => {
    const text = say('Nobody can join it any more. Its recorder has 15 minutes to send what it has recorded.');
    if (await confirm({ title: say('End this session?'), action: say('End session'), grave: true, text }))
      await ending.run();
  };
  return (
    <div class="actions">
      <Button onClick={() => setOpen(true)}>{say('Change end time')}</Button>
      <Button kind="danger" busy={ending.busy} onClick={() => void end()}>
        {say('End session')}
      </Button>
      <Dialog open={open} title={say('Change end time')} onClose={() => setOpen(false)}>
        <Form
          of={extending}
          submit={say('Save')}
          fields={['expires_at']}
          onSubmit={() => void extending.run()}
          onCancel={() => setOpen(false)}
        >
          <SelectField
            label={say('Ends in')}
            value={hours}
            onValue={setHours}
            options={lengths()}
            error={faultOf(extending.error, 'expires_at')}
          />
        </Form>
      </Dialog>
    </div>
  );
}

function Leave({ id }: { id: string }) {
  const leaving = useToastAction(say('You could not leave.'), async () => {
    await api('POST /device-sessions/{id}/leave', { path: { id } });
    go(`${BASE}/sessions`);
  });
  const leave = async () => {
    const text = say('You lose access to it. You can come back with its join code while it lasts.');
    if (await confirm({ title: say('Leave this session?'), action: say('Leave'), text })) await leaving.run();
  };
  return (
    <div class="actions">
      <Button busy={leaving.busy} onClick={() => void leave()}>
        {say('Leave')}
      </Button>
    </div>
  );
}

/** For other people: the code stands behind the #, which no server and no log sees. */
function Joining({ id, code }: { id: string; code: string }) {
  const link = `${location.origin}${BASE}/sessions/${id}#${code}`;
  const halves = `${code.slice(0, code.length / 2)}-${code.slice(code.length / 2)}`;
  return (
    <Section title={say('Invite participants')} lead={say('They scan this, or open the link, and sign in.')}>
      <div class="panel">
        <QrCode text={link} label={say('QR code to join this session')} />
        <p class="center">{sayWith('Join code: {code}', { code: <output class="join-code">{halves}</output> })}</p>
        <div class="field">
          <Secret text={link} what={say('The link')} />
        </div>
      </div>
    </Section>
  );
}
