// log.c - messages to whoever listens.
#include "log.h"

#include "text.h"

const char *fil_log_level_text(FilLogLevel level) {
    static const char *const text[] = {
#define X(code, name) [code] = name,
        FIL_LOG_LEVELS(X)
#undef X
    };
    return (unsigned)level < FIL_LOG_LEVEL_COUNT ? text[level] : "unknown level";
}

void fil_log(const FilLog *log, FilLogLevel level, const char *format, ...) {
    if (log == NULL || log->write == NULL) {
        return;
    }
    char text[512];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    log->write(log->user, level, text);
}
