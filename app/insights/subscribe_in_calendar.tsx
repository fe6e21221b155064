import { api } from '../api/api.js';
import { say, sayWith } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { Ago } from '../parts/clock.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { SecretAddress } from '../parts/secret_address.js';

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
  return (
    <>
      <p>{say('A calendar program that has this address shows what is due, and keeps it up to date.')}</p>
      <p class="hint">{say('Anybody who has the address can read what is due, with its text, until you end it.')}</p>
      <SecretAddress
        read={async () => timesOf(await api('GET /me/calendar'))}
        make={async () => {
          const { url, ...address } = await api('POST /me/calendar');
          return { url, ...timesOf(address) };
        }}
        end={() => api('DELETE /me/calendar')}
        renewal={say('Calendars that use the present address get nothing any more.')}
        ending={say('Calendars that use it get nothing any more.')}
        used={(at) => (at === null ? say('Never read') : sayWith('Read {ago}', { ago: <Ago at={at} /> }))}
        more={(url) => (
          <div class="actions">
            <ButtonLink href={url.replace(/^https?:/, 'webcal:')}>{say('Open in calendar')}</ButtonLink>
          </div>
        )}
      />
    </>
  );
}

function timesOf({ made_at, last_read_at }: { made_at: string | null; last_read_at: string | null }) {
  return { made_at, used_at: last_read_at };
}
