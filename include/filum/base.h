#ifndef FIL_BASE_H
#define FIL_BASE_H

/// What every part of Filum shares: status codes, errors, memory, log and version.
///
/// Conventions of the whole library: SI units; a function that can fail returns FilStatus and
/// fills an optional FilError with one finished sentence; numerics that do not converge are a
/// result, not an error; the library never prints and never exits.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(FIL_BUILD_SHARED)
#define FIL_API __attribute__((visibility("default")))
#else
#define FIL_API
#endif
#define FIL_MUST_CHECK __attribute__((warn_unused_result))
#define FIL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#ifdef __cplusplus
extern "C" {
#endif

// One table: the enum, the messages and the test that they agree all expand from it.
#define FIL_STATUS_TABLE(X)                  \
    X(FIL_OK, "ok")                          \
    X(FIL_E_ARGUMENT, "invalid argument")    \
    X(FIL_E_NO_MEMORY, "out of memory")      \
    X(FIL_E_IO, "cannot read or write file") \
    X(FIL_E_FORMAT, "malformed input")       \
    X(FIL_E_INTERRUPTED, "interrupted")

#define FIL_STATUS_ENUM(code, text) code,
typedef enum FilStatus { FIL_STATUS_TABLE(FIL_STATUS_ENUM) FIL_STATUS_COUNT } FilStatus;

/// A short text for a status; never NULL.
FIL_API const char *fil_status_text(FilStatus status);

/// Where and why a call failed; filled only when the call returns something else than FIL_OK.
typedef struct FilError {
    FilStatus status;
    int line, column; ///< position in the input, 0 when there is none
    char text[240];   ///< one complete sentence, ready to show a user
} FilError;

/// Every byte the library owns comes from here. `old_size` lets a user count or cap memory.
/// `new_size` 0 frees and returns NULL; NULL for a positive size means that there is no memory.
typedef struct FilAllocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
} FilAllocator;

// One table: the levels and their names.
#define FIL_LOG_LEVELS(X)     \
    X(FIL_LOG_DEBUG, "debug") \
    X(FIL_LOG_INFO, "info")   \
    X(FIL_LOG_WARNING, "warning")

#define FIL_LOG_ENUM(code, text) code,
typedef enum FilLogLevel { FIL_LOG_LEVELS(FIL_LOG_ENUM) FIL_LOG_LEVEL_COUNT } FilLogLevel;

/// The name of a level, "warning" for example; never NULL.
FIL_API const char *fil_log_level_text(FilLogLevel level);

/// Where the library's messages go; it never prints. `text` is one line without a newline, lent
/// for the duration of the call. `write` is called by the thread that called the library; a NULL
/// `write` means silence.
typedef struct FilLog {
    void (*write)(void *user, FilLogLevel level, const char *text);
    void *user;
} FilLog;

/// Threads that a request stands for: 0 means all that OpenMP offers; never below 1.
FIL_API int fil_thread_count(int requested);

/// Version of the library that is running, as "0.1.0".
FIL_API const char *fil_version(void);

#ifdef __cplusplus
}
#endif

#endif
