// error.c - status texts, error sentences and assertions.
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

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

FilStatus fil_fail(FilError *error, FilStatus status, const char *format, ...) {
    if (error != NULL) {
        *error = (FilError){.status = status};
        va_list args;
        va_start(args, format);
        (void)vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}

_Noreturn void fil_assertion_failed(const char *condition, const char *file, int line) {
    (void)fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
