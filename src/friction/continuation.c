// continuation.c - a smooth path that ends in a solution.
//
// Why. Newton's method and fixed points both cycle on some problems of many stiff contacts with
// much friction, from wherever they start. What proves that a solution exists (Klarbring and Pang
// 1998) also tells how to find it: deform the problem into one that has exactly one solution, and
// follow that solution back. The path never ends on the way, but it may turn back for a while, and
// does: dozens of times where contacts wedge.
//
// The deformed problem. In units that make W_ii and b about 1, with a smoothing e and q about 1,
//
//     normal      u_N r_N = e^2, both positive (smoothed Fischer-Burmeister)
//     tangential  r_T sqrt(|u_T|^2 + s^2) + mu r_N u_T = 0,     s = (1 + mu) (q e + e^2)
//
// Where e is large there is next to no friction and a barrier: the one solution of a convex
// problem; e = 0 is the problem itself. s grows with mu, so that no contact is stiffer than others,
// and faster than e, because r_N grows as e does. The law is Coulomb's own, not its associated form
// after De Saxce's change, whose mu |u_T| drowns u_N where mu is large. A ball is smoothed as
// friction is, other laws take their smoothed Fischer-Burmeister function.
//
// The path. F(r, l) = 0 with e = exp(-l) is a curve in (r, l), followed by its arc length: steps
// are predicted along the tangent and corrected by Newton in the plane across (Keller 1977;
// Allgower and Georg 2003). The sign of det dF/dr tells which way is on: at small e the turns are
// hairpins, and a tangent that merely goes on as before takes the path back to its begin. Every now
// and then proximal Newton tries to finish: with the right contacts sticking and sliding it needs a
// few steps.
//
// Tried without gain: a compliance that falls with e (more turns), corrections to 1e-2 of the step
// (jumps to other branches), weights of arc length that make it slower in l.
//
// H. B. Keller, Numerical solution of bifurcation and nonlinear eigenvalue problems, 1977.
// E. L. Allgower, K. Georg, Introduction to numerical continuation methods, 2003.
// A. Klarbring, J.-S. Pang, Existence of solutions to discrete semicoercive frictional contact
// problems, 1998.
#include "continuation.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/timer.h"
#include "law.h"

enum {
    FIRST_STEPS = 60,
    CORRECTIONS = 6,
    FINISH_STEPS = 120,
    MAX_STEPS = 10000,
    MAX_WORK = 2000000
};

static const double BEGIN = -3.0, END = 30.0; // of l
static const double FIRST_FINISH = 4.0, BETWEEN_FINISHES = 2.5;
static const double LARGEST_MOVE = 2.0; // of l in one step
static const double CORRECTED = 1e-3;   // of the step
static const double SHORTEST_STEP = 1e-9;
static const double SHORT_STEP = 1e-6; // any turn is taken
static const double LEAST_COSINE = 0.9;

typedef struct Path {
    const FilSystem *s;
    const FilIslandTask *task;
    FilNewtonStep *step;
    FilJacobian J;
    double unit;     // of sqrt(rho) u and of r / sqrt(rho)
    double softness; // q
    double *r, l;    // present point
    double *t, tl;   // its tangent, of length 1
    double weight;   // of r against l in arc length
    int orientation; // sign of det dF/dr where l grows
    double *u, *F;
    double *Fl;        // dF/dl
    double *a, *v;     // Newton step at fixed l; how r moves with l
    double *corrected; // the next point
    double *best;      // of what finishes found
    double best_scaled;
    int iterations; // not yet counted in the result
    double seconds_factor;
} Path;

// --- the deformed law ----------------------------------------------------------------------------

typedef struct Smooth {
    double e;
    const double *u, *r; // in units that make W_ii and b about 1
    double *F, *Fu, *Fr;
    double *Fl; // dF/dl
} Smooth;

static void smooth_contact(int d, double mu, double softness, const Smooth *x) {
    const double *u = x->u, *r = x->r, e = x->e;
    const double root = sqrt(u[0] * u[0] + r[0] * r[0] + 2.0 * e * e);
    memset(x->Fu, 0, (size_t)(d * d) * sizeof(double));
    memset(x->Fr, 0, (size_t)(d * d) * sizeof(double));
    x->F[0] = u[0] > 0.0 && r[0] > 0.0 ? 2.0 * (u[0] * r[0] - e * e) / (u[0] + r[0] + root)
                                       : u[0] + r[0] - root;
    x->Fu[0] = 1.0 - u[0] / root;
    x->Fr[0] = 1.0 - r[0] / root;
    x->Fl[0] = 2.0 * e * e / root;
    const double s = (1.0 + mu) * (softness * e + e * e),
                 s_slope = (1.0 + mu) * (softness * e + 2.0 * e * e);
    double square = s * s;
    for (int k = 1; k < d; k++) {
        square += u[k] * u[k];
    }
    const double q = sqrt(square), over = 1.0 / (q + mu * fabs(r[0]));
    for (int k = 1; k < d; k++) {
        x->F[k] = (r[k] * q + mu * r[0] * u[k]) * over;
        x->Fl[k] = -r[k] * (s / q) * s_slope * over;
        x->Fr[d * k] = mu * u[k] * over;
        x->Fr[d * k + k] = q * over;
        for (int j = 1; j < d; j++) {
            x->Fu[d * k + j] = (r[k] * u[j] / q + (k == j ? mu * r[0] : 0.0)) * over;
        }
    }
}

