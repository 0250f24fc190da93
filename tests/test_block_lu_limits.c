// The block LU where matrices are singular, memory ends or threads share the work.
#include "block_lu_checks.h"
#include "failing_allocator.h"

#include <float.h>

static bool all_finite(int n, const double *x) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

// W of one body has rank 6: 3 n - 6 pivots are replaced, and a right-hand side in its range is
// still met.
static void singular_matrices_give_finite_answers(void) {
    FilRandom random = fil_random_make(6);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = tower_bodies(&arena, 1, 12);
    int size[12];
    for (int i = 0; i < 12; i++) {
        size[i] = 3;
    }
    const BlockProblem a = make_problem(&arena, &random, &bodies, size, 0.0);
    FilBlockLu *lu = make_lu(&arena, &a.pattern);
    const double *x0 = random_vector(&arena, &random, 36);
    double x[36], b[36];
    multiply(&a, NULL, x0, b);
    memcpy(x, b, sizeof x);
    CHECK(fil_block_lu_factor(lu, a.value, NULL) == 30);
    CHECK(fil_block_lu_solve(lu, x));
    double *ax = FIL_NEW(&arena, double, 36);
    multiply(&a, NULL, x, ax);
    CHECK(distance(36, ax, b) <= 1e-10 * norm(36, b));

    memset(a.value, 0, sizeof(double) * 9 * 144); // nothing at all
    CHECK(fil_block_lu_factor(lu, a.value, NULL) == 36);
    CHECK(fil_block_lu_solve(lu, x) && all_finite(36, x));
    fil_arena_destroy(&arena);
}

static void check_scales(FilArena *arena, FilRandom *random, const BlockProblem *a) {
    static const double scales[] = {1.0, 1e-300, 1e-150, 1e150, 1e300, DBL_MAX};
    const ptrdiff_t entries = block_places(arena, &a->pattern)[a->pattern.row_start[a->pattern.n]];
    double *scaled = FIL_NEW(arena, double, entries);
    FilBlockLu *lu = make_lu(arena, &a->pattern);
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        for (ptrdiff_t e = 0; e < entries; e++) {
            scaled[e] = fmax(fmin(a->value[e] * scales[k], DBL_MAX), -DBL_MAX);
        }
        double *x = random_vector(arena, random, a->unknowns);
        CHECK(fil_block_lu_factor(lu, scaled, NULL) >= 0);
        (void)fil_block_lu_solve(lu, x);
        CHECK(all_finite(a->unknowns, x));
    }
}

// Indefinite at worst: with the diagonal blocks zero, pivots come from neighbours or the floor.
static void zero_diagonals_and_extreme_scales_stay_finite(void) {
    FilRandom random = fil_random_make(9);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = random_bodies(&arena, &random, 40, 60);
    const int *size = random_sizes(&arena, &random, 60, 3);
    const BlockProblem a = make_problem(&arena, &random, &bodies, size, 0.04);
    check_scales(&arena, &random, &a);
    const ptrdiff_t *place = block_places(&arena, &a.pattern);
    for (int i = 0; i < 60; i++) {
        const int e = find_block(&a.pattern, i, i);
        memset(a.value + place[e], 0, (size_t)(place[e + 1] - place[e]) * sizeof(double));
    }
    check_scales(&arena, &random, &a);
    fil_arena_destroy(&arena);
}

static void factoring_again_allocates_nothing(void) {
    FilRandom random = fil_random_make(12);
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilArena arena = fil_arena_make(NULL), own = fil_arena_make(&allocator);
    FilArena scratch = fil_arena_make(&allocator);
    const Bodies bodies = random_bodies(&arena, &random, 50, 150);
    const BlockProblem a = make_problem3(&arena, &random, &bodies);
    double *x = random_vector(&arena, &random, a.unknowns);
    bool active[150] = {true, false, true};
    int after_first = 0;
    for (int round = 0; round < 3; round++) { // a new analysis in used arenas is free as well
        FilBlockLu *lu = NULL;
        CHECK(fil_block_lu_analyse(&a.pattern, &own, &scratch, &lu) == FIL_OK);
        CHECK(fil_block_lu_reserve(lu, &own) == FIL_OK);
        const int before = memory.requests;
        for (int k = 0; k < 3; k++) {
            fil_block_lu_set_active(lu, k == 1 ? active : NULL);
            (void)fil_block_lu_factor(lu, a.value, a.diagonal);
            (void)fil_block_lu_solve(lu, x);
        }
        CHECK(memory.requests == before);
        after_first = round == 0 ? memory.requests : after_first;
        fil_arena_reset(&own);
    }
    CHECK(memory.requests == after_first);
    fil_arena_destroy(&own);
    fil_arena_destroy(&scratch);
    fil_arena_destroy(&arena);
}

