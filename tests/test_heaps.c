// Heaps, whose contacts outnumber what they hold: solved without forming W, to the same law.
#include "check.h"
#include "friction_answer.h"
#include "world_bench.h"

#include <math.h>
#include <string.h>

#include "filum/generate.h"

// --- problems given by a product -----------------------------------------------------------------

// W r of a problem that is given by bodies.
typedef struct Bodies {
    const FilFrictionProblem *problem;
    double *v;
    int products;
} Bodies;

static void multiply(void *user, const double *r, double *Wr) {
    Bodies *x = user;
    const FilBodyRows *bodies = &x->problem->bodies;
    const int n = x->problem->block_count, all = bodies->body_start[bodies->body_count];
    x->products++;
    memset(x->v, 0, sizeof(double) * (size_t)all);
    for (int pass = 0; pass < 2; pass++) { // v = A^-1 H^T r, then W r = H v
        const double *row = pass == 0 ? bodies->HA : bodies->H;
        for (int i = 0; i < n; i++) {
            double *out = Wr + 3 * (ptrdiff_t)i;
            memset(out, 0, 3 * sizeof(double));
            for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
                const int first = bodies->body_start[bodies->body[e]];
                const int m = bodies->body_start[bodies->body[e] + 1] - first;
                for (int k = 0; k < 3 * m; k++) {
                    if (pass == 0) {
                        x->v[first + k % m] += row[k] * r[3 * i + k / m];
                    } else {
                        out[k / m] += row[k] * x->v[first + k % m];
                    }
                }
                row += 3 * (ptrdiff_t)m;
            }
        }
    }
}

// The diagonal blocks, one column at a time.
static double *find_diagonal(Bodies *bodies) {
    const int size = 3 * bodies->problem->block_count;
    double *diagonal = answer_array(3 * size), *r = answer_array(size), *Wr = answer_array(size);
    for (int k = 0; k < size; k++) {
        r[k] = 1.0;
        multiply(bodies, r, Wr);
        r[k] = 0.0;
        for (int row = 0; row < 3; row++) {
            diagonal[9 * (k / 3) + 3 * row + k % 3] = Wr[3 * (k / 3) + row];
        }
    }
    free(r);
    free(Wr);
    return diagonal;
}

static FilGenerated *make_tangle(int contacts, double conditioning) {
    FilError error;
    FilGenerated *made = NULL;
    FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_TANGLES);
    def.contact_count = contacts;
    def.conditioning = conditioning;
    def.stretch = 1.0;
    must(fil_generate(&def, NULL, &made, &error), &error);
    return made;
}

static void a_product_is_enough_to_solve_a_problem_with_exact_friction(void) {
    FilGenerated *made = make_tangle(200, 1.5);
    Bodies bodies = {.problem = &made->problem};
    bodies.v = answer_array(made->problem.bodies.body_start[made->problem.bodies.body_count]);
    double *diagonal = find_diagonal(&bodies);
    FilFrictionProblem problem = made->problem;
    problem.form = FIL_FORM_PRODUCT;
    problem.product = (FilProductForm){multiply, &bodies, diagonal};
    bodies.products = 0;
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-5;
    Answer answer = answer_of(&problem, &settings);
    CHECK(answer.info.outcome == FIL_CONVERGED && answer.info.residual.scaled <= 1e-5);
    CHECK(bodies.products >= answer.info.iterations);
    CHECK(answer.info.iterations > 10);
    // the same by the problem that has W
    FilResidual residual;
    FilError error;
    must(fil_friction_residual(&made->problem, answer.r, NULL, &residual, &error), &error);
    CHECK(residual.scaled <= 1.0001e-5);
    answer_free(&answer);
    free(diagonal);
    free(bodies.v);
    fil_generated_destroy(made);
}

static bool says(const FilError *error, const char *text) {
    return strstr(error->text, text) != NULL;
}

