// statics.c - the equilibrium of a rod and its stability, for every model.
//
// A stable equilibrium is a minimum of the potential energy E subject to the ends being held, c =
// 0. With g the gradient, H the Hessian, C the rows that hold the ends and B the elastic stiffness
// of the model, one step of Newton's method is
//     (H + sigma D) dx + C^T lambda = -g,    C dx = -c.
// 1. sigma is 0 where H is positive definite on the directions with C dx = 0; otherwise it is
//    raised until H + sigma D is. rho C^T C is added on the left (and -rho C^T c on the right),
//    which changes nothing in the solution and makes "positive definite on those directions"
//    visible to Cholesky. D is the elastic stiffness of a rod that stretches easily: a compressed
//    rod of stiff stretch needs a large sigma against bending, which must not keep it from becoming
//    longer. To D is added a little of the mass matrix, against motions that cost no energy.
// 2. The step is cut to one radian of bending and as much as is in the shape already: dx^T B dx <=
//    EI / L + 2 E_elastic. Such steps are taken in full at first, which brings stiffly stretched
//    rods home in a few; searching from the start took hundreds. Later ones are halved while the
//    slope of the Lagrangian along dx has turned from downhill to steeply uphill. Only slopes are
//    compared, never energies, so that torques, which have no energy, are treated as well.
// 3. At a point with g = 0 where H has a negative eigenvalue the rod leaves along the eigenvector
// of
//    the smallest eigenvalue of the pencil (H, B), found by inverse iteration with the same factor.
//    A straight rod whose ends should come closer has no step either: it is bent to one side.
// The residual is sqrt(g^T B^-1 g / (2 E_elastic + EI / L)): the part of the forces that is not
// balanced, in the measure of the rod's own stiffness, relative to those in it and at least to
// those that bend the rod by one radian.
#include "rod.h"

#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "math/cholesky.h"
#include "math/vector.h"

typedef struct Statics {
    FilRod *rod;
    int n, m;
    double *H, *B, *D, *factor, *B_factor; // [n][n]
    int *first, *B_first;                  // [n]
    double *g, *dx, *eigen, *work;         // [n]
    double *C, *Y;                         // [m][n]: rows, (H + sigma D)^-1 C^T
    double *saved, *best;                  // [state_count]
    FilRodLoad *loads;                     // [load_count + 2]
    double c[FIL_ROD_ROWS], lambda[FIL_ROD_ROWS];
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS]; // C (H + sigma D)^-1 C^T
    double sigma, rho, unit;               // unit: EI / L
    double eigenvalue, residual, best_residual;
    bool search; // steps are no longer taken in full
} Statics;

enum { MAX_SHIFTS = 60, MAX_INVERSE = 300, MAX_HALVINGS = 30, FULL_STEPS = 25 };
static const double slope_limit = 0.5;
static const double stuck = 1e-24; // (radians)^2
static const double softer = 0x1p-10;
static const double neutral = -1e-7; // an eigenvalue that round-off may make of 0
static const double at_rest = 1e-6;  // residual of what may be called an equilibrium

static double *row_of(double *matrix, int i, int n) {
    return matrix + (size_t)i * (size_t)n;
}

// --- setting up ----------------------------------------------------------------------------------

static bool allocate(Statics *s, FilArena *arena) {
    size_t n = (size_t)s->n, m = (size_t)s->m;
    s->H = FIL_NEW(arena, double, n *n + 1);
    s->B = FIL_NEW(arena, double, n *n + 1);
    s->D = FIL_NEW(arena, double, n *n + 1);
    s->factor = FIL_NEW(arena, double, n *n + 1);
    s->B_factor = FIL_NEW(arena, double, n *n + 1);
    s->first = FIL_NEW(arena, int, n + 1);
    s->B_first = FIL_NEW(arena, int, n + 1);
    s->g = FIL_NEW(arena, double, n + 1);
    s->dx = FIL_NEW(arena, double, n + 1);
    s->eigen = FIL_NEW(arena, double, n + 1);
    s->work = FIL_NEW(arena, double, n + 1);
    s->C = FIL_NEW(arena, double, m *n + 1);
    s->Y = FIL_NEW(arena, double, m *n + 1);
    s->saved = FIL_NEW(arena, double, s->rod->state_count);
    s->best = FIL_NEW(arena, double, s->rod->state_count);
    s->loads = FIL_NEW(arena, FilRodLoad, s->rod->load_count + 2);
    return !arena->failed;
}

