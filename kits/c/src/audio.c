/*
 * A chunk's samples in storage: a head, then blocks, each with its index, its length and their CRC-32. All but the last
 * are full, so a place in the samples leads to its block. What a loss of power tears off or leaves undone at the end
 * does not pass the checksum, and does not count.
 */
#include <string.h>

#include "internal.h"

#define MARK 0x31415053u /* SPA1 */

int spool_audio_begin(const spool_platform *platform, const char *name, uint64_t frame) {
  unsigned char head[SPOOL_AUDIO_HEAD_BYTES];
  spool_bytes to = {head, sizeof(head), 0, false};
  spool_put_number(&to, MARK, 4);
  spool_put_number(&to, frame, 8);
  spool_put_number(&to, spool_crc32(head, to.at), 4);
  return platform->append(platform->ctx, name, head, sizeof(head)) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}

static uint32_t sum_of(uint32_t index, const unsigned char *block, uint32_t data_bytes) {
  unsigned char place[6];
  spool_bytes to = {place, sizeof(place), 0, false};
  spool_put_number(&to, index, 4);
  spool_put_number(&to, data_bytes, 2);
  const uint32_t crc = spool_crc32(place, sizeof(place));
  return spool_crc32_on(crc, block + SPOOL_BLOCK_HEAD_BYTES, data_bytes);
}

int spool_audio_append(const spool_platform *platform, const char *name, uint32_t index, unsigned char *block,
                       uint32_t data_bytes) {
  spool_bytes head = {block, SPOOL_BLOCK_HEAD_BYTES, 0, false};
  spool_put_number(&head, data_bytes, 2);
  spool_put_number(&head, 0, 2);
  spool_put_number(&head, sum_of(index, block, data_bytes), 4);
  const size_t size = SPOOL_BLOCK_HEAD_BYTES + data_bytes;
  return platform->append(platform->ctx, name, block, size) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}

/* How many bytes of samples the block holds; 0 where there is none that is whole. */
static int read_block(const spool_platform *platform, const char *name, uint32_t index, unsigned char *block,
                      uint32_t *data_bytes) {
  const uint32_t at = SPOOL_AUDIO_HEAD_BYTES + index * SPOOL_BLOCK_BYTES;
  const int32_t size = platform->read(platform->ctx, name, at, block, SPOOL_BLOCK_BYTES);
  *data_bytes = 0;
  if (size < 0) return size == SPOOL_E_NOT_FOUND ? SPOOL_E_NOT_FOUND : SPOOL_E_STORAGE;
  if ((uint32_t)size <= SPOOL_BLOCK_HEAD_BYTES) return SPOOL_OK;
  spool_bytes head = {block, SPOOL_BLOCK_HEAD_BYTES, 0, false};
  const uint32_t said = (uint32_t)spool_take_number(&head, 2);
  const uint32_t rest = (uint32_t)spool_take_number(&head, 2);
  const uint32_t sum = (uint32_t)spool_take_number(&head, 4);
  if (said == 0 || said > (uint32_t)size - SPOOL_BLOCK_HEAD_BYTES || rest != 0) return SPOOL_OK;
  if (sum == sum_of(index, block, said)) *data_bytes = said;
  return SPOOL_OK;
}

int spool_audio_check(const spool_platform *platform, const char *name, unsigned char *block, uint64_t *frame,
                      uint32_t *data_bytes) {
  *data_bytes = 0;
  *frame = 0;
  const int32_t size = platform->read(platform->ctx, name, 0, block, SPOOL_AUDIO_HEAD_BYTES);
  if (size < 0) return size == SPOOL_E_NOT_FOUND ? SPOOL_E_NOT_FOUND : SPOOL_E_STORAGE;
  spool_bytes head = {block, (size_t)size, 0, false};
  const uint64_t mark = spool_take_number(&head, 4);
  const uint64_t began = spool_take_number(&head, 8);
  const uint32_t sum = spool_crc32(block, head.at);
  if (spool_take_number(&head, 4) != sum || head.failed || mark != MARK) return SPOOL_OK; /* torn before anything */
  *frame = began;
  for (uint32_t index = 0;; index++) {
    uint32_t found;
    const int result = read_block(platform, name, index, block, &found);
    if (result != SPOOL_OK) return result;
    *data_bytes += found;
    if (found < SPOOL_BLOCK_DATA_BYTES) return SPOOL_OK;
  }
}

uint32_t spool_upload_bytes(const spool_format *format, uint32_t data_bytes) {
  return data_bytes + (format->container == SPOOL_WAV ? SPOOL_WAV_HEADER_BYTES : 0);
}

static int read_samples(spool_upload *upload, uint32_t offset, unsigned char *bytes, size_t size) {
  while (size > 0) {
    const uint32_t index = offset / SPOOL_BLOCK_DATA_BYTES;
    const uint32_t within = offset % SPOOL_BLOCK_DATA_BYTES;
    if (upload->loaded != index + 1) {
      uint32_t found;
      upload->loaded = 0;
      const int result = read_block(upload->platform, upload->name, index, upload->block, &found);
      if (result != SPOOL_OK) return result == SPOOL_E_NOT_FOUND ? SPOOL_E_DAMAGED : result;
      const uint32_t due = upload->data_bytes - index * SPOOL_BLOCK_DATA_BYTES;
      if (found < (due < SPOOL_BLOCK_DATA_BYTES ? due : SPOOL_BLOCK_DATA_BYTES)) return SPOOL_E_DAMAGED;
      upload->loaded = index + 1;
    }
    const size_t there = SPOOL_BLOCK_DATA_BYTES - within;
    const size_t part = size < there ? size : there;
    memcpy(bytes, upload->block + SPOOL_BLOCK_HEAD_BYTES + within, part);
    bytes += part;
    offset += (uint32_t)part;
    size -= part;
  }
  return SPOOL_OK;
}

int spool_upload_read(void *arg, uint32_t offset, unsigned char *bytes, size_t size) {
  spool_upload *upload = arg;
  const uint32_t ahead = upload->format.container == SPOOL_WAV ? SPOOL_WAV_HEADER_BYTES : 0;
  if (offset < ahead) {
    unsigned char header[SPOOL_WAV_HEADER_BYTES];
    spool_wav_header(header, &upload->format, upload->data_bytes);
    const size_t part = size < ahead - offset ? size : ahead - offset;
    memcpy(bytes, header + offset, part);
    bytes += part;
    offset += (uint32_t)part;
    size -= part;
  }
  return size == 0 ? SPOOL_OK : read_samples(upload, offset - ahead, bytes, size);
}