// The tangential part of a contact, its radius given: r sqrt(|u|^2 + s^2) + radius u = 0.
static void smooth_ball(int d, double radius, double softness, const Smooth *x) {
    const double e = x->e, s = softness * e + e * e, s_slope = softness * e + 2.0 * e * e;
    double square = s * s;
    for (int k = 0; k < d; k++) {
        square += x->u[k] * x->u[k];
    }
    const double q = sqrt(square), over = 1.0 / (q + radius);
    for (int k = 0; k < d; k++) {
        x->F[k] = (x->r[k] * q + radius * x->u[k]) * over;
        x->Fl[k] = -x->r[k] * (s / q) * s_slope * over;
        for (int j = 0; j < d; j++) {
            x->Fr[d * k + j] = k == j ? q * over : 0.0;
            x->Fu[d * k + j] = (x->r[k] * x->u[j] / q + (k == j ? radius : 0.0)) * over;
        }
    }
}

static void smooth_other(FilBlockKind kind, int d, double mu, const Smooth *x) {
    const double change = 1e-4;
    double more[FIL_BLOCK_MAX], less[FIL_BLOCK_MAX];
    FilLawPoint at = {.kind = kind, .d = d, .mu = mu, .rho = 1.0, .u = x->u, .r = x->r};
    at.epsilon = x->e * (1.0 + change);
    fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, more, NULL, NULL);
    at.epsilon = x->e * (1.0 - change);
    fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, less, NULL, NULL);
    at.epsilon = x->e;
    fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, x->F, x->Fu, x->Fr);
    for (int k = 0; k < d; k++) {
        x->Fl[k] = 0.5 * (less[k] - more[k]) / change;
    }
}

// F, its Jacobian and dF/dl at (r, l). Returns |F|.
static double linearise(Path *x, const double *r, double l) {
    const FilSystem *s = x->s;
    double sum = 0.0;
    fil_system_velocity(s, r, x->u, x->task->threads);
    int at = 0;
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i), o = s->offset[i];
        const double root = sqrt(s->rho[i]), to_u = root / x->unit, to_r = 1.0 / (root * x->unit);
        double u[FIL_BLOCK_MAX] = {0.0}, v[FIL_BLOCK_MAX] = {0.0};
        for (int k = 0; k < d; k++) {
            u[k] = x->u[o + k] * to_u;
            v[k] = r[o + k] * to_r;
        }
        const Smooth point = {exp(-l), u, v, x->F + o, x->J.Fu + at, x->J.Fr + at, x->Fl + o};
        if (s->kind[i] == FIL_BLOCK_COULOMB) {
            smooth_contact(d, s->mu[i], x->softness, &point);
        } else if (s->kind[i] == FIL_BLOCK_BALL) {
            smooth_ball(d, s->mu[i] * to_r, x->softness, &point);
        } else {
            smooth_other(s->kind[i], d, s->mu[i], &point);
        }
        for (int k = 0; k < d * d; k++) {
            x->J.Fu[at + k] *= to_u;
            x->J.Fr[at + k] *= to_r;
        }
        for (int k = o; k < o + d; k++) {
            sum += x->F[k] * x->F[k];
        }
        x->J.active[i] = true;
        x->J.shift[i] = 0.0;
        at += d * d;
    }
    return sqrt(sum);
}

// --- arc length ----------------------------------------------------------------------------------

// Scalar product of impulses in units that make them about 1.
static double dot(const Path *x, const double *p, const double *q) {
    const FilSystem *s = x->s;
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        double part = 0.0;
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            part += (p[k] / x->unit) * (q[k] / x->unit);
        }
        sum += part / s->rho[i];
    }
    return sum;
}

