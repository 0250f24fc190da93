// local_enum.c - all solutions of a Coulomb block by enumeration (Bonnefon and Daviet 2011).
//
// Take-off, stick and slide are tried in turn. A slide has r = r_N (1, mu d), d a unit vector, and
//     u_N = 0:        r_N = -b_N / (w_N + mu w_NT d)
//     u_T x d = 0:    (w_N + mu w_NT d) (b_T x d) - b_N ((w_TN + mu W_T d) x d) = 0,
// with u_T d <= 0. In the plane (size 2) d = +-1 and nothing is left to solve. In space the second
// line is a trigonometric polynomial of degree two; tau = tan(angle / 2), measured from -c (see
// local_contact.c) where every slide of a positive W lies within a right angle, makes it a quartic.
// It needs neither S nor W^-1, so that singular, zero and unsymmetric W are no special cases.
//
// Every candidate is polished on the original equations and verified by its error. Since all
// candidates are seen, no survivor means no solution.
//
// Stick with a singular W is a family r0 + Z t: a line is cut with the cone by a quadratic, and for
// W of rank one the plane n r = h meets the cone on its axis or on the ray above +-n_T.
#include "local.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/quartic.h"
#include "small.h"

#define D FIL_BLOCK_MAX

// ---- stick ----

static double ray_distance(const FilLocalBlock *block, const double *r) {
    double t = 0.0;
    for (int i = 1; i < block->size; i++) {
        t += r[i] * r[i];
    }
    t = sqrt(t);
    return block->kind == FIL_BLOCK_DUAL ? r[0] - block->mu * t : block->mu * r[0] - t;
}

// Keep r + t z when it is deeper in the cone than `best`.
static void try_along(const FilLocalBlock *block, const double *r, const double *z, double t,
                      double *best) {
    double trial[D] = {0.0};
    for (int i = 0; i < block->size; i++) {
        trial[i] = r[i] + t * z[i];
    }
    if (isfinite(t) && ray_distance(block, trial) > ray_distance(block, best)) {
        memcpy(best, trial, (size_t)block->size * sizeof *best);
    }
}

// The point of the line r + t z that is deepest in the cone, or good enough.
static void stick_on_line(const FilLocalBlock *block, const double *z, double *r) {
    const double m = block->kind == FIL_BLOCK_DUAL ? 1.0 / block->mu : block->mu;
    double A = m * m * z[0] * z[0], B = m * m * z[0] * r[0], C = m * m * r[0] * r[0];
    for (int i = 1; i < block->size; i++) {
        A -= z[i] * z[i];
        B -= z[i] * r[i];
        C -= r[i] * r[i];
    }
    double best[D] = {0.0};
    memcpy(best, r, (size_t)block->size * sizeof *best);
    const double root = sqrt(fmax(B * B - A * C, 0.0));
    try_along(block, r, z, -B / A, best);
    try_along(block, r, z, (-B + root) / A, best);
    try_along(block, r, z, (-B - root) / A, best);
    try_along(block, r, z, -0.5 * C / B, best);
    try_along(block, r, z, -r[0] / z[0], best);
    memcpy(r, best, (size_t)block->size * sizeof *r);
}

// W of rank one: the plane row . r = -b_row.
static void stick_on_plane(const FilLocalBlock *block, int row, double *r) {
    const int d = block->size;
    const double *n = block->W + (size_t)d * (size_t)row;
    const double h = -block->b[row], side = h < 0.0 ? -1.0 : 1.0;
    double nt = 0.0;
    for (int i = 1; i < d; i++) {
        nt += n[i] * n[i];
    }
    nt = sqrt(nt);
    const bool axis = side * n[0] > 0.5 * nt * block->mu;
    double along = n[0], ray[D] = {1.0};
    for (int i = 1; i < d; i++) {
        ray[i] = axis ? 0.0 : side * block->mu * n[i] / nt;
        along += n[i] * ray[i];
    }
    for (int i = 0; i < d; i++) {
        r[i] = ray[i] * (h / along);
    }
}

static bool is_finite(int d, const double *r) {
    for (int i = 0; i < d; i++) {
        if (!isfinite(r[i])) {
            return false;
        }
    }
    return true;
}

