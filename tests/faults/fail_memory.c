// Stands before the C library: in one process the n-th allocation of at least so many bytes fails.
// FAULT_RANK=r (the process whose TANDEM_RANK it is)  FAULT_LEAST=bytes  FAULT_AT=n  FAULT_COUNT=/file (how many there were)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static atomic_long count;
static long at, least;

__attribute__((constructor)) static void begin(void) {
  const char* rank = getenv("TANDEM_RANK");
  const char* wanted = getenv("FAULT_RANK");
  if (!wanted || !getenv("FAULT_LEAST") || strcmp(rank ? rank : "none", wanted) != 0) return;
  at = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
  least = atol(getenv("FAULT_LEAST"));
}

__attribute__((destructor)) static void tell(void) {
  const char* file = getenv("FAULT_COUNT");
  FILE* out = file && least > 0 ? fopen(file, "w") : NULL;
  if (out) {
    fprintf(out, "%ld\n", (long)count);
    fclose(out);
  }
}

static int fails(size_t size) {
  if (least == 0 || size < (size_t)least) return 0;
  if (atomic_fetch_add(&count, 1) + 1 != at) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }
void* calloc(size_t number, size_t size) { return fails(number * size) ? NULL : __libc_calloc(number, size); }
void* realloc(void* old, size_t size) { return fails(size) ? NULL : __libc_realloc(old, size); }
void* memalign(size_t align, size_t size) { return fails(size) ? NULL : __libc_memalign(align, size); }
void* aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void** memory, size_t align, size_t size) {
  if (fails(size)) return ENOMEM;
  *memory = __libc_memalign(align, size);
  return *memory ? 0 : ENOMEM;
}
