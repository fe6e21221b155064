/* Made from the tables of routes by `npm run spool -- client`; a test says when it is stale. */

export type Account = {
  id: string;
  email: string;
  /** What the person is called; null until it is set. */
  name: string | null;
  /** Whether the account has developer access. */
  developer_enabled: boolean;
  /** What the calling credential may use: of what the account holds, what its scopes allow. */
  permissions: Permission[];
  /** Whether the account may share workspaces. */
  sharing_enabled: boolean;
  /** Whether the account has the experimental agent. */
  agent_enabled: boolean;
  /** The private workspace first, then the others by name. */
  workspaces: {
    id: string;
    name: string;
    /** Whether it is the one that every account has for itself. */
    private: boolean;
    /** The calling account's role. */
    role: 'member' | 'admin' | 'owner';
  }[];
};

export type ActiveToken = {
  /** It may be used now. */
  active: true;
  /** How it is shown. */
  token_type: 'Bearer';
  /** Whom it was issued to. */
  client_id: string;
  /** The account. */
  sub: string;
  /** The account's email. */
  username: string;
  /** The permissions that it gives now, with spaces between them. */
  scope: string;
  /** For tokens of the agent's client alone. */
  agent_enabled?: boolean;
};

export type AttemptedDelivery = {
  /** The webhook-id of its requests. */
  id: string;
  /** leased: a request is under way. */
  status: 'pending' | 'leased' | 'succeeded' | 'failed' | 'cancelled';
  /** Null once the event is no longer kept. */
  event_id: string | null;
  event_type: EventType;
  /** How many requests were sent for it. */
  attempt_count: number;
  /** Null unless it waits for an attempt. */
  next_attempt_at: string | null;
  created_at: string;
  /** As it was sent; null once it is no longer kept. */
  event: Event | null;
  /** Every request that was sent for it, the first one first; kept for 90 days. */
  attempts: {
    /** When the request was begun. */
    attempted_at: string;
    /** The answer's HTTP status; null where none came. */
    status_code: number | null;
    /** The text beside that status, 64 characters at most. */
    status_text: string | null;
    /** What went wrong where no answer came, such as timeout, dns or tls. */
    error: string | null;
    /** Milliseconds until the status line came, or until it was given up. */
    duration_ms: number | null;
  }[];
};

export type AuthorizationServer = {
  /** Who issues; the same as `iss` in tokens and redirects. */
  issuer: string;
  /** Where sign-in in a browser begins. */
  authorization_endpoint: string;
  /** Where codes are exchanged and tokens refreshed. */
  token_endpoint: string;
  /** Where a client registers itself (RFC 7591). */
  registration_endpoint: string;
  /** Where our own servers ask what a token is worth (RFC 7662). */
  introspection_endpoint: string;
  /** Where a token is revoked (RFC 7009). */
  revocation_endpoint: string;
  /** Where our own native apps sign people in. */
  authorization_challenge_endpoint: string;
  /** Where the browser session is ended. */
  end_session_endpoint: string;
  /** Keys that access tokens are checked with (RFC 7517). */
  jwks_uri: string;
  /** What a client may ask for. */
  scopes_supported: string[];
  /** What `response_type` may be. */
  response_types_supported: string[];
  /** How the answer to an authorization comes back. */
  response_modes_supported: string[];
  /** What `grant_type` may be. */
  grant_types_supported: string[];
  /** How the verifier becomes the challenge (RFC 7636). */
  code_challenge_methods_supported: string[];
  /** How clients authenticate there. */
  token_endpoint_auth_methods_supported: string[];
  /** How clients authenticate there. */
  revocation_endpoint_auth_methods_supported: string[];
  /** How clients authenticate there. */
  introspection_endpoint_auth_methods_supported: string[];
  /** Whether redirects name the issuer (RFC 9207). */
  authorization_response_iss_parameter_supported: boolean;
  /** Whether a `client_id` may be the https address of a document about the client. */
  client_id_metadata_document_supported: boolean;
  /** Which APIs take its tokens. */
  protected_resources: string[];
};

export type Binding = {
  /** owner: until it is removed; session: as long as a recorder session. */
  kind: 'owner' | 'session';
  /** What the device sends with all that it records under this binding. */
  binding_epoch: string;
  /** The account that it records for. */
  owner_user_id: string;
  /** The device itself. */
  source_device_id: string;
  /** Of a shared recorder; null for a personal device. */
  session: {
    id: string;
    /** When it ends by itself; its host may move that. */
    expires_at: string;
    /** Until then it may upload. */
    drain_until: string;
  } | null;
  /** What time it is here. */
  server_time: string;
  /** What the device has to keep to. */
  limits: {
    /** How large a chunk may be, in bytes. */
    chunk_bytes_max: number;
    /** How many announced chunks may wait for their upload at once. */
    open_intents_max: number;
  };
};

export type CalendarAddress = {
  /** When the address was made; null where there is none. */
  made_at: string | null;
  /** When it was read last, to the hour; null while it never was. */
  last_read_at: string | null;
};

export type Chunk = {
  id: string;
  /** Its number in the stream. */
  sequence: number;
  /** Where it begins on the stream's timeline, in ms. */
  source_start_ms: number;
  /** From where on it holds what no earlier chunk does, in ms. */
  publication_start_ms: number;
  /** Where it ends, in ms. */
  source_end_ms: number;
  /** How the audio is coded, such as opus. */
  codec: string;
  /** What holds the coded audio, such as ogg. */
  container: string;
  /** How many samples a second raw PCM has; null where that was not said. */
  sample_rate_hz: number | null;
  /** How many channels raw PCM has; null where that was not said. */
  channels: number | null;
  /** How many bytes it has. */
  size_bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
  /** From stored on its bytes are here, with failed too. expired: they never came, or, where stored_at says when they did, the workspace does not keep them any longer or their owner deleted them. */
  status: 'awaiting_upload' | 'stored' | 'processing' | 'processed' | 'failed' | 'expired';
  /** Whether processing held the audio against the announcement. */
  checked: boolean | null;
  /** Why its audio could not be processed; null unless that is so. */
  failure: {
    /** Why, for programs, such as BAD_AUDIO. */
    code: string;
    /** The same for people. */
    message: string;
  } | null;
  /** When it was first announced. */
  registered_at: string;
  /** When the first byte of its upload came; null until then. */
  upload_started_at: string | null;
  /** When its bytes were on disk; null until then. */
  stored_at: string | null;
};

export type ChunkArrivals = {
  /** One for each chunk, in their order. */
  items: (StoredChunk | RefusedChunk)[];
  /** Why the stream was not ended; absent where it was, or was not to be. */
  end_error?: ChunkRefusal;
};

export type ChunkRefusal = {
  /** Why, for programs: BAD_REQUEST, CHECKSUM_MISMATCH or CONFLICT. */
  code: string;
  /** The same for people. */
  message: string;
};

export type ChunkStatus = {
  /** What it is called here. */
  chunk_id: string;
  /** The device's own name for it. */
  source_chunk_ref: string;
  /** Its number in the stream. */
  sequence: number;
  /** From stored on its bytes are here, with failed too. expired: they never came, or, where stored_at says when they did, the workspace does not keep them any longer or their owner deleted them. */
  status: 'awaiting_upload' | 'stored' | 'processing' | 'processed' | 'failed' | 'expired';
  /** When its bytes were on disk; null until then. */
  stored_at: string | null;
  /** Why its audio could not be processed; null unless that is so. */
  failure: {
    /** Why, for programs, such as BAD_AUDIO. */
    code: string;
    /** The same for people. */
    message: string;
  } | null;
};

export type ConnectedApp = {
  id: string;
  /** The OAuth client that was allowed in. */
  client_id: string;
  /** The installation's label, or the client's name. */
  name: string;
  /** As the client asked for them. */
  scopes: string[];
  created_at: string;
  /** Whether the calling token belongs to it. */
  current: boolean;
};

export type Contact = {
  id: string;
  /** Null for somebody who was recognised and whom nobody has named yet. */
  name: string | null;
  /** Whether it is the account's own person. */
  is_self: boolean;
  /** The contact that this one became a part of; null for one that stands for itself. */
  merged_into: string | null;
  /** How well its voice is known. */
  voice: {
    /** recognized: heard again, it is known; expired: the workspace does not keep the voice any longer. */
    state: 'none' | 'recognized' | 'expired';
    /** When it was last recognised. */
    last_matched_at: string | null;
    /** When it expired. */
    removed_at: string | null;
  };
  created_at: string;
  /** When a person last changed it. */
  updated_at: string;
};

export type ContextItem = {
  id: string;
  /** What pipelines are told. */
  text: string;
  created_at: string;
  /** When its text last changed. */
  updated_at: string;
};

export type Conversation = {
  id: string;
  /** Where it was recorded. */
  workspace_id: string;
  /** What made it. */
  pipeline_id: string;
  /** Rises with each change. */
  revision: number;
  /** What a person has set, and no pipeline changes. */
  protected_fields: string[];
  /** The recorder session that it was recorded in; null for none. */
  session_id: string | null;
  /** Where it lies. */
  parts: {
    /** The recording. */
    stream_id: string;
    /** The source of its stream. */
    source_id: string;
    /** Where it begins, in ms of the stream's timeline. */
    start_ms: number;
    /** Where it is over. */
    end_ms: number;
  }[];
  /** When it began. */
  started_at: string;
  /** When it was over. */
  ended_at: string;
  /** What it was about; null where nobody knows. */
  title: string | null;
  /** What was said, in short; null where nobody knows. */
  summary: string | null;
  /** The sentences of `summary`, each with where it was said. */
  summary_sentences: {
    /** One sentence of it. */
    text: string;
    /** Where it was said. */
    evidence: Evidence[];
  }[];
  /** At most eight. */
  topics: string[];
  /** Whoever spoke most comes first. */
  participants: {
    /** Who it is, of the account's contacts; null where nobody knows, to others, and for whoever may not read turns. */
    contact_id: string | null;
    /** The contact's name; null for whoever may not read turns. */
    speaker_name: string | null;
    /** For how long it spoke, in ms. */
    talk_ms: number;
  }[];
  /** A BCP 47 tag; null where it is not known. */
  language: string | null;
  /** extractive: its texts are sentences that were said, shortened and joined; model: a language model wrote them; external: a worker. */
  made_by: 'extractive' | 'model' | 'external';
  created_at: string;
  /** When it last changed; retention counts from then. */
  updated_at: string;
};

export type Day = {
  /** The day. */
  date: string;
  /** By whose clocks it begins and ends. */
  time_zone: string;
  /** When it begins. */
  from: string;
  /** When the next one does. */
  until: string;
  /** What was recorded that day, in order, each with `title_suggested` and `first_line`. */
  recordings: Stream[];
  /** What was decided that day, in the order in which it was said. */
  decisions: Suggestion[];
  /** Tasks, follow-ups and reminders of that day, in the same order. */
  tasks_made: Suggestion[];
  /** What is due that day, whenever it was said and whatever became of it, the earliest first. */
  tasks_due: Suggestion[];
  /** What was due before that day and is still open or accepted, the earliest first. */
  tasks_overdue: Suggestion[];
  /** False where the day has more than is shown, or more was to be looked through for what is due. */
  complete: boolean;
};

export type DebugRun = {
  /** What events call it; null while nobody has it. */
  run_id: string | null;
  /** transcribe: audio becomes turns; insights: turns become conversations and what is in them. */
  kind: 'transcribe' | 'insights';
  /** Whose work it is. */
  pipeline_id: string;
  /** Where its part of the recording begins, in ms of the stream's timeline. */
  from_ms: number;
  /** Where that ends. */
  to_ms: number;
  /** claimed: a worker has it; failed: it is not tried any more. */
  status: 'waiting' | 'claimed' | 'published' | 'failed';
  /** How often a worker has had it. */
  tries: number;
  /** What did it, where that was said. */
  engine: string | null;
  /** Since when it waits, or had waited. */
  queued_at: string;
  /** When its result was published; null where there is none. */
  published_at: string | null;
  /** The code of why it failed; of a published one, why the built-in engine had to do it. */
  failure: string | null;
  /** How much of its result was left out, and why. */
  dropped: {
    /** No turn bears it; of a transcription: the engine itself doubted it. */
    unsupported: number;
    /** It was there already, or a person did not want it. */
    duplicate: number;
    /** A person had said otherwise. */
    protected: number;
    /** It had not the form that was asked for. */
    malformed: number;
    /** It was of a kind that the pipeline excludes. */
    unwanted: number;
    /** It named an address that nobody said. */
    address: number;
    /** It was more than there is room for. */
    too_many: number;
  };
};

export type Delivery = {
  /** The webhook-id of its requests. */
  id: string;
  /** leased: a request is under way. */
  status: 'pending' | 'leased' | 'succeeded' | 'failed' | 'cancelled';
  /** Null once the event is no longer kept. */
  event_id: string | null;
  event_type: EventType;
  /** How many requests were sent for it. */
  attempt_count: number;
  /** Null unless it waits for an attempt. */
  next_attempt_at: string | null;
  created_at: string;
};

export type Device = {
  id: string;
  /** personal: bound to one account; shared: records for whoever hosts a session on it. */
  kind: 'personal' | 'shared';
  /** Since when it records for the account. */
  bound_at: string;
  /** When it last sent a heartbeat or redeemed a claim, to the minute; null while it never has. */
  last_seen_at: string | null;
  /** The recorder session of a shared one; null for a personal one. */
  session_id: string | null;
};

export type DeviceStream = {
  id: string;
  /** The account that it was recorded for. */
  owner_user_id: string;
  /** The device's own name for it. */
  source_stream_ref: string;
  /** When its timeline begins. */
  captured_at: string;
  /** How far off the device's clock may have been, in ms. */
  clock_uncertainty_ms: number;
  /** Rises with every change of its transcript; 0 while there is none. */
  transcript_revision: number;
  created_at: string;
  /** The device itself. */
  source_device_id: string;
  /** What it was recorded under. */
  binding_epoch: string;
  /** Where its timeline ends, in ms from its beginning; absent until that is recorded. */
  end_ms?: number;
};

export type DueMailSettings = {
  /** Whether a mail comes on days on which something is due or overdue. */
  is_on: boolean;
  /** From which hour of the day on, by the profile's zone, or UTC. */
  hour: number;
};

export type Endpoint = {
  id: string;
  /** paused: what is outstanding waits. disabled: it is cancelled. */
  status: 'active' | 'paused' | 'disabled';
  /** The event types that it gets; all when empty. */
  topics: EventType[];
  /** Where events are posted to. */
  url: string;
  /** Deliveries in a row that failed; ten disable it. */
  failure_count: number;
  /** When a delivery last succeeded; null while none has. */
  last_success_at: string | null;
  /** Null unless failures have disabled it. */
  disabled_reason: string | null;
  created_at: string;
};

export type EndpointForStaff = {
  /** The endpoint. */
  endpoint_id: string;
  /** Whose it is. */
  account_id: string;
  /** Of its address, which itself may hold a secret. */
  host: string;
  /** Its status. */
  status: 'active' | 'paused' | 'disabled' | 'deleted';
  /** The event types that it gets; all when empty. */
  topics: string[];
  /** Its status, in a line of words. */
  headline: string;
  /** Why it gets what it gets, in words. */
  reasons: {
    /** What sort of reason it is. */
    name: string;
    /** Whether it gets nothing for it. */
    blocks: boolean;
    /** The same in words. */
    text: string;
  }[];
  /** Deliveries in a row that failed; ten disable it. */
  failure_count: number;
  /** When a delivery last succeeded; null while none has. */
  last_success_at: string | null;
  /** Its last ten, the newest first. */
  deliveries: {
    /** The webhook-id of its requests. */
    id: string;
    /** What it tells of. */
    event_type: string;
    /** As its owner sees it. */
    status: string;
    /** Null unless it waits for an attempt. */
    next_attempt_at: string | null;
    /** Every request that was sent for it. */
    attempts: {
      /** When the request was begun. */
      attempted_at: string | null;
      /** The HTTP status; null where no answer came. */
      status_code: number | null;
      /** What went wrong where no answer came, such as timeout, dns or tls. */
      error: string | null;
      /** Milliseconds until the status line, or until it was given up. */
      duration_ms: number | null;
    }[];
  }[];
  /** As this process has seen it. */
  seen: SeenEndpoint | null;
};

export type EndpointTest = {
  /** The webhook-id of the request. */
  webhook_id: string;
  /** Whether a delivery that is answered so counts as delivered. */
  is_accepted: boolean;
  /** The HTTP status of the answer; null where none came. */
  status_code: number | null;
  /** The text beside that status. */
  reason: string | null;
  /** What went wrong where no answer came, such as timeout, dns or tls; null where one came. */
  error: string | null;
  /** Milliseconds until the status line, or until it was given up. */
  duration_ms: number;
};

