#ifndef FIL_CLI_SLICE_H
#define FIL_CLI_SLICE_H

// Frames as users say them: a number, or a slice of Python that goes forward.

#include <stdbool.h>
#include <stdint.h>

typedef struct CliSlice {
    int64_t from, to, stride; // negative: counted from the end; to INT64_MAX: up to the last
} CliSlice;

/// Read "12", "-1", "10:20", "::5"; says what is wrong otherwise. NULL: all.
bool cli_slice_read(const char *text, CliSlice *out);

/// The frames of a run with `held` of them: the first, and how many; says so where there are none.
bool cli_slice_choose(const CliSlice *slice, int64_t held, int64_t *first, int64_t *count);

#endif
