// atomic.c - files that appear complete or not at all.
//
// Without `force` the name is given by link(), which, unlike rename(), fails when the name is
// taken, so that two programs cannot overwrite each other; file systems without links get a check
// and a rename.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "atomic.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 1000 };

static FilStatus fail_with(FilError *error, const char *path, const char *what) {
    return fil_fail(error, FIL_E_IO, "%s: cannot %s it: %s", path, what, strerror(errno));
}

static FilStatus fail_taken(FilError *error, const char *path) {
    return fil_fail(error, FIL_E_IO, "%s exists already; it is replaced only when forced", path);
}

static FilStatus check_target(const char *path, bool force, FilError *error) {
    struct stat about;
    if (lstat(path, &about) != 0) {
        return errno == ENOENT ? FIL_OK : fail_with(error, path, "write");
    }
    if (!S_ISREG(about.st_mode)) {
        return fil_fail(error, FIL_E_IO, "%s exists and is not a regular file", path);
    }
    return force ? FIL_OK : fail_taken(error, path);
}

// Open a new file beside `path`; its name goes to `temporary`.
static int open_temporary(const char *path, char temporary[PATH_MAX]) {
    for (int k = 0; k < TRIES; k++) {
        const int length = snprintf(temporary, PATH_MAX, "%s.%ld-%d.tmp", path, (long)getpid(), k);
        if (length < 0 || length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
    }
    return -1;
}

static bool write_all(int descriptor, const char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t done = write(descriptor, bytes, size);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return false;
        }
        bytes += done;
        size -= (size_t)done;
    }
    // some file systems cannot, and say EINVAL; their data are as safe as they get
    return fsync(descriptor) == 0 || errno == EINVAL;
}

static FilStatus take_name(const char *temporary, const char *path, bool force, FilError *error) {
    if (!force) {
        if (link(temporary, path) == 0) {
            return unlink(temporary) == 0 ? FIL_OK : fail_with(error, temporary, "remove");
        }
        if (errno == EEXIST) {
            return fail_taken(error, path);
        }
        FIL_TRY(check_target(path, force, error));
    }
    return rename(temporary, path) == 0 ? FIL_OK : fail_with(error, path, "write");
}

FilStatus fil_write_file(const char *path, const void *bytes, size_t size, bool force,
                         FilError *error) {
    FIL_TRY(check_target(path, force, error));
    char temporary[PATH_MAX];
    const int descriptor = open_temporary(path, temporary);
    if (descriptor < 0) {
        return fail_with(error, path, "write");
    }
    bool written = write_all(descriptor, bytes, size);
    const int reason = errno;
    const bool closed = close(descriptor) == 0; // on some file systems a full disk shows here
    errno = written ? errno : reason;
    written = written && closed;
    const FilStatus status =
        written ? take_name(temporary, path, force, error) : fail_with(error, path, "write");
    if (status != FIL_OK) {
        (void)unlink(temporary);
    }
    return status;
}
