#ifndef FIL_MATH_LEAST_H
#define FIL_MATH_LEAST_H

// The smaller and the larger one of two numbers, in one instruction: fmin() and fmax() of the C
// library are calls. Where b is not a number, or none of the two is less, the answer is a.

static inline double fil_least(double a, double b) {
    return b < a ? b : a;
}

static inline double fil_most(double a, double b) {
    return b > a ? b : a;
}

#endif
