import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { ConfirmDialog } from '../parts/dialog.js';
import { Page } from '../parts/page.js';
import { EmptyState } from '../parts/placeholders.js';
import { Toasts } from '../parts/toasts.js';
import { RecordingBar } from '../recorder/recording_bar.js';
import { type AppRoute, BASE, place, routeAt } from '../router.js';
import { ROUTES } from '../routes.js';
import { resume, session, signOut } from '../session/session.js';
import { account, account_error, loadAccount, may } from './account.js';
import { DOCUMENT_DATA } from './document_data.js';
import { useDueNotifications } from './due_notifications.js';
import { is_offline, OfflineNotice } from './offline.js';
import { NoAccount, SignInScreen } from './signed_out.js';
import { keepTimeZone } from './time_zone.js';

export function App() {
  const now = session.value;
  const account_id = now.is === 'in' ? now.account_id : null;
  useEffect(() => {
    account.value = null;
    if (account_id !== null) void loadAccount().then(keepTimeZone);
  }, [account_id]);
  const without_connection = is_offline.value;
  useEffect(() => {
    if (without_connection || account.peek() !== null) return;
    if (session.peek().is === 'away') void resume();
    else if (account_error.peek() !== null) void loadAccount();
  }, [without_connection]);
  if (account_id === null) return <SignInScreen />;
  if (account.value === null) return <NoAccount />;
  return (
    <Frame>
      <PresentPage />
    </Frame>
  );
}

function PresentPage() {
  const { path } = place.value;
  const found = routeAt(ROUTES, path);
  if (found === null) return <NothingHere />;
  const { page: Shown } = found.route;
  return <Shown key={path} params={found.params} />;
}

function NothingHere() {
  return (
    <Page title={say('Page not found')}>
      <EmptyState
        title={say('There is no page at this address')}
        action={<a href={BASE}>{say('Go to your recordings')}</a>}
      >
        <p>{say('It may have been deleted, or the link is incomplete.')}</p>
      </EmptyState>
    </Page>
  );
}

function Frame({ children }: { children: ComponentChildren }) {
  const { path } = place.value;
  useDueNotifications();
  const [open, setOpen] = useState(false);
  const toggle = useRef<HTMLDivElement>(null);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      toggle.current?.querySelector('button')?.focus();
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [open]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {say('Skip to content')}
      </a>
      <header class="top">
        <a class="brand" href={BASE}>
          <img src={DOCUMENT_DATA.icon} alt="" width="26" height="26" />
          <span>Spool</span>
        </a>
        <div class="menu-toggle" ref={toggle}>
          <Button
            kind="quiet"
            icon={open ? 'close' : 'menu'}
            label={open ? say('Close the menu') : say('Menu')}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        </div>
        <div class={open ? 'side open' : 'side'}>
          <nav aria-label={say('Pages')}>
            <Links routes={ROUTES.filter(({ is_setup }) => is_setup !== true)} />
            <Links routes={ROUTES.filter(({ is_setup }) => is_setup === true)} />
          </nav>
          <div class="who">
            <p title={account.value?.email}>
              <bdi>{account.value?.name ?? account.value?.email}</bdi>
            </p>
            <Button kind="quiet" small onClick={() => void signOut()}>
              {say('Sign out')}
            </Button>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <OfflineNotice />
        {children}
      </main>
      <RecordingBar />
      <Toasts />
      <ConfirmDialog />
    </div>
  );
}

function Links({ routes }: { routes: readonly AppRoute[] }) {
  const { path } = place.value;
  return (
    <ul>
      {routes.flatMap((route) => {
        if (route.nav === undefined || (route.needs !== undefined && !may(route.needs))) return [];
        const is_here = [route.path, ...(route.also ?? [])].some(
          (at) => path === at || (at !== '/' && path.startsWith(`${at}/`)),
        );
        return (
          <li key={route.path}>
            <a href={BASE + route.path} aria-current={is_here ? 'page' : undefined}>
              {say(route.nav)}
            </a>
          </li>
        );
      })}
    </ul>
  );
}
