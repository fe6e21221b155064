/**
 * Numbers of the interface and of our choices, units last. Behind each stands the rule or the heading that it comes
 * from; "ours" is a bound that only stands here, with its reason.
 */
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  account_name_chars_max: 80, // rule D-007
  list_limit_max: 100, // rules D-038 and E-008
  list_limit_default: 25, // rules D-038 and E-008

  email_chars_max: 254, // RFC 5321 4.5.3.1.3
  code_life_ms: 10 * MINUTE_MS, // rule A-012
  codes_alive_max: 3, // rule A-012; for a sign-in in the browser, ours
  code_wrong_per_network_max: 5, // rule A-012
  code_wrong_total_max: 50, // rule A-012
  code_wrong_per_day_max: 200, // ours: wrong tries per email and day, over all ways to sign in; known networks apart
  code_wrong_window_ms: DAY_MS,
  known_networks_max: 8, // ours
  codes_sent_per_network_max: 20, // docs/choices.md, "Sign-in by code": per email and network in the window below
  codes_sent_per_email_max: 100, // ours: per email from all networks that nobody had signed in from, in the window below
  codes_sent_window_ms: 10 * MINUTE_MS,

  email_unused_life_ms: DAY_MS, // ours: an address that got codes but never signed in is forgotten

  app_access_life_ms: HOUR_MS, // rule A-036
  app_refresh_life_ms: 30 * DAY_MS, // docs/choices.md, "App sessions and refresh"
  app_accesses_alive_max: 32, // ours: one an hour is usual; the oldest gives way once it is as old as below
  app_access_young_ms: MINUTE_MS, // docs/choices.md, "App sessions and refresh": what was just answered is not ended
  refresh_retry_ms: MINUTE_MS, // rule A-020: the predecessor again within a minute
  refresh_retry_unused_ms: 10 * MINUTE_MS, // rule A-020: while nothing of the successor was used
  touch_every_ms: MINUTE_MS, // docs/choices.md, "App sessions and refresh": last_used_at, last_seen_at at most once a minute

  oauth_code_life_ms: MINUTE_MS, // rule C-062
  oauth_code_replay_harmless_ms: 10 * SECOND_MS, // rule C-062: an honest double submit
  oauth_access_life_ms: HOUR_MS, // rule C-063
  oauth_refresh_life_ms: 30 * DAY_MS, // rule C-064
  imported_token_life_ms: 90 * DAY_MS, // ours: so long its reuse still ends the grant
  import_rows_max: 100, // ours: grants of one request
  tokens_per_account_max: 50, // rule B-002: personal access tokens that hold
  links_per_account_max: 100, // docs/choices.md, "Links to recordings": that have not ended
  link_days_default: 7, // docs/choices.md, "Links to recordings"
  link_days_max: 90, // docs/choices.md, "Links to recordings"
  links_opened_per_minute_max: 240, // docs/choices.md, "Links to recordings": of one network, with audio and calendars
  omi_bodies_per_minute_max: 240, // docs/choices.md, "omi": of one account; audio comes each second
  omi_body_bytes_max: 4 * 1024 * 1024, // docs/choices.md, "omi": two minutes of audio, or six hours of talk
  omi_conversations_max: 100_000, // ours: known of one account
  due_mail_hour: 8, // docs/choices.md, "What is due": where no other is chosen
  calendar_events_max: 1_000, // docs/choices.md, "What is due"
  token_name_chars_max: 80, // docs/choices.md, "Personal access tokens"
  recent_sign_in_ms: 10 * MINUTE_MS, // rule D-014: for deleting the account
  erase_after_ms: 7 * DAY_MS, // rule D-020: after the deletion
  leaving_max_ms: 10 * SECOND_MS, // ours: so long a deletion waits for shared workspaces to answer
  hold_asks_after_ms: 30 * SECOND_MS, // docs/choices.md, "Deletion and erasure": a workspace that holds still asks for the outcome
  mail_retried_ms: DAY_MS, // docs/areas.md, "Workers": other mails than codes

  workspaces_per_account_max: 100, // ours: shared ones
  workspace_members_max: 200, // ours: members and invitations of one workspace together
  invitations_per_day_max: 200, // ours: of one workspace, so that nobody mails the world by inviting and withdrawing
  invitations_of_account_max: 50, // docs/choices.md, "Workspaces": sent by one account to anybody, in the window below
  invitations_to_email_max: 5, // docs/choices.md, "Workspaces": to one address from all accounts, in the window below
  invitations_window_ms: DAY_MS,
  workspaces_made_max: 20, // docs/choices.md, "Workspaces": by one account in the window below
  workspaces_made_window_ms: DAY_MS,
  streams_shed_max: 100, // ours: streams that a deleted workspace notifies of its end in one turn

  installation_label_chars_max: 80, // rule C-026
  auth_session_life_ms: 10 * MINUTE_MS, // rule C-091
  sign_in_tries_max: 5, // rules C-035 and C-090: native and in the browser
  browser_sign_in_life_ms: HOUR_MS, // ours: from /oauth/authorize to the redirect back
  browser_session_idle_ms: 30 * DAY_MS, // rule C-037: extended by use
  browser_session_life_ms: 90 * DAY_MS, // rule C-037: after the code
  signing_key_life_ms: 30 * DAY_MS, // docs/choices.md, "OAuth sign-in and grants"
  signing_key_published_ahead_ms: DAY_MS, // ours: whoever caches the JWKS has seen a key before it signs
  client_secret_overlap_ms: DAY_MS, // ours: the secret before a rotation still works so long
  client_secrets_max: 5, // ours: good at once, after rotations in quick succession; the oldest gives way
  client_touch_every_ms: DAY_MS, // ours: a client's last use is noted at most once a day
  client_unused_life_ms: 90 * DAY_MS, // ours: longer than any of its grants can live without a refresh
  redirect_uris_max: 20, // ours
  redirect_uri_chars_max: 2_000, // ours
  client_name_chars_max: 100, // ours

  event_kept_ms: 30 * DAY_MS, // rule E-023: events and deliveries
  attempt_kept_ms: 90 * DAY_MS, // rule E-023
  endpoints_per_account_max: 50, // docs/choices.md, "Webhooks"
  endpoint_url_chars_max: 2_048, // ours
  endpoint_secret_bytes: 32, // rule F-003
  endpoint_failures_max: 10, // rule F-016: deliveries in a row that failed disable it
  delivery_attempts_max: 8, // rule F-029
  delivery_life_ms: DAY_MS, // rule F-029: from the event on
  delivery_timeout_ms: 10 * SECOND_MS, // rule F-031: all of a request
  delivery_lease_ms: 30 * SECOND_MS, // docs/areas.md, "Webhook delivery"
  delivery_backoff_ms: 10 * SECOND_MS, // ours: after the first attempt; four times as long after each further one
  delivery_backoff_factor: 4,
  delivery_backoff_jitter: 0.4, // ours: so much shorter or longer, which leaves room for all eight within the 24 hours
  retry_after_ms_max: 12 * HOUR_MS, // rule F-027
  endpoint_tests_per_minute_max: 10, // ours
  endpoint_in_flight_max: 8, // docs/choices.md, "Webhooks"
  account_in_flight_max: 32, // docs/choices.md, "Webhooks"
  deliveries_in_flight_max: 512, // ours: of one process
  origin_in_flight_max: 128, // ours: of one process, to one scheme, host and port
  circuit_opens_after: 5, // docs/choices.md, "Webhooks": attempts in a row that failed in a way that passes
  probe_ms_min: 30 * SECOND_MS, // docs/choices.md, "Webhooks"
  probe_ms_max: 10 * MINUTE_MS, // docs/choices.md, "Webhooks"
  attempt_reason_chars_max: 64, // ours: of the status line's text
  endpoint_sweep_every_ms: DAY_MS, // ours

  event_scan_max: 10_000, // entries looked at for one page; a rare type gets a short page and its cursor

  claim_owner_life_ms: HOUR_MS, // docs/choices.md, "Devices"
  session_wait_ms: 10 * MINUTE_MS, // docs/choices.md, "Devices": so long a session and its claim wait for a recorder
  session_ahead_ms_max: DAY_MS, // docs/choices.md, "Devices": from now to expires_at
  session_drain_ms: 15 * MINUTE_MS, // rule H-007: a recorder still uploads so long after the end
  join_code_chars: 8, // docs/choices.md, "Devices"
  join_tries_max: 10, // docs/choices.md, "Devices": in the window below, per account
  join_tries_window_ms: HOUR_MS,
  pairing_code_chars: 8, // docs/choices.md, "Devices"
  pairing_code_life_ms: 10 * MINUTE_MS, // docs/choices.md, "Devices"
  pairing_code_tries_max: 10, // docs/choices.md, "Devices": in the window below, per device
  pairing_code_tries_window_ms: HOUR_MS,
  pairing_codes_wrong_per_minute_max: 100, // docs/choices.md, "Devices": of all devices together
  address_askers_max: 16, // ours: recorders that ask for one BLE address at once

  claim_redeemed_keep_ms: DAY_MS, // ours: so long the same device may ask again for its answer
  account_requests_at_once_max: 16, // ours: of one account, in one process; more wait for these
  account_requests_waiting_max: 512, // ours: with bodies of 64 KiB at most, 32 MiB
  devices_per_account_max: 1_000, // ours
  certificate_renewable_ms: 365 * DAY_MS, // docs/choices.md, "Devices": so long after its end it may still renew
  certificate_renew_at: 2 / 3, // docs/choices.md, "Devices": of its validity
  certificate_renew_jitter: 1 / 20, // ours: of its validity, earlier or later, so that a batch does not come at once
  certificate_kept_ms: 366 * DAY_MS, // ours: after its end; a day longer than anything asks for it
  device_certificates_max: 4, // ours: the one in use, and three renewals whose answers were lost
  device_renewals_max: 10, // ours: certificates made for one device in the window below
  device_renewals_window_ms: DAY_MS,
  device_uploads_in_flight_max: 4, // docs/choices.md, "Devices": of one device, in one process

  chunk_bytes_max: 64 * 1024 * 1024, // docs/choices.md, "Recordings"; sent to the device on redemption
  open_intents_max: 64, // ours, sent to the device on redemption
  intent_life_ms: DAY_MS, // rule H-024: a day after its last repeat
  chunks_per_stream_max: 0x7fff_ffff, // the chunk's number has 31 bits of its id
  chunks_per_request_max: 64, // docs/choices.md, "Recordings": of those that come with their bytes
  chunks_body_bytes_max: 4 * 1024 * 1024, // docs/choices.md, "Recordings": of a request with chunks and their bytes
  bodies_bytes_max: 128 * 1024 * 1024, // ours: bodies with chunks or signals that a process has in memory
  bodies_bytes_share_max: 16 * 1024 * 1024, // ours: those of one account or device
  gaps_listed_max: 1_000, // docs/choices.md, "Recordings"
  chunk_status_refs_max: 100, // docs/choices.md, "Recordings"
  claims_per_stream_max: 64, // ours: chunks of one stream in workers' hands
  chunk_tries_max: 5, // ours: so many workers may lose a chunk before it counts as failed
  chunk_lease_ms: MINUTE_MS, // ours: of a claim that names no time
  chunk_claims_max: 100, // ours: chunks of one request
  failure_message_chars_max: 500, // ours
  audio_orphan_age_ms: HOUR_MS, // ours: longer than any upload, so that none is taken before it is said to be stored

  stream_title_chars_max: 200, // ours
  stream_tags_max: 20, // rule K-311
  stream_tag_chars_max: 40, // rule K-311

  import_bytes_max: 1024 * 1024 * 1024, // docs/choices.md, "Imports"
  import_piece_bytes: 8 * 1024 * 1024, // docs/choices.md, "Imports": all pieces of a file but the last
  imports_open_max: 20, // docs/choices.md, "Imports": of one account
  import_bytes_open_max: 4 * 1024 * 1024 * 1024, // docs/choices.md, "Imports": of those of one account together
  import_length_ms_max: 6 * HOUR_MS, // docs/choices.md, "Imports"
  import_upload_life_ms: DAY_MS, // docs/choices.md, "Imports": after the last piece
  import_known_ms: 30 * DAY_MS, // docs/choices.md, "Imports": from its announcement on
  import_tries_max: 5, // ours: so many workers may be lost before it counts as failed
  import_retries_ms: [MINUTE_MS, 4 * MINUTE_MS, 16 * MINUTE_MS, HOUR_MS], // ours: as those of windows
  import_lease_ms: MINUTE_MS, // docs/areas.md, "Workers"

  signals_per_request_max: 500, // rule G-003
  signal_payload_bytes_max: 8_192, // rule G-004
  signals_body_bytes_max: 8 * 1024 * 1024, // docs/choices.md, "Signals"
  signals_per_stream_max: 100_000, // ours: more than one a second for a day
  signal_bytes_per_stream_max: 256 * 1024 * 1024, // ours: payloads of one stream, which lie in Redis
  signals_scanned_max: 4_000, // ours: looked at for one page; a rare type gets a short page and its cursor
  signals_staged_requests_max: 8, // ours: of one stream at once
  signals_staged_ms: 10 * MINUTE_MS, // ours: what a request that broke off has staged is swept after this

  expired_per_commit_max: 256, // ours: records that retention removes with one commit
  expired_spans_max: 256, // ours: of a stream's timeline whose audio has expired; beyond it the nearest become one
  spared_ms_max: DAY_MS, // docs/choices.md, "Retention": so long audio that is not kept waits for its transcript
  sweep_parts_told_max: 100, // ours: accounts of one workspace that one turn tells to begin their part of a sweep
  streams_scanned_max: 200, // ours: streams looked at for one page of turns
  transcript_page_ms: 10 * MINUTE_MS, // docs/choices.md, "Transcripts": what is stored and replaced together
  transcript_pages_max: 0x4000, // a page has 14 bits of a turn's id: 113 days
  page_serials_max: 0x2_0000, // a serial number has 17 bits of a turn's id
  page_turns_max: 1_024, // ours: turns of ten minutes that can be read
  page_corrections_max: 1_024, // ours
  page_corrected_chars_max: 256 * 1024, // ours: UTF-16 units of corrected texts of ten minutes; speech has some 20,000
  corrected_text_chars_max: 4_000, // docs/choices.md, "Transcripts"
  text_overlap_min: 0.6, // docs/choices.md, "Transcripts": of the longer of a correction's span and a turn
  transcript_intervals_max: 1_000, // ours: of audio that waits or is transcribed
  transcript_failures_kept_max: 100, // ours
  window_ms_default: MINUTE_MS, // docs/choices.md, "Transcripts": TRANSCRIBE_WINDOW_S where it is not set
  window_quiet_ms: 10 * SECOND_MS, // docs/choices.md, "Transcripts": so long more audio may join a window
  runs_kept_per_stream: 100, // ours: for debugging, of each recording
  window_tolerance_ms: 2 * SECOND_MS, // docs/choices.md, "Transcripts": a turn may reach so far out of its window
  window_tries_max: 5, // docs/choices.md, "Transcripts"
  window_retries_ms: [MINUTE_MS, 4 * MINUTE_MS, 16 * MINUTE_MS, HOUR_MS], // docs/choices.md, "Transcripts": after each try
  windows_per_account_max: 4, // docs/choices.md, "Transcripts": in hand, in one process
  speakers_per_stream_max: 4_096, // ours
  search_memory_bytes: 256 * 1024 * 1024, // docs/choices.md, "Search and recall": of what search keeps of libraries in one process
  search_terms_kept_max: 100_000, // ours: words of a language of which is kept how they are looked up
  search_query_chars_max: 256, // docs/choices.md, "Search and recall"
  search_words_max: 16, // docs/choices.md, "Search and recall": of one query
  search_snippet_chars_max: 240, // docs/choices.md, "Search and recall"
  recall_query_chars_max: 1_000, // docs/choices.md, "Search and recall"
  recall_period_chars_max: 500, // docs/choices.md, "Search and recall": of a query, in which a time is looked for
  recall_limit_default: 8, // docs/choices.md, "Search and recall"
  recall_limit_max: 20, // docs/choices.md, "Search and recall"
  recall_context_default: 2, // docs/choices.md, "Search and recall": turns before and after
  recall_context_max: 10, // docs/choices.md, "Search and recall"
  recall_passage_turns_max: 12, // docs/choices.md, "Search and recall": from its first match to its last
  vectors_quiet_ms: 60_000, // ours: so long a page stays as it is before its vectors are made
  vectors_tries_max: 5, // docs/choices.md, "Search and recall"
  vectors_retries_ms: [MINUTE_MS, 4 * MINUTE_MS, 16 * MINUTE_MS, HOUR_MS], // docs/choices.md, "Search and recall"
  telling_tries_max: 3, // docs/choices.md, "Transcripts": of telling the speakers of a recording apart
  telling_retries_ms: [10_000, MINUTE_MS], // ours: rests between them
  told_speakers_min: 2, // rule K-460
  told_speakers_max: 3, // rule K-460
  told_audio_ms_max: 2 * HOUR_MS, // rule K-462
  vector_window_turns: 1, // docs/choices.md, "Search and recall": turns that one vector stands for
  vector_dimension_max: 1_024, // docs/choices.md, "Search and recall"
  meaning_idle_ms: 10 * MINUTE_MS, // docs/search.md: then the process that makes vectors ends
  meaning_silence_ms: MINUTE_MS, // ours: a few texts take a quarter of a second, the model one more to load
  meaning_bytes_max: 1_024 * 1024 * 1024, // ours: memory of that process, a quarter of it at work; with more than half it is replaced
  embed_query_ms_max: 1_500, // docs/choices.md, "Search and recall": then a recall goes by words alone
  recall_answer_ms_max: 10_000, // docs/choices.md, "Search and recall": then a question has no answer of the model
  recall_answer_chars_max: 20_000, // docs/choices.md, "Search and recall": of turns that the model gets
  answer_sentences_max: 4, // docs/choices.md, "Search and recall"
  recall_contacts_max: 20, // ours: named as a filter
  recall_half_ms: 90 * DAY_MS, // docs/choices.md, "Search and recall"
  search_sound_letters_min: 5, // docs/choices.md, "Search and recall": shorter words sound like too many others
  speakers_per_block: 64, // ours: stored together
  speaker_samples_max: 8, // ours: speakers of a stream that an engine is shown
  contacts_per_transcript_max: 256, // ours
  announcements_max: 64, // ours: changes of one transcript whose events are still to be recorded
  announced_per_commit_max: 256, // ours: events of one commit
  turn_words_max: 2_000, // ours

  contacts_per_account_max: 10_000, // docs/choices.md, "Contacts"; merged ones too
  contact_name_chars_max: 80, // ours: as a name of an account
  contact_aliases_max: 100, // ours: contacts that became a part of one
  contacts_scanned_max: 2_000, // ours: looked at for one page; a rare name gets a short page and its cursor
  contact_changes_max: 1_000, // ours: merges and deletions that turns have not been told of
  contacts_erased_per_commit_max: 100, // ours
  voices_per_workspace_max: 1_000, // docs/choices.md, "Contacts"
  voices_per_contact_max: 32, // ours
  voice_workspaces_max: 200, // ours: more than an account belongs to
  voice_embedding_bytes_max: 4_096, // docs/choices.md, "Contacts"
  voice_model_chars_max: 100, // ours
  voices_expired_per_commit_max: 128, // ours: of contacts, and as many of nobody yet
  announcing_lease_ms: MINUTE_MS, // docs/areas.md, "Workers": from the last step on

  libraries_listed_max: 64, // docs/choices.md, "Insights": of an account, in one list
  libraries_searched_max: 512, // docs/choices.md, "Search and recall": in one search
  workspace_libraries_max: 256, // docs/choices.md, "Insights": of a workspace, in one list
  items_scanned_max: 1_000, // ours: looked at for one page; what passes rarely gets a short page and its cursor
  items_step_max: 100, // ours: read of a library at once where few pass
  quote_chars_max: 1_000, // ours: of what was said, as it is shown with what rests on it
  day_recordings_max: 100, // ours: of one day
  day_items_max: 100, // ours: of each list of one day
  stream_conversations_told_max: 100, // ours: of one recording, in its summary
  listed_speakers_max: 12, // ours: of a recording, in a list

  pipelines_per_account_max: 20, // docs/choices.md, "Pipelines and profile"
  pipeline_instructions_chars_max: 2_000, // docs/choices.md, "Pipelines and profile"
  engine_name_chars_max: 60, // ours
  profile_about_chars_max: 4_000, // docs/choices.md, "Pipelines and profile"
  profile_languages_max: 5, // docs/choices.md, "Pipelines and profile"
  vocabulary_terms_max: 200, // docs/choices.md, "Pipelines and profile"
  vocabulary_term_chars_max: 60, // docs/choices.md, "Pipelines and profile"
  profile_revisions_kept_max: 50, // docs/choices.md, "Pipelines and profile"
  context_items_max: 200, // docs/choices.md, "Pipelines and profile"
  context_text_chars_max: 500, // docs/choices.md, "Pipelines and profile"

  settle_ms: 10 * SECOND_MS, // docs/areas.md, "Insights": after the last turn, before conversations are looked for
  correction_quiet_ms: 10 * MINUTE_MS, // docs/areas.md, "Insights": after the last correction
  insights_again_ms: HOUR_MS, // docs/areas.md, "Insights": a corrected conversation is looked into so often
  insights_waiting_max: 300, // ours: recordings and jobs of one library that are looked through
  found_conversations_max: 300, // ours: of one look through a recording
  insight_job_tries_max: 5, // docs/areas.md, "Insights"
  insight_job_retries_ms: [MINUTE_MS, 4 * MINUTE_MS, 16 * MINUTE_MS, HOUR_MS], // docs/areas.md, "Insights": after each try
  insight_text_chars_max: 500, // docs/choices.md, "Insights": of a memory, a suggestion, a note, a comment
  conversation_title_chars_max: 200, // ours: as a stream's title
  suggestions_by_hand_max: 10_000, // docs/choices.md, "Insights": of one account in one workspace
  suggestions_per_result_max: 50, // docs/choices.md, "Insights"
  memories_per_result_max: 20, // docs/choices.md, "Insights"
  evidence_spans_max: 8, // docs/choices.md, "Insights"
  same_stems_min: 0.8, // docs/choices.md, "Insights": of what is new, so that it is the same as what there is
  revisions_kept_max: 50, // ours: of one item
  feedback_kept_max: 100, // docs/choices.md, "Insights": of one suggestion
  group_members_max: 50, // docs/choices.md, "Insights": of one request
  items_read_max: 300, // ours: asked for at once by their numbers
  session_items_max: 100, // ours: of each kind, of one recorder session

  files_per_account_max: 1_000, // docs/choices.md, "Files and exports"
  file_bytes_per_account_max: 1024 * 1024 * 1024, // docs/choices.md, "Files and exports"
  file_bytes_max: 50 * 1024 * 1024, // docs/choices.md, "Files and exports"
  file_name_chars_max: 200, // docs/choices.md, "Files and exports"
  media_type_chars_max: 255, // RFC 6838, 4.2: a type and a subtype of 127 characters
  file_upload_life_ms: DAY_MS, // docs/choices.md, "Files and exports": a file whose bytes do not come is dropped

  exports_per_day_max: 3, // docs/choices.md, "Files and exports"
  exports_window_ms: DAY_MS,
  export_kept_ms: 7 * DAY_MS, // docs/choices.md, "Files and exports"
  export_known_ms: 30 * DAY_MS, // docs/choices.md, "Files and exports": from the request on
  export_tries_max: 5, // ours: so many workers may be lost before it counts as failed
  export_lease_ms: MINUTE_MS, // docs/areas.md, "Workers"
  export_part_bytes: 8 * 1024 * 1024, // ours: of an archive, held in memory before it is stored
  export_audio_files_max: 100_000, // docs/choices.md, "Files and exports": chunks of one archive
  export_audio_bytes_max: 100 * 1024 * 1024 * 1024, // docs/choices.md, "Files and exports"
  export_recordings_listed_max: 100_000, // docs/choices.md, "Files and exports": in `index.html` and `transcripts/` of one archive

  joined_chunks_max: 20_000, // ours: chunks of one joined file, two and a half days of ten seconds each
  joined_bytes_max: 0xffff_ffff, // a RIFF file counts its bytes in 32 bits
  media_name_chars_max: 128, // ours: codec, container
  sample_rate_hz_max: 1_000_000, // ours: of raw samples
  channels_max: 64, // ours: of raw samples

  window_file_bytes_max: 64 * 1024 * 1024, // ours: samples of one file for an engine; more become the next file
  engine_ms_max: 5 * MINUTE_MS, // docs/transcription.md, "What an engine may do"
  speech_idle_ms: 10 * MINUTE_MS, // docs/transcription.md: then the speech process ends
  speech_bytes_max: 1_200 * 1024 * 1024, // ours: memory of the speech process; with more than half of it, it is replaced
  live_watchers_per_account_max: 10, // docs/transcription.md, "Live text": in one process
  live_previews_max: 8, // docs/transcription.md, "Live text": recordings of one process that have preliminary lines
  live_preview_ms_max: 30_000, // docs/transcription.md, "Live text": audio that preliminary lines are of
  live_preview_every_ms: 2_000, // docs/transcription.md, "Live text"
  live_preview_idle_ms: 30_000, // docs/transcription.md, "Live text": without new audio for so long another recording gets the place
  live_recheck_ms: 10_000, // docs/transcription.md, "Live text": how often a watcher's credential is checked again
  event_stream_heartbeat_ms: 15_000, // docs/transcription.md, "Live text"
  audio_told_every_ms: 500, // ours: a transcript hears of audio at once, and then so often
  decoder_idle_ms: MINUTE_MS, // ours: then a process that only decodes ends
  decoder_silence_ms: MINUTE_MS, // ours: a piece of audio is decoded in milliseconds
  decoder_bytes_max: 768 * 1024 * 1024, // ours: memory of such a process; with more than half of it, it is replaced
  decoded_s_max: 6 * 3_600, // docs/choices.md, "Recordings": of one file; what follows is not decoded
  decoded_idle_ms: 15 * MINUTE_MS, // docs/choices.md, "Recordings": then decoded audio goes
  engine_answer_bytes_max: 4 * 1024 * 1024, // docs/transcription.md, "What an engine may do"
  engine_prompt_chars_max: 800, // ours: vocabulary and what was said before; models read some 200 words
  window_turns_max: 1_024, // ours: one page has no more
  turn_text_chars_max: 2_000, // ours: a longer segment becomes several turns
  engine_segments_max: 4_096, // ours: of one answer; ten minutes of speech have some hundreds
  word_chars_max: 200, // ours
  speaker_label_chars_max: 64, // ours

  item_stems_max: 64, // ours: keyed hashes of a text's stems; a text of 500 characters has fewer different words
  conversation_gap_ms: 5 * MINUTE_MS, // docs/choices.md, "Insights": so long without a turn ends a conversation
  conversation_ms_max: 2 * HOUR_MS, // docs/choices.md, "Insights": a longer one is cut at its widest gap
  conversation_turns_min: 3, // docs/choices.md, "Insights"
  conversation_words_min: 10, // docs/choices.md, "Insights"
  memo_words_min: 2, // docs/choices.md, "Insights": of a conversation in a recording that is over
  conversation_turns_max: 12_288, // ours: twelve pages full of turns
  insight_input_chars_max: 200_000, // docs/choices.md, "Insights": more goes to an engine in parts
  edited_sentences_max: 30, // ours: of a summary that a person wrote
  summary_sentences_max: 10, // ours: of one conversation
  insight_topics_max: 8, // docs/choices.md, "Insights"
  insight_topic_chars_max: 60, // ours
  insight_quote_chars_max: 500, // ours
  quote_borne_min: 0.8, // docs/choices.md, "Insights": of a quote's words, in the order of the turns
  quote_words_min: 3, // ours: shorter quotes are borne by nearly every turn; a turn that is shorter is quoted whole
  insight_jobs_per_account_max: 2, // docs/choices.md, "Insights": in hand, in one process
  trial_conversations_max: 5, // ours: of one recording that an engine is tried on

  tool_items_bytes_max: 56 * 1024, // docs/choices.md, "MCP": of a list that a tool gives, as JSON
  tool_text_chars_max: 2_000, // docs/choices.md, "MCP": of a result as text, beside what is structured

  json_body_bytes_max: 64 * 1024, // ours: REST bodies
  device_body_bytes_max: 16 * 1024, // docs/devices.md, "JSON and CBOR"
} as const;
