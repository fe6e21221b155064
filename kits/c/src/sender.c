/*
 * Takes the queue to the server, in its order: register a stream, announce and upload its chunks, end it. How far it is
 * stands in the stream's progress record, which is written before anything is removed.
 */
#include <string.h>

#include "internal.h"

#define TRIES_MAX 5u
#define WARNING_BYTES 128u
#define STORED_BYTES_MAX (256u * 1024u) /* larger chunks may take longer than such a request may */

static uint64_t now_ms(const spool_sender *sender) {
  return sender->platform->monotonic_ms(sender->platform->ctx);
}

static void tell(const spool_sender *sender, spool_event event) {
  if (event.code == NULL) event.code = "";
  if (event.text == NULL) event.text = "";
  if (sender->config.event != NULL) sender->config.event(sender->config.event_arg, &event);
}

int spool_sender_open(spool_sender *sender, const spool_platform *platform, const spool_sender_config *config) {
  memset(sender, 0, sizeof(*sender));
  sender->platform = sender->link.platform = platform;
  sender->config = *config;
  if (sender->config.retry_first_ms == 0) sender->config.retry_first_ms = 1000;
  if (sender->config.retry_max_ms == 0) sender->config.retry_max_ms = 300000;
  if (sender->config.refresh_ms == 0) sender->config.refresh_ms = 300000;
  return config->host == NULL || config->port == NULL ? SPOOL_E_ARGUMENT : SPOOL_OK;
}

void spool_sender_close(spool_sender *sender) {
  spool_link_close(&sender->link);
}

const spool_refusal *spool_last_refusal(const spool_sender *sender) {
  return &sender->refusal;
}

/* ---- One call ---- */

static void wait_for(spool_sender *sender, int32_t retry_after_s) {
  uint32_t random = 0;
  sender->platform->random(sender->platform->ctx, (unsigned char *)&random, sizeof(random));
  sender->failures++;
  const uint32_t ms = spool_wait_ms(sender->failures, retry_after_s, sender->config.retry_first_ms,
                                    sender->config.retry_max_ms, random);
  sender->not_before_ms = now_ms(sender) + ms;
  tell(sender, (spool_event){SPOOL_EVENT_WAITING, sender->stream, 0, sender->refusal.status, sender->refusal.code,
                             sender->refusal.reason, ms});
}

typedef struct {
  spool_action action;
  const unsigned char *body;
  size_t body_bytes;
  int32_t retry_after_s;
} answer;

/* The answer is in `work`. Other than SPOOL_OK: nothing was asked, for a fault of our own. */
static int ask(spool_sender *sender, spool_call_kind kind, const char *path, size_t body_bytes, spool_upload *upload,
               answer *given) {
  const bool is_get = kind == SPOOL_CALL_BINDING && body_bytes == 0 && strcmp(path, "/device/binding") == 0;
  spool_call call = {is_get ? "GET" : "POST", path, sender->request, body_bytes, NULL, NULL, 0};
  spool_http http;
  if (upload != NULL) {
    if (kind == SPOOL_CALL_UPLOAD) call.method = "PUT";
    call.source = spool_upload_read;
    call.source_arg = upload;
    call.source_bytes = spool_upload_bytes(&upload->format, upload->data_bytes);
  }
  const int result = spool_link_call(&sender->link, &sender->config, &call, sender->work, &http);
  memset(&sender->refusal, 0, sizeof(sender->refusal));
  *given = (answer){SPOOL_ACT_RETRY, sender->work, 0, -1};
  if (result != SPOOL_OK) return result == SPOOL_E_NETWORK || result == SPOOL_E_PROTOCOL ? SPOOL_OK : result;
  given->body_bytes = http.body_bytes;
  given->retry_after_s = http.retry_after_s;
  sender->refusal.status = http.status;
  if (http.status >= 300 && http.is_cbor) spool_decode_refusal(sender->work, http.body_bytes, &sender->refusal);
  given->action = spool_action_of(kind, &sender->refusal);
  if (given->action == SPOOL_ACT_DONE) sender->failures = 0;
  return SPOOL_OK;
}

