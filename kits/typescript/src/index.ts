/** For apps: runs wherever `fetch` and WebCrypto are. */

export type * from './api.js';
export { AppClient, type AppOptions, type EventsPage, type SendOptions } from './app_client.js';
export { type CallAnswer, CallRefused, type CallRequest, fetchTransport, NoAnswer, type Transport } from './call.js';
export {
  type Credential,
  type KeptTokens,
  memoryStore,
  RenewedCredential,
  SignedOut,
  type TokenStore,
  type Tokens,
} from './credential.js';
export type { ImportedFile, ImportProgress } from './file_import.js';
export { type BegunSignIn, type OauthApp, OauthClient, OauthRefused } from './oauth.js';
export { Patience, type PatienceOptions } from './retries.js';