export type Event = {
  id: string;
  /** Of the form of events. */
  schema_version: 1;
  /** A decimal number. It is no cursor. */
  sequence: string;
  /** When it happened. */
  occurred_at: string;
  /** Whose event it is. */
  account_id: string;
  /** More types may come: pass over those that you do not know. */
  type: EventType;
  /** What it happened to. How that is now, its own route says. */
  resource: {
    /** What stands before the dot of the event type. */
    type: string;
    id: string;
  };
  /** What else is said of it; which members there are depends on the type. */
  data: {
    /** Which members of the resource are others now. */
    changed_fields?: string[];
    /** The source of a stream. */
    source_id?: string;
    /** Who joined or left a recorder session. */
    participant_id?: string;
    /** A personal access token's last characters. */
    last_four?: string;
    /** When what was made ends by itself; null: it does not. */
    expires_at?: string | null;
    /** Why a workspace is gone, or a token revoked. */
    reason?: string;
    /** Tells events of one run from others; no route takes it. */
    run_id?: string;
    /** What made a suggestion. */
    pipeline_id?: string;
    /** Which revision of it this made; of a memory context, which version. */
    revision?: number;
    /** A suggestion's, after this. */
    state_version?: number;
    /** What a workspace did not keep any longer. */
    buckets?: Partial<Record<'audio' | 'transcripts' | 'insights' | 'voice', {
      /** What is older is gone; null: everything is. */
      cutoff: string | null;
      /** How many records are gone. */
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
  | 'stream.deleted'
  | 'personal_access_token.created'
  | 'personal_access_token.revoked'
  | 'workspace.updated'
  | 'workspace.retention_applied'
  | 'workspace.deleted';

export type Evidence = {
  /** The recording. */
  stream_id: string;
  /** The source of its stream. */
  source_id: string;
  /** Where it begins, in ms of the stream's timeline. */
  start_ms: number;
  /** Where it is over. */
  end_ms: number;
  /** The turns that are there now; none for whoever may not read turns. */
  turn_ids: string[];
  /** What they say, shortened where it is long; null where nothing is left, and for whoever may not read turns. */
  quote: string | null;
  /** Who says the first of them; null where nobody knows, and for whoever may not read turns. */
  speaker_name: string | null;
  /** expired: the workspace does not keep what was said; deleted: people have deleted it. */
  state: 'available' | 'expired' | 'deleted';
};

export type Export = {
  id: string;
  /** ready: it can be saved. expired: it was, and is kept no longer. */
  status: 'pending' | 'running' | 'ready' | 'failed' | 'expired';
  /** Whether it holds audio. */
  audio: boolean;
  /** Whether it holds files. */
  files: boolean;
  created_at: string;
  /** While it runs. */
  progress?: {
    /** Read so far. */
    records: number;
    /** Written so far. */
    bytes: number;
  };
  /** How large it is; null until it is ready. */
  bytes: number | null;
  /** Of those bytes, in hexadecimal. */
  sha256: string | null;
  /** Until then it is kept; null until it is ready. */
  expires_at: string | null;
  /** Why there is none; null unless it failed. */
  failure: {
    /** Why, for programs, such as ACCOUNT_DELETED. */
    code: string;
    /** The same for people. */
    message: string;
  } | null;
};

export type Feedback = {
  /** Tells it from others of the suggestion; no route takes it. */
  id: string;
  /** What the person thinks of it. */
  rating: 'helpful' | 'not_helpful' | 'wrong';
  /** What the person wrote beside; null for nothing. */
  comment: string | null;
  created_at: string;
};

export type File = {
  id: string;
  /** As which it is saved. */
  name: string;
  /** Of which sort it is, as whoever sent it says; nobody has looked. */
  media_type: string;
  /** How many bytes it has. */
  size_bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
  /** stored: its bytes are on disk. awaiting_upload: they have a day to come, and count already. */
  status: 'awaiting_upload' | 'stored';
  created_at: string;
};

export type Gaps = {
  /** Start and end of what no chunk that was stored covers, in ms. */
  missing: [number, number][];
  /** There is more than fits into an answer. */
  truncated: boolean;
  /** Chunks that are announced and have not come. */
  awaiting_upload: number;
};

export type Grant = {
  id: string;
  /** The client that was allowed in. */
  client_id: string;
  name: string;
  /** As the client asked for them. */
  scopes: string[];
  /** What its tokens are for. */
  audience: 'api' | 'mcp';
  /** Where it was made, and works. */
  issuer: 'base' | 'legacy';
  created_at: string;
};

export type Import = {
  id: string;
  /** The caller's own name for it. */
  import_ref: string;
  /** uploading: pieces are still to come. processing: all have come. done: it is the recording stream_id. */
  status: 'uploading' | 'processing' | 'done' | 'failed';
  /** The name of the file. */
  name: string;
  /** How many bytes it has. */
  size_bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
  /** How many of the last bytes are a transcript of the audio before them; null for none. */
  transcript_bytes: number | null;
  /** When its recording began: as it was announced, or, once it is done, as it was found; null before. */
  captured_at: string | null;
  /** What says so. metadata: the file. file_name: its name. file_time: file_modified_at, less the length. announcement: when it was announced, less the length. Null until that is known. */
  captured_at_by: 'caller' | 'metadata' | 'file_name' | 'file_time' | 'announcement' | null;
  /** Where the recording comes from. */
  source_id: string;
  /** How many bytes have come: the next piece begins there. */
  received_bytes: number;
  /** How many bytes each piece but the last has. */
  piece_bytes: number;
  /** Where to PUT the pieces. */
  upload_path: string;
  /** The recording; null until it is done. */
  stream_id: string | null;
  /** Why there is no recording; null unless it failed. */
  error: {
    /** Why, for programs: CHECKSUM_MISMATCH, UNSUPPORTED_AUDIO, TOO_LONG, TRANSCRIPT_UNREADABLE, UPLOAD_EXPIRED, RECORDING_DELETED, CONTENT_MISSING, DECODING_FAILED, GIVEN_UP. */
    code: string;
    /** The same for people. */
    message: string;
  } | null;
  created_at: string;
};

export type InsightWork = {
  /** What is to be done. */
  job: string;
  /** What the worker is to do. */
  kind: 'insights';
  /** Goes with what the worker says of it. */
  claim: string;
  /** By which debugging tells what came of it. */
  run_id: string;
  /** Until then nobody else gets it. */
  lease_until: string;
  /** How often it was handed out. */
  tries: number;
  /** Whose conversation it is. */
  account_id: string;
  /** The recording in which it begins. */
  stream_id: string;
  /** What it is made by. */
  pipeline: {
    /** The pipeline. */
    id: string;
    /** The name of the engine that it wants. */
    engine: string;
  };
  /** The conversation. */
  conversation_id: string;
  /** When it began. */
  started_at: string;
  /** When it was over. */
  ended_at: string;
  /** As it is called now. */
  title: string | null;
  /** What people said, in order. */
  turns: {
    /** By which evidence names it. */
    turn: number;
    /** The recording. */
    stream_id: string;
    /** Where it begins, in ms of the stream's timeline. */
    start_ms: number;
    /** Where it is over. */
    end_ms: number;
    /** The label of who said it. */
    speaker: string | null;
    /** What was said: data, never instructions. */
    text: string;
    /** A BCP 47 tag, where it is known. */
    language: string | null;
  }[];
  /** Who speaks. */
  people: {
    /** The label that turns and results use. */
    speaker: string;
    /** As the account calls them. */
    name: string | null;
    /** Whether it is the account itself. */
    owns_the_account: boolean;
  }[];
  /** Of this conversation, from earlier. */
  suggestions: {
    /** By which a result names it. */
    ref: number;
    /** What it is. */
    kind: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
    /** What it says. */
    text: string;
    /** What became of it. */
    status: 'open' | 'accepted' | 'completed' | 'dismissed' | 'withdrawn';
    /** When it is due. */
    due_at: string | null;
    /** On which day, where no time was named. */
    due_date: string | null;
    /** The label of who is to do it. */
    owner: string | null;
    /** The label of who asked for it. */
    requester: string | null;
  }[];
  /** What is known already. */
  memories: {
    /** By which a result names it. */
    ref: number;
    /** What it is. */
    kind: 'fact' | 'preference' | 'relationship' | 'plan' | 'other';
    /** What it says. */
    text: string;
    /** Whether it came of this conversation: others can only be contradicted. */
    own: boolean;
  }[];
  /** Of the account. */
  profile: {
    /** What the account says of itself. */
    about: string | null;
    /** Which it speaks. */
    languages: string[];
    /** Words that it wants spelt so. */
    vocabulary: string[];
  };
  /** What it wants to be known. */
  context: string[];
  /** By which the account's days begin and end, such as Europe/Vienna; null where it named none, or the recording was made in another zone. */
  time_zone: string | null;
  /** To look for. */
  suggestion_kinds: ('task' | 'follow_up' | 'reminder' | 'question' | 'decision')[];
  /** To look for. */
  memory_kinds: ('fact' | 'preference' | 'relationship' | 'plan' | 'other')[];
  /** Of the pipeline: what its owner wants. */
  instructions: string;
};

export type Invitation = {
  id: string;
  /** The workspace that one is invited to. */
  workspace: {
    id: string;
    name: string;
  };
  /** The address that is invited. */
  email: string;
  /** What the invited person will be in it. */
  role: 'member' | 'admin';
  /** The account that invited. */
  invited_by: string;
  created_at: string;
};

export type ListedAccount = {
  id: string;
  email: string;
  /** leaving: its deletion waits for shared workspaces. deleted: it can be restored. */
  status: 'active' | 'leaving' | 'deleted' | 'erasing' | 'erased';
  created_at: string;
  /** Bound to it. */
  devices: number;
  /** Where it sends its events. */
  endpoints: number;
  /** That it belongs to. */
  shared_workspaces: number;
};

export type ListedStream = {
  id: string;
  /** When its timeline begins. */
  captured_at: string;
  created_at: string;
  /** Where its timeline ends; null while it is open. */
  end_ms: number | null;
  /** The device that uploads it; null for an app. */
  device_id: string | null;
  /** Chunks whose bytes have come. */
  stored_chunks: number;
  /** All of them together. */
  stored_bytes: number;
  /** Announced, and not uploaded. */
  awaited_chunks: number;
};

export type LiveEvent = {
  /** Turns that were published or changed. */
  event: 'turns';
  /** The revision of the transcript. */
  id: string;
  data: LiveTurns;
} | {
  /** Preliminary lines. */
  event: 'preview';
  data: LivePreview;
} | {
  /** Nothing follows. */
  event: 'end';
  /** The recording has ended, and nothing of it waits. */
  data: { [name: string]: unknown };
};

export type LivePreview = {
  /** What audio from here on says so far, in ms of the timeline. */
  from_ms: number;
  /** Preliminary lines. They take the place of all earlier ones. */
  lines: {
    /** When it begins, in ms on the stream's timeline. */
    start_ms: number;
    /** When it is over, in ms. */
    end_ms: number;
    /** What was heard; it may be something else a moment later. */
    text: string;
  }[];
};

export type LiveTurns = {
  /** Turns that begin here or later are replaced, in ms of the timeline. */
  from_ms: number;
  /** Those that begin here or later are not. */
  to_ms: number;
  /** All turns that begin between the two. */
  turns: Turn[];
};

export type MadeCalendarAddress = {
  /** The address. It is told only now. */
  url: string;
  /** When the address was made; null where there is none. */
  made_at: string | null;
  /** When it was read last, to the hour; null while it never was. */
  last_read_at: string | null;
};

export type MadeOmiAddress = {
  /** The address. It is told only now. */
  url: string;
  /** When the address was made; null where there is none. */
  made_at: string | null;
  /** When something came last, to the hour; null while nothing did. */
  last_used_at: string | null;
};

export type Member = {
  /** Whose membership it is. */
  account_id: string;
  email: string;
  name: string | null;
  /** What the member may do in the workspace. */
  role: 'member' | 'admin' | 'owner';
  /** When the account came to belong to it. */
  joined_at: string;
};

export type Memory = {
  id: string;
  /** Where it was recorded. */
  workspace_id: string;
  /** What made it. */
  pipeline_id: string;
  /** Rises with each change. */
  revision: number;
  /** What a person has set, and no pipeline changes. */
  protected_fields: string[];
  /** The recorder session that it was recorded in; null for none. */
  session_id: string | null;
  /** What is known. */
  text: string;
  /** Of which sort it is. */
  kind: 'fact' | 'preference' | 'relationship' | 'plan' | 'other';
  /** About whom it is; null for nobody known, and to others. */
  contact_id: string | null;
  /** superseded: another took its place. */
  state: 'active' | 'superseded';
  /** The memory that took its place. */
  superseded_by: string | null;
  /** Who made it. */
  origin: 'pipeline' | 'manual';
  /** Whether a person wrote or changed it, so that no pipeline does. */
  protected: boolean;
  /** Where it was said. */
  evidence: Evidence[];
  created_at: string;
  /** When it last changed; retention counts from then. */
  updated_at: string;
};

export type OauthClient = {
  /** What the client calls itself. */
  client_id: string;
  name: string;
  /** first: one of our own. */
  party: 'first' | 'third';
  /** Where it comes from: the file of our own clients, staff, or a registration. */
  origin: 'file' | 'staff' | 'registered';
  /** Where people may be sent back to. */
  redirect_uris: string[];
  /** What it may ask for. */
  scopes: string[];
  /** How it authenticates: none is a public client. */
  token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'client_secret_post';
  /** Whether it signs people in by itself, without a browser. */
  native: boolean;
  /** Whether staff have disabled it. */
  disabled: boolean;
  /** When they did; null unless it is disabled. */
  disabled_at: string | null;
  /** When it was made; null for one of the file. */
  registered_at: string | null;
  /** To the day. */
  last_used_at: string | null;
  /** Those that are good. */
  secrets: {
    /** When it ends; null for one that does not. */
    until: string | null;
  }[];
};

export type OauthError = {
  /** For programs (RFC 6749, 5.2). */
  error: string;
  /** For people who read logs; it may change. */
  error_description: string;
  /** With insufficient_authorization: goes into the next request. */
  auth_session?: string;
  /** With insufficient_authorization: seconds that are left. */
  expires_in?: number;
};

export type OauthTokens = {
  /** A JWT (RFC 9068) for the API or for /mcp. */
  access_token: string;
  /** How it is shown: `Authorization: Bearer …`. */
  token_type: 'Bearer';
  /** Seconds that the access token epochs. */
  expires_in: number;
  /** What gets the next tokens, once. */
  refresh_token: string;
  /** Names with spaces between them, as the client asked for them. */
  scope: string;
};

export type OmiAddress = {
  /** When the address was made; null where there is none. */
  made_at: string | null;
  /** When something came last, to the hour; null while nothing did. */
  last_used_at: string | null;
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
  /** What it may do, as far as the account still can. */
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
    | 'debug:write'
    | 'transcriptions:write')[];
  /** The value's last four characters. */
  last_four: string;
  created_at: string;
  /** Null for one that lives until it is revoked. */
  expires_at: string | null;
  /** To the minute; null while it was never used. */
  last_used_at: string | null;
};

export type Pipeline = {
  id: string;
  /** What people call it. */
  name: string;
  /** Whether it is the one that all recordings go through. */
  default: boolean;
  /** Whether it is archived; nothing runs through it. */
  archived: boolean;
  /** How speech becomes text. */
  transcription: {
    /** The name of one of the operator's engines. */
    engine: string;
    /** The BCP 47 tag of what is spoken; null: the engine finds out. */
    language: string | null;
    /** Whether speakers are told apart. */
    diarize: boolean;
    /** Whether a recording that ended is transcribed once more as a whole. */
    final_pass: boolean;
  };
  /** How conversations, suggestions and memories are made; null: none are. */
  insights: {
    /** The name of one of the operator's engines. */
    engine: string;
    /** Which suggestions and memories are made. */
    kinds: (
      | 'task'
      | 'follow_up'
      | 'reminder'
      | 'question'
      | 'decision'
      | 'fact'
      | 'preference'
      | 'relationship'
      | 'plan'
      | 'other')[];
    /** What the engine is told beside; empty for nothing. */
    instructions: string;
  } | null;
  /** Rises with each change. */
  revision: number;
  created_at: string;
  /** When it last changed. */
  updated_at: string;
};

export type Profile = {
  /** Rises with each change; 0 while nothing was saved. */
  revision: number;
  /** What the account says of its person; null for nothing. */
  about: string | null;
  /** The languages that are spoken, as BCP 47 tags. */
  languages: string[];
  /** Words that recordings hear and nobody else knows how to spell. */
  vocabulary: string[];
  /** The IANA name of the zone by which days begin and end, such as Europe/Vienna; null where none is set: then the clocks of recordings count. */
  time_zone: string | null;
  /** When this was saved; null while nothing was. */
  updated_at: string | null;
};

export type ProtectedResource = {
  /** What tokens for it name as their audience. */
  resource: string;
  /** Who issues them. */
  authorization_servers: string[];
  /** Where a request shows its token. */
  bearer_methods_supported: string[];
  /** What tokens for it may allow. */
  scopes_supported: string[];
  /** What people call it. */
  resource_name: string;
};

export type ProvisionedDevice = {
  /** The device. */
  device_id: string;
  /** personal: bound to one account; shared: records for whoever hosts a session on it. */
  kind: 'personal' | 'shared';
  /** revoked: none of its certificates is good any more. */
  state: 'bound' | 'unbound' | 'revoked';
  /** Whom it records for; null for one that is bound to nobody. */
  account_id: string | null;
  /** When it got its first certificate. */
  provisioned_at: string;
  /** When it last sent a heartbeat or redeemed a claim, to the minute; null while it never has. */
  last_seen_at: string | null;
  /** When the certificate in use ends; null where that is not known. */
  certificate_until: string | null;
};

export type RecallItem = {
  /** passage: what was said; suggestion: what was made of it; note: what a person noted on a recording. */
  kind: 'passage' | 'suggestion' | 'note';
  /** How well it fits; only scores of one query compare. */
  score: number;
  /** The recording; null where nothing is left that it rests on. */
  stream_id: string | null;
  /** Where it begins, in ms of the stream's timeline. */
  start_ms: number | null;
  /** Where it is over. */
  end_ms: number | null;
  /** When it was said or noted. */
  started_at: string;
  /** Null for a passage and a note. */
  suggestion: {
    id: string;
    /** Of which sort it is. */
    kind: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
    /** What is to be done, or known. */
    text: string;
    /** Its status. */
    status: 'open' | 'accepted' | 'completed' | 'dismissed' | 'withdrawn';
    /** When it is due; null for no time. */
    due_at: string | null;
  } | null;
  /** Null for anything but a note. */
  note: {
    /** Of the signal. */
    id: string;
    /** What was noted. */
    text: string;
  } | null;
  /** What was said there, and before and after it. */
  turns: Turn[];
  /** For each of `turns`, where words of the query stand in it: from and to, in UTF-16 units. */
  highlights: [number, number][][];
  /** Which words of the query it has, in some form. */
  matched: string[];
  /** words: it has words of the query. meaning: it means something like it. time: it was said then. */
  found_by: 'words' | 'meaning' | 'time';
};

export type RecallSettings = {
  /** Whether recall also finds what means the same in other words. Vectors of what was said are made for it. */
  by_meaning: boolean;
};

export type RecalledAnswer = {
  /** The answer, sentence by sentence. */
  sentences: {
    /** One sentence, as the model words it. */
    text: string;
    /** The turns that bear it. */
    citations: {
      /** The place of the item among `items`, from 0 on. */
      item: number;
      /** The turn in it. */
      turn_id: string;
    }[];
  }[];
};

export type RecorderSession = {
  /** The binding_epoch of its recorder. */
  id: string;
  /** waiting: for a recorder. draining: over, while its recorder uploads what is left. */
  status: 'waiting' | 'open' | 'draining' | 'ended';
  /** The account that hosts it: only this one may extend and end it. */
  host_account_id: string;
  /** Its recorder; null until one has redeemed the claim. */
  device_id: string | null;
  /** What its recordings belong to. */
  workspace_id: string;
  /** Where its streams come from; null until a recorder has redeemed the claim. */
  source_id: string | null;
  /** The host is none of them. */
  participants: {
    /** Who takes part. */
    account_id: string;
    /** Since when. */
    joined_at: string;
  }[];
  /** For the host alone, while somebody may join. */
  join_code?: string;
  created_at: string;
  /** When a recorder redeemed the claim; null until then. */
  started_at: string | null;
  /** When it ends by itself. */
  expires_at: string;
  /** When it ended; null until then. */
  ended_at: string | null;
  /** Who or what ended it; null until then. never_started: no recorder came in time. */
  end_reason: 'host' | 'recorder' | 'expired' | 'device_removed' | 'account_deleted' | 'never_started' | null;
};

export type Refused = {
  success: false;
  /** Why it was refused. */
  error: {
    /** For programs; what may come, each operation says. */
    code: string;
    /** For people who read logs; it may change. */
    message: string;
    /** What is wrong with the request. */
    details?: {
      /** The field, with dots between levels. */
      path: string;
      /** The rule. */
      message: string;
    }[];
    /** With ACCOUNT_DELETED: until then the account can be restored; null when it can not. */
    erase_at?: string | null;
    /** Of a refused certificate, or of too many requests of a device. */
    reason?: string;
  };
};

export type RefusedChunk = {
  /** The uploader's own name for it. */
  source_chunk_ref: string;
  /** Why it was refused. Nothing of it is stored. */
  error: ChunkRefusal;
};

export type Registration = {
  /** What the client calls itself from now on. */
  client_id: string;
  /** When that was, in Unix seconds. */
  client_id_issued_at: number;
  /** Of a confidential client; shown this once. */
  client_secret?: string;
  /** 0: it does not expire. */
  client_secret_expires_at?: 0;
  /** What people see. */
  client_name: string;
  /** Where people may be sent back to. */
  redirect_uris: string[];
  /** What it may get tokens with. */
  grant_types: string[];
  /** What it may ask an authorization for. */
  response_types: string[];
  /** none: a public client. */
  token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'client_secret_post';
  /** As asked for, or what its addresses say. */
  application_type: 'web' | 'native';
  /** What it gets without asking, where the request named any; names that it can not have are left out. */
  scope?: string;
};

export type RelatedRecording = {
  /** The recording. */
  stream_id: string;
  /** Its title, its own or suggested. */
  title: string | null;
  /** When it began. */
  captured_at: string;
  /** Where most of the shared words are, in ms of its timeline. */
  start_ms: number;
  /** Words that both have and few others, as this recording has them. */
  words: string[];
};

export type RenewedCertificate = {
  /** The new certificate. The first request with it ends the old one. */
  certificate_pem: string;
  /** What signs devices and the listener: issuing CA and root. */
  ca_pem: string;
  /** When it expires. */
  not_after: string;
  /** From here on the device should renew. */
  renew_after: string;
};

export type SearchHit = {
  /** What it is. */
  kind: 'turn' | 'suggestion' | 'note' | 'conversation' | 'memory';
  /** Of the turn, suggestion, signal, conversation or memory. */
  id: string;
  /** How well it fits; only scores of one query compare. */
  score: number;
  /** What was found. */
  snippet: {
    /** What stands around the best place, with … where it is cut. */
    text: string;
    /** Where the words stand in it: from and to, in UTF-16 units, as JavaScript counts. */
    highlights: [number, number][];
  };
  /** The recording; null for a memory that a person wrote. */
  stream_id: string | null;
  /** The source of its stream. */
  source_id: string | null;
  /** Where it begins, in ms of the stream's timeline. */
  start_ms: number | null;
  /** When it was said or noted, or made where nobody knows that. */
  started_at: string;
  /** Who said it, whose task it is, or about whom; null where nobody knows, and to others. */
  contact_id: string | null;
  /** That contact's name. */
  speaker_name: string | null;
};

export type SeenDevice = {
  /** The device. */
  device_id: string;
  /** personal or shared; null while none of its requests was let in. */
  kind: 'personal' | 'shared' | null;
  /** How many this process has seen. */
  uploads: number;
  /** Streams that it began and has not ended, 8 at most. */
  open_streams: string[];
  /** Announced, and not uploaded. */
  awaited_chunks: number;
  /** Seconds since it last uploaded anything, or since it should have begun. */
  silent_s: number;
  /** When this process first heard of it. */
  first_seen_at: string | null;
  /** When it last asked and was let in; null while it never was. */
  last_request_at: string | null;
  /** When it last uploaded; null while it has not. */
  last_upload_at: string | null;
  /** Since when it should be uploading; null while it need not. */
  recording_since: string | null;
  /** The last one; null while there was none. */
  last_refusal: {
    /** When. */
    at: string | null;
    /** Why: what is wrong with its certificate, or the refusal's code. */
    reason: string;
    /** Where. */
    route: string;
  } | null;
};

export type SeenEndpoint = {
  /** The endpoint. */
  endpoint_id: string;
  /** Whose it is; null while nothing was sent to it here. */
  account_id: string | null;
  /** Requests in a row that were not accepted. */
  failures: number;
  /** The last request; null while there was none. */
  last: {
    /** When. */
    at: string | null;
    /** What that means for the delivery. */
    verdict: string;
    /** The HTTP status; null where no answer came. */
    status_code: number | null;
    /** What went wrong where no answer came, such as timeout, dns or tls. */
    error: string | null;
  } | null;
  /** Null while it accepts what it is sent. */
  failing_since: string | null;
  /** When it last accepted something; null while it has not. */
  last_success_at: string | null;
  /** When too many failures disabled it; null otherwise. */
  disabled_at: string | null;
};

export type Session = {
  /** The bearer token of account routes. */
  access_token: string;
  /** What gets the session its next tokens. */
  refresh_token: string;
  /** How the access token is shown: `Authorization: Bearer …`. */
  token_type: 'bearer';
  /** Seconds that the access token lives from now on. */
  expires_in: number;
  /** When the access token ends, in Unix seconds. */
  expires_at: number;
  /** The account that is signed in. */
  user: {
    id: string;
    email: string;
  };
};

export type SessionEnd = {
  /** The session that is over. */
  session_id: string;
  /** When it ended. */
  ended_at: string;
  /** Who or what ended it; never_started: no recorder came in time. */
  end_reason: 'host' | 'recorder' | 'expired' | 'device_removed' | 'account_deleted' | 'never_started';
};

export type SessionSummary = {
  /** The recorder session. */
  session_id: string;
  /** pending: something is still to be made of its recordings; none: nothing was made of them. */
  state: 'none' | 'pending' | 'ready';
  /** When its recorder began; null while none has. */
  started_at: string | null;
  /** When it was over; null before that. */
  ended_at: string | null;
  /** For how long people spoke in its conversations, in ms. */
  talk_ms: number;
  /** Who spoke, and who spoke most first. */
  participants: {
    /** Who it is, of the account's contacts; null where nobody knows, to others, and for whoever may not read turns. */
    contact_id: string | null;
    /** The contact's name; null for whoever may not read turns. */
    speaker_name: string | null;
    /** For how long it spoke, in ms. */
    talk_ms: number;
  }[];
  /** The newest change first, as all of these lists. */
  conversations: Conversation[];
  /** What is known from it. */
  memories: Memory[];
  /** What is to be done after it. */
  suggestions: Suggestion[];
  /** When any of these last changed; null where there is none. */
  updated_at: string | null;
};

export type ShareLink = {
  id: string;
  /** The recording that it shows. */
  stream_id: string;
  /** The recording's title, its own or suggested. */
  title: string | null;
  /** What it shows beside the text. */
  shows: ('summary' | 'audio')[];
  /** Its address; null where the server key that it rests on is gone. */
  url: string | null;
  created_at: string;
  /** When it ends. */
  expires_at: string;
  /** How often its page was opened. */
  opened: number;
  /** Null while it never was. */
  last_opened_at: string | null;
};

export type Signal = {
  id: string;
  /** The name that the sender gave it, unique within the stream. */
  ref: string;
  /** What happened, as a dotted name. */
  type: string;
  /** When it began, in ms on the stream's timeline. */
  start_ms: number;
  /** When it was over, in ms; absent for what has no length. */
  end_ms?: number;
  /** As it was sent; null once it has expired. */
  payload: Record<string, unknown> | null;
  /** Whether the payload is still there. */
  payload_state: {
    /** expired: the workspace does not keep it any longer. */
    state: 'available' | 'expired';
    /** When it was removed; null while it is there. */
    removed_at: string | null;
  };
  created_at: string;
};

export type Source = {
  id: string;
  /** What people call it; null for no name. */
  name: string | null;
  /** The device that records into it; null where an app does. */
  device_id: string | null;
  created_at: string;
};

export type Spoken = {
  /** How many turns it said. */
  turns: number;
  /** For how long it spoke in all, in ms. */
  talk_ms: number;
  /** In how many recordings it is heard. */
  recordings: number;
  /** When its newest turn began; null for one that said nothing. */
  last_heard_at: string | null;
  /** Whether all was counted; false where only the newest recordings were. */
  is_complete: boolean;
};

export type StoredChunk = {
  /** The uploader's own name for it. */
  source_chunk_ref: string;
  /** What the chunk is called here. */
  chunk_id: string;
  /** From stored on its bytes are here, with failed too. expired: they never came, or, where stored_at says when they did, the workspace does not keep them any longer or their owner deleted them. */
  status: 'awaiting_upload' | 'stored' | 'processing' | 'processed' | 'failed' | 'expired';
  /** How many bytes it has. */
  size_bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
  /** Why its audio could not be processed; null unless that is so. */
  failure?: {
    /** Why, for programs, such as BAD_AUDIO. */
    code: string;
    /** The same for people. */
    message: string;
  } | null;
  /** What will never be possible with such audio, which is taken all the same; absent for nothing. */
  warnings?: string[];
};

export type Stream = {
  id: string;
  /** Where it comes from. */
  source_id: string;
  /** What it belongs to: whose members may read it. */
  workspace_id: string;
  title: string | null;
  /** When its timeline begins. */
  captured_at: string;
  /** How far off the recorder's clock may have been, in ms; null where an app recorded. */
  clock_uncertainty_ms: number | null;
  /** Rises with every change of its transcript; 0 while there is none. */
  transcript_revision: number;
  created_at: string;
  /** The device that recorded it; null where an app did. */
  source_device_id: string | null;
  /** Where its timeline ends, in ms from its beginning; absent until that is recorded. */
  end_ms?: number;
  /** Announced so far. */
  chunks: number;
  /** Of these, those whose bytes are here. */
  stored_chunks: number;
  /** Bytes of those. */
  stored_bytes: number;
  /** When the last of them came; null where that is not known. */
  last_stored_at: string | null;
  /** With `include=tags`: whether its owner has starred it; null to others than its owner. */
  starred?: boolean | null;
  /** Beside that: its owner's tags, as they were written; null to others than its owner. */
  tags?: string[] | null;
  /** With `include=title_suggested`: the title of its longest conversation; null for none, to others than its owner, and without turns:read and insights:read. */
  title_suggested?: string | null;
  /** Beside that: the first sentence of the summary of that conversation, or else of what was said. */
  first_line?: string | null;
  /** With `include=notes`: the texts of its first 50 signals of the type `note`, 200 characters of each; null without turns:read. */
  notes?: string[] | null;
  /** With `include=speakers`: who speaks in its first hour, in the order in which they begin, and who is named of the rest, 12 at most; null without turns:read. */
  speakers?: {
    /** Such as S1; null where speakers are not told apart. */
    speaker: string | null;
    /** Who it is; null where nobody knows, and to other members of the workspace. */
    contact_id: string | null;
    /** The contact's name. */
    name: string | null;
  }[] | null;
};

export type StreamSummary = {
  /** The recording. */
  stream_id: string;
  /** pending: something is still to be made of it; none: nothing was made of it. */
  state: 'none' | 'pending' | 'ready';
  /** Whether a person wrote the summary, which no run changes. */
  edited: boolean;
  /** What it was about; null where nobody knows. */
  title: string | null;
  /** What was said, in short; null where nobody knows. */
  summary: string | null;
  /** The sentences of `summary`, each with where it was said. */
  summary_sentences: {
    /** One sentence of it. */
    text: string;
    /** Where it was said. */
    evidence: Evidence[];
  }[];
  /** At most eight. */
  topics: string[];
  /** Who spoke, and who spoke most first. */
  participants: {
    /** Who it is, of the account's contacts; null where nobody knows, to others, and for whoever may not read turns. */
    contact_id: string | null;
    /** The contact's name; null for whoever may not read turns. */
    speaker_name: string | null;
    /** For how long it spoke, in ms. */
    talk_ms: number;
  }[];
  /** What was decided, in the order in which it was said. */
  decisions: Suggestion[];
  /** Tasks, follow-ups and reminders, in the same order. */
  tasks: Suggestion[];
  /** What was left open, in the same order. */
  questions: Suggestion[];
  /** The conversations that lie in it, in order. Title, summary and topics of all are those of the longest. */
  conversations: {
    /** The conversation, as `conversation_id` names it. */
    id: string;
    /** Where it begins, in ms of the stream's timeline. */
    start_ms: number;
    /** Where it is over there. */
    end_ms: number;
    /** Whether a person wrote the summary, which no run changes. */
    edited: boolean;
    /** What it was about; null where nobody knows. */
    title: string | null;
    /** What was said, in short; null where nobody knows. */
    summary: string | null;
    /** The sentences of `summary`, each with where it was said. */
    summary_sentences: {
      /** One sentence of it. */
      text: string;
      /** Where it was said. */
      evidence: Evidence[];
    }[];
    /** At most eight. */
    topics: string[];
    /** Who spoke, and who spoke most first. */
    participants: {
      /** Who it is, of the account's contacts; null where nobody knows, to others, and for whoever may not read turns. */
      contact_id: string | null;
      /** The contact's name; null for whoever may not read turns. */
      speaker_name: string | null;
      /** For how long it spoke, in ms. */
      talk_ms: number;
    }[];
  }[];
  /** Why nothing was made of it, or why the built-in engine did it in place of a model; null otherwise. */
  failure: {
    /** As in debug runs; INSIGHTS_OFF where nobody looks into recordings, ENGLISH_ONLY where the built-in engine looked for no suggestions. */
    code: string;
    /** A sentence for people. */
    message: string;
  } | null;
  /** When any of these last changed; null where there is none. */
  updated_at: string | null;
};

export type Suggestion = {
  id: string;
  /** Where it was recorded. */
  workspace_id: string;
  /** What made it. */
  pipeline_id: string;
  /** Rises with each change. */
  revision: number;
  /** What a person has set, and no pipeline changes. */
  protected_fields: string[];
  /** The recorder session that it was recorded in; null for none. */
  session_id: string | null;
  /** The conversation that it came of; null for one that was added by hand. */
  conversation_id: string | null;
  /** Of which sort it is. */
  kind: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
  /** What is to be done, or known; empty where people have deleted what was said. */
  text: string;
  /** withdrawn: a later run found nothing any more that bears it, or people have deleted that. */
  status: 'open' | 'accepted' | 'completed' | 'dismissed' | 'withdrawn';
  /** When it is due; null for no time. Where only a day was named: noon of it, as `due_date` says. */
  due_at: string | null;
  /** The day on which it is due, where no time of it was named, such as 2026-12-07; null otherwise. */
  due_date: string | null;
  /** Whose matter it is. */
  roles: {
    /** Who is to do it; null where nobody knows, and to others. */
    owner_contact_id: string | null;
    /** Who asked for it. */
    requester_contact_id: string | null;
  };
  /** What it is put together with; null for nothing. */
  group_id: string | null;
  /** What a person found when checking it; null where nobody has. */
  review: {
    /** Whether what was said bears it. */
    verdict: 'supported' | 'contradicted' | 'unclear';
    /** What the person wrote beside; null for nothing. */
    note: string | null;
    /** When. */
    at: string;
  } | null;
  /** How often people said so. */
  feedback: {
    /** It was of use. */
    helpful: number;
    /** It was of none. */
    not_helpful: number;
    /** It was not true. */
    wrong: number;
  };
  /** Where it was said. */
  evidence: Evidence[];
  /** Rises with every change that is seen; changes name it. */
  state_version: number;
  /** extractive: its texts are sentences that were said, shortened and joined; model: a language model wrote them; external: a worker. person: somebody added it by hand. */
  made_by: 'extractive' | 'model' | 'external' | 'person';
  created_at: string;
  /** When it last changed; retention counts from then. */
  updated_at: string;
};

export type ToldSpeakers = {
  /** The stream. */
  stream_id: string;
  /** How many speakers a person said that there are. */
  count: number;
  /** under_way: the turns get their speakers; done: they have them; undone: taken away again. */
  state: 'under_way' | 'done' | 'undone' | 'failed';
  /** Why it failed: FEWER_VOICES, UNSUPPORTED_AUDIO, AUDIO_GONE or ENGINE_ERROR; null otherwise. */
  code: string | null;
  /** The speakers that were told apart, such as S1 and S2. */
  speakers: string[];
};

export type Transcript = {
  /** The stream. */
  stream_id: string;
  /** Rises with every change; 0 while there is nothing. */
  revision: number;
  /** BCP 47 tags of what was said. */
  languages: string[];
  /** Who speaks, in the order in which they begin. */
  speakers: {
    /** Such as S1. */
    speaker: string;
    /** Who it is; null where nobody knows, and to other members of the workspace. */
    contact_id: string | null;
    /** The contact's name. */
    name: string | null;
    /** detected: heard as one speaker; recognized: by the voice; manual: as a person said. */
    attribution: 'none' | 'detected' | 'recognized' | 'manual';
    /** How many are of this speaker. */
    turns: number;
    /** How long the speaker talks in all. */
    talk_ms: number;
  }[];
  /** What was transcribed: from and to, in ms. */
  covered: [number, number][];
  /** Audio that is to be transcribed: from and to, in ms. */
  waiting: [number, number][];
  /** Audio that could not be transcribed, and why. */
  failed: {
    /** Where it begins, in ms of the timeline. */
    from_ms: number;
    /** Where it ends. */
    to_ms: number;
    /** Why, such as ENGINE_REFUSED. */
    code: string;
  }[];
  /** What the workspace does not keep any longer: from and to, in ms. */
  expired: [number, number][];
  /** What transcribes here: server, program, built_in or workers; null where nothing does. */
  engine: string | null;
  /** BCP 47 tags of the languages that the engine knows; null where it knows many or does not say. */
  engine_languages: string[] | null;
  /** Whether this server tells speakers apart by their number. */
  tells_speakers: boolean;
  /** Speakers told apart by their number; null where nobody asked. */
  told_speakers: ToldSpeakers | null;
};

export type TranscriptionWork = {
  /** What is to be done. */
  job: string;
  /** What the worker is to do. */
  kind: 'transcribe';
  /** Goes with what the worker says of it. */
  claim: string;
  /** By which events tell what came of it. */
  run_id: string;
  /** Until then nobody else gets it. */
  lease_until: string;
  /** How often it was handed out. */
  tries: number;
  /** Whose recording it is. */
  account_id: string;
  /** The recording. */
  stream_id: string;
  /** Where the window begins, in ms on the stream's timeline. */
  from_ms: number;
  /** Where it ends. */
  to_ms: number;
  /** Nothing follows: all of it must be consumed. */
  final: boolean;
  /** Stored chunks that reach into the window, in the order of the timeline. */
  audio: {
    /** The chunk. */
    chunk_id: string;
    /** Where the chunk begins on the timeline, maybe before the window. */
    start_ms: number;
    /** Where it ends, maybe behind the window. */
    end_ms: number;
    /** As its recorder said. */
    codec: string;
    /** As its recorder said. */
    container: string;
    /** Of raw samples. */
    sample_rate_hz?: number;
    /** Of raw samples. */
    channels?: number;
    /** How large it is. */
    size_bytes: number;
    /** Of its bytes, in hex. */
    sha256: string;
    /** Where to GET the audio. */
    content_path: string;
  }[];
  /** Where to GET all of them as one file while the claim holds; null where they can't be one. */
  joined_path: string | null;
  /** What it is transcribed by. */
  pipeline: {
    /** The pipeline. */
    id: string;
    /** The name of the engine that it wants. */
    engine: string;
    /** Whether it wants speakers told apart. */
    diarize: boolean;
  };
  /** A BCP 47 tag, where it is known. */
  language: string | null;
  /** Words that the account wants spelt so. */
  vocabulary: string[];
  /** What was said last before it. */
  previous_text: string | null;
  /** Who was heard in the recording, and voices that may be. */
  known_speakers: {
    /** A label that a result may use. */
    speaker: string;
    /** What it is known by; null for a label alone. */
    voice: {
      /** What matches names. */
      id: string;
      /** What made the embedding. */
      model: string;
      /** Base64. */
      embedding: string;
    } | null;
  }[];
};

export type TroubledEndpoint = {
  /** The endpoint. */
  endpoint_id: string;
  /** Whose it is. */
  account_id: string;
  /** Of its address, which itself may hold a secret. */
  host: string;
  /** Since when it is so. */
  since: string;
  /** Requests in a row that were not accepted, or deliveries where those are more. */
  failures: number;
  /** When the next request may be sent; null unless its circuit is open. */
  next_probe_at: string | null;
  /** When it last accepted something; null while it has not. */
  last_success_at: string | null;
  /** The last request; null where none was sent since `watched_since`. */
  last: {
    /** When. */
    at: string | null;
    /** What that means for the delivery. */
    verdict: string;
    /** The HTTP status; null where no answer came. */
    status_code: number | null;
    /** What went wrong where no answer came, such as timeout, dns or tls. */
    error: string | null;
  } | null;
};

export type Turn = {
  id: string;
  /** The recording that it was said in. */
  stream_id: string;
  /** The source of its stream. */
  source_id: string;
  /** Where it was recorded. */
  workspace_id: string;
  /** When it begins, in ms on the stream's timeline. */
  start_ms: number;
  /** When it is over, in ms. */
  end_ms: number;
  /** The same as a time. */
  started_at: string;
  /** The end as a time. */
  ended_at: string;
  /** What was said: as it was heard, or as a person corrected it. */
  text: string;
  /** What was heard, where a person corrected the text. */
  heard_text?: string;
  /** A BCP 47 tag; null where it is not known. */
  language: string | null;
  /** Which of the stream's speakers said it, such as S1; null for nobody. */
  speaker: string | null;
  /** Who that is, of the account's contacts; null where nobody knows, and to other members of the workspace. */
  contact_id: string | null;
  /** The contact's name. */
  speaker_name: string | null;
  /** detected: a speaker was told apart; recognized: by the voice; manual: a person said so. */
  attribution: 'none' | 'detected' | 'recognized' | 'manual';
  /** How sure the engine was, 0 to 1; null where it did not say. */
  confidence: number | null;
  /** Whether its audio is still there. */
  audio: 'available' | 'expired' | 'none';
  /** What made it. */
  pipeline_id: string;
  /** When it was transcribed; retention counts from then. */
  published_at: string;
  /** Each word with its time, where that was asked for and is known. */
  words?: {
    /** The word, as it was heard. */
    text: string;
    /** When it begins, in ms of the timeline. */
    start_ms: number;
    /** When it is over. */
    end_ms: number;
    /** How sure the engine was, 0 to 1; null where it did not say. */
    confidence: number | null;
  }[];
};

export type Upload = {
  /** The chunk that was uploaded. */
  chunk_id: string;
  /** The uploader's own name for it. */
  source_chunk_ref: string;
  /** stored: its bytes are on disk. expired: they were, and are not kept any longer. */
  status: 'awaiting_upload' | 'stored' | 'expired';
  /** How many bytes came. */
  size_bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
};

export type UploadIntent = {
  /** As it was sent. */
  source_chunk_ref: string;
  /** What the chunk is called here. */
  chunk_id: string;
  /** Where to PUT the bytes. */
  upload_path: string;
  /** What will never be possible with such audio, which is taken all the same; absent for nothing. */
  warnings?: string[];
};

export type Work = {
  /** What is to be processed. */
  chunk_id: string;
  /** Goes with what the worker says of the chunk. */
  claim: string;
  /** Until then nobody else gets it. */
  lease_until: string;
  /** How often it was handed out. */
  tries: number;
  /** The stream that it is a piece of. */
  stream_id: string;
  /** Whose recording it is. */
  account_id: string;
  /** Its number in the stream. */
  sequence: number;
  /** Where it begins on the stream's timeline, in ms. */
  source_start_ms: number;
  /** From where on it holds what no earlier chunk does, in ms. */
  publication_start_ms: number;
  /** Where it ends, in ms. */
  source_end_ms: number;
  /** How the audio is coded, such as opus. */
  codec: string;
  /** What holds the coded audio, such as ogg. */
  container: string;
  /** How many samples a second raw PCM has; null where that was not said. */
  sample_rate_hz: number | null;
  /** How many channels raw PCM has; null where that was not said. */
  channels: number | null;
  /** How many bytes it has. */
  size_bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
  /** Where to GET the audio. */
  content_path: string;
};

export type Workspace = {
  id: string;
  name: string;
  /** Whether it is the one that every account has for itself. */
  private: boolean;
  /** The calling account's role. */
  role: 'member' | 'admin' | 'owner';
  created_at: string;
  /** How long its content is kept. */
  retention: {
    /** Chunks of audio. */
    audio: {
      /** How many days they are kept. Null: for ever. 0: not at all. */
      days: number | null;
    };
    /** Turns and signals. */
    transcripts: {
      /** How many days they are kept. Null: for ever. 0: not at all. */
      days: number | null;
    };
    /** Memories, conversations and suggestions. */
    insights: {
      /** How many days they are kept. Null: for ever. 0: not at all. */
      days: number | null;
    };
    /** Recognized voices. */
    voice: {
      /** How many days they are kept. Null: for ever. 0: not at all. */
      days: number | null;
    };
  };
  /** Who belongs to it, its owner among them. */
  member_count: number;
};

export type PublicApi = {
  /** Sends a six-digit code to an email address. */
  'POST /auth/otp': {
    body: {
      email: string;
      /** Where a CAPTCHA is configured: the token that its widget gave. */
      captcha_token?: string;
    };
    answer: {
      /** Always true: what became of the mail is not reported. */
      sent: true;
      /** Seconds for which the code counts. */
      expires_in: number;
    };
  };
  /** Signs in with an emailed code. */
  'POST /auth/verify-otp': {
    body: {
      email: string;
      /** The code of the mail, six digits. */
      token: string;
    };
    answer: Session;
  };
  /** Gives a session new tokens. */
  'POST /auth/refresh': {
    body: {
      /** The last one that the session was given. */
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
      /** What the person is called; null for no name. */
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
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** True: everything, not the calling app alone. */
      everywhere?: boolean;
    };
    answer: undefined;
  };
  /** Makes a personal access token. */
  'POST /me/tokens': {
    body: {
      name: string;
      /** What it may do; nothing that the caller lacks. */
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
        | 'debug:write'
        | 'transcriptions:write')[];
      /** When it ends; null: not until it is revoked. */
      expires_at?: string | null;
    };
    answer: {
      token: PersonalAccessToken;
      /** The token itself, shown this once. */
      value: string;
    };
  };
  /** The personal access tokens that have not ended, newest first. */
  'GET /me/tokens': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: PersonalAccessToken[];
      /** What to pass as cursor for the next page; null on the last one. */
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
        /** Whether it is the one that every account has for itself. */
        private: boolean;
        /** The calling account's role. */
        role: 'member' | 'admin' | 'owner';
        created_at: string;
      }[];
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** How long its content is kept; what is not named stays as it is. */
      retention?: {
        /** Chunks of audio. */
        audio?: {
          /** How many days they are kept. Null: for ever. 0: not at all. */
          days: number | null;
        };
        /** Turns and signals. */
        transcripts?: {
          /** How many days they are kept. Null: for ever. 0: not at all. */
          days: number | null;
        };
        /** Memories, conversations and suggestions. */
        insights?: {
          /** How many days they are kept. Null: for ever. 0: not at all. */
          days: number | null;
        };
        /** Recognized voices. */
        voice?: {
          /** How many days they are kept. Null: for ever. 0: not at all. */
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
      /** The member who becomes the owner. */
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
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Gives a member another role. */
  'PATCH /workspaces/{id}/members/{account_id}': {
    path: { id: string; account_id: string };
    body: {
      /** What the person may do in it. */
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
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Invites an email address to a shared workspace. */
  'POST /workspaces/{id}/invitations': {
    path: { id: string };
    body: {
      /** Whom to invite, with or without an account. */
      email: string;
      /** What the person may do in it. */
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
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Registers a webhook endpoint. */
  'POST /endpoints': {
    body: {
      /** Where events are posted to. */
      url: string;
      /** Which events are delivered; none named: all of them. */
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
        | 'stream.deleted'
        | 'personal_access_token.created'
        | 'personal_access_token.revoked'
        | 'workspace.updated'
        | 'workspace.retention_applied'
        | 'workspace.deleted')[];
    };
    answer: {
      endpoint: Endpoint;
      /** What deliveries are signed with; shown this once. */
      signing_secret: string;
    };
  };
  /** The webhook endpoints, newest first. */
  'GET /endpoints': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Endpoint[];
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** paused: what is outstanding waits. disabled: it is cancelled. */
      status: 'active' | 'paused' | 'disabled';
    };
    answer: Endpoint;
  };
  /** Removes an endpoint with its secret and its deliveries. */
  'DELETE /endpoints/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Sends a signed test delivery to an endpoint, and says how it was answered. */
  'POST /endpoints/{id}/test': {
    path: { id: string };
    answer: EndpointTest;
  };
  /** What was sent to an endpoint, or will be, newest first. */
  'GET /endpoints/{id}/deliveries': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Delivery[];
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** The claim of an owner: there is no other here. */
      kind: 'owner';
    };
    answer: {
      /** What the app hands to the device, which redeems it; shown this once. */
      claim: string;
      /** As asked for. */
      kind: 'owner';
      /** Until then it can be redeemed. */
      expires_at: string;
      /** The pairing code, to type where nothing can be scanned: it stands for the claim. Shown this once. */
      code: string;
      /** When the pairing code ends, ten minutes from now. */
      code_expires_at: string;
    };
  };
  /** The devices of the account, those bound last first. */
  'GET /devices': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Device[];
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** When it ends by itself, at most 24 hours ahead. */
      expires_at: string;
      /** What its recordings belong to; the private workspace when absent. */
      workspace_id?: string;
    };
    answer: {
      session: RecorderSession;
      /** What a shared recorder redeems, once and within ten minutes; shown this once. */
      claim: string;
      /** The pairing code, to type where nothing can be scanned: it stands for the claim. Shown this once. */
      code: string;
      /** When the pairing code ends, ten minutes from now. */
      code_expires_at: string;
    };
  };
  /** The recorder sessions that the account hosts or takes part in, newest first. */
  'GET /device-sessions': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: RecorderSession[];
      /** What to pass as cursor for the next page; null on the last one. */
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
      /** What the host was shown; letter case and dashes do not matter. */
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
      /** When it ends by itself, at most 24 hours ahead. */
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
      /** What to pass as cursor for the next page; null on the last one. */
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
  /** Streams of the account, of one source, person or workspace, newest first. */
  'GET /audio/streams': {
    query?: { limit?: number | undefined; cursor?: string | undefined; source_id?: string | undefined; workspace_id?: string | undefined; contact_id?: string | undefined; from?: string | undefined; to?: string | undefined; tag?: string | undefined; starred?: 'true' | undefined; include?: string | undefined };
    answer: {
      items: Stream[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Registers a stream. */
  'POST /audio/streams': {
    body: {
      /** Where it comes from: a source of the account. */
      source_id: string;
      /** When its timeline begins. Its offset says the local time there: what is due “tomorrow at five” is due by that. */
      captured_at: string;
      title?: string | null;
      /** What it belongs to: a workspace of the account, whose members may then read it; the private one where absent. */
      workspace_id?: string;
    };
    answer: Stream;
  };
  /** A stream. */
  'GET /audio/streams/{id}': {
    path: { id: string };
    query?: { include?: string | undefined };
    answer: Stream;
  };
  /** Changes the title, the star and the tags of a stream, or moves it to another workspace. */
  'PATCH /audio/streams/{id}': {
    path: { id: string };
    query?: { include?: string | undefined };
    body: {
      title?: string | null;
      /** Whether it has a star. */
      starred?: boolean;
      /** Its tags; of those that differ in case alone the first stays. */
      tags?: string[];
      /** The workspace of the account that it belongs to from now on. */
      workspace_id?: string;
    };
    answer: Stream;
  };
  /** Deletes a recording. */
  'DELETE /audio/streams/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Deletes a part of a recording. */
  'POST /audio/streams/{id}/deletions': {
    path: { id: string };
    body: {
      /** Where it begins, in ms on the stream's timeline. */
      from_ms: number;
      /** Where it ends. What lies behind the end of the stream is cut off. */
      to_ms: number;
      /** true: the answer says which part would go, and nothing is deleted. */
      preview?: boolean;
    };
    answer: {
      /** Where the part that goes begins. */
      from_ms: number;
      /** Where it ends. */
      to_ms: number;
    };
  };
  /** Says where a stream ends. */
  'POST /audio/streams/{id}/end': {
    path: { id: string };
    body: {
      /** Where its timeline ends, in ms from its beginning. */
      end_ms: number;
      /** It ends after so many seconds, unless a chunk that ends behind end_ms is announced by then. */
      unless_continued_s?: number;
    };
    answer: Stream;
  };
  /** Announces a chunk of a stream. */
  'POST /audio/streams/{id}/chunks/intents': {
    path: { id: string };
    body: {
      /** The uploader's own name for it, unique within the stream. */
      source_chunk_ref: string;
      /** Its number in the stream. */
      sequence: number;
      /** Where it begins on the stream's timeline, in ms. */
      source_start_ms: number;
      /** From where on it holds what no earlier chunk does, in ms; it may lie outside the chunk. */
      publication_start_ms: number;
      /** Where it ends, in ms. */
      source_end_ms: number;
      /** How the audio is coded, such as opus or pcm_s16le. */
      codec: string;
      /** What holds the coded audio, such as ogg or wav; raw for samples without a header. */
      container: string;
      /** How many samples a second raw PCM has; only with it can such chunks be joined and played. */
      sample_rate_hz?: number;
      /** How many channels raw PCM has, interleaved; needed like sample_rate_hz. */
      channels?: number;
      /** How many bytes will be uploaded. */
      size_bytes: number;
      /** Of those bytes, in hexadecimal. */
      sha256: string;
    };
    answer: UploadIntent;
  };
  /** Announces chunks of a stream and stores their bytes. */
  'POST /audio/chunks': {
    body: {
      /** The chunks with their bytes. */
      chunks: {
        /** The uploader's own name for it, unique within the stream. */
        source_chunk_ref: string;
        /** Its number in the stream. */
        sequence: number;
        /** Where it begins on the stream's timeline, in ms. */
        source_start_ms: number;
        /** From where on it holds what no earlier chunk does, in ms; it may lie outside the chunk. */
        publication_start_ms: number;
        /** Where it ends, in ms. */
        source_end_ms: number;
        /** How the audio is coded, such as opus or pcm_s16le. */
        codec: string;
        /** What holds the coded audio, such as ogg or wav; raw for samples without a header. */
        container: string;
        /** How many samples a second raw PCM has; only with it can such chunks be joined and played. */
        sample_rate_hz?: number;
        /** How many channels raw PCM has, interleaved; needed like sample_rate_hz. */
        channels?: number;
        /** Of its bytes, in hexadecimal; they are held against it where it is there. */
        sha256?: string;
        /** The bytes: a byte string in CBOR, base64 in JSON. */
        bytes: string;
      }[];
      /** Where the timeline of the stream ends, in ms from its beginning, where that is known now. */
      end_ms?: number;
      /** The stream that they are pieces of. */
      stream_id: string;
    };
    answer: ChunkArrivals;
  };
  /** The chunks of a stream, by their start. */
  'GET /audio/streams/{id}/chunks': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Chunk[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Makes a link by which anybody who has it reads the recording. */
  'POST /audio/streams/{id}/links': {
    path: { id: string };
    body: {
      /** What it shows beside the text. */
      shows?: ('summary' | 'audio')[];
      /** How long it lasts, in days. */
      days?: number;
    };
    answer: ShareLink;
  };
  /** The links to recordings that have not ended, newest first. */
  'GET /me/links': {
    query?: { limit?: number | undefined; cursor?: string | undefined; stream_id?: string | undefined };
    answer: {
      items: ShareLink[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Ends a link to a recording. */
  'DELETE /me/links/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Whether there is a calendar address, and when it was made and read. */
  'GET /me/calendar': {
    answer: CalendarAddress;
  };
  /** Makes the address by which a calendar program reads what is due. */
  'POST /me/calendar': {
    answer: MadeCalendarAddress;
  };
  /** Ends the calendar address. */
  'DELETE /me/calendar': {
    answer: undefined;
  };
  /** Whether a daily mail says what is due. */
  'GET /me/due-mail': {
    answer: DueMailSettings;
  };
  /** Switches the daily mail of what is due, or moves it to another hour. */
  'PATCH /me/due-mail': {
    body: {
      /** Whether the mail comes. */
      is_on?: boolean;
      /** From which hour of the day on, by the profile's zone. */
      hour?: number;
    };
    answer: DueMailSettings;
  };
  /** Announces an audio file, or a transcript, that becomes a recording. */
  'POST /audio/imports': {
    body: {
      /** The caller's own name for it, such as the file's SHA-256. */
      import_ref: string;
      /** The name of the file; the recording is called by it. */
      name: string;
      /** How many bytes it has. */
      size_bytes: number;
      /** Of those bytes, in hexadecimal. */
      sha256: string;
      /** How many of the last bytes are a transcript of the audio before them. It becomes the text; no engine is asked. */
      transcript_bytes?: number;
      /** When the recording began; where absent, the file tells it, or it is counted back from its end. */
      captured_at?: string;
      /** When the file was last written, which counts as the end of the recording where neither the file nor its name says when it began. Its offset says the local time there. */
      file_modified_at?: string;
      /** Where it comes from: a source of the account; where absent, one that is called “Imported files”. */
      source_id?: string;
      /** What it belongs to: a workspace of the account, whose members may then read it; the private one where absent. */
      workspace_id?: string;
    };
    answer: Import;
  };
  /** The account's imports, newest first. */
  'GET /audio/imports': {
    query?: { limit?: number | undefined; cursor?: string | undefined; status?: 'open' | undefined };
    answer: {
      items: Import[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** An import. */
  'GET /audio/imports/{id}': {
    path: { id: string };
    answer: Import;
  };
  /** Gives up an import that is no recording yet, or forgets one that has ended. */
  'DELETE /audio/imports/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Whether there is an address for omi, and when it was made and used. */
  'GET /me/omi': {
    answer: OmiAddress;
  };
  /** Makes the address to which omi sends conversations and audio. */
  'POST /me/omi': {
    answer: MadeOmiAddress;
  };
  /** Ends the address for omi. */
  'DELETE /me/omi': {
    answer: undefined;
  };
  /** Attaches signals to a stream's timeline. */
  'POST /audio/streams/{id}/signals': {
    path: { id: string };
    body: {
      /** Stored as a whole or not at all. */
      signals: {
        /** A name of your own, unique within the stream: the same again changes nothing. */
        ref: string;
        /** What happened, as a dotted name. */
        type: string;
        /** When it began, in ms on the stream's timeline. */
        start_ms: number;
        /** When it was over, in ms; left out for what has no length. */
        end_ms?: number;
        /** Comes back letter for letter; at most 8192 bytes of JSON, without space and needless escapes. */
        payload?: Record<string, unknown>;
      }[];
    };
    answer: {
      items: Signal[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Signals on a stream's timeline, by their start. */
  'GET /audio/streams/{id}/signals': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined; type?: string | undefined; from_ms?: number | undefined; to_ms?: number | undefined };
    answer: {
      items: Signal[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** What was said: in one stream in its order, or in many with the newest first. */
  'GET /turns': {
    query?: { limit?: number | undefined; cursor?: string | undefined; stream_id?: string | undefined; source_id?: string | undefined; workspace_id?: string | undefined; contact_id?: string | undefined; pipeline_id?: string | undefined; from?: string | undefined; to?: string | undefined; from_ms?: number | undefined; to_ms?: number | undefined };
    answer: {
      items: Turn[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Tells the speakers of a recording apart, by their number. */
  'POST /turns/speakers': {
    body: {
      /** The recording. */
      stream_id: string;
      /** How many people speak: 2 or 3. */
      count: number;
    };
    answer: ToldSpeakers;
  };
  /** Takes the speakers away that were told apart by their number. */
  'POST /turns/speakers/undo': {
    body: {
      /** The recording. */
      stream_id: string;
    };
    answer: ToldSpeakers;
  };
  /** A turn. */
  'GET /turns/{id}': {
    path: { id: string };
    query?: { include?: 'words' | undefined };
    answer: Turn;
  };
  /** Corrects who said a turn, or what. */
  'PATCH /turns/{id}': {
    path: { id: string };
    body: {
      /** A contact; null for nobody. */
      contact_id?: string | null;
      /** Another speaker of the stream, such as S2; not with contact_id. */
      speaker?: string;
      /** What was said, in one line or several; null for what was heard. */
      text?: string | null;
    };
    answer: Turn;
  };
  /** Deletes a turn. */
  'DELETE /turns/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Makes two turns of one. */
  'POST /turns/{id}/split': {
    path: { id: string };
    body: {
      /** The second turn begins with the first word from here on, in ms on the stream's timeline. */
      at_ms: number;
    };
    answer: {
      items: Turn[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** How far the transcript of a stream has come, and who speaks in it. */
  'GET /audio/streams/{id}/transcript': {
    path: { id: string };
    query?: { pipeline_id?: string | undefined };
    answer: Transcript;
  };
  /** Says who a speaker is. */
  'PATCH /audio/streams/{id}/speakers/{speaker}': {
    path: { id: string; speaker: string };
    body: {
      /** A contact; null for nobody known. */
      contact_id?: string | null;
    };
    answer: Transcript;
  };
  /** Says that a speaker is the same as another. */
  'POST /audio/streams/{id}/speakers/{speaker}/merge': {
    path: { id: string; speaker: string };
    body: {
      /** The speaker whose turns they are from now on, such as S1. */
      into: string;
    };
    answer: Transcript;
  };
  /** An account's contacts, newest first. */
  'GET /contacts': {
    query?: { limit?: number | undefined; cursor?: string | undefined; q?: string | undefined };
    answer: {
      items: Contact[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Makes a contact. */
  'POST /contacts': {
    body: {
      name: string;
      /** Whether it is the account's own person; another stops being it. */
      is_self?: boolean;
    };
    answer: Contact;
  };
  /** A contact. */
  'GET /contacts/{id}': {
    path: { id: string };
    answer: Contact;
  };
  /** Renames a contact, or says whether it is the account's own person. */
  'PATCH /contacts/{id}': {
    path: { id: string };
    body: {
      name?: string;
      /** Whether it is the account's own person; another stops being it. */
      is_self?: boolean;
    };
    answer: Contact;
  };
  /** Deletes a contact, and all that was merged into it. */
  'DELETE /contacts/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** How much a contact said, and when it was heard last. */
  'GET /contacts/{id}/spoken': {
    path: { id: string };
    answer: Spoken;
  };
  /** Makes a contact a part of another. */
  'POST /contacts/{id}/merge': {
    path: { id: string };
    body: {
      /** The contact that stays. */
      into: string;
    };
    answer: Contact;
  };
  /** Forgets a contact's voice. */
  'DELETE /contacts/{id}/voice': {
    path: { id: string };
    answer: undefined;
  };
  /** Conversations, the newest change first. */
  'GET /conversations': {
    query?: { limit?: number | undefined; cursor?: string | undefined; workspace_id?: string | undefined; source_id?: string | undefined; session_id?: string | undefined; from?: string | undefined; to?: string | undefined; pipeline_id?: string | undefined };
    answer: {
      items: Conversation[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** A conversation. */
  'GET /conversations/{id}': {
    path: { id: string };
    answer: Conversation;
  };
  /** Gives a conversation another title. */
  'PATCH /conversations/{id}': {
    path: { id: string };
    body: {
      /** What it was about. */
      title: string;
    };
    answer: Conversation;
  };
  /** Deletes a conversation. */
  'DELETE /conversations/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** What a conversation was before it changed, the newest first. */
  'GET /conversations/{id}/revisions': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: {
        /** Which one it is. */
        revision: number;
        /** When the next revision took its place. */
        replaced_at: string;
        /** Who made that. */
        replaced_by: 'pipeline' | 'person';
        /** What the next one has changed. */
        changed_fields: string[];
        /** All of it as it was. */
        item: Conversation;
      }[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Memories, the newest change first. */
  'GET /memories': {
    query?: { limit?: number | undefined; cursor?: string | undefined; kind?: 'fact' | 'preference' | 'relationship' | 'plan' | 'other' | undefined; contact_id?: string | undefined; state?: 'active' | 'superseded' | undefined; workspace_id?: string | undefined; pipeline_id?: string | undefined };
    answer: {
      items: Memory[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Makes a memory, in the private workspace. */
  'POST /memories': {
    body: {
      /** What is known. */
      text: string;
      /** Of which sort it is. */
      kind: 'fact' | 'preference' | 'relationship' | 'plan' | 'other';
    };
    answer: Memory;
  };
  /** A memory. */
  'GET /memories/{id}': {
    path: { id: string };
    answer: Memory;
  };
  /** Says it in other words, or of another sort. */
  'PATCH /memories/{id}': {
    path: { id: string };
    body: {
      /** What is known. */
      text?: string;
      /** Of which sort it is. */
      kind?: 'fact' | 'preference' | 'relationship' | 'plan' | 'other';
    };
    answer: Memory;
  };
  /** Deletes a memory. */
  'DELETE /memories/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** What a memory was before it changed, the newest first. */
  'GET /memories/{id}/revisions': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: {
        /** Which one it is. */
        revision: number;
        /** When the next revision took its place. */
        replaced_at: string;
        /** Who made that. */
        replaced_by: 'pipeline' | 'person';
        /** What the next one has changed. */
        changed_fields: string[];
        /** All of it as it was. */
        item: Memory;
      }[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Suggestions, the newest change first. */
  'GET /suggestions': {
    query?: { limit?: number | undefined; cursor?: string | undefined; status?: 'open' | 'accepted' | 'completed' | 'dismissed' | 'withdrawn' | undefined; group_id?: string | undefined; workspace_id?: string | undefined; session_id?: string | undefined; contact_id?: string | undefined; owner?: string | undefined; kind?: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision' | undefined; stream_id?: string | undefined; due_before?: string | undefined; said_from?: string | undefined; said_to?: string | undefined; pipeline_id?: string | undefined };
    answer: {
      items: Suggestion[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Adds a suggestion by hand. */
  'POST /suggestions': {
    body: {
      /** Your own name for it, so that a request that is sent again adds nothing. */
      ref?: string;
      /** What is to be done, or known. */
      text: string;
      /** Of which sort it is. */
      kind?: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
      /** When it is due; null for no time. */
      due_at?: string | null;
      /** On which day it is due, at no time of it; null for none. `due_at` is its noon then, by the profile's zone or the clocks where it was said. */
      due_date?: string | null;
      /** Whose matter it is. */
      roles?: {
        /** Who is to do it; null for nobody. */
        owner_contact_id?: string | null;
        /** Who asked for it; null for nobody. */
        requester_contact_id?: string | null;
      };
      /** The recording of yours that it rests on. */
      stream_id?: string;
      /** Where on the recording's timeline, in ms; its beginning where absent. */
      at_ms?: number;
    };
    answer: Suggestion;
  };
  /** Puts suggestions together. */
  'POST /suggestions/group': {
    body: {
      /** Which ones. */
      suggestion_ids: string[];
      /** The group that they join; a new one when absent. */
      group_id?: string;
    };
    answer: {
      /** Their group. */
      group_id: string;
      items: Suggestion[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Takes suggestions out of their groups. */
  'POST /suggestions/separate': {
    body: {
      /** Which ones; all of one workspace. */
      suggestion_ids: string[];
    };
    answer: {
      items: Suggestion[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** A suggestion. */
  'GET /suggestions/{id}': {
    path: { id: string };
    answer: Suggestion;
  };
  /** Changes a suggestion. */
  'PATCH /suggestions/{id}': {
    path: { id: string };
    body: {
      /** The one that was read; where there is another, 409 names that. */
      state_version: number;
      /** What is to be done, or known. */
      text?: string;
      /** Of which sort it is. */
      kind?: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
      /** When it is due; null for no time. No `due_date` is left. */
      due_at?: string | null;
      /** On which day it is due, at no time of it; null for none. `due_at` is its noon then, by the profile's zone or the clocks where it was said. */
      due_date?: string | null;
      /** What is absent stays as it is. */
      roles?: {
        /** Who is to do it; null for nobody. */
        owner_contact_id?: string | null;
        /** Who asked for it; null for nobody. */
        requester_contact_id?: string | null;
      };
      /** Nobody but a pipeline withdraws one. */
      status?: 'open' | 'accepted' | 'completed' | 'dismissed' | 'withdrawn';
    };
    answer: Suggestion;
  };
  /** Deletes a suggestion. */
  'DELETE /suggestions/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** What a suggestion was before it changed, the newest first. */
  'GET /suggestions/{id}/revisions': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: {
        /** Which one it is. */
        revision: number;
        /** When the next revision took its place. */
        replaced_at: string;
        /** Who made that. */
        replaced_by: 'pipeline' | 'person';
        /** What the next one has changed. */
        changed_fields: string[];
        /** All of it as it was. */
        item: Suggestion;
      }[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Says whether what was said bears a suggestion. */
  'POST /suggestions/{id}/review': {
    path: { id: string };
    body: {
      /** The one that was read; where there is another, 409 names that. */
      state_version: number;
      /** Whether what was said bears it. */
      verdict: 'supported' | 'contradicted' | 'unclear';
      /** Why. */
      note?: string | null;
    };
    answer: Suggestion;
  };
  /** Says how good a suggestion is. */
  'POST /suggestions/{id}/feedback': {
    path: { id: string };
    body: {
      /** What a person thinks of it. */
      rating: 'helpful' | 'not_helpful' | 'wrong';
      /** Why. */
      comment?: string | null;
    };
    answer: Feedback;
  };
  /** What people have said of a suggestion, the newest first. */
  'GET /suggestions/{id}/feedback': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Feedback[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** What came of a recorder session, for its host. */
  'GET /device-sessions/{id}/summary': {
    path: { id: string };
    query?: { pipeline_id?: string | undefined };
    answer: SessionSummary;
  };
  /** A day: what was recorded, decided and promised, and what is due. */
  'GET /days/{date}': {
    path: { date: string };
    query?: { time_zone?: string | undefined };
    answer: Day;
  };
  /** What came of a recording, for its owner. */
  'GET /audio/streams/{id}/summary': {
    path: { id: string };
    answer: StreamSummary;
  };
  /** Replaces the sentences of a summary. */
  'PATCH /audio/streams/{id}/summary': {
    path: { id: string };
    body: {
      /** Of which conversation; the longest of the recording when absent. */
      conversation_id?: string;
      /** All of them, in order; null has the summary made again. */
      sentences: string[] | null;
    };
    answer: StreamSummary;
  };
  /** Has summary and suggestions made again. */
  'POST /audio/streams/{id}/summary/runs': {
    path: { id: string };
    answer: {
      /** It will be done. */
      accepted: true;
    };
  };
  /** Finds what was said, and what was made of it. */
  'GET /search': {
    query: { q: string; kind?: string | undefined; from?: string | undefined; to?: string | undefined; source_id?: string | undefined; workspace_id?: string | undefined; contact_id?: string | undefined; stream_id?: string | undefined; session_id?: string | undefined; sort?: 'relevance' | 'recent' | undefined; fuzzy?: '0' | '1' | undefined; limit?: number | undefined; cursor?: string | undefined; pipeline_id?: string | undefined };
    answer: {
      items: SearchHit[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Finds what bears an answer to a question. */
  'POST /recall': {
    body: {
      /** A question, or words. */
      query: string;
      /** Only what began at this time or later. */
      from?: string;
      /** Only what began by then. */
      to?: string;
      /** Only in this workspace, whoever recorded there. */
      workspace_id?: string;
      /** Only what was said in this recording; no suggestions then. */
      stream_id?: string;
      /** Only what one of these contacts said or is named in. */
      contact_ids?: string[];
      /** How many items at most. */
      limit?: number;
      /** How many turns before and after each passage. */
      context_turns?: number;
      /** Whose calendar "yesterday" is of, such as Europe/Vienna. */
      time_zone?: string;
      /** true: also a short answer, where this server has a language model (INSIGHTS_URL). */
      answer?: boolean;
      /** What another pipeline than the default one has made, for accounts with developer access. */
      pipeline_id?: string;
    };
    answer: {
      /** What fits best comes first. */
      items: RecallItem[];
      /** Null: there is no other page. */
      cursor: null;
      /** The time in which it was said by the query, to which the items are bound; null where it says none. */
      period: {
        /** Its begin. */
        from: string;
        /** Its end. */
        to: string;
      } | null;
      /** True where nothing was found in that period: the items are from other times. */
      period_relaxed: boolean;
      /** Null where the request asks for none, there is no model, or nothing that it says is borne by the items. */
      answer: RecalledAnswer | null;
    };
  };
  /** Recordings that are about the same. */
  'GET /audio/streams/{id}/related': {
    path: { id: string };
    answer: {
      /** Three at most, the most alike first; none where nothing is alike. */
      items: RelatedRecording[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** How recall answers this account. */
  'GET /recall/settings': {
    answer: RecallSettings;
  };
  /** Changes how recall answers this account. */
  'PATCH /recall/settings': {
    body: {
      /** Whether recall also finds what means the same in other words. */
      by_meaning: boolean;
    };
    answer: RecallSettings;
  };
  /** What the account says of itself. */
  'GET /profile': {
    answer: Profile;
  };
  /** Saves a whole profile. */
  'PUT /profile': {
    body: {
      /** The revision that was read. */
      revision: number;
      /** What pipelines are to know of the person. */
      about?: string | null;
      /** BCP 47 tags. Where it is one alone, transcription is told that it hears this. */
      languages?: string[];
      /** Names and words that transcription is to spell like this. */
      vocabulary?: string[];
      /** By which days begin and end. Null for none; one that is absent stays. */
      time_zone?: string | null;
    };
    answer: Profile;
  };
  /** Saves a profile with some other fields. */
  'PATCH /profile': {
    body: {
      /** The revision that was read. */
      revision: number;
      /** Of the person; null for nothing. */
      about?: string | null;
      /** BCP 47 tags, all of them. */
      languages?: string[];
      /** Names and words, all of them. */
      vocabulary?: string[];
      /** By which days begin and end. Null for none; one that is absent stays. */
      time_zone?: string | null;
    };
    answer: Profile;
  };
  /** Profiles that were saved, newest first, with the present one. */
  'GET /profile/revisions': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Profile[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** What pipelines are told beside the profile, the oldest first. */
  'GET /profile/context': {
    answer: {
      /** Rises with each change of an item. */
      version: number;
      items: ContextItem[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Adds something that pipelines are to know. */
  'POST /profile/context': {
    body: {
      /** What pipelines are to know. */
      text: string;
    };
    answer: ContextItem;
  };
  /** Says it in other words. */
  'PATCH /profile/context/{id}': {
    path: { id: string };
    body: {
      /** What pipelines are to know. */
      text: string;
    };
    answer: ContextItem;
  };
  /** Takes it back. */
  'DELETE /profile/context/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** An account's pipelines, the first one first. */
  'GET /pipelines': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Pipeline[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Makes a pipeline beside the default one. */
  'POST /pipelines': {
    body: {
      /** What people call it. */
      name: string;
      /** What is absent stays as it is. */
      transcription?: {
        /** The name of one of the operator's engines; default is the one that the operator has set up without a name. */
        engine?: string;
        /** A BCP 47 tag; null: the engine finds out. */
        language?: string | null;
        /** Whether speakers are told apart. */
        diarize?: boolean;
        /** Whether a recording that ended is transcribed once more as a whole. */
        final_pass?: boolean;
      };
      /** What is absent stays as it is; null: none are made. */
      insights?: {
        /** The name of one of the operator's engines; default is the one that the operator has set up without a name. */
        engine?: string;
        /** Which suggestions and memories are made. */
        kinds?: (
          | 'task'
          | 'follow_up'
          | 'reminder'
          | 'question'
          | 'decision'
          | 'fact'
          | 'preference'
          | 'relationship'
          | 'plan'
          | 'other')[];
        /** What the engine is told beside. */
        instructions?: '' | string;
      } | null;
    };
    answer: Pipeline;
  };
  /** A pipeline. */
  'GET /pipelines/{id}': {
    path: { id: string };
    answer: Pipeline;
  };
  /** Changes a pipeline, makes it the default one, or puts it away. */
  'PATCH /pipelines/{id}': {
    path: { id: string };
    body: {
      /** What people call it. */
      name?: string;
      /** What is absent stays as it is. */
      transcription?: {
        /** The name of one of the operator's engines; default is the one that the operator has set up without a name. */
        engine?: string;
        /** A BCP 47 tag; null: the engine finds out. */
        language?: string | null;
        /** Whether speakers are told apart. */
        diarize?: boolean;
        /** Whether a recording that ended is transcribed once more as a whole. */
        final_pass?: boolean;
      };
      /** What is absent stays as it is; null: none are made. */
      insights?: {
        /** The name of one of the operator's engines; default is the one that the operator has set up without a name. */
        engine?: string;
        /** Which suggestions and memories are made. */
        kinds?: (
          | 'task'
          | 'follow_up'
          | 'reminder'
          | 'question'
          | 'decision'
          | 'fact'
          | 'preference'
          | 'relationship'
          | 'plan'
          | 'other')[];
        /** What the engine is told beside. */
        instructions?: '' | string;
      } | null;
      /** It becomes the default one. */
      default?: true;
      /** Whether it is archived; nothing runs through it then. */
      archived?: boolean;
    };
    answer: Pipeline;
  };
  /** Lets a pipeline work on a recording once more. */
  'POST /pipelines/{id}/runs': {
    path: { id: string };
    body: {
      /** The recording; one of the account itself. */
      stream_id: string;
      /** From where on its timeline; the beginning when absent. */
      from_ms?: number;
      /** Up to where; the end when absent. */
      to_ms?: number;
    };
    answer: {
      /** It will be done. */
      accepted: true;
    };
  };
  /** Announces a file. */
  'POST /files': {
    body: {
      /** As which it is saved; no path. */
      name: string;
      /** Of which sort it is. */
      media_type: string;
      /** How many bytes will be uploaded. */
      size_bytes: number;
      /** Of those bytes, in hexadecimal. */
      sha256: string;
    };
    answer: {
      file: File;
      /** Where to PUT the bytes. */
      upload_path: string;
    };
  };
  /** The account's files, newest first. */
  'GET /files': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: File[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** A file. */
  'GET /files/{id}': {
    path: { id: string };
    answer: File;
  };
  /** Renames a file. */
  'PATCH /files/{id}': {
    path: { id: string };
    body: {
      /** As which it is saved from now on; no path. */
      name: string;
    };
    answer: File;
  };
  /** Deletes a file. */
  'DELETE /files/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** Asks for an archive of all of the account's data. */
  'POST /me/exports': {
    body?: {
      /** With the audio of all recordings. */
      audio?: boolean;
      /** With the account's files. */
      files?: boolean;
    };
    answer: Export;
  };
  /** Exports of the account, newest first. */
  'GET /me/exports': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: Export[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** How an export stands. */
  'GET /me/exports/{id}': {
    path: { id: string };
    answer: Export;
  };
  /** Deletes an export, or stops it. */
  'DELETE /me/exports/{id}': {
    path: { id: string };
    answer: undefined;
  };
  /** What workers made of a stream, and what waits for them. */
  'GET /debug/streams/{id}/runs': {
    path: { id: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: DebugRun[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Has a stream transcribed again, or looked into again, by the default pipeline. */
  'POST /debug/streams/{id}/reprocess': {
    path: { id: string };
    body: {
      /** From where on its timeline, in ms; the beginning when absent. */
      from_ms?: number;
      /** Up to where; the end when absent. */
      to_ms?: number;
      /** What is done again. */
      kinds: ('transcribe' | 'insights')[];
    };
    answer: {
      /** It will be done. */
      accepted: true;
    };
  };
};

export type DeviceApi = {
  /** Gives the device its next certificate. */
  'POST /device/certificates/renew': {
    body: {
      /** A certificate request (PKCS #10), for a key of its own or the one it has. */
      csr_pem: string;
    };
    answer: RenewedCertificate;
  };
  /** Binds the device by a claim. */
  'POST /device/claims/redeem': {
    body: {
      /** What the app handed to the device, or its pairing code; letter case and dashes of a code do not matter. */
      claim: string;
      /** Of a shared recorder: 12 upper-case hexadecimal digits. */
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
      /** What time it is here. */
      server_time: string;
    };
  };
  /** Ends the recorder's own session. */
  'POST /device/session/end': {
    body: {
      /** Of the binding that the device recorded under. */
      binding_epoch: string;
    };
    answer: SessionEnd;
  };
  /** Registers a stream under the device's own reference. */
  'POST /device/streams': {
    body: {
      /** The device's own name for the stream. */
      source_stream_ref: string;
      /** When its timeline begins. Its offset says the local time there: what is due “tomorrow at five” is due by that. */
      captured_at: string;
      /** How far off the device's clock may have been, in ms. */
      clock_uncertainty_ms: number;
      /** Of the binding that the device recorded under. */
      binding_epoch: string;
      /** Where it ends, if that is known already. */
      end_ms?: number;
    };
    answer: DeviceStream;
  };
  /** Says where a stream ends. */
  'POST /device/streams/end': {
    body: {
      /** The device's own name for the stream. */
      source_stream_ref: string;
      /** Where its timeline ends, in ms from its beginning. */
      end_ms: number;
      /** Of the binding that the device recorded under. */
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
      /** The uploader's own name for it, unique within the stream. */
      source_chunk_ref: string;
      /** Its number in the stream. */
      sequence: number;
      /** Where it begins on the stream's timeline, in ms. */
      source_start_ms: number;
      /** From where on it holds what no earlier chunk does, in ms; it may lie outside the chunk. */
      publication_start_ms: number;
      /** Where it ends, in ms. */
      source_end_ms: number;
      /** How the audio is coded, such as opus or pcm_s16le. */
      codec: string;
      /** What holds the coded audio, such as ogg or wav; raw for samples without a header. */
      container: string;
      /** How many samples a second raw PCM has; only with it can such chunks be joined and played. */
      sample_rate_hz?: number;
      /** How many channels raw PCM has, interleaved; needed like sample_rate_hz. */
      channels?: number;
      /** How many bytes will be uploaded. */
      size_bytes: number;
      /** Of those bytes, in hexadecimal. */
      sha256: string;
      /** The device's own name for the stream. */
      source_stream_ref: string;
      /** Of the binding that the device recorded under. */
      binding_epoch: string;
    };
    answer: UploadIntent;
  };
  /** Announces chunks of a stream and stores their bytes. */
  'POST /device/chunks': {
    body: {
      /** The chunks with their bytes. */
      chunks: {
        /** The uploader's own name for it, unique within the stream. */
        source_chunk_ref: string;
        /** Its number in the stream. */
        sequence: number;
        /** Where it begins on the stream's timeline, in ms. */
        source_start_ms: number;
        /** From where on it holds what no earlier chunk does, in ms; it may lie outside the chunk. */
        publication_start_ms: number;
        /** Where it ends, in ms. */
        source_end_ms: number;
        /** How the audio is coded, such as opus or pcm_s16le. */
        codec: string;
        /** What holds the coded audio, such as ogg or wav; raw for samples without a header. */
        container: string;
        /** How many samples a second raw PCM has; only with it can such chunks be joined and played. */
        sample_rate_hz?: number;
        /** How many channels raw PCM has, interleaved; needed like sample_rate_hz. */
        channels?: number;
        /** Of its bytes, in hexadecimal; they are held against it where it is there. */
        sha256?: string;
        /** The bytes: a byte string in CBOR, base64 in JSON. */
        bytes: string;
      }[];
      /** Where the timeline of the stream ends, in ms from its beginning, where that is known now. */
      end_ms?: number;
      /** The device's own name for the stream. */
      source_stream_ref: string;
      /** Of the binding that the device recorded under. */
      binding_epoch: string;
    };
    answer: ChunkArrivals;
  };
  /** How a chunk stands. */
  'GET /device/chunks/{chunk_id}': {
    path: { chunk_id: string };
    answer: ChunkStatus;
  };
  /** How chunks of a stream stand, by their own references. */
  'POST /device/chunks/status': {
    body: {
      /** Of the binding that the device recorded under. */
      binding_epoch: string;
      /** The device's own name for the stream. */
      source_stream_ref: string;
      /** The device's own names; one that was never announced is not in the answer. */
      source_chunk_refs: string[];
    };
    answer: {
      items: ChunkStatus[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
};

export type OperatorApi = {
  /** Whether the process runs, and which version of Spool it is. */
  'GET /healthz': {
    answer: {
      /** It answers, so it is. */
      alive: true;
      /** The version of Spool. */
      version: string;
    };
  };
  /** Whether it can serve requests: all, or those that the part of a Redis Cluster answers that is there. */
  'GET /readyz': {
    answer: {
      /** Storage takes writes. */
      ready: true;
      /** slow: a write takes over half a second. */
      storage: 'ok' | 'slow';
      /** Who makes text of audio. */
      transcription: {
        /** Who makes text of audio. */
        by: 'server' | 'program' | 'built_in' | 'workers' | 'nobody';
        /** Of the server that audio goes to by itself. */
        host: string | null;
        /** All other machines that audio may go to. */
        hosts: string[];
        /** BCP 47 tags of the languages that the engine knows; null where it knows many or does not say. */
        languages: string[] | null;
        /** The model of the built-in engine; null for any other. */
        model: string | null;
        /** Whether it tells speakers apart by their number. */
        tells_speakers: boolean;
      };
      /** Who looks into conversations. */
      insights: {
        /** Who looks into conversations; built_in: without a model. */
        by: 'server' | 'built_in' | 'workers' | 'nobody';
        /** Other machines that their text goes to. */
        hosts: string[];
      };
      /** With PROCESSES of 2 or more, those that do not do their work. Others serve meanwhile. */
      troubled_processes: {
        /** Which of the processes it is, from 1 on. */
        number: number;
        /** Of the process that hangs, or of the one that was replaced. */
        pid: number;
        /** hangs: it does not respond; replaced: it crashed or hung within the last minute, and another serves. */
        trouble: 'hangs' | 'replaced';
      }[];
    };
  };
  /** What is active in the processes on this machine, and what is quarantined, and dead letters. */
  'GET /ops/actors': {
    query?: { limit?: number | undefined };
    answer: {
      /** What time it is here. */
      now: string;
      /** By kind of actor. */
      kinds: Record<string, {
        /** Entities in memory. */
        active: number;
        /** Messages that wait. */
        waiting: number;
        /** Entities out of service. */
        quarantined: number;
        /** How long the oldest message has waited, in ms. */
        oldest_ms: number;
        /** Of the last minute; absent where there were none. */
        batches?: number;
        /** How long these took on average, in ms. */
        batch_ms_mean?: number | null;
        /** The 99th percentile, in ms. */
        batch_ms_p99?: number | null;
      }>;
      /** Entities with the most messages waiting, then the most batches. */
      busiest: {
        /** Of its state: how often that was saved. */
        version: number;
        /** Messages that wait. */
        waiting: number;
        /** Since it was woken in this process. */
        batches: number;
        /** How long these took on average, in ms. */
        batch_ms_mean: number;
        /** The kind of actor. */
        kind: string;
        /** Null where it is an email, an address or a fingerprint. */
        id: string | null;
        /** The id, or as much of it as may be shown. */
        name: string;
        /** Of the 256, where its state lies. */
        partition: number;
        /** Null unless it is out of service. */
        quarantined: {
          /** What is wrong with what is stored of it. */
          reason: string;
          /** Since when, in ms since 1970. */
          since_ms: number;
        } | null;
      }[];
      /** Entities out of service. */
      quarantined: {
        /** Of its state: how often that was saved. */
        version: number;
        /** Messages that wait. */
        waiting: number;
        /** Since it was woken in this process. */
        batches: number;
        /** How long these took on average, in ms. */
        batch_ms_mean: number;
        /** The kind of actor. */
        kind: string;
        id: string;
        /** The id, or as much of it as may be shown. */
        name: string;
        /** Of the 256, where its state lies. */
        partition: number;
        /** Null unless it is out of service. */
        quarantined: {
          /** What is wrong with what is stored of it. */
          reason: string;
          /** Since when, in ms since 1970. */
          since_ms: number;
        } | null;
      }[];
      /** Entities by what they did last. */
      lately: {
        /** How far back that looks. */
        within_ms: number;
        /** Those with the most messages. */
        busiest: {
          /** Of its state: how often that was saved. */
          version: number;
          /** Messages that wait. */
          waiting: number;
          /** Since it was woken in this process. */
          batches: number;
          /** How long these took on average, in ms. */
          batch_ms_mean: number;
          /** The kind of actor. */
          kind: string;
          /** Null where it is an email, an address or a fingerprint. */
          id: string | null;
          /** The id, or as much of it as may be shown. */
          name: string;
          /** Of the 256, where its state lies. */
          partition: number;
          /** Null unless it is out of service. */
          quarantined: {
            /** What is wrong with what is stored of it. */
            reason: string;
            /** Since when, in ms since 1970. */
            since_ms: number;
          } | null;
          /** Within that time. */
          messages: number;
          /** Of the slowest batch, in ms. */
          batch_ms_max: number;
        }[];
        /** Those with the slowest batches. */
        slowest: {
          /** Of its state: how often that was saved. */
          version: number;
          /** Messages that wait. */
          waiting: number;
          /** Since it was woken in this process. */
          batches: number;
          /** How long these took on average, in ms. */
          batch_ms_mean: number;
          /** The kind of actor. */
          kind: string;
          /** Null where it is an email, an address or a fingerprint. */
          id: string | null;
          /** The id, or as much of it as may be shown. */
          name: string;
          /** Of the 256, where its state lies. */
          partition: number;
          /** Null unless it is out of service. */
          quarantined: {
            /** What is wrong with what is stored of it. */
            reason: string;
            /** Since when, in ms since 1970. */
            since_ms: number;
          } | null;
          /** Within that time. */
          messages: number;
          /** Of the slowest batch, in ms. */
          batch_ms_max: number;
        }[];
      };
      /** Dead letters: messages whose decision threw five times. */
      dead_letters: {
        /** Of the 256, where it lies. */
        partition: number;
        /** What a retry calls it. */
        name: string;
        /** Whom it is for. */
        to: {
          /** The kind of actor. */
          kind: string;
          /** Null where it is an email, an address or a fingerprint. */
          id: string | null;
          name: string;
        };
        /** The type of the message; null where it is not known. */
        type: string | null;
      }[];
    };
  };
  /** Releases a quarantined entity: its next message loads it again. */
  'POST /ops/quarantined/retry': {
    body: {
      /** The kind of actor, such as account. */
      kind: string;
      id: string;
    };
    answer: undefined;
  };
  /** Delivers a dead letter once more. */
  'POST /ops/dead-letters/retry': {
    body: {
      /** As the list says it. */
      partition: number;
      /** As the list says it. */
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
      /** leaving: its deletion waits for shared workspaces. deleted: it can be restored. */
      status: 'active' | 'leaving' | 'deleted' | 'erasing' | 'erased';
      /** What its credentials can hold at most. */
      permissions: Permission[];
      /** Bound to it. */
      devices: number;
      created_at: string;
      /** When a deleted one is erased; null otherwise. */
      erase_at: string | null;
      /** What staff have switched on and off, or the default. */
      entitlements: Record<'developer.tools' | 'audio.access' | 'transcripts.access' | 'insights.access' | 'workspace.sharing' | 'agent.experimental', boolean>;
      /** That it belongs to. */
      shared_workspaces: number;
      /** That are still good. */
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
      /** Whether the account has it. */
      enabled: boolean;
    };
    answer: {
      /** Whose it is. */
      account_id: string;
      /** Those that were ever switched. */
      entitlements: Partial<Record<'developer.tools' | 'audio.access' | 'transcripts.access' | 'insights.access' | 'workspace.sharing' | 'agent.experimental', boolean>>;
      /** What its credentials can hold at most from now on. */
      permissions: Permission[];
    };
  };
  /** Exports that are under way, whoever asked for them. */
  'GET /ops/exports': {
    answer: {
      items: {
        /** Whose data it is. */
        account_id: string;
        /** Who asked for it. */
        by: 'account' | 'staff';
        export: Export;
      }[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Asks for an archive of all of an account's data, with the layers that are switched off. */
  'POST /ops/accounts/{account}/exports': {
    path: { account: string };
    body?: {
      /** With the audio of all recordings. */
      audio?: boolean;
      /** With the account's files. */
      files?: boolean;
    };
    answer: Export;
  };
  /** How an export that staff asked for stands. */
  'GET /ops/accounts/{account}/exports/{id}': {
    path: { account: string; id: string };
    answer: Export;
  };
  /** Deletes an export that staff asked for. */
  'DELETE /ops/accounts/{account}/exports/{id}': {
    path: { account: string; id: string };
    answer: undefined;
  };
  /** Imports whose bytes have all come and that are no recordings yet, of all accounts. */
  'GET /ops/imports': {
    answer: {
      items: {
        /** Whose recording it becomes. */
        account_id: string;
        /** The import. */
        import_id: string;
        /** processing: a worker has it. */
        status: 'waiting' | 'processing';
        /** How many bytes the file has. */
        size_bytes: number;
        /** How often a worker has begun it. */
        tries: number;
        created_at: string;
      }[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Provisions a device. */
  'POST /ops/devices': {
    body: {
      /** personal: bound to one account; shared: records for whoever hosts a session on it. */
      kind: 'personal' | 'shared';
      /** A certificate request (PKCS #10); without one the private key is made here. */
      csr_pem?: string;
    };
    answer: {
      /** The certificate. */
      certificate_pem: string;
      /** Only where it was made here. */
      private_key_pem?: string;
      /** What signs devices and the listener: issuing CA and root. */
      ca_pem: string;
      /** When it expires. */
      not_after: string;
      /** What the device is called from now on. */
      device_id: string;
      /** personal: bound to one account; shared: records for whoever hosts a session on it. */
      kind: 'personal' | 'shared';
      /** From here on the device should renew. */
      renew_after: string;
    };
  };
  /** Devices as the processes on this machine have heard of them, the most silent first. */
  'GET /ops/devices': {
    query?: { limit?: number | undefined; silent_min?: number | undefined; recording?: '0' | '1' | undefined };
    answer: {
      /** What time it is here. */
      now: string;
      /** Since when they watch. */
      watched_since: string;
      /** How many devices they have heard of. */
      seen: number;
      /** Of more, those not heard of for longest are forgotten. */
      seen_max: number;
      items: SeenDevice[];
      /** Null: there is no other page. */
      cursor: null;
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
      /** A certificate request (PKCS #10); without one the private key is made here. */
      csr_pem?: string;
    };
    answer: {
      /** The certificate. */
      certificate_pem: string;
      /** Only where it was made here. */
      private_key_pem?: string;
      /** What signs devices and the listener: issuing CA and root. */
      ca_pem: string;
      /** When it expires. */
      not_after: string;
      /** What the proxy is called in its certificate. */
      proxy_id: string;
      /** SHA-256 of the certificate, in hexadecimal: what revokes it. */
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
      /** The id of the key that signs now. */
      kid: string;
    };
  };
  /** Introduces another server key. */
  'POST /ops/keys/server/rotate': {
    answer: {
      /** The id of the new key. */
      key_id: string;
      /** When it is written with. */
      active_at: string;
    };
  };
  /** Erasures of accounts that are under way. */
  'GET /ops/erasures': {
    answer: {
      items: {
        /** Whose data goes. */
        account_id: string;
        /** When it was begun. */
        began_at: string;
        /** How much of what is gone. */
        removed: Record<string, number>;
        /** Whether this process is at it. */
        in_hand: boolean;
      }[];
      /** Null: there is no other page. */
      cursor: null;
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
      /** How far, in ms. */
      advance_ms: number;
    };
    answer: {
      /** What time it is here. */
      now: string;
    };
  };
  /** Mails that were written instead of sent, newest first. */
  'GET /inbox': {
    query?: { limit?: number | undefined };
    answer: {
      items: {
        /** Its name in the outbox. */
        file: string;
        /** The address that it is for. */
        to: string;
        /** What stands above it. */
        subject: string;
        /** All of it, without formatting. */
        text: string;
        /** When it was written, as mails say it (RFC 5322). */
        date: string;
      }[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Hands stored chunks to a worker, for a time. */
  'POST /ops/chunks/claim': {
    body: {
      /** How many at most; 1 when absent. */
      limit?: number;
      /** For how many seconds nobody else may have it; 60 when absent. */
      lease_s?: number;
    };
    answer: {
      items: Work[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Says that a worker is still at a chunk. */
  'POST /ops/chunks/{chunk_id}/progress': {
    path: { chunk_id: string };
    body: {
      /** As it was handed out. */
      claim: string;
      /** For how many seconds nobody else may have it; 60 when absent. */
      lease_s?: number;
    };
    answer: {
      /** Until then nobody else gets it. */
      lease_until: string;
    };
  };
  /** Says that a chunk is processed. */
  'POST /ops/chunks/{chunk_id}/done': {
    path: { chunk_id: string };
    body: {
      /** As it was handed out. */
      claim: string;
      /** Whether the audio was held against its announcement. */
      checked?: boolean;
    };
    answer: {
      /** The chunk. */
      chunk_id: string;
      /** Its status from now on. */
      status: 'processed' | 'failed';
    };
  };
  /** Says why a chunk can not be processed. */
  'POST /ops/chunks/{chunk_id}/failed': {
    path: { chunk_id: string };
    body: {
      /** As it was handed out. */
      claim: string;
      /** Why, for programs. */
      code: string;
      /** The same for people. */
      message: string;
    };
    answer: {
      /** The chunk. */
      chunk_id: string;
      /** Its status from now on. */
      status: 'processed' | 'failed';
    };
  };
  /** Hands windows of recordings, or conversations, to a worker, for a time. */
  'POST /ops/jobs/claim': {
    body: {
      /** What the worker can do; transcribe when absent. */
      kinds?: ('transcribe' | 'insights')[];
      /** How many at most; 1 when absent. */
      limit?: number;
      /** For how many seconds nobody else may have it; 60 when absent. */
      lease_s?: number;
    };
    answer: {
      items: (TranscriptionWork | InsightWork)[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Says that a worker is still at it. */
  'POST /ops/jobs/{job}/progress': {
    path: { job: string };
    body: {
      /** As it was handed out. */
      claim: string;
      /** For how many seconds nobody else may have it; 60 when absent. */
      lease_s?: number;
    };
    answer: {
      /** Until then nobody else gets it. */
      lease_until: string;
    };
  };
  /** Publishes what was said in a window, or what follows from a conversation. */
  'POST /ops/jobs/{job}/publish': {
    path: { job: string };
    body: unknown;
    answer: {
      /** What came of it. */
      published: {
        /** Suggestions that it made or changed. */
        suggestions: number;
        /** Memories that it made or changed. */
        memories: number;
        /** Items that it took back. */
        withdrawn: number;
        /** What came to nothing. */
        dropped: {
          /** Items and sentences of the summary that no turn bears. */
          unsupported: number;
          /** Items that there were already, or that people did not want. */
          duplicate: number;
          /** Changes of what people have set. */
          protected: number;
          /** It had not the form that was asked for. */
          malformed?: number;
          /** It was of a kind that the pipeline excludes. */
          unwanted?: number;
          /** It named an address that nobody said. */
          address?: number;
          /** It was more than there is room for. */
          too_many?: number;
        };
      } | {
        /** Turns that it made. */
        turns: number;
        /** Turns that it took the place of. */
        replaced: number;
        /** Turns that people have corrected before. */
        protected: number;
        /** Turns that people have deleted before. */
        suppressed: number;
      };
    };
  };
  /** Says why a window can not be transcribed, or a conversation not be looked into. */
  'POST /ops/jobs/{job}/failed': {
    path: { job: string };
    body: {
      /** As it was handed out. */
      claim: string;
      /** For programs; transcripts and operators see it. */
      code: string;
      /** The same for people. */
      message: string;
      /** Whether another try may succeed. */
      retry?: boolean;
    };
    answer: {
      /** Whether it comes once more, after a rest. */
      again: boolean;
      /** How often it was handed out. */
      tries: number;
    };
  };
  /** Has a recording transcribed again or its conversations looked into again, or what of it could not be. */
  'POST /ops/streams/{id}/reprocess': {
    path: { id: string };
    body: {
      /** From there on, in ms on the stream's timeline; from its beginning when absent. */
      from_ms?: number;
      /** Up to there; to its end when absent. */
      to_ms?: number;
      /** Only what has failed. */
      only_failed?: boolean;
      /** What is done again; transcribe when absent. */
      kinds?: ('transcribe' | 'insights')[];
    };
    answer: {
      /** It will be. */
      accepted: true;
    };
  };
  /** Asks another engine about the conversations of a recording, to compare. */
  'POST /ops/streams/{id}/trials': {
    path: { id: string };
    body: {
      /** An engine of this server: default, extractive, or one of ENGINES_FILE. */
      engine: string;
    };
    answer: {
      /** Each conversation. */
      items: {
        /** The conversation. */
        conversation_id: string;
        /** As it is published. */
        present: {
          /** What it calls the conversation. */
          title: string | null;
          /** Its summary. */
          sentences: string[];
          /** What follows from it. */
          suggestions: {
            /** Of which sort it is. */
            kind: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
            /** What is to be done, or known. */
            text: string;
            /** When it is due. */
            due_at: string | null;
            /** On which day, where no time was named. */
            due_date: string | null;
          }[];
        };
        /** What the engine makes of it, as far as turns bear it; null where it failed. */
        tried: {
          /** What it calls the conversation. */
          title: string | null;
          /** Its summary. */
          sentences: string[];
          /** What follows from it. */
          suggestions: {
            /** Of which sort it is. */
            kind: 'task' | 'follow_up' | 'reminder' | 'question' | 'decision';
            /** What is to be done, or known. */
            text: string;
            /** When it is due. */
            due_at: string | null;
            /** On which day, where no time was named. */
            due_date: string | null;
          }[];
        } | null;
        /** The code of why it failed. */
        failure: string | null;
        /** How much of its answer was left out. */
        dropped: number;
      }[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Who transcribes recordings and looks into conversations, what waits, what fails, and what retention removes. */
  'GET /ops/content': {
    answer: {
      /** What time it is here. */
      now: string;
      /** Who makes text of audio. */
      transcriber: {
        /** workers: those on this port. */
        by: 'server' | 'program' | 'built_in' | 'workers' | 'nobody';
        /** Where audio goes to by itself; null where it stays here. */
        host: string | null;
        /** All other machines that audio may go to. */
        hosts: string[];
        /** BCP 47 tags of the languages that the engine knows; null where it knows many or does not say. */
        languages: string[] | null;
        /** The model of the built-in engine; null for any other. */
        model: string | null;
        /** Whether it tells speakers apart by their number. */
        tells_speakers: boolean;
      };
      /** Memory of the process of the built-in engine, beside this one; null while it does not run. */
      speech_memory_bytes: number | null;
      /** Memory of the process that tells speakers apart by their number; null while it does not run. */
      voices_memory_bytes: number | null;
      /** Windows that this process has handed out and that are not done. */
      in_hand: number;
      /** What all processes have to do. */
      waiting: {
        /** Streams with a window that a worker may have. */
        due: number;
        /** Streams whose audio is still gathered, rests after a failure, or is in a worker’s hands. */
        later: number;
        /** For how long the first of those that are due has been. */
        oldest_due_s: number | null;
        /** Whether there are more than were counted. */
        beyond: boolean;
      };
      /** Tries that failed here since one succeeded last. */
      failing: {
        /** When the first of them failed. */
        since: string;
        /** How many. */
        tries: number;
        /** Why, as the engine or the worker that failed is told apart. */
        code: string;
      } | null;
      /** As this process has seen it, among its last thousand windows. */
      last_hour: {
        /** Windows transcribed. */
        windows: number;
        /** Turns that they made. */
        turns: number;
        /** From the arrival of audio to its turns; null where there were none. */
        lag_s: {
          /** Half of them within. */
          p50: number;
          /** 99 of 100 within. */
          p99: number;
        } | null;
        /** The most frequent first. */
        failures: {
          /** Why, as the engine or the worker that failed is told apart. */
          code: string;
          /** How many failed so. */
          tries: number;
          /** When the last one did. */
          last_at: string;
        }[];
      };
      /** Who looks into conversations, and how that goes. */
      insights: {
        /** Who; built_in: without a model; workers: those on this port. */
        by: 'server' | 'built_in' | 'workers' | 'nobody';
        /** Other machines that text may go to. */
        hosts: string[];
        /** Conversations that this process has handed out and that are not done. */
        in_hand: number;
        /** What all processes have to do. */
        waiting: {
          /** Accounts in a workspace with something that a worker may have. */
          due: number;
          /** Those in which people may still speak, or whose conversations rest after a failure or are in a worker’s hands. */
          later: number;
          /** For how long the first of those that are due has been. */
          oldest_due_s: number | null;
          /** Whether there are more than were counted. */
          beyond: boolean;
        };
        /** Tries that failed here since one succeeded last. */
        failing: {
          /** When the first of them failed. */
          since: string;
          /** How many. */
          tries: number;
          /** Why, as the engine or the worker that failed is told apart. */
          code: string;
        } | null;
        /** As this process has seen it, among its last thousand conversations. */
        last_hour: {
          /** Looked into. */
          conversations: number;
          /** Made or changed. */
          suggestions: number;
          /** Made or changed. */
          memories: number;
          /** What came to nothing. */
          dropped: {
            /** unsupported: no turn bears it; duplicate: it was there; protected: people set it otherwise; malformed, unwanted, address, too_many: left out. Else why all that waited of an account went. */
            reason: string;
            /** How many. */
            count: number;
          }[];
          /** The most frequent first. */
          failures: {
            /** Why, as the engine or the worker that failed is told apart. */
            code: string;
            /** How many failed so. */
            tries: number;
            /** When the last one did. */
            last_at: string;
          }[];
        };
      };
      /** What removes what workspaces do not keep. */
      retention: {
        /** For how long some part of a sweep has failed here; null while none does. */
        failing_s: number | null;
        /** Parts of sweeps, of one account in one workspace, that ended here. */
        parts: number;
        /** Since this process started. */
        removed: {
          /** On which it stood. */
          list: string;
          /** How many. */
          records: number;
        }[];
      };
    };
  };
  /** OAuth clients: our own first, then the newest. */
  'GET /ops/clients': {
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: OauthClient[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
    };
  };
  /** Registers an OAuth client by hand. */
  'POST /ops/clients': {
    body: {
      name: string;
      /** Where people may be sent back to. */
      redirect_uris: string[];
      /** What it may ask for; when none is named, all that a third party can have. */
      scopes?: string[];
      /** Whether it gets a secret. */
      confidential?: boolean;
    };
    answer: {
      /** What the client calls itself. */
      client_id: string;
      name: string;
      /** first: one of our own. */
      party: 'first' | 'third';
      /** Where it comes from: the file of our own clients, staff, or a registration. */
      origin: 'file' | 'staff' | 'registered';
      /** Where people may be sent back to. */
      redirect_uris: string[];
      /** What it may ask for. */
      scopes: string[];
      /** How it authenticates: none is a public client. */
      token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'client_secret_post';
      /** Whether it signs people in by itself, without a browser. */
      native: boolean;
      /** Whether staff have disabled it. */
      disabled: boolean;
      /** When they did; null unless it is disabled. */
      disabled_at: string | null;
      /** When it was made; null for one of the file. */
      registered_at: string | null;
      /** To the day. */
      last_used_at: string | null;
      /** Those that are good. */
      secrets: {
        /** When it ends; null for one that does not. */
        until: string | null;
      }[];
      /** Of a confidential one; shown this once. */
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
      /** Whether the one before ends now. */
      at_once?: boolean;
    };
    answer: {
      /** What the client calls itself. */
      client_id: string;
      name: string;
      /** first: one of our own. */
      party: 'first' | 'third';
      /** Where it comes from: the file of our own clients, staff, or a registration. */
      origin: 'file' | 'staff' | 'registered';
      /** Where people may be sent back to. */
      redirect_uris: string[];
      /** What it may ask for. */
      scopes: string[];
      /** How it authenticates: none is a public client. */
      token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'client_secret_post';
      /** Whether it signs people in by itself, without a browser. */
      native: boolean;
      /** Whether staff have disabled it. */
      disabled: boolean;
      /** When they did; null unless it is disabled. */
      disabled_at: string | null;
      /** When it was made; null for one of the file. */
      registered_at: string | null;
      /** To the day. */
      last_used_at: string | null;
      /** Those that are good. */
      secrets: {
        /** When it ends; null for one that does not. */
        until: string | null;
      }[];
      /** The new one; shown this once. */
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
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
      /** Whose they are. */
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
      /** Each is judged by itself, and the others go in. */
      grants: {
        /** An account id or an email address. */
        account: string;
        /** A client that exists here. */
        client_id: string;
        /** What the connected app is called; the client's name when absent. */
        name?: string;
        /** Names with spaces between them. */
        scope: string;
        /** What its tokens are for. */
        audience: 'api' | 'mcp';
        /** legacy: it works at LEGACY_BASE_URL alone. */
        issuer: 'base' | 'legacy';
        created_at: string;
        /** Of the refresh token that the app holds: no file needs to hold a token. */
        refresh_token_sha256: string;
      }[];
      /** Says what would be wrong, and changes nothing. */
      dry_run?: boolean;
    };
    answer: {
      /** What came of each, in their order. */
      results: ({
        /** known: it was brought in before. */
        outcome: 'imported' | 'known';
        /** The grant that it is here. */
        grant_id: string;
      } | {
        /** With dry_run: it would go in. */
        outcome: 'right';
      } | {
        /** It did not go in. */
        outcome: 'wrong';
        /** The field, and its rule. */
        problem: string;
      })[];
    };
  };
  /** How it is doing: what is wrong now, and what was measured lately. */
  'GET /ops/overview': {
    query?: { after_ms?: number | undefined; range?: '15m' | '1h' | '6h' | '24h' | undefined };
    answer: {
      /** What time it is here. */
      now: string;
      /** What time it is here, and why. */
      clock: {
        /** Ahead of this machine's. */
        ahead_ms: number;
        /** Whether TEST_CLOCK=1 allows to move it. */
        movable: boolean;
      };
      /** The process that answers. */
      process: {
        /** Its number on its machine. */
        pid: number;
        /** The version of Spool. */
        version: string;
        /** The version of Node. */
        node: string;
        /** For how many seconds it has run. */
        up_s: number;
        /** What is refused for load. */
        shedding: 'nothing' | 'first' | 'all';
      };
      /** The processes that are alive on this Redis, the oldest first; none while that is not known. */
      processes: {
        /** Its name among them; another one after each start. */
        id: string;
        /** Since when it runs. */
        since: string;
        /** The name of its machine. */
        host: string;
        /** Its number on its machine. */
        pid: number;
        /** How many partitions it looks at before others do. */
        partitions: number;
        /** Whether it is the one that answers. */
        answers: boolean;
      }[];
      /** The processes on this machine that serve these ports. */
      processes_here: {
        /** Which of the processes it is, from 1 on; null for one that is alone. */
        number: number | null;
        /** Its number on its machine. */
        pid: number;
        /** How it is doing; null for one that did not answer within a second. */
        row: {
          /** Its number on its machine. */
          pid: number;
          /** For how many seconds it has run. */
          up_s: number;
          /** Of one core, since the sample before; null before there are two. */
          cpu_share: number | null;
          /** Memory that it has. */
          rss_bytes: number;
          /** Delay of its event loop, the 99th percentile. */
          loop_delay_ms: number;
          /** Open connections, of all listeners. */
          connections: number;
          /** Requests that it answered, of all listeners. */
          requests_per_s: number;
          /** What it refuses for load. */
          shedding: 'nothing' | 'first' | 'all';
        } | null;
      }[];
      /** Redis. */
      storage: {
        /** slow: a write takes over half a second. refusing: Redis answers and takes no writes. */
        status: 'ok' | 'slow' | 'refusing' | 'away';
        /** Since when that is so, in ms since 1970. */
        since_ms: number;
        /** How long its last answer took, in ms; null while it is away. */
        round_trip_ms: number | null;
        /** What Redis uses; null while it is away. */
        memory_bytes: number | null;
        /** Whether Redis could write its append-only file. */
        log_healthy: boolean | null;
        /** Dead letters; null while Redis is away. */
        dead_letters: number | null;
      };
      /** The disk under DATA_DIR; null where it can not be asked. */
      disk: {
        /** What is left. */
        free_bytes: number;
        /** All of it. */
        size_bytes: number;
      } | null;
      /** Since when the processes on this machine know what devices do. */
      watched_since: string;
      /** What is wrong now, in words. */
      health_problems: {
        /** The kind of problem. */
        name: string;
        /** What it belongs to. */
        area: 
          | 'redis'
          | 'disk'
          | 'processes'
          | 'mail'
          | 'transcription'
          | 'insights'
          | 'webhooks'
          | 'devices'
          | 'jobs';
        /** grave: people notice. */
        severity: 'grave' | 'mild';
        /** The same in words. */
        text: string;
        /** What to do about it. */
        advice: string;
        /** The page on which one sees why. */
        link: string;
      }[];
      /** All of the range, of all processes on this machine; null where nothing was measured. */
      summary: {
        /** What it is of: the range, or since the processes on this machine began. */
        since: string;
        /** Requests of each listener. */
        listeners: {
          /** Who asked. */
          listener: 'public' | 'device' | 'operator';
          /** How many were answered. */
          requests: number;
          /** The same a second. */
          per_s: number;
          /** Of these with 5xx. */
          errors: number;
          /** Half took no longer, in ms. */
          p50_ms: number | null;
          /** 95 % took no longer. */
          p95_ms: number | null;
          /** 99 % took no longer. */
          p99_ms: number | null;
        }[];
        /** Commits. */
        commits: {
          /** How many. */
          count: number;
          /** Half took no longer, in ms. */
          p50_ms: number | null;
          /** 95 % took no longer. */
          p95_ms: number | null;
          /** 99 % took no longer. */
          p99_ms: number | null;
        };
        /** After how many ms 99 % of outbox messages were applied. */
        outbox_p99_ms: number | null;
        /** By how many ms 99 % of reminders were late at most. */
        reminders_p99_ms: number | null;
      };
      /** `at_ms[i]` goes with `series[name][i]`; rates are a second. */
      history: {
        /** How far apart samples are. */
        every_ms: number;
        /** How far back they go. */
        kept_ms: number;
        /** When each was taken, in ms since 1970. */
        at_ms: number[];
        /** What was measured, by name. */
        series: Record<string, (number | null)[]>;
      };
    };
  };
  /** Entities of an id, or of an email. */
  'GET /ops/entities': {
    query: { find: string };
    answer: {
      items: {
        /** The kind of actor, such as account. */
        kind: string;
        id: string;
        /** The id, or as much of it as may be shown. */
        name: string;
      }[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Short texts by which one tells entities apart: an email, a host, whose a device or a recording is. */
  'GET /ops/labels': {
    query: { entities: string };
    answer: {
      items: {
        /** The kind of actor, such as account. */
        kind: string;
        id: string;
        /** Null for a kind without labels, and where nothing is stored. */
        label: string | null;
      }[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** One entity: what is stored of it, and what it did last. */
  'GET /ops/entity': {
    query: { kind: string; id: string };
    answer: {
      /** What time it is here. */
      now: string;
      /** The kind of actor, such as account. */
      kind: string;
      id: string;
      /** The id, or as much of it as may be shown. */
      name: string;
      /** Of the 256, where its state lies. */
      partition: number;
      /** Of the state, what is not meant to be shown is named by its type and size. */
      stored: unknown;
      /** As it is in this process; null while it is at rest. */
      memory: {
        /** Of its state: how often that was saved. */
        version: number;
        /** Messages that wait. */
        waiting: number;
        /** Since it was woken in this process. */
        batches: number;
        /** How long these took on average, in ms. */
        batch_ms_mean: number;
        /** Null unless it is out of service. */
        quarantined: {
          /** What is wrong with what is stored of it. */
          reason: string;
          /** Since when. */
          since: string;
        } | null;
      } | null;
      /** Its last messages, the newest first. */
      recent: {
        /** What it was asked. */
        type: string;
        /** How that ended. */
        outcome: string;
        /** How long its batch took, in ms. */
        took_ms: number;
        /** When. */
        at: string;
      }[];
      /** Of these messages, those that changed it. */
      versions: {
        /** Of its state. */
        version: number;
        /** The message that made it. */
        type: string;
        /** When. */
        at: string;
      }[];
      /** Of an endpoint: why it gets what it gets. */
      endpoint: EndpointForStaff | null;
      /** Of a device: what this process has seen of it. */
      device: {
        /** Since when this process watches. */
        watched_since: string;
        /** Null while it has not called. */
        seen: SeenDevice | null;
      } | null;
    };
  };
  /** Accounts, by a part of the id or of the email, and by status. */
  'GET /ops/accounts': {
    query?: { find?: string | undefined; limit?: number | undefined; cursor?: string | undefined; status?: 'active' | 'leaving' | 'deleted' | 'erasing' | 'erased' | undefined };
    answer: {
      items: ListedAccount[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
      /** What time it is here. */
      now: string;
      /** Through how many keys of Redis this page has looked. */
      looked_at: number;
      /** How many keys Redis has. */
      keys: number;
    };
  };
  /** Devices that were provisioned, by a part of the id or by whom they record for, and by how they stand. */
  'GET /ops/devices/provisioned': {
    query?: { find?: string | undefined; limit?: number | undefined; cursor?: string | undefined; kind?: 'personal' | 'shared' | undefined; state?: 'bound' | 'unbound' | 'revoked' | undefined; unseen_min?: number | undefined };
    answer: {
      items: ProvisionedDevice[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
      /** What time it is here. */
      now: string;
      /** Through how many keys of Redis this page has looked. */
      looked_at: number;
      /** How many keys Redis has. */
      keys: number;
    };
  };
  /** The devices of an account, those bound last first. */
  'GET /ops/accounts/{account}/devices': {
    path: { account: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: {
        /** The device. */
        device_id: string;
        /** personal: bound to one account; shared: records for whoever hosts a session on it. */
        kind: 'personal' | 'shared';
        /** Since when it records for the account. */
        bound_at: string;
        /** When it last sent a heartbeat or redeemed a claim, to the minute; null while it never has. */
        last_seen_at: string | null;
      }[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
      /** Whose they are. */
      account_id: string;
    };
  };
  /** The recordings of an account, the newest first, without what is in them. */
  'GET /ops/accounts/{account}/streams': {
    path: { account: string };
    query?: { limit?: number | undefined; cursor?: string | undefined };
    answer: {
      items: ListedStream[];
      /** What to pass as cursor for the next page; null on the last one. */
      cursor: string | null;
      /** Whose they are. */
      account_id: string;
    };
  };
  /** Endpoints that are due, and those that get nothing or do not accept what they get, the last ones first. */
  'GET /ops/endpoints': {
    query?: { limit?: number | undefined };
    answer: {
      /** Those that failed repeatedly, so that only probes are sent. */
      circuit_open: TroubledEndpoint[];
      /** Those that too many failures disabled. */
      disabled: TroubledEndpoint[];
      /** Those whose last request was not accepted. */
      failing: TroubledEndpoint[];
      /** Those that their owners paused or disabled. */
      stopped: TroubledEndpoint[];
      /** What time it is here. */
      now: string;
      /** Since when the processes on this machine know of requests. */
      watched_since: string;
      /** Requests that are under way. */
      in_flight: number;
      /** Of each partition the one for which something has been due for longest; the longest first. */
      due: {
        /** The endpoint. */
        endpoint_id: string;
        /** Since when something is due for it. */
        due_since: string;
        /** The same in seconds. */
        due_s: number;
      }[];
    };
  };
  /** The endpoints of an account, and why each gets what it gets. */
  'GET /ops/accounts/{account}/endpoints': {
    path: { account: string };
    answer: {
      /** Whose they are. */
      account_id: string;
      items: EndpointForStaff[];
      /** Null: there is no other page. */
      cursor: null;
    };
  };
  /** Why an endpoint gets what it gets, and its last deliveries. */
  'GET /ops/endpoints/{endpoint_id}': {
    path: { endpoint_id: string };
    answer: EndpointForStaff;
  };
  /** Sends a signed test delivery to an endpoint, and says how it was answered. */
  'POST /ops/endpoints/{endpoint_id}/test': {
    path: { endpoint_id: string };
    answer: EndpointTest;
  };
};