/* An answer that could not be read counts as none. */
static void distrust(spool_sender *sender, answer *given) {
  spool_link_close(&sender->link);
  memset(&sender->refusal, 0, sizeof(sender->refusal));
  given->action = SPOOL_ACT_RETRY;
  given->retry_after_s = -1;
}

static int lose_binding(spool_sender *sender, const unsigned char *epoch) {
  spool_binding binding;
  const int result = spool_read_binding(sender->platform, &binding);
  if (result != SPOOL_OK) return result == SPOOL_E_NOT_FOUND ? SPOOL_OK : result;
  if (epoch != NULL && memcmp(binding.epoch, epoch, SPOOL_UUID_BYTES) != 0) return SPOOL_OK;
  if (sender->platform->remove(sender->platform->ctx, "binding") != 0) return SPOOL_E_STORAGE;
  tell(sender, (spool_event){.kind = SPOOL_EVENT_UNBOUND, .status = 403, .code = "DEVICE_UNBOUND"});
  return SPOOL_OK;
}

/* What a refusal means that is of no one stream. */
static int obey(spool_sender *sender, const answer *given) {
  switch (given->action) {
    case SPOOL_ACT_RENEW:
      sender->must_renew = true;
      return SPOOL_OK;
    case SPOOL_ACT_KEEP:
      sender->failures = UINT16_MAX; /* the longest wait */
      wait_for(sender, given->retry_after_s);
      return SPOOL_LATER;
    case SPOOL_ACT_STOP:
      sender->failures = UINT16_MAX;
      wait_for(sender, -1);
      spool_link_close(&sender->link);
      return SPOOL_E_IDENTITY;
    default:
      wait_for(sender, given->retry_after_s);
      return SPOOL_LATER;
  }
}

/* ---- Binding, time, certificate ---- */

static int keep_binding(spool_sender *sender, const answer *given, uint64_t asked_at_ms, bool *is_read) {
  const spool_platform *platform = sender->platform;
  spool_binding binding, before;
  int64_t server_time_ms;
  *is_read = spool_decode_binding(given->body, given->body_bytes, &binding, &server_time_ms);
  if (!*is_read) return SPOOL_OK;
  const int64_t travelled_ms = (int64_t)((now_ms(sender) - asked_at_ms) / 2);
  sender->clock_offset_ms = server_time_ms + travelled_ms - platform->unix_ms(platform->ctx);
  sender->refresh_at_ms = now_ms(sender) + sender->config.refresh_ms;
  const int result = spool_read_binding(platform, &before);
  if (result != SPOOL_OK && result != SPOOL_E_NOT_FOUND && result != SPOOL_E_DAMAGED) return result;
  if (result == SPOOL_OK && memcmp(before.epoch, binding.epoch, SPOOL_UUID_BYTES) == 0)
    binding.end_requested = before.end_requested;
  if (result == SPOOL_OK && memcmp(&before, &binding, sizeof(before)) == 0) return SPOOL_OK;
  return spool_write_binding(platform, &binding);
}

int spool_redeem(spool_sender *sender, const char *claim, const char *ble_address) {
  const uint64_t asked_at_ms = now_ms(sender);
  answer given;
  bool is_read = false;
  const size_t size = spool_encode_redeem(sender->request, SPOOL_REQUEST_BYTES, claim, ble_address);
  if (size == 0 || strlen(claim) >= SPOOL_CLAIM_BYTES) return SPOOL_E_ARGUMENT;
  int result = ask(sender, SPOOL_CALL_REDEEM, "/device/claims/redeem", size, NULL, &given);
  if (result != SPOOL_OK) return result;
  if (given.action == SPOOL_ACT_DONE) {
    result = keep_binding(sender, &given, asked_at_ms, &is_read);
    return result == SPOOL_OK && !is_read ? SPOOL_E_PROTOCOL : result;
  }
  if (given.action == SPOOL_ACT_RENEW) sender->must_renew = true;
  if (sender->refusal.status == 0) return SPOOL_E_NETWORK;
  return given.action == SPOOL_ACT_STOP || given.action == SPOOL_ACT_RENEW ? SPOOL_E_IDENTITY : SPOOL_E_REFUSED;
}

