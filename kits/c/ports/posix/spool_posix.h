/* The kit's port to POSIX: sockets, and a folder as storage. */
#ifndef SPOOL_POSIX_H
#define SPOOL_POSIX_H

#include "spool_device.h"

#define SPOOL_POSIX_PATH_BYTES 512u

typedef struct {
  char folder[SPOOL_POSIX_PATH_BYTES];
  int socket;
} spool_posix;

/* Makes the folder where there is none. SPOOL_OK or SPOOL_E_STORAGE. */
int spool_posix_open(spool_posix *posix, spool_platform *platform, const char *folder);

/* Holds a lock of this name in the folder until the process ends; SPOOL_E_STORAGE where another process holds it. */
int spool_posix_lock(spool_posix *posix, const char *name);

#endif
