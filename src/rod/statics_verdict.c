// statics_verdict.c - whether an equilibrium is stable.
//
// A rod that moves slowly against its own internal damping, proportional to its stiffness, obeys
// B x' = -J x about an equilibrium: it comes back when all eigenvalues of the pencil (J, B), on the
// directions that its ends leave free, have positive real parts. That is the verdict, for all loads
// and in all models. Without torques J is the Hessian H, and it says whether the energy is at a
// minimum. A dead torque makes J unsymmetric; complex eigenvalues whose real part is negative are
// flutter: the rod leaves the equilibrium, turning around it, with no other one to go to. (Inertia
// is not asked: without damping a dead torque makes a rod flutter however small it is, Nicolai
// 1928.)
//
// How stiff. Under a dead torque at its tip a clamped rod of any shape has one equilibrium alone: J
// - B is a Volterra operator, all eigenvalues are 1, and they say nothing about how far the rod is
// from being moved by nothing. The smallest singular value of J in the measure of B does: the force
// that the softest motion takes, relative to its elastic one. It is the smallest eigenvalue where J
// is symmetric and positive.
//
// Where H is known to be positive definite, its smallest eigenvalue is found by inverse iteration
// with the factor that is there; otherwise by Arnoldi's method with P B^-1 (J - B), which is
// compact; the singular value by inverse iteration with J^-1 B J^-T B. An eigenvalue that is not
// above what round-off in H may make of 0 is 0.
#include "statics.h"

#include <float.h>
#include <string.h>

#include "base/random.h"
#include "math/arnoldi.h"
#include "math/vector.h"

static const double neutral = -1e-7; // an eigenvalue that round-off may make of 0
static const double at_rest = 1e-6;  // residual of what may be called an equilibrium

enum { MAX_INVERSE = 300, BASIS = 80 };

static int basis_of(int n) {
    return n < BASIS ? n + 1 : BASIS;
}

int fil_statics_judge_room(int n) {
    return (int)FIL_ARNOLDI_WORK(n, basis_of(n));
}

void fil_statics_place_random(int n, double *x) {
    FilRandom random = fil_random_make(1);
    for (int i = 0; i < n; i++) {
        x[i] = fil_random_uniform(&random, -1.0, 1.0);
    }
}

// What round-off in H can make of an eigenvalue with the eigenvector x.
static double doubt(const FilStatics *s, double bb) {
    double sum = 0.0;
    int n = s->n;
    for (int i = 0; i < n; i++) {
        const double *h = s->H + (size_t)i * (size_t)n;
        double part = fabs(h[i] * s->eigen[i]);
        for (int j = 0; j < i; j++) {
            part += 2.0 * fabs(h[j] * s->eigen[j]);
        }
        sum += part * fabs(s->eigen[i]);
    }
    return 32.0 * DBL_EPSILON * sum / bb;
}

// Smallest eigenvalue of (H, B) by inverse iteration.
static void iterate_inverse(FilStatics *s) {
    int n = s->n;
    double last = 0.0, bb = 0.0;
    fil_statics_place_random(n, s->eigen);
    for (int k = 0; k < MAX_INVERSE; k++) {
        fil_statics_solve(s, s->eigen);
        fil_statics_multiply(n, s->H, s->eigen, s->product);
        double hh = fil_dot(s->eigen, s->product, n);
        fil_statics_multiply(n, s->B, s->eigen, s->product);
        bb = fil_dot(s->eigen, s->product, n);
        if (!(bb > 0.0)) {
            s->eigenvalue = 1.0;
            return;
        }
        s->eigenvalue = hh / bb;
        if (k > 3 && fabs(s->eigenvalue - last) <= 1e-10 * (fabs(last) + s->sigma)) {
            break;
        }
        last = s->eigenvalue;
        for (int i = 0; i < n; i++) { // the next right-hand side, unless this is the last vector
            s->eigen[i] = k + 1 < MAX_INVERSE ? s->product[i] / sqrt(bb) : s->eigen[i];
        }
    }
    if (fabs(s->eigenvalue) <= doubt(s, bb)) {
        s->eigenvalue = 0.0;
    }
}

