// kill_at.c - a library that is loaded before the C library's (LD_PRELOAD) and kills its program at
// one of the calls that change files: the one that the environment's KILL_AT counts to, from 1. A
// write is torn where it crosses into another page. With KILL_COUNT=FILE the number of calls goes
// to that file when the program ends.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier)
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static long calls;

// Whether this call is the last.
static int is_due(void) {
    const char *at = getenv("KILL_AT");
    return at != NULL && ++calls == atol(at);
}

static void die(void) {
    (void)kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("KILL_COUNT");
    FILE *out = path != NULL ? fopen(path, "w") : NULL;
    if (out != NULL) {
        (void)fprintf(out, "%ld\n", calls);
        (void)fclose(out);
    }
}

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

// What of a write to the bytes from `at` on is done when its program is killed meanwhile: kernels
// look for that between two pages.
static size_t tear(size_t size, off_t at) {
    const size_t left = PAGE - (size_t)at % PAGE;
    return left < size ? left : 0;
}

ssize_t write(int fd, const void *buf, size_t n) {
    if (!is_due()) {
        return NEXT(write)(fd, buf, n);
    }
    const off_t at = lseek(fd, 0, SEEK_CUR);
    const ssize_t done = NEXT(write)(fd, buf, tear(n, at < 0 ? 0 : at));
    die();
    return done;
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset) {
    if (!is_due()) {
        return NEXT(pwrite)(fd, buf, n, offset);
    }
    const ssize_t done = NEXT(pwrite)(fd, buf, tear(n, offset), offset);
    die();
    return done;
}

#define KILLABLE(name, types, values) \
    int name types {                  \
        if (is_due()) {               \
            die();                    \
        }                             \
        return NEXT(name) values;     \
    }

KILLABLE(rename, (const char *old, const char *new), (old, new))
KILLABLE(unlink, (const char *name), (name))
KILLABLE(fsync, (int fd), (fd))
KILLABLE(ftruncate, (int fd, off_t length), (fd, length))
KILLABLE(mkdir, (const char *path, mode_t mode), (path, mode))