// x->a = Newton step at fixed l, x->v = how r moves with l.
static bool solve_steps(Path *x) {
    const double begin = fil_seconds();
    x->iterations++;
    const bool found =
        fil_newton_step_solve(x->step, x->F, x->a) && fil_newton_step_again(x->step, x->Fl, x->v);
    x->seconds_factor += fil_seconds() - begin;
    fil_island_count(x->task, fil_newton_step_work(x->step) + fil_system_product_work(x->s));
    return found;
}

// A first guess: pushes of the size that the barrier asks for.
static void guess_begin(Path *x) {
    const FilSystem *s = x->s;
    x->l = BEGIN;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            const bool pushes = k == s->offset[i] || s->kind[i] == FIL_BLOCK_UNILATERAL;
            x->r[k] = pushes && s->kind[i] != FIL_BLOCK_FREE && s->kind[i] != FIL_BLOCK_BALL
                          ? exp(-BEGIN) * x->unit * sqrt(s->rho[i])
                          : 0.0;
        }
    }
}

// The point of the path at l = BEGIN, by damped Newton, and its tangent.
static bool find_begin(Path *x) {
    const int size = x->s->size;
    double *trial = x->corrected;
    guess_begin(x);
    double old = linearise(x, x->r, x->l);
    for (int count = 0; count < FIRST_STEPS && solve_steps(x); count++) {
        if (!fil_island_report(x->task, "continuation", x->iterations, INFINITY)) {
            return false;
        }
        const double length = dot(x, x->a, x->a), whole = dot(x, x->r, x->r);
        if (length <= 1e-12 * whole) {
            return true;
        }
        double new = INFINITY, factor = 2.0;
        while (!(new <= (1.0 - 0.1 * factor) * old) && factor > 1e-3) {
            factor *= 0.5;
            for (int k = 0; k < size; k++) {
                trial[k] = x->r[k] + factor * x->a[k];
            }
            new = linearise(x, trial, x->l);
        }
        memcpy(x->r, trial, (size_t)size * sizeof *trial);
        old = new;
    }
    return false;
}

static void set_weight(Path *x) {
    x->weight = 1.0 / (1.0 + dot(x, x->r, x->r) / x->s->size);
}

// The first tangent: towards larger l.
static void start(Path *x) {
    set_weight(x);
    x->orientation = fil_newton_step_sign(x->step);
    const double length = sqrt(1.0 + x->weight * dot(x, x->v, x->v));
    for (int k = 0; k < x->s->size; k++) {
        x->t[k] = x->v[k] / length;
    }
    x->tl = 1.0 / length;
}

// The tangent from x->v and the sign of the determinant; false, and the old one left, where its
// cosine with that is below `least`.
static bool turn(Path *x, double least) {
    const int sign = fil_newton_step_sign(x->step);
    const double length = sqrt(1.0 + x->weight * dot(x, x->v, x->v));
    const double along = (x->weight * dot(x, x->v, x->t) + x->tl) / length;
    const double old = sqrt(x->tl * x->tl + x->weight * dot(x, x->t, x->t));
    const bool back = sign == 0 ? along < 0.0 : sign != x->orientation;
    const double cosine = (back ? -along : along) / old;
    if (!(cosine >= least)) {
        return false;
    }
    for (int k = 0; k < x->s->size; k++) {
        x->t[k] = x->v[k] / (back ? -length : length);
    }
    x->tl = 1.0 / (back ? -length : length);
    return true;
}

// One step of arc length ds, corrected; false when it was too long. `count`: of corrections.
static bool correct(Path *x, double ds, double *l, int *count) {
    const int size = x->s->size;
    double *r = x->corrected, previous = INFINITY;
    for (int k = 0; k < size; k++) {
        r[k] = x->r[k] + ds * x->t[k];
    }
    *l = x->l + ds * x->tl;
    const double first_l = *l, first_r = dot(x, x->t, r);
    for (*count = 0; *count < CORRECTIONS; (*count)++) {
        (void)linearise(x, r, *l);
        if (!solve_steps(x)) {
            return false;
        }
        // across the tangent: the point stays in the plane of the predicted one
        const double off = x->tl * (*l - first_l) + x->weight * (dot(x, x->t, r) - first_r);
        const double dl =
            -(off + x->weight * dot(x, x->t, x->a)) / (x->tl + x->weight * dot(x, x->t, x->v));
        for (int k = 0; k < size; k++) {
            x->a[k] += dl * x->v[k];
            r[k] += x->a[k];
        }
        *l += dl;
        const double length = sqrt(x->weight * dot(x, x->a, x->a) + dl * dl);
        if (!(length <= 0.5 * ds) || length > 0.5 * previous) {
            return false;
        }
        previous = length;
        if (length <= CORRECTED * ds || length <= 1e-9) {
            return true;
        }
    }
    return false;
}

