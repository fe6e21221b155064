import { render } from 'preact';
import { startHappenings } from './api/event_feed.js';
import { startRouter } from './router.js';
import { startSession } from './session/session.js';
import { SURROUNDINGS } from './shell/document_data.js';
import { App } from './shell/shell.js';

/** The same server by another name: sessions and the way back from a sign-in belong to the one that it knows itself by. */
function isElsewhere(): boolean {
  return location.origin !== new URL(SURROUNDINGS.base_url).origin;
}

if (isElsewhere()) {
  location.replace(SURROUNDINGS.base_url + location.pathname + location.search);
} else {
  startRouter();
  startHappenings();
  void startSession();
  render(<App />, SURROUNDINGS.root);
}
