/* Bodies in CBOR. UUIDs and hashes go as byte strings, and come as text. */
#include <string.h>

#include <cbor.h>

#include "internal.h"

/* ---- What is sent: one map each ---- */

typedef struct {
  unsigned char *to;
  CborEncoder whole;
  CborEncoder map;
  bool failed;
} writer;

static writer begin_map(unsigned char *to, size_t size, size_t members) {
  writer w;
  w.to = to;
  cbor_encoder_init(&w.whole, to, size, 0);
  w.failed = cbor_encoder_create_map(&w.whole, &w.map, members) != CborNoError;
  return w;
}

static void put_text(writer *w, const char *key, const char *value) {
  w->failed = w->failed || cbor_encode_text_stringz(&w->map, key) != CborNoError ||
              cbor_encode_text_stringz(&w->map, value) != CborNoError;
}

static void put_bytes(writer *w, const char *key, const unsigned char *value, size_t size) {
  w->failed = w->failed || cbor_encode_text_stringz(&w->map, key) != CborNoError ||
              cbor_encode_byte_string(&w->map, value, size) != CborNoError;
}

static void put_number(writer *w, const char *key, uint64_t value) {
  w->failed = w->failed || cbor_encode_text_stringz(&w->map, key) != CborNoError ||
              cbor_encode_uint(&w->map, value) != CborNoError;
}

/* 0 where it did not fit. */
static size_t end_map(writer *w) {
  if (w->failed || cbor_encoder_close_container(&w->whole, &w->map) != CborNoError) return 0;
  return cbor_encoder_get_buffer_size(&w->whole, w->to);
}

size_t spool_encode_redeem(unsigned char *to, size_t size, const char *claim, const char *ble_address) {
  writer w = begin_map(to, size, ble_address == NULL ? 1 : 2);
  put_text(&w, "claim", claim);
  if (ble_address != NULL) put_text(&w, "ble_address", ble_address);
  return end_map(&w);
}

size_t spool_encode_register(unsigned char *to, size_t size, const spool_stream *stream) {
  char captured_at[25];
  writer w = begin_map(to, size, 4);
  spool_time_text(stream->captured_at_ms, captured_at);
  put_bytes(&w, "source_stream_ref", stream->ref, SPOOL_UUID_BYTES);
  put_text(&w, "captured_at", captured_at);
  put_number(&w, "clock_uncertainty_ms", stream->clock_uncertainty_ms);
  put_bytes(&w, "binding_epoch", stream->epoch, SPOOL_UUID_BYTES);
  return end_map(&w);
}

size_t spool_encode_status(unsigned char *to, size_t size, const spool_stream *stream,
                           const unsigned char chunk_ref[SPOOL_UUID_BYTES]) {
  CborEncoder refs;
  writer w = begin_map(to, size, 3);
  put_bytes(&w, "binding_epoch", stream->epoch, SPOOL_UUID_BYTES);
  put_bytes(&w, "source_stream_ref", stream->ref, SPOOL_UUID_BYTES);
  w.failed = w.failed || cbor_encode_text_stringz(&w.map, "source_chunk_refs") != CborNoError ||
             cbor_encoder_create_array(&w.map, &refs, 1) != CborNoError ||
             cbor_encode_byte_string(&refs, chunk_ref, SPOOL_UUID_BYTES) != CborNoError ||
             cbor_encoder_close_container(&w.map, &refs) != CborNoError;
  return end_map(&w);
}

/* What both ways of sending a chunk say of it; the map has a place for each. */
static void put_chunk(writer *w, const spool_stream *stream, const unsigned char *chunk_ref, uint32_t sequence,
                      const spool_seal *seal) {
  const bool is_raw = stream->format.container == SPOOL_RAW;
  put_bytes(w, "source_chunk_ref", chunk_ref, SPOOL_UUID_BYTES);
  put_number(w, "sequence", sequence);
  put_number(w, "source_start_ms", seal->start_ms);
  put_number(w, "publication_start_ms", seal->start_ms);
  put_number(w, "source_end_ms", seal->end_ms);
  put_text(w, "codec", "pcm_s16le");
  put_text(w, "container", is_raw ? "raw" : "wav");
  put_bytes(w, "sha256", seal->sha256, SPOOL_SHA256_BYTES);
  if (is_raw) {
    put_number(w, "sample_rate_hz", stream->format.sample_rate_hz);
    put_number(w, "channels", stream->format.channels);
  }
}

