/*
 * The key, its certificate and what signs the server: one record, so that they change together.
 * `next-key` is a key whose certificate has not come yet.
 */
#include <string.h>

#include <mbedtls/platform_util.h>
#include <mbedtls/x509_crt.h>

#include "internal.h"

#define FORM 1u
#define HEAD_BYTES 16u
#define KEY_PEM_BYTES 2048u /* of 2048 bits of RSA; a P-256 key takes 250 */
#define OWN_KEY_BYTES 320u  /* one that is made here */

/* Form, renew_after, three lengths with their zeros; then the texts; then the CRC-32. */
int spool_read_identity(const spool_platform *platform, unsigned char *work, spool_identity *identity) {
  const int32_t size = platform->read(platform->ctx, "identity", 0, work, SPOOL_WORK_BYTES);
  if (size < 0) return size == SPOOL_E_NOT_FOUND ? SPOOL_E_IDENTITY : SPOOL_E_STORAGE;
  if ((uint32_t)size < HEAD_BYTES + 4) return SPOOL_E_DAMAGED;
  spool_bytes from = {work, (size_t)size, 0, false};
  const uint64_t form = spool_take_number(&from, 2);
  identity->renew_after_ms = (int64_t)spool_take_number(&from, 8);
  const char **texts[] = {&identity->key_pem, &identity->certificate_pem, &identity->ca_pem};
  size_t at = HEAD_BYTES;
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    const size_t length = (size_t)spool_take_number(&from, 2);
    if (length == 0 || at + length + 4 > (size_t)size || work[at + length - 1] != 0) return SPOOL_E_DAMAGED;
    *texts[i] = (const char *)work + at;
    at += length;
  }
  spool_bytes sum = {work, (size_t)size, at, false};
  const bool is_whole = spool_take_number(&sum, 4) == spool_crc32(work, at) && sum.at == sum.size;
  return is_whole && form == FORM ? SPOOL_OK : SPOOL_E_DAMAGED;
}

int spool_read_renew_after(const spool_platform *platform, int64_t *renew_after_ms) {
  unsigned char head[HEAD_BYTES];
  const int32_t size = platform->read(platform->ctx, "identity", 0, head, sizeof(head));
  if (size != (int32_t)sizeof(head)) return size == SPOOL_E_NOT_FOUND ? SPOOL_E_IDENTITY : SPOOL_E_STORAGE;
  spool_bytes from = {head, sizeof(head), 2, false};
  *renew_after_ms = (int64_t)spool_take_number(&from, 8);
  return SPOOL_OK;
}

static int read_next_key(const spool_platform *platform, char *pem, size_t size) {
  const int32_t length = platform->read(platform->ctx, "next-key", 0, pem, size - 1);
  if (length < 0) return length == SPOOL_E_NOT_FOUND ? SPOOL_E_NOT_FOUND : SPOOL_E_STORAGE;
  pem[length] = 0;
  return SPOOL_OK;
}

/* A key is stored before anybody hears of it: whatever happens then, the same one is asked for again. */
int spool_request_certificate(const spool_platform *platform, char csr_pem[SPOOL_CSR_BYTES]) {
  char key_pem[OWN_KEY_BYTES];
  int result = read_next_key(platform, key_pem, sizeof(key_pem));
  /* One that does not parse was torn, and nobody has heard of it. */
  if (result == SPOOL_OK && spool_make_request(platform, key_pem, csr_pem, SPOOL_CSR_BYTES) == SPOOL_OK)
    return SPOOL_OK;
  if (result != SPOOL_OK && result != SPOOL_E_NOT_FOUND) return result;
  result = spool_make_key(platform, key_pem, sizeof(key_pem));
  if (result == SPOOL_OK && platform->write(platform->ctx, "next-key", key_pem, strlen(key_pem)) != 0)
    result = SPOOL_E_STORAGE;
  if (result == SPOOL_OK) result = spool_make_request(platform, key_pem, csr_pem, SPOOL_CSR_BYTES);
  mbedtls_platform_zeroize(key_pem, sizeof(key_pem));
  return result;
}

