// Fuzz the .hair reader. Whatever comes: no crash, no leak, no hang, a sentence for what is
// refused; and what is accepted is whole: strands follow each other and all numbers are finite.
#include "fuzz.h"

#include "filum/hair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long live; // bytes that the reader holds
static size_t most;

static void *count_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    live += (long)new_size - (long)old_size;
    most = new_size > most ? new_size : most;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static void insist(bool condition, const char *what) {
    if (!condition) {
        (void)fprintf(stderr, "fuzz_hair: %s\n", what);
        abort();
    }
}

static void ask(const FilHair *hair) {
    const float *const arrays[] = {hair->points, hair->thickness, hair->transparency, hair->colour};
    static const int widths[] = {3, 1, 1, 3};
    insist(hair->first[0] == 0 && hair->first[hair->strand_count] == hair->point_count,
           "strands are not all of the points");
    for (int k = 0; k < hair->strand_count; k++) {
        insist(hair->first[k + 1] - hair->first[k] >= 2, "a strand has less than two points");
    }
    for (int a = 0; a < 4; a++) {
        for (int i = 0; arrays[a] != NULL && i < widths[a] * hair->point_count; i++) {
            insist(isfinite(arrays[a][i]), "a number is not finite");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const FilAllocator allocator = {.resize = count_resize};
    FilError error = {0};
    FilHair *hair = NULL;
    most = 0;
    const FilStatus status = fil_hair_read_memory(data, size, "fuzz", &allocator, &hair, &error);
    insist((status == FIL_OK) == (hair != NULL), "status and result disagree");
    insist(status == FIL_OK || (error.status == status && strncmp(error.text, "fuzz: ", 6) == 0),
           "an error without a sentence");
    insist(most <= 4 * size + 1024, "more memory than the file justifies");
    if (hair != NULL) {
        ask(hair);
    }
    fil_hair_destroy(hair);
    insist(live == 0, "the reader leaks");
    return 0;
}
