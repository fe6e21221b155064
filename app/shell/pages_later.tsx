import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Page } from '../parts/page.js';
import { EmptyState, Loading } from '../parts/placeholders.js';
import type { PageComponent } from '../router.js';

/** Pages whose script is loaded when the first of them is shown. Gives the page of a name. */
export function pagesLater<Pages extends Record<keyof Pages, PageComponent>>(
  load: () => Promise<Pages>,
): (name: keyof Pages) => PageComponent {
  const pages = signal<Pages | 'loading' | 'failed' | null>(null);
  const start = async () => {
    pages.value = 'loading';
    try {
      pages.value = await load();
    } catch {
      pages.value = 'failed';
    }
  };
  return (name) =>
    function LaterPage({ params }) {
      const loaded = pages.value;
      useEffect(() => {
        if (pages.peek() === null) void start();
      }, []);
      if (loaded === 'failed') return <NotLoaded />;
      if (loaded === null || loaded === 'loading') return <Loading />;
      const Shown: PageComponent = loaded[name];
      return <Shown params={params} />;
    };
}

/** Browsers do not ask again for a script that failed: the document is loaded again, with the present names of scripts. */
function NotLoaded() {
  return (
    <Page title={say('This page could not be loaded')}>
      <EmptyState
        title={say('There is no connection, or Spool has a new version')}
        action={
          <Button kind="primary" onClick={() => location.reload()}>
            {say('Load again')}
          </Button>
        }
      >
        <p>{say('Check your connection, then load the page again.')}</p>
      </EmptyState>
    </Page>
  );
}
