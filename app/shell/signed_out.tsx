import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say, sayWith } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { Loading } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { resume, session, signIn, signOut } from '../session/session.js';
import { account_error, loadAccount } from './account.js';
import { DOCUMENT_DATA } from './document_data.js';
import { is_offline } from './offline.js';

/** The screen for somebody who is not signed in. */

const EMAIL_CHARS_MAX = 254;

function Card({ title, children }: { title: string; children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Spool`;
  }, [title]);
  return (
    <div class="entrance">
      <header class="brand">
        <img src={DOCUMENT_DATA.icon} alt="" width="28" height="28" />
        <span>Spool</span>
      </header>
      <main class="card">
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  );
}

export function SignInScreen() {
  const now = session.value;
  const enter = useAction(signIn);
  const [email, setEmail] = useState('');
  if (now.is === 'starting' || now.is === 'in') {
    return (
      <Card title={say('Your recordings')}>
        <Loading what={say('Signing in')} />
      </Card>
    );
  }
  if (now.is === 'away' && is_offline.value) return <Offline />;
  if (now.is === 'away') {
    return (
      <Card title={say('Spool can’t be reached')}>
        <p class="lead">{say('Check your connection. You stay signed in.')}</p>
        <Button kind="primary" onClick={() => void resume()}>
          {say('Try again')}
        </Button>
      </Card>
    );
  }
  return (
    <Card title={say('Your recordings')}>
      <p class="lead">{say('Listen to what was recorded, read it as text, and find again what was said.')}</p>
      {now.problem !== null && (
        <p class="notice caution" role="alert">
          {now.problem}
        </p>
      )}
      {is_offline.value && <p class="notice caution">{say('You are offline. To sign in you need a connection.')}</p>}
      {isSecureContext ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void enter.run({ email });
          }}
        >
          <TextField
            {...{ type: 'email', autoComplete: 'email', required: true, maxLength: EMAIL_CHARS_MAX, spellcheck: false }}
            label={say('Email address')}
            value={email}
            onValue={setEmail}
            hint={
              DOCUMENT_DATA.sends_mail
                ? say('We’ll email you a six-digit code. If you are new here, this creates your account.')
                : say('You get a six-digit code. If you are new here, this creates your account.')
            }
          />
          <Button kind="primary" type="submit" busy={enter.busy}>
            {say('Sign in')}
          </Button>
        </form>
      ) : (
        <p class="notice problem">{say('You can’t sign in at this address: it must be https, or localhost.')}</p>
      )}
    </Card>
  );
}

/** It goes on by itself when the connection is back. */
function Offline() {
  return (
    <Card title={say('You are offline')}>
      <p class="lead">{say('Your recordings are shown as soon as there is a connection. You stay signed in.')}</p>
    </Card>
  );
}

/** The account itself can't be shown: it is deleted, or could not be loaded. */
export function NoAccount() {
  const error = account_error.value;
  if (error === null) return <SignInScreen />;
  if (error.code === 'NETWORK' && is_offline.value) return <Offline />;
  if (error.code === 'ACCOUNT_DELETED') return <DeletedAccount erase_at={error.extra.erase_at} />;
  return (
    <Card title={say('Your account can’t be shown')}>
      <p class="lead">{error.message}</p>
      <div class="stack">
        <Button kind="primary" onClick={() => void loadAccount()}>
          {say('Try again')}
        </Button>
        <Button onClick={() => void signOut()}>{say('Sign out')}</Button>
      </div>
    </Card>
  );
}

/** `erase_at`: until then it can be restored; none once that time is over. */
function DeletedAccount({ erase_at }: { erase_at: unknown }) {
  const restoring = useAction(async () => {
    await api('POST /me/restore');
    await loadAccount();
  });
  return (
    <Card title={say('Your account is deleted')}>
      {typeof erase_at === 'string' ? (
        <p class="lead">
          {sayWith('You can restore it until {time}, with everything that only you own. Then it is erased.', {
            time: <Time at={erase_at} />,
          })}
        </p>
      ) : (
        <p class="lead">{say('The time to restore it is over, and what was in it is erased.')}</p>
      )}
      {restoring.error !== null && (
        <p class="notice problem" role="alert">
          {restoring.error.message}
        </p>
      )}
      <div class="stack">
        {typeof erase_at === 'string' ? (
          <Button kind="primary" busy={restoring.busy} onClick={() => void restoring.run()}>
            {say('Restore it')}
          </Button>
        ) : (
          <ButtonLink kind="primary" href="/restore">
            {say('Start again')}
          </ButtonLink>
        )}
        <Button onClick={() => void signOut()}>{say('Sign out')}</Button>
      </div>
    </Card>
  );
}
