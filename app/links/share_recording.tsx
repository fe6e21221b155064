import { api } from '../api/api.js';
import { useAction, useLoaded } from '../api/loading.js';
import { say, sayChoices } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { CheckField, SelectField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Show } from '../parts/placeholders.js';
import { account, may } from '../shell/account.js';
import { LinkRow } from './link_row.js';
import { SharingIsOff } from './sharing_is_off.js';

const TITLE = 'Share by link' as const;
const LINKS_SHOWN = 100;
const LIFETIMES = [
  ['1', 'A day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

type SharedRecording = { stream_id: string; has_audio: boolean };

/** The button that shares a recording of the person, and its dialog. */
export function ShareRecording(shared: SharedRecording) {
  const [open, setOpen] = useDialogOpen(say(TITLE));
  return (
    <>
      <Button small icon="link" onClick={() => setOpen(true)}>
        {say('Share')}
      </Button>
      <Dialog open={open} title={say(TITLE)} onClose={() => setOpen(false)}>
        {account.value?.sharing_enabled ? <Sharing {...shared} /> : <SharingIsOff />}
      </Dialog>
    </>
  );
}

function Sharing({ stream_id, has_audio }: SharedRecording) {
  const links = useLoaded(() => api('GET /me/links', { query: { stream_id, limit: LINKS_SHOWN } }), [stream_id]);
  return (
    <>
      <p class="hint">
        {say('Anybody who has the link can read this recording, with the names of who speaks, until it ends.')}
      </p>
      <NewLink stream_id={stream_id} has_audio={has_audio} changed={links.reload} />
      <Show of={links}>
        {({ items }) =>
          items.length > 0 && (
            <ul class="list dialog-list" aria-label={say('Links to this recording')}>
              {items.map((link) => (
                <LinkRow key={link.id} link={link} changed={links.reload} />
              ))}
            </ul>
          )
        }
      </Show>
    </>
  );
}

function NewLink({ stream_id, has_audio, changed }: SharedRecording & { changed: () => void }) {
  const [days, setDays] = useDraft<string>('days', '7');
  const [summary, setSummary] = useDraft('summary', may('insights:read'));
  const [audio, setAudio] = useDraft('audio', false);
  const making = useAction(async () => {
    const shows = [...(summary ? (['summary'] as const) : []), ...(audio ? (['audio'] as const) : [])];
    await api('POST /audio/streams/{id}/links', { path: { id: stream_id }, body: { shows, days: Number(days) } });
    changed();
  });
  return (
    <Form of={making} submit={say('Make a link')} fields={['days', 'shows']} onSubmit={() => void making.run()}>
      {may('insights:read') && <CheckField label={say('With the summary')} checked={summary} onValue={setSummary} />}
      {has_audio && may('audio:read') && (
        <CheckField label={say('With the audio')} checked={audio} onValue={setAudio} />
      )}
      <SelectField
        label={say('Ends after')}
        value={days}
        onValue={setDays}
        options={sayChoices(LIFETIMES)}
        error={faultOf(making.error, 'days')}
      />
    </Form>
  );
}
