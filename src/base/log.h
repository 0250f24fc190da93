#ifndef FIL_BASE_LOG_H
#define FIL_BASE_LOG_H

#include "filum/base.h"

/// Send one line to the user's log. Nothing happens when `log` or its `write` is NULL. A line that
/// is too long is cut and ends in "...".
void fil_log(const FilLog *log, FilLogLevel level, const char *format, ...) FIL_PRINTF(3, 4);

#endif
