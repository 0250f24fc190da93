// step.c - one time step of a rod, whatever its model.
//
// The model gives A v+ = rhs (rod.h). Held ends that are not part of the coordinates are rows C
// that must bring the configuration to where the ends are held at the end of the step:
//     C (theta v+ + (1 - theta) v) dt = -error,
// solved with the Schur complement C A^-1 C^T, at most 12 x 12. Where elasticity is nonlinear this
// is one step of Newton's method on the incremental potential. At first full steps are taken even
// where the potential rises: nearly inextensible edges that turn are stretched by a full step,
// which the next one mends, and halving would make both short. Later steps are halved until it
// falls.
//
// An end of a rod that does not stretch cannot always be brought where it is held by linear rows: a
// straight rod shortens with the square of its bending. Along such a row (1) pivots of S that are a
// tiny part of the others give way, so that a rod without slack sags a little instead of being
// thrown about; (2) Newton's step is far too long, by as much as the rod is straight, and is cut
// where the square takes over: a rod of length L that turns by `turn` along its way shortens by
// about L (turn / 6)^2, so that an error e is gone when turn = 6 sqrt(e / L). What is left comes in
// the next step, along a row that has grown.
#include "rod.h"

#include <float.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vector.h"

enum { MAX_NEWTON = 60, MAX_FULL = 25, MAX_HALVINGS = 12, MAX_DEPTH = 12, MIN_DEPTH = 2 };
enum { MAX_WORK = 400, TIRED_NEWTON = 3 }; // iterations of a step in parts; then, of each
enum { MORE_LINEARISATIONS = 3 };          // of its parts, where they are linear
static const double most_residual = 1e-3;  // of parts that have to do
static const double weakest = 1e-5;        // of the rows of places: see fil_rod_row_softness()
static const double most_astray = 1e-8;    // of a step that is called converged
static const double newton_tolerance = 1e-10, hold_tolerance = 1e-6;

// x, the step without the rows C, becomes the step with them. Returns how far from where they are
// held the ends will be, to first order, relative to the length (m, rad): 0 unless the rod cannot
// follow.
double fil_rod_hold_ends(FilRod *rod, double dt, double *x) {
    int n = rod->dof_count, m = rod->row_count;
    if (m == 0) {
        return 0.0;
    }
    double error[FIL_ROD_ROWS], S[FIL_ROD_ROWS * FIL_ROD_ROWS] = {0.0}, work[sizeof S / sizeof *S];
    double lambda[FIL_ROD_ROWS] = {0.0}, gap[FIL_ROD_ROWS], worst = 0.0;
    if (rod->table->step_rows != NULL) {
        rod->table->step_rows(rod, rod->state[0] + dt, rod->rows, error);
    } else {
        rod->table->end_rows(rod, rod->state[0] + dt, rod->rows, error);
    }
    memcpy(rod->columns, rod->rows, sizeof(double) * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++) {
        rod->table->solve(rod, rod->columns + (size_t)i * (size_t)n);
    }
    for (int i = 0; i < m; i++) {
        const double *row = rod->rows + (size_t)i * (size_t)n;
        for (int j = 0; j < m; j++) {
            S[m * i + j] = fil_dot(row, rod->columns + (size_t)j * (size_t)n, n);
        }
        double slope = (1.0 - rod->theta) * fil_dot(row, rod->before, n) / rod->theta;
        lambda[i] = -slope - fil_dot(row, x, n);
        gap[i] = -error[i] / (dt * rod->theta) - slope;
    }
    memcpy(work, S, sizeof work);
    fil_rod_solve_rows(m, work, lambda, fil_rod_row_softness(rod, S));
    for (int i = 0; i < m; i++) {
        fil_axpy(lambda[i], rod->columns + (size_t)i * (size_t)n, x, n);
    }
    fil_rod_mend_ends(rod, dt, S, error, x);
    for (int i = 0; i < m; i++) {
        worst = fmax(worst, fabs(gap[i] - fil_dot(rod->rows + (size_t)i * (size_t)n, x, n)));
    }
    return worst * rod->theta * dt / fmin(1.0, rod->state[1]);
}

