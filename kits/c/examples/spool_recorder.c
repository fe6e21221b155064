/* spool-recorder: a recorder on Linux. See README.md beside the kit. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool_device.h"
#include "spool_posix.h"

#define READ_BYTES 16384u
#define WAV_HEAD_BYTES 65536u
#define PEM_BYTES 8192u
#define LOOK_MS 100u

static const char USAGE[] =
    "usage: spool-recorder FOLDER COMMAND [options]\n"
    "  request                     makes a key that stays in FOLDER; prints the request for its certificate\n"
    "  install CERT.pem CA.pem [KEY.pem]   takes what provisioning gave\n"
    "  claim CLAIM [BLE_ADDRESS]   binds the recorder, by a claim or its pairing code\n"
    "  record FILE|-               records a WAV file, or raw 16-bit PCM from stdin\n"
    "  send                        sends what is recorded\n"
    "  end-session                 ends the session of a shared recorder when all is sent\n"
    "  renew                       gets the next certificate now\n"
    "  status                      says what there is\n"
    "  discard STREAM              removes a stream that was set aside\n"
    "options\n"
    "  --server HOST:PORT   the device listener (localhost:8443)\n"
    "  --rate HZ            of stdin (16000)\n"
    "  --channels N         of stdin (1)\n"
    "  --chunk-ms MS        how long a chunk is (4000)\n"
    "  --queue CHUNKS       how many chunks FOLDER may hold (1000)\n"
    "  --wav                sends chunks as WAV files, not as raw PCM\n"
    "  --resume             goes on with the recording that broke off; a file from where that was\n"
    "  --pace FACTOR        reads a file so many times as fast as it sounds; 0: at once (0)\n"
    "  --follow             sends for ever\n"
    "  --patience S         gives up after so many seconds (600)\n"
    "  --retry-ms FIRST:MAX how long it waits after a failure (1000:300000)\n";

typedef struct {
  const char *host;
  char port[8];
  uint32_t rate, channels, chunk_ms, queue_chunks, patience_s, retry_first_ms, retry_max_ms, pace;
  bool is_wav, resumes, follows;
} options;

static volatile sig_atomic_t stopped;
static spool_recorder recorder;
static spool_sender sender;
static spool_posix posix;
static spool_platform platform;

static void on_signal(int number) {
  (void)number;
  stopped = 1;
}

static int complain(const char *what, int result) {
  static const char *const words[] = {"",
                                      "a wrong argument",
                                      "storage failed (or another process is at it)",
                                      "there is none",
                                      "storage is damaged",
                                      "the queue is full",
                                      "no answer",
                                      "an answer that is none of Spool's",
                                      "refused",
                                      "the recorder is bound to nobody",
                                      "no certificate that the server takes",
                                      "cryptography failed"};
  fprintf(stderr, "spool-recorder: %s: %s", what, result < 0 ? words[-result] : "not done");
  if (sender.refusal.status != 0)
    fprintf(stderr, " (%d %s %s)", sender.refusal.status, sender.refusal.code, sender.refusal.reason);
  if (result == SPOOL_E_NETWORK && sender.link.tls_error != 0)
    fprintf(stderr, " (mbedTLS -0x%04x)", (unsigned)-sender.link.tls_error);
  fprintf(stderr, "\n");
  return 1;
}

static void on_event(void *arg, const spool_event *event) {
  static const char *const words[] = {"stored", "sent", "warning", "set aside", "let go", "damaged",
                                      "waiting", "unbound", "session ended", "renewed"};
  (void)arg;
  printf("%s", words[event->kind]);
  if (event->stream != 0) printf(" stream %" PRIu32 " chunk %" PRIu32, event->stream, event->sequence);
  if (event->kind == SPOOL_EVENT_WAITING) printf(" %" PRIu32 " ms", event->wait_ms);
  if (event->status != 0) printf(" (%d %s)", event->status, event->code);
  printf(" %s\n", event->text);
  fflush(stdout);
}

/* ---- Words of the command line ---- */

static bool number_of(const char *text, uint32_t *number) {
  char *end;
  errno = 0;
  const unsigned long value = strtoul(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != 0 || errno != 0 || value > UINT32_MAX) return false;
  *number = (uint32_t)value;
  return true;
}

