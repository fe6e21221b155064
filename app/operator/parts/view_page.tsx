import type { ComponentChildren } from 'preact';
import { Page } from '../../parts/page.js';
import { connection } from '../polling.js';

/** A page with how fresh it is beside its heading. `name`: in the window, where that is not the title. */
export function ViewPage({ title, name, children }: { title: string; name?: string; children: ComponentChildren }) {
  return (
    <Page title={name ?? title} heading={title} site="Spool operators" actions={<Connection />}>
      {children}
    </Page>
  );
}

function Connection() {
  const { is, text } = connection.value;
  return (
    <p id="state" class="state" data-state={is}>
      {text}
      {is === 'signed_out' && (
        <>
          {' '}
          <a href={`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`}>Sign in again</a>
        </>
      )}
    </p>
  );
}