static size_t chunk_members(const spool_stream *stream) {
  return stream->format.container == SPOOL_RAW ? 10 : 8;
}

size_t spool_encode_intent(unsigned char *to, size_t size, const spool_stream *stream,
                           const unsigned char chunk_ref[SPOOL_UUID_BYTES], uint32_t sequence, const spool_seal *seal) {
  writer w = begin_map(to, size, chunk_members(stream) + 3);
  put_chunk(&w, stream, chunk_ref, sequence, seal);
  put_bytes(&w, "source_stream_ref", stream->ref, SPOOL_UUID_BYTES);
  put_number(&w, "size_bytes", seal->size_bytes);
  put_bytes(&w, "binding_epoch", stream->epoch, SPOOL_UUID_BYTES);
  return end_map(&w);
}

#define BYTES_HEAD_BYTES 5u

size_t spool_encode_store(unsigned char *to, size_t size, const spool_stream *stream,
                          const unsigned char chunk_ref[SPOOL_UUID_BYTES], uint32_t sequence, const spool_seal *seal) {
  CborEncoder chunks;
  writer chunk;
  writer w = begin_map(to, size, 3);
  put_bytes(&w, "source_stream_ref", stream->ref, SPOOL_UUID_BYTES);
  put_bytes(&w, "binding_epoch", stream->epoch, SPOOL_UUID_BYTES);
  chunk.failed = w.failed || cbor_encode_text_stringz(&w.map, "chunks") != CborNoError ||
                 cbor_encoder_create_array(&w.map, &chunks, 1) != CborNoError ||
                 cbor_encoder_create_map(&chunks, &chunk.map, chunk_members(stream) + 1) != CborNoError;
  if (chunk.failed) return 0;
  put_chunk(&chunk, stream, chunk_ref, sequence, seal);
  chunk.failed = chunk.failed || cbor_encode_text_stringz(&chunk.map, "bytes") != CborNoError;
  const size_t at = chunk.failed ? size : cbor_encoder_get_buffer_size(&chunk.map, to);
  if (at + BYTES_HEAD_BYTES > size) return 0;
  /* The head of a byte string, whose content is in storage; nothing is closed, as nothing follows it. */
  to[at] = 0x5a;
  for (unsigned i = 0; i < 4; i++) to[at + 1 + i] = (unsigned char)(seal->size_bytes >> (24 - 8 * i));
  return at + BYTES_HEAD_BYTES;
}

size_t spool_encode_end(unsigned char *to, size_t size, const spool_stream *stream) {
  writer w = begin_map(to, size, 3);
  put_bytes(&w, "source_stream_ref", stream->ref, SPOOL_UUID_BYTES);
  put_number(&w, "end_ms", stream->end_ms);
  put_bytes(&w, "binding_epoch", stream->epoch, SPOOL_UUID_BYTES);
  return end_map(&w);
}

size_t spool_encode_epoch(unsigned char *to, size_t size, const unsigned char epoch[SPOOL_UUID_BYTES]) {
  writer w = begin_map(to, size, 1);
  put_bytes(&w, "binding_epoch", epoch, SPOOL_UUID_BYTES);
  return end_map(&w);
}

size_t spool_encode_renew(unsigned char *to, size_t size, const char *csr_pem) {
  writer w = begin_map(to, size, 1);
  put_text(&w, "csr_pem", csr_pem);
  return end_map(&w);
}

/* ---- What comes ---- */

static bool find(const CborValue *map, const char *key, CborValue *value) {
  return cbor_value_is_map(map) && cbor_value_map_find_value(map, key, value) == CborNoError &&
         cbor_value_is_valid(value);
}

/* `text` has its zero. False where there is none, or it does not fit. */
static bool find_text(const CborValue *map, const char *key, char *text, size_t size) {
  CborValue value;
  size_t length = size;
  if (!find(map, key, &value) || !cbor_value_is_text_string(&value)) return false;
  if (cbor_value_copy_text_string(&value, text, &length, NULL) != CborNoError || length >= size) return false;
  text[length] = 0;
  return strlen(text) == length;
}

static bool find_number(const CborValue *map, const char *key, uint32_t *number) {
  CborValue value;
  uint64_t found;
  if (!find(map, key, &value) || !cbor_value_is_unsigned_integer(&value)) return false;
  if (cbor_value_get_uint64(&value, &found) != CborNoError || found > UINT32_MAX) return false;
  *number = (uint32_t)found;
  return true;
}

