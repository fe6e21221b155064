/* Writes audio into storage. It touches no network, and writes no record that the sender writes. */
#include <string.h>

#include "internal.h"

#define HASH_PART_BYTES 256u

static uint32_t frame_bytes(const spool_format *format) {
  return 2u * format->channels;
}

static uint64_t ms_of(const spool_format *format, uint64_t frame) {
  const uint64_t rate = format->sample_rate_hz;
  return frame / rate * 1000 + frame % rate * 1000 / rate;
}

/* Makes a chunk that nothing is added to any more one that may be sent. Of no whole frame nothing is left. */
static int seal_chunk(spool_recorder *recorder, uint32_t number, const spool_format *format, uint32_t sequence,
                      uint64_t earlier_end_ms) {
  const spool_platform *platform = recorder->platform;
  spool_upload upload = {platform, {0}, *format, 0, recorder->block, 0};
  unsigned char part[HASH_PART_BYTES];
  spool_seal seal;
  spool_chunk_name(upload.name, 'a', number, sequence);
  int result = spool_audio_check(platform, upload.name, recorder->block, &seal.frame, &upload.data_bytes);
  if (result != SPOOL_OK) return result;
  upload.data_bytes -= upload.data_bytes % frame_bytes(format);
  if (upload.data_bytes == 0) return spool_remove_chunk(platform, number, sequence);
  seal.data_bytes = upload.data_bytes;
  seal.size_bytes = spool_upload_bytes(format, upload.data_bytes);
  seal.start_ms = ms_of(format, seal.frame);
  seal.end_ms = ms_of(format, seal.frame + upload.data_bytes / frame_bytes(format));
  if (seal.end_ms <= seal.start_ms) seal.end_ms = seal.start_ms + 1; /* a chunk of less than a millisecond */
  result = spool_sha256_of(spool_upload_read, &upload, seal.size_bytes, part, sizeof(part), seal.sha256);
  if (result == SPOOL_OK && platform->sync(platform->ctx, upload.name) != 0) result = SPOOL_E_STORAGE;
  if (result == SPOOL_OK) result = spool_write_seal(platform, number, sequence, &seal);
  if (result == SPOOL_OK) recorder->end_ms = seal.end_ms > earlier_end_ms ? seal.end_ms : earlier_end_ms;
  return result;
}

static int flush_block(spool_recorder *recorder) {
  char name[SPOOL_NAME_BYTES];
  if (recorder->block_bytes == 0) return SPOOL_OK;
  spool_chunk_name(name, 'a', recorder->stream, recorder->sequence);
  const uint32_t index = recorder->chunk_bytes / SPOOL_BLOCK_DATA_BYTES;
  const int result = spool_audio_append(recorder->platform, name, index, recorder->block, recorder->block_bytes);
  if (result != SPOOL_OK) return result;
  recorder->chunk_bytes += recorder->block_bytes;
  recorder->block_bytes = 0;
  return SPOOL_OK;
}

static bool is_full(const spool_recorder *recorder) {
  return recorder->has_chunk && recorder->chunk_bytes + recorder->block_bytes == recorder->chunk_bytes_max;
}

/* Where it fails, it is done again before anything is added. */
static int close_chunk(spool_recorder *recorder) {
  if (!recorder->has_chunk) return SPOOL_OK;
  recorder->is_closing = true;
  int result = flush_block(recorder);
  if (result == SPOOL_OK)
    result = seal_chunk(recorder, recorder->stream, &recorder->format, recorder->sequence, recorder->end_ms);
  if (result != SPOOL_OK) return result;
  recorder->frame += recorder->chunk_bytes / frame_bytes(&recorder->format);
  recorder->is_closing = recorder->has_chunk = false;
  recorder->sequence++;
  return SPOOL_OK;
}

