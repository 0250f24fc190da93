#ifndef FIL_BASE_RANDOM_H
#define FIL_BASE_RANDOM_H

// Seeded random numbers, the same on every machine: splitmix64 (Steele, Lea, Flood 2014).

#include <stdint.h>

typedef struct FilRandom {
    uint64_t state;
} FilRandom;

FilRandom fil_random_make(uint64_t seed);
uint64_t fil_random_bits(FilRandom *random);
double fil_random_uniform(FilRandom *random, double low, double high); // [low, high)
int fil_random_int(FilRandom *random, int count);                      // 0 .. count - 1
double fil_random_normal(FilRandom *random);                           // mean 0, variance 1

#endif
