import { account } from './accounts/account.js';
import { appSession } from './accounts/app_session.js';
import { exports } from './accounts/exports.js';
import { files } from './accounts/files.js';
import { personalAccessToken } from './accounts/personal_access_token.js';
import { shareLink } from './accounts/share_link.js';
import { binding } from './devices/binding.js';
import { bleAddress } from './devices/ble_address.js';
import { certificate } from './devices/certificate.js';
import { claim } from './devices/claim.js';
import { device } from './devices/device.js';
import { deviceSession } from './devices/device_session.js';
import { pairingCode } from './devices/pairing_code.js';
import { email } from './emails/email.js';
import { context } from './insights/context.js';
import { library } from './insights/library.js';
import { authSession } from './oauth/auth_session.js';
import { browserSession } from './oauth/browser_session.js';
import { browserSignIn } from './oauth/browser_sign_in.js';
import { client } from './oauth/client.js';
import { grant } from './oauth/grant.js';
import { importedToken } from './oauth/imported_token.js';
import { signingKeys } from './oauth/signing_keys.js';
import { imports } from './recordings/imports.js';
import { omi } from './recordings/omi.js';
import { signals } from './recordings/signals.js';
import { source } from './recordings/source.js';
import { stream } from './recordings/stream.js';
import { contacts } from './transcripts/contacts.js';
import { transcript } from './transcripts/transcript.js';
import { endpoint } from './webhooks/endpoint.js';
import { sweep } from './workspaces/sweep.js';
import { workspace } from './workspaces/workspace.js';

/** All kinds of actors there are, by the names that their callers use (src/engine/runtime/actors.ts). */
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
  imports,
  library,
  omi,
  pairingCode,
  personalAccessToken,
  shareLink,
  signals,
  signingKeys,
  source,
  stream,
  sweep,
  transcript,
  workspace,
};

export const ACTOR_KINDS = Object.values(KINDS);
