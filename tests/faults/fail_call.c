// Stands before the C library: the n-th call that changes files below a folder fails or ends the process.
// FAULT_BELOW=/folder  FAULT_AT=n  FAULT_HOW=kill|ENOSPC|EIO|short  FAULT_COUNT=/file (the number of calls is written there)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;
enum outcome { pass, fail, shorter };

static int below(const char* path) {
  const char* folder = getenv("FAULT_BELOW");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int descriptor_below(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return below(path);
}

static enum outcome judge(int counts) {
  if (!counts) return pass;
  const int now = atomic_fetch_add(&calls, 1) + 1;
  const char* at = getenv("FAULT_AT");
  const char* how = getenv("FAULT_HOW");
  if (!at || !how || now != atoi(at)) return pass;
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "short") == 0) return shorter;
  errno = strcmp(how, "EIO") == 0 ? EIO : ENOSPC;
  return fail;
}

__attribute__((destructor)) static void tell(void) {
  const char* file = getenv("FAULT_COUNT");
  FILE* out = file ? fopen(file, "w") : NULL;
  if (out) {
    fprintf(out, "%d\n", (int)calls);
    fclose(out);
  }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  switch (judge(descriptor_below(fd))) {
    case fail: return -1;
    case shorter: return REAL(write)(fd, data, size > 1 ? size / 2 : size);
    default: return REAL(write)(fd, data, size);
  }
}
int fsync(int fd) { return judge(descriptor_below(fd)) == fail ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return judge(descriptor_below(fd)) == fail ? -1 : REAL(fdatasync)(fd); }
int rename(const char* from, const char* to) { return judge(below(from)) == fail ? -1 : REAL(rename)(from, to); }
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  return judge(below(from)) == fail ? -1 : REAL(renameat2)(a, from, b, to, flags);
}
int mkdir(const char* path, mode_t mode) { return judge(below(path)) == fail ? -1 : REAL(mkdir)(path, mode); }
int unlink(const char* path) { return judge(below(path)) == fail ? -1 : REAL(unlink)(path); }
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return judge((flags & (O_WRONLY | O_RDWR)) && below(path)) == fail ? -1 : REAL(open)(path, flags, mode);
}
