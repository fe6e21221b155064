import { render } from 'preact';
import { ENVIRONMENT } from './environment.js';
import { Frame } from './frame.js';
import { viewAt } from './views.js';

/** The operators' pages: one document for each, which a script fills from the routes under /ops. */

const view = viewAt(location.pathname);
const { page: Page } = view;
render(
  <Frame view={view}>
    <Page />
  </Frame>,
  ENVIRONMENT.root,
);
