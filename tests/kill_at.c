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

ssize_t write(int file, const void *bytes, size_t size) {
    if (!is_due()) {
        return NEXT(write)(file, bytes, size);
    }
    const off_t at = lseek(file, 0, SEEK_CUR);
    const ssize_t done = NEXT(write)(file, bytes, tear(size, at < 0 ? 0 : at));
    die();
    return done;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    if (!is_due()) {
        return NEXT(pwrite)(file, bytes, size, at);
    }
    const ssize_t done = NEXT(pwrite)(file, bytes, tear(size, at), at);
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

KILLABLE(rename, (const char *from, const char *to), (from, to))
KILLABLE(unlink, (const char *path), (path))
KILLABLE(fsync, (int file), (file))
KILLABLE(ftruncate, (int file, off_t size), (file, size))
KILLABLE(mkdir, (const char *path, mode_t mode), (path, mode))
