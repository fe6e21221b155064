/*
 * One answer of HTTP/1.1, byte by byte and bounded. What RFC 9112 lets a recipient refuse is refused: bare line feeds,
 * folded lines, two lengths, a length beside chunks.
 */
#include <string.h>

#include "internal.h"

#define HEAD_BYTES_MAX 16384u
#define INTERIM_MAX 8u
#define LENGTH_DIGITS_MAX 9u
#define CHUNK_DIGITS_MAX 7u

void spool_http_begin(spool_http *http, unsigned char *body, size_t body_size) {
  memset(http, 0, sizeof(*http));
  http->body = body;
  http->body_size = body_size;
  http->retry_after_s = -1;
  http->length = -1;
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(const char *text, const char *wanted) {
  while (*text != 0 && lower(*text) == *wanted) text++, wanted++;
  return *text == 0 && *wanted == 0;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* HTTP/1.1 200 OK */
static spool_http_state on_status(spool_http *http) {
  const char *line = http->line;
  if (http->line_bytes < 12 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
    return SPOOL_HTTP_FAILED;
  if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11]) || (line[12] != 0 && line[12] != ' '))
    return SPOOL_HTTP_FAILED;
  http->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  http->closes = line[7] == '0';
  return http->status < 100 || http->status > 599 ? SPOOL_HTTP_FAILED : SPOOL_HTTP_HEADER;
}

static bool read_decimal(const char *text, unsigned digits_max, uint32_t *value) {
  const size_t length = strlen(text);
  if (length == 0 || length > digits_max) return false;
  *value = 0;
  for (size_t i = 0; i < length; i++) {
    if (!is_digit(text[i])) return false;
    *value = *value * 10 + (uint32_t)(text[i] - '0');
  }
  return true;
}

static bool names_close(const char *value) {
  for (const char *at = value; *at != 0; at++) {
    char word[6] = {0};
    for (size_t i = 0; i < 5 && at[i] != 0; i++) word[i] = at[i];
    if (same(word, "close")) return true;
  }
  return false;
}

static spool_http_state on_header(spool_http *http) {
  char *colon = strchr(http->line, ':');
  if (colon == NULL || colon == http->line) return SPOOL_HTTP_FAILED;
  for (const char *c = http->line; c < colon; c++)
    if (*c <= ' ' || *c == 0x7f) return SPOOL_HTTP_FAILED;
  *colon = 0;
  const char *value = colon + 1;
  while (*value == ' ' || *value == '\t') value++;
  char *end = http->line + http->line_bytes;
  while (end > value && (end[-1] == ' ' || end[-1] == '\t')) *--end = 0;
  const char *name = http->line;
  uint32_t number;
  if (same(name, "content-length")) {
    if (http->length >= 0 || http->line_is_cut || !read_decimal(value, LENGTH_DIGITS_MAX, &number)) return SPOOL_HTTP_FAILED;
    http->length = number;
  } else if (same(name, "transfer-encoding")) {
    if (http->is_chunked || http->line_is_cut || !same(value, "chunked")) return SPOOL_HTTP_FAILED;
    http->is_chunked = true;
  } else if (same(name, "connection")) {
    http->closes = http->closes || http->line_is_cut || names_close(value);
  } else if (same(name, "retry-after")) {
    /* A date is as good as nothing: a device may not know the time. */
    http->retry_after_s = read_decimal(value, LENGTH_DIGITS_MAX, &number) ? (int32_t)number : -1;
  } else if (same(name, "content-type")) {
    http->is_cbor = same(value, "application/cbor");
  } else if (same(name, "content-encoding")) {
    return SPOOL_HTTP_FAILED; /* none was asked for */
  }
  return SPOOL_HTTP_HEADER;
}

static spool_http_state on_head_end(spool_http *http) {
  if (http->status < 200) return http->status == 101 || ++http->interim > INTERIM_MAX ? SPOOL_HTTP_FAILED : SPOOL_HTTP_CONTINUE;
  if (http->is_chunked && http->length >= 0) return SPOOL_HTTP_FAILED;
  if (http->status == 204 || http->status == 304) return SPOOL_HTTP_DONE;
  if (http->is_chunked) return SPOOL_HTTP_CHUNK_SIZE;
  if (http->length < 0) {
    http->closes = true;
    return SPOOL_HTTP_BODY_TO_END;
  }
  if ((uint64_t)http->length > http->body_size) return SPOOL_HTTP_FAILED;
  http->left = (uint32_t)http->length;
  return http->left == 0 ? SPOOL_HTTP_DONE : SPOOL_HTTP_BODY;
}

