/* What the files of the kit share. */
#ifndef SPOOL_INTERNAL_H
#define SPOOL_INTERNAL_H

#include "spool_device.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- bytes.c: numbers in little-endian order, CRC-32, UUIDs, times ---- */

typedef struct {
  unsigned char *bytes;
  size_t size;
  size_t at;
  bool failed; /* it did not fit, or ended too early */
} spool_bytes;

void spool_put(spool_bytes *to, const void *bytes, size_t size);
void spool_put_number(spool_bytes *to, uint64_t value, unsigned width);
void spool_take(spool_bytes *from, void *bytes, size_t size);
uint64_t spool_take_number(spool_bytes *from, unsigned width);
uint32_t spool_crc32(const void *bytes, size_t size);
uint32_t spool_crc32_on(uint32_t crc, const void *bytes, size_t size);
void spool_uuid_text(const unsigned char uuid[SPOOL_UUID_BYTES], char text[37]);
bool spool_uuid_parse(const char *text, unsigned char uuid[SPOOL_UUID_BYTES]);
void spool_time_text(int64_t unix_ms, char text[25]);
bool spool_time_parse(const char *text, int64_t *unix_ms);

/* ---- crypto.c: what differs between releases of mbedTLS ---- */

typedef int (*spool_random)(void *ctx, unsigned char *bytes, size_t size);
/* Gives `size` bytes from `offset` on. */
typedef int (*spool_source)(void *arg, uint32_t offset, unsigned char *bytes, size_t size);

int spool_sha256(const void *bytes, size_t size, unsigned char hash[SPOOL_SHA256_BYTES]);
int spool_sha256_of(spool_source source, void *arg, uint32_t size, unsigned char *buffer, size_t buffer_size,
                    unsigned char hash[SPOOL_SHA256_BYTES]);
int spool_parse_key(mbedtls_pk_context *key, const char *pem, const spool_platform *platform);
int spool_check_pair(mbedtls_pk_context *certified, mbedtls_pk_context *key, const spool_platform *platform);
int spool_make_key(const spool_platform *platform, char *pem, size_t size);
int spool_make_request(const spool_platform *platform, const char *key_pem, char *csr_pem, size_t size);

/* ---- records.c: small records in storage, each with a checksum ---- */

typedef struct {
  unsigned char ref[SPOOL_UUID_BYTES];
  unsigned char epoch[SPOOL_UUID_BYTES];
  int64_t captured_at_ms;
  uint32_t clock_uncertainty_ms;
  spool_format format;
  bool is_ended;
  uint64_t end_ms;
} spool_stream; /* written by the recorder */

typedef struct {
  unsigned char ref[SPOOL_UUID_BYTES]; /* of the stream, so that none of another one counts */
  bool is_registered;
  bool is_registered_again; /* after the server did not know it */
  uint16_t aside_status;
  char aside_code[SPOOL_CODE_BYTES];
  uint32_t sequence; /* of the next chunk to send */
  uint64_t frame;    /* where the chunks that are sent end */
  uint64_t end_ms;
} spool_progress; /* written by the sender */

typedef struct {
  uint64_t frame; /* of the stream, where it begins */
  uint64_t start_ms;
  uint64_t end_ms;
  uint32_t data_bytes; /* of samples */
  uint32_t size_bytes; /* of what is uploaded */
  unsigned char sha256[SPOOL_SHA256_BYTES];
} spool_seal; /* of a chunk that does not change any more */

void spool_name(char name[SPOOL_NAME_BYTES], char letter, uint32_t stream);
void spool_chunk_name(char name[SPOOL_NAME_BYTES], char letter, uint32_t stream, uint32_t sequence);
int spool_write_stream(const spool_platform *platform, uint32_t number, const spool_stream *stream);
int spool_read_stream(const spool_platform *platform, uint32_t number, spool_stream *stream);
int spool_write_progress(const spool_platform *platform, uint32_t number, const spool_progress *progress);
/* That of a stream of which nothing was sent where there is none. */
int spool_read_progress(const spool_platform *platform, uint32_t number, const unsigned char ref[SPOOL_UUID_BYTES],
                        spool_progress *progress);
int spool_write_seal(const spool_platform *platform, uint32_t stream, uint32_t sequence, const spool_seal *seal);
int spool_read_seal(const spool_platform *platform, uint32_t stream, uint32_t sequence, spool_seal *seal);
int spool_write_binding(const spool_platform *platform, const spool_binding *binding);
int spool_chunk_ref(const unsigned char stream_ref[SPOOL_UUID_BYTES], uint32_t sequence,
                    unsigned char ref[SPOOL_UUID_BYTES]);

