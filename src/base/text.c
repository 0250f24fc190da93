// text.c - formatting into a buffer of fixed size.
#include "text.h"

#include <stdio.h>
#include <string.h>

void fil_text_format(char *text, size_t size, const char *format, va_list args) {
    const int length = vsnprintf(text, size, format, args);
    if (length < 0) {
        // the format could not be converted: show it as it stands
        (void)snprintf(text, size, "%s", format);
        return;
    }
    if ((size_t)length < size) {
        return;
    }
    static const char dots[] = "...";
    size_t end = size - sizeof dots;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
        end--; // a continuation byte: go back to where its character starts
    }
    memcpy(text + end, dots, sizeof dots);
}