static bool split(char *text, char **second) {
  char *colon = strrchr(text, ':');
  if (colon == NULL) return false;
  *colon = 0;
  *second = colon + 1;
  return true;
}

/* Takes the options out; gives how many other words there are, -1 for a fault. */
static int read_options(int count, char **words, options *o) {
  const struct {
    const char *name;
    uint32_t *number;
    bool *flag;
  } known[] = {{"--rate", &o->rate, NULL},          {"--channels", &o->channels, NULL},
               {"--chunk-ms", &o->chunk_ms, NULL},  {"--queue", &o->queue_chunks, NULL},
               {"--pace", &o->pace, NULL},          {"--patience", &o->patience_s, NULL},
               {"--wav", NULL, &o->is_wav},         {"--resume", NULL, &o->resumes},
               {"--follow", NULL, &o->follows}};
  int others = 0;
  for (int i = 0; i < count; i++) {
    char *second;
    size_t row = 0;
    if (strncmp(words[i], "--", 2) != 0) {
      words[others++] = words[i];
      continue;
    }
    while (row < sizeof(known) / sizeof(known[0]) && strcmp(known[row].name, words[i]) != 0) row++;
    if (row < sizeof(known) / sizeof(known[0])) {
      if (known[row].flag != NULL) *known[row].flag = true;
      else if (++i == count || !number_of(words[i], known[row].number)) return -1;
    } else if (strcmp(words[i], "--server") == 0) {
      uint32_t port;
      if (++i == count || !split(words[i], &second) || !number_of(second, &port) || port > 65535) return -1;
      o->host = words[i];
      snprintf(o->port, sizeof(o->port), "%" PRIu32, port);
    } else if (strcmp(words[i], "--retry-ms") == 0) {
      if (++i == count || !split(words[i], &second)) return -1;
      if (!number_of(words[i], &o->retry_first_ms) || !number_of(second, &o->retry_max_ms)) return -1;
    } else {
      return -1;
    }
  }
  return others;
}

/* ---- Commands ---- */

static int open_sender(const options *o) {
  const spool_sender_config config = {o->host, o->port, o->retry_first_ms, o->retry_max_ms, 0, on_event, NULL};
  if (spool_posix_lock(&posix, "sender") != SPOOL_OK) return SPOOL_E_STORAGE;
  return spool_sender_open(&sender, &platform, &config);
}

static int request(void) {
  char csr_pem[SPOOL_CSR_BYTES];
  const int result = spool_request_certificate(&platform, csr_pem);
  if (result != SPOOL_OK) return complain("request", result);
  printf("%s", csr_pem);
  return 0;
}

static bool read_file(const char *path, char text[PEM_BYTES]) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  const size_t size = fread(text, 1, PEM_BYTES, file);
  fclose(file);
  if (size >= PEM_BYTES) return false;
  text[size] = 0;
  return true;
}

static int install(char **files, int count) {
  static char texts[3][PEM_BYTES];
  static unsigned char scratch[SPOOL_WORK_BYTES];
  for (int i = 0; i < count; i++)
    if (!read_file(files[i], texts[i])) return complain(files[i], SPOOL_E_ARGUMENT);
  const char *key = count == 3 ? texts[2] : NULL;
  const int result = spool_install_certificate(&platform, texts[0], texts[1], key, 0, scratch);
  return result == SPOOL_OK ? 0 : complain("install", result);
}

static int claim(const options *o, const char *text, const char *ble_address) {
  int result = open_sender(o);
  if (result == SPOOL_OK) result = spool_redeem(&sender, text, ble_address);
  if (result == SPOOL_OK) printf("bound\n");
  spool_sender_close(&sender);
  return result == SPOOL_OK ? 0 : complain("claim", result);
}

/* Reads until there is as much, or no more. */
static size_t read_fully(FILE *file, unsigned char *bytes, size_t size) {
  size_t done = 0;
  while (done < size && !stopped) {
    const size_t came = fread(bytes + done, 1, size - done, file);
    if (came == 0) break;
    done += came;
  }
  return done;
}

