#ifndef FIL_RENDER_BITS_H
#define FIL_RENDER_BITS_H

// Bits that look random and depend on what they are made of alone, and orders of samples.

#include <stdint.h>

/// Pseudo-random bits of two numbers.
static inline uint32_t fil_hash2(uint32_t a, uint32_t b) {
    uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return h ^ h >> 15;
}

/// The bits of n in reverse order: of 0, 1, 2, ... they fill the range evenly.
static inline uint32_t fil_reverse(uint32_t n) {
    n = n << 16 | n >> 16;
    n = (n & 0x00ff00ffu) << 8 | (n & 0xff00ff00u) >> 8;
    n = (n & 0x0f0f0f0fu) << 4 | (n & 0xf0f0f0f0u) >> 4;
    n = (n & 0x33333333u) << 2 | (n & 0xccccccccu) >> 2;
    return (n & 0x55555555u) << 1 | (n & 0xaaaaaaaau) >> 1;
}

/// Sample n of mask + 1, a power of two, in an order that the seed chooses: each round is one to
/// one, lets low bits change high ones (the product) and high bits low ones (the shift).
static inline uint32_t fil_shuffle(uint32_t n, uint32_t mask, uint32_t seed) {
    const int half = mask > 0xff ? 5 : mask > 0xf ? 3 : 2;
    for (int round = 0; round < 3; round++) {
        seed = seed * 0x9e3779b1u + 0x7f4a7c15u;
        n = (n * (seed >> 16 | 1) + (seed >> 8)) & mask;
        n ^= n >> half;
    }
    return n;
}

/// A number in 0 .. 1 of 32 bits.
static inline float fil_unit_float(uint32_t bits) {
    return (float)(bits >> 8) * 0x1p-24f;
}

#endif
