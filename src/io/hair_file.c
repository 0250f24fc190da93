// hair_file.c - Cem Yuksel's .hair files.
//
// A header of 128 bytes, then up to five arrays, in this order, all little-endian:
//
//     "HAIR"                     4 bytes
//     strands, points            2 x 32 bits
//     which arrays follow        32 bits: 1 segments, 2 points, 4 thickness, 8 transparency, 16
//     colour segments of each strand    32 bits, where there is no such array thickness,
//     transparency    2 floats, where there are no such arrays colour                     3 floats,
//     likewise about                      88 bytes of text
//
//     segments [strands] 16 bits   a strand has one point more
//     points [points][3], thickness [points], transparency [points], colour [points][3] floats
//
// A reader believes no count: the size of the file must be what the header says, before anything is
// allocated. Memory is one block: the struct, then its arrays.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "hair_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "load.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { HEADER = 128, ABOUT = 88, SEGMENTS_MAX = 65535 };
enum { HAS_SEGMENTS = 1, HAS_POINTS = 2, HAS_THICKNESS = 4, HAS_TRANSPARENCY = 8, HAS_COLOUR = 16 };

// --- bytes ---------------------------------------------------------------------------------------

static uint32_t get_word(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static float get_float(const unsigned char *bytes) {
    const uint32_t word = get_word(bytes);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void put_word(FilFileWriter *writer, uint32_t word) {
    const unsigned char bytes[4] = {(unsigned char)(word & 255), (unsigned char)(word >> 8 & 255),
                                    (unsigned char)(word >> 16 & 255), (unsigned char)(word >> 24)};
    fil_file_put(writer, bytes, sizeof bytes);
}

static void put_floats(FilFileWriter *writer, const float *values, size_t count) {
    for (size_t k = 0; k < count && values != NULL; k++) {
        uint32_t word;
        memcpy(&word, &values[k], sizeof word);
        put_word(writer, word);
    }
}

// --- reading -------------------------------------------------------------------------------------

typedef struct Input {
    const unsigned char *bytes;
    size_t size;
    const char *name;
    uint32_t strands, points, arrays, segments; // as the header says
    FilError *error;
} Input;

// Whether the file is as long as its header makes it.
static FilStatus check_size(const Input *input) {
    const uint64_t strands = input->strands, points = input->points;
    const uint64_t per_point = 12U + ((input->arrays & HAS_THICKNESS) != 0 ? 4U : 0U) +
                               ((input->arrays & HAS_TRANSPARENCY) != 0 ? 4U : 0U) +
                               ((input->arrays & HAS_COLOUR) != 0 ? 12U : 0U);
    const uint64_t need = HEADER + ((input->arrays & HAS_SEGMENTS) != 0 ? 2 * strands : 0) +
                          per_point * points; // less than 2^38
    if (input->size < need) {
        return fil_fail(input->error, FIL_E_FORMAT,
                        "%s: it has %zu bytes; %" PRIu64 " strands with %" PRIu64
                        " points need %" PRIu64,
                        input->name, input->size, strands, points, need);
    }
    return FIL_OK;
}

static FilStatus read_header(Input *input) {
    if (input->size < HEADER || memcmp(input->bytes, "HAIR", 4) != 0) {
        return fil_fail(input->error, FIL_E_FORMAT,
                        "%s: it is no .hair file: it does not open with \"HAIR\" and %d bytes",
                        input->name, HEADER);
    }
    input->strands = get_word(input->bytes + 4);
    input->points = get_word(input->bytes + 8);
    input->arrays = get_word(input->bytes + 12);
    input->segments = get_word(input->bytes + 16);
    if ((input->arrays & HAS_POINTS) == 0) {
        return fil_fail(input->error, FIL_E_FORMAT, "%s: it has no points", input->name);
    }
    if (input->strands == 0 || input->strands > INT_MAX - 1 || input->points > INT_MAX / 3) {
        return fil_fail(input->error, FIL_E_FORMAT,
                        "%s: it has %" PRIu32 " strands and %" PRIu32
                        " points; 1 to %d strands and at most %d points can be read",
                        input->name, input->strands, input->points, INT_MAX - 1, INT_MAX / 3);
    }
    // each strand has a segment, so two points: strands are bounded by the size of the file too
    if (input->strands > input->points / 2) {
        return fil_fail(input->error, FIL_E_FORMAT,
                        "%s: it has %" PRIu32 " strands, but only %" PRIu32 " points", input->name,
                        input->strands, input->points);
    }
    return check_size(input);
}

// Where each strand starts, from how many segments they have.
static FilStatus read_first(const Input *input, int *first) {
    const unsigned char *lengths = input->bytes + HEADER;
    uint64_t at = 0;
    for (uint32_t k = 0; k < input->strands; k++) {
        const uint32_t segments =
            (input->arrays & HAS_SEGMENTS) != 0
                ? lengths[2 * (size_t)k] | (uint32_t)lengths[2 * (size_t)k + 1] << 8
                : input->segments;
        first[k] = (int)at;
        at += (uint64_t)segments + 1;
        if (segments == 0) {
            return fil_fail(input->error, FIL_E_FORMAT,
                            "%s: strand %" PRIu32 " has one point; it must have two or more",
                            input->name, k);
        }
        if (at > input->points) {
            return fil_fail(input->error, FIL_E_FORMAT,
                            "%s: the points end in strand %" PRIu32 "; there are only %" PRIu32,
                            input->name, k, input->points);
        }
    }
    first[input->strands] = (int)at;
    if (at != input->points) {
        return fil_fail(input->error, FIL_E_FORMAT,
                        "%s: its strands have %" PRIu64 " points, the file %" PRIu32, input->name,
                        at, input->points);
    }
    return FIL_OK;
}

static int find_strand(const FilHair *hair, size_t point) {
    int low = 0, high = hair->strand_count - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if ((size_t)hair->first[middle] <= point) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// The next array, of `width` floats for each point; all must be finite.
static FilStatus read_floats(const Input *input, const FilHair *hair, const unsigned char **at,
                             int width, float *to) {
    for (size_t k = 0; k < (size_t)width * input->points; k++, *at += 4) {
        to[k] = get_float(*at);
        if (!isfinite(to[k])) {
            return fil_fail(input->error, FIL_E_FORMAT,
                            "%s: strand %d has a number that is not finite", input->name,
                            find_strand(hair, k / (size_t)width));
        }
    }
    return FIL_OK;
}

static FilStatus read_arrays(const Input *input, FilHair *hair, float *floats) {
    const unsigned char *at =
        input->bytes + HEADER +
        ((input->arrays & HAS_SEGMENTS) != 0 ? 2 * (size_t)input->strands : 0);
    const struct {
        uint32_t flag;
        int width;
        const float **member;
    } arrays[] = {{HAS_POINTS, 3, &hair->points},
                  {HAS_THICKNESS, 1, &hair->thickness},
                  {HAS_TRANSPARENCY, 1, &hair->transparency},
                  {HAS_COLOUR, 3, &hair->colour}};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        if ((input->arrays & arrays[a].flag) == 0) {
            continue;
        }
        FIL_TRY(read_floats(input, hair, &at, arrays[a].width, floats));
        *arrays[a].member = floats;
        floats += (size_t)arrays[a].width * input->points;
    }
    return FIL_OK;
}

static float finite_or(float value, float otherwise) {
    return isfinite(value) ? value : otherwise;
}

static void read_defaults(const Input *input, FilHair *hair) {
    hair->default_thickness = finite_or(get_float(input->bytes + 20), 0.0F);
    hair->default_transparency = finite_or(get_float(input->bytes + 24), 0.0F);
    for (int k = 0; k < 3; k++) {
        hair->default_colour[k] = finite_or(get_float(input->bytes + 28 + 4 * (size_t)k), 0.0F);
    }
    memcpy(hair->about, input->bytes + HEADER - ABOUT, ABOUT);
    hair->about[ABOUT] = '\0';
}

// What comes before the arrays of a hair that was read: what is needed to give it back.
typedef struct Holder {
    FilHair hair; // first: users see this
    FilAllocator allocator;
    size_t size;
} Holder;

FilStatus fil_hair_read_memory(const void *bytes, size_t size, const char *name,
                               const FilAllocator *allocator, FilHair **out, FilError *error) {
    Input input = {.bytes = bytes, .size = size, .name = name, .error = error};
    if (bytes == NULL) {
        input.bytes = (const unsigned char *)"";
        input.size = 0;
    }
    FIL_TRY(read_header(&input));
    const FilAllocator used = allocator != NULL ? *allocator : fil_libc_allocator;
    const size_t floats = (size_t)input.points * 8, // of all arrays that there can be
        wanted =
            sizeof(Holder) + ((size_t)input.strands + 1) * sizeof(int) + floats * sizeof(float);
    Holder *holder = used.resize(used.user, NULL, 0, wanted);
    if (holder == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: there is no memory for its %" PRIu32 " points",
                        name, input.points);
    }
    int *first = (int *)(void *)(holder + 1);
    *holder = (Holder){.hair = {.strand_count = (int)input.strands,
                                .point_count = (int)input.points,
                                .first = first},
                       .allocator = used,
                       .size = wanted};
    read_defaults(&input, &holder->hair);
    FilStatus status = read_first(&input, first);
    if (status == FIL_OK) {
        status = read_arrays(&input, &holder->hair, (float *)(void *)(first + input.strands + 1));
    }
    if (status != FIL_OK) {
        fil_hair_destroy(&holder->hair);
        return status;
    }
    *out = &holder->hair;
    return FIL_OK;
}

void fil_hair_destroy(FilHair *hair) {
    if (hair != NULL) {
        Holder *holder = (Holder *)(void *)hair;
        const FilAllocator allocator = holder->allocator;
        allocator.resize(allocator.user, holder, holder->size, 0);
    }
}

FilStatus fil_hair_read(const char *path, const FilAllocator *allocator, FilHair **out,
                        FilError *error) {
    FilArena arena = fil_arena_make(allocator);
    void *bytes = NULL;
    size_t size = 0;
    FilStatus status = fil_load_file(path, &arena, &bytes, &size, error);
    if (status == FIL_OK) {
        status = fil_hair_read_memory(bytes, size, path, allocator, out, error);
    }
    fil_arena_destroy(&arena);
    return status;
}

// --- writing -------------------------------------------------------------------------------------

FilStatus fil_hair_check(const FilHair *hair, const char *name, FilError *error) {
    if (hair->strand_count < 1) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s: there are no strands", name);
    }
    for (int k = 0; k < hair->strand_count; k++) {
        const int count = hair->first[k + 1] - hair->first[k];
        if (count < 2 || count > SEGMENTS_MAX + 1) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "%s: strand %d has %d points; a .hair file holds strands of 2 to %d",
                            name, k, count, SEGMENTS_MAX + 1);
        }
    }
    if (hair->first[0] != 0 || hair->first[hair->strand_count] != hair->point_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s: the strands have %d points, the whole %d", name,
                        hair->first[hair->strand_count], hair->point_count);
    }
    return FIL_OK;
}

