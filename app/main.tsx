import { render } from 'preact';
import { startEventFeed } from './api/event_feed.js';
import { startLanguage } from './language/languages.js';
import { startScheme } from './parts/scheme.js';
import { endLeftRecordings } from './recorder/left_recordings.js';
import { startRouter } from './router.js';
import { startSession } from './session/session.js';
import { DOCUMENT_DATA } from './shell/document_data.js';
import { watchConnection } from './shell/offline.js';
import { serviceWorkers } from './shell/service_worker.js';
import { App } from './shell/shell.js';

/** The same server by another name: sessions and the way back from a sign-in belong to the one that it knows itself by. */
function isElsewhere(): boolean {
  return location.origin !== new URL(DOCUMENT_DATA.base_url).origin;
}

if (isElsewhere()) {
  location.replace(DOCUMENT_DATA.base_url + location.pathname + location.search);
} else {
  startScheme();
  watchConnection();
  void serviceWorkers();
  startRouter();
  startEventFeed();
  endLeftRecordings();
  void startSession();
  void startLanguage().then(() => render(<App />, DOCUMENT_DATA.root));
}
