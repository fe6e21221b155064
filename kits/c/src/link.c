/* One connection: mutual TLS, kept between calls. */
#include <stdio.h>
#include <string.h>

#include <mbedtls/net_sockets.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/version.h>
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#endif

#include "internal.h"

#define CONNECT_MS 10000u
#define SILENCE_MS 20000u  /* without a byte */
#define CALL_MS 60000u     /* for a whole call, without the bytes of an upload */
#define CONTINUE_MS 5000u  /* for a server to say that it wants an upload; one that does not know the question says nothing */
#define EARLY_MS 2000u     /* for the answer of a server that stopped reading */
#define PART_BYTES 4096u
#define READ_BYTES 512u

static uint64_t now_ms(const spool_link *link) {
  return link->platform->monotonic_ms(link->platform->ctx);
}

static void allow(spool_link *link, uint32_t ms) {
  link->deadline_ms = now_ms(link) + ms;
}

/* At most `ms`, and not longer than the call may take. */
static uint32_t time_left(const spool_link *link, uint32_t ms) {
  const uint64_t now = now_ms(link);
  if (now >= link->deadline_ms) return 0;
  return link->deadline_ms - now < ms ? (uint32_t)(link->deadline_ms - now) : ms;
}

static int send_some(void *arg, const unsigned char *bytes, size_t size) {
  spool_link *link = arg;
  const uint32_t ms = time_left(link, SILENCE_MS);
  const int sent = ms == 0 ? SPOOL_NET_TIMEOUT : link->platform->send(link->platform->ctx, bytes, size, ms);
  return sent > 0 ? sent : MBEDTLS_ERR_NET_SEND_FAILED;
}

static int receive_some(void *arg, unsigned char *bytes, size_t size, uint32_t timeout_ms) {
  spool_link *link = arg;
  const uint32_t ms = time_left(link, timeout_ms);
  const int came = ms == 0 ? SPOOL_NET_TIMEOUT : link->platform->recv(link->platform->ctx, bytes, size, ms);
  if (came == SPOOL_NET_TIMEOUT) return MBEDTLS_ERR_SSL_TIMEOUT;
  return came < 0 ? MBEDTLS_ERR_NET_RECV_FAILED : came;
}

static void free_all(spool_link *link) {
  mbedtls_ssl_free(&link->ssl);
  mbedtls_ssl_config_free(&link->conf);
  mbedtls_x509_crt_free(&link->own);
  mbedtls_x509_crt_free(&link->ca);
  mbedtls_pk_free(&link->key);
}

void spool_link_close(spool_link *link) {
  if (!link->is_open) return;
  allow(link, 1000);
  mbedtls_ssl_close_notify(&link->ssl);
  link->platform->close(link->platform->ctx);
  free_all(link);
  link->is_open = false;
}

static int parse_chain(mbedtls_x509_crt *chain, const char *pem) {
  return mbedtls_x509_crt_parse(chain, (const unsigned char *)pem, strlen(pem) + 1);
}

/* The texts of the identity are parsed, and not needed afterwards. */
static int set_up(spool_link *link, const char *host, unsigned char *work) {
  const spool_platform *platform = link->platform;
  spool_identity identity;
  int result = spool_read_identity(platform, work, &identity);
  if (result != SPOOL_OK) return result;
  /* The certificate goes with what issued it. */
  int failed = parse_chain(&link->own, identity.certificate_pem);
  if (!failed) failed = parse_chain(&link->own, identity.ca_pem);
  if (!failed) failed = parse_chain(&link->ca, identity.ca_pem);
  if (!failed) failed = spool_parse_key(&link->key, identity.key_pem, platform);
  mbedtls_platform_zeroize(work, SPOOL_WORK_BYTES);
  if (!failed)
    failed = mbedtls_ssl_config_defaults(&link->conf, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM,
                                         MBEDTLS_SSL_PRESET_DEFAULT);
  if (!failed) {
    mbedtls_ssl_conf_authmode(&link->conf, MBEDTLS_SSL_VERIFY_REQUIRED);
    mbedtls_ssl_conf_ca_chain(&link->conf, &link->ca, NULL);
    mbedtls_ssl_conf_rng(&link->conf, platform->random, platform->ctx);
    mbedtls_ssl_conf_min_version(&link->conf, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3); /* TLS 1.2 */
    mbedtls_ssl_conf_read_timeout(&link->conf, SILENCE_MS);
    failed = mbedtls_ssl_conf_own_cert(&link->conf, &link->own, &link->key);
  }
  if (!failed) failed = mbedtls_ssl_setup(&link->ssl, &link->conf);
  if (!failed) failed = mbedtls_ssl_set_hostname(&link->ssl, host);
  if (!failed) mbedtls_ssl_set_bio(&link->ssl, link, send_some, NULL, receive_some);
  link->tls_error = failed;
  return failed ? SPOOL_E_CRYPTO : SPOOL_OK;
}

