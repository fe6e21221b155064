/* Counts what is on the heap of whatever is linked with --wrap, and says at the end how much it was at most. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static size_t now, peak;

static void tell(void) {
  fprintf(stderr, "heap: %lu bytes at most\n", (unsigned long)peak);
}

static void *counted(void *made) {
  if (peak == 0) atexit(tell);
  if (made != NULL) now += malloc_usable_size(made);
  if (now > peak) peak = now;
  return made;
}

void *__wrap_malloc(size_t size) {
  return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size) {
  if (old != NULL) now -= malloc_usable_size(old);
  return counted(__real_realloc(old, size));
}

void __wrap_free(void *old) {
  if (old != NULL) now -= malloc_usable_size(old);
  __real_free(old);
}
