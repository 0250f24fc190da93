#ifndef FIL_SERVE_BYTES_H
#define FIL_SERVE_BYTES_H

// An answer in the making: bytes that grow, binary or JSON.

#include "filum/base.h"

typedef struct FilBytes {
    char *data; // from malloc(); whoever takes it frees it
    size_t size, room;
    bool failed; // there was no memory; what is in it is not complete
} FilBytes;

/// `count` more bytes, not cleared; NULL when there is no memory.
void *fil_bytes_more(FilBytes *bytes, size_t count);
void fil_bytes_add(FilBytes *bytes, const void *data, size_t count);
void fil_bytes_format(FilBytes *bytes, const char *format, ...) FIL_PRINTF(2, 3);
/// A text in quotes, as JSON has it; what is not UTF-8 becomes U+FFFD.
void fil_bytes_text(FilBytes *bytes, const char *text);
/// A number; null when it is not finite.
void fil_bytes_number(FilBytes *bytes, double value);
/// [x,y,z]
void fil_bytes_vector(FilBytes *bytes, const double vector[3]);
/// Forget what is in it; keep the memory.
void fil_bytes_clear(FilBytes *bytes);
void fil_bytes_free(FilBytes *bytes);

#endif