// Fail the 1st, 2nd, ... allocation until the calls succeed; the sanitizer proves nothing leaked.
static void every_allocation_may_fail(void) {
    FilRandom random = fil_random_make(13);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = lattice_bodies(&arena, &random, 4);
    const BlockProblem a = make_problem3(&arena, &random, &bodies);
    int failures = 0;
    for (bool done = false; !done && failures < 100;) {
        FailingAllocator memory = {.fail_at = failures + 1};
        const FilAllocator allocator = failing_allocator(&memory);
        FilArena own = fil_arena_make(&allocator), scratch = fil_arena_make(&allocator);
        FilBlockLu *lu = NULL;
        FilStatus status = fil_block_lu_analyse(&a.pattern, &own, &scratch, &lu);
        CHECK((status == FIL_OK) == (lu != NULL));
        if (status == FIL_OK) {
            status = fil_block_lu_reserve(lu, &own);
        }
        CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
        done = status == FIL_OK;
        failures += !done;
        fil_arena_destroy(&own);
        fil_arena_destroy(&scratch);
        CHECK(failing_allocator_is_clean(&memory));
    }
    CHECK(failures > 3 && failures < 100);
    fil_arena_destroy(&arena);
}

static void check_threads(FilArena *arena, FilRandom *random, const Bodies *bodies) {
    const BlockProblem a = make_problem3(arena, random, bodies);
    const double *b = random_vector(arena, random, a.unknowns);
    FilBlockLu *lu = make_lu(arena, &a.pattern);
    bool *active = FIL_NEW(arena, bool, a.pattern.n);
    for (int i = 0; i < a.pattern.n; i++) {
        active[i] = fil_random_int(random, 8) != 0;
    }
    for (int round = 0; round < 2; round++) {
        double *first = NULL;
        fil_block_lu_set_active(lu, round == 0 ? NULL : active);
        for (int threads = 1; threads <= 4; threads++) {
            double *x = copy_vector(arena, a.unknowns, b);
            fil_block_lu_set_threads(lu, threads);
            CHECK(fil_block_lu_factor(lu, a.value, a.diagonal) == 0);
            CHECK(fil_block_lu_solve(lu, x));
            first = first != NULL ? first : x;
            CHECK(memcmp(first, x, (size_t)a.unknowns * sizeof *x) == 0);
        }
    }
}

// Two bodies with `own` contacts each and `shared` between them: two fronts.
static Bodies twin_bodies(FilArena *arena, int own, int shared) {
    const int count = 2 * own + shared;
    Link *link = FIL_NEW(arena, Link, count);
    for (int l = 0; l < count; l++) {
        link[l] = (Link){{l < own + shared ? 0 : -1, l >= own ? 1 : -1}};
    }
    return bodies_from_links(arena, 2, count, link);
}

// Many small fronts, and a few of several hundred pivots that all threads share.
static void threads_do_not_change_a_bit(void) {
    FilRandom random = fil_random_make(14);
    FilArena arena = fil_arena_make(NULL);
    const Bodies kinds[] = {lattice_bodies(&arena, &random, 5), tower_bodies(&arena, 500, 12),
                            random_bodies(&arena, &random, 100, 300),
                            random_bodies(&arena, &random, 3000, 3400),
                            twin_bodies(&arena, 250, 150)};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_threads(&arena, &random, &kinds[k]);
    }
    fil_arena_destroy(&arena);
}

static bool stops_at_zero(void *user) {
    int *left = user;
    return (*left)-- <= 0;
}

// Fronts that take long are stopped in their middle. Nothing is read that was not written, the
// answer is told to be none, and the next factorisation is as if nothing had been.
static void a_factorisation_may_be_stopped(void) {
    enum { BLOCKS = 400, UNKNOWNS = 3 * BLOCKS };
    FilRandom random = fil_random_make(15);
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilArena arena = fil_arena_make(&allocator);
    const Bodies bodies = tower_bodies(&arena, 1, BLOCKS);
    const BlockProblem a = make_problem3(&arena, &random, &bodies);
    FilBlockLu *lu = make_lu(&arena, &a.pattern);
    const double *b = random_vector(&arena, &random, UNKNOWNS);
    int questions = 0;
    for (bool stopped = true; stopped && questions < 100; questions++) {
        int left = questions;
        fil_block_lu_set_stop(lu, stops_at_zero, &left);
        (void)fil_block_lu_factor(lu, a.value, a.diagonal);
        stopped = left < 0;
        double *x = copy_vector(&arena, UNKNOWNS, b);
        CHECK(fil_block_lu_solve(lu, x) == !stopped);
        CHECK(all_finite(UNKNOWNS, x));
        if (!stopped) {
            double *ax = FIL_NEW(&arena, double, UNKNOWNS);
            multiply(&a, a.diagonal, x, ax);
            CHECK(distance(UNKNOWNS, ax, b) <= 1e-11 * norm(UNKNOWNS, b));
        }
    }
    CHECK(questions > 3 && questions < 100);
    fil_arena_destroy(&arena);
}

#define TESTS(X)                                     \
    X(singular_matrices_give_finite_answers)         \
    X(zero_diagonals_and_extreme_scales_stay_finite) \
    X(factoring_again_allocates_nothing)             \
    X(every_allocation_may_fail)                     \
    X(a_factorisation_may_be_stopped)                \
    X(threads_do_not_change_a_bit)

CHECK_MAIN(TESTS)
