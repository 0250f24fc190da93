// json.c - values as JSON on stdout, and the clock.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double cli_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Bytes of the UTF-8 character at `c`; 0 when it is not one.
static int measure_character(const unsigned char *c) {
    if (c[0] < 0x80) {
        return 1;
    }
    const int length = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    // no stray continuation, no overlong form, no surrogate, nothing past U+10FFFF
    if (c[0] < 0xc2 || c[0] > 0xf4 || (c[0] == 0xe0 && c[1] < 0xa0) ||
        (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
        (c[0] == 0xf4 && c[1] > 0x8f)) {
        return 0;
    }
    for (int k = 1; k < length; k++) {
        if ((c[k] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

// File names may hold any byte; what is not text becomes U+FFFD.
void cli_print_json_text(const char *text) {
    (void)putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        const int length = measure_character(c);
        if (length == 0) {
            (void)fputs("\\ufffd", stdout);
        } else if (*c == '"' || *c == '\\') {
            (void)printf("\\%c", *c);
        } else if (*c < 32 || *c == 127) {
            (void)printf("\\u%04x", *c);
        } else {
            (void)fwrite(c, 1, (size_t)length, stdout);
        }
        c += length > 0 ? length : 1;
    }
    (void)putchar('"');
}

// The shortest digits that read back to the same number; JSON knows no infinity.
void cli_print_json_number(const char *name, double value) {
    char text[32];
    for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    (void)printf(",\"%s\":%s", name, isfinite(value) ? text : "null");
}
