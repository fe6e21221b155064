/** Kinds of entities and fields of their states, explained to operators. */

export const KINDS: Record<string, string> = {
  account: 'A person’s data: whom it belongs to, what it may do, what belongs to it.',
  app_session: 'A sign-in of one of our own apps by an emailed code, with its tokens.',
  auth_session: 'A native sign-in that is under way.',
  binding: 'What ties a personal device to an account, until it is removed.',
  ble_address: 'A Bluetooth address, which one recorder session at a time may have.',
  browser_session: 'Somebody who is signed in to our pages in one browser.',
  browser_sign_in: 'A sign-in in a browser, from the first page to the last.',
  certificate: 'A certificate that was superseded or revoked. Nothing is stored for a valid one.',
  claim: 'A secret that an app hands to a device, which binds itself by it.',
  client: 'The part of an OAuth client that changes; its registration is stored elsewhere.',
  contacts: 'The people whom an account’s recordings hear, and their voices.',
  context: 'An account’s profile, and its pipelines: how its recordings are processed.',
  device: 'A recorder: its certificates, and what it is bound by.',
  device_session: 'A session on a shared recorder. Its id is the binding epoch.',
  email: 'An email address: the codes sent to it, the account behind it, invitations to it.',
  endpoint: 'A webhook destination.',
  exports: 'The exports of an account’s data that its owner or staff asked for.',
  files: 'The files of an account; their names are stored elsewhere.',
  grant: 'What an account has allowed one installation of a client, with its tokens.',
  imported_token: 'A refresh token of an earlier system, and the grant that it leads to.',
  imports: 'Audio files of an account that are being made into recordings.',
  omi: 'What came from omi to an account, so that nothing of it is taken twice.',
  library: 'An account’s conversations, suggestions and memories in one workspace, and the progress of a sweep there.',
  pairing_code: 'The short code of a claim, for ten minutes. Its id is a keyed hash of the code.',
  share_link: 'A link by which anybody who has it reads one recording.',
  personal_access_token: 'A token that somebody made for a program of their own.',
  signals: 'What happened on the timeline of the stream of the same id.',
  signing_keys: 'The keys that sign OAuth access tokens.',
  source: 'Where recordings come from: one for each recorder of an account.',
  stream: 'A recording’s timeline, with its chunks.',
  sweep: 'Removes what a workspace does not keep, every hour.',
  transcript: 'The progress of the transcript of the stream of the same id; its text is stored elsewhere.',
  workspace: 'A shared workspace: its members and invitations.',
};

const WORDS: Record<string, string> = {
  issued_under: 'The credential epochs under which it was issued; it is void once one of them was raised.',
  epochs: 'Credential epochs: raising one ends all credentials of its kind that were issued before.',
  generation: 'Counts refresh tokens.',
  turned_at_ms: 'When the present refresh token was given.',
  successor_used: 'Whether a token that came with it was used.',
  verified_at_ms: 'When an emailed code was entered.',
  accesses: 'Access tokens that are alive.',
  phase: 'Its status.',
};

const WORDS_OF: Record<string, Record<string, string>> = {
  account: {
    deletion_attempts: 'So that an answer to an earlier one is known.',
    devices: 'How many are bound to it.',
    join_tries: 'Tries at join codes in the present hour.',
    joining: 'Workspaces that have not answered yet.',
    sessions: 'Recorder sessions that it hosts.',
  },
  browser_sign_in: { wrong: 'Wrong codes so far.' },
  auth_session: { wrong: 'Wrong codes so far.' },
  ble_address: { asking: 'Sessions that are waiting for it.' },
  device: { code_tries: 'Tries at pairing codes in the present hour.', redeeming: 'The claim that it is redeeming.' },
  email: {
    window: 'Codes sent in the present ten minutes.',
    day: 'Wrong tries of the present day.',
    networks: 'Networks from which sign-ins succeeded.',
  },
  endpoint: {
    enablement: 'Raised by disabling: older deliveries are cancelled.',
    account_epoch: 'The credential epoch of the account under which deliveries are made.',
    taken: 'Events up to this number have become deliveries.',
    claims: 'Deliveries that are under way.',
    waiting: 'Deliveries that wait to be tried again.',
    retryable_failures: 'Attempts in a row that failed in a way that may pass; from five on its circuit is open.',
    trouble: 'Which list of the Endpoints page it is on, and since when.',
    probe_at_ms: 'While its circuit is open: no request before this.',
  },
  grant: { stage: 'code: waiting for the exchange; live: tokens have been issued.' },
  signals: {
    payload_bytes: 'Of all payloads.',
    longest_ms: 'How long the longest one is.',
    staged: 'Requests that are being written.',
  },
  stream: {
    chunks: 'Ever announced.',
    open: 'Announced chunks whose bytes have not come.',
    unprocessed: 'Stored chunks that no worker has processed.',
    claims: 'Chunks in workers’ hands.',
    stored_until_ms: 'The latest end of a stored chunk.',
  },
  transcript: {
    waiting: 'Audio that is to be transcribed, in ms of the timeline.',
    covered: 'Audio that was transcribed, whatever was heard in it.',
    failed: 'Audio that could not be transcribed.',
    window: 'What a worker has at the moment.',
    windows: 'Ever handed out.',
    retry: 'Of the audio that comes next: how often a worker had it, and until when it rests.',
    speakers: 'Numbers given out.',
    announcing: 'Changes that events are still to report.',
    revision: 'Rises with every change of what is read.',
  },
  workspace: {
    sent: 'Invitations of the present day.',
    holds: 'Members whose accounts are to be deleted; until then nobody joins.',
    dormant: 'Whether it waits for its only member to restore the account.',
  },
};

/** Why a result of an insight engine was dropped, by the reason's code. */
export const DROPPED: Record<string, string> = {
  unsupported: 'No turn says so. Many of these: the model invents things.',
  duplicate: 'It was there already.',
  protected: 'A person has dismissed, deleted or changed it.',
  malformed: 'It was not in the requested format. Many of these: the model is too small.',
  unwanted: 'It was of a kind that the pipeline excludes.',
  address: 'It named a web, mail or telephone address that nobody said.',
  too_many: 'It was more than one conversation holds.',
  layer_off: 'The account’s layer is off: everything waiting there was dropped.',
  account_gone: 'The account is deleted: everything waiting there was dropped.',
  workspace_gone: 'The workspace is deleted: everything waiting there was dropped.',
  gone_meanwhile: 'The recording or its layer was removed while it was being processed.',
};

/** The meaning of a field of a kind's state, where its name does not say it. */
export function meaningOf(kind: string, name: string): string | null {
  return WORDS_OF[kind]?.[name] ?? WORDS[name] ?? null;
}

/** Who makes text of audio. */
export const TRANSCRIBED_BY = {
  server: 'a server',
  program: 'a program here',
  built_in: 'the built-in engine',
  workers: 'own workers',
  nobody: 'nobody',
} as const;

/** Who makes suggestions of text. */
export const INSIGHTS_BY = {
  server: 'a language model',
  built_in: 'the server',
  workers: 'own workers',
  nobody: 'nobody',
} as const;
