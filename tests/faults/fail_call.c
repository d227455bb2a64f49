// Stands before the C library: the n-th call that changes files below a folder fails or ends the process; or all of
// them are written down.
// FAULT_BELOW=/folder:/another (beginnings of paths)  FAULT_AT=n  FAULT_HOW=kill|ENOSPC|EIO|short
// FAULT_UNREADABLE=/file:/another (beginnings of paths): as on a disk that does not give back what was written
// FAULT_CALLS=/file (a line a call: its name)  FAULT_TRACE=/file (a line a call that did something; what was written goes to /file.data)
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;
enum outcome { pass, fail, shorter };

// Whether a path begins like one of a list.
static int is_among(const char* path, const char* rest) {
  while (path && rest && *rest) {
    const char* end = strchrnul(rest, ':');
    if (strncmp(path, rest, (size_t)(end - rest)) == 0) return 1;
    rest = *end ? end + 1 : end;
  }
  return 0;
}
static int below(const char* path) { return is_among(path, getenv("FAULT_BELOW")); }

// The path of a descriptor, with a name behind it; "" when there is none.
static const char* path_at(int fd, const char* name, char* path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, PATH_MAX - 1);
  path[n < 0 ? 0 : n] = 0;
  if (n > 0 && name) snprintf(path + n, PATH_MAX - (size_t)n, "/%s", name);
  return path;
}

// By system calls: our own write() stands before the library's.
static void append(const char* file, const char* ending, const void* bytes, size_t size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s", file, ending);
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd < 0 || syscall(SYS_write, fd, bytes, size) != (ssize_t)size) abort();
  syscall(SYS_close, fd);
}

static enum outcome judge(int counts, const char* name) {
  if (!counts) return pass;
  const char* names = getenv("FAULT_CALLS");
  if (names) {
    char line[64];
    append(names, "", line, (size_t)snprintf(line, sizeof line, "%s\n", name));
  }
  const int now = atomic_fetch_add(&calls, 1) + 1;
  const char* at = getenv("FAULT_AT");
  const char* how = getenv("FAULT_HOW");
  if (!at || !how || now != atoi(at)) return pass;
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "short") == 0) return shorter;
  errno = strcmp(how, "EIO") == 0 ? EIO : ENOSPC;
  return fail;
}

static void note(int counts, const char* what, const char* path, const char* to, const void* bytes, size_t size) {
  const char* trace = getenv("FAULT_TRACE");
  if (!counts || !trace) return;
  char line[2 * PATH_MAX + 64];
  const int n = snprintf(line, sizeof line, "%s\t%s\t%s\t%zu\n", what, path, to, size);
  if (size > 0) append(trace, ".data", bytes, size);
  append(trace, "", line, (size_t)n);
}

static int is_unreadable(int fd) {
  char path[PATH_MAX];
  const char* files = getenv("FAULT_UNREADABLE");
  return files && fd >= 0 && is_among(path_at(fd, NULL, path), files);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  char path[PATH_MAX];
  const int counts = below(path_at(fd, NULL, path));
  const enum outcome outcome = judge(counts, __func__);
  if (outcome == fail) return -1;
  const ssize_t n = REAL(write)(fd, data, outcome == shorter && size > 1 ? size / 2 : size);
  if (n > 0) note(counts, "write", path, "", data, (size_t)n);
  return n;
}
static int synced(int fd, int (*real)(int)) {
  char path[PATH_MAX];
  const int counts = below(path_at(fd, NULL, path));
  if (judge(counts, __func__) == fail) return -1;
  const int result = real(fd);
  if (result == 0) note(counts, "sync", path, "", NULL, 0);
  return result;
}
int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }
int rename(const char* from, const char* to) {
  if (judge(below(from), __func__) == fail) return -1;
  const int result = REAL(rename)(from, to);
  if (result == 0) note(below(from), "rename", from, to, NULL, 0);
  return result;
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  if (judge(below(from), __func__) == fail) return -1;
  const int result = REAL(renameat2)(a, from, b, to, flags);
  if (result == 0) note(below(from), flags & RENAME_EXCHANGE ? "exchange" : "rename", from, to, NULL, 0);
  return result;
}
int mkdir(const char* path, mode_t mode) {
  if (judge(below(path), __func__) == fail) return -1;
  const int result = REAL(mkdir)(path, mode);
  if (result == 0) note(below(path), "mkdir", path, "", NULL, 0);
  return result;
}
int unlink(const char* path) {
  if (judge(below(path), __func__) == fail) return -1;
  const int result = REAL(unlink)(path);
  if (result == 0) note(below(path), "unlink", path, "", NULL, 0);
  return result;
}
int unlinkat(int fd, const char* name, int flags) {
  char path[PATH_MAX];
  if (fd == AT_FDCWD || name[0] == '/') snprintf(path, sizeof path, "%s", name);
  else path_at(fd, name, path);
  if (judge(below(path), __func__) == fail) return -1;
  const int result = REAL(unlinkat)(fd, name, flags);
  if (result == 0) note(below(path), flags & AT_REMOVEDIR ? "rmdir" : "unlink", path, "", NULL, 0);
  return result;
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  const int counts = (flags & (O_WRONLY | O_RDWR)) && below(path);
  if (judge(counts, __func__) == fail) return -1;
  const int result = REAL(open)(path, flags, mode);
  if (result >= 0) note(counts, flags & O_TRUNC ? "create" : "open", path, "", NULL, 0);
  return result;
}
ssize_t read(int fd, void* data, size_t size) {
  if (!is_unreadable(fd)) return REAL(read)(fd, data, size);
  errno = EIO;
  return -1;
}
// Of a mapped file what lies behind its end raises SIGBUS, as a block does that its disk does not give back.
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return REAL(mmap)(at, size, protection, flags, fd, is_unreadable(fd) ? offset + (1l << 40) : offset);
}