static void what_a_product_cannot_do_is_said(void) {
    FilGenerated *made = make_tangle(4, 0.5);
    double r[12], nothing[36] = {0};
    FilFrictionProblem problem = made->problem;
    FilFrictionSettings settings = fil_friction_settings_default();
    FilFrictionSolution solution = {.r = r};
    FilFrictionInfo info;
    FilError error;
    problem.form = FIL_FORM_PRODUCT;
    CHECK(fil_friction_solve(&problem, NULL, NULL, &solution, &info, &error) == FIL_E_ARGUMENT);
    CHECK(says(&error, "product.multiply is NULL; W is known by its product alone"));
    problem.product.multiply = multiply;
    CHECK(fil_friction_solve(&problem, NULL, NULL, &solution, &info, &error) == FIL_E_ARGUMENT);
    CHECK(says(&error, "product.diagonal is NULL"));
    problem.product.diagonal = nothing;
    settings.solver = FIL_SOLVER_GAUSS_SEIDEL;
    CHECK(fil_friction_solve(&problem, &settings, NULL, &solution, &info, &error) ==
          FIL_E_ARGUMENT);
    CHECK(says(&error, "solver is gauss-seidel, which needs W, but it is given by its product"));
    fil_generated_destroy(made);
}

// --- a heap in the world -------------------------------------------------------------------------

enum { STRANDS = 16, STEPS = 4, GRID = 30 };

// Strands side by side in layers, one upon the other, that begin to fall.
static FilWorld *make_heap(int elements, double tolerance, int threads) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = threads;
    def.solver.tolerance = tolerance;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    for (int k = 0; k < STRANDS; k++) {
        int layer = k / 4;
        FilRodDef rod = log_def(FIL_ROD_CHAIN, 0.01001 + 0.01834 * layer);
        rod.element_count = elements;
        rod.section.young = 1e6;
        rod.root.position[0] = 0.003 * (k % 3);
        rod.root.position[1] = 0.02001 * (k % 4) + 0.008 * (layer % 2);
        (void)add_rod(world, &rod, 1);
    }
    return world;
}

static void tips_of(FilWorld *world, double *tips) {
    for (int k = 0; k < STRANDS; k++) {
        FilPose pose;
        fil_rod_at(fil_world_rod(world, k), 1.0, &pose, NULL);
        memcpy(tips + 3 * (ptrdiff_t)k, pose.position, sizeof pose.position);
    }
}

// Takes steps. Returns the most contacts that mattered.
static int fall(FilWorld *world, int steps, double tolerance, double *tips) {
    int most = 0;
    for (int k = 0; k < steps; k++) {
        FilStepInfo info = take_step(world);
        most = info.active_count > most ? info.active_count : most;
        CHECK(info.outcome == FIL_CONVERGED && info.residual.scaled <= tolerance);
        CHECK(info.iterations == 0 || info.residual.scaled > 0.0); // the rough rounds do not count
    }
    tips_of(world, tips);
    fil_world_destroy(world);
    return most;
}

static void a_heap_moves_the_same_with_and_without_its_matrix(void) {
    const double tolerance[2] = {1e-6, 1e-7}; // the finer one is too fine for products: W is formed
    double tips[2][3 * STRANDS];
    for (int k = 0; k < 2; k++) {
        CHECK(fall(make_heap(20, tolerance[k], 1), STEPS, tolerance[k], tips[k]) > 400);
    }
    for (int k = 0; k < 3 * STRANDS; k++) {
        CHECK_NEAR(tips[0][k], tips[1][k], 0.0, 2e-6); // they fell by some 1e-4
    }
}

typedef struct Seen {
    int problems, products;
    bool formed;
    double worst; // of the product and its diagonal against W, relative
} Seen;

// How far a product is from W r for some r, and its diagonal from that of W.
static double compare_product(const FilFrictionProblem *problem) {
    const FilBlockRows *W = &problem->blocks;
    const int n = problem->block_count;
    double *r = answer_array(3 * n), *Wr = answer_array(3 * n), most = 0.0, worst = 0.0;
    for (int k = 0; k < 3 * n; k++) {
        r[k] = k / 3 % 4 == 0 ? 0.0 : sin(1.0 + 3.7 * k); // some impulses are 0
    }
    problem->product.multiply(problem->product.user, r, Wr);
    for (int i = 0; i < n; i++) {
        double u[3] = {0.0, 0.0, 0.0};
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            const double *block = W->value + 9 * (ptrdiff_t)k;
            for (int e = 0; e < 9; e++) {
                u[e / 3] += block[e] * r[3 * W->column[k] + e % 3];
                if (W->column[k] == i) {
                    worst = fmax(worst, fabs(block[e] - problem->product.diagonal[9 * i + e]) /
                                            fabs(block[0]));
                }
            }
        }
        for (int row = 0; row < 3; row++) {
            most = fmax(most, fabs(u[row]));
            worst = fmax(worst, fabs(u[row] - Wr[3 * i + row]) / fmax(most, 1e-300));
        }
    }
    free(r);
    free(Wr);
    return worst;
}

