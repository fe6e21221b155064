/*
 * Small records in storage. Names:
 *   sNNNNNNNN           a stream, written by the recorder
 *   pNNNNNNNN           how far it is sent, written by the sender
 *   aNNNNNNNN-SSSSSSSS  a chunk's audio
 *   cNNNNNNNN-SSSSSSSS  its seal: from here on it does not change
 *   binding, identity, next-key
 * A chunk's audio is removed before its seal, so audio without a seal always is a chunk that was not finished.
 */
#include <string.h>

#include "internal.h"

#define RECORD_BYTES_MAX 160u
#define FORM 1u /* of all records */

static void put_hex(char *to, uint32_t number) {
  for (int i = 7; i >= 0; i--, number >>= 4) to[i] = "0123456789abcdef"[number & 15];
}

void spool_name(char name[SPOOL_NAME_BYTES], char letter, uint32_t stream) {
  name[0] = letter;
  put_hex(name + 1, stream);
  name[9] = 0;
}

void spool_chunk_name(char name[SPOOL_NAME_BYTES], char letter, uint32_t stream, uint32_t sequence) {
  spool_name(name, letter, stream);
  name[9] = '-';
  put_hex(name + 10, sequence);
  name[18] = 0;
}

static bool take_hex(const char *text, uint32_t *number) {
  *number = 0;
  for (int i = 0; i < 8; i++) {
    const char c = text[i];
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    *number = *number << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return true;
}

bool spool_parse_name(const char *name, char *letter, uint32_t *stream, uint32_t *sequence) {
  const size_t length = strlen(name);
  *letter = name[0];
  *sequence = 0;
  if (length != 9 && length != 18) return false;
  if (strchr(length == 9 ? "sp" : "ac", *letter) == NULL || !take_hex(name + 1, stream)) return false;
  return length == 9 || (name[9] == '-' && take_hex(name + 10, sequence));
}

/* ---- One record: its form, its letter, its members, and the CRC-32 of all of these ---- */

static spool_bytes begin_record(unsigned char bytes[RECORD_BYTES_MAX], char letter) {
  spool_bytes record = {bytes, RECORD_BYTES_MAX, 0, false};
  spool_put_number(&record, FORM, 1);
  spool_put_number(&record, (unsigned char)letter, 1);
  return record;
}

static int end_record(const spool_platform *platform, const char *name, spool_bytes *record) {
  spool_put_number(record, spool_crc32(record->bytes, record->at), 4);
  if (record->failed) return SPOOL_E_ARGUMENT;
  return platform->write(platform->ctx, name, record->bytes, record->at) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}

static int read_record(const spool_platform *platform, const char *name, char letter, spool_bytes *record,
                       unsigned char bytes[RECORD_BYTES_MAX]) {
  const int32_t size = platform->read(platform->ctx, name, 0, bytes, RECORD_BYTES_MAX);
  if (size < 0) return size == SPOOL_E_NOT_FOUND ? SPOOL_E_NOT_FOUND : SPOOL_E_STORAGE;
  if (size < 6) return SPOOL_E_DAMAGED;
  spool_bytes sum = {bytes, (size_t)size, (size_t)size - 4, false};
  if (spool_take_number(&sum, 4) != spool_crc32(bytes, (size_t)size - 4)) return SPOOL_E_DAMAGED;
  if (bytes[0] != FORM || bytes[1] != (unsigned char)letter) return SPOOL_E_DAMAGED;
  *record = (spool_bytes){bytes, (size_t)size - 4, 2, false};
  return SPOOL_OK;
}

static int whole(const spool_bytes *record) {
  return record->failed || record->at != record->size ? SPOOL_E_DAMAGED : SPOOL_OK;
}

int spool_write_stream(const spool_platform *platform, uint32_t number, const spool_stream *stream) {
  unsigned char bytes[RECORD_BYTES_MAX];
  char name[SPOOL_NAME_BYTES];
  spool_bytes record = begin_record(bytes, 's');
  spool_put(&record, stream->ref, SPOOL_UUID_BYTES);
  spool_put(&record, stream->epoch, SPOOL_UUID_BYTES);
  spool_put_number(&record, (uint64_t)stream->captured_at_ms, 8);
  spool_put_number(&record, stream->clock_uncertainty_ms, 4);
  spool_put_number(&record, stream->format.sample_rate_hz, 4);
  spool_put_number(&record, stream->format.channels, 1);
  spool_put_number(&record, stream->format.container, 1);
  spool_put_number(&record, stream->is_ended, 1);
  spool_put_number(&record, stream->end_ms, 8);
  spool_name(name, 's', number);
  return end_record(platform, name, &record);
}

int spool_read_stream(const spool_platform *platform, uint32_t number, spool_stream *stream) {
  unsigned char bytes[RECORD_BYTES_MAX];
  char name[SPOOL_NAME_BYTES];
  spool_bytes record;
  spool_name(name, 's', number);
  const int result = read_record(platform, name, 's', &record, bytes);
  if (result != SPOOL_OK) return result;
  spool_take(&record, stream->ref, SPOOL_UUID_BYTES);
  spool_take(&record, stream->epoch, SPOOL_UUID_BYTES);
  stream->captured_at_ms = (int64_t)spool_take_number(&record, 8);
  stream->clock_uncertainty_ms = (uint32_t)spool_take_number(&record, 4);
  stream->format.sample_rate_hz = (uint32_t)spool_take_number(&record, 4);
  stream->format.channels = (uint8_t)spool_take_number(&record, 1);
  stream->format.container = spool_take_number(&record, 1) == SPOOL_WAV ? SPOOL_WAV : SPOOL_RAW;
  stream->is_ended = spool_take_number(&record, 1) != 0;
  stream->end_ms = spool_take_number(&record, 8);
  if (stream->format.sample_rate_hz == 0 || stream->format.channels == 0) return SPOOL_E_DAMAGED;
  return whole(&record);
}

int spool_write_progress(const spool_platform *platform, uint32_t number, const spool_progress *progress) {
  unsigned char bytes[RECORD_BYTES_MAX];
  char name[SPOOL_NAME_BYTES];
  spool_bytes record = begin_record(bytes, 'p');
  spool_put(&record, progress->ref, SPOOL_UUID_BYTES);
  spool_put_number(&record, progress->is_registered, 1);
  spool_put_number(&record, progress->is_registered_again, 1);
  spool_put_number(&record, progress->aside_status, 2);
  spool_put(&record, progress->aside_code, SPOOL_CODE_BYTES);
  spool_put_number(&record, progress->sequence, 4);
  spool_put_number(&record, progress->frame, 8);
  spool_put_number(&record, progress->end_ms, 8);
  spool_name(name, 'p', number);
  return end_record(platform, name, &record);
}

int spool_read_progress(const spool_platform *platform, uint32_t number, const unsigned char ref[SPOOL_UUID_BYTES],
                        spool_progress *progress) {
  unsigned char bytes[RECORD_BYTES_MAX];
  char name[SPOOL_NAME_BYTES];
  spool_bytes record;
  spool_name(name, 'p', number);
  int result = read_record(platform, name, 'p', &record, bytes);
  if (result == SPOOL_OK) {
    spool_take(&record, progress->ref, SPOOL_UUID_BYTES);
    progress->is_registered = spool_take_number(&record, 1) != 0;
    progress->is_registered_again = spool_take_number(&record, 1) != 0;
    progress->aside_status = (uint16_t)spool_take_number(&record, 2);
    spool_take(&record, progress->aside_code, SPOOL_CODE_BYTES);
    progress->aside_code[SPOOL_CODE_BYTES - 1] = 0;
    progress->sequence = (uint32_t)spool_take_number(&record, 4);
    progress->frame = spool_take_number(&record, 8);
    progress->end_ms = spool_take_number(&record, 8);
    result = whole(&record);
  }
  const bool is_other = result == SPOOL_OK && memcmp(progress->ref, ref, SPOOL_UUID_BYTES) != 0;
  if (result != SPOOL_E_NOT_FOUND && !is_other) return result;
  memset(progress, 0, sizeof(*progress));
  memcpy(progress->ref, ref, SPOOL_UUID_BYTES);
  return SPOOL_OK;
}

int spool_write_seal(const spool_platform *platform, uint32_t stream, uint32_t sequence, const spool_seal *seal) {
  unsigned char bytes[RECORD_BYTES_MAX];
  char name[SPOOL_NAME_BYTES];
  spool_bytes record = begin_record(bytes, 'c');
  spool_put_number(&record, seal->frame, 8);
  spool_put_number(&record, seal->start_ms, 8);
  spool_put_number(&record, seal->end_ms, 8);
  spool_put_number(&record, seal->data_bytes, 4);
  spool_put_number(&record, seal->size_bytes, 4);
  spool_put(&record, seal->sha256, SPOOL_SHA256_BYTES);
  spool_chunk_name(name, 'c', stream, sequence);
  return end_record(platform, name, &record);
}

int spool_read_seal(const spool_platform *platform, uint32_t stream, uint32_t sequence, spool_seal *seal) {
  unsigned char bytes[RECORD_BYTES_MAX];
  char name[SPOOL_NAME_BYTES];
  spool_bytes record;
  spool_chunk_name(name, 'c', stream, sequence);
  const int result = read_record(platform, name, 'c', &record, bytes);
  if (result != SPOOL_OK) return result;
  seal->frame = spool_take_number(&record, 8);
  seal->start_ms = spool_take_number(&record, 8);
  seal->end_ms = spool_take_number(&record, 8);
  seal->data_bytes = (uint32_t)spool_take_number(&record, 4);
  seal->size_bytes = (uint32_t)spool_take_number(&record, 4);
  spool_take(&record, seal->sha256, SPOOL_SHA256_BYTES);
  return whole(&record);
}

int spool_write_binding(const spool_platform *platform, const spool_binding *binding) {
  unsigned char bytes[RECORD_BYTES_MAX];
  spool_bytes record = begin_record(bytes, 'b');
  spool_put_number(&record, binding->is_session, 1);
  spool_put_number(&record, binding->end_requested, 1);
  spool_put(&record, binding->epoch, SPOOL_UUID_BYTES);
  spool_put_number(&record, (uint64_t)binding->expires_at_ms, 8);
  spool_put_number(&record, (uint64_t)binding->drain_until_ms, 8);
  spool_put_number(&record, binding->chunk_bytes_max, 4);
  return end_record(platform, "binding", &record);
}

int spool_read_binding(const spool_platform *platform, spool_binding *binding) {
  unsigned char bytes[RECORD_BYTES_MAX];
  spool_bytes record;
  const int result = read_record(platform, "binding", 'b', &record, bytes);
  if (result != SPOOL_OK) return result;
  binding->is_session = spool_take_number(&record, 1) != 0;
  binding->end_requested = spool_take_number(&record, 1) != 0;
  spool_take(&record, binding->epoch, SPOOL_UUID_BYTES);
  binding->expires_at_ms = (int64_t)spool_take_number(&record, 8);
  binding->drain_until_ms = (int64_t)spool_take_number(&record, 8);
  binding->chunk_bytes_max = (uint32_t)spool_take_number(&record, 4);
  return whole(&record);
}

/* A chunk's reference follows from its stream's, so that it need not be stored and never changes. UUID version 8. */
int spool_chunk_ref(const unsigned char stream_ref[SPOOL_UUID_BYTES], uint32_t sequence,
                    unsigned char ref[SPOOL_UUID_BYTES]) {
  unsigned char bytes[SPOOL_UUID_BYTES + 4];
  unsigned char hash[SPOOL_SHA256_BYTES];
  spool_bytes to = {bytes, sizeof(bytes), 0, false};
  spool_put(&to, stream_ref, SPOOL_UUID_BYTES);
  spool_put_number(&to, sequence, 4);
  if (spool_sha256(bytes, sizeof(bytes), hash) != SPOOL_OK) return SPOOL_E_CRYPTO;
  memcpy(ref, hash, SPOOL_UUID_BYTES);
  ref[6] = (unsigned char)((ref[6] & 0x0f) | 0x80);
  ref[8] = (unsigned char)((ref[8] & 0x3f) | 0x80);
  return SPOOL_OK;
}

/* ---- What there is ---- */

static int survey_name(void *arg, const char *name) {
  spool_survey *survey = arg;
  char letter;
  uint32_t stream, sequence;
  if (!spool_parse_name(name, &letter, &stream, &sequence)) return 0;
  if (stream > survey->highest) survey->highest = stream;
  if (letter == 's' && stream > survey->after && (survey->next == 0 || stream < survey->next)) survey->next = stream;
  if (letter == 'a') survey->audio++;
  if (letter == 'c' && stream == survey->stream) {
    survey->sealed++;
    if (sequence >= survey->sealed_next) survey->sealed_next = sequence + 1;
  }
  return 0;
}

int spool_look(const spool_platform *platform, spool_survey *survey) {
  survey->next = survey->highest = survey->audio = survey->sealed = survey->sealed_next = 0;
  return platform->list(platform->ctx, survey_name, survey) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}

int spool_remove_chunk(const spool_platform *platform, uint32_t stream, uint32_t sequence) {
  char name[SPOOL_NAME_BYTES];
  spool_chunk_name(name, 'a', stream, sequence);
  if (platform->remove(platform->ctx, name) != 0) return SPOOL_E_STORAGE;
  name[0] = 'c';
  return platform->remove(platform->ctx, name) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}

typedef struct {
  uint32_t stream;
  bool found;
  uint32_t sequence;
} any_chunk;

static int find_chunk(void *arg, const char *name) {
  any_chunk *any = arg;
  char letter;
  uint32_t stream, sequence;
  if (!spool_parse_name(name, &letter, &stream, &sequence)) return 0;
  if ((letter != 'a' && letter != 'c') || stream != any->stream) return 0;
  any->found = true;
  any->sequence = sequence;
  return 1;
}

/* The stream's own record goes last but one: as long as it is there, so is the number that its chunks count by. */
int spool_remove_stream(const spool_platform *platform, uint32_t number) {
  char name[SPOOL_NAME_BYTES];
  for (;;) {
    any_chunk any = {number, false, 0};
    if (platform->list(platform->ctx, find_chunk, &any) < 0) return SPOOL_E_STORAGE;
    if (!any.found) break;
    const int result = spool_remove_chunk(platform, number, any.sequence);
    if (result != SPOOL_OK) return result;
  }
  spool_name(name, 's', number);
  if (platform->remove(platform->ctx, name) != 0) return SPOOL_E_STORAGE;
  name[0] = 'p';
  return platform->remove(platform->ctx, name) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}

int spool_next_stream(const spool_platform *platform, uint32_t after, spool_stream_status *status) {
  spool_survey survey = {0};
  spool_stream stream;
  spool_progress progress;
  survey.after = after;
  int result = spool_look(platform, &survey);
  if (result != SPOOL_OK) return result;
  if (survey.next == 0) return SPOOL_E_NOT_FOUND;
  memset(status, 0, sizeof(*status));
  status->number = survey.stream = survey.next;
  result = spool_look(platform, &survey);
  if (result == SPOOL_OK) result = spool_read_stream(platform, status->number, &stream);
  if (result == SPOOL_OK) result = spool_read_progress(platform, status->number, stream.ref, &progress);
  if (result != SPOOL_OK) return result;
  memcpy(status->ref, stream.ref, SPOOL_UUID_BYTES);
  status->is_ended = stream.is_ended;
  status->is_registered = progress.is_registered;
  status->chunks_sent = progress.sequence;
  status->chunks_queued = survey.sealed;
  status->aside_status = progress.aside_status;
  memcpy(status->aside_code, progress.aside_code, SPOOL_CODE_BYTES);
  return SPOOL_OK;
}

int spool_discard(const spool_platform *platform, uint32_t number) {
  spool_stream stream;
  spool_progress progress;
  int result = spool_read_stream(platform, number, &stream);
  if (result == SPOOL_OK) result = spool_read_progress(platform, number, stream.ref, &progress);
  if (result != SPOOL_OK) return result;
  return progress.aside_status == 0 ? SPOOL_E_ARGUMENT : spool_remove_stream(platform, number);
}
