#ifndef FIL_FRICTION_LAW_H
#define FIL_FRICTION_LAW_H

// The law of one block as formulas: cones and projections, the De Saxce change of variable,
// residuals, and the nonsmooth functions whose roots are the lawful pairs, with their Jacobians.
//
// Blocks have size d in 1..FIL_BLOCK_MAX, the normal component first; matrices are row-major d x d.
// Nothing allocates; values between 1e-150 and 1e150 are safe. mu = 0 is fine everywhere.
// `rho` > 0 turns velocities into impulses (take d / trace W); all functions vanish exactly on the
// lawful pairs whatever rho is.

#include "filum/friction.h"

/// Whether blocks of this kind have a mu: a coefficient of friction, or the radius of a ball.
static inline bool fil_law_has_mu(FilBlockKind kind) {
    return kind == FIL_BLOCK_COULOMB || kind == FIL_BLOCK_CONE || kind == FIL_BLOCK_DUAL ||
           kind == FIL_BLOCK_BALL;
}

/// Orthogonal projection p of x onto the impulses of the block: K_mu for coulomb and cone, its dual
/// for dual, the orthant for unilateral, everything for equality, {0} for free, the ball of radius
/// mu for ball. p may be x.
void fil_law_project(FilBlockKind kind, int d, double mu, const double *x, double *p);

/// The same, with J the derivative dp/dx (on ties one element of the generalised Jacobian).
void fil_law_project_jacobian(FilBlockKind kind, int d, double mu, const double *x, double *p,
                              double *J);

/// De Saxce's change of variable: ut = u + mu |u_T| e for coulomb blocks, else u. ut may be u.
void fil_law_shift(FilBlockKind kind, int d, double mu, const double *u, double *ut);

/// Natural map F = r - P(r - rho ut). Returns |F|^2. F may be NULL.
double fil_law_natural(FilBlockKind kind, int d, double mu, double rho, const double *u,
                       const double *r, double *F);

/// Alart-Curnier F = r - P(r - rho u), the ball of radius mu r_N (for coulomb; the natural map
/// for the other kinds). Returns |F|^2. F may be NULL.
double fil_law_alart_curnier(FilBlockKind kind, int d, double mu, double rho, const double *u,
                             const double *r, double *F);

/// What a nonsmooth function is evaluated at, and the parameters it takes.
typedef struct FilLawPoint {
    FilBlockKind kind;
    int d;
    double mu;
    double rho;     // velocity to impulse
    double epsilon; // smoothing of Fischer-Burmeister, an impulse; 0: exact
    const double *u, *r;
} FilLawPoint;

/// F and its generalised Jacobians Fu = dF/du, Fr = dF/dr (both or none may be NULL). All three
/// functions have the orientation of min(rho u, r) and the unit of an impulse.
///   Fischer-Burmeister  x + y - (x o x + y o y + 2 epsilon^2 e)^(1/2), with x, y the images of
///                       rho ut and r in the self-dual cone K_1
///   Alart-Curnier       as above
///   De Saxce            the natural map
/// For ball all three are the natural map.
void fil_law_function(FilNewtonFunction function, const FilLawPoint *at, double *F, double *Fu,
                      double *Fr);

#endif
