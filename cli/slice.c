// slice.c - frames as users say them: "12", "-1", "10:20", "::5", "-30:".
#include "slice.h"
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A part of a slice: a whole number, which ends at a colon or at the end.
static bool read_part(const char **text, int64_t *value) {
    char *end = NULL;
    if (**text == ':' || **text == '\0') {
        return true; // left out
    }
    if (strchr("+-0123456789", **text) == NULL) {
        return false;
    }
    errno = 0;
    const long long number = strtoll(*text, &end, 10);
    if (errno != 0 || end == *text || (*end != ':' && *end != '\0')) {
        return false;
    }
    *value = number;
    *text = end;
    return true;
}

static bool read_slice(const char *text, CliSlice *out) {
    int64_t *const parts[] = {&out->from, &out->to, &out->stride};
    *out = (CliSlice){.to = INT64_MAX, .stride = 1};
    if (text == NULL) {
        return true;
    }
    if (*text != '\0' && strchr(text, ':') == NULL) {
        if (!read_part(&text, &out->from) || out->from == INT64_MAX) {
            return false;
        }
        out->to = out->from == -1 ? INT64_MAX : out->from + 1;
        return true;
    }
    for (int k = 0; k < 3; k++) {
        if (!read_part(&text, parts[k])) {
            return false;
        }
        if (*text == '\0') {
            return k > 0 && out->stride > 0;
        }
        text++;
    }
    return false;
}

bool cli_slice_read(const char *text, CliSlice *out) {
    if (!read_slice(text, out)) {
        cli_say(
            "--frames is \"%.40s\"; it must be a frame, as 12 or -1, or frames, as 10:20, ::5 or "
            "-30:",
            text);
        return false;
    }
    return true;
}

static int64_t clamp_end(int64_t end, int64_t count) {
    const int64_t from_start = end < 0 ? end + count : end;
    return from_start < 0 ? 0 : from_start > count ? count : from_start;
}

bool cli_slice_choose(const CliSlice *slice, int64_t held, int64_t *first, int64_t *count) {
    const int64_t from = clamp_end(slice->from, held), to = clamp_end(slice->to, held);
    if (to <= from) {
        cli_say("--frames holds none of the frames, 0 to %" PRId64, held - 1);
        return false;
    }
    *first = from;
    *count = (to - from - 1) / slice->stride + 1;
    return true;
}
