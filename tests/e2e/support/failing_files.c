// A folder that fails at one call: preloaded into the server, it counts the system calls on what lies in FAILING_FOLDER and
// fails the n-th, or all from there on, as the memory-mapped file FAILING_CONTROL says (failing_folder.py writes it).
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct control {
  int32_t calls, from, to, error;
  int32_t is_afterwards;  // the call is done, and fails all the same
};
static struct control* control;
static const char* folder;

__attribute__((constructor)) static void start(void) {
  const char* path = getenv("FAILING_CONTROL");
  folder = getenv("FAILING_FOLDER");
  int fd = path && folder ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) control = at;
  close(fd);
}

// Counts a call on `fd`; whether it is to fail.
static int fails(int fd) {
  char link[64], path[PATH_MAX];
  if (!control) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  int n = __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
  return n >= control->from && n <= control->to;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(result, name, fd, parameters, arguments)    \
  result name parameters {                               \
    int is_hit = fails(fd);                              \
    if (!is_hit) return REAL(name) arguments;            \
    if (control->is_afterwards) (void)REAL(name) arguments; \
    errno = control->error;                              \
    return -1;                                           \
  }

WRAP(ssize_t, pread, fd, (int fd, void* to, size_t size, off_t at), (fd, to, size, at))
WRAP(ssize_t, pwrite, fd, (int fd, const void* from, size_t size, off_t at), (fd, from, size, at))
WRAP(int, fsync, fd, (int fd), (fd))
WRAP(int, fstatat, fd, (int fd, const char* path, struct stat* info, int flags), (fd, path, info, flags))
WRAP(int, mkdirat, fd, (int fd, const char* path, mode_t mode), (fd, path, mode))
WRAP(int, unlinkat, fd, (int fd, const char* path, int flags), (fd, path, flags))
WRAP(int, renameat2, fd, (int fd, const char* from, int to_fd, const char* to, unsigned flags), (fd, from, to_fd, to, flags))

struct dirent* readdir(DIR* stream) {
  if (!fails(dirfd(stream))) return REAL(readdir)(stream);
  errno = control->error;
  return NULL;
}

// openat2, which the C library has no function for.
long syscall(long number, ...) {
  long given[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) given[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_openat2 && fails((int)given[0])) {
    errno = control->error;
    return -1;
  }
  return REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
