import { account } from './account.js';
import { appSession } from './app_session.js';
import { authSession } from './auth_session.js';
import { binding } from './binding.js';
import { bleAddress } from './ble_address.js';
import { browserSession } from './browser_session.js';
import { browserSignIn } from './browser_sign_in.js';
import { certificate } from './certificate.js';
import { claim } from './claim.js';
import { client } from './client.js';
import { contacts } from './contacts.js';
import { context } from './context.js';
import { device } from './device.js';
import { deviceSession } from './device_session.js';
import { email } from './email.js';
import { endpoint } from './endpoint.js';
import { exports } from './exports.js';
import { files } from './files.js';
import { grant } from './grant.js';
import { importedToken } from './imported_token.js';
import { library } from './library.js';
import { personalAccessToken } from './personal_access_token.js';
import { signals } from './signals.js';
import { signingKeys } from './signing_keys.js';
import { source } from './source.js';
import { stream } from './stream.js';
import { sweep } from './sweep.js';
import { transcript } from './transcript.js';
import { workspace } from './workspace.js';

/** All kinds of actors there are, by the names that their callers use (src/runtime/actors.ts). */
export const KINDS = {
  account,
  appSession,
  authSession,
  binding,
  bleAddress,
  browserSession,
  browserSignIn,
  certificate,
  claim,
  client,
  contacts,
  context,
  device,
  deviceSession,
  email,
  endpoint,
  exports,
  files,
  grant,
  importedToken,
  library,
  personalAccessToken,
  signals,
  signingKeys,
  source,
  stream,
  sweep,
  transcript,
  workspace,
};

export const ACTOR_KINDS = Object.values(KINDS);
