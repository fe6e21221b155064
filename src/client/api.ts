/* Made from the tables of routes by `npm run client`; a test says when it is stale. */

export type Account = {
  id: string;
  email: string;
  name: string | null;
  developer_enabled: boolean;
  permissions: Permission[];
  sharing_enabled: boolean;
  agent_enabled: boolean;
  workspaces: {
    id: string;
    name: string;
    private: boolean;
    role: 'member' | 'admin' | 'owner';
  }[];
};

export type ActiveToken = {
  active: true;
  token_type: 'Bearer';
  client_id: string;
  sub: string;
  username: string;
  scope: string;
  agent_enabled?: boolean;
};

export type AttemptedDelivery = {
  id: string;
  status: 'pending' | 'leased' | 'succeeded' | 'failed' | 'cancelled';
  event_id: string | null;
  event_type: EventType;
  attempt_count: number;
  next_attempt_at: string | null;
  created_at: string;
  event: Event | null;
  attempts: {
    attempted_at: string;
    status_code: number | null;
    status_text: string | null;
    error: string | null;
    duration_ms: number | null;
  }[];
};

export type AuthorizationServer = {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint: string;
  introspection_endpoint: string;
  revocation_endpoint: string;
  authorization_challenge_endpoint: string;
  end_session_endpoint: string;
  jwks_uri: string;
  scopes_supported: string[];
  response_types_supported: string[];
  response_modes_supported: string[];
  grant_types_supported: string[];
  code_challenge_methods_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  revocation_endpoint_auth_methods_supported: string[];
  introspection_endpoint_auth_methods_supported: string[];
  authorization_response_iss_parameter_supported: boolean;
  protected_resources: string[];
};

export type Binding = {
  kind: 'owner' | 'session';
  binding_epoch: string;
  owner_user_id: string;
  source_device_id: string;
  session: {
    id: string;
    expires_at: string;
    drain_until: string;
  } | null;
  server_time: string;
  limits: {
    chunk_bytes_max: number;
    open_intents_max: number;
  };
};

export type Chunk = {
  id: string;
  sequence: number;
  source_start_ms: number;
  publication_start_ms: number;
  source_end_ms: number;
  codec: string;
  container: string;
  size_bytes: number;
  sha256: string;
  status: 'awaiting_upload' | 'stored' | 'processing' | 'processed' | 'failed' | 'expired';
  checked: boolean | null;
  failure: {
    code: string;
    message: string;
  } | null;
  registered_at: string;
  upload_started_at: string | null;
  stored_at: string | null;
};

export type ChunkStatus = {
  chunk_id: string;
  source_chunk_ref: string;
  sequence: number;
  status: 'awaiting_upload' | 'stored' | 'processing' | 'processed' | 'failed' | 'expired';
  stored_at: string | null;
  failure: {
    code: string;
    message: string;
  } | null;
};

export type ConnectedApp = {
  id: string;
  client_id: string;
  name: string;
  scopes: string[];
  created_at: string;
  current: boolean;
};

export type Delivery = {
  id: string;
  status: 'pending' | 'leased' | 'succeeded' | 'failed' | 'cancelled';
  event_id: string | null;
  event_type: EventType;
  attempt_count: number;
  next_attempt_at: string | null;
  created_at: string;
};

export type Device = {
  id: string;
  kind: 'personal' | 'shared';
  bound_at: string;
  last_seen_at: string | null;
  session_id: string | null;
};

export type DeviceStream = {
  id: string;
  owner_user_id: string;
  source_stream_ref: string;
  captured_at: string;
  clock_uncertainty_ms: number;
  transcript_revision: number;
  created_at: string;
  source_device_id: string;
  binding_epoch: string;
  end_ms?: number;
};

export type Endpoint = {
  id: string;
  status: 'active' | 'paused' | 'disabled';
  topics: EventType[];
  url: string;
  failure_count: number;
  last_success_at: string | null;
  disabled_reason: string | null;
  created_at: string;
};

export type Event = {
  id: string;
  schema_version: 1;
  sequence: string;
  occurred_at: string;
  account_id: string;
  type: EventType;
  resource: {
    type: string;
    id: string;
  };
  data: {
    changed_fields?: string[];
    source_id?: string;
    participant_id?: string;
    last_four?: string;
    expires_at?: string | null;
    reason?: string;
    run_id?: string;
    pipeline_id?: string;
    buckets?: Partial<Record<'audio' | 'transcripts' | 'insights' | 'voice', {
      cutoff: string | null;
      count: number;
    }>>;
  };
};

export type EventType = 
  | 'account.created'
  | 'account.updated'
  | 'account.deleted'
  | 'account.restored'
  | 'contact.created'
  | 'contact.updated'
  | 'contact.deleted'
  | 'source.created'
  | 'source.updated'
  | 'source.deleted'
  | 'turn.created'
  | 'turn.updated'
  | 'turn.deleted'
  | 'run.published'
  | 'memory.created'
  | 'memory.updated'
  | 'memory.deleted'
  | 'conversation.created'
  | 'conversation.updated'
  | 'conversation.deleted'
  | 'suggestion.created'
  | 'suggestion.updated'
  | 'suggestion.deleted'
  | 'suggestion_profile.updated'
  | 'memory_context.updated'
  | 'pipeline.created'
  | 'pipeline.updated'
  | 'device_session.started'
  | 'device_session.joined'
  | 'device_session.left'
  | 'device_session.updated'
  | 'device_session.ended'
  | 'stream.created'
  | 'stream.updated'
  | 'personal_access_token.created'
  | 'personal_access_token.revoked'
  | 'workspace.updated'
  | 'workspace.retention_applied'
  | 'workspace.deleted';

