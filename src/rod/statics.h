#ifndef FIL_ROD_STATICS_H
#define FIL_ROD_STATICS_H

// What the parts of the statics share. See statics.c for the method, statics_matrix.c for the
// linear systems and statics_verdict.c for the question of stability.

#include "rod.h"

typedef struct FilStatics {
    FilRod *rod;
    int n, m;
    bool circulates; // torques among the loads: J is not symmetric
    bool loose;      // the rod may move as a whole
    double unit;     // N m: EI / L of the softest section

    double *H;            // [n][n]: Hessian; after fil_statics_factor() with rho C^T C, lower part
    double *J;            // [n][n]: Jacobian of the forces out of balance, where it circulates
    double *B, *B_factor; // [n][n]: the measure of forces and motions, and its Cholesky factor
    double *D;            // [n][n]: what H is shifted by
    double *factor;       // [n][n]: of H + rho C^T C + sigma D
    int *first, *B_first; // [n]
    double *border;       // [n + m][rounded]: LU of [J + sigma D, C^T; C, -tiny]
    int *pivot;           // [n + m]
    double *inverse, *floor;     // [n + m]
    double *g, *dx, *eigen;      // [n]: forces out of balance, step, eigenvector
    double *work, *product;      // [n + m], [n]: scratch
    double *C, *Y, *BY;          // [m][n]: rows, (H + sigma D)^-1 C^T, B^-1 C^T
    double *spins;               // [elements]
    double *arnoldi;             // scratch of the verdict
    double *saved, *best, *kept; // [state_count]
    FilRodLoad *loads;           // [load_count + 2]
    double c[FIL_ROD_ROWS], lambda[FIL_ROD_ROWS];
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS];  // C (H + sigma D)^-1 C^T
    double BS[FIL_ROD_ROWS * FIL_ROD_ROWS]; // C B^-1 C^T
    double sigma;
    double residual;
    double eigenvalue; // smallest real part of (J, B) on the free directions
    bool flutters;     // it belongs to a pair of complex eigenvalues

    // the search
    bool search; // steps are no longer taken in full
    double best_residual;
    int since_best, since_saddle;
} FilStatics;

// A shift so small that Newton's method does not feel it, and motions without resistance stay away.
#define FIL_STATICS_SHIFT 1e-9

// --- statics_matrix.c ----------------------------------------------------------------------------

bool fil_statics_allocate(FilStatics *s, FilArena *arena);
/// B, rows, g, the multipliers that balance g best in the measure of B, and the residual with them.
void fil_statics_measure(FilStatics *s);
/// H (and J) at the present shape, the forces that hold the ends among the loads.
void fil_statics_place_hessian(FilStatics *s, double *H);
/// Find a shift for which H is positive definite on the free directions, and factor it. False when
/// there is none.
bool fil_statics_factor(FilStatics *s);
/// x <- the solution of (H + sigma D) x + C^T lambda = x, C x = -error (NULL: 0), H the symmetric
/// part; lambda is kept.
void fil_statics_solve(FilStatics *s, double *x, const double *error);
/// Newton's step with the Jacobian as it is, shifted by sigma D.
void fil_statics_step_circulating(FilStatics *s, double sigma, double *dx);
/// x <- the solution of B x + C^T mu = x, C x = 0.
void fil_statics_solve_measure(FilStatics *s, double *x);
/// The shortest step in the measure of B with C dx = -error, for the rows in s->Y.
void fil_statics_close(FilStatics *s, const double *error, double *dx);
/// y = A x for a symmetric matrix whose lower part is there.
void fil_statics_multiply(int n, const double *lower, const double *x, double *y);
/// How far the ends are from where they are held, for the errors c.
double fil_statics_gap(const FilStatics *s);
double fil_statics_elastic(const FilRod *rod);

static inline double *fil_row(double *matrix, int i, int n) {
    return matrix + (size_t)i * (size_t)n;
}

// --- statics_verdict.c ---------------------------------------------------------------------------

/// Find s->eigenvalue, s->flutters and, unless it flutters, s->eigen. After fil_statics_factor().
void fil_statics_judge(FilStatics *s, bool definite);
int fil_statics_judge_room(int n);
void fil_statics_place_random(int n, double *x);

#endif