// P B^-1 (J - B) x, and B x.
static void apply(void *user, const double *x, double *y) {
    FilStatics *s = user;
    int n = s->n;
    const double *J = s->circulates ? s->J : s->H;
    for (int i = 0; i < n; i++) {
        const double *j = J + (size_t)i * (size_t)n, *b = s->B + (size_t)i * (size_t)n;
        double sum = 0.0;
        for (int k = 0; k < n; k++) {
            sum += (j[k] - b[k]) * x[k];
        }
        y[i] = sum;
    }
    fil_statics_solve_measure(s, y);
}

static void measure(void *user, const double *x, double *y) {
    FilStatics *s = user;
    fil_statics_multiply(s->n, s->B, x, y);
}

// Leftmost eigenvalue of (J, B). The operator smoothes: applied twice it takes out of the random
// start what only round-off would amplify.
static void iterate_arnoldi(FilStatics *s) {
    FilOperator T = {.n = s->n, .user = s, .apply = apply, .measure = measure};
    fil_statics_place_random(s->n, s->eigen);
    fil_statics_solve_measure(s, s->eigen);
    apply(s, s->eigen, s->product);
    apply(s, s->product, s->eigen);
    FilLeftmost left = fil_arnoldi_leftmost(&T, basis_of(s->n), 1e-9, s->eigen, s->arnoldi);
    s->eigenvalue = left.found ? fmin(1.0, 1.0 + left.real) : 1.0;
    s->flutters = s->circulates && left.found && left.imaginary > 0.0;
    if (!left.found || left.imaginary > 0.0 || left.real > 0.0) {
        return;
    }
    // a motion as a whole is known better than the operator, which has B^-1 in it
    fil_statics_multiply(s->n, s->B, s->eigen, s->product);
    double bb = fil_dot(s->eigen, s->product, s->n);
    fil_statics_multiply(s->n, s->H, s->eigen, s->product);
    s->eigenvalue = fil_dot(s->eigen, s->product, s->n) / bb;
    if (fabs(s->eigenvalue) <= doubt(s, bb)) {
        s->eigenvalue = 0.0;
    }
}

// Smallest singular value of J in the measure of B.
static double find_softest(FilStatics *s) {
    int n = s->n;
    double *x = s->product, last = 0.0, value = 1.0, *y = s->work;
    fil_statics_factor_circulating(s, FIL_STATICS_SHIFT);
    fil_statics_place_random(n, y);
    for (int k = 0; k < 2 * MAX_INVERSE; k++) {
        fil_statics_solve_circulating(s, k % 2 == 1, y);
        fil_statics_multiply(n, s->B, y, x);
        double size = sqrt(fil_dot(x, y, n));
        if (!(size > 0.0)) {
            return 1.0;
        }
        value = 1.0 / size;
        for (int i = 0; i < n; i++) {
            y[i] = x[i] / size;
        }
        if (k > 5 && fabs(value - last) <= 1e-10 * value) {
            break;
        }
        last = value;
    }
    return value;
}

static void find_eigenvalue(FilStatics *s) {
    s->eigenvalue = 1.0; // where no direction is free
    if (s->n == s->space.held) {
        return;
    }
    // round-off may ask for a little more than the least shift; the eigenvector hardly feels it
    double shift = FIL_STATICS_SHIFT;
    for (int k = 0; k < 5 && !s->circulates; k++) {
        if (fil_statics_factor(s, shift) && s->definite) {
            iterate_inverse(s);
            return;
        }
        shift *= 10.0;
    }
    iterate_arnoldi(s);
    if (s->circulates && s->eigenvalue > 0.0) {
        s->eigenvalue = fmin(find_softest(s), fmax(1.0, s->eigenvalue));
    }
}

// What costs nothing is left out and known to be 0.
void fil_statics_judge(FilStatics *s) {
    s->flutters = false;
    fil_statics_leave_zero(s);
    find_eigenvalue(s);
    if (s->zero_count > 0) {
        s->eigenvalue = fmin(s->eigenvalue, 0.0);
    }
}

bool fil_statics_rests(const FilStatics *s, double tolerance) {
    return s->factored && s->residual <= fmax(at_rest, tolerance);
}

bool fil_statics_is_stable(const FilStatics *s, double tolerance) {
    return fil_statics_rests(s, tolerance) && s->eigenvalue >= neutral;
}
