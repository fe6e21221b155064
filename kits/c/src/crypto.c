/* What differs between mbedTLS 2.28 and 3. */
#include <string.h>

#include <mbedtls/ecp.h>
#include <mbedtls/pk.h>
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_csr.h>

#include "internal.h"

#if MBEDTLS_VERSION_NUMBER < 0x03000000
#define sha256_starts mbedtls_sha256_starts_ret
#define sha256_update mbedtls_sha256_update_ret
#define sha256_finish mbedtls_sha256_finish_ret
#else
#define sha256_starts mbedtls_sha256_starts
#define sha256_update mbedtls_sha256_update
#define sha256_finish mbedtls_sha256_finish
#endif

int spool_sha256(const void *bytes, size_t size, unsigned char hash[SPOOL_SHA256_BYTES]) {
#if MBEDTLS_VERSION_NUMBER < 0x03000000
  return mbedtls_sha256_ret(bytes, size, hash, 0) == 0 ? SPOOL_OK : SPOOL_E_CRYPTO;
#else
  return mbedtls_sha256(bytes, size, hash, 0) == 0 ? SPOOL_OK : SPOOL_E_CRYPTO;
#endif
}

int spool_sha256_of(spool_source source, void *arg, uint32_t size, unsigned char *buffer, size_t buffer_size,
                    unsigned char hash[SPOOL_SHA256_BYTES]) {
  mbedtls_sha256_context sha;
  mbedtls_sha256_init(&sha);
  int result = sha256_starts(&sha, 0) == 0 ? SPOOL_OK : SPOOL_E_CRYPTO;
  for (uint32_t at = 0; result == SPOOL_OK && at < size;) {
    const size_t part = size - at < buffer_size ? size - at : buffer_size;
    result = source(arg, at, buffer, part);
    if (result == SPOOL_OK && sha256_update(&sha, buffer, part) != 0) result = SPOOL_E_CRYPTO;
    at += (uint32_t)part;
  }
  if (result == SPOOL_OK && sha256_finish(&sha, hash) != 0) result = SPOOL_E_CRYPTO;
  mbedtls_sha256_free(&sha);
  return result;
}

int spool_parse_key(mbedtls_pk_context *key, const char *pem, const spool_platform *platform) {
  const unsigned char *bytes = (const unsigned char *)pem;
#if MBEDTLS_VERSION_NUMBER < 0x03000000
  (void)platform;
  return mbedtls_pk_parse_key(key, bytes, strlen(pem) + 1, NULL, 0);
#else
  return mbedtls_pk_parse_key(key, bytes, strlen(pem) + 1, NULL, 0, platform->random, platform->ctx);
#endif
}

int spool_check_pair(mbedtls_pk_context *certified, mbedtls_pk_context *key, const spool_platform *platform) {
#if MBEDTLS_VERSION_NUMBER < 0x03000000
  (void)platform;
  return mbedtls_pk_check_pair(certified, key);
#else
  return mbedtls_pk_check_pair(certified, key, platform->random, platform->ctx);
#endif
}

int spool_make_key(const spool_platform *platform, char *pem, size_t size) {
  mbedtls_pk_context key;
  mbedtls_pk_init(&key);
  int failed = mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
  if (!failed)
    failed = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key), platform->random, platform->ctx);
  if (!failed) failed = mbedtls_pk_write_key_pem(&key, (unsigned char *)pem, size);
  mbedtls_pk_free(&key);
  return failed ? SPOOL_E_CRYPTO : SPOOL_OK;
}

int spool_make_request(const spool_platform *platform, const char *key_pem, char *csr_pem, size_t size) {
  mbedtls_pk_context key;
  mbedtls_x509write_csr csr;
  mbedtls_pk_init(&key);
  mbedtls_x509write_csr_init(&csr);
  int failed = spool_parse_key(&key, key_pem, platform);
  if (!failed) failed = mbedtls_x509write_csr_set_subject_name(&csr, "CN=recorder");
  if (!failed) {
    mbedtls_x509write_csr_set_md_alg(&csr, MBEDTLS_MD_SHA256);
    mbedtls_x509write_csr_set_key(&csr, &key);
    failed = mbedtls_x509write_csr_pem(&csr, (unsigned char *)csr_pem, size, platform->random, platform->ctx);
  }
  mbedtls_x509write_csr_free(&csr);
  mbedtls_pk_free(&key);
  return failed ? SPOOL_E_CRYPTO : SPOOL_OK;
}
