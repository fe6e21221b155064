/* Tests of what needs no server: run by `make test`, best with SANITIZE=1. `sizes` prints the sizes of the buffers. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "spool_posix.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

static char folder[256];
static spool_posix posix;
static spool_platform platform;
static spool_recorder recorder;
static uint32_t seed = 1;

static uint32_t chance(uint32_t below) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % below;
}

static int count_name(void *arg, const char *name) {
  (void)name;
  ++*(int *)arg;
  return 0;
}

static int collect_name(void *arg, const char *name) {
  strcpy(arg, name);
  return 1;
}

static void empty_storage(void) {
  char name[SPOOL_NAME_BYTES];
  for (;;) {
    name[0] = 0;
    platform.list(&posix, collect_name, name);
    if (name[0] == 0) return;
    CHECK(platform.remove(&posix, name) == 0);
  }
}

/* ---- HTTP ---- */

static spool_http parse(const char *text, size_t step, unsigned char *body, size_t body_size) {
  spool_http http;
  const size_t size = strlen(text);
  spool_http_begin(&http, body, body_size);
  for (size_t at = 0; at < size;) {
    const size_t part = size - at < step ? size - at : step;
    const size_t taken = spool_http_feed(&http, (const unsigned char *)text + at, part);
    at += taken;
    if (http.state >= SPOOL_HTTP_DONE) break;
  }
  if (http.state < SPOOL_HTTP_DONE) spool_http_end(&http);
  return http;
}

