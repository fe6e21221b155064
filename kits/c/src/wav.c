/* The heads of WAV files. */
#include <string.h>

#include "internal.h"

#define FORMAT_BYTES 16u
#define CODE_PCM 1u
#define CODE_EXTENSIBLE 0xfffeu

void spool_wav_header(unsigned char header[SPOOL_WAV_HEADER_BYTES], const spool_format *format, uint32_t data_bytes) {
  const uint32_t frame_bytes = 2u * format->channels;
  spool_bytes to = {header, SPOOL_WAV_HEADER_BYTES, 0, false};
  spool_put(&to, "RIFF", 4);
  spool_put_number(&to, data_bytes + SPOOL_WAV_HEADER_BYTES - 8, 4);
  spool_put(&to, "WAVEfmt ", 8);
  spool_put_number(&to, FORMAT_BYTES, 4);
  spool_put_number(&to, CODE_PCM, 2);
  spool_put_number(&to, format->channels, 2);
  spool_put_number(&to, format->sample_rate_hz, 4);
  spool_put_number(&to, (uint64_t)format->sample_rate_hz * frame_bytes, 4);
  spool_put_number(&to, frame_bytes, 2);
  spool_put_number(&to, 16, 2);
  spool_put(&to, "data", 4);
  spool_put_number(&to, data_bytes, 4);
}

static uint32_t number_at(const unsigned char *bytes, size_t at, unsigned width) {
  uint32_t value = 0;
  for (unsigned i = 0; i < width; i++) value |= (uint32_t)bytes[at + i] << (8 * i);
  return value;
}

static bool read_format(const unsigned char *chunk, uint32_t size, spool_format *format) {
  if (size < FORMAT_BYTES) return false;
  const uint32_t code = number_at(chunk, 0, 2), channels = number_at(chunk, 2, 2);
  /* Of the extensible form the code stands in the first two bytes of its GUID. */
  const bool is_pcm = code == CODE_PCM || (code == CODE_EXTENSIBLE && size >= 26 && number_at(chunk, 24, 2) == CODE_PCM);
  if (!is_pcm || channels == 0 || channels > UINT8_MAX || number_at(chunk, 14, 2) != 16) return false;
  format->channels = (uint8_t)channels;
  format->sample_rate_hz = number_at(chunk, 4, 4);
  return format->sample_rate_hz > 0;
}

int spool_wav_parse(const unsigned char *bytes, size_t size, spool_format *format, uint32_t *data_at,
                    uint32_t *data_bytes) {
  bool has_format = false;
  uint64_t at = 12;
  if (size < 12) return SPOOL_LATER;
  if (memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0) return SPOOL_E_ARGUMENT;
  for (;;) {
    if (size < at + 8) return SPOOL_LATER;
    const uint32_t part = number_at(bytes, (size_t)at + 4, 4);
    const unsigned char *name = bytes + at;
    at += 8;
    if (memcmp(name, "data", 4) == 0) {
      if (!has_format) return SPOOL_E_ARGUMENT;
      *data_at = (uint32_t)at;
      *data_bytes = part == 0 ? UINT32_MAX : part; /* 0: its writer could not go back to set it */
      return SPOOL_OK;
    }
    if (memcmp(name, "fmt ", 4) == 0) {
      if (size < at + part && part < 1024) return SPOOL_LATER;
      if (size < at + part || !read_format(bytes + at, part, format)) return SPOOL_E_ARGUMENT;
      has_format = true;
    }
    at += part + (part & 1u);
    if (at > INT32_MAX) return SPOOL_E_ARGUMENT;
  }
}