/* Asks whether the device is bound and what time it is; a personal one says later only that it is there. */
static int refresh(spool_sender *sender) {
  const uint64_t asked_at_ms = now_ms(sender);
  spool_binding binding;
  answer given;
  bool is_read = false;
  int result = spool_read_binding(sender->platform, &binding);
  if (result != SPOOL_OK && result != SPOOL_E_NOT_FOUND && result != SPOOL_E_DAMAGED) return result;
  const bool beats = sender->refresh_at_ms > 0 && result == SPOOL_OK && !binding.is_session;
  const char *path = beats ? "/device/heartbeat" : "/device/binding";
  result = ask(sender, SPOOL_CALL_BINDING, path, 0, NULL, &given);
  if (result != SPOOL_OK) return result;
  if (given.action == SPOOL_ACT_UNBOUND) {
    sender->refresh_at_ms = now_ms(sender) + sender->config.refresh_ms;
    return lose_binding(sender, NULL);
  }
  if (given.action != SPOOL_ACT_DONE) return obey(sender, &given);
  if (beats) {
    sender->refresh_at_ms = now_ms(sender) + sender->config.refresh_ms;
    return SPOOL_OK;
  }
  result = keep_binding(sender, &given, asked_at_ms, &is_read);
  if (result != SPOOL_OK || is_read) return result;
  distrust(sender, &given);
  return obey(sender, &given);
}

int spool_renew(spool_sender *sender) {
  char csr_pem[SPOOL_CSR_BYTES];
  answer given;
  int64_t renew_after_ms;
  const spool_text certificate = {(char *)sender->request, SPOOL_REQUEST_BYTES};
  const spool_text ca = {(char *)sender->block, SPOOL_BLOCK_BYTES};
  sender->renew_at_ms = now_ms(sender) + sender->config.retry_max_ms;
  int result = spool_request_certificate(sender->platform, csr_pem);
  if (result != SPOOL_OK) return result;
  const size_t size = spool_encode_renew(sender->request, SPOOL_REQUEST_BYTES, csr_pem);
  if (size == 0) return SPOOL_E_ARGUMENT;
  result = ask(sender, SPOOL_CALL_RENEW, "/device/certificates/renew", size, NULL, &given);
  if (result != SPOOL_OK) return result;
  if (given.action == SPOOL_ACT_DONE &&
      !spool_decode_renewed(given.body, given.body_bytes, certificate, ca, &renew_after_ms))
    distrust(sender, &given);
  if (given.action != SPOOL_ACT_DONE) {
    if (given.retry_after_s > 0) sender->renew_at_ms = now_ms(sender) + (uint64_t)given.retry_after_s * 1000;
    /* One that is only due does not hold anything up. */
    return sender->must_renew || given.action == SPOOL_ACT_STOP ? obey(sender, &given) : SPOOL_E_REFUSED;
  }
  result = spool_install_certificate(sender->platform, certificate.bytes, ca.bytes, NULL, renew_after_ms, sender->work);
  if (result != SPOOL_OK) return result;
  spool_link_close(&sender->link); /* the next request shows the new one, which ends the old one */
  sender->must_renew = false;
  sender->renew_at_ms = 0;
  tell(sender, (spool_event){.kind = SPOOL_EVENT_RENEWED});
  return SPOOL_OK;
}

/* By the server's clock, which is known once the binding was asked for. */
static bool renewal_is_due(const spool_sender *sender) {
  int64_t renew_after_ms;
  const spool_platform *platform = sender->platform;
  if (now_ms(sender) < sender->renew_at_ms || sender->refresh_at_ms == 0) return false;
  if (spool_read_renew_after(platform, &renew_after_ms) != SPOOL_OK) return false;
  return platform->unix_ms(platform->ctx) + sender->clock_offset_ms >= renew_after_ms;
}

/* ---- One stream ---- */

typedef struct {
  spool_sender *sender;
  uint32_t number;
  spool_stream stream;
  spool_progress progress;
} work;

static int save(const work *w) {
  return spool_write_progress(w->sender->platform, w->number, &w->progress);
}