bool fil_local_stick(const FilLocalBlock *block, double *r) {
    const int d = block->size;
    FilSmallLu lu;
    fil_small_factor(&lu, d, block->W, 16.0 * DBL_EPSILON);
    if (lu.rank == 0) {
        return false;
    }
    double u[D] = {0.0}, change[D];
    memset(r, 0, (size_t)d * sizeof *r);
    for (int pass = 0; pass < 2; pass++) { // the second refines the first
        fil_local_velocity(block, r, u);
        fil_small_solve(&lu, u, change);
        for (int i = 0; i < d; i++) {
            r[i] -= change[i];
        }
    }
    if (lu.rank < d && block->kind == FIL_BLOCK_COULOMB && ray_distance(block, r) < 0.0) {
        double z[FIL_SMALL_MAX];
        if (lu.rank == d - 1 && (d > 2 || block->mu == 0.0)) {
            fil_small_null(&lu, 0, z);
            stick_on_line(block, z, r);
        } else if (lu.rank == 1) {
            stick_on_plane(block, lu.row[0], r);
        }
    }
    return is_finite(d, r) && fil_local_error(block, r) <= FIL_LOCAL_TOLERANCE;
}

// ---- slide ----

// Polish the slide along d = (x, y); false when it runs away.
static bool polish_slide(const FilLocalBlock *block, double x, double y, double *r) {
    const double *W = block->W, *b = block->b, mu = block->mu;
    double rn = -b[0] / (W[0] + mu * (W[1] * x + W[2] * y));
    double best = HUGE_VAL;
    for (int i = 0; i < 8; i++) {
        double trial[3] = {rn, mu * rn * x, mu * rn * y}, u[3];
        if (!is_finite(3, trial)) {
            break;
        }
        fil_local_velocity(block, trial, u);
        const double across = u[1] * y - u[2] * x, along = u[1] * x + u[2] * y;
        const double size = fabs(u[0]) + fabs(across);
        if (size < best) {
            memcpy(r, trial, sizeof trial);
        } else if (i > 2) {
            break;
        }
        best = fmin(size, best);
        const double px = W[3] + mu * (W[4] * x + W[5] * y), py = W[6] + mu * (W[7] * x + W[8] * y);
        const double qx = W[5] * x - W[4] * y, qy = W[8] * x - W[7] * y;
        double J[4] = {W[0] + mu * (W[1] * x + W[2] * y), mu * rn * (W[2] * x - W[1] * y),
                       px * y - py * x, mu * rn * (qx * y - qy * x) + along};
        double step[2] = {-u[0], -across};
        if (size == 0.0 || !fil_small_eliminate(2, J, step)) {
            break;
        }
        rn += step[0];
        const double length = hypot(1.0, step[1]), old_x = x;
        x = (x - step[1] * y) / length;
        y = (y + step[1] * old_x) / length;
    }
    return best < HUGE_VAL;
}