// EI / L of the softest section.
static double bending_unit(const FilRod *rod) {
    double least = rod->sections[0].kappa[1];
    for (int i = 0; i < rod->element_count; i++) {
        least = fmin(least, fmin(rod->sections[i].kappa[1], rod->sections[i].kappa[2]));
    }
    return least / rod->state[1];
}

// The elastic stiffness, positive definite: motions without resistance get a little of it.
static void place_elastic(Statics *s, double *matrix) {
    s->rod->table->stiffness(s->rod, matrix);
    for (int i = 0; i < s->n; i++) {
        double *diagonal = &row_of(matrix, i, s->n)[i];
        *diagonal = *diagonal > 0.0 ? *diagonal * (1.0 + 1e-9) : s->unit;
    }
}

static void place_stiffness(Statics *s) {
    place_elastic(s, s->B);
    memcpy(s->B_factor, s->B, sizeof(double) * (size_t)s->n * (size_t)s->n);
    fil_cholesky_factor(s->n, s->B_factor, s->B_first, 0.0);
}

static void scale_stretch(FilRod *rod, double factor) {
    for (int i = 0; i < rod->element_count; i++) {
        rod->sections[i].stretch *= factor;
    }
    rod->table->refresh(rod);
}

// D: B of the same rod with less resistance to stretch, and with some against motions as a whole.
static void place_shift(Statics *s) {
    FilRod *rod = s->rod;
    scale_stretch(rod, softer);
    place_elastic(s, s->D);
    scale_stretch(rod, 1.0 / softer);
    if (rod->table->mass == NULL) {
        return;
    }
    double mass = 0.0, length = rod->state[1];
    for (int i = 0; i < rod->element_count; i++) {
        mass += rod->sections[i].mass * rod->lengths[i];
    }
    rod->table->mass(rod, s->factor);
    for (int i = 0; i < s->n * s->n; i++) {
        s->D[i] += s->unit / (mass * length * length) * s->factor[i];
    }
}

static void place_rows(Statics *s) {
    if (s->m == 0) {
        return;
    }
    s->rod->table->end_rows(s->rod, s->rod->state[0], s->C, s->c);
    double stiffest = 0.0, longest = 0.0;
    for (int i = 0; i < s->n; i++) {
        stiffest = fmax(stiffest, row_of(s->B, i, s->n)[i]);
    }
    for (int k = 0; k < s->m; k++) {
        const double *row = row_of(s->C, k, s->n);
        longest = fmax(longest, fil_dot(row, row, s->n));
    }
    s->rho = longest > 0.0 ? 1e3 * stiffest * (double)s->n / longest : 0.0;
}

static double elastic_energy(const FilRod *rod) {
    FilRodEnergy energy;
    fil_rod_energy(rod, &energy);
    return fabs(energy.bend) + fabs(energy.twist) + fabs(energy.stretch);
}

// H, with the forces that hold the ends put on the rod as loads for as long as it takes.
static void place_hessian(Statics *s, double *H) {
    FilRod *rod = s->rod;
    FilRodLoad *loads = rod->loads;
    int count = rod->load_count;
    if (s->m > 0) {
        memcpy(s->loads, loads, sizeof(FilRodLoad) * (size_t)count);
        rod->loads = s->loads;
        rod->load_count += fil_rod_row_loads(rod, rod->state[0], s->lambda, s->loads + count);
    }
    rod->table->hessian(rod, H);
    rod->loads = loads;
    rod->load_count = count;
}

// H + rho C^T C.
static void hold_rows(Statics *s) {
    int n = s->n;
    for (int k = 0; k < s->m; k++) {
        const double *row = row_of(s->C, k, n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; row[i] != 0.0 && j <= i; j++) {
                row_of(s->H, i, n)[j] += s->rho * row[i] * row[j];
            }
        }
    }
}

// --- one linear system ---------------------------------------------------------------------------

// Factor H + sigma D with the smallest sigma that is tried; false when none will do.
static bool factor_shifted(Statics *s) {
    int n = s->n;
    s->sigma = 0.0;
    for (int attempt = 0; attempt < MAX_SHIFTS; attempt++) {
        for (int i = 0; i < n; i++) {
            const double *h = row_of(s->H, i, n), *d = row_of(s->D, i, n);
            double *out = row_of(s->factor, i, n);
            for (int j = 0; j <= i; j++) {
                out[j] = h[j] + s->sigma * d[j];
            }
        }
        if (fil_cholesky_factor(n, s->factor, s->first, 1e-14) == 0) {
            return true;
        }
        if (attempt == 0) {
            place_shift(s);
        }
        s->sigma = s->sigma > 0.0 ? 2.0 * s->sigma : 1e-6;
    }
    return false;
}

