// solve.c - the public calls: check, build, split into islands, solve them, measure the whole.
//
// Islands are solved in parallel, each by one thread; large ones come first and use all threads
// inside. Neither choice changes a bit of the result.
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "check.h"
#include "convex.h"
#include "filum/friction.h"
#include "gauss_seidel.h"
#include "island.h"
#include "local.h"
#include "primal.h"
#include "reduce.h"
#include "solvers.h"
#include "system.h"
#include "unreduced.h"

enum {
    LARGE_ISLAND = 2000, // blocks: threads inside
    PRIMAL_ISLAND = 100, // blocks: a step in velocities may pay
};

typedef struct ThreadMemory {
    FilArena arena, scratch;
} ThreadMemory;

struct FilFrictionWorkspace {
    FilAllocator allocator;
    FilArena arena; // the whole problem
    int thread_count;
    ThreadMemory *threads;
};

FilStatus fil_friction_workspace_create(const FilAllocator *allocator, FilFrictionWorkspace **out,
                                        FilError *error) {
    const FilAllocator a = allocator != NULL ? *allocator : fil_libc_allocator;
    FilFrictionWorkspace *workspace = a.resize(a.user, NULL, 0, sizeof *workspace);
    if (workspace == NULL) {
        (void)fil_fail(error, FIL_E_NO_MEMORY, "no memory for a friction workspace");
        return FIL_E_NO_MEMORY;
    }
    *workspace = (FilFrictionWorkspace){.allocator = a, .arena = fil_arena_make(&a)};
    *out = workspace;
    return FIL_OK;
}

static void free_threads(FilFrictionWorkspace *w) {
    for (int t = 0; t < w->thread_count; t++) {
        fil_arena_destroy(&w->threads[t].arena);
        fil_arena_destroy(&w->threads[t].scratch);
    }
    if (w->threads != NULL) {
        w->allocator.resize(w->allocator.user, w->threads,
                            (size_t)w->thread_count * sizeof *w->threads, 0);
    }
    w->threads = NULL;
    w->thread_count = 0;
}

void fil_friction_workspace_destroy(FilFrictionWorkspace *workspace) {
    if (workspace != NULL) {
        free_threads(workspace);
        fil_arena_destroy(&workspace->arena);
        workspace->allocator.resize(workspace->allocator.user, workspace, sizeof *workspace, 0);
    }
}

static FilStatus reserve_threads(FilFrictionWorkspace *w, int threads) {
    fil_arena_reset(&w->arena);
    if (threads > w->thread_count) {
        free_threads(w);
        w->threads =
            w->allocator.resize(w->allocator.user, NULL, 0, (size_t)threads * sizeof *w->threads);
        if (w->threads == NULL) {
            return FIL_E_NO_MEMORY;
        }
        w->thread_count = threads;
        for (int t = 0; t < threads; t++) {
            w->threads[t].arena = fil_arena_make(&w->allocator);
            w->threads[t].scratch = fil_arena_make(&w->allocator);
        }
    }
    return FIL_OK;
}

// --- islands -------------------------------------------------------------------------------------

typedef struct Solve {
    const FilFrictionProblem *problem;
    const FilFrictionSettings *settings;
    FilSystemUse use;
    const FilSystem *system;
    FilIslands islands;
    FilFrictionWorkspace *workspace;
    int *local;              // [n] place of a block in its island
    int *order;              // islands, largest first
    double *r;               // of the whole problem
    FilIslandResult *result; // [islands]
    FilStatus *status;       // [islands]
    double unit;
    bool rescaled; // the natural map, which is not free of units, is left to the end
    int threads;
    int inner_threads;
    bool side_by_side; // islands run on several threads: each takes its own memory
    _Atomic bool stop;
} Solve;

static FilStatus solve_system(const FilSystem *s, const FilIslandTask *task, double *r,
                              FilIslandResult *result) {
    typedef FilStatus Solver(const FilSystem *, const FilIslandTask *, double *, FilIslandResult *);
    static Solver *const solvers[FIL_FRICTION_SOLVER_COUNT] = {
        [FIL_SOLVER_AUTO] = fil_auto_solve,
        [FIL_SOLVER_GAUSS_SEIDEL] = fil_gauss_seidel_solve,
        [FIL_SOLVER_NEWTON] = fil_newton_solve,
        [FIL_SOLVER_CADOUX] = fil_cadoux_solve,
        [FIL_SOLVER_SOCQP] = fil_convex_solve, // of a system without coulomb blocks
        [FIL_SOLVER_TRESCA] = fil_tresca_solve,
        [FIL_SOLVER_CONVEX] = fil_convex_solve,
        [FIL_SOLVER_LINEARISED] = fil_linearised_solve,
    };
    return solvers[task->settings->solver](s, task, r, result);
}

