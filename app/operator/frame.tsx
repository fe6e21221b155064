import type { ComponentChildren } from 'preact';
import { Button } from '../parts/button.js';
import { Toasts } from '../parts/toasts.js';
import { ENVIRONMENT } from './environment.js';
import { ProblemBanner } from './problem_banner.js';
import { VIEWS, type View } from './views.js';

/** The frame around every page: the navigation, the search and the health problems. */
export function Frame({ view, children }: { view: View; children: ComponentChildren }) {
  const links = VIEWS.filter(({ path }) => path !== '/entity' && (path !== '/mails' || ENVIRONMENT.has_inbox));
  return (
    <>
      <header class="bar">
        <a class="skip" href="#content">
          Skip to content
        </a>
        <a class="brand" href="/">
          <img src={ENVIRONMENT.icon} alt="" width="24" height="24" />
          <span>Spool</span>
        </a>
        <nav class="views" aria-label="Pages">
          {links.map(({ path, title }) => (
            <a key={path} href={path} aria-current={path === view.path ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <search class="find">
          <form action="/entity">
            <label class="visually-hidden" for="find">
              Find
            </label>
            <input
              {...{ id: 'find', name: 'find', type: 'search', maxLength: 300, required: true }}
              {...{ autoComplete: 'off', spellcheck: false, placeholder: 'id, kind:id or email' }}
              defaultValue={view.path === '/entity' ? wantedEntity() : ''}
            />
            <Button type="submit">Find</Button>
          </form>
        </search>
        <form class="leave" action="/sign-out" method="post">
          <Button kind="quiet" type="submit">
            Sign out
          </Button>
        </form>
      </header>
      <main>
        {view.path !== '/' && <ProblemBanner polls={view.path !== '/overview'} />}
        <div id="content" tabIndex={-1}>
          {children}
        </div>
        <Toasts />
      </main>
    </>
  );
}

function wantedEntity(): string {
  const query = new URLSearchParams(location.search);
  const [kind, id] = [query.get('kind'), query.get('id')];
  return query.get('find') ?? (kind !== null && id !== null ? `${kind}:${id}` : '');
}
