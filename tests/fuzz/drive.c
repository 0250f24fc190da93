// Runs a fuzz target without a fuzzer: seeded random recipes, and the given files with seeded
// random damage; the same inputs on every machine. Usage: TARGET ROUNDS [FILE...]
#include "base/random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECIPE_MAX = 512, FILE_MAX = 1 << 20 };

static uint8_t bytes[FILE_MAX], damaged[FILE_MAX];

// Recipes are mostly zeros ("as it should be") with a few random bytes.
static void try_recipes(FilRandom *random, int rounds) {
    for (int k = 0; k < rounds; k++) {
        memset(bytes, 0, RECIPE_MAX);
        bytes[1] = (uint8_t)fil_random_bits(random); // which problem it is
        const int faults = fil_random_int(random, 6);
        for (int f = 0; f < faults; f++) {
            bytes[fil_random_int(random, RECIPE_MAX)] = (uint8_t)fil_random_bits(random);
        }
        (void)LLVMFuzzerTestOneInput(bytes, RECIPE_MAX);
    }
}

// Overwrite, copy or cut; half of the damage goes where the file is not zero.
static size_t damage(FilRandom *random, size_t size) {
    static const uint8_t extremes[] = {0, 1, 127, 128, 255};
    memcpy(damaged, bytes, size);
    const int faults = 1 + fil_random_int(random, 5);
    for (int f = 0; f < faults; f++) {
        int at = 8 + fil_random_int(random, (int)size - 8);
        for (int tries = 0; tries < 50 && damaged[at] == 0; tries++) {
            at = 8 + fil_random_int(random, (int)size - 8);
        }
        const int kind = fil_random_int(random, 8);
        if (kind == 0) {
            damaged[at] ^= (uint8_t)(1 << fil_random_int(random, 8));
        } else if (kind < 4) {
            damaged[at] = extremes[fil_random_int(random, 5)];
        } else if (kind == 4) { // a whole word becomes HDF5's undefined address
            memset(damaged + at - at % 8, 255, size - (size_t)at >= 8 ? 8 : 0);
        } else if (kind == 5) {
            const size_t from = (size_t)fil_random_int(random, (int)size - 64);
            const size_t to = (size_t)at < size - 64 ? (size_t)at : size - 64;
            memmove(damaged + to, damaged + from, 64);
        } else if (kind == 6 && faults == 1) {
            return (size_t)at;
        } else {
            damaged[at] = (uint8_t)fil_random_bits(random);
        }
    }
    return size;
}

static int try_file(FilRandom *random, int rounds, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    if (size < 128) {
        return 0;
    }
    (void)LLVMFuzzerTestOneInput(bytes, size);
    for (int k = 0; k < rounds; k++) {
        (void)LLVMFuzzerTestOneInput(damaged, damage(random, size));
    }
    return 0;
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    FilRandom random = fil_random_make(1);
    try_recipes(&random, rounds);
    int failed = 0;
    for (int k = 2; k < argc; k++) {
        failed += try_file(&random, rounds, argv[k]);
    }
    (void)printf("%d recipes and %d files with damage: no crash, no leak\n", rounds, argc - 2);
    return failed != 0;
}