static int shake_hands(spool_link *link) {
  int failed;
  do failed = mbedtls_ssl_handshake(&link->ssl);
  while (failed == MBEDTLS_ERR_SSL_WANT_READ || failed == MBEDTLS_ERR_SSL_WANT_WRITE);
  link->tls_error = failed;
  return failed ? SPOOL_E_NETWORK : SPOOL_OK;
}

static int open_link(spool_link *link, const spool_sender_config *config, unsigned char *work) {
  const spool_platform *platform = link->platform;
  mbedtls_ssl_init(&link->ssl);
  mbedtls_ssl_config_init(&link->conf);
  mbedtls_x509_crt_init(&link->own);
  mbedtls_x509_crt_init(&link->ca);
  mbedtls_pk_init(&link->key);
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
  if (psa_crypto_init() != PSA_SUCCESS) return SPOOL_E_CRYPTO;
#endif
  int result = set_up(link, config->host, work);
  if (result == SPOOL_OK) {
    allow(link, CONNECT_MS);
    result = platform->connect(platform->ctx, config->host, config->port, CONNECT_MS) == 0 ? SPOOL_OK : SPOOL_E_NETWORK;
    if (result == SPOOL_OK) {
      allow(link, SILENCE_MS);
      result = shake_hands(link);
      if (result != SPOOL_OK) platform->close(platform->ctx);
    }
  }
  if (result != SPOOL_OK) free_all(link);
  link->is_open = result == SPOOL_OK;
  return result;
}

static int write_all(spool_link *link, const unsigned char *bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    const int sent = mbedtls_ssl_write(&link->ssl, bytes + at, size - at);
    if (sent > 0) at += (size_t)sent;
    else if (sent != MBEDTLS_ERR_SSL_WANT_READ && sent != MBEDTLS_ERR_SSL_WANT_WRITE) {
      link->tls_error = sent;
      return SPOOL_E_NETWORK;
    }
  }
  return SPOOL_OK;
}

static bool is_news(int came) {
#ifdef MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET
  if (came == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) return true;
#endif
  return came == MBEDTLS_ERR_SSL_WANT_READ || came == MBEDTLS_ERR_SSL_WANT_WRITE;
}

/* Reads until the answer is in a state from `until` on. SPOOL_LATER: nothing came in time. */
static int read_answer(spool_link *link, spool_http *answer, spool_http_state until, uint32_t silence_ms) {
  unsigned char bytes[READ_BYTES];
  mbedtls_ssl_conf_read_timeout(&link->conf, silence_ms);
  while (answer->state < until) {
    const int came = mbedtls_ssl_read(&link->ssl, bytes, sizeof(bytes));
    if (is_news(came)) continue;
    if (came == MBEDTLS_ERR_SSL_TIMEOUT) return SPOOL_LATER;
    if (came <= 0) {
      link->tls_error = came;
      spool_http_end(answer);
      return answer->state == SPOOL_HTTP_DONE ? SPOOL_OK : SPOOL_E_NETWORK;
    }
    size_t at = 0;
    do at += spool_http_feed(answer, bytes + at, (size_t)came - at);
    while (at < (size_t)came && answer->state == SPOOL_HTTP_CONTINUE);
    if (answer->state == SPOOL_HTTP_FAILED || at < (size_t)came) return SPOOL_E_PROTOCOL; /* too much is wrong, too */
  }
  return SPOOL_OK;
}