static int set_aside(work *w) {
  const spool_refusal *refusal = &w->sender->refusal;
  w->progress.aside_status = (uint16_t)refusal->status;
  memcpy(w->progress.aside_code, refusal->code, SPOOL_CODE_BYTES);
  const int result = save(w);
  if (result == SPOOL_OK)
    tell(w->sender, (spool_event){SPOOL_EVENT_SET_ASIDE, w->number, w->progress.sequence, refusal->status,
                                  w->progress.aside_code, refusal->reason, 0});
  return result;
}

/* What a refusal means for the stream, or for all. */
static int obey_for(work *w, const answer *given) {
  spool_sender *sender = w->sender;
  int result;
  switch (given->action) {
    case SPOOL_ACT_SET_ASIDE:
      return set_aside(w);
    case SPOOL_ACT_UNBOUND:
      result = set_aside(w);
      return result == SPOOL_OK ? lose_binding(sender, w->stream.epoch) : result;
    case SPOOL_ACT_LET_GO:
      result = spool_remove_stream(sender->platform, w->number);
      if (result == SPOOL_OK)
        tell(sender, (spool_event){SPOOL_EVENT_LET_GO, w->number, w->progress.sequence, sender->refusal.status,
                                   sender->refusal.code, "", 0});
      return result;
    case SPOOL_ACT_REGISTER:
      if (w->progress.is_registered_again) return set_aside(w);
      w->progress.is_registered = false;
      w->progress.is_registered_again = true;
      return save(w);
    case SPOOL_ACT_REPEAT:
    case SPOOL_ACT_ANNOUNCE:
      if (++sender->tries >= TRIES_MAX) return set_aside(w);
      return obey(sender, given);
    default:
      return obey(sender, given);
  }
}

static int register_stream(work *w) {
  spool_sender *sender = w->sender;
  unsigned char ref[SPOOL_UUID_BYTES];
  answer given;
  const size_t size = spool_encode_register(sender->request, SPOOL_REQUEST_BYTES, &w->stream);
  if (size == 0) return SPOOL_E_ARGUMENT;
  const int result = ask(sender, SPOOL_CALL_REGISTER, "/device/streams", size, NULL, &given);
  if (result != SPOOL_OK) return result;
  if (given.action == SPOOL_ACT_DONE && (!spool_decode_stream(given.body, given.body_bytes, ref) ||
                                         memcmp(ref, w->stream.ref, SPOOL_UUID_BYTES) != 0))
    distrust(sender, &given);
  if (given.action != SPOOL_ACT_DONE) return obey_for(w, &given);
  w->progress.is_registered = true;
  return save(w);
}

/* The chunk is on the server's disk, or `was_damaged` and will never be. */
static int pass_chunk(work *w, const spool_seal *seal, spool_event_kind how) {
  spool_sender *sender = w->sender;
  const uint32_t sequence = w->progress.sequence++;
  if (seal != NULL) {
    w->progress.frame = seal->frame + seal->data_bytes / (2u * w->stream.format.channels);
    if (seal->end_ms > w->progress.end_ms) w->progress.end_ms = seal->end_ms;
  }
  int result = save(w);
  if (result == SPOOL_OK) result = spool_remove_chunk(sender->platform, w->number, sequence);
  sender->tries = 0;
  sender->is_doubtful = false;
  if (result == SPOOL_OK) tell(sender, (spool_event){.kind = how, .stream = w->number, .sequence = sequence});
  return result;
}

static int ask_status(work *w, const unsigned char *ref, spool_chunk_state *state, answer *given) {
  spool_sender *sender = w->sender;
  const size_t size = spool_encode_status(sender->request, SPOOL_REQUEST_BYTES, &w->stream, ref);
  if (size == 0) return SPOOL_E_ARGUMENT;
  const int result = ask(sender, SPOOL_CALL_STATUS, "/device/chunks/status", size, NULL, given);
  if (result != SPOOL_OK || given->action != SPOOL_ACT_DONE) return result;
  if (!spool_decode_status(given->body, given->body_bytes, state)) distrust(sender, given);
  return SPOOL_OK;
}