static bool find_uuid(const CborValue *map, const char *key, unsigned char uuid[SPOOL_UUID_BYTES]) {
  char text[37];
  return find_text(map, key, text, sizeof(text)) && spool_uuid_parse(text, uuid);
}

static bool find_time(const CborValue *map, const char *key, int64_t *unix_ms) {
  char text[25];
  return find_text(map, key, text, sizeof(text)) && spool_time_parse(text, unix_ms);
}

/* The parser that values point into lives as long as they. */
static bool find_envelope(const unsigned char *body, size_t size, bool success, CborParser *parser, CborValue *inner) {
  CborValue whole, said;
  bool is_success;
  if (size == 0 || cbor_parser_init(body, size, 0, parser, &whole) != CborNoError) return false;
  if (!find(&whole, "success", &said) || !cbor_value_is_boolean(&said)) return false;
  if (cbor_value_get_boolean(&said, &is_success) != CborNoError || is_success != success) return false;
  return find(&whole, success ? "data" : "error", inner) && cbor_value_is_map(inner);
}

bool spool_decode_refusal(const unsigned char *body, size_t size, spool_refusal *refusal) {
  CborParser parser;
  CborValue error;
  refusal->code[0] = refusal->reason[0] = 0;
  if (!find_envelope(body, size, false, &parser, &error)) return false;
  if (!find_text(&error, "reason", refusal->reason, sizeof(refusal->reason))) refusal->reason[0] = 0;
  return find_text(&error, "code", refusal->code, sizeof(refusal->code));
}

static bool decode_server_time(const CborValue *data, int64_t *server_time_ms) {
  return find_time(data, "server_time", server_time_ms);
}

bool spool_decode_heartbeat(const unsigned char *body, size_t size, int64_t *server_time_ms) {
  CborParser parser;
  CborValue data;
  return find_envelope(body, size, true, &parser, &data) && decode_server_time(&data, server_time_ms);
}

bool spool_decode_binding(const unsigned char *body, size_t size, spool_binding *binding, int64_t *server_time_ms) {
  CborParser parser;
  CborValue data, session, limits;
  memset(binding, 0, sizeof(*binding));
  if (!find_envelope(body, size, true, &parser, &data) || !decode_server_time(&data, server_time_ms)) return false;
  if (!find_uuid(&data, "binding_epoch", binding->epoch)) return false;
  if (!find(&data, "limits", &limits) || !find_number(&limits, "chunk_bytes_max", &binding->chunk_bytes_max))
    return false;
  if (!find(&data, "session", &session) || cbor_value_is_null(&session)) return true;
  binding->is_session = true;
  return find_time(&session, "expires_at", &binding->expires_at_ms) &&
         find_time(&session, "drain_until", &binding->drain_until_ms);
}

bool spool_decode_stream(const unsigned char *body, size_t size, unsigned char ref[SPOOL_UUID_BYTES]) {
  CborParser parser;
  CborValue data;
  return find_envelope(body, size, true, &parser, &data) && find_uuid(&data, "source_stream_ref", ref);
}

/* A path on the same server, of characters that a request line may hold. */
static bool is_path(const char *path) {
  for (const char *c = path; *c != 0; c++)
    if (*c <= ' ' || *c >= 0x7f) return false;
  return path[0] == '/' && path[1] != '/';
}

/* The first of `warnings`, as far as it fits; empty for none. */
static void find_warning(const CborValue *map, char *warning, size_t size) {
  CborValue warnings, first;
  size_t length = size - 1;
  warning[0] = 0;
  if (!find(map, "warnings", &warnings) || !cbor_value_is_array(&warnings)) return;
  if (cbor_value_enter_container(&warnings, &first) != CborNoError || !cbor_value_is_text_string(&first)) return;
  memset(warning, 0, size);
  if (cbor_value_copy_text_string(&first, warning, &length, NULL) == CborErrorOutOfMemory || warning[0] == 0)
    memcpy(warning, "see the intent", size < 15 ? size : 15);
  warning[size - 1] = 0;
}

bool spool_decode_intent(const unsigned char *body, size_t size, unsigned char ref[SPOOL_UUID_BYTES], char *path,
                         size_t path_size, char *warning, size_t warning_size) {
  CborParser parser;
  CborValue data;
  warning[0] = 0;
  if (!find_envelope(body, size, true, &parser, &data) || !find_uuid(&data, "source_chunk_ref", ref)) return false;
  if (!find_text(&data, "upload_path", path, path_size) || !is_path(path)) return false;
  find_warning(&data, warning, warning_size);
  return true;
}