double fil_rod_row_softness(const FilRod *rod, const double *S) {
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    double largest = 0.0;
    for (int k = 0, first = 0; k < 2; k++) {
        int rows = rod->table->rows[k][ends[k]->kind], places = rows >= 5 ? rows - 3 : rows;
        for (int i = first; i < first + places; i++) {
            largest = fmax(largest, S[(rod->row_count + 1) * i]);
        }
        first += rows;
    }
    return weakest * largest;
}

// Pivoted elimination with small pivots left out: rows that the rod cannot follow, such as both
// ends of a straight rod along its axis, are kept as well as they can be.
void fil_rod_solve_rows(int m, double *S, double *b, double soft) {
    int order[FIL_ROD_ROWS];
    double largest = 0.0;
    for (int i = 0; i < m; i++) {
        order[i] = i;
        largest = fmax(largest, S[m * i + i]);
    }
    int rank = 0;
    for (; rank < m; rank++) {
        int best = rank;
        for (int i = rank; i < m; i++) {
            best = S[m * order[i] + order[i]] > S[m * order[best] + order[best]] ? i : best;
        }
        int p = order[best];
        order[best] = order[rank];
        order[rank] = p;
        double pivot = S[m * p + p];
        if (!(pivot > 1e-14 * largest)) {
            break;
        }
        for (int k = rank + 1; k < m; k++) {
            int i = order[k];
            double factor = S[m * i + p] / pivot;
            for (int l = rank + 1; l < m; l++) {
                S[m * i + order[l]] -= factor * S[m * p + order[l]];
            }
            b[i] -= factor * b[p];
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        int p = order[k];
        for (int l = k + 1; l < rank; l++) {
            b[p] -= k < rank ? S[m * p + order[l]] * b[order[l]] : 0.0;
        }
        double pivot = S[m * p + p];
        b[p] = k < rank ? b[p] * pivot / (pivot * pivot + soft * soft) : 0.0;
    }
}

// x = sum of lambda times the columns, for the multipliers that take `wanted`, softly.
static void answer_rows(const FilRod *rod, const double *S, const double *wanted, double soft,
                        double factor, double *x) {
    int n = rod->dof_count, m = rod->row_count;
    double work[FIL_ROD_ROWS * FIL_ROD_ROWS], lambda[FIL_ROD_ROWS];
    memcpy(lambda, wanted, sizeof(double) * (size_t)m);
    memcpy(work, S, sizeof(double) * (size_t)m * (size_t)m);
    fil_rod_solve_rows(m, work, lambda, soft);
    for (int i = 0; i < m; i++) {
        fil_axpy(factor * lambda[i], rod->columns + (size_t)i * (size_t)n, x, n);
    }
}

void fil_rod_mend_ends(const FilRod *rod, double dt, const double *S, const double *error,
                       double *x) {
    int n = rod->dof_count, m = rod->row_count;
    double wanted[FIL_ROD_ROWS], left = 0.0, soft = fil_rod_row_softness(rod, S);
    for (int i = 0; i < m; i++) {
        wanted[i] = -error[i] / (dt * rod->theta);
        left = fmax(left, fabs(error[i]));
    }
    if (left == 0.0) {
        return;
    }
    answer_rows(rod, S, wanted, 100.0 * soft, 1.0, x);
    // what rows that are hard to follow ask for beyond that
    memset(rod->mend, 0, sizeof(double) * (size_t)n);
    answer_rows(rod, S, wanted, soft, 1.0, rod->mend);
    answer_rows(rod, S, wanted, 100.0 * soft, -1.0, rod->mend);
    double turn = rod->table->turning != NULL ? dt * rod->table->turning(rod, rod->mend) : 0.0;
    double most = 6.0 * sqrt(left / rod->state[1]);
    fil_axpy(turn > most ? most / turn : 1.0, rod->mend, x, n);
}

// The largest part of the way from `from` to `to` that lowers what the step minimises.
static void search_line(FilRod *rod, double dt, bool full, const double *from, double *to) {
    double start = full ? DBL_MAX : rod->table->merit(rod, dt, from);
    for (int k = 0; k < MAX_HALVINGS; k++) {
        double merit = rod->table->merit(rod, dt, to);
        if (merit <= start || merit - start <= 1e-12 * fabs(start)) {
            return;
        }
        for (int j = 0; j < rod->dof_count; j++) {
            to[j] = 0.5 * (to[j] + from[j]);
        }
    }
}

// A^-1 rhs, with the ends held. Where the model knows the rest A v+ - rhs, its part of v+ is solved
// for alone: with stiff springs A v+ loses the digits that matter.
static double find_trial(FilRod *rod, double dt) {
    int n = rod->dof_count;
    bool known = rod->table->get_rest != NULL;
    if (known) {
        rod->table->get_rest(rod, rod->trial);
    } else {
        memcpy(rod->trial, rod->rhs, sizeof(double) * (size_t)n);
    }
    rod->table->solve(rod, rod->trial);
    for (int k = 0; known && k < n; k++) {
        rod->trial[k] = rod->velocity[k] - rod->trial[k];
    }
    return fil_rod_hold_ends(rod, dt, rod->trial);
}

// Of the step's equations at v+; where the model has no cheaper way, A is made ready on the way.
static double find_residual(FilRod *rod, double dt, const double *velocity) {
    return rod->table->residual != NULL ? rod->table->residual(rod, dt, velocity)
                                        : rod->table->prepare(rod, dt, velocity, rod->rhs);
}

void fil_rod_find_velocity(FilRod *rod, double dt, FilRodStepInfo *info) {
    const int n = rod->dof_count, most = rod->tired ? TIRED_NEWTON : MAX_NEWTON;
    size_t bytes = sizeof(double) * (size_t)n;
    *info = (FilRodStepInfo){0};
    rod->touched = false;
    rod->table->get_velocity(rod, rod->velocity);
    memcpy(rod->before, rod->velocity, bytes);
    info->residual = rod->table->prepare(rod, dt, NULL, rod->rhs);
    for (info->iterations = 1;; info->iterations++) {
        double gap = find_trial(rod, dt);
        if (rod->table->merit == NULL) {
            memcpy(rod->velocity, rod->trial, bytes);
            if (info->iterations < rod->linearisations && fil_all_finite(rod->velocity, n)) {
                info->residual = rod->table->prepare(rod, dt, rod->velocity, rod->rhs);
                continue;
            }
            info->converged = gap <= hold_tolerance && info->residual == 0.0;
            info->residual = fmax(gap, info->residual);
            return;
        }
        if (info->iterations > 1) {
            search_line(rod, dt, info->iterations <= MAX_FULL, rod->velocity, rod->trial);
        }
        memcpy(rod->velocity, rod->trial, bytes);
        info->residual = find_residual(rod, dt, rod->velocity);
        info->converged = info->residual <= newton_tolerance;
        if (info->converged || info->iterations >= most || !isfinite(info->residual)) {
            return;
        }
        if (rod->table->residual != NULL) {
            (void)rod->table->prepare(rod, dt, rod->velocity, rod->rhs);
        }
    }
}

FilStatus fil_rod_motions_check(const FilRod *rod, double time, FilError *error) {
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    for (int k = 0; k < 2; k++) {
        if (ends[k]->motion == NULL) {
            continue;
        }
        FilPose pose;
        fil_rod_end_pose(rod, ends[k], time, &pose);
        if (!fil_all_finite(pose.position, 3) || !fil_all_finite(pose.axis[0], 9)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "%s.motion gives a pose that is not finite at time %g s",
                            k == 0 ? "root_end" : "tip_end", time);
        }
        FIL_TRY(fil_rod_axes_check((const double(*)[3])pose.axis,
                                   k == 0 ? "root_end.motion: axis" : "tip_end.motion: axis",
                                   error));
    }
    return FIL_OK;
}

