// replay.c - runs a fuzz target without a fuzzer, on the same inputs everywhere:
//
//   plain     nothing, zeros and ones of many sizes;
//   sparse    ROUNDS short inputs, mostly zeros with a few random bytes: recipes (see
//   fuzz_fclib.c); files     those of the folders in the order of their names, as they are and
//   ROUNDS times with
//             seeded random damage. The first 8 bytes, the signature, stay.
//
// Usage: TARGET ROUNDS [FOLDER...]
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "fuzz.h"

#include "base/random.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARSE_SIZE = 512, FILE_MAX = 1 << 20, SIGNATURE = 8, COPIED = 64, FILE_MIN = 128 };

static uint8_t bytes[FILE_MAX], damaged[FILE_MAX];

static int passed, failed;

static void note(int fault, const char *what) {
    *(fault ? &failed : &passed) += 1;
    (void)printf("%s %s\n", fault ? "FAIL" : "ok  ", what);
}

// Exactly `size` bytes of the heap, so that the address sanitizer sees a step beyond them.
static void try_input(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void try_plain(void) {
    for (size_t size = 0; size <= 4096; size = 2 * size + (size == 0)) {
        memset(bytes, 0, size);
        try_input(bytes, size);
        memset(bytes, 255, size);
        try_input(bytes, size);
    }
    note(0, "plain inputs");
}

static void try_sparse(FilRandom *random, int rounds) {
    for (int k = 0; k < rounds; k++) {
        memset(bytes, 0, SPARSE_SIZE);
        bytes[1] = (uint8_t)fil_random_bits(random); // which problem it is
        const int faults = fil_random_int(random, 6);
        for (int f = 0; f < faults; f++) {
            bytes[fil_random_int(random, SPARSE_SIZE)] = (uint8_t)fil_random_bits(random);
        }
        try_input(bytes, SPARSE_SIZE);
    }
    note(0, "sparse inputs");
}

// A place in the file, most often one that is not zero.
static int choose_place(FilRandom *random, size_t size) {
    int at = 0;
    for (int tries = 0; tries < 50 && (at == 0 || damaged[at] == 0); tries++) {
        at = SIGNATURE + fil_random_int(random, (int)size - SIGNATURE);
    }
    return at;
}

// Overwrite, copy or cut; returns the size that is left.
static size_t damage(FilRandom *random, size_t size) {
    static const uint8_t extremes[] = {0, 1, 127, 128, 255};
    memcpy(damaged, bytes, size);
    const int faults = 1 + fil_random_int(random, 5);
    for (int f = 0; f < faults; f++) {
        const int at = choose_place(random, size), kind = fil_random_int(random, 8);
        if (kind == 0) {
            damaged[at] ^= (uint8_t)(1 << fil_random_int(random, 8));
        } else if (kind < 4) {
            damaged[at] = extremes[fil_random_int(random, 5)];
        } else if (kind == 4) { // a whole word becomes HDF5's undefined address
            memset(damaged + at - at % 8, 255, size - (size_t)at >= 8 ? 8 : 0);
        } else if (kind == 5) {
            const size_t from = (size_t)fil_random_int(random, (int)size - COPIED);
            const size_t to = (size_t)at < size - COPIED ? (size_t)at : size - COPIED;
            memmove(damaged + to, damaged + from, COPIED);
        } else if (kind == 6 && faults == 1) {
            return (size_t)at;
        } else {
            damaged[at] = (uint8_t)fil_random_bits(random);
        }
    }
    return size;
}

static void try_file(FilRandom *random, int rounds, const char *path) {
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    const int unread = file == NULL || ferror(file) != 0 || size == sizeof bytes;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!unread) {
        try_input(bytes, size);
    }
    for (int k = 0; k < rounds && !unread && size >= FILE_MIN; k++) {
        try_input(damaged, damage(random, size));
    }
    note(unread, path);
}

static void try_folder(FilRandom *random, int rounds, const char *folder) {
    struct dirent **list = NULL;
    const int count = scandir(folder, &list, NULL, alphasort);
    for (int k = 0; k < count; k++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, list[k]->d_name);
        if (list[k]->d_name[0] != '.') {
            try_file(random, rounds, path);
        }
        free(list[k]);
    }
    free(list);
    if (count < 0) {
        note(1, folder);
    }
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
    FilRandom random = fil_random_make(1);
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ); // a crash leaves what went before it
    try_plain();
    try_sparse(&random, rounds);
    for (int k = 2; k < argc; k++) {
        try_folder(&random, rounds, argv[k]);
    }
    (void)printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
