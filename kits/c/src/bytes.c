/* Numbers in little-endian order, checksums, UUIDs and times. */
#include <string.h>

#include "internal.h"

void spool_put(spool_bytes *to, const void *bytes, size_t size) {
  if (to->failed || to->size - to->at < size) {
    to->failed = true;
    return;
  }
  memcpy(to->bytes + to->at, bytes, size);
  to->at += size;
}

void spool_put_number(spool_bytes *to, uint64_t value, unsigned width) {
  unsigned char bytes[8];
  for (unsigned i = 0; i < width; i++) bytes[i] = (unsigned char)(value >> (8 * i));
  spool_put(to, bytes, width);
}

void spool_take(spool_bytes *from, void *bytes, size_t size) {
  memset(bytes, 0, size);
  if (from->failed || from->size - from->at < size) {
    from->failed = true;
    return;
  }
  memcpy(bytes, from->bytes + from->at, size);
  from->at += size;
}

uint64_t spool_take_number(spool_bytes *from, unsigned width) {
  unsigned char bytes[8];
  uint64_t value = 0;
  spool_take(from, bytes, width);
  for (unsigned i = 0; i < width; i++) value |= (uint64_t)bytes[i] << (8 * i);
  return value;
}

/* CRC-32 of IEEE 802.3, half a byte at a time: its table is small. */
uint32_t spool_crc32_on(uint32_t crc, const void *bytes, size_t size) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *at = bytes;
  crc = ~crc;
  for (size_t i = 0; i < size; i++) {
    crc = table[(crc ^ at[i]) & 15] ^ (crc >> 4);
    crc = table[(crc ^ (at[i] >> 4)) & 15] ^ (crc >> 4);
  }
  return ~crc;
}

uint32_t spool_crc32(const void *bytes, size_t size) {
  return spool_crc32_on(0, bytes, size);
}

void spool_uuid_text(const unsigned char uuid[SPOOL_UUID_BYTES], char text[37]) {
  static const char digits[] = "0123456789abcdef";
  size_t at = 0;
  for (unsigned i = 0; i < SPOOL_UUID_BYTES; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[at++] = '-';
    text[at++] = digits[uuid[i] >> 4];
    text[at++] = digits[uuid[i] & 15];
  }
  text[at] = 0;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool spool_uuid_parse(const char *text, unsigned char uuid[SPOOL_UUID_BYTES]) {
  if (strlen(text) != 36) return false;
  for (unsigned i = 0; i < SPOOL_UUID_BYTES; i++) {
    if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-') return false;
    const int high = digit_of(text[0]);
    const int low = high < 0 ? -1 : digit_of(text[1]);
    if (low < 0) return false;
    uuid[i] = (unsigned char)(high << 4 | low);
    text += 2;
  }
  return true;
}

/* Days of the proleptic Gregorian calendar, from 1970-01-01 on. Years count from March. */
static int64_t days_of(int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const unsigned year_of_era = (unsigned)(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + (int64_t)day_of_era - 719468;
}

#define DAY_MS 86400000
#define YEAR_9999_END_MS 253402300799999

void spool_time_text(int64_t unix_ms, char text[25]) {
  if (unix_ms < 0) unix_ms = 0;
  if (unix_ms > YEAR_9999_END_MS) unix_ms = YEAR_9999_END_MS;
  const int64_t days = unix_ms / DAY_MS + 719468;
  const unsigned rest = (unsigned)(unix_ms % DAY_MS);
  const int64_t era = days / 146097;
  const unsigned day_of_era = (unsigned)(days - era * 146097);
  const unsigned year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted = (5 * day_of_year + 2) / 153;
  const unsigned day = day_of_year - (153 * shifted + 2) / 5 + 1;
  const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
  const unsigned year = (unsigned)(year_of_era + era * 400 + (month <= 2));
  const unsigned parts[] = {year / 100, year % 100, month, day, rest / 3600000, rest / 60000 % 60, rest / 1000 % 60};
  static const char form[] = "....-..-..T..:..:..";
  unsigned digit = 0;
  size_t at = 0;
  for (; form[at] != 0; at++) {
    if (form[at] != '.') {
      text[at] = form[at];
      continue;
    }
    const unsigned part = parts[digit / 2];
    text[at] = (char)('0' + (digit % 2 == 0 ? part / 10 : part % 10));
    digit++;
  }
  const unsigned ms = rest % 1000;
  const char end[] = {'.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10), (char)('0' + ms % 10), 'Z', 0};
  memcpy(text + at, end, sizeof(end));
}

/* The form that the server writes: 2026-01-31T08:30:00.000Z. */
bool spool_time_parse(const char *text, int64_t *unix_ms) {
  static const char form[] = "0000-00-00T00:00:00.000Z";
  if (strlen(text) != sizeof(form) - 1) return false;
  for (size_t i = 0; i < sizeof(form) - 1; i++) {
    if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  }
#define TWO(at) (unsigned)((text[at] - '0') * 10 + (text[(at) + 1] - '0'))
  const unsigned year = TWO(0) * 100 + TWO(2), month = TWO(5), day = TWO(8);
  const unsigned hour = TWO(11), minute = TWO(14), second = TWO(17);
  const unsigned ms = TWO(20) * 10 + (unsigned)(text[22] - '0');
#undef TWO
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return false;
  const int64_t seconds = days_of(year, month, day) * 86400 + (int64_t)(hour * 3600 + minute * 60 + second);
  *unix_ms = seconds * 1000 + ms;
  return true;
}