/* Asks first whether the server wants the bytes. */
static int send_source(spool_link *link, const spool_call *call, unsigned char *work, spool_http *answer) {
  int result = read_answer(link, answer, SPOOL_HTTP_CONTINUE, CONTINUE_MS);
  if (result != SPOOL_OK && result != SPOOL_LATER) return result;
  if (answer->state >= SPOOL_HTTP_DONE) return SPOOL_OK; /* it does not, and has said why */
  if (answer->state != SPOOL_HTTP_CONTINUE && answer->state != SPOOL_HTTP_STATUS) return SPOOL_OK;
  if (call->body_bytes > 0 && write_all(link, call->body, call->body_bytes) != SPOOL_OK) return SPOOL_E_NETWORK;
  for (uint32_t at = 0; at < call->source_bytes;) {
    const size_t part = call->source_bytes - at < PART_BYTES ? call->source_bytes - at : PART_BYTES;
    result = call->source(call->source_arg, at, work, part);
    if (result != SPOOL_OK) return result;
    allow(link, CALL_MS); /* an upload may take as long as it goes on */
    if (write_all(link, work, part) != SPOOL_OK) {
      result = read_answer(link, answer, SPOOL_HTTP_DONE, EARLY_MS);
      return answer->state == SPOOL_HTTP_DONE ? SPOOL_OK : SPOOL_E_NETWORK;
    }
    at += (uint32_t)part;
  }
  return SPOOL_OK;
}

static int exchange(spool_link *link, const spool_sender_config *config, const spool_call *call, unsigned char *work,
                    spool_http *answer) {
  const bool has_source = call->source != NULL;
  const uint32_t size = (uint32_t)call->body_bytes + (has_source ? call->source_bytes : 0);
  const char *type = call->body_bytes == 0 ? "octet-stream" : "cbor";
  char head[SPOOL_PATH_BYTES + 512];
  int at = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: %s:%s\r\nAccept: application/cbor\r\n", call->method,
                    call->path, config->host, config->port);
  if (at > 0 && (size_t)at < sizeof(head) && strcmp(call->method, "GET") != 0)
    at += snprintf(head + at, sizeof(head) - (size_t)at, "Content-Length: %lu\r\n", (unsigned long)size);
  if (at > 0 && (size_t)at < sizeof(head) && size > 0)
    at += snprintf(head + at, sizeof(head) - (size_t)at, "Content-Type: application/%s\r\n%s", type,
                   has_source ? "Expect: 100-continue\r\n" : "");
  if (at > 0 && (size_t)at < sizeof(head)) at += snprintf(head + at, sizeof(head) - (size_t)at, "\r\n");
  spool_bytes whole = {work, SPOOL_WORK_BYTES, 0, at <= 0 || (size_t)at >= sizeof(head)};
  if (!whole.failed) spool_put(&whole, head, (size_t)at);
  if (call->body_bytes > 0 && !has_source) spool_put(&whole, call->body, call->body_bytes);
  if (whole.failed) return SPOOL_E_ARGUMENT;
  allow(link, CALL_MS);
  int result = write_all(link, work, whole.at);
  if (result == SPOOL_OK && has_source) result = send_source(link, call, work, answer);
  if (result == SPOOL_OK) result = read_answer(link, answer, SPOOL_HTTP_DONE, SILENCE_MS);
  return result == SPOOL_LATER ? SPOOL_E_NETWORK : result;
}

int spool_link_call(spool_link *link, const spool_sender_config *config, const spool_call *call, unsigned char *work,
                    spool_http *answer) {
  for (;;) {
    const bool was_open = link->is_open;
    spool_http_begin(answer, work, SPOOL_WORK_BYTES);
    int result = was_open ? SPOOL_OK : open_link(link, config, work);
    if (result != SPOOL_OK) return result;
    result = exchange(link, config, call, work, answer);
    if (result != SPOOL_OK || answer->closes) spool_link_close(link);
    /* A connection that was kept may have ended meanwhile; every call may be repeated. */
    if (result == SPOOL_E_NETWORK && was_open && answer->head_bytes == 0) continue;
    return result;
  }
}
