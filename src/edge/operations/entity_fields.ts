import type { Account } from '../../../actors/accounts/account_state.js';
import type { AppSession } from '../../../actors/accounts/app_session.js';
import type { Exports } from '../../../actors/accounts/exports_state.js';
import type { Files } from '../../../actors/accounts/files.js';
import type { PersonalAccessToken } from '../../../actors/accounts/personal_access_token.js';
import type { ShareLink } from '../../../actors/accounts/share_link.js';
import type { Binding } from '../../../actors/devices/binding.js';
import type { BleAddress } from '../../../actors/devices/ble_address.js';
import type { Certificate } from '../../../actors/devices/certificate.js';
import type { Claim } from '../../../actors/devices/claim.js';
import type { Device } from '../../../actors/devices/device.js';
import type { DeviceSession } from '../../../actors/devices/device_session_state.js';
import type { PairingCode } from '../../../actors/devices/pairing_code.js';
import type { Email } from '../../../actors/emails/email.js';
import type { Context } from '../../../actors/insights/context_state.js';
import type { Library } from '../../../actors/insights/library_state.js';
import type { AuthSession } from '../../../actors/oauth/auth_session.js';
import type { BrowserSession } from '../../../actors/oauth/browser_session.js';
import type { BrowserSignIn } from '../../../actors/oauth/browser_sign_in.js';
import type { ClientState } from '../../../actors/oauth/client.js';
import type { Grant } from '../../../actors/oauth/grant.js';
import type { ImportedToken } from '../../../actors/oauth/imported_token.js';
import type { SigningKeysState } from '../../../actors/oauth/signing_keys.js';
import type { Imports } from '../../../actors/recordings/imports_state.js';
import type { Omi } from '../../../actors/recordings/omi.js';
import type { Signals } from '../../../actors/recordings/signals_state.js';
import type { Source } from '../../../actors/recordings/source.js';
import type { StreamState } from '../../../actors/recordings/stream_state.js';
import type { Contacts } from '../../../actors/transcripts/contacts_state.js';
import type { Transcript } from '../../../actors/transcripts/transcript_state.js';
import type { Endpoint } from '../../../actors/webhooks/endpoint_state.js';
import type { Sweep } from '../../../actors/workspaces/sweep.js';
import type { Workspace } from '../../../actors/workspaces/workspace_state.js';

/**
 * The fields of each kind's state that operators see. Any other field is shown by its type and size alone, so that a
 * field that somebody adds stays hidden until somebody decides otherwise. Never in it: hashes, seeds, codes, tokens and
 * their last digits, titles, names, addresses of endpoints, whereabouts; of emails only an account's own, which staff
 * see by /ops/accounts as well.
 */
export const S = 'shown';

/** `*`: every field, of objects whose fields are no content. */
type FieldsOf<T> = T extends string | number | boolean | null | undefined
  ? typeof S
  : T extends Uint8Array
    ? never
    : T extends readonly (infer One)[]
      ? readonly [FieldsOf<One>]
      : T extends object
        ? { readonly [Name in keyof T]?: FieldsOf<T[Name]> } & { readonly '*'?: typeof S }
        : never;

export type States = {
  account: Account;
  app_session: AppSession;
  auth_session: AuthSession;
  binding: Binding;
  ble_address: BleAddress;
  browser_session: BrowserSession;
  browser_sign_in: BrowserSignIn;
  certificate: Certificate;
  claim: Claim;
  client: ClientState;
  contacts: Contacts;
  context: Context;
  device: Device;
  device_session: DeviceSession;
  email: Email;
  endpoint: Endpoint;
  exports: Exports;
  files: Files;
  grant: Grant;
  imported_token: ImportedToken;
  imports: Imports;
  library: Library;
  omi: Omi;
  pairing_code: PairingCode;
  personal_access_token: PersonalAccessToken;
  share_link: ShareLink;
  signals: Signals;
  signing_keys: SigningKeysState;
  source: Source;
  stream: StreamState;
  sweep: Sweep;
  transcript: Transcript;
  workspace: Workspace;
};

const ALL = { '*': S } as const;
const REQUEST = { client_id: S, scopes: [S], audience: S, issuer: S } as const;