// From the length now and not that of the definition, since fil_rod_set_length() may have changed
// it: a state (time, length) is all that there is to know.
static double length_at(const FilRod *rod, double time) {
    return rod->state[1] * (1.0 + rod->growth * time) / (1.0 + rod->growth * rod->state[0]);
}

static FilStatus check_growth(const FilRod *rod, double time, FilError *error) {
    double length = length_at(rod, time);
    bool reasonable = 1.0 + rod->growth * rod->state[0] > 0.0;
    if (rod->growth != 0.0 && !(reasonable && length > 0.0 && length <= FIL_ROD_LENGTH)) {
        return fil_fail(
            error, FIL_E_ARGUMENT,
            "growth is %g; at time %g s the length would be %g, it must be positive and "
            "at most %g m",
            rod->growth, time, length, FIL_ROD_LENGTH);
    }
    return FIL_OK;
}

static FilStatus fail_step(const FilRod *rod, double dt, FilError *error) {
    double largest = rod->table->largest_step(rod);
    if (!(largest >= FIL_ROD_HINTED_STEP && largest < dt)) {
        return fil_fail(error, FIL_E_ARGUMENT, "dt is %g; the rod leaves the range of numbers", dt);
    }
    return fil_fail(error, FIL_E_ARGUMENT,
                    "dt is %g; the rod leaves the range of numbers, a step of %.1g may do", dt,
                    largest);
}