static void solve_island(void *context, int item) {
    Solve *x = context;
    const int island = x->order[item];
    ThreadMemory *memory = &x->workspace->threads[x->side_by_side ? fil_thread_index() : 0];
    const int *member = x->islands.member + x->islands.start[island];
    const int count = x->islands.start[island + 1] - x->islands.start[island];
    const FilSystem *whole = x->system;
    fil_arena_reset(&memory->arena);
    fil_arena_reset(&memory->scratch);

    const double part_of = sqrt((double)count / whole->n), share = part_of * x->unit;
    FilWork work = {0.0, 0.0};
    const FilIslandTask task = {.settings = x->settings,
                                .scaled = x->settings->tolerance * share,
                                .natural = x->settings->natural_tolerance > 0.0 && !x->rescaled
                                               ? x->settings->natural_tolerance * part_of *
                                                     fil_natural_unit(x->unit)
                                               : INFINITY,
                                .unit = x->unit,
                                .threads = x->inner_threads,
                                .arena = &memory->arena,
                                .scratch = &memory->scratch,
                                .stop = &x->stop,
                                .work = &work};
    FilSystem part = *whole;
    double *r = x->r;
    FilStatus status = FIL_OK;
    if (x->islands.count > 1) {
        status = fil_system_part(whole, member, count, x->local, &memory->arena, &part);
        r = status == FIL_OK ? FIL_NEW(&memory->arena, double, part.size) : NULL;
        if (r == NULL) {
            x->status[island] = FIL_E_NO_MEMORY;
            return;
        }
        for (int m = 0; m < count; m++) {
            memcpy(r + part.offset[m], x->r + whole->offset[member[m]],
                   (size_t)fil_system_block_size(&part, m) * sizeof *r);
        }
    }
    if (x->use.newton && whole->reduction != NULL && part.primal == NULL &&
        count >= PRIMAL_ISLAND) {
        FilPrimal *primal;
        x->status[island] = fil_primal_create(x->problem, whole, member, count, &memory->arena,
                                              &memory->scratch, &primal);
        if (x->status[island] != FIL_OK) {
            return;
        }
        part.primal = primal;
    }
    x->status[island] = solve_system(&part, &task, r, &x->result[island]);
    x->result[island].work = work.done;
    for (int m = 0; x->islands.count > 1 && m < count; m++) {
        memcpy(x->r + whole->offset[member[m]], r + part.offset[m],
               (size_t)fil_system_block_size(&part, m) * sizeof *r);
    }
}

// Places in islands, and the islands by falling size (counting sort keeps it linear and stable).
static FilStatus order_islands(Solve *x, FilArena *arena) {
    const int n = x->system->n, count = x->islands.count;
    x->local = FIL_NEW(arena, int, n);
    x->order = FIL_NEW(arena, int, count);
    x->result = FIL_NEW_ZEROED(arena, FilIslandResult, count);
    x->status = FIL_NEW_ZEROED(arena, FilStatus, count);
    int *of_size = FIL_NEW_ZEROED(arena, int, n + 2);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int k = 0; k < count; k++) {
        const int first = x->islands.start[k], size = x->islands.start[k + 1] - first;
        for (int m = 0; m < size; m++) {
            x->local[x->islands.member[first + m]] = m;
        }
        of_size[n - size + 1]++;
    }
    for (int k = 0; k <= n; k++) {
        of_size[k + 1] += of_size[k];
    }
    for (int k = 0; k < count; k++) {
        x->order[of_size[n - (x->islands.start[k + 1] - x->islands.start[k])]++] = k;
    }
    return FIL_OK;
}

static int count_large(const Solve *x) {
    int count = 0;
    while (count < x->islands.count) {
        const int island = x->order[count];
        if (x->islands.start[island + 1] - x->islands.start[island] < LARGE_ISLAND) {
            break;
        }
        count++;
    }
    return count;
}

static FilStatus solve_islands(Solve *x) {
    FilArena *arena = &x->workspace->arena;
    FIL_TRY(x->system->has_blocks ? fil_islands_find(&x->system->W, arena, &x->islands)
                                  : fil_islands_whole(x->system->n, arena, &x->islands));
    FIL_TRY(order_islands(x, arena));
    const int large = count_large(x);
    x->inner_threads = x->threads;
    for (int k = 0; k < large; k++) {
        solve_island(x, k);
    }
    x->inner_threads = 1;
    x->side_by_side = x->threads > 1 && x->islands.count - large > 1;
    x->order += large;
    fil_parallel_for(x->islands.count - large, x->threads, solve_island, x);
    x->order -= large;
    for (int k = 0; k < x->islands.count; k++) {
        FIL_TRY(x->status[k]);
    }
    return FIL_OK;
}