static spool_http_state on_chunk_size(spool_http *http) {
  uint32_t size = 0;
  unsigned digits = 0;
  const char *c = http->line;
  for (; *c != 0 && *c != ';' && *c != ' ' && *c != '\t'; c++, digits++) {
    const char digit = lower(*c);
    if (!is_digit(digit) && (digit < 'a' || digit > 'f')) return SPOOL_HTTP_FAILED;
    if (digits == CHUNK_DIGITS_MAX) return SPOOL_HTTP_FAILED;
    size = size << 4 | (uint32_t)(is_digit(digit) ? digit - '0' : digit - 'a' + 10);
  }
  if (digits == 0 || size > http->body_size - http->body_bytes) return SPOOL_HTTP_FAILED;
  http->left = size;
  return size == 0 ? SPOOL_HTTP_TRAILER : SPOOL_HTTP_CHUNK;
}

static spool_http_state on_line(spool_http *http) {
  switch (http->state) {
    case SPOOL_HTTP_STATUS:
      return on_status(http);
    case SPOOL_HTTP_HEADER:
      return http->line_bytes == 0 ? on_head_end(http) : on_header(http);
    case SPOOL_HTTP_CHUNK_SIZE:
      return on_chunk_size(http);
    case SPOOL_HTTP_CHUNK_END:
      return http->line_bytes == 0 ? SPOOL_HTTP_CHUNK_SIZE : SPOOL_HTTP_FAILED;
    default: /* trailers say nothing that is wanted */
      return http->line_bytes == 0 ? SPOOL_HTTP_DONE : SPOOL_HTTP_TRAILER;
  }
}

static spool_http_state take_char(spool_http *http, char c) {
  if (++http->head_bytes > HEAD_BYTES_MAX) return SPOOL_HTTP_FAILED;
  if (http->line_has_cr != (c == '\n')) return SPOOL_HTTP_FAILED; /* a bare carriage return, or a bare line feed */
  if (c == '\r') {
    http->line_has_cr = true;
    return http->state;
  }
  if (c != '\n') {
    if (c == 0) return SPOOL_HTTP_FAILED;
    if (http->line_bytes < SPOOL_LINE_BYTES - 1) http->line[http->line_bytes++] = c;
    else http->line_is_cut = true;
    return http->state;
  }
  http->line[http->line_bytes] = 0;
  const spool_http_state next = on_line(http);
  http->line_bytes = 0;
  http->line_is_cut = false;
  http->line_has_cr = false;
  return next;
}

static size_t take_body(spool_http *http, const unsigned char *bytes, size_t size) {
  const bool to_end = http->state == SPOOL_HTTP_BODY_TO_END;
  size_t part = to_end || size < http->left ? size : http->left;
  if (part > http->body_size - http->body_bytes) {
    http->state = SPOOL_HTTP_FAILED;
    return 0;
  }
  memcpy(http->body + http->body_bytes, bytes, part);
  http->body_bytes += part;
  if (to_end) return part;
  http->left -= (uint32_t)part;
  if (http->left == 0) http->state = http->state == SPOOL_HTTP_BODY ? SPOOL_HTTP_DONE : SPOOL_HTTP_CHUNK_END;
  return part;
}

size_t spool_http_feed(spool_http *http, const unsigned char *bytes, size_t size) {
  size_t at = 0;
  if (http->state == SPOOL_HTTP_CONTINUE && size > 0) {
    const uint32_t interim = http->interim;
    spool_http_begin(http, http->body, http->body_size);
    http->interim = interim;
  }
  while (at < size && http->state < SPOOL_HTTP_CONTINUE) {
    if (http->state == SPOOL_HTTP_BODY || http->state == SPOOL_HTTP_BODY_TO_END || http->state == SPOOL_HTTP_CHUNK)
      at += take_body(http, bytes + at, size - at);
    else http->state = take_char(http, (char)bytes[at++]);
  }
  return at;
}

void spool_http_end(spool_http *http) {
  if (http->state == SPOOL_HTTP_BODY_TO_END) http->state = SPOOL_HTTP_DONE;
  else if (http->state != SPOOL_HTTP_DONE) http->state = SPOOL_HTTP_FAILED;
}
