// curve_series.c - power series of a frame, one copy for each vector width.
//
// Theorem 4.2.1 of R. Casati's thesis (2015): with kappa = sum mu_k x^k,
//
//     R_(n+1) = 1/(n+1) sum_k R_(n-k) [mu_k]x,    r_(n+1) = n0_n / (n+1).
//
// Two things are done differently here. The series is about the middle of a segment and starts from
// the identity there, so that the same terms reach twice as far before they cancel; the frame at
// the middle follows from the known one at the start,
//
//     G = R(start) Q(-1)^T,    R(x) = G Q(x),    r(x) = r(middle) + h G rho(x).
//
// And terms are stored as poses are, twelve numbers in a row, so that summing a sample is Horner's
// rule on three vectors of four. Columns are the vectors of the recurrence: in
// R [mu]x = (mu2 n1 - mu1 n2, mu0 n2 - mu2 n0, mu1 n0 - mu0 n1) no lanes are shuffled. A column of
// three is stored as four numbers; the next store puts the fourth right.
//
// Quaternions, whose series grows half as fast, were weighed and not taken: their centreline needs
// a product of series or quadrature, which by count of operations costs more than they save.
#include "curve_series.h"

#include <stddef.h>
#include <string.h>

typedef double Vector2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double Vector4 __attribute__((vector_size(32), aligned(8), may_alias));

#define ALWAYS_INLINE __attribute__((always_inline))

enum { AXIS = 3 }; // where a pose has its axes

static const double identity[12] = {[0] = 1.0, [5] = 1.0, [10] = 1.0}; // columns of four

// The first terms are divided, not multiplied by a rounded reciprocal: its error is the same in
// every segment, and made the error of a frame grow as the number of segments (2e-13 after 1000
// turns) in place of its root (1e-14). Later terms are too small to matter.
enum { DIVIDED = 8 };

// clang-format off
#define REPEAT_TENS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define TEN(t) 1.0/(10*t+1), 1.0/(10*t+2), 1.0/(10*t+3), 1.0/(10*t+4), 1.0/(10*t+5), \
               1.0/(10*t+6), 1.0/(10*t+7), 1.0/(10*t+8), 1.0/(10*t+9), 1.0/(10*t+10),
// clang-format on
static const double reciprocal[] = {REPEAT_TENS(TEN)}; // of n + 1
_Static_assert(sizeof reciprocal / sizeof *reciprocal >= FIL_SERIES_DEGREE, "reciprocals");
_Static_assert(sizeof(FilPose) == FIL_SERIES_ROW * sizeof(double), "a term is stored as a pose");
_Static_assert(offsetof(FilPose, axis) == AXIS * sizeof(double), "a term is stored as a pose");

#define FIL_KERNEL_FILE "rod/curve_series_kernels.h"
#include "math/variants.h"

const FilSeriesKernels *fil_series_variant(int index) {
    return CHOOSE_VARIANT(index, kernels);
}

const FilSeriesKernels *fil_series_kernels(void) {
    return fil_series_variant(count_variants() - 1);
}
