#ifndef FIL_BASE_TEXT_H
#define FIL_BASE_TEXT_H

#include "filum/base.h"

#include <stdarg.h>

/// vsnprintf() that shows when it had to cut: a text that does not fit ends in "...", and never in
/// the middle of a UTF-8 character. `size` is at least 4. The result is always terminated.
void fil_text_format(char *text, size_t size, const char *format, va_list args) FIL_PRINTF(3, 0);

#endif
