import { useState } from 'preact/hooks';
import { api } from '../api/api.js';
import { useAction, useLoaded } from '../api/loading.js';
import { say, sayWith } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { Ago } from '../parts/clock.js';
import { confirm, Dialog, useDialogOpen } from '../parts/dialog.js';
import { FormProblem } from '../parts/field.js';
import { Show } from '../parts/placeholders.js';
import { Secret } from '../parts/secret.js';
import { showToast } from '../parts/toast_queue.js';

const TITLE = 'Subscribe in a calendar' as const;

/** The button that gives an address of what is due for calendar programs, and its dialog. */
export function SubscribeInCalendar() {
  const [open, setOpen] = useDialogOpen(say(TITLE));
  return (
    <>
      <Button small icon="clock" onClick={() => setOpen(true)}>
        {say(TITLE)}
      </Button>
      <Dialog open={open} title={say(TITLE)} onClose={() => setOpen(false)}>
        <Subscribing />
      </Dialog>
    </>
  );
}

function Subscribing() {
  const present = useLoaded(() => api('GET /me/calendar'), []);
  const [url, setUrl] = useState<string | null>(null);
  const making = useAction(async () => {
    const { url: made, ...address } = await api('POST /me/calendar');
    setUrl(made);
    present.set(address);
  });
  const ending = useAction(async () => {
    await api('DELETE /me/calendar');
    setUrl(null);
    present.set({ made_at: null, last_read_at: null });
    showToast(say('The address has ended.'));
  });
  const renew = async () => {
    const text = say('Calendars that use the present address get nothing any more.');
    if (await confirm({ title: say('Make a new address?'), action: say('Make address'), grave: true, text }))
      await making.run();
  };
  const end = async () => {
    const text = say('Calendars that use it get nothing any more.');
    if (await confirm({ title: say('End this address?'), action: say('End address'), grave: true, text }))
      await ending.run();
  };
  return (
    <>
      <p>{say('A calendar program that has this address shows what is due, and keeps it up to date.')}</p>
      <p class="hint">{say('Anybody who has the address can read what is due, with its text, until you end it.')}</p>
      <Show of={present}>
        {({ made_at, last_read_at }) =>
          made_at === null ? (
            <div class="dialog-actions">
              <Button kind="primary" busy={making.busy} onClick={() => void making.run()}>
                {say('Make an address')}
              </Button>
            </div>
          ) : (
            <div class="calendar-address">
              {url !== null && (
                <>
                  <Secret text={url} what={say('The address')} once />
                  <div class="actions">
                    <ButtonLink href={url.replace(/^https?:/, 'webcal:')}>{say('Open in calendar')}</ButtonLink>
                  </div>
                </>
              )}
              <p class="row-facts">
                <span>{sayWith('Made {ago}', { ago: <Ago at={made_at} /> })}</span>
                <span>
                  {last_read_at === null
                    ? say('Never read')
                    : sayWith('Read {ago}', { ago: <Ago at={last_read_at} /> })}
                </span>
              </p>
              <div class="dialog-actions">
                <Button busy={making.busy} onClick={() => void renew()}>
                  {say('Make a new address')}
                </Button>
                <Button kind="danger" busy={ending.busy} onClick={() => void end()}>
                  {say('End address')}
                </Button>
              </div>
            </div>
          )
        }
      </Show>
      <FormProblem error={making.error ?? ending.error} />
    </>
  );
}
