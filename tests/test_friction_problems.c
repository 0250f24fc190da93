// Problems of some size: every form gives the same solution, every number of threads the same bits,
// memory is reused and may run out, and the default solver solves what seeds and files hold.
#define _XOPEN_SOURCE 700 // NOLINT(bugprone-reserved-identifier)
#include "check.h"
#include "failing_allocator.h"
#include "friction_answer.h"

#include "base/arena.h"
#include "base/parallel.h"
#include "base/random.h"
#include "filum/fclib.h"
#include "filum/generate.h"
#include "friction/system.h"

#include <dirent.h>

// Sanitizers make everything ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif
#else
enum { SLOW = 0 };
#endif

static FilGenerated *make(FilGenerator generator, int contacts, double nu, uint64_t seed) {
    FilGenerateDef def = fil_generate_def_default(generator);
    FilGenerated *made = NULL;
    FilError error;
    def.contact_count = contacts;
    def.conditioning = nu;
    def.seed = seed;
    if (fil_generate(&def, NULL, &made, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return made;
}

static FilFrictionSettings make_settings(FilFrictionSolver solver, double tolerance, int threads) {
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.solver = solver;
    settings.tolerance = tolerance;
    settings.thread_count = threads;
    return settings;
}

// --- the three forms -----------------------------------------------------------------------------

static FilSystem stored_system(const FilFrictionProblem *problem, FilArena *arena) {
    FilSystem system = {0};
    FilError error = {0};
    FilArena scratch = fil_arena_make(NULL);
    if (fil_system_build(problem, &(FilSystemUse){.threads = 1}, arena, &scratch, &system,
                         &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    fil_arena_destroy(&scratch);
    return system;
}

// The same problem with W as block rows.
static FilFrictionProblem as_blocks(const FilFrictionProblem *problem, const FilSystem *s) {
    FilFrictionProblem blocks = *problem;
    blocks.form = FIL_FORM_BLOCKS;
    blocks.blocks = (FilBlockRows){s->W.start, s->W.column, s->W.value};
    return blocks;
}

// W is regular at nu = 0.5 and mu small: one solution, and its impulses can be compared.
static void every_form_has_the_same_solution(void) {
    static const FilGenerator generators[] = {FIL_GENERATE_FIBRES, FIL_GENERATE_RIGID,
                                              FIL_GENERATE_TANGLES};
    const FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-11, 1);
    for (int trial = 0; trial < 9; trial++) {
        FilGenerated *made = make(generators[trial % 3], 60, 0.5, 60 + (uint64_t)trial);
        FilArena arena = fil_arena_make(NULL);
        const FilSystem system = stored_system(&made->problem, &arena);
        const FilFrictionProblem stored = as_blocks(&made->problem, &system);
        Answer bodies = answer_of(&made->problem, &settings);
        Answer blocks = answer_of(&stored, &settings);
        Answer global = answer_of(&made->global, &settings);
        const double unit = largest(bodies.r, bodies.size);
        CHECK(bodies.info.outcome == FIL_CONVERGED && blocks.info.outcome == FIL_CONVERGED &&
              global.info.outcome == FIL_CONVERGED);
        CHECK(check_same_bits(bodies.r, blocks.r, (size_t)bodies.size * sizeof(double)));
        CHECK(distance(bodies.r, global.r, bodies.size) < 1e-6 * unit);
        CHECK(distance(bodies.u, global.u, bodies.size) < 1e-8);
        CHECK_NEAR(bodies.info.conditioning, global.info.conditioning, 1e-15, 0.0);
        CHECK(bodies.info.island_count == global.info.island_count);
        answer_free(&bodies);
        answer_free(&blocks);
        answer_free(&global);
        fil_arena_destroy(&arena);
        fil_generated_destroy(made);
    }
}

// y += A x or, transposed, y += A^T x.
static void multiply(const FilSparse *A, bool transposed, const double *x, double *y) {
    for (int c = 0; c < A->column_count; c++) {
        for (int k = A->start[c]; k < A->start[c + 1]; k++) {
            const int from = transposed ? A->index[k] : c, to = transposed ? c : A->index[k];
            y[to] += A->value[k] * x[from];
        }
    }
}

// M v = H r + f and u = H^T v + w, each with its own right to exist.
static void velocities_of_bodies_satisfy_their_equations(void) {
    for (int generator = 0; generator < FIL_GENERATOR_COUNT; generator++) {
        FilGenerated *made = make((FilGenerator)generator, 40, 0.9, 61);
        FilFrictionProblem problem = made->global;
        const FilGlobalForm *g = &problem.global;
        problem.dof_count = 0; // it is known from M all the same
        Answer answer = answer_of(&problem, NULL);
        const int m = g->M.column_count;
        double *force = answer_array(m), *inertia = answer_array(m), *u = answer_array(answer.size);
        memcpy(force, g->f, (size_t)m * sizeof *force);
        multiply(&g->H, false, answer.r, force);
        multiply(&g->M, false, answer.v, inertia);
        memcpy(u, g->w, (size_t)answer.size * sizeof *u);
        multiply(&g->H, true, answer.v, u);
        CHECK(answer.info.outcome == FIL_CONVERGED);
        CHECK_NEAR(answer.info.conditioning, (double)answer.size / m, 1e-15, 0.0);
        CHECK(distance(force, inertia, m) < 1e-11 * largest(force, m));
        CHECK(distance(u, answer.u, answer.size) < 1e-10 * (1.0 + largest(answer.v, m)));
        free(force);
        free(inertia);
        free(u);
        answer_free(&answer);
        fil_generated_destroy(made);
    }
}

// A chain of contacts of mixed sizes on bodies of mixed sizes; some touch one body twice.
typedef struct Bodies {
    int body_start[7], start[13], body[48], sizes[12];
    FilBlockKind kinds[12];
    double mu[12], H[2000], HA[2000], b[72], compliance[12 * 36];
    FilFrictionProblem problem;
} Bodies;

static void draw_bodies(FilRandom *random, Bodies *x) {
    static const int sizes[] = {1, 2, 3, 6};
    double mass[6];
    int at = 0, square = 0;
    memset(x, 0, sizeof *x);
    for (int k = 0; k < 6; k++) {
        x->body_start[k + 1] = x->body_start[k] + 1 + k; // 1 to 6 unknowns
        mass[k] = fil_random_uniform(random, 0.5, 2.0);
    }
    for (int i = 0; i < 12; i++) {
        const int d = x->sizes[i] = sizes[i % 4], entries = i % 3 + (i > 0);
        x->kinds[i] = (FilBlockKind)(i % FIL_BLOCK_KIND_COUNT);
        x->mu[i] = 0.3;
        x->start[i + 1] = x->start[i];
        for (int e = 0; e < entries; e++) {
            const int body = e == 2 ? x->body[x->start[i + 1] - 1] : fil_random_int(random, 6);
            x->body[x->start[i + 1]++] = body;
            for (int k = 0; k < d * (body + 1); k++, at++) {
                x->H[at] = fil_random_normal(random);
                x->HA[at] = x->H[at] / mass[body];
            }
        }
        for (int k = 0; k < d * d; k++) {
            x->compliance[square++] = k % (d + 1) == 0 ? 0.5 : 0.0;
        }
    }
    for (int k = 0; k < 72; k++) {
        x->b[k] = fil_random_normal(random);
    }
    x->problem = (FilFrictionProblem){.block_count = 12,
                                      .block_sizes = x->sizes,
                                      .kinds = x->kinds,
                                      .mu = x->mu,
                                      .form = FIL_FORM_BODIES,
                                      .bodies = {6, x->body_start, x->start, x->body, x->H, x->HA},
                                      .b = x->b,
                                      .compliance = x->compliance};
}

static double compare_rows(const FilSystem *stored, const FilSystem *factored, const double *r) {
    double off = 0.0;
    for (int i = 0; i < stored->n; i++) {
        const int d = fil_system_block_size(stored, i);
        double a[FIL_BLOCK_MAX], b[FIL_BLOCK_MAX];
        stored->delassus.row(stored->delassus.self, i, r, a);
        factored->delassus.row(factored->delassus.self, i, r, b);
        off = fmax(off, distance(a, b, d));
    }
    return off;
}

static void a_factored_operator_acts_like_the_stored_one(void) {
    FilRandom random = fil_random_make(62);
    for (int trial = 0; trial < 20; trial++) {
        static Bodies x;
        draw_bodies(&random, &x);
        x.problem.compliance = trial % 2 == 0 ? x.compliance : NULL;
        FilArena arena = fil_arena_make(NULL);
        const FilSystem stored = stored_system(&x.problem, &arena);
        FilSystem factored = {0};
        CHECK(fil_system_from_bodies(&x.problem, &arena, &factored) == FIL_OK);
        CHECK(factored.size == stored.size && factored.W.value == NULL);
        CHECK(distance(factored.rho, stored.rho, stored.n) < 1e-12 * largest(stored.rho, stored.n));
        for (int i = 0; i < stored.n; i++) {
            double a[36] = {0}, b[36] = {0};
            stored.delassus.diagonal(stored.delassus.self, i, a);
            factored.delassus.diagonal(factored.delassus.self, i, b);
            CHECK(distance(a, b, 36) < 1e-12);
        }
        double r[72], u[72], v[72];
        for (int k = 0; k < stored.size; k++) {
            r[k] = fil_random_normal(&random);
        }
        stored.delassus.reset(stored.delassus.self, r);
        factored.delassus.reset(factored.delassus.self, r);
        CHECK(compare_rows(&stored, &factored, r) < 1e-11);
        for (int i = 0; i < stored.n; i++) { // r changes block by block
            double change[FIL_BLOCK_MAX];
            for (int k = stored.offset[i]; k < stored.offset[i + 1]; k++) {
                change[k - stored.offset[i]] = 0.5 * k - r[k];
                r[k] = 0.5 * k;
            }
            stored.delassus.update(stored.delassus.self, i, change);
            factored.delassus.update(factored.delassus.self, i, change);
        }
        CHECK(compare_rows(&stored, &factored, r) < 1e-10);
        fil_system_velocity(&stored, r, u, 1);
        fil_system_velocity(&factored, r, v, 1);
        CHECK(distance(u, v, stored.size) < 1e-10);
        fil_arena_destroy(&arena);
    }
}

static void mixed_sizes_on_bodies_are_solved(void) {
    FilRandom random = fil_random_make(63);
    const FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-10, 1);
    for (int trial = 0; trial < 30; trial++) {
        static Bodies x;
        draw_bodies(&random, &x);
        FilArena arena = fil_arena_make(NULL);
        const FilSystem system = stored_system(&x.problem, &arena);
        FilFrictionProblem stored = as_blocks(&x.problem, &system);
        stored.compliance = NULL; // it is in W now
        Answer bodies = answer_of(&x.problem, &settings);
        Answer blocks = answer_of(&stored, &settings);
        CHECK(bodies.info.outcome == FIL_CONVERGED);
        CHECK(check_same_bits(bodies.r, blocks.r, (size_t)bodies.size * sizeof(double)));
        answer_free(&bodies);
        answer_free(&blocks);
        fil_arena_destroy(&arena);
    }
}

// --- threads -------------------------------------------------------------------------------------

static void check_same_for_threads(const FilFrictionProblem *problem,
                                   const FilFrictionSettings *settings) {
    static const int threads[] = {1, 2, 4};
    Answer first = {0};
    for (int t = 0; t < 3; t++) {
        FilFrictionSettings used = *settings;
        used.thread_count = threads[t];
        Answer answer = answer_of(problem, &used);
        if (t == 0) {
            first = answer;
            continue;
        }
        const size_t bytes = (size_t)first.size * sizeof *first.r;
        CHECK(check_same_bits(answer.r, first.r, bytes));
        CHECK(check_same_bits(answer.u, first.u, bytes));
        CHECK(check_same_bits(&answer.info.residual, &first.info.residual, sizeof(FilResidual)));
        CHECK(answer.info.outcome == first.info.outcome);
        CHECK(answer.info.iterations == first.info.iterations);
        CHECK(answer.info.fallbacks == first.info.fallbacks);
        answer_free(&answer);
    }
    answer_free(&first);
}

// At nu = 0.07 a chain has two contacts: islands of all sizes.
static void many_islands_have_the_same_bits_for_any_number_of_threads(void) {
    FilGenerated *made = make(FIL_GENERATE_FIBRES, SLOW != 0 ? 1000 : 3000, 0.07, 64);
    const FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-8, 1);
    Answer answer = answer_of(&made->problem, &settings);
    CHECK(answer.info.outcome == FIL_CONVERGED);
    CHECK(answer.info.island_count > made->problem.block_count / 20);
    CHECK(answer.info.largest_island > 100);
    answer_free(&answer);
    check_same_for_threads(&made->problem, &settings);
    const FilFrictionSettings sweeps = make_settings(FIL_SOLVER_GAUSS_SEIDEL, 1e-4, 1);
    check_same_for_threads(&made->problem, &sweeps);
    fil_generated_destroy(made);
}

// Large enough for threads inside the island: factorisation, rows, residuals.
static void one_large_island_has_the_same_bits_for_any_number_of_threads(void) {
    FilGenerated *made = make(FIL_GENERATE_FIBRES, 2500, 0.3, 65);
    FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-8, 1);
    settings.max_iterations = 4;
    Answer answer = answer_of(&made->problem, &settings);
    CHECK(answer.info.largest_island >= 2000);
    answer_free(&answer);
    check_same_for_threads(&made->problem, &settings);
    fil_generated_destroy(made);
}

