#define _POSIX_C_SOURCE 200809L
#include "spool_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Network ---- */

/* True when it came. */
static bool wait_until(int fd, short what, uint32_t timeout_ms) {
  struct pollfd one = {fd, what, 0};
  int ready;
  do ready = poll(&one, 1, (int)timeout_ms);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

static int connect_to(const struct addrinfo *address, uint32_t timeout_ms) {
  const int fd = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
  const int yes = 1;
  int failed = 0;
  socklen_t size = sizeof(failed);
  if (fd < 0) return -1;
  if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
    if (errno == EINPROGRESS && wait_until(fd, POLLOUT, timeout_ms) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 && failed == 0)
      return fd;
  }
  close(fd);
  return -1;
}

static void posix_close(void *ctx) {
  spool_posix *posix = ctx;
  if (posix->socket >= 0) close(posix->socket);
  posix->socket = -1;
}

static int posix_connect(void *ctx, const char *host, const char *port, uint32_t timeout_ms) {
  spool_posix *posix = ctx;
  struct addrinfo wanted, *found;
  memset(&wanted, 0, sizeof(wanted));
  wanted.ai_socktype = SOCK_STREAM;
  posix_close(ctx);
  if (getaddrinfo(host, port, &wanted, &found) != 0) return SPOOL_NET_FAILED;
  for (const struct addrinfo *at = found; at != NULL && posix->socket < 0; at = at->ai_next)
    posix->socket = connect_to(at, timeout_ms);
  freeaddrinfo(found);
  return posix->socket < 0 ? SPOOL_NET_FAILED : 0;
}

static int posix_send(void *ctx, const unsigned char *bytes, size_t size, uint32_t timeout_ms) {
  const spool_posix *posix = ctx;
  for (;;) {
    const ssize_t sent = send(posix->socket, bytes, size, MSG_NOSIGNAL);
    if (sent >= 0) return (int)sent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return SPOOL_NET_FAILED;
    if (!wait_until(posix->socket, POLLOUT, timeout_ms)) return SPOOL_NET_TIMEOUT;
  }
}

static int posix_recv(void *ctx, unsigned char *bytes, size_t size, uint32_t timeout_ms) {
  const spool_posix *posix = ctx;
  for (;;) {
    const ssize_t came = recv(posix->socket, bytes, size, 0);
    if (came >= 0) return (int)came;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return SPOOL_NET_FAILED;
    if (!wait_until(posix->socket, POLLIN, timeout_ms)) return SPOOL_NET_TIMEOUT;
  }
}

/* ---- Time and chance ---- */

static uint64_t posix_monotonic_ms(void *ctx) {
  struct timespec now;
  (void)ctx;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int64_t posix_unix_ms(void *ctx) {
  struct timespec now;
  (void)ctx;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void posix_sleep_ms(void *ctx, uint32_t ms) {
  struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  (void)ctx;
  nanosleep(&left, NULL);
}

static int posix_random(void *ctx, unsigned char *bytes, size_t size) {
  (void)ctx;
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  while (size > 0) {
    const ssize_t came = read(fd, bytes, size);
    if (came < 0 && errno == EINTR) continue;
    if (came <= 0) break;
    bytes += came;
    size -= (size_t)came;
  }
  close(fd);
  return size == 0 ? 0 : -1;
}

/* ---- Storage ---- */

static bool path_of(const spool_posix *posix, const char *name, const char *end, char path[SPOOL_POSIX_PATH_BYTES]) {
  const int size = snprintf(path, SPOOL_POSIX_PATH_BYTES, "%s/%s%s", posix->folder, name, end);
  return size > 0 && (size_t)size < SPOOL_POSIX_PATH_BYTES;
}

static int32_t posix_read(void *ctx, const char *name, uint32_t offset, void *bytes, size_t size) {
  char path[SPOOL_POSIX_PATH_BYTES];
  if (!path_of(ctx, name, "", path)) return SPOOL_E_STORAGE;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? SPOOL_E_NOT_FOUND : SPOOL_E_STORAGE;
  size_t done = 0;
  while (done < size) {
    const ssize_t came = pread(fd, (char *)bytes + done, size - done, (off_t)offset + (off_t)done);
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) {
      close(fd);
      return SPOOL_E_STORAGE;
    }
    if (came == 0) break;
    done += (size_t)came;
  }
  close(fd);
  return (int32_t)done;
}

static bool write_all(int fd, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    const ssize_t went = write(fd, at, size);
    if (went < 0 && errno == EINTR) continue;
    if (went <= 0) return false;
    at += went;
    size -= (size_t)went;
  }
  return true;
}