FilStatus fil_rod_check_step(const FilRod *rod, double dt, FilError *error) {
    if (!(dt > 0.0 && dt <= FIL_ROD_LONGEST_STEP)) {
        return fil_fail(error, FIL_E_ARGUMENT, "dt is %g; it must be positive and at most %g s",
                        isnan(dt) ? (double)NAN : dt, FIL_ROD_LONGEST_STEP);
    }
    FIL_TRY(fil_rod_motions_check(rod, rod->state[0] + dt, error));
    return check_growth(rod, rod->state[0] + dt, error);
}

FilStatus fil_rod_take_step(FilRod *rod, double dt, const double *velocity, const FilPush *push,
                            FilError *error) {
    double length = length_at(rod, rod->state[0] + dt);
    fil_rod_get_state(rod, rod->saved);
    const bool finite = velocity == NULL || fil_all_finite(velocity, rod->dof_count);
    if (velocity == NULL) {
        rod->table->drift(rod, dt);
    } else if (finite) {
        rod->push = push != NULL ? push->impulses : NULL;
        rod->unpaid = push != NULL ? push->unpaid : 0.0;
        rod->shortest = rod->shortest || (push != NULL && push->shortest);
        rod->tentative = push != NULL ? !push->shortest : rod->tentative;
        rod->table->advance(rod, dt, velocity);
        rod->shortest = rod->shortest && push == NULL;
        rod->tentative = rod->tentative && push == NULL;
        rod->push = NULL;
        rod->unpaid = 0.0;
    }
    if (!finite || !fil_all_finite(rod->state, rod->state_count)) {
        FIL_TRY(fil_rod_set_state(rod, rod->saved, error));
        return fail_step(rod, dt, error);
    }
    if (rod->growth != 0.0) {
        fil_rod_grow_to(rod, length);
    }
    rod->past_dt = dt;
    rod->past_revision = rod->revision;
    return FIL_OK;
}

// --- steps that are too long ---------------------------------------------------------------------

double fil_rod_find_astray(const FilRod *rod) {
    double error[FIL_ROD_ROWS], worst = 0.0;
    if (rod->row_count > 0) {
        rod->table->end_rows(rod, rod->state[0], rod->rows, error);
    }
    for (int i = 0; i < rod->row_count; i++) {
        worst = fmax(worst, fabs(error[i]));
    }
    return worst / fmin(1.0, rod->state[1]);
}