// Large enough to be coloured.
static void coloured_sweeps_have_the_same_bits_for_any_number_of_threads(void) {
    FilGenerated *made = make(FIL_GENERATE_FIBRES, 5000, 0.9, 66);
    FilFrictionSettings settings = make_settings(FIL_SOLVER_GAUSS_SEIDEL, 1e-8, 1);
    settings.max_iterations = SLOW != 0 ? 5 : 30;
    Answer answer = answer_of(&made->problem, &settings);
    CHECK(answer.info.largest_island > 4096);
    CHECK(answer.info.outcome == FIL_LIMIT);
    answer_free(&answer);
    check_same_for_threads(&made->problem, &settings);
    fil_generated_destroy(made);
}

// --- memory --------------------------------------------------------------------------------------

static void the_second_solve_allocates_nothing(void) {
    static const FilGenerator generators[] = {FIL_GENERATE_FIBRES, FIL_GENERATE_WALL};
    for (int trial = 0; trial < 2 * FIL_FRICTION_SOLVER_COUNT; trial++) {
        FailingAllocator memory = {0};
        const FilAllocator allocator = failing_allocator(&memory);
        FilGenerated *made = make(generators[trial % 2], 60, 0.9, 67);
        const FilFrictionProblem *problem = trial % 4 < 2 ? &made->problem : &made->global;
        FilFrictionSettings settings =
            make_settings((FilFrictionSolver)(trial / 2), 1e-6, 1 + trial % 2);
        settings.max_iterations = 50;
        FilFrictionWorkspace *workspace = NULL;
        CHECK(fil_friction_workspace_create(&allocator, &workspace, NULL) == FIL_OK);
        Answer first = answer_from(problem, &settings, NULL, workspace);
        // which thread gets which island is chance: give both a go at the largest
        for (int again = 0; trial % 2 == 1 && again < 4; again++) {
            Answer more = answer_from(problem, &settings, NULL, workspace);
            answer_free(&more);
        }
        const int requests = memory.requests;
        Answer second = answer_from(problem, &settings, NULL, workspace);
        CHECK(memory.requests == requests);
        CHECK(check_same_bits(first.r, second.r, (size_t)first.size * sizeof(double)));
        CHECK(first.info.iterations == second.info.iterations);
        answer_free(&first);
        answer_free(&second);
        fil_friction_workspace_destroy(workspace);
        CHECK(failing_allocator_is_clean(&memory));
        fil_generated_destroy(made);
    }
}