static void place_schur(Statics *s) {
    for (int k = 0; k < s->m; k++) {
        double *y = row_of(s->Y, k, s->n);
        memcpy(y, row_of(s->C, k, s->n), sizeof(double) * (size_t)s->n);
        fil_cholesky_solve(s->n, s->factor, s->first, y);
    }
    for (int k = 0; k < s->m; k++) {
        for (int l = 0; l < s->m; l++) {
            s->S[s->m * k + l] = fil_dot(row_of(s->C, k, s->n), row_of(s->Y, l, s->n), s->n);
        }
    }
}

// x <- the solution of (H + sigma D) x + C^T lambda = x, C x = -error (NULL: 0); lambda is kept.
static void solve_held(Statics *s, double *x, const double *error) {
    fil_cholesky_solve(s->n, s->factor, s->first, x);
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS];
    memcpy(S, s->S, sizeof S);
    for (int k = 0; k < s->m; k++) {
        s->lambda[k] = fil_dot(row_of(s->C, k, s->n), x, s->n) + (error != NULL ? error[k] : 0.0);
    }
    fil_rod_solve_rows(s->m, S, s->lambda);
    for (int k = 0; k < s->m; k++) {
        const double *y = row_of(s->Y, k, s->n);
        for (int i = 0; i < s->n; i++) {
            x[i] -= s->lambda[k] * y[i];
        }
    }
}

static double held_error(const Statics *s) {
    double worst = 0.0;
    for (int k = 0; k < s->m; k++) {
        worst = fmax(worst, fabs(s->c[k]));
    }
    return worst;
}

// The multipliers that balance g best in the measure of B, and the residual with them.
static void measure(Statics *s) {
    int n = s->n;
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS];
    for (int k = 0; k < s->m; k++) {
        double *y = row_of(s->Y, k, n);
        memcpy(y, row_of(s->C, k, n), sizeof(double) * (size_t)n);
        fil_cholesky_lower(n, s->B_factor, s->B_first, y);
    }
    memcpy(s->work, s->g, sizeof(double) * (size_t)n);
    fil_cholesky_lower(n, s->B_factor, s->B_first, s->work);
    for (int k = 0; k < s->m; k++) {
        for (int l = 0; l < s->m; l++) {
            S[s->m * k + l] = fil_dot(row_of(s->Y, k, n), row_of(s->Y, l, n), n);
        }
        s->lambda[k] = -fil_dot(row_of(s->Y, k, n), s->work, n);
    }
    fil_rod_solve_rows(s->m, S, s->lambda);
    for (int k = 0; k < s->m; k++) {
        const double *y = row_of(s->Y, k, n);
        for (int i = 0; i < n; i++) {
            s->work[i] += s->lambda[k] * y[i];
        }
    }
    double scale = 2.0 * elastic_energy(s->rod) + s->unit;
    s->residual =
        sqrt(fil_dot(s->work, s->work, n) / scale) + held_error(s) / fmax(1.0, s->rod->state[1]);
}

static void place_random(int n, double *x) {
    FilRandom random = fil_random_make(1);
    for (int i = 0; i < n; i++) {
        x[i] = fil_random_uniform(&random, -1.0, 1.0);
    }
}

// Smallest eigenvalue of (H, B) on the directions with C x = 0, by inverse iteration; factor and
// Schur complement are in place.
static void find_eigenvalue(Statics *s) {
    int n = s->n;
    place_random(n, s->eigen);
    double last = 0.0;
    for (int k = 0; k < MAX_INVERSE; k++) {
        solve_held(s, s->eigen, NULL);
        double bb = 0.0, hh = 0.0;
        for (int i = 0; i < n; i++) { // symmetric products from the lower triangle
            const double *h = row_of(s->H, i, n), *b = row_of(s->B, i, n);
            double x = s->eigen[i];
            double hx = 2.0 * fil_dot(h, s->eigen, i) + h[i] * x;
            double bx = 2.0 * fil_dot(b, s->eigen, i) + b[i] * x;
            hh += x * hx;
            bb += x * bx;
        }
        s->eigenvalue = hh / bb;
        if (k > 3 && fabs(s->eigenvalue - last) <= 1e-10 * (fabs(last) + s->sigma)) {
            break;
        }
        last = s->eigenvalue;
        memset(s->work, 0, sizeof(double) * (size_t)n);
        for (int i = 0; i < n; i++) { // work = B x / |x|_B
            const double *b = row_of(s->B, i, n);
            for (int j = 0; j < i; j++) {
                s->work[j] += b[j] * s->eigen[i];
                s->work[i] += b[j] * s->eigen[j];
            }
            s->work[i] += b[i] * s->eigen[i];
        }
        double scale = 1.0 / sqrt(bb);
        for (int i = 0; i < n; i++) {
            s->eigen[i] = s->work[i] * scale;
        }
    }
}