static int open_chunk(spool_recorder *recorder) {
  char name[SPOOL_NAME_BYTES];
  spool_survey survey = {0};
  spool_stream stream;
  /* The sender may have let go of it: SPOOL_E_NOT_FOUND. */
  int result = spool_read_stream(recorder->platform, recorder->stream, &stream);
  if (result == SPOOL_OK) result = spool_look(recorder->platform, &survey);
  if (result != SPOOL_OK) return result;
  if (survey.audio >= recorder->config.queue_chunks_max) return SPOOL_E_FULL;
  spool_chunk_name(name, 'a', recorder->stream, recorder->sequence);
  /* Of an attempt that failed, so that there is one head. */
  if (recorder->platform->remove(recorder->platform->ctx, name) != 0) return SPOOL_E_STORAGE;
  result = spool_audio_begin(recorder->platform, name, recorder->frame);
  if (result != SPOOL_OK) return result;
  recorder->has_chunk = true;
  recorder->chunk_bytes = 0;
  recorder->block_bytes = 0;
  return SPOOL_OK;
}

/* ---- What a loss of power left ---- */

typedef struct {
  const spool_platform *platform;
  bool found;
  char letter;
  uint32_t stream;
  uint32_t sequence;
} leftover;

/* Audio without a seal that can be read; anything whose stream is not there. */
static int find_leftover(void *arg, const char *name) {
  leftover *left = arg;
  char letter, other[SPOOL_NAME_BYTES], byte;
  uint32_t stream, sequence;
  spool_seal seal;
  if (!spool_parse_name(name, &letter, &stream, &sequence) || letter == 's') return 0;
  spool_name(other, 's', stream);
  const bool is_orphan = left->platform->read(left->platform->ctx, other, 0, &byte, 1) == SPOOL_E_NOT_FOUND;
  const int sealed = letter == 'a' ? spool_read_seal(left->platform, stream, sequence, &seal) : SPOOL_OK;
  const bool is_open = sealed == SPOOL_E_NOT_FOUND || sealed == SPOOL_E_DAMAGED;
  if (!is_orphan && !is_open) return 0;
  *left = (leftover){left->platform, true, is_orphan ? 'o' : letter, stream, sequence};
  return 1;
}

static int settle(spool_recorder *recorder, const leftover *left) {
  const spool_platform *platform = recorder->platform;
  spool_stream stream;
  spool_progress progress;
  if (left->letter == 'o') return spool_remove_stream(platform, left->stream);
  int result = spool_read_stream(platform, left->stream, &stream);
  if (result == SPOOL_OK) result = spool_read_progress(platform, left->stream, stream.ref, &progress);
  if (result != SPOOL_OK) return result;
  if (left->sequence < progress.sequence) return spool_remove_chunk(platform, left->stream, left->sequence);
  return seal_chunk(recorder, left->stream, &stream.format, left->sequence, 0);
}

int spool_recorder_open(spool_recorder *recorder, const spool_platform *platform, const spool_recorder_config *config) {
  memset(recorder, 0, sizeof(*recorder));
  recorder->platform = platform;
  recorder->config = *config;
  if (config->chunk_ms == 0 || config->queue_chunks_max == 0) return SPOOL_E_ARGUMENT;
  for (;;) {
    leftover left = {platform, false, 0, 0, 0};
    if (platform->list(platform->ctx, find_leftover, &left) < 0) return SPOOL_E_STORAGE;
    if (!left.found) return SPOOL_OK;
    const int result = settle(recorder, &left);
    if (result != SPOOL_OK) return result;
  }
}

/* ---- A stream ---- */

/* The stream that was open last; its number is 0 where there is none. */
static int find_open(spool_recorder *recorder, uint32_t *number, spool_stream *stream) {
  spool_survey survey = {0};
  *number = 0;
  for (;;) {
    int result = spool_look(recorder->platform, &survey);
    if (result != SPOOL_OK) return result;
    if (survey.next == 0) return SPOOL_OK;
    spool_stream found;
    result = spool_read_stream(recorder->platform, survey.next, &found);
    if (result != SPOOL_OK && result != SPOOL_E_NOT_FOUND) return result;
    if (result == SPOOL_OK && !found.is_ended) {
      *number = survey.next;
      *stream = found;
    }
    survey.after = survey.next;
  }
}