// A workspace that served a larger problem, another solver, more threads, or ran out of memory.
static void a_workspace_serves_any_problem_next(void) {
    FilFrictionWorkspace *workspace = NULL;
    CHECK(fil_friction_workspace_create(NULL, &workspace, NULL) == FIL_OK);
    for (int trial = 0; trial < 24; trial++) {
        FilGenerated *made = make((FilGenerator)(trial % FIL_GENERATOR_COUNT), 5 + 37 * trial % 100,
                                  0.8, (uint64_t)trial);
        FilFrictionSettings settings =
            make_settings((FilFrictionSolver)(trial % 3), 1e-7, 1 + trial % 3);
        settings.max_iterations = 100;
        const FilFrictionProblem *problem = trial % 2 == 0 ? &made->problem : &made->global;
        Answer fresh = answer_of(problem, &settings);
        Answer reused = answer_from(problem, &settings, NULL, workspace);
        CHECK(check_same_bits(fresh.r, reused.r, (size_t)fresh.size * sizeof(double)));
        answer_free(&fresh);
        answer_free(&reused);
        fil_generated_destroy(made);
    }
    fil_friction_workspace_destroy(workspace);
}

// Returns true when nothing failed any more.
static bool solve_without_memory(const FilFrictionProblem *problem,
                                 const FilFrictionSettings *settings, FailingAllocator *memory) {
    const FilAllocator allocator = failing_allocator(memory);
    FilFrictionWorkspace *workspace = NULL;
    FilError error = {0};
    double *r = answer_array(problem_size(problem));
    r[0] = 7.0;
    FilFrictionSolution solution = {.r = r};
    FilFrictionInfo info = {.iterations = -7};
    FilStatus status = fil_friction_workspace_create(&allocator, &workspace, &error);
    if (status == FIL_OK) {
        status = fil_friction_solve(problem, settings, workspace, &solution, &info, &error);
    }
    const bool failed = memory->failures > 0;
    CHECK(status == (failed ? FIL_E_NO_MEMORY : FIL_OK));
    CHECK(!failed || (r[0] == 7.0 && info.iterations == -7));
    CHECK(!failed || strncmp(error.text, "no memory", 9) == 0);
    if (workspace != NULL && failed) { // and it can be used again
        const int fail_at = memory->fail_at;
        memory->fail_at = 0;
        CHECK(fil_friction_solve(problem, settings, workspace, &solution, &info, NULL) == FIL_OK);
        memory->fail_at = fail_at;
    }
    fil_friction_workspace_destroy(workspace);
    CHECK(failing_allocator_is_clean(memory));
    free(r);
    return !failed;
}