// Directions of all slides in space, as angles from the first one; includes the axes themselves,
// for the cases where the polynomial vanishes.
static int slide_directions(const FilLocalBlock *block, double (*direction)[2]) {
    const double *W = block->W, *b = block->b, mu = block->mu;
    double ex = -b[1], ey = -b[2];
    if (W[0] > 0.0) {
        ex += W[3] * (b[0] / W[0]);
        ey += W[6] * (b[0] / W[0]);
    }
    const double length = hypot(ex, ey);
    ex = length > 0.0 ? ex / length : 1.0;
    ey = length > 0.0 ? ey / length : 0.0;
    // the contact in the axes e, n = (-ey, ex)
    const double N1 = W[1] * ex + W[2] * ey, N2 = W[2] * ex - W[1] * ey;
    const double T1 = W[3] * ex + W[6] * ey, T2 = W[6] * ex - W[3] * ey;
    const double b1 = b[1] * ex + b[2] * ey, b2 = b[2] * ex - b[1] * ey;
    const double Se[2] = {W[4] * ex + W[5] * ey, W[7] * ex + W[8] * ey};
    const double Sn[2] = {W[5] * ex - W[4] * ey, W[8] * ex - W[7] * ey};
    const double W11 = ex * Se[0] + ey * Se[1], W21 = ex * Se[1] - ey * Se[0];
    const double W12 = ex * Sn[0] + ey * Sn[1], W22 = ex * Sn[1] - ey * Sn[0];
    const double X = b[0] * T2 - W[0] * b2, Y = W[0] * b1 - b[0] * T1;
    const double XX = mu * (b[0] * W21 - N1 * b2), YY = mu * (N2 * b1 - b[0] * W12);
    const double XY = mu * (N1 * b1 - N2 * b2 - b[0] * (W11 - W22));
    const double a[5] = {X + XX, 2.0 * (Y + XY), 4.0 * YY - 2.0 * XX, 2.0 * (Y - XY), XX - X};
    double tau[4];
    int count = fil_quartic_roots(a, tau);
    for (int i = 0; i < count; i++) {
        const double t = tau[i];
        const double cosine = fabs(t) > 1.0 ? (1.0 / t / t - 1.0) / (1.0 / t / t + 1.0)
                                            : (1.0 - t * t) / (1.0 + t * t);
        const double sine = fabs(t) > 1.0 ? 2.0 / t / (1.0 / t / t + 1.0) : 2.0 * t / (1.0 + t * t);
        direction[i][0] = ex * cosine - ey * sine;
        direction[i][1] = ey * cosine + ex * sine;
    }
    const double axis[4][2] = {{ex, ey}, {-ex, -ey}, {-ey, ex}, {ey, -ex}};
    for (int i = 0; i < 4; i++) {
        memcpy(direction[count++], axis[i], sizeof axis[i]);
    }
    return count;
}

// ---- all together ----

typedef struct Found {
    const FilLocalBlock *block;
    double (*solution)[D];
    int count;
    double *best;
    double best_error;
} Found;

// Note the candidate r if it is a solution and not known yet.
static void consider(Found *found, const double *r) {
    const int d = found->block->size;
    const double error = fil_local_error(found->block, r);
    if (found->best != NULL && error < found->best_error) {
        found->best_error = error;
        memcpy(found->best, r, (size_t)d * sizeof *r);
    }
    if (!(error <= FIL_LOCAL_TOLERANCE) || found->count == FIL_LOCAL_SOLUTIONS) {
        return;
    }
    for (int k = 0; k < found->count; k++) {
        double apart = 0.0, size = 0.0;
        for (int i = 0; i < d; i++) {
            apart = fmax(apart, fabs(r[i] - found->solution[k][i]));
            size = fmax(size, fabs(r[i]));
        }
        if (apart <= 1e-7 * size) { // the same one: keep the better of the two
            if (error < fil_local_error(found->block, found->solution[k])) {
                memcpy(found->solution[k], r, (size_t)d * sizeof *r);
            }
            return;
        }
    }
    memcpy(found->solution[found->count++], r, (size_t)d * sizeof *r);
}

static void consider_slides(Found *found) {
    const FilLocalBlock *block = found->block;
    const double *W = block->W, *b = block->b;
    double r[D] = {0.0};
    if (block->size == 1) {
        r[0] = -b[0] / W[0];
        if (isfinite(r[0])) {
            consider(found, r);
        }
        return;
    }
    if (block->size == 2) {
        for (int side = -1; side <= 1; side += 2) {
            r[0] = -b[0] / (W[0] + side * block->mu * W[1]);
            r[1] = side * block->mu * r[0];
            if (is_finite(2, r)) {
                consider(found, r);
            }
        }
        return;
    }
    double direction[8][2];
    const int count = slide_directions(block, direction);
    for (int i = 0; i < count; i++) {
        if (polish_slide(block, direction[i][0], direction[i][1], r)) {
            consider(found, r);
        }
    }
}

int fil_local_enumerate(const FilLocalBlock *block, double (*solution)[D], double *best) {
    Found found = {.block = block, .solution = solution, .best = best};
    found.best_error = best != NULL ? fil_local_error(block, best) : 0.0;
    double r[D] = {0.0};
    if (block->b[0] >= 0.0) {
        memset(solution[found.count++], 0, sizeof *solution);
    }
    consider(&found, r);
    if (fil_local_stick(block, r)) {
        consider(&found, r);
    }
    consider_slides(&found);
    return found.count;
}
