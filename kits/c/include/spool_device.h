/*
 * Spool device kit: a recording device over mbedTLS and TinyCBOR.
 *
 * A recorder writes audio into storage. A sender takes it from there to the server. They share nothing but storage, so
 * they may run in two tasks. Each has one caller at a time. The kit allocates nothing; mbedTLS does.
 */
#ifndef SPOOL_DEVICE_H
#define SPOOL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of buffers, all of them members of the structs below. */
#define SPOOL_BLOCK_BYTES 4096u   /* a block of audio in storage; after a loss of power at most this is missing */
#define SPOOL_WORK_BYTES 8192u    /* the largest answer, and the identity (key, certificates) while it is read */
#define SPOOL_REQUEST_BYTES 2048u /* the largest request body, which holds a certificate request */
#define SPOOL_NAME_BYTES 24u      /* a name in storage, with its zero */
#define SPOOL_PATH_BYTES 160u     /* a path of the API, with its zero */
#define SPOOL_CODE_BYTES 32u      /* `error.code` and `error.reason`, with their zero */
#define SPOOL_CSR_BYTES 1024u     /* a certificate request as PEM, with its zero */
#define SPOOL_CLAIM_BYTES 201u    /* a claim, with its zero */
#define SPOOL_UUID_BYTES 16u
#define SPOOL_SHA256_BYTES 32u

typedef enum {
  SPOOL_OK = 0,
  SPOOL_IDLE = 1,  /* there is nothing to send */
  SPOOL_LATER = 2, /* not before the time that is said with it */
  SPOOL_E_ARGUMENT = -1,
  SPOOL_E_STORAGE = -2,   /* the port's storage failed */
  SPOOL_E_NOT_FOUND = -3, /* there is no such record in storage */
  SPOOL_E_DAMAGED = -4,   /* a record of storage is not what was written */
  SPOOL_E_FULL = -5,      /* the queue holds as many chunks as it may */
  SPOOL_E_NETWORK = -6,   /* no answer */
  SPOOL_E_PROTOCOL = -7,  /* an answer that is no answer of Spool */
  SPOOL_E_REFUSED = -8,   /* see spool_last_refusal */
  SPOOL_E_UNBOUND = -9,   /* the device is bound to nobody */
  SPOOL_E_IDENTITY = -10, /* there is no certificate, or the server does not take it */
  SPOOL_E_CRYPTO = -11    /* mbedTLS failed, as a rule for want of memory */
} spool_result;

/* What `send` and `recv` of a port return beside a number of bytes; 0 from `recv` means that the peer has closed. */
#define SPOOL_NET_FAILED (-1)
#define SPOOL_NET_TIMEOUT (-2)

/*
 * What the platform gives. Functions that return int give 0, or a negative number for a failure, unless said otherwise.
 * Storage holds named files of bytes. Recorder and sender call it at the same time when they are two tasks.
 */
typedef struct {
  void *ctx;

  /* Network: one connection at a time, used by the sender alone. Timeouts are of this one call. */
  int (*connect)(void *ctx, const char *host, const char *port, uint32_t timeout_ms);
  int (*send)(void *ctx, const unsigned char *bytes, size_t size, uint32_t timeout_ms); /* how many went, at least 1 */
  int (*recv)(void *ctx, unsigned char *bytes, size_t size, uint32_t timeout_ms);
  void (*close)(void *ctx);

  uint64_t (*monotonic_ms)(void *ctx); /* since any moment; never goes back */
  int64_t (*unix_ms)(void *ctx);       /* the time of day; anything where it is not known */
  void (*sleep_ms)(void *ctx, uint32_t ms);
  int (*random)(void *ctx, unsigned char *bytes, size_t size); /* fit for keys; 0 or negative */

  /* How many bytes were read from there on, 0 at the end; SPOOL_E_NOT_FOUND where there is no such file. */
  int32_t (*read)(void *ctx, const char *name, uint32_t offset, void *bytes, size_t size);
  /* Puts the whole content in place of the old one: after a loss of power one of the two is there. */
  int (*write)(void *ctx, const char *name, const void *bytes, size_t size);
  /*
   * Adds to the end, and makes the file. Where it fails, the file is as before. After a loss of power what was added
   * since the last `sync` may be torn.
   */
  int (*append)(void *ctx, const char *name, const void *bytes, size_t size);
  int (*sync)(void *ctx, const char *name);
  int (*remove)(void *ctx, const char *name); /* 0 as well where there is no such file */
  /* Calls `each` with every name, in any order, until it returns other than 0. `each` may read. */
  int (*list)(void *ctx, int (*each)(void *arg, const char *name), void *arg);
} spool_platform;