/* The queue may be full: a file waits for room, a live recording leaves a hole. */
static int take(const unsigned char *pcm, size_t size, bool may_wait, const spool_format *format) {
  for (size_t at = 0; at < size && !stopped;) {
    size_t taken;
    const int result = spool_record(&recorder, pcm + at, size - at, &taken);
    at += taken;
    if (result == SPOOL_OK) continue;
    if (result != SPOOL_E_FULL) return result;
    if (may_wait) {
      platform.sleep_ms(platform.ctx, LOOK_MS);
    } else {
      fprintf(stderr, "spool-recorder: the queue is full, audio is lost\n");
      return spool_record_skip(&recorder, (size - at) / (2u * format->channels));
    }
  }
  return SPOOL_OK;
}

static int record_from(FILE *file, const spool_format *format, uint64_t left, bool is_live, uint32_t pace) {
  unsigned char pcm[READ_BYTES];
  const size_t frame = 2u * format->channels;
  size_t part_max = READ_BYTES - READ_BYTES % frame;
  if (pace > 0) {
    const size_t tenth = format->sample_rate_hz / 10 * frame * pace;
    if (tenth > 0 && tenth < part_max) part_max = tenth;
  }
  while (left > 0 && !stopped) {
    const size_t wanted = left < part_max ? (size_t)left : part_max;
    const size_t size = read_fully(file, pcm, wanted);
    const int result = take(pcm, size - size % frame, !is_live, format);
    if (result != SPOOL_OK) return result;
    if (size < wanted) break;
    left -= size;
    if (pace > 0) platform.sleep_ms(platform.ctx, (uint32_t)(size / frame * 1000 / format->sample_rate_hz / pace));
  }
  return SPOOL_OK;
}

/* Where its samples begin and how many bytes they are; 0 bytes where it is no WAV file of 16 bits. */
static uint64_t open_wav(FILE *file, spool_format *format) {
  static unsigned char head[WAV_HEAD_BYTES];
  uint32_t at, bytes;
  const size_t size = fread(head, 1, sizeof(head), file);
  if (spool_wav_parse(head, size, format, &at, &bytes) != SPOOL_OK || fseek(file, (long)at, SEEK_SET) != 0) return 0;
  return bytes;
}

static int record(const options *o, const char *source) {
  const spool_recorder_config config = {o->chunk_ms, o->queue_chunks};
  const bool is_live = strcmp(source, "-") == 0;
  spool_format format = {o->rate, (uint8_t)o->channels, SPOOL_RAW};
  uint64_t left = UINT64_MAX, frames = 0;
  FILE *file = is_live ? stdin : fopen(source, "rb");
  if (file == NULL || o->channels > UINT8_MAX) return complain(source, SPOOL_E_ARGUMENT);
  if (!is_live && (left = open_wav(file, &format)) == 0) return complain(source, SPOOL_E_ARGUMENT);
  format.container = o->is_wav ? SPOOL_WAV : SPOOL_RAW;
  int result = spool_posix_lock(&posix, "recorder");
  if (result == SPOOL_OK) result = spool_recorder_open(&recorder, &platform, &config);
  int resumed = SPOOL_E_NOT_FOUND;
  if (result == SPOOL_OK && o->resumes) resumed = spool_record_resume(&recorder, &format, &frames);
  if (result == SPOOL_OK && resumed == SPOOL_E_NOT_FOUND)
    result = spool_record_start(&recorder, &format, platform.unix_ms(platform.ctx), 1000);
  else if (result == SPOOL_OK) result = resumed;
  if (result == SPOOL_OK) {
    const uint64_t done = frames * 2u * format.channels;
    printf("recording from frame %" PRIu64 "\n", frames);
    fflush(stdout);
    if (!is_live && (done > left || fseek(file, (long)done, SEEK_CUR) != 0)) result = SPOOL_E_ARGUMENT;
    else result = record_from(file, &format, is_live ? left : left - done, is_live, o->pace);
  }
  const int end = recorder.is_recording ? spool_record_stop(&recorder) : SPOOL_OK;
  if (!is_live) fclose(file);
  if (result == SPOOL_OK) result = end;
  if (result == SPOOL_OK) printf("recorded\n");
  return result == SPOOL_OK ? 0 : complain("record", result);
}

