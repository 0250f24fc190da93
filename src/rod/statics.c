// statics.c - the equilibrium of a rod and its stability, for every model.
//
// An equilibrium is a shape where the forces g that are out of balance vanish but for those that
// hold the ends: g + C^T lambda = 0, c = 0. With J the derivative of g (statics_matrix.c), one step
// of Newton's method is
//     J dx + C^T lambda = -g,    C dx = 0,
// taken in coordinates of the directions with C dx = 0 (free_space.c).
// 1. Loads without torques have an energy; g is its gradient, J its Hessian H, and a stable
//    equilibrium is a minimum. There H + sigma D takes the place of J: sigma is next to nothing
//    where H is positive definite on those directions; otherwise it is raised until H + sigma D is.
//    Next to nothing, 1e-9, is what keeps motions that cost no energy from being made for the sake
//    of round-off: the step is the shortest there is.
// 2. A torque fixed in space has no energy and J is not symmetric; J is taken as it is, by LU. When
//    steps in full do not arrive the torques are raised from nothing, in steps that Newton's method
//    can follow. When an unstable equilibrium is to be left J is shifted like H in its place: steps
//    of implicit Euler for the slow motion of statics_verdict.c, longer and longer as the forces
//    out of balance vanish (pseudo-transient continuation).
// 3. The step is cut to one radian of bending and as much as is in the shape already: dx^T B dx <=
//    EI / L + 2 E_elastic. Such steps are taken in full at first, which brings
//    stiffly stretched rods home in a few; searching from the start took hundreds. Later ones are
//    halved while the slope of the Lagrangian along dx has turned from downhill to steeply uphill.
//    Only slopes are compared, never energies: those of stiff rods lose what is looked for in
//    round-off.
//    Between full and searched steps the rod relaxes: implicit steps in time of its own that each
//    begin at rest go a radian or less and grow as it calms down. They follow long ways, such as a
//    curl that unrolls, along which Newton's steps would be as many as stiff edges make them short.
// 4. Rows that hold an end are curved. After each step, and before the first, the ends are brought
//    back to where they are held by the shortest way in the measure of B (Gauss-Newton), a radian
//    at most at a time and never further off; a step after which they cannot be is halved.
// 5. At an unstable equilibrium the rod leaves along the eigenvector of the smallest eigenvalue. A
//    straight rod whose ends should come closer has no step either: it is bent to one side.
// The residual is sqrt(g^T B^-1 g / (2 E_elastic + EI / L)): the part of the forces that is not
// balanced, in the measure of the rod's own stiffness, relative to those in it and at least to
// those that bend the rod by one radian.
#include "statics.h"

#include <string.h>

#include "base/error.h"
#include "math/cholesky.h"
#include "math/vec3.h"
#include "math/vector.h"

enum {
    MAX_HALVINGS = 30,
    FULL_STEPS = 25,
    MAX_RESTORE = 60,
    PATIENCE = 100,
    MAX_STALLS = 3,
    MAX_CORRECTIONS = 20,
    MAX_FALLS = 400,
    MAX_FAILED_FALLS = 15,
    RELAX_EVERY = 50
};
static const double slope_limit = 0.5;
static const double stuck = 1e-24; // (radians)^2
static const double closed = 1e-13;
static const double relaxed = 1e-4; // residual from which Newton's method arrives
static const double far_shift = 1e-3;
static const double corrected = 1e-6, least_raise = 1e-5;

// --- moving --------------------------------------------------------------------------------------

static void restore(FilStatics *s, const double *state) {
    memcpy(s->rod->state, state, sizeof(double) * (size_t)s->rod->state_count);
    s->rod->table->refresh(s->rod);
}

static bool is_finite(const FilStatics *s) {
    return fil_all_finite(s->rod->state, s->rod->state_count);
}

static double square_in_measure(FilStatics *s, const double *x) {
    fil_statics_multiply(s->n, s->B, x, s->product);
    return fil_dot(x, s->product, s->n);
}

