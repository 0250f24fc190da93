// random.c - splitmix64 and what is drawn from it.
#include "random.h"

#include <math.h>

FilRandom fil_random_make(uint64_t seed) {
    return (FilRandom){.state = seed};
}

uint64_t fil_random_bits(FilRandom *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double fil_random_uniform(FilRandom *random, double low, double high) {
    return low + (high - low) * 0x1p-53 * (double)(fil_random_bits(random) >> 11);
}

int fil_random_int(FilRandom *random, int count) {
    return (int)(((fil_random_bits(random) >> 32) * (uint64_t)count) >> 32);
}

double fil_random_normal(FilRandom *random) {
    // polar method: no trigonometry, whose last bit depends on the machine
    double x, y, square;
    do {
        x = fil_random_uniform(random, -1.0, 1.0);
        y = fil_random_uniform(random, -1.0, 1.0);
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    return x * sqrt(-2.0 * log(square) / square);
}