static void every_allocation_may_fail(void) {
    // one island and many; the second is large enough to need several chunks of memory
    static const struct {
        FilGenerator generator;
        int contacts;
        double nu;
    } cases[] = {{FIL_GENERATE_WALL, 150, 1.0}, {FIL_GENERATE_FIBRES, 300, 0.15}};
    for (int k = 0; k < 2 * 2 * 2; k++) {
        FilGenerated *made =
            make(cases[k % 2].generator, cases[k % 2].contacts, cases[k % 2].nu, 68);
        const FilFrictionProblem *problem = k / 2 % 2 == 0 ? &made->problem : &made->global;
        FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-6, 1);
        settings.max_iterations = 5;
        int n = 1;
        for (bool done = false; !done && n < 1000; n++) {
            FailingAllocator memory = {.fail_at = n, .fail_once = k / 4 == 1};
            done = solve_without_memory(problem, &settings, &memory);
        }
        CHECK(n > 4 && n < 1000);
        fil_generated_destroy(made);
    }
}

// --- what a caller may rely on -------------------------------------------------------------------

typedef struct Watch {
    int calls, stop_at, last;
    bool fine;
} Watch;

static bool watch_iteration(void *user, const FilFrictionProgress *progress) {
    Watch *watch = user;
    watch->calls++;
    watch->fine = watch->fine && progress->phase != NULL && isfinite(progress->scaled) &&
                  progress->iteration >= watch->last;
    watch->last = progress->iteration;
    return watch->stop_at == 0 || watch->calls < watch->stop_at;
}