// The worst outcome of the islands; the residual of the whole has the last word.
static void summarise(const Solve *x, bool lawful, FilFrictionInfo *info) {
    static const int severity[] = {
        [FIL_CONVERGED] = 0, [FIL_LIMIT] = 1, [FIL_STALLED] = 2, [FIL_NO_SOLUTION] = 3};
    const FilFrictionSettings *settings = x->settings;
    double work = 0.0, unit = 0.0;
    info->outcome = FIL_CONVERGED;
    for (int k = 0; k < x->islands.count; k++) {
        const FilIslandResult *result = &x->result[k];
        if (severity[result->outcome] > severity[info->outcome]) {
            info->outcome = result->outcome;
        }
        info->iterations =
            result->iterations > info->iterations ? result->iterations : info->iterations;
        info->fallbacks += result->fallbacks;
        info->seconds.sweeps += result->seconds_sweeps;
        info->seconds.factor += result->seconds_factor;
        work += result->work;
        unit += result->unit;
    }
    info->work = unit > 0.0 ? work / unit : 0.0;
    info->island_count = x->islands.count;
    info->largest_island = x->islands.count > 0
                               ? x->islands.start[x->order[0] + 1] - x->islands.start[x->order[0]]
                               : 0;
    const bool good = lawful && info->residual.scaled <= settings->tolerance &&
                      (settings->natural_tolerance <= 0.0 ||
                       info->residual.natural <= settings->natural_tolerance);
    if (good) {
        info->outcome = FIL_CONVERGED;
    } else if (info->outcome == FIL_CONVERGED) {
        info->outcome = FIL_STALLED;
    }
}

// --- the public calls ----------------------------------------------------------------------------

static int count_dofs(const FilFrictionProblem *problem) {
    return problem->dof_count > 0             ? problem->dof_count
           : problem->form == FIL_FORM_GLOBAL ? problem->global.M.column_count
                                              : 0;
}

// Solvers of the convex family work on the blocks of W; of a product only the default makes use.
static FilStatus check_solver(const FilFrictionProblem *problem, const FilSystem *system,
                              FilFrictionSolver solver, FilError *error) {
    if (problem->form == FIL_FORM_PRODUCT && solver != FIL_SOLVER_AUTO) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "solver is %s, which needs W, but it is given by its product; take auto",
                        fil_friction_solver_name(solver));
    }
    const bool needs_blocks = solver == FIL_SOLVER_CADOUX || solver == FIL_SOLVER_SOCQP ||
                              solver == FIL_SOLVER_CONVEX || solver == FIL_SOLVER_TRESCA;
    if (needs_blocks && !system->has_blocks) {
        return fil_fail(
            error, FIL_E_ARGUMENT,
            "solver is %s, which needs W, but a body has %d unknowns; take auto, newton "
            "or gauss-seidel",
            fil_friction_solver_name(solver), system->reduction->largest_body);
    }
    return FIL_OK;
}

// Hand over what was found; only from here on the solution is touched.
static void publish(const FilFrictionProblem *problem, const FilSystem *system, const double *r,
                    const double *u, double *work, FilFrictionSolution *solution) {
    if (system->size > 0) {
        memcpy(solution->r, r, (size_t)system->size * sizeof *r);
        if (solution->u != NULL) {
            memcpy(solution->u, u, (size_t)system->size * sizeof *u);
        }
    }
    if (solution->v != NULL && system->mass != NULL) {
        fil_unreduced_velocity(system->mass, &problem->global, r, solution->v);
    } else if (solution->v != NULL && system->reduction != NULL) {
        fil_reduction_velocity(system->reduction, &problem->global, r, solution->v, work);
    }
}