static int announce(work *w, const unsigned char *ref, const spool_seal *seal, char path[SPOOL_PATH_BYTES],
                    answer *given) {
  spool_sender *sender = w->sender;
  unsigned char echoed[SPOOL_UUID_BYTES];
  char warning[WARNING_BYTES];
  const uint32_t sequence = w->progress.sequence;
  const size_t size = spool_encode_intent(sender->request, SPOOL_REQUEST_BYTES, &w->stream, ref, sequence, seal);
  if (size == 0) return SPOOL_E_ARGUMENT;
  const int result = ask(sender, SPOOL_CALL_INTENT, "/device/chunks/intents", size, NULL, given);
  if (result != SPOOL_OK || given->action != SPOOL_ACT_DONE) return result;
  if (!spool_decode_intent(given->body, given->body_bytes, echoed, path, SPOOL_PATH_BYTES, warning, sizeof(warning)) ||
      memcmp(echoed, ref, SPOOL_UUID_BYTES) != 0)
    distrust(sender, given);
  else if (warning[0] != 0)
    tell(sender, (spool_event){.kind = SPOOL_EVENT_WARNING, .stream = w->number, .sequence = sequence, .text = warning});
  return SPOOL_OK;
}

static int upload(work *w, const spool_seal *seal, const char *path, spool_chunk_state *state, answer *given) {
  spool_sender *sender = w->sender;
  spool_upload source = {sender->platform, {0}, w->stream.format, seal->data_bytes, sender->block, 0};
  spool_chunk_name(source.name, 'a', w->number, w->progress.sequence);
  sender->is_doubtful = true;
  const int result = ask(sender, SPOOL_CALL_UPLOAD, path, 0, &source, given);
  if (result != SPOOL_OK || given->action != SPOOL_ACT_DONE) return result;
  if (!spool_decode_upload(given->body, given->body_bytes, seal->sha256, state)) distrust(sender, given);
  return SPOOL_OK;
}

/* Announces the chunk and sends its bytes in one request. */
static int store(work *w, const unsigned char *ref, const spool_seal *seal, spool_chunk_state *state, answer *given) {
  spool_sender *sender = w->sender;
  spool_upload source = {sender->platform, {0}, w->stream.format, seal->data_bytes, sender->block, 0};
  char warning[WARNING_BYTES];
  const uint32_t sequence = w->progress.sequence;
  const size_t size = spool_encode_store(sender->request, SPOOL_REQUEST_BYTES, &w->stream, ref, sequence, seal);
  if (size == 0) return SPOOL_E_ARGUMENT;
  spool_chunk_name(source.name, 'a', w->number, sequence);
  sender->is_doubtful = true;
  const int result = ask(sender, SPOOL_CALL_STORE, "/device/chunks", size, &source, given);
  if (result != SPOOL_OK || given->action != SPOOL_ACT_DONE) return result;
  if (!spool_decode_stored(given->body, given->body_bytes, seal->sha256, state, warning, sizeof(warning)))
    distrust(sender, given);
  else if (*state != SPOOL_CHUNK_THERE)
    given->action = SPOOL_ACT_SPLIT; /* its refusal by itself says more */
  else if (warning[0] != 0)
    tell(sender, (spool_event){.kind = SPOOL_EVENT_WARNING, .stream = w->number, .sequence = sequence, .text = warning});
  return SPOOL_OK;
}

static int announce_and_upload(work *w, const unsigned char *ref, const spool_seal *seal, spool_chunk_state *state,
                               answer *given) {
  char path[SPOOL_PATH_BYTES];
  const int result = announce(w, ref, seal, path, given);
  return result == SPOOL_OK && given->action == SPOOL_ACT_DONE ? upload(w, seal, path, state, given) : result;
}

static int send_bytes(work *w, const unsigned char *ref, const spool_seal *seal, spool_chunk_state *state,
                      answer *given) {
  if (seal->size_bytes <= STORED_BYTES_MAX) {
    const int result = store(w, ref, seal, state, given);
    if (result != SPOOL_OK || given->action != SPOOL_ACT_SPLIT) return result;
  }
  return announce_and_upload(w, ref, seal, state, given);
}