// --- moving --------------------------------------------------------------------------------------

// Slope of the Lagrangian along dx at the present shape.
static double slope(Statics *s) {
    s->rod->table->gradient(s->rod, s->work);
    double sum = fil_dot(s->work, s->dx, s->n);
    if (s->m > 0) {
        s->rod->table->end_rows(s->rod, s->rod->state[0], s->Y, s->c);
        for (int k = 0; k < s->m; k++) {
            sum += s->lambda[k] * fil_dot(row_of(s->Y, k, s->n), s->dx, s->n);
        }
    }
    return sum;
}

static double stiffness_product(const Statics *s, const double *x) {
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        const double *b = s->B + (size_t)i * (size_t)s->n;
        sum += x[i] * (2.0 * fil_dot(b, x, i) + b[i] * x[i]);
    }
    return sum;
}

static void restore(Statics *s, const double *state) {
    memcpy(s->rod->state, state, sizeof(double) * (size_t)s->rod->state_count);
    s->rod->table->refresh(s->rod);
}

// Move along dx, cut to about one radian, and halved while it goes too far uphill; coming much
// closer to where the ends are held is worth going uphill for.
static void move(Statics *s, bool search) {
    double size = stiffness_product(s, s->dx) / (s->unit + 2.0 * elastic_energy(s->rod));
    double factor = size > 1.0 ? 1.0 / sqrt(size) : 1.0;
    for (int i = 0; i < s->n; i++) {
        s->dx[i] *= factor;
    }
    double gap = held_error(s);
    double before = fabs(slope(s));
    fil_rod_get_state(s->rod, s->saved);
    for (int k = 0; k < MAX_HALVINGS; k++) {
        s->rod->table->move(s->rod, s->dx);
        double after = slope(s);
        bool closer = gap > 1e-8 * s->rod->state[1] && held_error(s) <= (1.0 - 0.5 * factor) * gap;
        if (fil_all_finite(s->rod->state, s->rod->state_count) &&
            (!search || after <= slope_limit * before || closer)) {
            return;
        }
        restore(s, s->saved);
        for (int i = 0; i < s->n; i++) {
            s->dx[i] *= 0.5;
        }
        before *= 0.5;
        factor *= 0.5;
    }
}

// dx: a tenth of a radian along x.
static void choose_direction(Statics *s, const double *x) {
    double scale = 0.1 * sqrt(s->unit / stiffness_product(s, x));
    for (int i = 0; i < s->n; i++) {
        s->dx[i] = scale * x[i];
    }
}

// dx: the way out of a saddle, along the eigenvector.
static void leave_saddle(Statics *s) {
    choose_direction(s, s->eigen);
    measure(s); // the multipliers again
}

// dx: to the side, as random forces would bend the rod, for a straight one whose ends should come
// closer.
static void leave_line(Statics *s) {
    place_random(s->n, s->eigen);
    fil_cholesky_solve(s->n, s->B_factor, s->B_first, s->eigen);
    choose_direction(s, s->eigen);
}

// dx: Newton's step.
static void choose_newton(Statics *s) {
    for (int i = 0; i < s->n; i++) {
        s->dx[i] = -s->g[i];
    }
    for (int k = 0; k < s->m; k++) {
        const double *row = row_of(s->C, k, s->n);
        for (int i = 0; i < s->n; i++) {
            s->dx[i] -= s->rho * s->c[k] * row[i];
        }
    }
    solve_held(s, s->dx, s->c);
}

static void find_residual(Statics *s) {
    place_stiffness(s);
    place_rows(s);
    s->rod->table->gradient(s->rod, s->g);
    measure(s);
}

// All there is to know at the present shape.
static bool look(Statics *s) {
    find_residual(s);
    place_hessian(s, s->H);
    hold_rows(s);
    return factor_shifted(s);
}

