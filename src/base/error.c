// error.c - status texts, error sentences and assertions.
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

const char *fil_status_text(FilStatus status) {
    static const char *const text[] = {
#define X(code, message) [code] = message,
        FIL_STATUS_TABLE(X)
#undef X
    };
    return (unsigned)status < FIL_STATUS_COUNT ? text[status] : "unknown status";
}

const char *fil_version(void) {
    return FIL_VERSION;
}

// The sentence is made apart and copied, so that error->text may be among the arguments: a caller
// may put the name of the file in front of what its reader said.
static void fill_error(FilError *error, FilError filled, const char *format, va_list args)
    FIL_PRINTF(3, 0);
static void fill_error(FilError *error, FilError filled, const char *format, va_list args) {
    fil_text_format(filled.text, sizeof filled.text, format, args);
    *error = filled;
}

FilStatus fil_fail(FilError *error, FilStatus status, const char *format, ...) {
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        fill_error(error, (FilError){.status = status}, format, args);
        va_end(args);
    }
    return status;
}

FilStatus fil_fail_at(FilError *error, FilStatus status, int line, int column, const char *format,
                      ...) {
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        fill_error(error, (FilError){.status = status, .line = line, .column = column}, format,
                   args);
        va_end(args);
    }
    return status;
}

_Noreturn void fil_assertion_failed(const char *condition, const char *file, int line) {
    (void)fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