/* What the names in storage say. */
typedef struct {
  uint32_t stream;  /* in: of which chunks are counted */
  uint32_t after;   /* in: for `next` */
  uint32_t next;    /* the lowest number of a stream above `after`; 0: none */
  uint32_t highest; /* number of anything */
  uint32_t audio;   /* how many chunks there are, of all streams */
  uint32_t sealed;  /* how many of the stream's are sealed */
  uint32_t sealed_next; /* one more than the highest sequence of these */
} spool_survey;

int spool_look(const spool_platform *platform, spool_survey *survey);
bool spool_parse_name(const char *name, char *letter, uint32_t *stream, uint32_t *sequence);
int spool_remove_chunk(const spool_platform *platform, uint32_t stream, uint32_t sequence);
/* With all of its chunks. */
int spool_remove_stream(const spool_platform *platform, uint32_t number);

/* ---- audio.c: a chunk's samples in storage, in blocks with a checksum each ---- */

#define SPOOL_BLOCK_HEAD_BYTES 8u
#define SPOOL_BLOCK_DATA_BYTES (SPOOL_BLOCK_BYTES - SPOOL_BLOCK_HEAD_BYTES)
#define SPOOL_AUDIO_HEAD_BYTES 16u

int spool_audio_begin(const spool_platform *platform, const char *name, uint64_t frame);
/* `block` begins with room for the head; data follow. */
int spool_audio_append(const spool_platform *platform, const char *name, uint32_t index, unsigned char *block,
                       uint32_t data_bytes);
/* The frame where it begins, and how many bytes of samples are whole. */
int spool_audio_check(const spool_platform *platform, const char *name, unsigned char *block, uint64_t *frame,
                      uint32_t *data_bytes);

/* A chunk as it is uploaded: a source, see spool_source. */
typedef struct {
  const spool_platform *platform;
  char name[SPOOL_NAME_BYTES];
  spool_format format;
  uint32_t data_bytes;
  unsigned char *block; /* SPOOL_BLOCK_BYTES */
  uint32_t loaded;      /* which block is in it, from 1 on; 0: none */
} spool_upload;

uint32_t spool_upload_bytes(const spool_format *format, uint32_t data_bytes);
int spool_upload_read(void *upload, uint32_t offset, unsigned char *bytes, size_t size);

/* ---- http.c: one answer of HTTP/1.1 ---- */

#define SPOOL_LINE_BYTES 256u

typedef enum {
  SPOOL_HTTP_STATUS,
  SPOOL_HTTP_HEADER,
  SPOOL_HTTP_BODY,
  SPOOL_HTTP_BODY_TO_END,
  SPOOL_HTTP_CHUNK_SIZE,
  SPOOL_HTTP_CHUNK,
  SPOOL_HTTP_CHUNK_END,
  SPOOL_HTTP_TRAILER,
  SPOOL_HTTP_CONTINUE, /* an interim answer is over; the next one follows */
  SPOOL_HTTP_DONE,
  SPOOL_HTTP_FAILED
} spool_http_state;

typedef struct {
  spool_http_state state;
  int status;
  int32_t retry_after_s; /* -1: not said */
  bool closes;
  bool is_chunked;
  bool is_cbor;
  int64_t length; /* -1: not said */
  uint32_t left;  /* of the body, or of its chunk */
  uint32_t head_bytes;
  uint32_t interim;
  size_t line_bytes;
  bool line_is_cut;
  bool line_has_cr;
  char line[SPOOL_LINE_BYTES];
  unsigned char *body;
  size_t body_size;
  size_t body_bytes;
} spool_http;

void spool_http_begin(spool_http *http, unsigned char *body, size_t body_size);
/* Gives how many bytes belong to the answer. */
size_t spool_http_feed(spool_http *http, const unsigned char *bytes, size_t size);
/* The peer has closed. */
void spool_http_end(spool_http *http);

/* ---- link.c: the connection ---- */

typedef struct {
  const char *method;
  const char *path;
  const unsigned char *body;
  size_t body_bytes;
  spool_source source; /* follows `body` */
  void *source_arg;
  uint32_t source_bytes;
} spool_call;

void spool_link_close(spool_link *link);
/* `work` holds SPOOL_WORK_BYTES: the identity, then what is sent, then the answer's body. */
int spool_link_call(spool_link *link, const spool_sender_config *config, const spool_call *call, unsigned char *work,
                    spool_http *answer);

/* ---- identity.c ---- */

typedef struct {
  const char *key_pem;
  const char *certificate_pem;
  const char *ca_pem;
  int64_t renew_after_ms;
} spool_identity;

/* Its texts point into `work`. */
int spool_read_identity(const spool_platform *platform, unsigned char *work, spool_identity *identity);
int spool_read_renew_after(const spool_platform *platform, int64_t *renew_after_ms);

