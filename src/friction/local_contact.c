// local_contact.c - the fast solvers of one Coulomb contact, in space and in the plane.
//
// Write W = [w_N, w_NT; w_TN, W_T] (w_NT and w_TN^T may differ a little), eliminate r_N from
// u_N = 0, and with S = W_T - w_TN w_NT / w_N, c = b_T - w_TN b_N / w_N:
//     take-off   b_N >= 0:  r = 0
//     stick      S r_T = -c,  r_N = -(b_N + w_NT r_T) / w_N,  if |r_T| <= mu r_N
//     slide      (S + alpha) r_T = -c,  alpha > 0,  |r_T| = mu r_N.
// As alpha falls from infinity to 0 the direction of r_T turns one way from e = -c/|c| to that of
// -S^-1 c, by less than a right angle when S is positive. So turn the tangent axes to e and its
// normal n, to the side where the arc lies, and let t in [0, t0] be the tangent of the angle; with
// S = [a, k; m, g] in these axes, m <= 0, and |c| for c from now on,
//     t0 = -m / g,   alpha = g (t0 / t - 1),   r_T = mu r_N (1, t) / sqrt(1 + t^2),
// and the slide is one scalar equation without poles,
//     psi(t) = c t (w_N sqrt(1 + t^2) + mu (w_e + w_n t)) + mu b_N (k t^2 + (a - g) t - m) = 0,
//     psi(0) = -mu b_N m <= 0,    psi(t0) > 0 when stick has failed:
// a root exists, lies in the bracket, and every root in the bracket is a slide. (psi is the quartic
// of the enumerative solver before its square root is squared away.) mu = 0 and eigenvectors c of
// S (t0 = 0) need no special case.
//
// Accuracy. The direction is known to eps * condition only, which is not enough where the columns
// of W nearly depend on each other: a last Newton iteration on the original equations in the
// unknowns (r_N, angle), u_N = 0 and u_T x d = 0 with r = r_N (1, mu d), brings the residual down
// to rounding errors of W r + b, whatever the condition. Every answer is verified in this sense
// before it is returned; what fails (zero blocks, overflow, W not positive) is left to the caller.
#include "local.h"

#include <math.h>

#define SINGULAR 1e-14  // a pivot of S below this, relative to W_T, is a rounding error
#define TOLERANCE 8e-15 // accepted |u| over |W||r| + |b|; rounding is ten times smaller

// Sizes of the data, for the check of the answer.
typedef struct Scale {
    double trace, b;
} Scale;

static inline Scale scale_of(const double *W, const double *b) {
    return (Scale){W[0] + W[4] + W[8], fabs(b[0]) + fabs(b[1]) + fabs(b[2])};
}

static inline void velocity3(const double *W, const double *b, const double *r, double *u) {
    for (int i = 0; i < 3; i++) {
        u[i] = W[3 * i + 0] * r[0] + W[3 * i + 1] * r[1] + W[3 * i + 2] * r[2] + b[i];
    }
}

// A contact turned into the axes of psi.
typedef struct Turned {
    double w, we, wn;      // normal row of W
    double a, k, m, g;     // Schur complement S
    double c, t0;          // |c|, end of the bracket
    double ex, ey, nx, ny; // the axes
} Turned;

static inline Turned turn(const double *W, const double *b) {
    const double inverse = 1.0 / W[0], lx = W[3] * inverse, ly = W[6] * inverse;
    const double S00 = W[4] - lx * W[1], S01 = W[5] - lx * W[2];
    const double S10 = W[7] - ly * W[1], S11 = W[8] - ly * W[2];
    const double cx = b[1] - lx * b[0], cy = b[2] - ly * b[0], c = sqrt(cx * cx + cy * cy);
    const double over = 1.0 / c;
    const double ex = c > 0.0 ? -cx * over : 1.0, ey = c > 0.0 ? -cy * over : 0.0;
    const double Sx = S00 * ex + S01 * ey, Sy = S10 * ex + S11 * ey; // S e
    const double m = ex * Sy - ey * Sx;
    // the normal points to the side of the arc: m <= 0
    const double nx = copysign(1.0, m) * ey, ny = -copysign(1.0, m) * ex;
    const double Tx = S00 * nx + S01 * ny, Ty = S10 * nx + S11 * ny; // S n
    Turned p = {.w = W[0], .c = c, .ex = ex, .ey = ey, .nx = nx, .ny = ny};
    p.we = W[1] * ex + W[2] * ey;
    p.wn = W[1] * nx + W[2] * ny;
    p.a = ex * Sx + ey * Sy;
    p.k = ex * Tx + ey * Ty;
    p.g = nx * Tx + ny * Ty;
    p.m = -fabs(m);
    p.t0 = -p.m / p.g;
    return p;
}

// Root of psi from t; B = -mu b_N > 0. The result need not be converged: it is verified later.
static inline double find_angle(const Turned *p, double B, double mu, double t) {
    double low = 0.0, high = p->t0;
    const double ag = p->a - p->g;
    for (int i = 0; i < 24; i++) {
        const double root = sqrt(1.0 + t * t);
        const double A = p->w * root + mu * (p->we + p->wn * t);
        const double psi = p->c * t * A - B * ((p->k * t + ag) * t - p->m);
        const double slope =
            p->c * (A + t * (p->w * t / root + mu * p->wn)) - B * (2.0 * p->k * t + ag);
        *(psi < 0.0 ? &low : &high) = t;
        double next = t - psi / slope;
        if (fabs(next - t) <= 1e-8 * (1.0 + t)) { // first, to stay at a root where psi falls
            return next;
        }
        if (!(next >= low && next <= high)) {
            // halve small intervals, take the geometric mean of wide ones
            next = high < 4.0 ? 0.5 * (low + high) : sqrt((low + 1.0) * (high + 1.0)) - 1.0;
        }
        t = next;
    }
    return t;
}

