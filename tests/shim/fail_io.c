/* Makes the n-th write or sync of the database fail, once or from then on: ABIDE_SHIM=KIND:N:ERRNO:HOW, where KIND is `write`
 * (also truncation) or `sync`, and HOW is `once` or `ever`. Counts over the whole process; when it strikes it makes the file that
 * ABIDE_SHIM_STRUCK names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long passed;

static int is_database(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    char *name = strrchr(path, '/');
    return name && strncmp(name, "/abide.db", 9) == 0 && !strstr(name, "-reserve") && !strstr(name, "-shm");
}

static int strikes(const char *kind, int fd) {
    const char *order = getenv("ABIDE_SHIM");
    char wanted[16], how[16];
    long n;
    int error;
    if (!order || sscanf(order, "%15[^:]:%ld:%d:%15s", wanted, &n, &error, how) != 4) return 0;
    if (strcmp(wanted, kind) != 0 || !is_database(fd)) return 0;
    long now = atomic_fetch_add(&passed, 1) + 1;
    if (now != n && !(now > n && strcmp(how, "ever") == 0)) return 0;
    const char *struck = getenv("ABIDE_SHIM_STRUCK");
    if (struck) close(open(struck, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    errno = error;
    return 1;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count) {
    return strikes("write", fd) ? -1 : REAL(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    return strikes("write", fd) ? -1 : REAL(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    return strikes("write", fd) ? -1 : REAL(pwrite64)(fd, bytes, count, at);
}
int ftruncate(int fd, off_t length) { return strikes("write", fd) ? -1 : REAL(ftruncate)(fd, length); }
int ftruncate64(int fd, off64_t length) { return strikes("write", fd) ? -1 : REAL(ftruncate64)(fd, length); }
int fsync(int fd) { return strikes("sync", fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return strikes("sync", fd) ? -1 : REAL(fdatasync)(fd); }