export const ENTITY_FIELDS: { readonly [Kind in keyof States]: FieldsOf<States[Kind]> } = {
  account: {
    id: S,
    email: S,
    created_at_ms: S,
    entitlements: ALL,
    epochs: ALL,
    devices: S,
    deletion_attempts: S,
    private_workspace: { id: S, number: S },
    tokens: [{ id: S, created_at_ms: S, expires_at_ms: S }],
    endpoints: [S],
    sessions: [S],
    join_tries: { began_ms: S, count: S },
    invitations_sent: { began_ms: S, count: S },
    workspaces_made: { began_ms: S, count: S },
    memberships: [{ workspace_id: S, role: S, created_at_ms: S }],
    joining: [{ workspace_id: S, invitation_id: S }],
    phase: {
      status: S,
      kept: S,
      deleted_at_ms: S,
      erase_at_ms: S,
      began_at_ms: S,
      unanswered: [S],
      alone: [S],
      removed: ALL,
    },
  },
  app_session: {
    account_id: S,
    issued_under: ALL,
    verified_at_ms: S,
    created_at_ms: S,
    last_used_at_ms: S,
    generation: S,
    turned_at_ms: S,
    successor_used: S,
    next_serial: S,
    accesses: [{ serial: S, generation: S, expires_at_ms: S }],
  },
  auth_session: { created_at_ms: S, wrong: S, request: REQUEST, step: S },
  binding: {
    status: S,
    kind: S,
    account_id: S,
    workspace_id: S,
    device_id: S,
    source_id: S,
    claim_id: S,
    opened_at_ms: S,
  },
  ble_address: {
    holder: { session_id: S, device_id: S },
    asking: [{ session_id: S, account_id: S, device_id: S, claim_id: S, source_id: S }],
  },
  browser_session: { account_id: S, issued_under: ALL, verified_at_ms: S, last_used_at_ms: S },
  browser_sign_in: {
    created_at_ms: S,
    wrong: S,
    goal: { to: S, page: S, needs_consent: S, request: REQUEST },
    session: { id: S },
    step: { at: S, session_id: S, at_ms: S, last_send: S },
  },
  certificate: { status: S, superseded_at_ms: S, revoked_at_ms: S },
  claim: {
    account_id: S,
    kind: S,
    expires_at_ms: S,
    binding_epoch: S,
    source_id: S,
    redemption: { status: S, device_id: S, refused: { device_id: S, outcome: S } },
  },
  client: { origin: S, registered_at_ms: S, disabled_at_ms: S, last_used_at_ms: S, secrets: [{ until_ms: S }] },
  contacts: {
    count: S,
    self_id: S,
    changes: S,
    voices: ALL,
    held: { until_ms: S },
    announcing: [{ number: S, contact_id: S, after: { order: S, member: S } }],
  },
  context: {
    numbers: S,
    version: S,
    items: S,
    profile: { revision: S, languages: [S], updated_at_ms: S },
    pipelines: [
      {
        number: S,
        default: S,
        archived: S,
        transcription: ALL,
        revision: S,
        created_at_ms: S,
        updated_at_ms: S,
        insights: { engine: S, suggestion_kinds: [S], memory_kinds: [S] },
      },
    ],
  },
  device: {
    kind: S,
    provisioned_at_ms: S,
    last_seen_at_ms: S,
    redeeming: S,
    binding: { epoch: S, account_id: S, claim_id: S, draining: S },
    code_tries: { began_ms: S, count: S },
    certificates: {
      live: [{ status: S, not_after_ms: S, renew_after_ms: S }],
      revoked_at_ms: S,
      renewals: { began_ms: S, count: S },
    },
  },
  device_session: {
    id: S,
    host_account_id: S,
    workspace_id: S,
    created_at_ms: S,
    expires_at_ms: S,
    participants: [{ account_id: S, joined_at_ms: S }],
    phase: {
      status: S,
      until_ms: S,
      ended_at_ms: S,
      end_reason: S,
      drain_until_ms: S,
      recorder: { device_id: S, source_id: S, started_at_ms: S },
    },
  },
  email: {
    account_id: S,
    invitations: S,
    codes: [{ sent_at_ms: S, wrong_total: S }],
    window: { began_ms: S, total: S },
    day: { began_ms: S },
    invitations_sent: { began_ms: S, count: S },
  },
  endpoint: {
    account_id: S,
    created_at_ms: S,
    standing: { status: S, since_ms: S, reason: S },
    failure_count: S,
    last_success_at_ms: S,
    enablement: S,
    account_epoch: S,
    taken: S,
    waiting: S,
    retryable_failures: S,
    probe_at_ms: S,
    topics: [S],
    claims: [{ sequence: S, log_id: S, account_epoch: S, enablement: S, type: S, claimed_at_ms: S, lease_until_ms: S }],
    cancelled: [{ batch: S, at_ms: S }],
    trouble: { is: S, since_ms: S },
  },
  exports: {
    asked_at_ms: [S],
    removing: [S],
    items: [
      {
        id: S,
        by: S,
        audio: S,
        files: S,
        created_at_ms: S,
        stage: {
          status: S,
          attempt: S,
          tries: S,
          lease_until_ms: S,
          progress: ALL,
          bytes: S,
          expires_at_ms: S,
          code: S,
          layers: [S],
        },
      },
    ],
  },
  files: ALL,
  grant: {
    account_id: S,
    client_id: S,
    scopes: [S],
    audience: S,
    issuer: S,
    issued_under: ALL,
    verified_at_ms: S,
    created_at_ms: S,
    stage: { status: S, exchanged_at_ms: S, generation: S, turned_at_ms: S, successor_used: S },
  },
  imported_token: { grant_id: S },
  imports: {
    source_id: S,
    forget_at_ms: S,
    removing: [ALL],
    open: [
      {
        id: S,
        size_bytes: S,
        captured_at: S,
        source_id: S,
        created_at_ms: S,
        stage: {
          status: S,
          received_bytes: S,
          expires_at_ms: S,
          stream_id: S,
          tries: S,
          measured: ALL,
          not_before_ms: S,
          lease_until_ms: S,
        },
      },
    ],
  },
  library: {
    account_id: S,
    workspace_id: S,
    sweep: { sweep_id: S, began_at_ms: S, cutoffs: ALL, counts: ALL, drained: S },
    insights: {
      given: ALL,
      due_ms: S,
      oldest_ms: S,
      published: [{ tally: { suggestions: S, memories: S, withdrawn: S, dropped: ALL } }],
    },
  },
  omi: { source_id: S, audio: ALL, conversations: S },
  pairing_code: { claim_id: S, expires_at_ms: S },
  personal_access_token: {
    account_id: S,
    permissions: [S],
    created_at_ms: S,
    expires_at_ms: S,
    issued_under: ALL,
    last_used_at_ms: S,
  },
  share_link: {
    account_id: S,
    stream_id: S,
    shows: [S],
    created_at_ms: S,
    expires_at_ms: S,
    opened: S,
    last_opened_at_ms: S,
  },
  signals: {
    count: S,
    payload_bytes: S,
    longest_ms: S,
    staged: [{ bytes: S, began_ms: S }],
    owner: { account_id: S, workspace_id: S },
    oldest_ms: S,
  },
  signing_keys: { keys: [{ made_at_ms: S, signs_from_ms: S }] },
  source: { status: S, account_id: S, device_id: S, created_at_ms: S },
  stream: {
    status: S,
    id: S,
    account_id: S,
    workspace_id: S,
    source_id: S,
    captured_at: S,
    transcript_revision: S,
    created_at_ms: S,
    end_ms: S,
    chunks: S,
    stored_chunks: S,
    stored_bytes: S,
    stored_until_ms: S,
    unprocessed: S,
    claims: [{ number: S, until_ms: S }],
    deleted: S,
    expired_chunks: S,
    oldest_audio_ms: S,
    recorder: { device_id: S, binding_epoch: S, source_stream_ref: S, clock_uncertainty_ms: S },
    open: [{ number: S, end_ms: S, asked_at_ms: S }],
  },
  sweep: {
    paused: S,
    begun: S,
    running: { sweep_id: S, began_at_ms: S, cutoffs: ALL, counts: ALL, waiting: S, told_to: { order: S, id: S } },
  },
  transcript: {
    account_id: S,
    workspace_id: S,
    source_id: S,
    captured_at_ms: S,
    end_ms: S,
    revision: S,
    turns: S,
    longest_ms: S,
    window_ms: S,
    windows: S,
    final_pass: S,
    speakers: S,
    contacts: [S],
    covered: [[S]],
    waiting: [{ from_ms: S, to_ms: S, at_ms: S, again: S, tail: S }],
    failed: [{ from_ms: S, to_ms: S, code: S }],
    window: { number: S, from_ms: S, to_ms: S, final: S, pass: S, run_id: S, until_ms: S, tries: S, pipeline: S },
    retry: ALL,
    published: { tally: ALL },
    announcing: [{ field: S, speakers: [S], contact_id: S, page: S, serial: S }],
    oldest: ALL,
    pipeline_output: { stream_id: S, pipeline_id: S },
    pipeline_outputs: [S],
  },
  workspace: {
    created_at_ms: S,
    dormant: S,
    holds: [S],
    sent: { began_ms: S, count: S },
    members: [{ account_id: S, role: S, joined_at_ms: S }],
    invitations: [{ id: S, role: S, invited_by: S, created_at_ms: S }],
  },
};

export type Fields = typeof S | readonly [Fields] | { readonly [name: string]: Fields | undefined };

/** In place of what is not shown: what sort of thing it is, and its characters, bytes, items or fields. */
export type Hidden = { hidden: 'text' | 'bytes' | 'list' | 'object' | 'number' | 'yes or no'; size?: number };