export type Gaps = {
  missing: [number, number][];
  truncated: boolean;
  awaiting_upload: number;
};

export type Grant = {
  id: string;
  client_id: string;
  name: string;
  scopes: string[];
  audience: 'api' | 'mcp';
  issuer: 'base' | 'legacy';
  created_at: string;
};

export type Invitation = {
  id: string;
  workspace: {
    id: string;
    name: string;
  };
  email: string;
  role: 'member' | 'admin';
  invited_by: string;
  created_at: string;
};

export type Member = {
  account_id: string;
  email: string;
  name: string | null;
  role: 'member' | 'admin' | 'owner';
  joined_at: string;
};

export type OauthClient = {
  client_id: string;
  name: string;
  party: 'first' | 'third';
  origin: 'file' | 'staff' | 'registered';
  redirect_uris: string[];
  scopes: string[];
  token_endpoint_auth_method: 'none' | 'client_secret_basic';
  native: boolean;
  disabled: boolean;
  disabled_at: string | null;
  registered_at: string | null;
  last_used_at: string | null;
  secrets: {
    until: string | null;
  }[];
};

export type OauthError = {
  error: string;
  error_description: string;
  auth_session?: string;
  expires_in?: number;
};

export type OauthTokens = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
};

export type Permission = 
  | 'audio:read'
  | 'audio:write'
  | 'turns:read'
  | 'turns:write'
  | 'insights:read'
  | 'insights:write'
  | 'account:manage'
  | 'files:read'
  | 'files:write'
  | 'devices:manage'
  | 'endpoints:manage'
  | 'profile:read'
  | 'profile:write'
  | 'pipelines:read'
  | 'pipelines:write'
  | 'pipelines:experimental'
  | 'debug:read'
  | 'debug:write'
  | 'workspace:read'
  | 'workspace:members'
  | 'workspace:manage';

export type PersonalAccessToken = {
  id: string;
  name: string;
  permissions: Permission[];
  last_four: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
};

export type ProtectedResource = {
  resource: string;
  authorization_servers: string[];
  bearer_methods_supported: string[];
  scopes_supported: string[];
  resource_name: string;
};

export type RecorderSession = {
  id: string;
  status: 'waiting' | 'open' | 'draining' | 'ended';
  host_account_id: string;
  device_id: string | null;
  workspace_id: string;
  source_id: string | null;
  participants: {
    account_id: string;
    joined_at: string;
  }[];
  join_code?: string;
  created_at: string;
  started_at: string | null;
  expires_at: string;
  ended_at: string | null;
  end_reason: 'host' | 'recorder' | 'expired' | 'device_removed' | 'account_deleted' | 'never_started' | null;
};

export type Refused = {
  success: false;
  error: {
    code: string;
    message: string;
    details?: {
      path: string;
      message: string;
    }[];
    erase_at?: string | null;
    reason?: string;
  };
};

export type Registration = {
  client_id: string;
  client_id_issued_at: number;
  client_secret?: string;
  client_secret_expires_at?: 0;
  client_name: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: string[];
  token_endpoint_auth_method: 'none' | 'client_secret_basic';
  application_type: 'web' | 'native';
  scope?: string;
};

export type RenewedCertificate = {
  certificate_pem: string;
  ca_pem: string;
  not_after: string;
  renew_after: string;
};

export type Session = {
  access_token: string;
  refresh_token: string;
  token_type: 'bearer';
  expires_in: number;
  expires_at: number;
  user: {
    id: string;
    email: string;
  };
};

export type SessionEnd = {
  session_id: string;
  ended_at: string;
  end_reason: 'host' | 'recorder' | 'expired' | 'device_removed' | 'account_deleted' | 'never_started';
};

export type Signal = {
  id: string;
  ref: string;
  type: string;
  start_ms: number;
  end_ms?: number;
  payload: Record<string, unknown> | null;
  payload_state: {
    state: 'available' | 'expired';
    removed_at: string | null;
  };
  created_at: string;
};

export type Source = {
  id: string;
  name: string | null;
  device_id: string | null;
  created_at: string;
};

export type Stream = {
  id: string;
  source_id: string;
  workspace_id: string;
  title: string | null;
  captured_at: string;
  clock_uncertainty_ms: number | null;
  transcript_revision: number;
  created_at: string;
  source_device_id: string | null;
  end_ms?: number;
  chunks: number;
  stored_chunks: number;
  stored_bytes: number;
};

export type Upload = {
  chunk_id: string;
  source_chunk_ref: string;
  status: 'awaiting_upload' | 'stored' | 'expired';
  size_bytes: number;
  sha256: string;
};

export type UploadIntent = {
  source_chunk_ref: string;
  chunk_id: string;
  upload_path: string;
};

