#ifndef FIL_BASE_ERROR_H
#define FIL_BASE_ERROR_H

#include "filum/base.h"

#include <stdlib.h>

/// Fill `error` (when not NULL) with a finished sentence and return `status`. error->text may be
/// one of the arguments. A sentence that does not fit is cut and ends in "...".
FilStatus fil_fail(FilError *error, FilStatus status, const char *format, ...) FIL_PRINTF(3, 4);

/// The same, with the place in the input (counted from 1) where it went wrong.
FilStatus fil_fail_at(FilError *error, FilStatus status, int line, int column, const char *format,
                      ...) FIL_PRINTF(5, 6);

#define FIL_TRY(call)                      \
    do {                                   \
        FilStatus fil_try_status = (call); \
        if (fil_try_status != FIL_OK) {    \
            return fil_try_status;         \
        }                                  \
    } while (0)

// A false condition is a bug of ours or of the caller's: it stops the program, except in Release.
#if defined(NDEBUG)
#define FIL_ASSERT(condition) ((void)sizeof(condition))
#else
#define FIL_ASSERT(condition) \
    ((condition) ? (void)0 : fil_assertion_failed(#condition, __FILE__, __LINE__))
#endif

_Noreturn void fil_assertion_failed(const char *condition, const char *file, int line);

#endif
