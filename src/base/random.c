// random.c - splitmix64 and what is drawn from it.
//
// Only operations that IEEE 754 fixes to the last bit are used (+ - * / sqrt), never libm's
// logarithm or trigonometry, whose last bit depends on the processor.
#include "random.h"

#include <math.h>

#include "error.h"

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
    const double unit = 0x1p-53 * (double)(fil_random_bits(random) >> 11);
    const double value = low + (high - low) * unit;
    // the sum may round up to `high`: 1 + (1 - 2^-53) is 2
    return value < high || !(low < high) ? value : nextafter(high, low);
}

int fil_random_int(FilRandom *random, int count) {
    FIL_ASSERT(count > 0);
    // the high half of a product, not a remainder; the bias is below count / 2^32
    return (int)(((fil_random_bits(random) >> 32) * (uint64_t)count) >> 32);
}

// ln x for normal x > 0, to about 2 units in the last place: x = m 2^e with m in [sqrt(1/2),
// sqrt(2)), and ln m = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1), |s| < 0.172.
static double take_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        exponent--;
    }
    const double s = (m - 1.0) / (m + 1.0), square = s * s;
    double series = 0.0;
    for (int k = 21; k >= 1; k -= 2) {
        series = series * square + 1.0 / k;
    }
    return exponent * 0.69314718055994531 + 2.0 * s * series;
}

double fil_random_normal(FilRandom *random) {
    // polar method: a point of the unit disc gives a direction and a radius
    double x, y, square;
    do {
        x = fil_random_uniform(random, -1.0, 1.0);
        y = fil_random_uniform(random, -1.0, 1.0);
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    return x * sqrt(-2.0 * take_log(square) / square);
}