export type Work = {
  chunk_id: string;
  claim: string;
  lease_until: string;
  tries: number;
  stream_id: string;
  account_id: string;
  sequence: number;
  source_start_ms: number;
  publication_start_ms: number;
  source_end_ms: number;
  codec: string;
  container: string;
  size_bytes: number;
  sha256: string;
  content_path: string;
};

export type Workspace = {
  id: string;
  name: string;
  private: boolean;
  role: 'member' | 'admin' | 'owner';
  created_at: string;
  retention: {
    audio: {
      days: number | null;
    };
    transcripts: {
      days: number | null;
    };
    insights: {
      days: number | null;
    };
    voice: {
      days: number | null;
    };
  };
  member_count: number;
};

export type PublicApi = {
  /** Sends a six-digit code to an email address. */
  'POST /auth/otp': {
    body: {
      email: string;
      captcha_token?: string;
    };
    answer: {
      sent: true;
      expires_in: number;
    };
  };
  /** Signs in with an emailed code. */
  'POST /auth/verify-otp': {
    body: {
      email: string;
      token: string;
    };
    answer: Session;
  };
  /** Gives a session new tokens. */
  'POST /auth/refresh': {
    body: {
      refresh_token: string;
    };
    answer: Session;
  };
  /** Ends the session that calls. */
  'POST /auth/logout': {
    answer: undefined;
  };
  /** The signed-in account. */
  'GET /me': {
    answer: Account;
  };
  /** Renames the account. */
  'PATCH /me': {
    body: {
      name: string | null;
    };
    answer: Account;
  };
  /** Deletes the account. */
  'DELETE /me': {
    answer: undefined;
  };
  /** Restores a deleted account. */
  'POST /me/restore': {
    answer: undefined;
  };
  /** The apps that are connected to the account, newest first. */
  'GET /me/connections': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: ConnectedApp[];
      cursor: string | null;
    };
  };
  /** Disconnects an app: ends its grant and its tokens. */
  'DELETE /me/connections/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Signs out the calling app, or everything. */
  'POST /me/sign-out': {
    body?: {
      everywhere?: boolean;
    };
    answer: undefined;
  };
  /** Makes a personal access token. */
  'POST /me/tokens': {
    body: {
      name: string;
      permissions: (
        | 'audio:read'
        | 'audio:write'
        | 'turns:read'
        | 'turns:write'
        | 'insights:read'
        | 'insights:write'
        | 'account:manage'
        | 'files:read'
        | 'files:write'
        | 'devices:manage'
        | 'endpoints:manage'
        | 'profile:read'
        | 'profile:write'
        | 'pipelines:read'
        | 'pipelines:write'
        | 'pipelines:experimental'
        | 'debug:read'
        | 'debug:write')[];
      expires_at?: string | null;
    };
    answer: {
      token: PersonalAccessToken;
      value: string;
    };
  };
  /** The personal access tokens that have not ended, newest first. */
  'GET /me/tokens': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: PersonalAccessToken[];
      cursor: string | null;
    };
  };
  /** Revokes a personal access token. */
  'DELETE /me/tokens/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** The workspaces that the account belongs to: its private one first, then by name. */
  'GET /workspaces': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: {
        id: string;
        name: string;
        private: boolean;
        role: 'member' | 'admin' | 'owner';
        created_at: string;
      }[];
      cursor: string | null;
    };
  };
  /** Makes a shared workspace, which the caller owns. */
  'POST /workspaces': {
    body: {
      name: string;
    };
    answer: Workspace;
  };
  /** A workspace. */
  'GET /workspaces/{id}': {
    path: { id: string };
    answer: Workspace;
  };
  /** Renames a workspace, or says how long it keeps what is in it. */
  'PATCH /workspaces/{id}': {
    path: { id: string };
    body: {
      name?: string;
      retention?: {
        audio?: {
          days: number | null;
        };
        transcripts?: {
          days: number | null;
        };
        insights?: {
          days: number | null;
        };
        voice?: {
          days: number | null;
        };
      };
    };
    answer: Workspace;
  };
  /** Deletes a shared workspace. */
  'DELETE /workspaces/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Makes another member the owner. */
  'POST /workspaces/{id}/transfer': {
    path: { id: string };
    body: {
      account_id: string;
    };
    answer: undefined;
  };
  /** Leaves a shared workspace. */
  'POST /workspaces/{id}/leave': {
    path: { id: string };
    answer: undefined;
  };
  /** Who belongs to a workspace, in the order of joining. */
  'GET /workspaces/{id}/members': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Member[];
      cursor: string | null;
    };
  };
  /** Gives a member another role. */
  'PATCH /workspaces/{id}/members/{account_id}': {
    path: { id: string; account_id: string };
    body: {
      role: 'member' | 'admin';
    };
    answer: Member;
  };
  /** Removes a member. */
  'DELETE /workspaces/{id}/members/{account_id}': {
    path: { id: string; account_id: string };
    answer: undefined;
  };
  /** Invitations to a workspace that are not answered, oldest first. */
  'GET /workspaces/{id}/invitations': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Invitation[];
      cursor: string | null;
    };
  };
  /** Invites an email address to a shared workspace. */
  'POST /workspaces/{id}/invitations': {
    path: { id: string };
    body: {
      email: string;
      role: 'member' | 'admin';
    };
    answer: Invitation;
  };
  /** Withdraws an invitation. */
  'DELETE /workspaces/{id}/invitations/{invitation_id}': {
    path: { id: string; invitation_id: string };
    answer: undefined;
  };
  /** Invitations that are addressed to the account, newest first. */
  'GET /me/invitations': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Invitation[];
      cursor: string | null;
    };
  };
  /** Accepts an invitation. */
  'POST /me/invitations/{id}/accept': {
    path: { id: string };
    answer: undefined;
  };
  /** Declines an invitation. */
  'POST /me/invitations/{id}/decline': {
    path: { id: string };
    answer: undefined;
  };
  /** What happened in the account. */
  'GET /events': {
    query?: { limit?: number | undefined; type?: string | undefined; after?: string | undefined; cursor?: string | undefined };
    answer: {
      items: Event[];
      cursor: string | null;
    };
  };
  /** Registers a webhook endpoint. */
  'POST /endpoints': {
    body: {
      url: string;
      topics?: (
        | 'account.created'
        | 'account.updated'
        | 'account.deleted'
        | 'account.restored'
        | 'contact.created'
        | 'contact.updated'
        | 'contact.deleted'
        | 'source.created'
        | 'source.updated'
        | 'source.deleted'
        | 'turn.created'
        | 'turn.updated'
        | 'turn.deleted'
        | 'run.published'
        | 'memory.created'
        | 'memory.updated'
        | 'memory.deleted'
        | 'conversation.created'
        | 'conversation.updated'
        | 'conversation.deleted'
        | 'suggestion.created'
        | 'suggestion.updated'
        | 'suggestion.deleted'
        | 'suggestion_profile.updated'
        | 'memory_context.updated'
        | 'pipeline.created'
        | 'pipeline.updated'
        | 'device_session.started'
        | 'device_session.joined'
        | 'device_session.left'
        | 'device_session.updated'
        | 'device_session.ended'
        | 'stream.created'
        | 'stream.updated'
        | 'personal_access_token.created'
        | 'personal_access_token.revoked'
        | 'workspace.updated'
        | 'workspace.retention_applied'
        | 'workspace.deleted')[];
    };
    answer: {
      endpoint: Endpoint;
      signing_secret: string;
    };
  };
  /** The webhook endpoints, newest first. */
  'GET /endpoints': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Endpoint[];
      cursor: string | null;
    };
  };
  /** A webhook endpoint. */
  'GET /endpoints/{id}': {
    path: { id: string };
    answer: Endpoint;
  };
  /** Pauses, disables or activates an endpoint. */
  'PATCH /endpoints/{id}': {
    path: { id: string };
    body: {
      status: 'active' | 'paused' | 'disabled';
    };
    answer: Endpoint;
  };
  /** Removes an endpoint with its secret and its deliveries. */
  'DELETE /endpoints/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** What was sent to an endpoint, or will be, newest first. */
  'GET /endpoints/{id}/deliveries': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Delivery[];
      cursor: string | null;
    };
  };
  /** A delivery with its event and every attempt. */
  'GET /endpoints/{id}/deliveries/{delivery_id}': {
    path: { id: string; delivery_id: string };
    answer: AttemptedDelivery;
  };
  /** Makes a claim, with which a personal device binds itself to the account. */
  'POST /devices/claims': {
    body: {
      kind: 'owner';
    };
    answer: {
      claim: string;
      kind: 'owner';
      expires_at: string;
    };
  };
  /** The devices of the account, those bound last first. */
  'GET /devices': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Device[];
      cursor: string | null;
    };
  };
  /** Unbinds a device, at once. */
  'DELETE /devices/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Opens a recorder session, which the caller hosts. */
  'POST /device-sessions': {
    body: {
      expires_at: string;
      workspace_id?: string;
    };
    answer: {
      session: RecorderSession;
      claim: string;
    };
  };
  /** The recorder sessions that the account hosts or takes part in, newest first. */
  'GET /device-sessions': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: RecorderSession[];
      cursor: string | null;
    };
  };
  /** A recorder session. */
  'GET /device-sessions/{id}': {
    path: { id: string };
    answer: RecorderSession;
  };
  /** Joins a recorder session with its join code. */
  'POST /device-sessions/{id}/join': {
    path: { id: string };
    body: {
      join_code: string;
    };
    answer: RecorderSession;
  };
  /** Leaves a recorder session. */
  'POST /device-sessions/{id}/leave': {
    path: { id: string };
    answer: undefined;
  };
  /** Lets a recorder session end later. */
  'POST /device-sessions/{id}/extend': {
    path: { id: string };
    body: {
      expires_at: string;
    };
    answer: RecorderSession;
  };
  /** Ends a recorder session. */
  'POST /device-sessions/{id}/end': {
    path: { id: string };
    answer: RecorderSession;
  };
  /** Where recordings come from, newest first. */
  'GET /sources': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Source[];
      cursor: string | null;
    };
  };
  /** Makes a source. */
  'POST /sources': {
    body: {
      name?: string | null;
    };
    answer: Source;
  };
  /** A source. */
  'GET /sources/{id}': {
    path: { id: string };
    answer: Source;
  };
  /** Renames a source. */
  'PATCH /sources/{id}': {
    path: { id: string };
    body: {
      name: string | null;
    };
    answer: Source;
  };
  /** Deletes a source. */
  'DELETE /sources/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Streams of the account, of one source or of one workspace, newest first. */
  'GET /audio/streams': {
    query?: { limit?: number | undefined; cursor?: string | undefined; source_id?: string | undefined; workspace_id?: string | undefined };
    answer: {
      items: Stream[];
      cursor: string | null;
    };
  };
  /** Registers a stream. */
  'POST /audio/streams': {
    body: {
      source_id: string;
      captured_at: string;
      title?: string | null;
    };
    answer: Stream;
  };
  /** A stream. */
  'GET /audio/streams/{id}': {
    path: { id: string };
    answer: Stream;
  };
  /** Gives a stream another title. */
  'PATCH /audio/streams/{id}': {
    path: { id: string };
    body: {
      title: string | null;
    };
    answer: Stream;
  };
  /** Says where a stream ends. */
  'POST /audio/streams/{id}/end': {
    path: { id: string };
    body: {
      end_ms: number;
    };
    answer: Stream;
  };
  /** Announces a chunk of a stream. */
  'POST /audio/streams/{id}/chunks/intents': {
    path: { id: string };
    body: {
      source_chunk_ref: string;
      sequence: number;
      source_start_ms: number;
      publication_start_ms: number;
      source_end_ms: number;
      codec: string;
      container: string;
      size_bytes: number;
      sha256: string;
    };
    answer: UploadIntent;
  };
  /** The chunks of a stream, by their start. */
  'GET /audio/streams/{id}/chunks': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Chunk[];
      cursor: string | null;
    };
  };
  /** Attaches signals to a stream's timeline. */
  'POST /audio/streams/{id}/signals': {
    path: { id: string };
    body: {
      signals: {
        ref: string;
        type: string;
        start_ms: number;
        end_ms?: number;
        payload?: Record<string, unknown>;
      }[];
    };
    answer: {
      items: Signal[];
    };
  };
  /** Signals on a stream's timeline, by their start. */
  'GET /audio/streams/{id}/signals': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined; type?: string | undefined; from_ms?: number | undefined; to_ms?: number | undefined };
    answer: {
      items: Signal[];
      cursor: string | null;
    };
  };
};