/* Of one chunk, or of the items of a list that is to hold at most it. */
static bool chunk_state(const CborValue *chunk, spool_chunk_state *state) {
  static const char *const there[] = {"stored", "processing", "processed", "failed"};
  CborValue stored_at;
  char status[SPOOL_CODE_BYTES];
  if (!find_text(chunk, "status", status, sizeof(status))) return false;
  *state = SPOOL_CHUNK_AWAITED;
  for (size_t i = 0; i < COUNT_OF(there); i++)
    if (strcmp(status, there[i]) == 0) *state = SPOOL_CHUNK_THERE;
  /* One that was stored, and that its workspace does not keep any longer. */
  if (strcmp(status, "expired") == 0 && find(chunk, "stored_at", &stored_at) && cbor_value_is_text_string(&stored_at))
    *state = SPOOL_CHUNK_THERE;
  return true;
}

bool spool_decode_status(const unsigned char *body, size_t size, spool_chunk_state *state) {
  CborParser parser;
  CborValue data, items, item;
  *state = SPOOL_CHUNK_UNKNOWN;
  if (!find_envelope(body, size, true, &parser, &data) || !find(&data, "items", &items)) return false;
  if (!cbor_value_is_array(&items) || cbor_value_enter_container(&items, &item) != CborNoError) return false;
  return cbor_value_at_end(&item) || (cbor_value_is_map(&item) && chunk_state(&item, state));
}

static bool has_hash(const CborValue *map, const unsigned char sha256[SPOOL_SHA256_BYTES]) {
  static const char digits[] = "0123456789abcdef";
  char hash[2 * SPOOL_SHA256_BYTES + 1];
  if (!find_text(map, "sha256", hash, sizeof(hash))) return false;
  for (unsigned i = 0; i < SPOOL_SHA256_BYTES; i++)
    if (hash[2 * i] != digits[sha256[i] >> 4] || hash[2 * i + 1] != digits[sha256[i] & 15]) return false;
  return true;
}

bool spool_decode_upload(const unsigned char *body, size_t size, const unsigned char sha256[SPOOL_SHA256_BYTES],
                         spool_chunk_state *state) {
  CborParser parser;
  CborValue data;
  char status[SPOOL_CODE_BYTES];
  if (!find_envelope(body, size, true, &parser, &data)) return false;
  if (!find_text(&data, "status", status, sizeof(status)) || !has_hash(&data, sha256)) return false;
  const bool is_there = strcmp(status, "stored") == 0 || strcmp(status, "expired") == 0;
  *state = is_there ? SPOOL_CHUNK_THERE : SPOOL_CHUNK_AWAITED;
  return true;
}

bool spool_decode_stored(const unsigned char *body, size_t size, const unsigned char sha256[SPOOL_SHA256_BYTES],
                         spool_chunk_state *state, char *warning, size_t warning_size) {
  CborParser parser;
  CborValue data, items, item, error;
  char status[SPOOL_CODE_BYTES];
  warning[0] = 0;
  *state = SPOOL_CHUNK_AWAITED;
  if (!find_envelope(body, size, true, &parser, &data) || !find(&data, "items", &items)) return false;
  if (!cbor_value_is_array(&items) || cbor_value_enter_container(&items, &item) != CborNoError) return false;
  if (!cbor_value_is_map(&item)) return false;
  if (find(&item, "error", &error)) return true;
  if (!has_hash(&item, sha256) || !find_text(&item, "status", status, sizeof(status))) return false;
  find_warning(&item, warning, warning_size);
  /* Of an expired one the bytes were here. */
  if (strcmp(status, "expired") == 0) *state = SPOOL_CHUNK_THERE;
  return *state == SPOOL_CHUNK_THERE || chunk_state(&item, state);
}

bool spool_decode_renewed(const unsigned char *body, size_t size, spool_text certificate_pem, spool_text ca_pem,
                          int64_t *renew_after_ms) {
  CborParser parser;
  CborValue data;
  return find_envelope(body, size, true, &parser, &data) &&
         find_text(&data, "certificate_pem", certificate_pem.bytes, certificate_pem.size) &&
         find_text(&data, "ca_pem", ca_pem.bytes, ca_pem.size) &&
         find_time(&data, "renew_after", renew_after_ms);
}
