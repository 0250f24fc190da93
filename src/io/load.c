// load.c - whole files into memory.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static FilStatus fail_io(const char *path, const char *what, FilError *error) {
    return fil_fail(error, FIL_E_IO, "%s: %s: %s", path, what, strerror(errno));
}

static FilStatus load(const char *path, int descriptor, FilArena *arena, void **bytes, size_t *size,
                      FilError *error) {
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return fail_io(path, "cannot read it", error);
    }
    if (!S_ISREG(about.st_mode)) {
        return fil_fail(error, FIL_E_IO, "%s: it is not a regular file", path);
    }
    *size = (size_t)about.st_size;
    *bytes = FIL_NEW(arena, char, *size);
    if (*bytes == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: there is no memory for its %zu bytes", path,
                        *size);
    }
    for (size_t at = 0; at < *size;) {
        const ssize_t got = read(descriptor, (char *)*bytes + at, *size - at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_io(path, "cannot read it", error);
        }
        if (got == 0) { // it shrank meanwhile
            *size = at;
        }
        at += (size_t)got;
    }
    return FIL_OK;
}

FilStatus fil_load_file(const char *path, FilArena *arena, void **bytes, size_t *size,
                        FilError *error) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return fail_io(path, "cannot open it", error);
    }
    const FilStatus status = load(path, descriptor, arena, bytes, size, error);
    (void)close(descriptor);
    return status;
}