/* Where the stream ends in storage: behind its last chunk, sent or not. */
static int find_place(spool_recorder *recorder, uint32_t number, const spool_stream *stream) {
  spool_survey survey = {0};
  spool_progress progress;
  spool_seal seal;
  survey.stream = number;
  int result = spool_look(recorder->platform, &survey);
  if (result != SPOOL_OK) return result;
  recorder->sequence = 0;
  recorder->frame = recorder->end_ms = 0;
  if (survey.sealed_next > 0) {
    result = spool_read_seal(recorder->platform, number, survey.sealed_next - 1, &seal);
    if (result == SPOOL_OK) {
      recorder->sequence = survey.sealed_next;
      recorder->frame = seal.frame + seal.data_bytes / frame_bytes(&stream->format);
      recorder->end_ms = seal.end_ms;
    } else if (result != SPOOL_E_NOT_FOUND) {
      return result;
    }
  }
  /* Read after the seal: the sender writes it before it removes one. */
  result = spool_read_progress(recorder->platform, number, stream->ref, &progress);
  if (result != SPOOL_OK) return result;
  if (progress.sequence > recorder->sequence) recorder->sequence = progress.sequence;
  if (progress.frame > recorder->frame) recorder->frame = progress.frame;
  if (progress.end_ms > recorder->end_ms) recorder->end_ms = progress.end_ms;
  return SPOOL_OK;
}

static int begin(spool_recorder *recorder, uint32_t number, const spool_format *format) {
  spool_binding binding;
  const uint64_t frames = (uint64_t)format->sample_rate_hz * recorder->config.chunk_ms / 1000;
  const uint64_t bytes = (frames == 0 ? 1 : frames) * frame_bytes(format);
  uint32_t bytes_max = UINT32_MAX / 2;
  if (spool_read_binding(recorder->platform, &binding) == SPOOL_OK && binding.chunk_bytes_max < bytes_max)
    bytes_max = binding.chunk_bytes_max;
  if (bytes + SPOOL_WAV_HEADER_BYTES > bytes_max) return SPOOL_E_ARGUMENT;
  recorder->chunk_bytes_max = (uint32_t)bytes;
  recorder->format = *format;
  recorder->stream = number;
  recorder->is_recording = true;
  recorder->has_chunk = recorder->is_closing = false;
  recorder->block_bytes = 0;
  return SPOOL_OK;
}

int spool_record_start(spool_recorder *recorder, const spool_format *format, int64_t captured_at_ms,
                       uint32_t clock_uncertainty_ms) {
  const spool_platform *platform = recorder->platform;
  spool_survey survey = {0};
  spool_binding binding;
  spool_format open_format;
  uint64_t frames;
  if (format->sample_rate_hz == 0 || format->channels == 0) return SPOOL_E_ARGUMENT;
  int result = recorder->is_recording ? SPOOL_OK : spool_record_resume(recorder, &open_format, &frames);
  if (result == SPOOL_OK) result = spool_record_stop(recorder);
  if (result != SPOOL_OK && result != SPOOL_E_NOT_FOUND) return result;
  result = spool_read_binding(platform, &binding);
  if (result == SPOOL_E_NOT_FOUND) return SPOOL_E_UNBOUND;
  if (result == SPOOL_OK) result = spool_look(platform, &survey);
  if (result != SPOOL_OK) return result;
  spool_stream stream = {{0}, {0}, captured_at_ms, clock_uncertainty_ms, *format, false, 0};
  memcpy(stream.epoch, binding.epoch, SPOOL_UUID_BYTES);
  if (platform->random(platform->ctx, stream.ref, SPOOL_UUID_BYTES) != 0) return SPOOL_E_CRYPTO;
  stream.ref[6] = (unsigned char)((stream.ref[6] & 0x0f) | 0x40);
  stream.ref[8] = (unsigned char)((stream.ref[8] & 0x3f) | 0x80);
  result = begin(recorder, survey.highest + 1, format);
  if (result == SPOOL_OK) result = spool_write_stream(platform, survey.highest + 1, &stream);
  recorder->is_recording = result == SPOOL_OK;
  recorder->sequence = 0;
  recorder->frame = recorder->end_ms = 0;
  return result;
}