export type DeviceApi = {
  /** Gives the device its next certificate. */
  'POST /device/certificates/renew': {
    body: {
      csr_pem: string;
    };
    answer: RenewedCertificate;
  };
  /** Binds the device by a claim. */
  'POST /device/claims/redeem': {
    body: {
      claim: string;
      ble_address?: unknown;
    };
    answer: Binding;
  };
  /** What the device is bound by. */
  'GET /device/binding': {
    answer: Binding;
  };
  /** Says that the device is there. */
  'POST /device/heartbeat': {
    answer: {
      server_time: string;
    };
  };
  /** Ends the recorder's own session. */
  'POST /device/session/end': {
    body: {
      binding_epoch: string;
    };
    answer: SessionEnd;
  };
  /** Registers a stream under the device's own reference. */
  'POST /device/streams': {
    body: {
      source_stream_ref: string;
      captured_at: string;
      clock_uncertainty_ms: number;
      binding_epoch: string;
      end_ms?: number;
    };
    answer: DeviceStream;
  };
  /** Says where a stream ends. */
  'POST /device/streams/end': {
    body: {
      source_stream_ref: string;
      end_ms: number;
      binding_epoch: string;
    };
    answer: DeviceStream;
  };
  /** What of a stream is not stored. */
  'GET /device/streams/{source_stream_ref}/gaps': {
    path: { source_stream_ref: string };
    query: { binding_epoch: string };
    answer: Gaps;
  };
  /** Announces a chunk of a stream. */
  'POST /device/chunks/intents': {
    body: {
      source_chunk_ref: string;
      sequence: number;
      source_start_ms: number;
      publication_start_ms: number;
      source_end_ms: number;
      codec: string;
      container: string;
      size_bytes: number;
      sha256: string;
      source_stream_ref: string;
      binding_epoch: string;
    };
    answer: UploadIntent;
  };
  /** How a chunk stands. */
  'GET /device/chunks/{chunk_id}': {
    path: { chunk_id: string };
    answer: ChunkStatus;
  };
  /** How chunks of a stream stand, by their own references. */
  'POST /device/chunks/status': {
    body: {
      binding_epoch: string;
      source_stream_ref: string;
      source_chunk_refs: string[];
    };
    answer: {
      items: ChunkStatus[];
    };
  };
};