static void the_callback_sees_iterations_and_can_stop(void) {
    FilGenerated *made = make(FIL_GENERATE_SPHERES, 80, 1.0, 69); // one island: iterations rise
    for (int solver = 0; solver < 2; solver++) {
        FilFrictionSettings settings = make_settings((FilFrictionSolver)solver, 1e-7, 1);
        Watch watch = {.fine = true};
        settings.on_iteration = watch_iteration;
        settings.user = &watch;
        Answer whole = answer_of(&made->problem, &settings);
        CHECK(whole.info.outcome == FIL_CONVERGED);
        CHECK(watch.calls > 2 && watch.fine && watch.last <= whole.info.iterations);
        watch = (Watch){.fine = true, .stop_at = 2};
        Answer part = answer_of(&made->problem, &settings);
        CHECK(watch.calls == 2 && watch.fine);
        CHECK(part.info.outcome == FIL_LIMIT);
        CHECK(part.info.iterations < whole.info.iterations);
        CHECK(answer_is_finite(&part) && part.info.residual.scaled > 1e-7);
        answer_free(&whole);
        answer_free(&part);
    }
    fil_generated_destroy(made);
}

// Islands on several threads: still one call at a time, and none after the one that stops.
static void the_callback_is_never_called_twice_at_once(void) {
    FilGenerated *made = make(FIL_GENERATE_FIBRES, 600, 0.07, 73);
    for (int stop_at = 0; stop_at < 40; stop_at += 13) {
        Watch watch = {.stop_at = stop_at}; // counted without a lock
        FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-8, 4);
        settings.on_iteration = watch_iteration;
        settings.user = &watch;
        Answer answer = answer_of(&made->problem, &settings);
        CHECK(stop_at > 0 ? watch.calls == stop_at : watch.calls > 40);
        CHECK(answer.info.outcome == (stop_at > 0 ? FIL_LIMIT : FIL_CONVERGED));
        CHECK(answer_is_finite(&answer));
        answer_free(&answer);
    }
    fil_generated_destroy(made);
}

