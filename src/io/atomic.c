// atomic.c - files that appear complete or not at all.
//
// Without `force` the name is given by link(), which, unlike rename(), fails when the name is
// taken, so that two programs cannot overwrite each other; file systems without links get a check
// and a rename.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "atomic.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 1000 };

static FilStatus fail_with(FilError *error, const char *path, const char *what) {
    return fil_fail(error, FIL_E_IO, "%s: cannot %s it: %s", path, what, strerror(errno));
}

static FilStatus fail_taken(FilError *error, const char *path) {
    return fil_fail(error, FIL_E_IO, "%s exists already; force (--force) replaces it", path);
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
static int open_temporary(const char *path, char temporary[FIL_PATH_MAX]) {
    for (int k = 0; k < TRIES; k++) {
        const int length =
            snprintf(temporary, FIL_PATH_MAX, "%s.%ld-%d.tmp", path, (long)getpid(), k);
        if (length < 0 || length >= FIL_PATH_MAX) {
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
    return true;
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

// The folder of a path, with nothing after it where it is the present one; the name in it.
static const char *split_path(const char *path, char folder[FIL_PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    (void)snprintf(folder, FIL_PATH_MAX, "%.*s", (int)length, path);
    return path + length;
}

// A name is on the disk when its folder is. Some file systems cannot tell, and some folders may not
// be read: the name is as safe there as it gets.
static bool sync_folder(const char *path) {
    char folder[FIL_PATH_MAX];
    (void)split_path(path, folder);
    const int descriptor =
        open(folder[0] != '\0' ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool broken = descriptor >= 0 && fsync(descriptor) != 0 && errno == EIO;
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    errno = EIO;
    return !broken;
}

FilStatus fil_file_begin(FilFileWriter *writer, const char *path, bool force, FilError *error) {
    FIL_TRY(check_target(path, force, error));
    writer->force = force;
    writer->reason = 0;
    writer->used = 0;
    const int length = snprintf(writer->path, sizeof writer->path, "%s", path);
    errno = ENAMETOOLONG;
    writer->descriptor =
        length >= 0 && length < FIL_PATH_MAX ? open_temporary(path, writer->temporary) : -1;
    return writer->descriptor >= 0 ? FIL_OK : fail_with(error, path, "write");
}

static void flush(FilFileWriter *writer, const char *bytes, size_t size) {
    if (writer->reason == 0 && !write_all(writer->descriptor, bytes, size)) {
        writer->reason = errno;
    }
}

void fil_file_put(FilFileWriter *writer, const void *bytes, size_t size) {
    if (size > sizeof writer->buffer - writer->used) {
        flush(writer, writer->buffer, writer->used);
        writer->used = 0;
    }
    if (size > sizeof writer->buffer) {
        flush(writer, bytes, size);
    } else if (size > 0) {
        memcpy(writer->buffer + writer->used, bytes, size);
        writer->used += size;
    }
}

void fil_file_print(FilFileWriter *writer, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    FIL_ASSERT(length >= 0 && length < (int)sizeof text);
    fil_file_put(writer, text, (size_t)length);
}

FilStatus fil_file_end(FilFileWriter *writer, bool keep, FilError *error) {
    flush(writer, writer->buffer, writer->used);
    // some file systems cannot, and say EINVAL; their data are as safe as they get
    if (keep && writer->reason == 0 && fsync(writer->descriptor) != 0 && errno != EINVAL) {
        writer->reason = errno;
    }
    // on some file systems a full disk shows here
    if (close(writer->descriptor) != 0 && writer->reason == 0) {
        writer->reason = errno;
    }
    FilStatus status = FIL_OK;
    if (keep) {
        errno = writer->reason;
        status = writer->reason == 0
                     ? take_name(writer->temporary, writer->path, writer->force, error)
                     : fail_with(error, writer->path, "write");
    }
    if (!keep || status != FIL_OK) {
        (void)unlink(writer->temporary);
    } else if (!sync_folder(writer->path)) {
        status = fail_with(error, writer->path, "write");
    }
    return status;
}

FilStatus fil_write_file(const char *path, const void *bytes, size_t size, bool force,
                         FilError *error) {
    FilFileWriter writer;
    FIL_TRY(fil_file_begin(&writer, path, force, error));
    flush(&writer, bytes, size);
    return fil_file_end(&writer, true, error);
}

// --- what was left
// ---------------------------------------------------------------------------------

static const char *skip_digits(const char *text) {
    return text + strspn(text, "0123456789");
}

// Whether open_temporary() could have made this name for `base`.
static bool is_temporary(const char *name, const char *base) {
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.') {
        return false;
    }
    const char *writer = name + length + 1, *dash = skip_digits(writer);
    return dash > writer && *dash == '-' && skip_digits(dash + 1) > dash + 1 &&
           strcmp(skip_digits(dash + 1), ".tmp") == 0;
}

void fil_file_tidy(const char *path) {
    char folder[FIL_PATH_MAX], left[FIL_PATH_MAX + sizeof((struct dirent){0}.d_name)];
    const char *base = split_path(path, folder);
    DIR *entries = opendir(folder[0] != '\0' ? folder : ".");
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (is_temporary(entry->d_name, base)) {
            (void)snprintf(left, sizeof left, "%s%s", folder, entry->d_name);
            (void)unlink(left); // what stays is told by nobody, and harms nobody
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
}
