// local_newton.c - Newton on the nonsmooth functions of one block.
//
// F(r) = F(W r + b, r) has the generalised Jacobian A = Fu W + Fr; the step is -A^-1 F. The damped
// form searches along it by the rule of Goldstein and Price on q = |F|^2 / 2 (Bertails-Descoubes et
// al. 2011, alg. 2, misprints mended): with q' = -2 q the slope at the start, a step h is accepted
// when m2 q' <= (q(h) - q) / h <= m1 q', too short below, too long above. None of these converges
// from everywhere: they are what the hybrid solvers are measured against, or start from.
#include "local.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "law.h"
#include "small.h"

#define D FIL_BLOCK_MAX
#define ITERATIONS 60
#define TRIALS 24

static double square(int d, const double *x) {
    double sum = 0.0;
    for (int i = 0; i < d; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

typedef struct Newton {
    const FilLocalBlock *block;
    FilNewtonFunction function;
    double rho;
} Newton;

// F at r; Fu and Fr may be NULL. Returns |F|^2.
static double evaluate(const Newton *newton, const double *r, double *F, double *Fu, double *Fr) {
    const FilLocalBlock *block = newton->block;
    double u[D];
    fil_local_velocity(block, r, u);
    const FilLawPoint at = {block->kind, block->size, block->mu, newton->rho, 0.0, u, r};
    fil_law_function(newton->function, &at, F, Fu, Fr);
    return square(block->size, F);
}

static bool newton_step(const FilLocalBlock *block, const double *F, const double *Fu,
                        const double *Fr, double *step) {
    const int d = block->size;
    double A[D * D];
    for (int i = 0; i < d; i++) {
        step[i] = -F[i];
        for (int j = 0; j < d; j++) {
            double sum = Fr[d * i + j];
            for (int k = 0; k < d; k++) {
                sum += Fu[d * i + k] * block->W[d * k + j];
            }
            A[d * i + j] = sum;
        }
    }
    return fil_small_eliminate(d, A, step);
}

// Length of the step from r, where |F|^2 = merit.
static double search(const Newton *newton, const double *r, const double *step, double merit) {
    const int d = newton->block->size;
    const double slope0 = -merit;
    double h = 1.0, low = 0.0, high = HUGE_VAL, trial[D], F[D];
    for (int i = 0; i < TRIALS; i++) {
        for (int k = 0; k < d; k++) {
            trial[k] = r[k] + h * step[k];
        }
        const double slope = 0.5 * (evaluate(newton, trial, F, NULL, NULL) - merit) / h;
        if (slope >= 0.9 * slope0 && slope <= 0.1 * slope0) {
            return h;
        }
        *(slope < 0.9 * slope0 ? &low : &high) = h;
        h = high < HUGE_VAL ? 0.5 * (low + high) : 10.0 * h;
    }
    return low > 0.0 ? low : h;
}

bool fil_local_newton(const FilLocalBlock *block, FilNewtonFunction function, bool damped,
                      double *r) {
    const int d = block->size;
    double trace = 0.0;
    for (int i = 0; i < d; i++) {
        trace += block->W[d * i + i];
    }
    const double rho = trace > 0.0 ? d / trace : 1.0, b_size = rho * sqrt(square(d, block->b));
    const Newton newton = {block, function, rho};
    double F[D], Fu[D * D], Fr[D * D], step[D], now[D], best = HUGE_VAL, before = HUGE_VAL;
    memcpy(now, r, (size_t)d * sizeof *r);
    for (int i = 0; i < ITERATIONS; i++) {
        const double merit = evaluate(&newton, now, F, Fu, Fr);
        const double size = sqrt(square(d, now)) + b_size;
        if (!(merit < HUGE_VAL) || !(size < HUGE_VAL)) {
            break;
        }
        if (merit < best) {
            best = merit;
            memcpy(r, now, (size_t)d * sizeof *r);
        }
        // done at rounding level; near it, as soon as nothing is gained any more
        const double small = (merit > 0.25 * before ? 1e-13 : 4.0 * DBL_EPSILON) * size;
        before = merit;
        if (merit <= small * small || !newton_step(block, F, Fu, Fr, step)) {
            break;
        }
        const double h = damped ? search(&newton, now, step, merit) : 1.0;
        for (int k = 0; k < d; k++) {
            now[k] += h * step[k];
        }
    }
    return fil_local_error(block, r) <= FIL_LOCAL_TOLERANCE;
}
