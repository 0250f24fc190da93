#ifndef FIL_ROD_STATICS_H
#define FIL_ROD_STATICS_H

// What the parts of the statics share. See statics.c for the method, statics_matrix.c for the
// linear systems and statics_verdict.c for the question of stability.

#include "free_space.h"
#include "rod.h"

typedef struct FilStatics {
    FilRod *rod;
    int n, m;
    bool circulates; // torques among the loads: J is not symmetric
    bool loose;      // the rod may move as a whole
    double unit;     // N m: EI / L of the softest section

    double *H;               // [n][n]: Hessian
    double *J;               // [n][n]: Jacobian of the forces out of balance, where it circulates
    double *B, *B_factor;    // [n][n]: the measure of forces and motions, its Cholesky factor
    double *D;               // [n][n]: what H is shifted by
    FilFreeSpace space;      // what the rows C leave free
    double *free_H, *free_D; // H and D there
    double *free_J;          // J there
    double *free_B;          // Cholesky factor of B there
    int *free_first;         // [n]
    double *factor;          // of free_H + sigma free_D
    int *first, *B_first;    // [n]
    double *lu;              // [n][rounded]: of free_J + sigma free_D
    int *pivot;              // [n]
    double *inverse, *floor; // [n]
    double *g, *dx, *eigen;  // [n]: forces out of balance, step, eigenvector
    double *work, *product;  // [4 n], [n]: scratch
    double *C, *Y, *BY;      // [m][n]: rows, those of a shape that is tried, B^-1 rows^T
    double *zero;            // [FIL_FREE_ROWS][n]: motions that cost nothing; scratch
    int zero_count;          // of them, as fil_statics_judge() found
    double *spins;           // [elements]
    double *arnoldi;         // scratch of the verdict
    double *saved, *best, *kept, *begin; // [state_count]
    double *torques;                     // [load_count][3]: of the loads, as they are meant
    FilRodLoad *loads;                   // [load_count + 2]
    double c[FIL_ROD_ROWS], lambda[FIL_ROD_ROWS];
    double BS[FIL_ROD_ROWS * FIL_ROD_ROWS]; // C B^-1 C^T
    double sigma;
    bool factored; // there is a shift that makes H positive definite
    bool definite; // H is positive definite on the free directions, but for the least shift
    double residual;
    double eigenvalue; // smallest real part of (J, B) on the free directions
    bool flutters;     // it belongs to a pair of complex eigenvalues

    // the search
    bool search; // steps are no longer taken in full
    double least_forces, least_energy;
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
/// H, D and J on the free directions.
void fil_statics_place_free(FilStatics *s);
/// From here to the next fil_statics_measure() the free directions are, besides, those at right
/// angles to the motions that cost nothing, which are counted.
void fil_statics_leave_zero(FilStatics *s);
/// Find a shift, at least `least`, for which H is positive definite there, and factor it. False
/// when there is none. s->definite: `least` would do.
bool fil_statics_factor(FilStatics *s, double least);
/// x <- (H + sigma D)^-1 x on the free directions, H the symmetric part.
void fil_statics_solve(const FilStatics *s, double *x);
/// The same with J, for any shift, and its transpose.
void fil_statics_factor_circulating(FilStatics *s, double sigma);
void fil_statics_solve_circulating(const FilStatics *s, bool transposed, double *x);
/// x <- B^-1 x on the free directions.
void fil_statics_solve_measure(const FilStatics *s, double *x);
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

/// Find s->eigenvalue, s->zero_count, s->flutters and, unless it flutters, s->eigen. After
/// fil_statics_place_hessian(); the free directions are then as fil_statics_leave_zero() says.
void fil_statics_judge(FilStatics *s);
/// All that is known of the present shape, judged; `s` has its memory from the arena (statics.c).
FilStatus fil_statics_look(FilStatics *s, FilRod *rod, FilArena *arena, FilError *error);
/// Whether the shape is an equilibrium, and the verdict on a shape that was judged, the same for
/// whoever asks: in balance, and no motion frees energy. `tolerance`: of the residual that was
/// asked for.
bool fil_statics_rests(const FilStatics *s, double tolerance);
bool fil_statics_is_stable(const FilStatics *s, double tolerance);
int fil_statics_judge_room(int n);
void fil_statics_place_random(int n, double *x);

#endif