// --- the path ------------------------------------------------------------------------------------

// How steps along the path end.
typedef enum End { END_SOLVED, END_LOST, END_LIMIT } End;

// Proximal Newton from the present point. The best that it finds is kept.
static bool try_finish(Path *x, FilProximal *finish, FilIslandResult *result) {
    double scaled;
    memcpy(x->corrected, x->r, (size_t)x->s->size * sizeof *x->r);
    result->iterations += x->iterations;
    x->iterations = 0;
    fil_proximal_run(finish, 1.0, FINISH_STEPS, x->corrected, result);
    fil_system_velocity(x->s, x->corrected, x->u, x->task->threads);
    const bool solved = fil_island_is_solved(x->s, x->task, x->u, x->corrected, &scaled);
    if (solved || scaled < x->best_scaled) {
        x->best_scaled = scaled;
        memcpy(x->best, x->corrected, (size_t)x->s->size * sizeof *x->r);
    }
    return solved;
}

// From the begin to a solution, or until `last` iterations are reached or no step is short enough.
static End follow(Path *x, FilProximal *finish, int last, FilIslandResult *result) {
    const int size = x->s->size;
    double ds = 0.1, next_finish = FIRST_FINISH;
    while (result->iterations + x->iterations < last) {
        double l;
        int count;
        if (!fil_island_report(x->task, "continuation", result->iterations + x->iterations,
                               x->best_scaled)) {
            return END_LIMIT;
        }
        if (!correct(x, ds, &l, &count) || !turn(x, ds > SHORT_STEP ? LEAST_COSINE : -1.0)) {
            ds *= 0.35;
            if (ds < SHORTEST_STEP) {
                return END_LOST;
            }
            continue;
        }
        x->l = l;
        memcpy(x->r, x->corrected, (size_t)size * sizeof *x->r);
        set_weight(x);
        ds *= count <= 2 ? 2.0 : count <= 3 ? 1.3 : 0.8;
        ds = fmin(ds, LARGEST_MOVE / fmax(fabs(x->tl), 1e-3));
        if (x->l < BEGIN - 1.0 || x->l > END) {
            return END_LOST;
        }
        if (x->l > next_finish) {
            if (try_finish(x, finish, result)) {
                return END_SOLVED;
            }
            next_finish = x->l + BETWEEN_FINISHES;
        }
    }
    return END_LIMIT;
}

static double find_unit(const FilSystem *s) {
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            sum += s->rho[i] * s->b[k] * s->b[k];
        }
    }
    return sum > 0.0 ? sqrt(sum / s->size) : 1.0;
}

FilStatus fil_continuation_solve(const FilSystem *s, const FilIslandTask *task, FilProximal *finish,
                                 double *r, FilIslandResult *result) {
    FilArena *arena = task->arena;
    Path x = {.s = s,
              .task = task,
              .step = fil_proximal_step(finish),
              .unit = find_unit(s),
              .best_scaled = INFINITY,
              .r = FIL_NEW(arena, double, s->size),
              .u = FIL_NEW(arena, double, s->size),
              .F = FIL_NEW(arena, double, s->size),
              .Fl = FIL_NEW(arena, double, s->size),
              .corrected = FIL_NEW(arena, double, s->size),
              .best = FIL_NEW(arena, double, s->size),
              .a = FIL_NEW(arena, double, s->size),
              .v = FIL_NEW(arena, double, s->size),
              .t = FIL_NEW(arena, double, s->size)};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    x.J = fil_newton_step_jacobian(x.step);
    static const double softness[] = {1.0, 0.3}; // where one path is lost another may not be
    const int asked = task->settings->max_iterations;
    int last = result->iterations +
               (s->n > MAX_WORK / MAX_STEPS ? MAX_WORK / s->n : MAX_STEPS); // of all paths
    last = asked > 0 && asked < last ? asked : last;
    End end = END_LOST;
    for (int k = 0; k < 2 && end == END_LOST && !*task->stop && !fil_island_is_spent(task); k++) {
        x.softness = softness[k];
        if (find_begin(&x)) {
            start(&x);
            end = follow(&x, finish, last, result);
        }
    }
    if (end == END_LOST && (*task->stop || fil_island_is_spent(task))) {
        end = END_LIMIT;
    }
    if (isfinite(x.best_scaled)) {
        memcpy(r, x.best, (size_t)s->size * sizeof *r);
    }
    result->outcome = end == END_SOLVED ? FIL_CONVERGED : end == END_LOST ? FIL_STALLED : FIL_LIMIT;
    result->iterations += x.iterations;
    result->seconds_factor += x.seconds_factor;
    return FIL_OK;
}