static FilStatus step_once(FilRod *rod, double dt, FilRodStepInfo *info, FilError *error) {
    FilRodStepInfo part;
    fil_rod_find_velocity(rod, dt, &part);
    FilStatus status = fil_rod_take_step(rod, dt, rod->velocity, NULL, error);
    const double astray = status == FIL_OK ? fil_rod_find_astray(rod) : 0.0;
    info->iterations += part.iterations;
    info->residual = fmax(info->residual, part.residual);
    info->converged =
        info->converged && part.converged && status == FIL_OK && astray <= most_astray;
    return status;
}

// A step that is taken in halves of halves: `left` of 2^depth parts.
typedef struct Parts {
    int depth, left, calm; // parts since it was last halved
} Parts;

static void count_part(Parts *parts, bool stands) {
    if (!stands) {
        *parts = (Parts){.depth = parts->depth + 1, .left = 2 * parts->left};
        return;
    }
    parts->left--;
    parts->calm++;
    if (parts->calm >= 2 && parts->left % 2 == 0 && parts->depth > 0) { // it is calm again
        *parts = (Parts){.depth = parts->depth - 1, .left = parts->left / 2};
    }
}

static FilStatus give_up(FilRod *rod, FilStatus status) {
    FilStatus restored = fil_rod_set_state(rod, rod->origin, NULL);
    return restored == FIL_OK ? status : restored;
}

// Whether a part that may not have converged is one to go on from.
static bool is_near(const FilRod *rod, const FilRodStepInfo *part) {
    return part->residual <= most_residual && rod->table->flaw(rod) <= 1.0;
}

// The last resort: the rod goes on as one piece, or is held fast and loses its motion.
static FilStatus give_in(FilRod *rod, double dt, FilError *error) {
    FIL_TRY(fil_rod_set_state(rod, rod->saved, error));
    if (rod->table->drift != NULL && rod->step_kind != FIL_ROD_STEP_EXPLICIT) {
        return fil_rod_take_step(rod, dt, NULL, NULL, error);
    }
    rod->table->stop(rod);
    memset(rod->velocity, 0, sizeof(double) * (size_t)rod->dof_count);
    return fil_rod_take_step(rod, dt, rod->velocity, NULL, error);
}

// Nothing of the step can be taken: the rod is as it was.
static FilStatus refuse_step(FilRod *rod, double dt, FilError *error) {
    rod->tired = rod->careful = rod->shortest = rod->tentative = false;
    FIL_TRY(give_up(rod, FIL_OK));
    return fail_step(rod, dt, error);
}

// A part that must do, because it is the last or the work is spent, is one to go on from. Models
// whose velocity terms are not part of A do careful parts without them, as implicit Euler.
static FilStatus take_part(FilRod *rod, double dt, bool last, FilRodStepInfo *part,
                           FilError *error) {
    const double theta = rod->theta;
    const bool eased = rod->careful && rod->table->foresees;
    const bool must = rod->tired || last || eased;
    rod->theta = eased ? 1.0 : theta;
    FilStatus status = step_once(rod, dt, part, error);
    const bool lost = status != FIL_OK && rod->step_kind == FIL_ROD_STEP_EXPLICIT;
    if (must && !lost && (status != FIL_OK || !is_near(rod, part))) {
        part->converged = false;
        status = give_in(rod, dt, error);
    }
    rod->theta = theta;
    return status == FIL_OK && must && rod->table->flaw(rod) > 2.0 ? fail_step(rod, dt, error)
                                                                   : status;
}

// How much may be taken from a part that stands: nearly nothing from one that can still be made
// shorter, or else all that it has too much.
static double most_flawed(const Parts *parts) {
    return parts->depth < MIN_DEPTH ? FIL_ROD_HARMLESS : 1.0;
}