/* ---- Recorder ------------------------------------------------------------------------------------------------- */

typedef enum { SPOOL_RAW = 0, SPOOL_WAV = 1 } spool_container;

/* 16-bit little-endian PCM, channels interleaved. */
typedef struct {
  uint32_t sample_rate_hz;
  uint8_t channels;
  spool_container container; /* what chunks are sent as */
} spool_format;

typedef struct {
  uint32_t chunk_ms;         /* how long a chunk is */
  uint32_t queue_chunks_max; /* how many chunks storage may hold; audio that comes then is refused */
} spool_recorder_config;

typedef struct {
  const spool_platform *platform;
  spool_recorder_config config;
  spool_format format;
  bool is_recording;
  bool has_chunk;  /* a chunk is open */
  bool is_closing; /* and takes nothing more */
  uint32_t stream;
  uint32_t sequence;
  uint64_t frame;       /* of the stream, where the open chunk begins, or the next one */
  uint64_t end_ms;      /* of the last chunk that was sealed */
  uint32_t chunk_bytes; /* in the open chunk, whole blocks */
  uint32_t chunk_bytes_max;
  uint32_t block_bytes; /* in `block` */
  unsigned char block[SPOOL_BLOCK_BYTES];
} spool_recorder;

/* Seals what a loss of power left open, and removes what belongs to nothing. Before anything else after a start. */
int spool_recorder_open(spool_recorder *recorder, const spool_platform *platform, const spool_recorder_config *config);

/* Begins a stream under the present binding. A stream that is open is ended first. */
int spool_record_start(spool_recorder *recorder, const spool_format *format, int64_t captured_at_ms,
                       uint32_t clock_uncertainty_ms);

/* Goes on with the stream that was open when power was lost; gives how many frames of it are in storage. */
int spool_record_resume(spool_recorder *recorder, spool_format *format, uint64_t *frames);

/*
 * Whole frames; says how many bytes were taken. SPOOL_E_FULL: no more than these; wait, or skip the rest.
 * SPOOL_E_NOT_FOUND: the server has deleted the stream; stop, and start another.
 */
int spool_record(spool_recorder *recorder, const void *pcm, size_t bytes, size_t *taken);

/* Time passes without audio: a hole in the timeline. */
int spool_record_skip(spool_recorder *recorder, uint64_t frames);

/* Ends the stream here. */
int spool_record_stop(spool_recorder *recorder);

/* ---- Sender --------------------------------------------------------------------------------------------------- */

typedef enum {
  SPOOL_EVENT_STORED,        /* a chunk is on the server's disk and gone from here */
  SPOOL_EVENT_STREAM_SENT,   /* a stream and its end are there */
  SPOOL_EVENT_WARNING,       /* `text`: what will never be possible with a chunk */
  SPOOL_EVENT_SET_ASIDE,     /* a stream can't be sent, as `status` and `code` say; see spool_discard */
  SPOOL_EVENT_LET_GO,        /* a stream was deleted on the server, and is gone from here */
  SPOOL_EVENT_DAMAGED,       /* a chunk can't be read from storage any more, and is left out */
  SPOOL_EVENT_WAITING,       /* a call was refused or not answered; it is repeated after `wait_ms` */
  SPOOL_EVENT_UNBOUND,       /* the binding has ended */
  SPOOL_EVENT_SESSION_ENDED, /* the server has the end of the session */
  SPOOL_EVENT_RENEWED        /* the device has a new certificate */
} spool_event_kind;

typedef struct {
  spool_event_kind kind;
  uint32_t stream;
  uint32_t sequence;
  int status; /* 0: no answer */
  const char *code;
  const char *text;
  uint32_t wait_ms;
} spool_event;

typedef struct {
  const char *host; /* as in the certificate of the listener */
  const char *port;
  uint32_t retry_first_ms; /* 0: 1 second */
  uint32_t retry_max_ms;   /* 0: 5 minutes */
  uint32_t refresh_ms;     /* how often the binding is asked for; 0: 5 minutes */
  void (*event)(void *arg, const spool_event *event); /* may be NULL */
  void *event_arg;
} spool_sender_config;

typedef struct {
  bool is_session;
  bool end_requested; /* the session is to end when all is sent */
  unsigned char epoch[SPOOL_UUID_BYTES];
  int64_t expires_at_ms;  /* of a session, else 0 */
  int64_t drain_until_ms; /* of a session, else 0 */
  uint32_t chunk_bytes_max;
} spool_binding;