static int send_chunk(work *w, const spool_seal *seal) {
  spool_sender *sender = w->sender;
  spool_chunk_state state = SPOOL_CHUNK_UNKNOWN;
  unsigned char ref[SPOOL_UUID_BYTES];
  answer given = {SPOOL_ACT_DONE, NULL, 0, -1};
  int result = spool_chunk_ref(w->stream.ref, w->progress.sequence, ref);
  if (result == SPOOL_OK && sender->is_doubtful) result = ask_status(w, ref, &state, &given);
  if (result == SPOOL_OK && given.action == SPOOL_ACT_DONE && state != SPOOL_CHUNK_THERE)
    result = send_bytes(w, ref, seal, &state, &given);
  if (result == SPOOL_E_DAMAGED) return pass_chunk(w, seal, SPOOL_EVENT_DAMAGED);
  if (result != SPOOL_OK) return result;
  if (given.action != SPOOL_ACT_DONE) return obey_for(w, &given);
  if (state == SPOOL_CHUNK_THERE) return pass_chunk(w, seal, SPOOL_EVENT_STORED);
  given.action = SPOOL_ACT_ANNOUNCE; /* it still waits for its bytes */
  return obey_for(w, &given);
}

static int end_stream(work *w) {
  spool_sender *sender = w->sender;
  answer given;
  const size_t size = spool_encode_end(sender->request, SPOOL_REQUEST_BYTES, &w->stream);
  if (size == 0) return SPOOL_E_ARGUMENT;
  int result = ask(sender, SPOOL_CALL_END, "/device/streams/end", size, NULL, &given);
  if (result != SPOOL_OK) return result;
  if (given.action != SPOOL_ACT_DONE) return obey_for(w, &given);
  result = spool_remove_stream(sender->platform, w->number);
  if (result == SPOOL_OK) tell(sender, (spool_event){.kind = SPOOL_EVENT_STREAM_SENT, .stream = w->number});
  return result;
}

/* Of a chunk without a seal that can be read. Where its audio is there, the recorder seals it anew when it opens. */
static int pass_lost(work *w, int how) {
  spool_survey survey = {0};
  char name[SPOOL_NAME_BYTES], byte;
  const spool_platform *platform = w->sender->platform;
  spool_chunk_name(name, 'a', w->number, w->progress.sequence);
  if (how == SPOOL_E_DAMAGED && platform->read(platform->ctx, name, 0, &byte, 1) != SPOOL_E_NOT_FOUND) return how;
  survey.stream = w->number;
  const int result = spool_look(platform, &survey);
  if (result != SPOOL_OK) return result;
  if (how == SPOOL_E_DAMAGED || survey.sealed_next > w->progress.sequence)
    return pass_chunk(w, NULL, SPOOL_EVENT_DAMAGED);
  return w->stream.is_ended ? end_stream(w) : SPOOL_IDLE;
}

static int send_stream(spool_sender *sender, uint32_t number) {
  work w = {.sender = sender, .number = number};
  spool_seal seal;
  /* The stream before its chunks: once it says that it has ended, all of them are there. */
  int result = spool_read_stream(sender->platform, number, &w.stream);
  if (result == SPOOL_OK) result = spool_read_progress(sender->platform, number, w.stream.ref, &w.progress);
  if (result != SPOOL_OK) return result == SPOOL_E_NOT_FOUND ? SPOOL_IDLE : result;
  if (w.progress.aside_status != 0) return SPOOL_IDLE;
  if (sender->stream != number) {
    sender->stream = number;
    sender->tries = 0;
    sender->is_doubtful = true;
    /* The last one that was passed may have been left by a loss of power. */
    if (w.progress.sequence > 0) result = spool_remove_chunk(sender->platform, number, w.progress.sequence - 1);
    if (result != SPOOL_OK) return result;
  }
  if (!w.progress.is_registered) return register_stream(&w);
  result = spool_read_seal(sender->platform, number, w.progress.sequence, &seal);
  if (result == SPOOL_OK) return send_chunk(&w, &seal);
  return result == SPOOL_E_NOT_FOUND || result == SPOOL_E_DAMAGED ? pass_lost(&w, result) : result;
}