static void scale(int n, double factor, double *x) {
    for (int i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

// The part of x that takes a radian of bending and `more` energy, in the measure of B; of a rod
// that may move as a whole, in that of D a quarter of a radian: nodes move on straight lines, and a
// larger turn would stretch the rod by more than the next steps can mend.
static double cut(FilStatics *s, const double *x, double more) {
    double size = square_in_measure(s, x) / (s->unit + more);
    if (s->loose) {
        fil_statics_multiply(s->n, s->D, x, s->product);
        size = fmax(size, fil_dot(x, s->product, s->n) / (s->unit / 16.0 + more));
    }
    return size > 1.0 ? 1.0 / sqrt(size) : 1.0;
}

static double find_gap(FilStatics *s) {
    s->rod->table->end_rows(s->rod, s->rod->state[0], s->Y, s->c);
    return fil_statics_gap(s);
}

// Bring the ends to where they are held. False when the rod cannot follow; then it is as near as it
// came.
static bool close_ends(FilStatics *s) {
    if (s->m == 0) {
        return true;
    }
    double *way = s->work;
    double gap = find_gap(s);
    for (int k = 0; k < MAX_RESTORE && gap > closed; k++) {
        fil_statics_close(s, s->c, way);
        double factor = cut(s, way, 0.0), before = gap;
        scale(s->n, factor, way);
        fil_rod_get_state(s->rod, s->kept);
        for (int half = 0;; half++) {
            s->rod->table->move(s->rod, way);
            gap = is_finite(s) ? find_gap(s) : HUGE_VAL;
            if (gap <= (1.0 - 0.1 * factor) * before) {
                break;
            }
            restore(s, s->kept);
            if (half == MAX_HALVINGS) {
                return find_gap(s) <= 1e3 * closed;
            }
            factor *= 0.5;
            scale(s->n, 0.5, way);
        }
    }
    return gap <= 1e3 * closed;
}

// Slope of the Lagrangian along dx at the present shape.
static double slope(FilStatics *s) {
    s->rod->table->gradient(s->rod, s->work);
    double sum = fil_dot(s->work, s->dx, s->n);
    if (s->m > 0) {
        s->rod->table->end_rows(s->rod, s->rod->state[0], s->Y, s->c);
        for (int k = 0; k < s->m; k++) {
            sum += s->lambda[k] * fil_dot(fil_row(s->Y, k, s->n), s->dx, s->n);
        }
    }
    return sum;
}

// Move along dx, cut to about one radian, and halved while the ends cannot be kept and, when
// `search`, while it goes too far uphill. False when no part of it will do.
static bool move(FilStatics *s, bool search) {
    double factor = cut(s, s->dx, 2.0 * fil_statics_elastic(s->rod));
    scale(s->n, factor, s->dx);
    double before = fabs(slope(s)), gap = s->m > 0 ? find_gap(s) : 0.0;
    fil_rod_get_state(s->rod, s->saved);
    for (int k = 0; k < MAX_HALVINGS; k++) {
        s->rod->table->move(s->rod, s->dx);
        bool good =
            is_finite(s) && (close_ends(s) || fil_statics_gap(s) <= (1.0 - 0.1 * factor) * gap);
        if (good && (!search || slope(s) <= slope_limit * before)) {
            return true;
        }
        restore(s, s->saved);
        scale(s->n, 0.5, s->dx);
        before *= 0.5;
        factor *= 0.5;
    }
    return false;
}

// dx: a tenth of a radian along x.
static void choose_direction(FilStatics *s, const double *x) {
    double size = square_in_measure(s, x);
    double factor = size > 0.0 ? 0.1 * sqrt(s->unit / size) : 0.0;
    for (int i = 0; i < s->n; i++) {
        s->dx[i] = factor * x[i];
    }
}

// dx: to the side, as random forces would bend the rod, for a straight one whose ends should come
// closer.
static void leave_line(FilStatics *s) {
    fil_statics_place_random(s->n, s->eigen);
    fil_cholesky_solve(s->n, s->B_factor, s->B_first, s->eigen);
    choose_direction(s, s->eigen);
}

// The shift of a rod that circulates: none at first; in the search that of the symmetric part, less
// of it as the forces are balanced, but for some steps after a saddle was left.
static double choose_shift(const FilStatics *s) {
    double part = fmax(fmin(1.0, s->residual), pow(0.9, s->since_saddle));
    return s->search ? fmax(FIL_STATICS_SHIFT, part * s->sigma) : FIL_STATICS_SHIFT;
}

static void choose_newton(FilStatics *s) {
    for (int i = 0; i < s->n; i++) {
        s->dx[i] = -s->g[i];
    }
    if (s->circulates) {
        fil_statics_factor_circulating(s, choose_shift(s));
        fil_statics_solve_circulating(s, false, s->dx);
    } else {
        fil_statics_solve(s, s->dx);
    }
}

// --- the iteration -------------------------------------------------------------------------------

static double potential(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

// All there is to know at the present shape. Far from balance the shift of a rod that may turn at
// no cost is what keeps such turns out of the step: the forces out of balance couple them to it.
static bool look(FilStatics *s) {
    fil_statics_measure(s);
    fil_statics_place_hessian(s, s->H);
    fil_statics_place_free(s);
    double far = s->loose ? far_shift * fmin(1.0, s->residual) : 0.0;
    return fil_statics_factor(s, FIL_STATICS_SHIFT + far);
}

// Whether forces or energy are below what they were at the best shape so far.
static bool note_best(FilStatics *s, bool first) {
    double energy = potential(s->rod);
    double forces = s->residual * sqrt(2.0 * fil_statics_elastic(s->rod) + s->unit);
    bool better = first || forces < 0.99 * s->least_forces;
    bool lower = first || (!s->circulates && energy < s->least_energy - 1e-3 * s->unit);
    s->since_best = better || lower ? 0 : s->since_best + 1;
    if (lower) {
        s->least_energy = energy;
    }
    if (better) {
        s->least_forces = forces;
        fil_rod_get_state(s->rod, s->best);
    }
    return better;
}

// A step in time from rest, at the time that it is; how far it goes, in radians.
static double fall(FilStatics *s, double dt) {
    FilRod *rod = s->rod;
    double time = rod->state[0];
    FilRodStepInfo info;
    rod->table->stop(rod);
    rod->state[0] = time - dt; // driven ends arrive where they are
    fil_rod_find_velocity(rod, dt, &info);
    memcpy(s->dx, rod->velocity, sizeof(double) * (size_t)s->n);
    scale(s->n, dt, s->dx);
    bool taken = info.converged && fil_rod_take_step(rod, dt, rod->velocity, NULL, NULL) == FIL_OK;
    rod->state[0] = time;
    rod->table->stop(rod);
    return taken ? sqrt(square_in_measure(s, s->dx) / s->unit) : HUGE_VAL;
}

// Towards an equilibrium by steps in time, downhill.
static void relax(FilStatics *s) {
    double dt = 0.1 * sqrt(s->rod->sections[0].mass * pow(s->rod->state[1], 3.0) / s->unit);
    double longest = 1e3 * dt;
    int failures = 0;
    for (int k = 0; k < MAX_FALLS && failures < MAX_FAILED_FALLS; k++) {
        fil_rod_get_state(s->rod, s->saved);
        double way = fall(s, dt);
        if (!(way < 2.0) || !is_finite(s)) {
            restore(s, s->saved);
            dt *= 0.25;
            failures++;
            continue;
        }
        failures = 0;
        dt = fmin(dt * (way < 0.5 ? 1.5 : way < 1.0 ? 1.0 : 0.7), longest);
        fil_statics_measure(s);
        if (s->residual <= relaxed) {
            break;
        }
    }
    s->least_forces = s->least_energy = HUGE_VAL;
    s->since_best = 0;
}

// Full steps first; when they have not arrived, the rod relaxes from the best shape among them, and
// the search starts from there.
static bool look_at(FilStatics *s, int iteration) {
    bool factored = look(s), better = note_best(s, iteration == 0);
    s->since_saddle++;
    if (!s->search && !s->circulates && iteration == FULL_STEPS) {
        s->search = true;
        if (!better) {
            restore(s, s->best);
        }
        relax(s);
        factored = look(s);
    } else if (s->search && !s->circulates && iteration % RELAX_EVERY == 0) {
        relax(s);
        factored = look(s);
    }
    return factored;
}

// Held ends that the start shape misses are closed; a straight rod is bent to one side first.
static void start_closed(FilStatics *s) {
    fil_statics_measure(s);
    for (int k = 0; k < MAX_STALLS && !close_ends(s); k++) {
        leave_line(s);
        s->rod->table->move(s->rod, s->dx);
        fil_statics_measure(s);
    }
}

// Away from an unstable equilibrium.
static void leave_saddle(FilStatics *s) {
    choose_direction(s, s->eigen);
    (void)move(s, false);
    s->search = true;
    s->since_saddle = 0;
    relax(s);
}

// One step; false when the rod is stuck.
static bool make_step(FilStatics *s) {
    choose_newton(s);
    double size = square_in_measure(s, s->dx);
    if (size > stuck * s->unit && isfinite(size) && move(s, s->search && !s->circulates)) {
        return true;
    }
    leave_line(s);
    (void)move(s, false);
    return false;
}

// Newton's method from the present shape to an equilibrium, at most `most` steps, which are
// counted.
static void balance(FilStatics *s, const FilStaticsSettings *settings, bool leave,
                    FilStaticsInfo *info) {
    int stalls = 0, first = info->iterations;
    s->search = false;
    for (;; info->iterations++) {
        s->factored = look_at(s, info->iterations - first);
        int patience = s->circulates && !s->search ? FULL_STEPS : PATIENCE;
        bool last = !s->factored || info->iterations >= settings->max_iterations ||
                    s->since_best > patience || stalls > MAX_STALLS;
        bool balanced = s->residual <= settings->tolerance;
        if (last || balanced) {
            fil_statics_judge(s);
            info->stable = fil_statics_is_stable(s, settings->tolerance);
            info->converged = balanced && (info->stable || s->flutters);
            if (last || info->converged || !leave) {
                return;
            }
            leave_saddle(s);
        } else {
            stalls += make_step(s) ? 0 : 1;
        }
    }
}

// --- torques that grow ---------------------------------------------------------------------------

static void scale_torques(FilStatics *s, double part) {
    for (int k = 0; k < s->rod->load_count; k++) {
        for (int c = 0; c < 3; c++) {
            s->rod->loads[k].torque[c] = part * s->torques[3 * k + c];
        }
    }
}

// A few of Newton's steps in full; whether they arrive.
static bool correct(FilStatics *s, int most, FilStaticsInfo *info) {
    double before = HUGE_VAL;
    for (int k = 0; k < MAX_CORRECTIONS; k++) {
        bool factored = look(s);
        if (s->residual <= corrected) {
            return true;
        }
        if (!factored || info->iterations >= most || (k > 4 && s->residual > 4.0 * before)) {
            return false;
        }
        before = s->residual;
        choose_newton(s);
        info->iterations++;
        if (!move(s, false)) {
            return false;
        }
    }
    return false;
}

// From the equilibrium without torques, raise them until they are there, in steps that Newton's
// method can follow.
static void raise_torques(FilStatics *s, const FilStaticsSettings *settings, FilStaticsInfo *info) {
    double part = 0.0, step = 0.125;
    scale_torques(s, 0.0);
    s->circulates = false;
    balance(s, settings, true, info);
    s->circulates = true;
    s->search = false;
    fil_rod_get_state(s->rod, s->best);
    while (part < 1.0 && step > least_raise && info->iterations < settings->max_iterations) {
        double next = fmin(1.0, part + step);
        scale_torques(s, next);
        if (correct(s, settings->max_iterations, info)) {
            part = next;
            step *= 2.0;
            fil_rod_get_state(s->rod, s->best);
        } else {
            step *= 0.25;
            restore(s, s->best);
        }
    }
    scale_torques(s, 1.0);
}

static void iterate(FilStatics *s, const FilStaticsSettings *settings, FilStaticsInfo *info) {
    start_closed(s);
    fil_rod_get_state(s->rod, s->begin);
    info->iterations = 0;
    balance(s, settings, !s->circulates, info);
    if (s->circulates && !info->converged && info->iterations < settings->max_iterations) {
        restore(s, s->begin);
        raise_torques(s, settings, info);
        balance(s, settings, true, info);
    }
    info->residual = s->residual;
    info->smallest_eigenvalue = s->eigenvalue;
    info->energy = potential(s->rod);
}

// --- the questions -------------------------------------------------------------------------------

FilStaticsSettings fil_statics_settings_default(void) {
    return (FilStaticsSettings){.tolerance = 1e-10, .max_iterations = 500};
}

// EI / L of the softest section.
static double bending_unit(const FilRod *rod) {
    double least = rod->sections[0].kappa[1];
    for (int i = 0; i < rod->element_count; i++) {
        least = fmin(least, fmin(rod->sections[i].kappa[1], rod->sections[i].kappa[2]));
    }
    return least / rod->state[1];
}

// Whether motions of the rod as a whole are among its degrees of freedom, held by rows or not.
static bool is_loose(const FilRod *rod) {
    bool root = rod->root_end.kind == FIL_END_CLAMPED;
    bool tip = rod->tip_end.kind == FIL_END_CLAMPED && rod->table->rows[1][FIL_END_CLAMPED] == 0;
    return !(root || tip) || !rod->table->framed; // without frames it may turn about its clamps
}

static FilStatus start(FilStatics *s, FilRod *rod, FilArena *arena, FilError *error) {
    *s = (FilStatics){.rod = rod, .n = rod->dof_count, .m = rod->row_count};
    s->unit = bending_unit(rod);
    s->loose = is_loose(rod);
    for (int k = 0; k < rod->load_count; k++) {
        s->circulates = s->circulates || fil_norm3(rod->loads[k].torque) > 0.0;
    }
    if (!fil_statics_allocate(s, arena)) {
        return fil_fail(error, FIL_E_NO_MEMORY,
                        "there is no memory for the statics of %d degrees of freedom", s->n);
    }
    for (int k = 0; k < rod->load_count; k++) {
        fil_copy3(rod->loads[k].torque, s->torques + 3 * (size_t)k);
    }
    return FIL_OK;
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
    rod->revision++;
    FilArena arena = fil_arena_make(&rod->arena.allocator);
    FilStatics s;
    FilStatus status = start(&s, rod, &arena, error);
    if (status == FIL_OK) {
        FilStaticsInfo unused = {0};
        FilStaticsInfo *result = info != NULL ? info : &unused;
        *result = (FilStaticsInfo){0};
        rod->table->stop(rod);
        iterate(&s, used, result);
        rod->past_dt = 0.0; // it is at rest
    }
    fil_arena_destroy(&arena);
    return status;
}

FilStatus fil_statics_look(FilStatics *s, FilRod *rod, FilArena *arena, FilError *error) {
    FIL_TRY(start(s, rod, arena, error));
    s->factored = look(s);
    fil_statics_judge(s);
    return FIL_OK;
}

FilStatus fil_rod_stability(FilRod *rod, FilStability *stability, FilError *error) {
    FilArena arena = fil_arena_make(&rod->arena.allocator);
    FilStatics s;
    FilStatus status = fil_statics_look(&s, rod, &arena, error);
    if (status == FIL_OK) {
        *stability = (FilStability){.smallest_eigenvalue = s.eigenvalue,
                                    .residual = s.residual,
                                    .stable = fil_statics_is_stable(&s, 0.0)};
    }
    fil_arena_destroy(&arena);
    return status;
}