static void look(void *user, const FilFrictionProblem *problem, const double *r,
                 const bool *fresh) {
    Seen *seen = user;
    (void)r;
    (void)fresh;
    seen->problems++;
    const bool formed = problem->form == FIL_FORM_BLOCKS && problem->blocks.start != NULL;
    seen->formed = seen->formed && formed;
    if (formed && problem->product.multiply != NULL) {
        seen->products++;
        seen->worst = fmax(seen->worst, compare_product(problem));
    }
}

static void whoever_watches_a_heap_is_shown_its_matrix(void) {
    double tips[2][3 * STRANDS];
    Seen seen = {.formed = true};
    for (int k = 0; k < 2; k++) {
        FilWorld *world = make_heap(20, 1e-5, 1);
        if (k == 1) {
            fil_world_watch_problems(world, look, &seen);
        }
        (void)fall(world, STEPS, 1e-5, tips[k]);
    }
    CHECK(seen.problems >= STEPS && seen.formed);
    CHECK(seen.products > 0 && seen.worst < 1e-9);
    for (int k = 0; k < 3 * STRANDS; k++) {
        CHECK(tips[0][k] == tips[1][k]);
    }
}

// Two layers of strands that cross; the upper one is higher by `gap` than where it touches. Each
// strand has few contacts beside its unknowns.
static FilWorld *make_grid(double gap) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    def.solver.tolerance = 1e-5;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    for (int k = 0; k < 2 * GRID; k++) {
        bool upper = k >= GRID;
        FilRodDef rod = log_def(FIL_ROD_CHAIN, upper ? 0.03 + gap : 0.01);
        rod.element_count = 60;
        rod.root.position[upper ? 0 : 1] = 0.03 * (k % GRID) + 0.05;
        if (upper) {
            const double across[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
            memcpy(rod.root.axis, across, sizeof across);
        }
        (void)add_rod(world, &rod, 1);
    }
    return world;
}

static void strands_with_few_contacts_keep_what_these_do_to_each_other(void) {
    FilWorld *world = make_grid(0.0);
    Seen seen = {.formed = true};
    fil_world_watch_problems(world, look, &seen);
    CHECK(take_step(world).active_count >= GRID * GRID);
    CHECK(seen.products > 0 && seen.worst < 1e-9);
    fil_world_destroy(world);
}

static void overlaps_in_a_heap_are_taken_out(void) {
    FilWorld *world = make_grid(-0.002);
    CHECK(take_step(world).penetration > 1e-3);
    FilStepInfo info = take_step(world);
    CHECK(info.outcome == FIL_CONVERGED && info.penetration < 5e-4);
    fil_world_destroy(world);
}

// It is large enough to make use of a second one.
static void a_heap_moves_the_same_on_two_threads(void) {
    double tips[2][3 * STRANDS];
    for (int threads = 1; threads <= 2; threads++) {
        (void)fall(make_heap(170, 1e-5, threads), 2, 1e-5, tips[threads - 1]);
    }
    for (int k = 0; k < 3 * STRANDS; k++) {
        CHECK(tips[0][k] == tips[1][k]);
    }
}

#define TESTS(X)                                                  \
    X(a_product_is_enough_to_solve_a_problem_with_exact_friction) \
    X(what_a_product_cannot_do_is_said)                           \
    X(a_heap_moves_the_same_with_and_without_its_matrix)          \
    X(whoever_watches_a_heap_is_shown_its_matrix)                 \
    X(strands_with_few_contacts_keep_what_these_do_to_each_other) \
    X(overlaps_in_a_heap_are_taken_out)                           \
    X(a_heap_moves_the_same_on_two_threads)

CHECK_MAIN(TESTS)