typedef struct {
  int status; /* 0: no answer */
  char code[SPOOL_CODE_BYTES];
  char reason[SPOOL_CODE_BYTES];
} spool_refusal;

typedef struct {
  bool is_open;
  const spool_platform *platform;
  uint64_t deadline_ms; /* of the call under way */
  int tls_error;        /* of mbedTLS, for diagnosis */
  mbedtls_ssl_context ssl;
  mbedtls_ssl_config conf;
  mbedtls_x509_crt own;
  mbedtls_x509_crt ca;
  mbedtls_pk_context key;
} spool_link;

typedef struct {
  const spool_platform *platform;
  spool_sender_config config;
  spool_link link;
  spool_refusal refusal;
  uint64_t not_before_ms; /* monotonic, as the others */
  uint64_t refresh_at_ms;
  uint64_t renew_at_ms; /* not before, after a renewal that was refused */
  int64_t clock_offset_ms; /* the server's clock less our own */
  uint32_t failures;       /* in a row */
  uint32_t stream;         /* that is in work; 0: none */
  uint32_t tries;          /* of its next chunk */
  bool is_doubtful;        /* its next chunk may be there already */
  bool must_renew;         /* before anything else */
  unsigned char block[SPOOL_BLOCK_BYTES];
  unsigned char request[SPOOL_REQUEST_BYTES];
  unsigned char work[SPOOL_WORK_BYTES];
} spool_sender;

int spool_sender_open(spool_sender *sender, const spool_platform *platform, const spool_sender_config *config);
void spool_sender_close(spool_sender *sender);

/*
 * `claim` may be a pairing code as it was typed. `ble_address` of a shared recorder, otherwise NULL. A claim that was
 * redeemed by this device gives its binding again.
 */
int spool_redeem(spool_sender *sender, const char *claim, const char *ble_address);

/* One call to the server, as a rule. SPOOL_LATER: call again after `wait_ms`. */
int spool_step(spool_sender *sender, uint32_t *wait_ms);

/* Steps until nothing is left to send, or `patience_ms` are over (SPOOL_LATER). */
int spool_drain(spool_sender *sender, uint32_t patience_ms);

/* The session of a shared recorder ends as soon as all of its streams are sent. */
int spool_end_session(spool_sender *sender);

/* A new key, a new certificate. `spool_step` does it by itself when it is due. */
int spool_renew(spool_sender *sender);

/* What the last call was refused with. */
const spool_refusal *spool_last_refusal(const spool_sender *sender);

/* ---- Storage -------------------------------------------------------------------------------------------------- */

/* Makes a key that stays here, and the request for its certificate. The same again gives the same key. */
int spool_request_certificate(const spool_platform *platform, char csr_pem[SPOOL_CSR_BYTES]);

/*
 * Takes what provisioning gave. `key_pem` is NULL where the certificate was requested. `renew_after_ms` is 0 where it is
 * not known: then it is two thirds of the certificate's validity. `scratch` holds SPOOL_WORK_BYTES.
 */
int spool_install_certificate(const spool_platform *platform, const char *certificate_pem, const char *ca_pem,
                              const char *key_pem, int64_t renew_after_ms, unsigned char *scratch);

int spool_read_binding(const spool_platform *platform, spool_binding *binding);

typedef struct {
  uint32_t number;
  unsigned char ref[SPOOL_UUID_BYTES];
  bool is_ended;
  bool is_registered;
  uint32_t chunks_sent;
  uint32_t chunks_queued; /* sealed, not sent */
  int aside_status;       /* of a stream that was set aside, else 0 */
  char aside_code[SPOOL_CODE_BYTES];
} spool_stream_status;

/* The stream with the lowest number above `after`; SPOOL_E_NOT_FOUND at the end. */
int spool_next_stream(const spool_platform *platform, uint32_t after, spool_stream_status *status);

/* Removes a stream that was set aside, with all of its audio. Between two steps of the sender. */
int spool_discard(const spool_platform *platform, uint32_t number);

/* ---- WAV ------------------------------------------------------------------------------------------------------ */

#define SPOOL_WAV_HEADER_BYTES 44u

void spool_wav_header(unsigned char header[SPOOL_WAV_HEADER_BYTES], const spool_format *format, uint32_t data_bytes);

/*
 * Where the samples of a WAV file lie, from its first bytes. SPOOL_LATER: more bytes are needed. Only 16-bit PCM is
 * taken. `data_bytes` is UINT32_MAX where the file does not say it.
 */
int spool_wav_parse(const unsigned char *bytes, size_t size, spool_format *format, uint32_t *data_at,
                    uint32_t *data_bytes);

#ifdef __cplusplus
}
#endif
#endif