// How many segments all strands have; 0 when they differ.
static uint32_t common_segments(const FilHair *hair) {
    const int first = hair->first[1] - hair->first[0];
    for (int k = 1; k < hair->strand_count; k++) {
        if (hair->first[k + 1] - hair->first[k] != first) {
            return 0;
        }
    }
    return (uint32_t)(first - 1);
}

void fil_hair_put(FilFileWriter *writer, const FilHair *hair) {
    const uint32_t segments = common_segments(hair);
    const size_t n = (size_t)hair->point_count;
    char about[ABOUT] = {0};
    memcpy(about, hair->about, strnlen(hair->about, ABOUT));
    fil_file_put(writer, "HAIR", 4);
    put_word(writer, (uint32_t)hair->strand_count);
    put_word(writer, (uint32_t)n);
    put_word(writer, (uint32_t)HAS_POINTS | (segments == 0 ? HAS_SEGMENTS : 0U) |
                         (hair->thickness != NULL ? HAS_THICKNESS : 0U) |
                         (hair->transparency != NULL ? HAS_TRANSPARENCY : 0U) |
                         (hair->colour != NULL ? HAS_COLOUR : 0U));
    put_word(writer, segments);
    put_floats(writer, &hair->default_thickness, 1);
    put_floats(writer, &hair->default_transparency, 1);
    put_floats(writer, hair->default_colour, 3);
    fil_file_put(writer, about, sizeof about);
    for (int k = 0; segments == 0 && k < hair->strand_count; k++) {
        const unsigned count = (unsigned)(hair->first[k + 1] - hair->first[k] - 1);
        const unsigned char two[2] = {(unsigned char)(count & 255), (unsigned char)(count >> 8)};
        fil_file_put(writer, two, sizeof two);
    }
    put_floats(writer, hair->points, 3 * n);
    put_floats(writer, hair->thickness, n);
    put_floats(writer, hair->transparency, n);
    put_floats(writer, hair->colour, 3 * n);
}

FilStatus fil_hair_write(const char *path, const FilHair *hair, bool force, FilError *error) {
    FilFileWriter writer;
    FIL_TRY(fil_hair_check(hair, path, error));
    FIL_TRY(fil_file_begin(&writer, path, force, error));
    fil_hair_put(&writer, hair);
    return fil_file_end(&writer, true, error);
}