static int64_t unix_ms_of(const mbedtls_x509_time *time) {
  char text[25];
  int64_t ms = 0;
  const int parts[] = {time->year / 100, time->year % 100, time->mon, time->day, time->hour, time->min, time->sec};
  static const size_t at[] = {0, 2, 5, 8, 11, 14, 17};
  memcpy(text, "0000-00-00T00:00:00.000Z", sizeof(text));
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    text[at[i]] = (char)('0' + parts[i] / 10 % 10);
    text[at[i] + 1] = (char)('0' + parts[i] % 10);
  }
  return spool_time_parse(text, &ms) ? ms : 0;
}

/* That the certificate is this key's; gives two thirds of its validity. */
static int check_certificate(const spool_platform *platform, const char *certificate_pem, const char *ca_pem,
                             const char *key_pem, int64_t *two_thirds_ms) {
  mbedtls_x509_crt certificate, ca;
  mbedtls_pk_context key;
  mbedtls_x509_crt_init(&certificate);
  mbedtls_x509_crt_init(&ca);
  mbedtls_pk_init(&key);
  const bool is_good =
      mbedtls_x509_crt_parse(&certificate, (const unsigned char *)certificate_pem, strlen(certificate_pem) + 1) == 0 &&
      mbedtls_x509_crt_parse(&ca, (const unsigned char *)ca_pem, strlen(ca_pem) + 1) == 0 &&
      spool_parse_key(&key, key_pem, platform) == 0 && spool_check_pair(&certificate.pk, &key, platform) == 0;
  if (is_good) {
    const int64_t from_ms = unix_ms_of(&certificate.valid_from);
    *two_thirds_ms = from_ms + (unix_ms_of(&certificate.valid_to) - from_ms) / 3 * 2;
  }
  mbedtls_pk_free(&key);
  mbedtls_x509_crt_free(&ca);
  mbedtls_x509_crt_free(&certificate);
  return is_good ? SPOOL_OK : SPOOL_E_IDENTITY;
}

int spool_install_certificate(const spool_platform *platform, const char *certificate_pem, const char *ca_pem,
                              const char *key_pem, int64_t renew_after_ms, unsigned char *scratch) {
  char own_key[OWN_KEY_BYTES];
  int64_t two_thirds_ms = 0;
  const bool is_own = key_pem == NULL;
  if (is_own) {
    const int result = read_next_key(platform, own_key, sizeof(own_key));
    if (result != SPOOL_OK) return result;
    key_pem = own_key;
  }
  const char *texts[] = {key_pem, certificate_pem, ca_pem};
  spool_bytes to = {scratch, SPOOL_WORK_BYTES, 0, strlen(key_pem) >= KEY_PEM_BYTES};
  int result = check_certificate(platform, certificate_pem, ca_pem, key_pem, &two_thirds_ms);
  spool_put_number(&to, FORM, 2);
  spool_put_number(&to, (uint64_t)(renew_after_ms == 0 ? two_thirds_ms : renew_after_ms), 8);
  for (size_t i = 0; i < COUNT_OF(texts); i++) spool_put_number(&to, strlen(texts[i]) + 1, 2);
  for (size_t i = 0; i < COUNT_OF(texts); i++) spool_put(&to, texts[i], strlen(texts[i]) + 1);
  if (!to.failed) spool_put_number(&to, spool_crc32(scratch, to.at), 4);
  if (result == SPOOL_OK && to.failed) result = SPOOL_E_ARGUMENT;
  if (result == SPOOL_OK && platform->write(platform->ctx, "identity", scratch, to.at) != 0) result = SPOOL_E_STORAGE;
  mbedtls_platform_zeroize(own_key, sizeof(own_key));
  mbedtls_platform_zeroize(scratch, SPOOL_WORK_BYTES);
  /* A key that stays behind by a loss of power just here is asked for again at the next renewal. */
  if (result == SPOOL_OK && is_own && platform->remove(platform->ctx, "next-key") != 0) result = SPOOL_E_STORAGE;
  return result;
}