int spool_record_resume(spool_recorder *recorder, spool_format *format, uint64_t *frames) {
  spool_stream stream;
  uint32_t number;
  if (recorder->is_recording) return SPOOL_E_ARGUMENT;
  int result = find_open(recorder, &number, &stream);
  if (result != SPOOL_OK) return result;
  if (number == 0) return SPOOL_E_NOT_FOUND;
  result = find_place(recorder, number, &stream);
  if (result == SPOOL_OK) result = begin(recorder, number, &stream.format);
  *format = recorder->format;
  *frames = recorder->frame;
  return result;
}

/* Afterwards the block takes at least a byte. */
static int make_room(spool_recorder *recorder) {
  int result = SPOOL_OK;
  if (recorder->is_closing || is_full(recorder)) result = close_chunk(recorder);
  else if (recorder->block_bytes == SPOOL_BLOCK_DATA_BYTES) result = flush_block(recorder);
  return result == SPOOL_OK && !recorder->has_chunk ? open_chunk(recorder) : result;
}

int spool_record(spool_recorder *recorder, const void *pcm, size_t bytes, size_t *taken) {
  const unsigned char *from = pcm;
  *taken = 0;
  if (!recorder->is_recording || bytes % frame_bytes(&recorder->format) != 0) return SPOOL_E_ARGUMENT;
  while (*taken < bytes) {
    const int result = make_room(recorder);
    if (result != SPOOL_OK) return result;
    const uint32_t chunk_left = recorder->chunk_bytes_max - recorder->chunk_bytes - recorder->block_bytes;
    const uint32_t block_left = SPOOL_BLOCK_DATA_BYTES - recorder->block_bytes;
    size_t part = chunk_left < block_left ? chunk_left : block_left;
    if (bytes - *taken < part) part = bytes - *taken;
    memcpy(recorder->block + SPOOL_BLOCK_HEAD_BYTES + recorder->block_bytes, from + *taken, part);
    recorder->block_bytes += (uint32_t)part;
    *taken += part;
  }
  return is_full(recorder) ? close_chunk(recorder) : SPOOL_OK;
}

int spool_record_skip(spool_recorder *recorder, uint64_t frames) {
  if (!recorder->is_recording) return SPOOL_E_ARGUMENT;
  const int result = close_chunk(recorder);
  if (result == SPOOL_OK) recorder->frame += frames;
  return result;
}

int spool_record_stop(spool_recorder *recorder) {
  spool_stream stream;
  if (!recorder->is_recording) return SPOOL_E_ARGUMENT;
  int result = close_chunk(recorder);
  if (result == SPOOL_OK) result = spool_read_stream(recorder->platform, recorder->stream, &stream);
  if (result == SPOOL_OK) {
    const uint64_t end_ms = ms_of(&recorder->format, recorder->frame);
    stream.end_ms = end_ms > recorder->end_ms ? end_ms : recorder->end_ms;
    stream.is_ended = true;
    result = spool_write_stream(recorder->platform, recorder->stream, &stream);
  }
  /* A stream that the server refused may be gone: then there is nothing to end. */
  if (result == SPOOL_OK || result == SPOOL_E_NOT_FOUND) recorder->is_recording = false;
  return result == SPOOL_E_NOT_FOUND ? SPOOL_OK : result;
}