static int send_queue(const options *o) {
  int result = open_sender(o);
  const uint64_t until_ms = platform.monotonic_ms(platform.ctx) + (uint64_t)o->patience_s * 1000;
  while (result == SPOOL_OK && !stopped) {
    uint32_t wait_ms = 0;
    const int done = spool_step(&sender, &wait_ms);
    if (done == SPOOL_IDLE && !o->follows) break;
    if (done == SPOOL_OK) continue;
    if (done < 0 && !(o->follows && done == SPOOL_E_IDENTITY)) result = done;
    else if (!o->follows && platform.monotonic_ms(platform.ctx) + wait_ms > until_ms) result = SPOOL_E_NETWORK;
    else platform.sleep_ms(platform.ctx, done == SPOOL_IDLE || wait_ms > LOOK_MS ? LOOK_MS : wait_ms);
  }
  spool_sender_close(&sender);
  if (result != SPOOL_OK) return complain("send", result);
  if (!stopped) printf("all is sent\n");
  return 0;
}

static int renew(const options *o) {
  int result = open_sender(o);
  if (result == SPOOL_OK) result = spool_renew(&sender);
  spool_sender_close(&sender);
  return result == SPOOL_OK ? 0 : complain("renew", result);
}

static int end_session(const options *o) {
  int result = open_sender(o);
  if (result == SPOOL_OK) result = spool_end_session(&sender);
  if (result != SPOOL_OK) return complain("end-session", result);
  result = spool_drain(&sender, o->patience_s * 1000);
  spool_sender_close(&sender);
  return result == SPOOL_IDLE ? 0 : complain("end-session", result);
}

static int status(void) {
  spool_binding binding;
  spool_stream_status stream = {0};
  int result = spool_read_binding(&platform, &binding);
  if (result == SPOOL_OK) printf("bound by %s\n", binding.is_session ? "a session" : "an owner");
  else printf("bound to nobody\n");
  while ((result = spool_next_stream(&platform, stream.number, &stream)) == SPOOL_OK) {
    printf("stream %" PRIu32 ": %" PRIu32 " chunks sent, %" PRIu32 " queued, %s", stream.number, stream.chunks_sent,
           stream.chunks_queued, stream.is_ended ? "ended" : "open");
    if (stream.aside_status != 0) printf(", set aside (%d %s)", stream.aside_status, stream.aside_code);
    printf("\n");
  }
  return result == SPOOL_E_NOT_FOUND ? 0 : complain("status", result);
}

static int discard(const char *text) {
  uint32_t number;
  if (!number_of(text, &number)) return complain("discard", SPOOL_E_ARGUMENT);
  if (spool_posix_lock(&posix, "sender") != SPOOL_OK) return complain("discard", SPOOL_E_STORAGE);
  const int result = spool_discard(&platform, number);
  return result == SPOOL_OK ? 0 : complain("discard", result);
}

int main(int count, char **words) {
  options o = {"localhost", "8443", 16000, 1, 4000, 1000, 600, 1000, 300000, 0, false, false, false};
  const int others = read_options(count - 1, words + 1, &o);
  if (others < 2) {
    fprintf(stderr, "%s", USAGE);
    return 2;
  }
  const char *command = words[2];
  char **rest = words + 3;
  const int given = others - 2;
  const struct sigaction stop = {.sa_handler = on_signal};
  sigaction(SIGINT, &stop, NULL);
  sigaction(SIGTERM, &stop, NULL);
  const int result = spool_posix_open(&posix, &platform, words[1]);
  if (result != SPOOL_OK) return complain(words[1], result);
  if (strcmp(command, "request") == 0 && given == 0) return request();
  if (strcmp(command, "install") == 0 && (given == 2 || given == 3)) return install(rest, given);
  if (strcmp(command, "claim") == 0 && (given == 1 || given == 2)) return claim(&o, rest[0], given == 2 ? rest[1] : NULL);
  if (strcmp(command, "record") == 0 && given == 1) return record(&o, rest[0]);
  if (strcmp(command, "send") == 0 && given == 0) return send_queue(&o);
  if (strcmp(command, "end-session") == 0 && given == 0) return end_session(&o);
  if (strcmp(command, "renew") == 0 && given == 0) return renew(&o);
  if (strcmp(command, "status") == 0 && given == 0) return status();
  if (strcmp(command, "discard") == 0 && given == 1) return discard(rest[0]);
  fprintf(stderr, "%s", USAGE);
  return 2;
}
