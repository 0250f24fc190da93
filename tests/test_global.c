// The global form: what comes back obeys M v = H r + f and u = H^T v + w, and the law.
#include "check.h"
#include "filum/generate.h"

#include <stdlib.h>

static FilGenerated *make(FilGenerator generator) {
    FilGenerateDef def = fil_generate_def_default(generator);
    def.contact_count = 40;
    FilGenerated *made = NULL;
    if (fil_generate(&def, NULL, &made, NULL) != FIL_OK) {
        abort();
    }
    return made;
}

// y += factor * A x, or A^T x.
static void add_product(const FilSparse *A, bool transposed, double factor, const double *x,
                        double *y) {
    for (int c = 0; c < A->column_count; c++) {
        for (int k = A->start[c]; k < A->start[c + 1]; k++) {
            const int row = A->index[k];
            y[transposed ? c : row] += factor * A->value[k] * x[transposed ? row : c];
        }
    }
}

static double largest(const double *x, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

static void velocities_of_bodies_and_contacts_belong_together(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        FilGenerated *made = make((FilGenerator)g);
        const FilFrictionProblem *p = &made->global;
        const int n = 3 * p->block_count, m = p->dof_count;
        double *x = calloc(2 * (size_t)n + (size_t)m, sizeof *x);
        if (x == NULL) {
            abort();
        }
        FilFrictionSolution solution = {.r = x, .u = x + n, .v = x + 2 * n};
        FilFrictionInfo info;
        CHECK(fil_friction_solve(p, NULL, NULL, &solution, &info, NULL) == FIL_OK);
        CHECK(info.outcome == FIL_CONVERGED);
        const double unit = 1.0 + largest(solution.r, n) + largest(p->global.f, m);
        add_product(&p->global.H, true, -1.0, solution.v, solution.u);
        for (int k = 0; k < n; k++) {
            solution.u[k] -= p->global.w[k];
        }
        CHECK(largest(solution.u, n) <= 1e-11 * unit);
        double *rest = calloc((size_t)m, sizeof *rest);
        if (rest == NULL) {
            abort();
        }
        add_product(&p->global.M, false, 1.0, solution.v, rest);
        add_product(&p->global.H, false, -1.0, solution.r, rest);
        for (int k = 0; k < m; k++) {
            rest[k] -= p->global.f[k];
        }
        CHECK(largest(rest, m) <= 1e-10 * unit);
        free(rest);
        free(x);
        fil_generated_destroy(made);
    }
}

static void the_velocities_of_the_bodies_need_not_be_asked_for(void) {
    FilGenerated *made = make(FIL_GENERATE_SPHERES);
    const int n = 3 * made->global.block_count;
    double *r = calloc((size_t)n, sizeof *r);
    FilFrictionSolution solution = {.r = r};
    FilFrictionInfo info;
    CHECK(fil_friction_solve(&made->global, NULL, NULL, &solution, &info, NULL) == FIL_OK);
    CHECK(info.outcome == FIL_CONVERGED);
    free(r);
    fil_generated_destroy(made);
}

#define TESTS(X)                                         \
    X(velocities_of_bodies_and_contacts_belong_together) \
    X(the_velocities_of_the_bodies_need_not_be_asked_for)

CHECK_MAIN(TESTS)