static void the_iteration_limit_is_kept(void) {
    FilGenerated *made = make(FIL_GENERATE_FIBRES, 100, 0.9, 70);
    for (int solver = 0; solver < FIL_FRICTION_SOLVER_COUNT; solver++) {
        double previous = HUGE_VAL;
        for (int limit = 1; limit <= 16; limit *= 4) {
            FilFrictionSettings settings = make_settings((FilFrictionSolver)solver, 1e-13, 1);
            settings.max_iterations = limit;
            Answer answer = answer_of(&made->problem, &settings);
            if (answer.info.iterations > limit || answer.info.outcome == FIL_CONVERGED ||
                !answer_is_finite(&answer)) {
                check_failures++;
                (void)fprintf(stderr, "%s: %s, %d iterations of %d\n",
                              fil_friction_solver_name(settings.solver),
                              fil_outcome_name(answer.info.outcome), answer.info.iterations, limit);
            }
            if (settings.solver == FIL_SOLVER_AUTO) { // the best iterate, never worse than earlier
                CHECK(answer.info.residual.scaled <= previous);
                previous = answer.info.residual.scaled;
            }
            answer_free(&answer);
        }
    }
    fil_generated_destroy(made);
}

static void a_warm_start_from_the_solution_needs_no_iteration(void) {
    for (int generator = 0; generator < FIL_GENERATOR_COUNT; generator++) {
        FilGenerated *made = make((FilGenerator)generator, 60, 0.9, 71);
        Answer first = answer_of(&made->problem, NULL);
        for (int solver = 0; solver < 2; solver++) {
            const FilFrictionSettings settings = make_settings((FilFrictionSolver)solver, 1e-8, 1);
            Answer again = answer_from(&made->problem, &settings, first.r, NULL);
            CHECK(again.info.outcome == FIL_CONVERGED && again.info.iterations == 0);
            CHECK(check_same_bits(again.r, first.r, (size_t)first.size * sizeof(double)));
            answer_free(&again);
        }
        if (made->r != NULL) { // the pair that the problem was made from
            Answer known = answer_from(&made->problem, NULL, made->r, NULL);
            CHECK(known.info.iterations == 0);
            CHECK(known.info.residual.scaled < 1e-12);
            answer_free(&known);
        }
        answer_free(&first);
        fil_generated_destroy(made);
    }
}

static void residuals_are_those_of_the_solution(void) {
    FilGenerated *made = make(FIL_GENERATE_TANGLES, 100, 0.9, 72);
    FilFrictionSettings settings = make_settings(FIL_SOLVER_GAUSS_SEIDEL, 1e-8, 1);
    settings.max_iterations = 7;
    for (int form = 0; form < 2; form++) {
        const FilFrictionProblem *problem = form == 0 ? &made->problem : &made->global;
        Answer answer = answer_of(problem, &settings);
        double *u = answer_array(answer.size);
        FilResidual residual;
        CHECK(fil_friction_residual(problem, answer.r, u, &residual, NULL) == FIL_OK);
        CHECK(check_same_bits(&residual, &answer.info.residual, sizeof residual));
        CHECK(check_same_bits(u, answer.u, (size_t)answer.size * sizeof *u));
        free(u);
        answer_free(&answer);
    }
    fil_generated_destroy(made);
}