/* ---- wire.c: bodies in CBOR ---- */

size_t spool_encode_redeem(unsigned char *to, size_t size, const char *claim, const char *ble_address);
size_t spool_encode_register(unsigned char *to, size_t size, const spool_stream *stream);
size_t spool_encode_status(unsigned char *to, size_t size, const spool_stream *stream,
                           const unsigned char chunk_ref[SPOOL_UUID_BYTES]);
size_t spool_encode_intent(unsigned char *to, size_t size, const spool_stream *stream,
                           const unsigned char chunk_ref[SPOOL_UUID_BYTES], uint32_t sequence, const spool_seal *seal);
/* A request with one chunk and its bytes, up to where its bytes begin: they are all that follows. */
size_t spool_encode_store(unsigned char *to, size_t size, const spool_stream *stream,
                          const unsigned char chunk_ref[SPOOL_UUID_BYTES], uint32_t sequence, const spool_seal *seal);
size_t spool_encode_end(unsigned char *to, size_t size, const spool_stream *stream);
size_t spool_encode_epoch(unsigned char *to, size_t size, const unsigned char epoch[SPOOL_UUID_BYTES]);
size_t spool_encode_renew(unsigned char *to, size_t size, const char *csr_pem);

bool spool_decode_refusal(const unsigned char *body, size_t size, spool_refusal *refusal);
bool spool_decode_binding(const unsigned char *body, size_t size, spool_binding *binding, int64_t *server_time_ms);
bool spool_decode_heartbeat(const unsigned char *body, size_t size, int64_t *server_time_ms);
bool spool_decode_stream(const unsigned char *body, size_t size, unsigned char ref[SPOOL_UUID_BYTES]);
/* `warning` is empty for none. */
bool spool_decode_intent(const unsigned char *body, size_t size, unsigned char ref[SPOOL_UUID_BYTES], char *path,
                         size_t path_size, char *warning, size_t warning_size);
typedef enum { SPOOL_CHUNK_UNKNOWN, SPOOL_CHUNK_AWAITED, SPOOL_CHUNK_THERE } spool_chunk_state;
bool spool_decode_status(const unsigned char *body, size_t size, spool_chunk_state *state);
bool spool_decode_upload(const unsigned char *body, size_t size, const unsigned char sha256[SPOOL_SHA256_BYTES],
                         spool_chunk_state *state);
/* Of the answer's one item. SPOOL_CHUNK_AWAITED: it was refused. `warning` is empty for none. */
bool spool_decode_stored(const unsigned char *body, size_t size, const unsigned char sha256[SPOOL_SHA256_BYTES],
                         spool_chunk_state *state, char *warning, size_t warning_size);
typedef struct {
  char *bytes;
  size_t size;
} spool_text;
bool spool_decode_renewed(const unsigned char *body, size_t size, spool_text certificate_pem, spool_text ca_pem,
                          int64_t *renew_after_ms);

/* ---- policy.c: what an answer means for the device ---- */

typedef enum {
  SPOOL_CALL_REDEEM,
  SPOOL_CALL_BINDING, /* and heartbeats */
  SPOOL_CALL_REGISTER,
  SPOOL_CALL_STATUS,
  SPOOL_CALL_INTENT,
  SPOOL_CALL_UPLOAD,
  SPOOL_CALL_STORE,
  SPOOL_CALL_END,
  SPOOL_CALL_SESSION_END,
  SPOOL_CALL_RENEW
} spool_call_kind;

typedef enum {
  SPOOL_ACT_DONE,
  SPOOL_ACT_RETRY,     /* the same again, after a while */
  SPOOL_ACT_REPEAT,    /* the same again, a few times at most */
  SPOOL_ACT_ANNOUNCE,  /* the intent again, a few times at most */
  SPOOL_ACT_SPLIT,     /* announce the chunk, then upload it */
  SPOOL_ACT_REGISTER,  /* the stream again, once */
  SPOOL_ACT_LET_GO,    /* of the stream */
  SPOOL_ACT_SET_ASIDE, /* the stream, until somebody decides */
  SPOOL_ACT_UNBOUND,   /* the epoch is over */
  SPOOL_ACT_KEEP,      /* everything, until the account may be there again */
  SPOOL_ACT_RENEW,     /* the certificate first */
  SPOOL_ACT_STOP       /* the identity is not taken */
} spool_action;

spool_action spool_action_of(spool_call_kind call, const spool_refusal *answer);
/* `failures` in a row, from 1 on. */
uint32_t spool_wait_ms(uint32_t failures, int32_t retry_after_s, uint32_t first_ms, uint32_t max_ms, uint32_t random);

#endif