// Newton on u_N = 0, u_T x d = 0 in (r_N, angle) until the residual is at rounding level.
static inline bool finish_slide(const double *W, const double *b, double mu, double dx, double dy,
                                double *r) {
    const Scale scale = scale_of(W, b);
    double rn = -b[0] / (W[0] + mu * (W[1] * dx + W[2] * dy));
    for (int i = 0; i < 5; i++) {
        double u[3];
        r[0] = rn;
        r[1] = mu * rn * dx;
        r[2] = mu * rn * dy;
        velocity3(W, b, r, u);
        const double across = u[1] * dy - u[2] * dx, along = u[1] * dx + u[2] * dy;
        const double limit = TOLERANCE * (scale.trace * rn * (1.0 + mu) + scale.b);
        if (fabs(u[0]) + fabs(across) <= limit && along <= limit && rn >= 0.0) {
            return true;
        }
        const double px = W[3] + mu * (W[4] * dx + W[5] * dy);
        const double py = W[6] + mu * (W[7] * dx + W[8] * dy);
        const double qx = W[5] * dx - W[4] * dy, qy = W[8] * dx - W[7] * dy; // W_T d'
        const double J00 = W[0] + mu * (W[1] * dx + W[2] * dy);
        const double J01 = mu * rn * (W[2] * dx - W[1] * dy);
        const double J10 = px * dy - py * dx;
        const double J11 = mu * rn * (qx * dy - qy * dx) + along;
        const double over = 1.0 / (J00 * J11 - J01 * J10);
        const double turn_by = (J10 * u[0] - J00 * across) * over;
        rn += (J01 * across - J11 * u[0]) * over;
        const double x = dx - turn_by * dy, y = dy + turn_by * dx, unit = 1.0 / sqrt(x * x + y * y);
        dx = x * unit;
        dy = y * unit;
    }
    return false;
}

static inline bool verify_stick(const double *W, const double *b, const double *r) {
    const Scale scale = scale_of(W, b);
    double u[3];
    velocity3(W, b, r, u);
    const double size = fabs(r[0]) + fabs(r[1]) + fabs(r[2]);
    return fabs(u[0]) + fabs(u[1]) + fabs(u[2]) <= TOLERANCE * (scale.trace * size + scale.b);
}

bool fil_local_contact3(const double *W, const double *b, double mu, double *r) {
    if (b[0] >= 0.0) {
        r[0] = r[1] = r[2] = 0.0;
        return true;
    }
    const Turned p = turn(W, b);
    // stick, by elimination in the turned axes
    const double x = p.c / (p.a + p.k * p.t0), y = p.t0 * x;
    const double rn = -(b[0] + p.we * x + p.wn * y) / p.w;
    if (x * sqrt(1.0 + p.t0 * p.t0) <= mu * rn) { // not squared: r may be of any size
        if (!(fmin(p.g, p.a + p.k * p.t0) > SINGULAR * (W[4] + W[8]))) {
            return false;
        }
        r[0] = rn;
        r[1] = p.ex * x + p.nx * y;
        r[2] = p.ey * x + p.ny * y;
        return verify_stick(W, b, r);
    }
    // where to start: the direction of the guess if it is on the arc, else a Newton step from e
    const double B = -mu * b[0];
    const double guess_e = r[1] * p.ex + r[2] * p.ey, guess_n = r[1] * p.nx + r[2] * p.ny;
    double t;
    if (guess_e > 0.0 && guess_n >= 0.0 && guess_n < p.t0 * guess_e) {
        t = guess_n / guess_e;
    } else {
        const double slope = p.c * (p.w + mu * p.we) - B * (p.a - p.g);
        t = slope * p.t0 > -B * p.m ? -B * p.m / slope : p.t0;
    }
    t = find_angle(&p, B, mu, t);
    const double unit = 1.0 / sqrt(1.0 + t * t);
    return finish_slide(W, b, mu, (p.ex + t * p.nx) * unit, (p.ey + t * p.ny) * unit, r);
}

// In the plane e = -c/|c| is the only direction that a slide can have.
bool fil_local_contact2(const double *W, const double *b, double mu, double *r) {
    if (b[0] >= 0.0) {
        r[0] = r[1] = 0.0;
        return true;
    }
    const double l = W[2] / W[0], S = W[3] - l * W[1], c = b[1] - l * b[0];
    const double x = -c / S, rn = -(b[0] + W[1] * x) / W[0];
    const bool stick = fabs(x) <= mu * rn;
    const double e = c > 0.0 ? -1.0 : 1.0;
    r[0] = stick ? rn : -b[0] / (W[0] + mu * W[1] * e);
    r[1] = stick ? x : mu * r[0] * e;
    const double u0 = W[0] * r[0] + W[1] * r[1] + b[0], u1 = W[2] * r[0] + W[3] * r[1] + b[1];
    const double limit =
        TOLERANCE * ((W[0] + W[3]) * (fabs(r[0]) + fabs(r[1])) + fabs(b[0]) + fabs(b[1]));
    const bool lawful = stick ? fabs(u1) <= limit && S > SINGULAR * W[3] : u1 * e <= limit;
    return fabs(u0) <= limit && lawful && r[0] >= 0.0;
}