/* A new name, or a name that is gone, is on disk when its folder is. */
static int sync_folder(const spool_posix *posix) {
  const int fd = open(posix->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SPOOL_E_STORAGE;
  const int failed = fsync(fd);
  close(fd);
  return failed ? SPOOL_E_STORAGE : 0;
}

static int posix_write(void *ctx, const char *name, const void *bytes, size_t size) {
  char path[SPOOL_POSIX_PATH_BYTES], other[SPOOL_POSIX_PATH_BYTES];
  if (!path_of(ctx, name, "", path) || !path_of(ctx, name, ".new", other)) return SPOOL_E_STORAGE;
  const int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return SPOOL_E_STORAGE;
  const bool is_written = write_all(fd, bytes, size) && fsync(fd) == 0;
  if (close(fd) != 0 || !is_written || rename(other, path) != 0) return SPOOL_E_STORAGE;
  return sync_folder(ctx);
}

static int posix_append(void *ctx, const char *name, const void *bytes, size_t size) {
  char path[SPOOL_POSIX_PATH_BYTES];
  struct stat before;
  if (!path_of(ctx, name, "", path)) return SPOOL_E_STORAGE;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return SPOOL_E_STORAGE;
  bool is_written = fstat(fd, &before) == 0;
  if (is_written && !write_all(fd, bytes, size)) {
    is_written = false;
    if (ftruncate(fd, before.st_size) != 0) is_written = false;
  }
  return close(fd) == 0 && is_written ? 0 : SPOOL_E_STORAGE;
}

static int posix_sync(void *ctx, const char *name) {
  char path[SPOOL_POSIX_PATH_BYTES];
  if (!path_of(ctx, name, "", path)) return SPOOL_E_STORAGE;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SPOOL_E_STORAGE;
  const int failed = fsync(fd);
  close(fd);
  return failed ? SPOOL_E_STORAGE : sync_folder(ctx);
}

static int posix_remove(void *ctx, const char *name) {
  char path[SPOOL_POSIX_PATH_BYTES];
  if (!path_of(ctx, name, "", path)) return SPOOL_E_STORAGE;
  return unlink(path) == 0 || errno == ENOENT ? 0 : SPOOL_E_STORAGE;
}

static int posix_list(void *ctx, int (*each)(void *arg, const char *name), void *arg) {
  const spool_posix *posix = ctx;
  DIR *folder = opendir(posix->folder);
  int stopped = 0;
  if (folder == NULL) return SPOOL_E_STORAGE;
  for (const struct dirent *entry; stopped == 0 && (entry = readdir(folder)) != NULL;) {
    const size_t length = strlen(entry->d_name);
    /* What begins with a dot or holds one is none of the kit's. */
    if (length < SPOOL_NAME_BYTES && strchr(entry->d_name, '.') == NULL) stopped = each(arg, entry->d_name);
  }
  closedir(folder);
  return stopped;
}

int spool_posix_open(spool_posix *posix, spool_platform *platform, const char *folder) {
  memset(posix, 0, sizeof(*posix));
  posix->socket = -1;
  const int size = snprintf(posix->folder, sizeof(posix->folder), "%s", folder);
  if (size <= 0 || (size_t)size >= sizeof(posix->folder)) return SPOOL_E_STORAGE;
  if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST) return SPOOL_E_STORAGE;
  *platform = (spool_platform){posix,
                               posix_connect,
                               posix_send,
                               posix_recv,
                               posix_close,
                               posix_monotonic_ms,
                               posix_unix_ms,
                               posix_sleep_ms,
                               posix_random,
                               posix_read,
                               posix_write,
                               posix_append,
                               posix_sync,
                               posix_remove,
                               posix_list};
  return SPOOL_OK;
}

int spool_posix_lock(spool_posix *posix, const char *name) {
  char path[SPOOL_POSIX_PATH_BYTES];
  struct flock whole;
  memset(&whole, 0, sizeof(whole));
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (!path_of(posix, name, ".lock", path)) return SPOOL_E_STORAGE;
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  return fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0 ? SPOOL_OK : SPOOL_E_STORAGE;
}