static const struct {
  const char *text;
  int status; /* 0: refused */
  const char *body;
  int32_t retry_after_s;
} ANSWERS[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", -1},
    {"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, "", -1},
    {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", -1},
    {"HTTP/1.1 503 \r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n", 503, "", 17},
    {"HTTP/1.1 503\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\nContent-Length: 0\r\n\r\n", 503, "", -1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n there\r\n0\r\nX: y\r\n\r\n", 200,
     "hello there", -1},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", -1},
    {"HTTP/1.0 200 OK\r\n\r\nto the end", 200, "to the end", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n", 0, "", -1}, /* more than the 64 bytes there are */
    {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 0, "", -1}, /* cut short */
    {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n folded\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 0, "", -1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", 0, "", -1},
    {"HTTP/2 200\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 2000 OK\r\n\r\n", 0, "", -1},
    {"HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n", 0, "", -1},
    {"\r\n\r\n", 0, "", -1},
    {"", 0, "", -1},
};

static void test_http(void) {
  unsigned char body[64];
  for (size_t i = 0; i < COUNT_OF(ANSWERS); i++) {
    for (size_t step = 1; step < 80; step++) {
      const spool_http http = parse(ANSWERS[i].text, step, body, sizeof(body));
      if (ANSWERS[i].status == 0) {
        if (http.state != SPOOL_HTTP_FAILED) fprintf(stderr, "answer %u in steps of %u\n", (unsigned)i, (unsigned)step);
        CHECK(http.state == SPOOL_HTTP_FAILED);
        continue;
      }
      CHECK(http.state == SPOOL_HTTP_DONE && http.status == ANSWERS[i].status);
      CHECK(http.body_bytes == strlen(ANSWERS[i].body) && memcmp(body, ANSWERS[i].body, http.body_bytes) == 0);
      CHECK(http.retry_after_s == ANSWERS[i].retry_after_s);
    }
  }
}

/* Nothing is read or written outside, and nothing goes on for ever, whatever comes. The sanitizers look. */
static void test_http_at_random(void) {
  unsigned char body[64];
  unsigned char text[512];
  for (int round = 0; round < 20000; round++) {
    const char *model = ANSWERS[chance(COUNT_OF(ANSWERS))].text;
    const size_t size = strlen(model);
    spool_http http;
    memcpy(text, model, size);
    for (uint32_t i = 0; size > 0 && i < 1 + chance(4); i++) text[chance((uint32_t)size)] = (unsigned char)chance(256);
    spool_http_begin(&http, body, sizeof(body));
    size_t at = 0;
    while (at < size && http.state < SPOOL_HTTP_DONE) {
      const size_t part = 1 + chance((uint32_t)(size - at));
      at += spool_http_feed(&http, text + at, part > size - at ? size - at : part);
    }
    CHECK(http.body_bytes <= sizeof(body));
  }
  /* A head, and a row of interim answers, that do not end. */
  spool_http http;
  spool_http_begin(&http, body, sizeof(body));
  spool_http_feed(&http, (const unsigned char *)"HTTP/1.1 200 OK\r\n", 17);
  for (int i = 0; i < 100000 && http.state != SPOOL_HTTP_FAILED; i++) spool_http_feed(&http, (const unsigned char *)"a: b\r\n", 6);
  CHECK(http.state == SPOOL_HTTP_FAILED);
  spool_http_begin(&http, body, sizeof(body));
  for (int i = 0; i < 1000 && http.state != SPOOL_HTTP_FAILED; i++)
    spool_http_feed(&http, (const unsigned char *)"HTTP/1.1 100 C\r\n\r\n", 18);
  CHECK(http.state == SPOOL_HTTP_FAILED);
}

/* ---- CBOR ---- */

static void test_cbor_at_random(void) {
  /* {"success": true, "data": {"source_chunk_ref": "...", "upload_path": "/device/chunks/1/content"}} */
  static const char model[] =
      "\xa2\x67success\xf5\x64" "data\xa2\x70source_chunk_ref\x78\x24" "00112233-4455-6677-8899-aabbccddeeff"
      "\x6bupload_path\x78\x18/device/chunks/1/content";
  unsigned char bytes[256], ref[SPOOL_UUID_BYTES];
  char path[SPOOL_PATH_BYTES], warning[32];
  spool_refusal refusal;
  spool_binding binding;
  spool_chunk_state state;
  int64_t ms;
  const size_t size = sizeof(model) - 1;
  CHECK(spool_decode_intent((const unsigned char *)model, size, ref, path, sizeof(path), warning, sizeof(warning)));
  CHECK(strcmp(path, "/device/chunks/1/content") == 0 && ref[1] == 0x11 && warning[0] == 0);
  CHECK(!spool_decode_intent((const unsigned char *)model, size, ref, path, 24, warning, sizeof(warning)));
  for (size_t cut = 0; cut < size; cut++)
    CHECK(!spool_decode_intent((const unsigned char *)model, cut, ref, path, sizeof(path), warning, sizeof(warning)));
  for (int round = 0; round < 20000; round++) {
    memcpy(bytes, model, size);
    for (uint32_t i = 0; i < 1 + chance(4); i++) bytes[chance((uint32_t)size)] = (unsigned char)chance(256);
    spool_decode_intent(bytes, size, ref, path, sizeof(path), warning, sizeof(warning));
    spool_decode_refusal(bytes, size, &refusal);
    spool_decode_binding(bytes, size, &binding, &ms);
    spool_decode_status(bytes, size, &state);
  }
  memset(bytes, 0x81, sizeof(bytes)); /* arrays in arrays */
  CHECK(!spool_decode_refusal(bytes, sizeof(bytes), &refusal));
}

/* What comes before a chunk's bytes ends with the head of their byte string. */
static void test_store_request(void) {
  spool_stream stream;
  spool_seal seal;
  unsigned char to[512], ref[SPOOL_UUID_BYTES] = {1};
  memset(&stream, 0, sizeof(stream));
  memset(&seal, 0, sizeof(seal));
  stream.format.sample_rate_hz = 16000;
  stream.format.channels = 1;
  stream.format.container = SPOOL_RAW;
  seal.size_bytes = 0x00012345;
  const size_t size = spool_encode_store(to, sizeof(to), &stream, ref, 7, &seal);
  static const unsigned char end[] = "\x65" "bytes\x5a\x00\x01\x23\x45";
  CHECK(size > sizeof(end) && memcmp(to + size - (sizeof(end) - 1), end, sizeof(end) - 1) == 0);
  for (size_t room = 0; room < size; room++) CHECK(spool_encode_store(to, room, &stream, ref, 7, &seal) == 0);
}

static void test_store_answers(void) {
  static const char there[] = "\xa2\x67success\xf5\x64" "data\xa1\x65items\x81\xa2\x66status\x69processed\x66sha256\x78\x40"
      "0000000000000000000000000000000000000000000000000000000000000000";
  static const char refused[] = "\xa2\x67success\xf5\x64" "data\xa1\x65items\x81\xa1\x65" "error\xa1\x64" "code\x68" "CONFLICT";
  static const char none[] = "\xa2\x67success\xf5\x64" "data\xa1\x65items\x80";
  unsigned char sha256[SPOOL_SHA256_BYTES] = {0}, other[SPOOL_SHA256_BYTES] = {1};
  char warning[32];
  spool_chunk_state state;
#define STORED(model, hash) \
  spool_decode_stored((const unsigned char *)(model), sizeof(model) - 1, hash, &state, warning, sizeof(warning))
  CHECK(STORED(there, sha256) && state == SPOOL_CHUNK_THERE && warning[0] == 0);
  CHECK(!STORED(there, other) && state != SPOOL_CHUNK_THERE);
  CHECK(STORED(refused, sha256) && state == SPOOL_CHUNK_AWAITED);
  CHECK(!STORED(none, sha256));
  for (size_t cut = 0; cut < sizeof(there) - 1; cut++)
    CHECK(!spool_decode_stored((const unsigned char *)there, cut, sha256, &state, warning, sizeof(warning)));
}

/* ---- Times and UUIDs ---- */

static void test_texts(void) {
  static const struct {
    int64_t ms;
    const char *text;
  } times[] = {{0, "1970-01-01T00:00:00.000Z"},
               {951782400000, "2000-02-29T00:00:00.000Z"},
               {1767225599999, "2025-12-31T23:59:59.999Z"},
               {4107542400123, "2100-03-01T00:00:00.123Z"},
               {253402300799999, "9999-12-31T23:59:59.999Z"}};
  char text[25];
  int64_t ms;
  for (size_t i = 0; i < COUNT_OF(times); i++) {
    spool_time_text(times[i].ms, text);
    CHECK(strcmp(text, times[i].text) == 0);
    CHECK(spool_time_parse(text, &ms) && ms == times[i].ms);
  }
  CHECK(!spool_time_parse("2026-13-01T00:00:00.000Z", &ms) && !spool_time_parse("2026-01-01T00:00:00Z", &ms));
  unsigned char stream[SPOOL_UUID_BYTES] = {1}, one[SPOOL_UUID_BYTES], same[SPOOL_UUID_BYTES], other[SPOOL_UUID_BYTES];
  char uuid[37];
  CHECK(spool_chunk_ref(stream, 7, one) == SPOOL_OK && spool_chunk_ref(stream, 7, same) == SPOOL_OK);
  CHECK(memcmp(one, same, sizeof(one)) == 0);
  CHECK(spool_chunk_ref(stream, 8, other) == SPOOL_OK && memcmp(one, other, sizeof(one)) != 0);
  spool_uuid_text(one, uuid);
  CHECK(uuid[14] == '8' && spool_uuid_parse(uuid, same) && memcmp(one, same, sizeof(one)) == 0);
  CHECK(!spool_uuid_parse("00112233-4455-6677-8899-aabbccddeefg", one));
  CHECK(spool_crc32("123456789", 9) == 0xcbf43926u);
}

/* ---- Policy ---- */

static void test_policy(void) {
  static const struct {
    spool_call_kind call;
    int status;
    const char *code;
    const char *reason;
    spool_action action;
  } rows[] = {
      {SPOOL_CALL_INTENT, 200, "", "", SPOOL_ACT_DONE},
      {SPOOL_CALL_INTENT, 0, "", "", SPOOL_ACT_RETRY},
      {SPOOL_CALL_UPLOAD, 400, "BAD_REQUEST", "", SPOOL_ACT_REPEAT},
      {SPOOL_CALL_INTENT, 400, "BAD_REQUEST", "", SPOOL_ACT_SET_ASIDE},
      {SPOOL_CALL_INTENT, 401, "UNAUTHORIZED", "expired", SPOOL_ACT_RENEW},
      {SPOOL_CALL_RENEW, 401, "UNAUTHORIZED", "expired", SPOOL_ACT_STOP},
      {SPOOL_CALL_INTENT, 401, "UNAUTHORIZED", "unverifiable", SPOOL_ACT_STOP},
      {SPOOL_CALL_INTENT, 403, "FORBIDDEN", "revoked", SPOOL_ACT_STOP},
      {SPOOL_CALL_INTENT, 403, "FORBIDDEN", "superseded", SPOOL_ACT_STOP},
      {SPOOL_CALL_INTENT, 403, "DEVICE_UNBOUND", "", SPOOL_ACT_UNBOUND},
      {SPOOL_CALL_SESSION_END, 403, "DEVICE_UNBOUND", "", SPOOL_ACT_DONE},
      {SPOOL_CALL_UPLOAD, 403, "ACCOUNT_DELETED", "", SPOOL_ACT_KEEP},
      {SPOOL_CALL_REGISTER, 404, "NOT_FOUND", "", SPOOL_ACT_LET_GO},
      {SPOOL_CALL_INTENT, 404, "NOT_FOUND", "", SPOOL_ACT_REGISTER},
      {SPOOL_CALL_UPLOAD, 404, "NOT_FOUND", "", SPOOL_ACT_ANNOUNCE},
      {SPOOL_CALL_STORE, 404, "NOT_FOUND", "", SPOOL_ACT_SPLIT},
      {SPOOL_CALL_STORE, 408, "REQUEST_TIMEOUT", "", SPOOL_ACT_SPLIT},
      {SPOOL_CALL_STORE, 413, "PAYLOAD_TOO_LARGE", "", SPOOL_ACT_SPLIT},
      {SPOOL_CALL_STORE, 503, "UNAVAILABLE", "", SPOOL_ACT_RETRY},
      {SPOOL_CALL_INTENT, 409, "CONFLICT", "", SPOOL_ACT_SET_ASIDE},
      {SPOOL_CALL_END, 409, "CONFLICT", "", SPOOL_ACT_SET_ASIDE},
      {SPOOL_CALL_UPLOAD, 410, "UPLOAD_EXPIRED", "", SPOOL_ACT_ANNOUNCE},
      {SPOOL_CALL_UPLOAD, 422, "CHECKSUM_MISMATCH", "", SPOOL_ACT_REPEAT},
      {SPOOL_CALL_END, 429, "TOO_MANY_REQUESTS", "", SPOOL_ACT_RETRY},
      {SPOOL_CALL_END, 500, "INTERNAL", "", SPOOL_ACT_RETRY},
      {SPOOL_CALL_END, 503, "UNAVAILABLE", "", SPOOL_ACT_RETRY},
      {SPOOL_CALL_END, 302, "", "", SPOOL_ACT_SET_ASIDE},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    spool_refusal answer = {rows[i].status, "", ""};
    strcpy(answer.code, rows[i].code);
    strcpy(answer.reason, rows[i].reason);
    if (spool_action_of(rows[i].call, &answer) != rows[i].action) fprintf(stderr, "row %u\n", (unsigned)i);
    CHECK(spool_action_of(rows[i].call, &answer) == rows[i].action);
  }
  CHECK(spool_wait_ms(1, 30, 1000, 300000, 5) == 30000);
  CHECK(spool_wait_ms(50, 999999999, 1000, 300000, 5) == 86400000);
  for (uint32_t failures = 1; failures < 70000; failures += failures < 40 ? 1 : 9999) {
    const uint32_t whole = failures > 9 ? 300000u : 1000u << (failures - 1);
    const uint32_t wait = spool_wait_ms(failures, -1, 1000, 300000, seed = seed * 69069u + 1);
    CHECK(wait >= (whole > 300000 ? 150000 : whole / 2) && wait <= (whole > 300000 ? 300000 : whole));
  }
}

/* ---- WAV ---- */

static void test_wav(void) {
  const spool_format format = {44100, 2, SPOOL_WAV};
  unsigned char wav[SPOOL_WAV_HEADER_BYTES + 34];
  spool_format found;
  uint32_t at, bytes;
  spool_wav_header(wav, &format, 400);
  CHECK(spool_wav_parse(wav, SPOOL_WAV_HEADER_BYTES, &found, &at, &bytes) == SPOOL_OK);
  CHECK(at == 44 && bytes == 400 && found.channels == 2 && found.sample_rate_hz == 44100);
  for (size_t cut = 0; cut < SPOOL_WAV_HEADER_BYTES; cut++)
    CHECK(spool_wav_parse(wav, cut, &found, &at, &bytes) == SPOOL_LATER);
  /* Another chunk, of an odd length, before the samples. */
  memmove(wav + 36 + 12, wav + 36, 8);
  memcpy(wav + 36, "LIST\3\0\0\0abc\0", 12);
  CHECK(spool_wav_parse(wav, 56, &found, &at, &bytes) == SPOOL_OK && at == 56 && bytes == 400);
  wav[34] = 24; /* bits */
  CHECK(spool_wav_parse(wav, 56, &found, &at, &bytes) == SPOOL_E_ARGUMENT);
  for (int round = 0; round < 20000; round++) {
    spool_wav_header(wav, &format, 400);
    for (int i = 0; i < 3; i++) wav[chance(44)] = (unsigned char)chance(256);
    const int result = spool_wav_parse(wav, 44, &found, &at, &bytes);
    if (result == SPOOL_OK) CHECK(at == 44 && found.channels > 0 && found.sample_rate_hz > 0);
  }
}

/* ---- The queue ---- */

static const spool_recorder_config CONFIG = {500, 8};
static unsigned char pcm[2 * 16000 * 4];

static void bind_to_owner(void) {
  spool_binding binding;
  memset(&binding, 0, sizeof(binding));
  binding.chunk_bytes_max = 1 << 20;
  CHECK(spool_write_binding(&platform, &binding) == SPOOL_OK);
}

static void begin_recorder(const spool_format *format) {
  empty_storage();
  bind_to_owner();
  CHECK(spool_recorder_open(&recorder, &platform, &CONFIG) == SPOOL_OK);
  CHECK(spool_record_start(&recorder, format, 1767225600000, 20) == SPOOL_OK);
}

static size_t record_bytes(size_t from, size_t size) {
  size_t taken;
  CHECK(spool_record(&recorder, pcm + from, size, &taken) == SPOOL_OK && taken == size);
  return from + size;
}

/* The samples of all chunks of the stream, one after the other; checks times, sizes and hashes. */
static size_t read_back(uint32_t number, const spool_format *format, unsigned char *to, uint32_t *chunks) {
  static unsigned char whole[1 << 20];
  unsigned char block[SPOOL_BLOCK_BYTES], hash[SPOOL_SHA256_BYTES];
  size_t size = 0;
  spool_seal seal;
  for (*chunks = 0; spool_read_seal(&platform, number, *chunks, &seal) == SPOOL_OK; ++*chunks) {
    spool_upload upload = {&platform, {0}, *format, seal.data_bytes, block, 0};
    spool_chunk_name(upload.name, 'a', number, *chunks);
    CHECK(seal.end_ms > seal.start_ms && seal.frame * 1000 / format->sample_rate_hz == seal.start_ms);
    CHECK(seal.size_bytes == spool_upload_bytes(format, seal.data_bytes));
    for (uint32_t at = 0; at < seal.size_bytes;) { /* in odd pieces */
      const uint32_t part = 1 + chance(5000);
      const uint32_t piece = part < seal.size_bytes - at ? part : seal.size_bytes - at;
      CHECK(spool_upload_read(&upload, at, whole + at, piece) == SPOOL_OK);
      at += piece;
    }
    CHECK(spool_sha256(whole, seal.size_bytes, hash) == SPOOL_OK && memcmp(hash, seal.sha256, sizeof(hash)) == 0);
    const uint32_t head = seal.size_bytes - seal.data_bytes;
    if (head > 0) {
      spool_format said;
      uint32_t at, bytes;
      CHECK(spool_wav_parse(whole, seal.size_bytes, &said, &at, &bytes) == SPOOL_OK);
      CHECK(at == head && bytes == seal.data_bytes && said.channels == format->channels);
    }
    memcpy(to + size, whole + head, seal.data_bytes);
    size += seal.data_bytes;
  }
  return size;
}

static void test_cutting(void) {
  static unsigned char back[sizeof(pcm)];
  static const spool_format formats[] = {{16000, 1, SPOOL_RAW}, {16000, 1, SPOOL_WAV}, {11025, 3, SPOOL_WAV}, {8000, 2, SPOOL_RAW}};
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    const size_t frame = 2u * formats[i].channels;
    begin_recorder(&formats[i]);
    size_t at = 0;
    while (at < 100000) at = record_bytes(at, frame * (1 + chance(700)));
    CHECK(spool_record_stop(&recorder) == SPOOL_OK);
    uint32_t chunks;
    CHECK(read_back(1, &formats[i], back, &chunks) == at && memcmp(back, pcm, at) == 0);
    spool_stream stream;
    CHECK(spool_read_stream(&platform, 1, &stream) == SPOOL_OK && stream.is_ended);
    CHECK(stream.end_ms == at / frame * 1000 / formats[i].sample_rate_hz);
  }
}

static void test_bound(void) {
  const spool_format format = {8000, 1, SPOOL_RAW};
  size_t taken;
  int names = 0;
  begin_recorder(&format);
  CHECK(spool_record(&recorder, pcm, 8000 * 9, &taken) == SPOOL_E_FULL);
  CHECK(taken == 8 * 8000); /* eight chunks of half a second */
  platform.list(&posix, count_name, &names);
  CHECK(names == 8 * 2 + 2); /* audio and seals, the stream, the binding */
  CHECK(spool_record_skip(&recorder, 1000) == SPOOL_OK);
  CHECK(spool_remove_chunk(&platform, 1, 0) == SPOOL_OK);
  record_bytes(taken, 400);
  CHECK(spool_record_stop(&recorder) == SPOOL_OK);
  spool_seal seal;
  CHECK(spool_read_seal(&platform, 1, 8, &seal) == SPOOL_OK && seal.start_ms == 4125 && seal.end_ms == 4150);
}

/* Power is lost after every number of bytes of the audio that was being written, also with rubbish in its place. */
static void test_torn(void) {
  const spool_format format = {16000, 1, SPOOL_RAW};
  static unsigned char kept[SPOOL_BLOCK_BYTES * 4], back[sizeof(pcm)];
  char name[SPOOL_NAME_BYTES];
  spool_format found;
  uint64_t frames;
  for (uint32_t round = 0; round < 150; round++) {
    begin_recorder(&format);
    const size_t at = record_bytes(0, 16000 + 12600); /* one chunk, and three blocks of another */
    spool_chunk_name(name, 'a', 1, 1);
    const int32_t size = platform.read(&posix, name, 0, kept, sizeof(kept));
    CHECK(size == 16 + 3 * 4096);
    const uint32_t cut = chance((uint32_t)size + 1);
    CHECK(platform.remove(&posix, name) == 0);
    if (round % 3 == 1) memset(kept + cut, 0, (size_t)size - cut);
    for (int32_t i = (int32_t)cut; round % 3 == 2 && i < size; i++) kept[i] = (unsigned char)chance(256);
    if (cut > 0 || round % 3 != 0) CHECK(platform.append(&posix, name, kept, round % 3 == 0 ? cut : (size_t)size) == 0);
    CHECK(spool_recorder_open(&recorder, &platform, &CONFIG) == SPOOL_OK);
    CHECK(spool_record_resume(&recorder, &found, &frames) == SPOOL_OK && found.sample_rate_hz == 16000);
    const uint32_t blocks = cut < 16 ? 0 : (cut - 16) / 4096;
    CHECK(frames == (16000 + blocks * SPOOL_BLOCK_DATA_BYTES) / 2);
    record_bytes((size_t)frames * 2, at + 20000 - (size_t)frames * 2);
    CHECK(spool_record_stop(&recorder) == SPOOL_OK);
    uint32_t chunks;
    CHECK(read_back(1, &format, back, &chunks) == at + 20000 && memcmp(back, pcm, at + 20000) == 0);
  }
}

static void test_leftovers(void) {
  const spool_format format = {16000, 1, SPOOL_RAW};
  spool_progress progress = {.sequence = 2, .frame = 16000, .end_ms = 1000, .is_registered = true};
  spool_stream stream;
  spool_format found;
  uint64_t frames;
  uint32_t chunks;
  static unsigned char back[sizeof(pcm)];
  begin_recorder(&format);
  record_bytes(0, 16000 * 3);
  /* The sender passed two chunks, and power was lost before the second one was removed. */
  CHECK(spool_read_stream(&platform, 1, &stream) == SPOOL_OK);
  memcpy(progress.ref, stream.ref, SPOOL_UUID_BYTES);
  CHECK(spool_write_progress(&platform, 1, &progress) == SPOOL_OK);
  CHECK(spool_remove_chunk(&platform, 1, 0) == SPOOL_OK);
  CHECK(platform.remove(&posix, "c00000001-00000001") == 0);
  CHECK(spool_recorder_open(&recorder, &platform, &CONFIG) == SPOOL_OK);
  CHECK(platform.read(&posix, "a00000001-00000001", 0, back, 1) == SPOOL_E_NOT_FOUND);
  CHECK(spool_record_resume(&recorder, &found, &frames) == SPOOL_OK && frames == 24000 && recorder.sequence == 3);
  /* A seal that can't be read is made anew. */
  CHECK(platform.write(&posix, "c00000001-00000002", "??????", 6) == 0);
  CHECK(spool_recorder_open(&recorder, &platform, &CONFIG) == SPOOL_OK);
  spool_seal seal;
  CHECK(spool_read_seal(&platform, 1, 2, &seal) == SPOOL_OK && seal.start_ms == 1000);
  /* All chunks are sent: the place stands in what the sender wrote. */
  progress = (spool_progress){.sequence = 3, .frame = 24000, .end_ms = 1500, .is_registered = true};
  memcpy(progress.ref, stream.ref, SPOOL_UUID_BYTES);
  CHECK(spool_write_progress(&platform, 1, &progress) == SPOOL_OK);
  CHECK(spool_remove_chunk(&platform, 1, 2) == SPOOL_OK);
  CHECK(spool_recorder_open(&recorder, &platform, &CONFIG) == SPOOL_OK);
  CHECK(spool_record_resume(&recorder, &found, &frames) == SPOOL_OK && frames == 24000);
  /* A stream that begins ends the open one, and does not take its number. */
  CHECK(spool_record_start(&recorder, &format, 0, 0) == SPOOL_OK && recorder.stream == 2);
  CHECK(spool_read_stream(&platform, 1, &stream) == SPOOL_OK && stream.is_ended && stream.end_ms == 1500);
  /* Nobody's audio goes. */
  CHECK(platform.remove(&posix, "s00000001") == 0);
  CHECK(platform.append(&posix, "a00000001-00000009", "x", 1) == 0);
  CHECK(spool_recorder_open(&recorder, &platform, &CONFIG) == SPOOL_OK);
  CHECK(platform.read(&posix, "p00000001", 0, back, 1) == SPOOL_E_NOT_FOUND);
  CHECK(platform.read(&posix, "a00000001-00000009", 0, back, 1) == SPOOL_E_NOT_FOUND);
  CHECK(read_back(2, &format, back, &chunks) == 0 && chunks == 0);
  /* Only what was set aside may be discarded. */
  CHECK(spool_discard(&platform, 2) == SPOOL_E_ARGUMENT);
}

static void test_damage(void) {
  const spool_format format = {16000, 1, SPOOL_RAW};
  static unsigned char audio[20000], out[20000], block[SPOOL_BLOCK_BYTES];
  begin_recorder(&format);
  record_bytes(0, 16000);
  const int32_t size = platform.read(&posix, "a00000001-00000000", 0, audio, sizeof(audio));
  audio[9000] ^= 1;
  CHECK(platform.write(&posix, "a00000001-00000000", audio, (size_t)size) == 0);
  spool_upload upload = {&platform, "a00000001-00000000", format, 16000, block, 0};
  CHECK(spool_upload_read(&upload, 0, out, 8000) == SPOOL_OK && memcmp(out, pcm, 8000) == 0);
  CHECK(spool_upload_read(&upload, 8000, out, 8000) == SPOOL_E_DAMAGED);
}

static void test_let_go(void) {
  const spool_format format = {16000, 1, SPOOL_RAW};
  size_t taken;
  begin_recorder(&format);
  record_bytes(0, 16000);
  CHECK(spool_remove_stream(&platform, 1) == SPOOL_OK);
  CHECK(spool_record(&recorder, pcm, 2, &taken) == SPOOL_E_NOT_FOUND && taken == 0);
  CHECK(spool_record_stop(&recorder) == SPOOL_OK);
  CHECK(spool_record_start(&recorder, &format, 0, 0) == SPOOL_OK);
}

/* ---- Keys ---- */

static void test_keys(void) {
  char one[SPOOL_CSR_BYTES], same[SPOOL_CSR_BYTES];
  char key[400];
  empty_storage();
  CHECK(spool_request_certificate(&platform, one) == SPOOL_OK && spool_request_certificate(&platform, same) == SPOOL_OK);
  CHECK(strstr(one, "BEGIN CERTIFICATE REQUEST") != NULL);
  const int32_t size = platform.read(&posix, "next-key", 0, key, sizeof(key));
  CHECK(size > 0 && platform.write(&posix, "next-key", key, (size_t)size / 2) == 0); /* torn: another one is made */
  CHECK(spool_request_certificate(&platform, same) == SPOOL_OK && strcmp(one, same) != 0);
}

int main(int count, char **words) {
  if (count > 1 && strcmp(words[1], "sizes") == 0) {
    printf("spool_recorder %u bytes, spool_sender %u bytes\n", (unsigned)sizeof(spool_recorder), (unsigned)sizeof(spool_sender));
    return 0;
  }
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {{"answers of HTTP", test_http},        {"answers at random", test_http_at_random},
               {"CBOR at random", test_cbor_at_random}, {"a chunk with its bytes", test_store_request},
               {"answers to it", test_store_answers}, {"times and references", test_texts},
               {"what answers mean", test_policy},    {"WAV", test_wav},
               {"chunks are cut", test_cutting},      {"the queue is bounded", test_bound},
               {"torn writes", test_torn},            {"leftovers", test_leftovers},
               {"damage", test_damage},               {"streams that are gone", test_let_go},
               {"keys", test_keys}};
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof(folder), "%s/spool-kit-XXXXXX", parent == NULL ? "/tmp" : parent);
  CHECK(mkdtemp(folder) != NULL && spool_posix_open(&posix, &platform, folder) == SPOOL_OK);
  for (size_t i = 0; i < sizeof(pcm); i++) pcm[i] = (unsigned char)chance(256);
  for (size_t i = 0; i < COUNT_OF(tests); i++) {
    tests[i].run();
    printf("ok %s\n", tests[i].name);
  }
  empty_storage();
  CHECK(rmdir(folder) == 0);
  return 0;
}