/* ---- The queue ---- */

int spool_end_session(spool_sender *sender) {
  spool_binding binding;
  const int result = spool_read_binding(sender->platform, &binding);
  if (result != SPOOL_OK) return result == SPOOL_E_NOT_FOUND ? SPOOL_E_UNBOUND : result;
  if (!binding.is_session) return SPOOL_E_ARGUMENT;
  binding.end_requested = true;
  return spool_write_binding(sender->platform, &binding);
}

/* When nothing of it is left to send. */
static int finish_session(spool_sender *sender, bool is_recording) {
  spool_binding binding;
  answer given;
  int result = spool_read_binding(sender->platform, &binding);
  if (result == SPOOL_E_NOT_FOUND) return SPOOL_IDLE;
  if (result != SPOOL_OK || !binding.end_requested || is_recording) return result == SPOOL_OK ? SPOOL_IDLE : result;
  const size_t size = spool_encode_epoch(sender->request, SPOOL_REQUEST_BYTES, binding.epoch);
  if (size == 0) return SPOOL_E_ARGUMENT;
  result = ask(sender, SPOOL_CALL_SESSION_END, "/device/session/end", size, NULL, &given);
  if (result != SPOOL_OK) return result;
  if (given.action == SPOOL_ACT_SET_ASIDE) {
    binding.end_requested = false; /* it has no session that could end */
    result = spool_write_binding(sender->platform, &binding);
    return result == SPOOL_OK ? SPOOL_E_REFUSED : result;
  }
  if (given.action != SPOOL_ACT_DONE) return obey(sender, &given);
  if (sender->platform->remove(sender->platform->ctx, "binding") != 0) return SPOOL_E_STORAGE;
  tell(sender, (spool_event){.kind = SPOOL_EVENT_SESSION_ENDED});
  return SPOOL_OK;
}

static int send_queue(spool_sender *sender) {
  spool_survey survey = {0};
  bool is_recording = false, is_damaged = false;
  for (;;) {
    int result = spool_look(sender->platform, &survey);
    if (result != SPOOL_OK) return result;
    if (survey.next == 0) break;
    result = send_stream(sender, survey.next);
    if (result != SPOOL_IDLE && result != SPOOL_E_DAMAGED) return result;
    spool_stream stream;
    if (result == SPOOL_E_DAMAGED) is_damaged = true;
    else if (spool_read_stream(sender->platform, survey.next, &stream) == SPOOL_OK && !stream.is_ended)
      is_recording = true;
    survey.after = survey.next;
  }
  const int result = finish_session(sender, is_recording);
  return result == SPOOL_IDLE && is_damaged ? SPOOL_E_DAMAGED : result;
}

static int step(spool_sender *sender) {
  if (sender->must_renew) return spool_renew(sender);
  if (now_ms(sender) >= sender->refresh_at_ms) return refresh(sender);
  if (renewal_is_due(sender)) {
    const int result = spool_renew(sender);
    return result == SPOOL_E_REFUSED ? SPOOL_OK : result;
  }
  return send_queue(sender);
}

int spool_step(spool_sender *sender, uint32_t *wait_ms) {
  uint64_t now = now_ms(sender);
  int result = SPOOL_LATER;
  if (now >= sender->not_before_ms) {
    result = step(sender);
    now = now_ms(sender);
  }
  *wait_ms = sender->not_before_ms > now ? (uint32_t)(sender->not_before_ms - now) : 0;
  return result;
}

int spool_drain(spool_sender *sender, uint32_t patience_ms) {
  const spool_platform *platform = sender->platform;
  const uint64_t until_ms = now_ms(sender) + patience_ms;
  for (;;) {
    uint32_t wait_ms;
    const int result = spool_step(sender, &wait_ms);
    if (result != SPOOL_OK && result != SPOOL_LATER) return result;
    if (now_ms(sender) + wait_ms >= until_ms) return SPOOL_LATER;
    if (result == SPOOL_LATER) platform->sleep_ms(platform->ctx, wait_ms);
  }
}