// --- the questions -------------------------------------------------------------------------------

FilStaticsSettings fil_statics_settings_default(void) {
    return (FilStaticsSettings){.tolerance = 1e-10, .max_iterations = 500};
}

static FilStatus start(Statics *s, FilRod *rod, FilArena *arena, FilError *error) {
    *s = (Statics){.rod = rod, .n = rod->dof_count, .m = rod->row_count};
    s->unit = bending_unit(rod);
    if (!allocate(s, arena)) {
        return fil_fail(error, FIL_E_NO_MEMORY,
                        "there is no memory for the statics of %d degrees of freedom", s->n);
    }
    return FIL_OK;
}

// Full steps first; when they have not arrived, the best shape among them is where the search
// starts.
static bool look_at(Statics *s, int iteration) {
    bool factored = look(s);
    if (s->search) {
        return factored;
    }
    s->search = iteration == FULL_STEPS;
    if (iteration == 0 || s->residual < s->best_residual) {
        s->best_residual = s->residual;
        fil_rod_get_state(s->rod, s->best);
    } else if (s->search) {
        restore(s, s->best);
        factored = look(s);
    }
    return factored;
}

static void iterate(Statics *s, const FilStaticsSettings *settings, FilStaticsInfo *info) {
    for (info->iterations = 0;; info->iterations++) {
        bool factored = look_at(s, info->iterations);
        place_schur(s);
        bool last = !factored || info->iterations >= settings->max_iterations;
        if (last || s->residual <= settings->tolerance) {
            find_eigenvalue(s);
            info->stable = factored && s->eigenvalue >= neutral;
            info->converged = info->stable && s->residual <= settings->tolerance;
            if (last || info->converged) {
                break;
            }
            leave_saddle(s);
            move(s, false);
            s->search = true;
        } else {
            choose_newton(s);
            if (stiffness_product(s, s->dx) <= stuck * s->unit) {
                leave_line(s);
            }
            move(s, s->search);
        }
    }
    info->residual = s->residual;
    info->smallest_eigenvalue = s->eigenvalue;
    FilRodEnergy energy;
    fil_rod_energy(s->rod, &energy);
    info->energy = energy.bend + energy.twist + energy.stretch + energy.gravity + energy.loads;
}

FilStatus fil_rod_equilibrium(FilRod *rod, const FilStaticsSettings *settings, FilStaticsInfo *info,
                              FilError *error) {
    FilStaticsSettings defaults = fil_statics_settings_default();
    const FilStaticsSettings *used = settings != NULL ? settings : &defaults;
    if (!(used->tolerance > 0.0 && isfinite(used->tolerance)) || used->max_iterations < 0) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "tolerance is %g and max_iterations is %d; they must be positive and "
                        "at least 0",
                        used->tolerance, used->max_iterations);
    }
    FilArena arena = fil_arena_make(&rod->arena.allocator);
    Statics s;
    FilStatus status = start(&s, rod, &arena, error);
    if (status == FIL_OK) {
        FilStaticsInfo unused = {0};
        FilStaticsInfo *result = info != NULL ? info : &unused;
        *result = (FilStaticsInfo){0};
        rod->table->stop(rod);
        iterate(&s, used, result);
    }
    fil_arena_destroy(&arena);
    return status;
}

FilStatus fil_rod_stability(FilRod *rod, FilStability *stability, FilError *error) {
    FilArena arena = fil_arena_make(&rod->arena.allocator);
    Statics s;
    FilStatus status = start(&s, rod, &arena, error);
    if (status == FIL_OK) {
        bool factored = look(&s);
        place_schur(&s);
        find_eigenvalue(&s);
        bool rests = factored && s.residual <= at_rest;
        *stability = (FilStability){.smallest_eigenvalue = s.eigenvalue,
                                    .residual = s.residual,
                                    .stable = rests && s.eigenvalue >= neutral};
    }
    fil_arena_destroy(&arena);
    return status;
}

FilStatus fil_statics_hessian(FilRod *rod, double *H, double *residual, FilError *error) {
    FilArena arena = fil_arena_make(&rod->arena.allocator);
    Statics s;
    FilStatus status = start(&s, rod, &arena, error);
    if (status == FIL_OK) {
        find_residual(&s);
        place_hessian(&s, H);
        *residual = s.residual;
    }
    fil_arena_destroy(&arena);
    return status;
}