static FilStatus solve_checked(const FilFrictionProblem *problem,
                               const FilFrictionSettings *settings, FilFrictionWorkspace *workspace,
                               FilFrictionSolution *solution, FilFrictionInfo *info,
                               FilError *error) {
    const double begin = fil_seconds();
    const int threads = fil_thread_count(settings->thread_count);
    FIL_TRY(reserve_threads(workspace, threads));
    FilArena *arena = &workspace->arena;
    FilSystem system;
    const FilSystemUse use = {.sweeps = settings->solver == FIL_SOLVER_GAUSS_SEIDEL ||
                                        settings->solver == FIL_SOLVER_LINEARISED,
                              .newton = settings->solver == FIL_SOLVER_AUTO ||
                                        settings->solver == FIL_SOLVER_NEWTON,
                              .threads = threads};
    FIL_TRY(fil_system_build(problem, &use, arena, &workspace->threads[0].scratch, &system, error));
    FIL_TRY(check_solver(problem, &system, settings->solver, error));
    if (settings->solver == FIL_SOLVER_SOCQP) { // the law itself is another: residuals follow it
        FIL_TRY(fil_system_as_cones(&system, arena, &system));
    }
    FilSystem near; // in units that squares can bear; nearly always `system` itself
    FilUnits units;
    FIL_TRY(fil_system_rescale(&system, arena, &near, &units));
    if (use.newton && problem->form != FIL_FORM_GLOBAL && problem->global.M.column_count > 0 &&
        units.w == 0 && units.b == 0) {
        FIL_TRY(
            fil_system_add_bodies(problem, arena, &workspace->threads[0].scratch, &near, error));
    }
    double *r = FIL_NEW_ZEROED(arena, double, system.size);
    double *u = FIL_NEW(arena, double, system.size);
    double *work =
        FIL_NEW(arena, double, system.reduction != NULL ? system.reduction->dof_count : 0);
    if (r == NULL || u == NULL || work == NULL) {
        return FIL_E_NO_MEMORY;
    }
    if (settings->warm_start && system.size > 0) {
        memcpy(r, solution->r, (size_t)system.size * sizeof *r);
        fil_scale_by_power(system.size, units.w - units.b, r);
    }
    Solve x = {.problem = problem,
               .settings = settings,
               .use = use,
               .system = &near,
               .workspace = workspace,
               .r = r,
               .unit = fil_system_unit(&near),
               .rescaled = units.w != 0 || units.b != 0,
               .threads = threads};
    info->seconds.setup = fil_seconds() - begin;
    FIL_TRY(solve_islands(&x));
    fil_system_velocity(&near, r, u, threads);
    info->residual = fil_system_residual(&near, u, r, threads);
    const bool lawful =
        fil_system_is_steep_lawful(&near, u, r, settings->tolerance * x.unit, threads);
    if (x.rescaled) {
        const double scaled = info->residual.scaled;
        fil_scale_by_power(system.size, units.b - units.w, r);
        fil_scale_by_power(system.size, units.b, u);
        info->residual = fil_system_residual(&system, u, r, threads);
        info->residual.scaled = scaled;
    }
    info->conditioning = count_dofs(problem) > 0 ? (double)system.size / count_dofs(problem) : 0.0;
    summarise(&x, lawful, info);
    publish(problem, &system, r, u, work, solution);
    info->seconds.total = fil_seconds() - begin;
    info->seconds.other =
        fmax(0.0, info->seconds.total - info->seconds.setup - info->seconds.sweeps -
                      info->seconds.factor); // threads: phases add up over them
    return FIL_OK;
}

static FilStatus check_arguments(const FilFrictionProblem *problem,
                                 const FilFrictionSettings *settings,
                                 const FilFrictionSolution *solution, FilError *error) {
    FIL_TRY(fil_friction_check_settings(settings, error));
    if (solution == NULL || (solution->r == NULL && problem->block_count > 0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "solution%s is NULL; the impulses need a place",
                        solution == NULL ? "" : ".r");
    }
    return settings->warm_start
               ? fil_friction_check_impulses(problem, solution->r, "solution.r", error)
               : FIL_OK;
}

FilStatus fil_friction_solve(const FilFrictionProblem *problem, const FilFrictionSettings *settings,
                             FilFrictionWorkspace *workspace, FilFrictionSolution *solution,
                             FilFrictionInfo *info, FilError *error) {
    const FilFrictionSettings defaults = fil_friction_settings_default();
    settings = settings != NULL ? settings : &defaults;
    FIL_TRY(fil_friction_check(problem, error));
    FIL_TRY(check_arguments(problem, settings, solution, error));
    FilFrictionWorkspace *own = NULL;
    if (workspace == NULL) {
        FIL_TRY(fil_friction_workspace_create(NULL, &own, error));
    }
    FilFrictionInfo local = {0};
    FilStatus status =
        solve_checked(problem, settings, own != NULL ? own : workspace, solution, &local, error);
    fil_friction_workspace_destroy(own);
    if (status == FIL_E_NO_MEMORY) {
        status = fil_fail(error, status, "no memory to solve a friction problem of %d blocks",
                          problem->block_count);
    }
    if (status == FIL_OK && info != NULL) {
        *info = local;
    }
    return status;
}