static void every_name_is_there_and_nothing_beyond(void) {
#define NAMES(function, Type, COUNT)                                      \
    do {                                                                  \
        for (int k = 0; k < (COUNT); k++) {                               \
            CHECK(function((Type)k) != NULL);                             \
            for (int l = 0; l < k; l++) {                                 \
                CHECK(strcmp(function((Type)k), function((Type)l)) != 0); \
            }                                                             \
        }                                                                 \
        CHECK(function((Type)(COUNT)) == NULL);                           \
        CHECK(function((Type)-1) == NULL);                                \
    } while (0)
    NAMES(fil_friction_solver_name, FilFrictionSolver, FIL_FRICTION_SOLVER_COUNT);
    NAMES(fil_local_solver_name, FilLocalSolver, FIL_LOCAL_SOLVER_COUNT);
    NAMES(fil_newton_function_name, FilNewtonFunction, FIL_NEWTON_FUNCTION_COUNT);
    NAMES(fil_convex_solver_name, FilConvexSolver, FIL_CONVEX_SOLVER_COUNT);
    NAMES(fil_block_kind_name, FilBlockKind, FIL_BLOCK_KIND_COUNT);
    NAMES(fil_outcome_name, FilOutcome, FIL_OUTCOME_COUNT);
#undef NAMES
    CHECK(strcmp(fil_friction_solver_name(FIL_SOLVER_GAUSS_SEIDEL), "gauss-seidel") == 0);
    CHECK(strcmp(fil_outcome_name(FIL_NO_SOLUTION), "no-solution") == 0);
}

// --- seeds and files -----------------------------------------------------------------------------

// True when `auto` solves it; otherwise it is told what did not work.
static bool is_solved(const FilFrictionProblem *problem, const char *name) {
    FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-8, 1);
    settings.natural_tolerance = 1e-8;
    Answer answer = answer_of(problem, &settings);
    const bool solved = answer.info.outcome == FIL_CONVERGED && answer_is_finite(&answer) &&
                        answer.info.residual.scaled <= 1e-8 && answer.info.residual.natural <= 1e-8;
    if (!solved) {
        (void)fprintf(stderr, "%s: %s after %d iterations, scaled %.2g, natural %.2g\n", name,
                      fil_outcome_name(answer.info.outcome), answer.info.iterations,
                      answer.info.residual.scaled, answer.info.residual.natural);
    }
    answer_free(&answer);
    return solved;
}

static void the_default_solves_what_seeds_make(void) {
    static const double conditioning[] = {0.3, 0.9, 1.3};
    int solved = 0, count = 0;
    for (int generator = 0; generator < FIL_GENERATOR_COUNT; generator++) {
        for (int k = 0; k < (SLOW != 0 ? 6 : 24); k++) {
            const int contacts = 5 + 23 * k % 120;
            FilGenerated *made =
                make((FilGenerator)generator, contacts, conditioning[k % 3], 100 + (uint64_t)k);
            char name[80];
            (void)snprintf(name, sizeof name, "%s, %d contacts, nu %g, seed %d",
                           fil_generator_name((FilGenerator)generator), contacts,
                           conditioning[k % 3], 100 + k);
            solved += is_solved(&made->problem, name);
            count++;
            fil_generated_destroy(made);
        }
    }
    CHECK(solved == count);
    CHECK(SLOW != 0 || count >= 100);
}

static void the_default_solves_every_public_file(void) {
    const char *folder = getenv("FILUM_PROBLEMS");
    DIR *open_folder = folder != NULL ? opendir(folder) : NULL;
    if (open_folder == NULL) {
        CHECK_SKIP("FILUM_PROBLEMS names no folder");
    }
    int solved = 0, count = 0;
    for (struct dirent *entry = NULL; (entry = readdir(open_folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".hdf5") != 0) {
            continue;
        }
        char path[1024];
        FilFclib *file = NULL;
        FilError error = {0};
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (fil_fclib_read(path, NULL, &file, &error) == FIL_OK) {
            solved += is_solved(&file->problem, entry->d_name);
            fil_fclib_destroy(file);
        } else {
            (void)fprintf(stderr, "%s\n", error.text);
        }
        count++;
    }
    (void)closedir(open_folder);
    CHECK(count > 0 && solved == count);
}