export type OperatorApi = {
  /** Whether the process runs. */
  'GET /healthz': {
    answer: {
      alive: true;
    };
  };
  /** Whether it can serve requests. */
  'GET /readyz': {
    answer: {
      ready: true;
    };
  };
  /** What is active in this process, and what is parked or set aside. */
  'GET /ops/actors': {
    query?: { limit?: number | undefined };
    answer: {
      now: string;
      kinds: Record<string, {
        active: number;
        waiting: number;
        parked: number;
        oldest_ms: number;
        turns?: number;
        turn_ms_mean?: number | null;
        turn_ms_p99?: number | null;
      }>;
      busiest: {
        kind: string;
        id: string | null;
        name: string;
        partition: number;
        version: number;
        waiting: number;
        turns: number;
        turn_ms_mean: number;
        parked: {
          reason: string;
          since_ms: number;
        } | null;
      }[];
      parked: {
        kind: string;
        id: string;
        name: string;
        partition: number;
        version: number;
        waiting: number;
        turns: number;
        turn_ms_mean: number;
        parked: {
          reason: string;
          since_ms: number;
        } | null;
      }[];
      lately: {
        within_ms: number;
        busiest: {
          kind: string;
          id: string | null;
          name: string;
          partition: number;
          version: number;
          waiting: number;
          turns: number;
          turn_ms_mean: number;
          parked: {
            reason: string;
            since_ms: number;
          } | null;
          messages: number;
          turn_ms_max: number;
        }[];
        slowest: {
          kind: string;
          id: string | null;
          name: string;
          partition: number;
          version: number;
          waiting: number;
          turns: number;
          turn_ms_mean: number;
          parked: {
            reason: string;
            since_ms: number;
          } | null;
          messages: number;
          turn_ms_max: number;
        }[];
      };
      set_aside: {
        partition: number;
        name: string;
        to: {
          kind: string;
          name: string;
        };
        type: string | null;
      }[];
    };
  };
  /** Lets a parked entity try again. */
  'POST /ops/parked/retry': {
    body: {
      kind: string;
      id: string;
    };
    answer: undefined;
  };
  /** Hands what was set aside to its entity once more. */
  'POST /ops/set-aside/retry': {
    body: {
      partition: number;
      name: string;
    };
    answer: undefined;
  };
  /** How an account stands, by its id or email. */
  'GET /ops/accounts/{account}': {
    path: { account: string };
    answer: {
      id: string;
      email: string;
      status: 'active' | 'leaving' | 'deleted' | 'erasing' | 'erased';
      permissions: Permission[];
      devices: number;
      created_at: string;
      erase_at: string | null;
      entitlements: Record<'developer.tools' | 'audio.access' | 'transcripts.access' | 'insights.access' | 'workspace.sharing' | 'agent.experimental', boolean>;
      shared_workspaces: number;
      personal_access_tokens: number;
    };
  };
  /** Switches an entitlement. */
  'PUT /ops/accounts/{account}/entitlements/{name}': {
    path: { account: string; name: 
  | 'developer.tools'
  | 'audio.access'
  | 'transcripts.access'
  | 'insights.access'
  | 'workspace.sharing'
  | 'agent.experimental' };
    body: {
      enabled: boolean;
    };
    answer: {
      account_id: string;
      entitlements: Partial<Record<'developer.tools' | 'audio.access' | 'transcripts.access' | 'insights.access' | 'workspace.sharing' | 'agent.experimental', boolean>>;
      permissions: Permission[];
    };
  };
  /** Provisions a device. */
  'POST /ops/devices': {
    body: {
      kind: 'personal' | 'shared';
      csr_pem?: string;
    };
    answer: {
      certificate_pem: string;
      private_key_pem?: string;
      ca_pem: string;
      not_after: string;
      device_id: string;
      kind: 'personal' | 'shared';
      renew_after: string;
    };
  };
  /** Devices as this process has heard of them, the most silent first. */
  'GET /ops/devices': {
    query?: { limit?: number | undefined; silent_min?: string | undefined; recording?: '0' | '1' | undefined };
    answer: {
      now: string;
      watched_since: string;
      seen: number;
      seen_max: number;
      items: {
        device_id: string;
        kind: 'personal' | 'shared' | null;
        uploads: number;
        open_streams: string[];
        awaited_chunks: number;
        silent_s: number;
        first_seen_at: string | null;
        last_request_at: string | null;
        last_upload_at: string | null;
        recording_since: string | null;
        last_refusal: {
          at: string | null;
          reason: string;
          route: string;
        } | null;
      }[];
    };
  };
  /** Revokes a device's certificates. */
  'DELETE /ops/devices/{id}/certificate': {
    path: { id: string };
    answer: undefined;
  };
  /** Gives a proxy the certificate with which it may pass devices on. */
  'POST /ops/device-proxies': {
    body: {
      csr_pem?: string;
    };
    answer: {
      certificate_pem: string;
      private_key_pem?: string;
      ca_pem: string;
      not_after: string;
      proxy_id: string;
      fingerprint: string;
    };
  };
  /** Revokes a proxy's certificate. */
  'DELETE /ops/device-proxies/{fingerprint}': {
    path: { fingerprint: string };
    answer: undefined;
  };
  /** Lets another key sign access tokens. */
  'POST /ops/keys/rotate': {
    answer: {
      kid: string;
    };
  };
  /** Erasures of accounts that are under way. */
  'GET /ops/erasures': {
    answer: {
      items: {
        account_id: string;
        began_at: string;
        removed: Record<string, number>;
        in_hand: boolean;
      }[];
    };
  };
  /** Deletes a shared workspace. */
  'DELETE /ops/workspaces/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Moves the clock forward, where `TEST_CLOCK=1` allows it. */
  'POST /ops/clock': {
    body: {
      advance_ms: number;
    };
    answer: {
      now: string;
    };
  };
  /** Mails that were written instead of sent, newest first. */
  'GET /inbox': {
    query?: { limit?: number | undefined };
    answer: {
      items: {
        file: string;
        to: string;
        subject: string;
        text: string;
        date: string;
      }[];
    };
  };
  /** Hands stored chunks to a worker, for a time. */
  'POST /ops/chunks/claim': {
    body: {
      limit?: number;
      lease_s?: number;
    };
    answer: {
      items: Work[];
    };
  };
  /** Says that a worker is still at a chunk. */
  'POST /ops/chunks/{chunk_id}/progress': {
    path: { chunk_id: string };
    body: {
      claim: string;
      lease_s?: number;
    };
    answer: {
      lease_until: string;
    };
  };
  /** Says that a chunk is processed. */
  'POST /ops/chunks/{chunk_id}/done': {
    path: { chunk_id: string };
    body: {
      claim: string;
      checked?: boolean;
    };
    answer: {
      chunk_id: string;
      status: 'processed' | 'failed';
    };
  };
  /** Says why a chunk can not be processed. */
  'POST /ops/chunks/{chunk_id}/failed': {
    path: { chunk_id: string };
    body: {
      claim: string;
      code: string;
      message: string;
    };
    answer: {
      chunk_id: string;
      status: 'processed' | 'failed';
    };
  };
  /** OAuth clients: our own first, then the newest. */
  'GET /ops/clients': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: OauthClient[];
      cursor: string | null;
    };
  };
  /** Registers an OAuth client by hand. */
  'POST /ops/clients': {
    body: {
      name: string;
      redirect_uris: string[];
      scopes?: string[];
      confidential?: boolean;
    };
    answer: {
      client_id: string;
      name: string;
      party: 'first' | 'third';
      origin: 'file' | 'staff' | 'registered';
      redirect_uris: string[];
      scopes: string[];
      token_endpoint_auth_method: 'none' | 'client_secret_basic';
      native: boolean;
      disabled: boolean;
      disabled_at: string | null;
      registered_at: string | null;
      last_used_at: string | null;
      secrets: {
        until: string | null;
      }[];
      client_secret?: string;
    };
  };
  /** An OAuth client. */
  'GET /ops/clients/{client}': {
    path: { client: string };
    answer: OauthClient;
  };
  /** Gives a confidential client another secret. */
  'POST /ops/clients/{client}/secret': {
    path: { client: string };
    body?: {
      at_once?: boolean;
    };
    answer: {
      client_id: string;
      name: string;
      party: 'first' | 'third';
      origin: 'file' | 'staff' | 'registered';
      redirect_uris: string[];
      scopes: string[];
      token_endpoint_auth_method: 'none' | 'client_secret_basic';
      native: boolean;
      disabled: boolean;
      disabled_at: string | null;
      registered_at: string | null;
      last_used_at: string | null;
      secrets: {
        until: string | null;
      }[];
      client_secret: string;
    };
  };
  /** Ends what a client may do, at once. */
  'POST /ops/clients/{client}/disable': {
    path: { client: string };
    answer: OauthClient;
  };
  /** Lets a client act again. */
  'POST /ops/clients/{client}/enable': {
    path: { client: string };
    answer: OauthClient;
  };
  /** An account's grants, newest first. */
  'GET /ops/accounts/{account}/grants': {
    path: { account: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Grant[];
      cursor: string | null;
      account_id: string;
    };
  };
  /** Ends all grants and browser sessions of an account. */
  'DELETE /ops/accounts/{account}/grants': {
    path: { account: string };
    answer: undefined;
  };
  /** Ends a grant. */
  'DELETE /ops/accounts/{account}/grants/{id}': {
    path: { account: string; id: string };
    answer: undefined;
  };
  /** Brings in grants of an earlier system. */
  'POST /ops/grants/import': {
    body: {
      grants: {
        account: string;
        client_id: string;
        name?: string;
        scope: string;
        audience: 'api' | 'mcp';
        issuer: 'base' | 'legacy';
        created_at: string;
        refresh_token_sha256: string;
      }[];
      dry_run?: boolean;
    };
    answer: {
      results: ({
        outcome: 'imported' | 'known';
        grant_id: string;
      } | {
        outcome: 'right';
      } | {
        outcome: 'wrong';
        problem: string;
      })[];
    };
  };
  /** How this process is doing: what is wrong now, and what was measured in the last quarter of an hour. */
  'GET /ops/overview': {
    query?: { after_ms?: string | undefined };
    answer: {
      now: string;
      clock: {
        ahead_ms: number;
        movable: boolean;
      };
      process: {
        pid: number;
        node: string;
        up_s: number;
        shedding: 'nothing' | 'first' | 'all';
      };
      storage: {
        reachable: boolean;
        since_ms: number;
        round_trip_ms: number | null;
        memory_bytes: number | null;
        log_healthy: boolean | null;
        set_aside: number | null;
      };
      disk: {
        free_bytes: number;
        size_bytes: number;
      } | null;
      troubles: {
        name: string;
        severity: 'grave' | 'mild';
        text: string;
        link: string;
      }[];
      history: {
        every_ms: number;
        kept_ms: number;
        at_ms: number[];
        series: Record<string, (number | null)[]>;
      };
    };
  };
  /** Entities of an id, or of an email. */
  'GET /ops/entities': {
    query: { find: string };
    answer: {
      items: {
        kind: string;
        id: string;
        name: string;
      }[];
    };
  };
  /** One entity: what is stored of it, and what it did last. */
  'GET /ops/entity': {
    query: { kind: string; id: string };
    answer: {
      now: string;
      kind: string;
      id: string;
      name: string;
      partition: number;
      stored: unknown;
      memory: {
        version: number;
        waiting: number;
        turns: number;
        turn_ms_mean: number;
        parked: {
          reason: string;
          since: string;
        } | null;
      } | null;
      recent: {
        type: string;
        outcome: string;
        took_ms: number;
        at: string;
      }[];
      versions: {
        version: number;
        type: string;
        at: string;
      }[];
      endpoint: {
        endpoint_id: string;
        account_id: string;
        host: string;
        status: 'active' | 'paused' | 'disabled' | 'deleted';
        topics: string[];
        headline: string;
        reasons: {
          name: string;
          blocks: boolean;
          text: string;
        }[];
        failure_count: number;
        last_success_at: string | null;
        deliveries: {
          id: string;
          event_type: string;
          status: string;
          next_attempt_at: string | null;
          attempts: {
            attempted_at: string | null;
            status_code: number | null;
            error: string | null;
            duration_ms: number | null;
          }[];
        }[];
        seen: {
          endpoint_id: string;
          account_id: string;
          failures: number;
          last: {
            at: string | null;
            verdict: string;
            status_code: number | null;
            error: string | null;
          } | null;
          failing_since: string | null;
          last_success_at: string | null;
          disabled_at: string | null;
        } | null;
      } | null;
      device: {
        watched_since: string;
        seen: {
          device_id: string;
          kind: 'personal' | 'shared' | null;
          uploads: number;
          open_streams: string[];
          awaited_chunks: number;
          silent_s: number;
          first_seen_at: string | null;
          last_request_at: string | null;
          last_upload_at: string | null;
          recording_since: string | null;
          last_refusal: {
            at: string | null;
            reason: string;
            route: string;
          } | null;
        } | null;
      } | null;
    };
  };
  /** Endpoints that are due, that fail and that were disabled lately, as this process has seen them. */
  'GET /ops/endpoints': {
    query?: { limit?: number | undefined };
    answer: {
      now: string;
      in_flight: number;
      due: {
        endpoint_id: string;
        due_since: string;
        due_s: number;
      }[];
      failing: {
        endpoint_id: string;
        account_id: string;
        failures: number;
        last: {
          at: string | null;
          verdict: string;
          status_code: number | null;
          error: string | null;
        } | null;
        failing_since: string | null;
        last_success_at: string | null;
        disabled_at: string | null;
      }[];
      disabled: {
        endpoint_id: string;
        account_id: string;
        failures: number;
        last: {
          at: string | null;
          verdict: string;
          status_code: number | null;
          error: string | null;
        } | null;
        failing_since: string | null;
        last_success_at: string | null;
        disabled_at: string | null;
      }[];
    };
  };
  /** The endpoints of an account, and why each gets what it gets. */
  'GET /ops/accounts/{account}/endpoints': {
    path: { account: string };
    answer: {
      account_id: string;
      items: {
        endpoint_id: string;
        account_id: string;
        host: string;
        status: 'active' | 'paused' | 'disabled' | 'deleted';
        topics: string[];
        headline: string;
        reasons: {
          name: string;
          blocks: boolean;
          text: string;
        }[];
        failure_count: number;
        last_success_at: string | null;
        deliveries: {
          id: string;
          event_type: string;
          status: string;
          next_attempt_at: string | null;
          attempts: {
            attempted_at: string | null;
            status_code: number | null;
            error: string | null;
            duration_ms: number | null;
          }[];
        }[];
        seen: {
          endpoint_id: string;
          account_id: string;
          failures: number;
          last: {
            at: string | null;
            verdict: string;
            status_code: number | null;
            error: string | null;
          } | null;
          failing_since: string | null;
          last_success_at: string | null;
          disabled_at: string | null;
        } | null;
      }[];
    };
  };
  /** Why an endpoint gets what it gets, and its last deliveries. */
  'GET /ops/endpoints/{endpoint_id}': {
    path: { endpoint_id: string };
    answer: {
      endpoint_id: string;
      account_id: string;
      host: string;
      status: 'active' | 'paused' | 'disabled' | 'deleted';
      topics: string[];
      headline: string;
      reasons: {
        name: string;
        blocks: boolean;
        text: string;
      }[];
      failure_count: number;
      last_success_at: string | null;
      deliveries: {
        id: string;
        event_type: string;
        status: string;
        next_attempt_at: string | null;
        attempts: {
          attempted_at: string | null;
          status_code: number | null;
          error: string | null;
          duration_ms: number | null;
        }[];
      }[];
      seen: {
        endpoint_id: string;
        account_id: string;
        failures: number;
        last: {
          at: string | null;
          verdict: string;
          status_code: number | null;
          error: string | null;
        } | null;
        failing_since: string | null;
        last_success_at: string | null;
        disabled_at: string | null;
      } | null;
    };
  };
};