// A step that did not converge, or gained energy. One that is linear is linearised again at what it
// led to; what is still not sound is taken in parts. After so many iterations the rest of the step
// is taken as it comes.
static FilStatus step_in_parts(FilRod *rod, double dt, FilRodStepInfo *info, FilError *error) {
    const double time = rod->state[0];
    const int depth = rod->linearisations > 1 && rod->table->merit == NULL ? 0 : 1;
    fil_rod_get_state(rod, rod->origin);
    for (Parts parts = {.depth = depth, .left = 1 << depth}; parts.left > 0;) {
        FilRodStepInfo part = {.converged = true};
        const bool last = parts.depth == MAX_DEPTH;
        rod->tired = info->iterations >= MAX_WORK;
        rod->careful = rod->tired || parts.depth > MIN_DEPTH;
        rod->shortest = rod->tired || parts.depth >= MIN_DEPTH;
        rod->tentative = !rod->shortest;
        const FilStatus status = take_part(rod, ldexp(dt, -parts.depth), last, &part, error);
        const double flaw = status == FIL_OK ? rod->table->flaw(rod) : 2.0;
        const bool sound = status == FIL_OK && part.converged && flaw <= most_flawed(&parts);
        const bool eased = rod->careful && rod->table->foresees;
        const bool stands = sound || (status == FIL_OK && (rod->tired || last || eased));
        info->iterations += part.iterations;
        if (!stands && last) {
            return refuse_step(rod, dt, error);
        }
        const bool back = !stands && status == FIL_OK;
        FIL_TRY(back ? fil_rod_set_state(rod, rod->saved, error) : FIL_OK);
        info->residual = stands ? fmax(info->residual, part.residual) : info->residual;
        info->converged = info->converged && ((sound && flaw <= FIL_ROD_HONEST) || !stands);
        info->parts += stands;
        count_part(&parts, stands);
    }
    rod->tired = rod->careful = rod->shortest = rod->tentative = false;
    rod->state[0] = time + dt;
    return FIL_OK;
}

FilStatus fil_rod_step(FilRod *rod, double dt, FilRodStepInfo *info, FilError *error) {
    FilRodStepInfo unused = {0};
    FilRodStepInfo *result = info != NULL ? info : &unused;
    *result = (FilRodStepInfo){0};
    FIL_TRY(fil_rod_check_step(rod, dt, error));
    result->converged = true;
    result->parts = 1;
    rod->tentative = true;
    FilStatus status = step_once(rod, dt, result, error);
    rod->tentative = false;
    if (status == FIL_OK && result->converged && rod->table->flaw(rod) <= FIL_ROD_HARMLESS) {
        return FIL_OK;
    }
    if (status == FIL_OK) {
        FIL_TRY(fil_rod_set_state(rod, rod->saved, error));
    }
    *result = (FilRodStepInfo){.iterations = result->iterations, .converged = true};
    rod->linearisations = rod->table->foresees ? 1 : MORE_LINEARISATIONS;
    status = step_in_parts(rod, dt, result, error);
    rod->linearisations = 1;
    return status;
}

typedef struct Batch {
    FilRod *const *rods;
    FilRodStepInfo *infos;
    double dt;
} Batch;

static void step_range(void *context, int first, int last) {
    const Batch *batch = context;
    for (int i = first; i < last; i++) {
        FilRodStepInfo *info = batch->infos != NULL ? &batch->infos[i] : NULL;
        batch->rods[i]->step_status = fil_rod_step(batch->rods[i], batch->dt, info, NULL);
    }
}

FilStatus fil_rods_step(FilRod *const *rods, int count, double dt, int threads,
                        FilRodStepInfo *infos, FilError *error) {
    Batch batch = {.rods = rods, .infos = infos, .dt = dt};
    fil_parallel_ranges(count, 16, fil_thread_count(threads), step_range, &batch);
    for (int i = 0; i < count; i++) {
        if (rods[i]->step_status != FIL_OK) {
            // a rod that failed stayed as it was: it fails again, now with its sentence
            return fil_rod_step(rods[i], dt, infos != NULL ? &infos[i] : NULL, error);
        }
    }
    return FIL_OK;
}