// W may have a block (i, j) without (j, i): blocks of one colour must not touch either way.
static void sweeps_on_an_unsymmetric_pattern_have_the_same_bits(void) {
    enum { N = 5000 };
    int *start = calloc(N + 1, sizeof *start), *column = calloc(2 * N, sizeof *column);
    double *value = calloc(18 * N, sizeof *value), *b = calloc(3 * N, sizeof *b),
           *mu = calloc(N, sizeof *mu);
    int next = 0;
    for (int i = 0; i < N; i++) {
        start[i] = next;
        for (int j = i; j < N && j <= i + 1; j++) {
            column[next] = j;
            for (int k = 0; k < 3; k++) {
                value[9 * next + 4 * k] = j == i ? 1.0 : 0.3;
            }
            next++;
        }
        b[3 * i] = -1.0 - 0.1 * (i % 7);
        b[3 * i + 1] = 0.2 * (i % 5);
        mu[i] = 0.4;
    }
    start[N] = next;
    const FilFrictionProblem problem = {.block_count = N,
                                        .block_size = 3,
                                        .mu = mu,
                                        .form = FIL_FORM_BLOCKS,
                                        .blocks = {start, column, value},
                                        .b = b};
    FilFrictionSettings settings = make_settings(FIL_SOLVER_GAUSS_SEIDEL, 1e-10, 1);
    Answer first = answer_of(&problem, &settings);
    CHECK(first.info.outcome == FIL_CONVERGED);
    for (int threads = 2; threads <= 4; threads += 2) {
        settings.thread_count = threads;
        Answer answer = answer_of(&problem, &settings);
        CHECK(check_same_bits(answer.r, first.r, (size_t)first.size * sizeof *first.r));
        answer_free(&answer);
    }
    answer_free(&first);
    free(start);
    free(column);
    free(value);
    free(b);
    free(mu);
}

// A solve may itself run on one of the caller's threads.
static void solve_in_loop(void *context, int item) {
    Answer *answers = context;
    const double W[36] = {2, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 1};
    const double b[6] = {-1, 0.3, 0, -2, 0, 3}, mu[2] = {0.3, 0.5};
    const int start[3] = {0, 1, 2}, column[2] = {0, 1};
    const FilFrictionProblem problem = {.block_count = 2,
                                        .block_size = 3,
                                        .mu = mu,
                                        .form = FIL_FORM_BLOCKS,
                                        .blocks = {start, column, W},
                                        .b = b};
    const FilFrictionSettings settings = make_settings(FIL_SOLVER_AUTO, 1e-12, 1);
    answers[item] = answer_of(&problem, &settings);
}

static void solves_run_on_the_threads_of_the_caller(void) {
    Answer answers[8] = {{0}};
    fil_parallel_for(8, 4, solve_in_loop, answers);
    for (int k = 0; k < 8; k++) {
        CHECK(answers[k].info.outcome == FIL_CONVERGED);
        CHECK(check_same_bits(answers[k].r, answers[0].r, 6 * sizeof(double)));
    }
    for (int k = 0; k < 8; k++) {
        answer_free(&answers[k]);
    }
}

#define TESTS(X)                                                    \
    X(solves_run_on_the_threads_of_the_caller)                      \
    X(sweeps_on_an_unsymmetric_pattern_have_the_same_bits)          \
    X(every_form_has_the_same_solution)                             \
    X(velocities_of_bodies_satisfy_their_equations)                 \
    X(a_factored_operator_acts_like_the_stored_one)                 \
    X(mixed_sizes_on_bodies_are_solved)                             \
    X(many_islands_have_the_same_bits_for_any_number_of_threads)    \
    X(one_large_island_has_the_same_bits_for_any_number_of_threads) \
    X(coloured_sweeps_have_the_same_bits_for_any_number_of_threads) \
    X(the_second_solve_allocates_nothing)                           \
    X(a_workspace_serves_any_problem_next)                          \
    X(every_allocation_may_fail)                                    \
    X(the_callback_sees_iterations_and_can_stop)                    \
    X(the_callback_is_never_called_twice_at_once)                   \
    X(the_iteration_limit_is_kept)                                  \
    X(a_warm_start_from_the_solution_needs_no_iteration)            \
    X(residuals_are_those_of_the_solution)                          \
    X(every_name_is_there_and_nothing_beyond)                       \
    X(the_default_solves_what_seeds_make)                           \
    X(the_default_solves_every_public_file)

CHECK_MAIN(TESTS)
