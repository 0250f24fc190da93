// bytes.c - an answer in the making.
#include "bytes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *fil_bytes_more(FilBytes *bytes, size_t count) {
    if (bytes->failed || count > SIZE_MAX / 4 - bytes->size) {
        bytes->failed = true;
        return NULL;
    }
    if (bytes->size + count > bytes->room) {
        const size_t room = bytes->size + count + bytes->room / 2 + 256;
        char *data = realloc(bytes->data, room);
        if (data == NULL) {
            bytes->failed = true;
            return NULL;
        }
        bytes->data = data;
        bytes->room = room;
    }
    void *place = bytes->data + bytes->size;
    bytes->size += count;
    return place;
}

void fil_bytes_add(FilBytes *bytes, const void *data, size_t count) {
    void *place = fil_bytes_more(bytes, count);
    if (place != NULL && count > 0) {
        memcpy(place, data, count);
    }
}

void fil_bytes_format(FilBytes *bytes, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (size < 0 || (size_t)size >= sizeof text) {
        bytes->failed = true; // numbers and short names only: see fil_bytes_text()
        return;
    }
    fil_bytes_add(bytes, text, (size_t)size);
}

// How many bytes the character of UTF-8 at `c` has; 0: it is none.
static size_t measure_character(const unsigned char *c) {
    const size_t size = c[0] < 0x80   ? 1
                        : c[0] < 0xc2 ? 0
                        : c[0] < 0xe0 ? 2
                        : c[0] < 0xf0 ? 3
                        : c[0] < 0xf5 ? 4
                                      : 0;
    for (size_t k = 1; k < size; k++) {
        if ((c[k] & 0xc0) != 0x80) { // a 0 at the end, too
            return 0;
        }
    }
    const bool off = size > 1 && ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
                                  (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f));
    return off ? 0 : size;
}

void fil_bytes_text(FilBytes *bytes, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    fil_bytes_add(bytes, "\"", 1);
    while (*at != '\0') {
        const size_t size = measure_character(at);
        if (size == 0) {
            fil_bytes_add(bytes, "\xef\xbf\xbd", 3);
        } else if (*at == '"' || *at == '\\') {
            fil_bytes_add(bytes, "\\", 1);
            fil_bytes_add(bytes, at, 1);
        } else if (*at < 0x20 || *at == '<') { // nothing in it is ever taken for a tag
            fil_bytes_format(bytes, "\\u%04x", (unsigned)*at);
        } else {
            fil_bytes_add(bytes, at, size);
        }
        at += size > 0 ? size : 1;
    }
    fil_bytes_add(bytes, "\"", 1);
}

void fil_bytes_number(FilBytes *bytes, double value) {
    if (isfinite(value)) {
        fil_bytes_format(bytes, "%.17g", value);
    } else {
        fil_bytes_add(bytes, "null", 4);
    }
}

void fil_bytes_vector(FilBytes *bytes, const double vector[3]) {
    for (int k = 0; k < 3; k++) {
        fil_bytes_add(bytes, k == 0 ? "[" : ",", 1);
        fil_bytes_number(bytes, vector[k]);
    }
    fil_bytes_add(bytes, "]", 1);
}

void fil_bytes_clear(FilBytes *bytes) {
    bytes->size = 0;
    bytes->failed = false;
}

void fil_bytes_free(FilBytes *bytes) {
    free(bytes->data);
    *bytes = (FilBytes){.data = NULL};
}
