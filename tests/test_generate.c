// Problems made from a seed: the same bits, the promised sizes, a W that is one, and a lawful pair.
#include "check.h"
#include "failing_allocator.h"
#include "filum/generate.h"

#include <stdint.h>
#include <stdlib.h>

static FilGenerated *make(const FilGenerateDef *def) {
    FilGenerated *made = NULL;
    FilError error = {0};
    if (fil_generate(def, NULL, &made, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return made;
}

static FilGenerateDef define(FilGenerator generator, int contacts, uint64_t seed) {
    FilGenerateDef def = fil_generate_def_default(generator);
    def.contact_count = contacts;
    def.seed = seed;
    return def;
}

static int entry_count(const FilGenerated *made) {
    return made->problem.bodies.start[made->problem.block_count];
}

// Scalars in H or HA: bodies of one size.
static size_t row_scalars(const FilGenerated *made) {
    return 3 * (size_t)made->problem.bodies.body_start[1] * (size_t)entry_count(made);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    for (const unsigned char *c = bytes; size > 0; size--) {
        hash = (hash ^ *c++) * 0x100000001b3u; // FNV-1a
    }
    return hash;
}

// All that makes the problem, in one number.
static uint64_t hash_problem(const FilGenerated *made) {
    const FilFrictionProblem *p = &made->problem, *g = &made->global;
    const size_t n = (size_t)p->block_count, m = (size_t)p->dof_count;
    uint64_t hash = 0xcbf29ce484222325u;
    hash = hash_bytes(hash, p->bodies.body, (size_t)entry_count(made) * sizeof(int));
    hash = hash_bytes(hash, p->bodies.H, row_scalars(made) * sizeof(double));
    hash = hash_bytes(hash, p->bodies.HA, row_scalars(made) * sizeof(double));
    hash = hash_bytes(hash, p->b, 3 * n * sizeof(double));
    hash = hash_bytes(hash, g->global.M.value, (size_t)g->global.M.start[m] * sizeof(double));
    hash = hash_bytes(hash, g->global.H.value, (size_t)g->global.H.start[3 * n] * sizeof(double));
    hash = hash_bytes(hash, g->global.f, m * sizeof(double));
    return hash_bytes(hash, g->global.w, 3 * n * sizeof(double));
}

// W of the bodies, dense.
static double *form_bodies(const FilFrictionProblem *p) {
    const int n = 3 * p->block_count, m = p->bodies.body_start[1];
    double *W = calloc((size_t)n * (size_t)n, sizeof *W);
    for (int i = 0; W != NULL && i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int e = p->bodies.start[i / 3]; e < p->bodies.start[i / 3 + 1]; e++) {
                for (int g = p->bodies.start[j / 3]; g < p->bodies.start[j / 3 + 1]; g++) {
                    const double *H = p->bodies.H + (size_t)m * (size_t)(3 * e + i % 3);
                    const double *HA = p->bodies.HA + (size_t)m * (size_t)(3 * g + j % 3);
                    for (int k = 0; p->bodies.body[e] == p->bodies.body[g] && k < m; k++) {
                        W[n * i + j] += H[k] * HA[k];
                    }
                }
            }
        }
    }
    return W;
}

// In place: A = L L^T, dense, row-major; returns the smallest pivot.
static double factor(int n, double *A) {
    double least = HUGE_VAL;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = A[n * i + j];
            for (int k = 0; k < j; k++) {
                sum -= A[n * i + k] * A[n * j + k];
            }
            A[n * i + j] = i == j ? sqrt(fmax(sum, 0.0)) : sum / A[n * j + j];
            least = i == j ? fmin(least, sum) : least;
        }
    }
    return least;
}

// W of the global form, dense: columns of H, half solved with M = L L^T, times each other.
static double *form_global(const FilFrictionProblem *p) {
    const int n = 3 * p->block_count, m = p->dof_count;
    const FilSparse *M = &p->global.M, *H = &p->global.H;
    double *L = calloc((size_t)m * (size_t)m, sizeof *L);
    double *half = calloc((size_t)n * (size_t)m, sizeof *half);
    double *W = calloc((size_t)n * (size_t)n, sizeof *W);
    if (L == NULL || half == NULL || W == NULL) {
        abort();
    }
    for (int c = 0; c < m; c++) {
        for (int k = M->start[c]; k < M->start[c + 1]; k++) {
            L[(size_t)m * (size_t)M->index[k] + (size_t)c] = M->value[k];
        }
    }
    CHECK(factor(m, L) > 0.0);
    for (int c = 0; c < n; c++) {
        double *x = half + (size_t)m * (size_t)c;
        for (int k = H->start[c]; k < H->start[c + 1]; k++) {
            x[H->index[k]] = H->value[k];
        }
        for (int i = 0; i < m; i++) {
            for (int k = 0; k < i; k++) {
                x[i] -= L[(size_t)m * (size_t)i + (size_t)k] * x[k];
            }
            x[i] /= L[(size_t)(m + 1) * (size_t)i];
        }
    }
    for (int k = 0; k < n * n; k++) {
        for (int i = 0; i < m; i++) {
            W[k] += half[m * (k / n) + i] * half[m * (k % n) + i];
        }
    }
    free(L);
    free(half);
    return W;
}

static double largest(const double *x, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

static void every_generator_has_a_name_and_a_text(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        CHECK(fil_generator_name((FilGenerator)g)[0] != '\0');
        CHECK(fil_generator_text((FilGenerator)g)[0] != '\0');
    }
    CHECK(fil_generator_name(FIL_GENERATOR_COUNT) == NULL);
    CHECK(fil_generator_text((FilGenerator)-1) == NULL);
}

static void the_same_definition_gives_the_same_bits(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        const FilGenerateDef def = define((FilGenerator)g, 60, 7);
        const FilGenerateDef other = define((FilGenerator)g, 60, 8);
        FilGenerated *a = make(&def), *b = make(&def), *c = make(&other);
        CHECK(hash_problem(a) == hash_problem(b));
        CHECK(hash_problem(a) != hash_problem(c));
        fil_generated_destroy(a);
        fil_generated_destroy(b);
        fil_generated_destroy(c);
    }
}

// Bits that every machine and compiler must give; written down by gcc 12 on x86-64.
static void the_bits_are_those_of_other_machines(void) {
    static const uint64_t golden[FIL_GENERATOR_COUNT] = {0x8ee0b5fc90bb9e26, 0x65bb78cddb1c05f1,
                                                         0x43316f28d7badaa8, 0xd0c1d6c6f57a300c,
                                                         0x2483c36e3b866e94, 0x26e169f40b0933fa};
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        const FilGenerateDef def = define((FilGenerator)g, 50, 1);
        FilGenerated *made = make(&def);
        const uint64_t hash = hash_problem(made);
        if (hash != golden[g]) {
            (void)fprintf(stderr, "%s: 0x%016llx\n", fil_generator_name(def.generator),
                          (unsigned long long)hash);
        }
        CHECK(hash == golden[g]);
        fil_generated_destroy(made);
    }
}

static void contacts_and_conditioning_are_what_was_asked_for(void) {
    static const FilGenerator exact[] = {FIL_GENERATE_FIBRES, FIL_GENERATE_TANGLES,
                                         FIL_GENERATE_RIGID};
    static const double nu[] = {0.3, 0.9, 1.3, 4.0};
    for (int k = 0; k < 12; k++) {
        FilGenerateDef def = define(exact[k / 4], 200, 3);
        def.conditioning = nu[k % 4];
        FilGenerated *made = make(&def);
        CHECK(made->problem.block_count == 200);
        CHECK_NEAR(3.0 * 200 / made->problem.dof_count, def.conditioning, 0.1, 0.0);
        fil_generated_destroy(made);
    }
    static const FilGenerator near[] = {FIL_GENERATE_TOWER, FIL_GENERATE_WALL,
                                        FIL_GENERATE_SPHERES};
    for (int k = 0; k < 3; k++) {
        const FilGenerateDef def = define(near[k], 500, 3);
        FilGenerated *made = make(&def);
        CHECK_NEAR(made->problem.block_count, 500, 0.25, 0.0);
        fil_generated_destroy(made);
    }
}

static void the_smallest_problems_can_be_made(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        for (int n = 1; n <= 5; n++) {
            FilGenerateDef def = define((FilGenerator)g, n, 1);
            def.conditioning = 4.0;
            FilGenerated *made = make(&def);
            FilError error;
            CHECK(made->problem.block_count >= n);
            CHECK(fil_friction_check(&made->problem, &error) == FIL_OK);
            CHECK(fil_friction_check(&made->global, &error) == FIL_OK);
            fil_generated_destroy(made);
        }
    }
}

static void the_lawful_pair_is_lawful(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        FilGenerateDef def = define((FilGenerator)g, 100, 11);
        def.solvable = true;
        FilGenerated *made = make(&def);
        const int size = 3 * made->problem.block_count;
        double *u = calloc((size_t)size, sizeof *u);
        FilResidual residual = {1.0, 1.0, 1.0};
        FilError error;
        CHECK(fil_friction_residual(&made->problem, made->r, u, &residual, &error) == FIL_OK);
        CHECK(residual.scaled < 1e-14 && residual.natural < 1e-14);
        for (int k = 0; k < size; k++) {
            CHECK_NEAR(u[k], made->u[k], 0.0, 1e-14 * largest(made->problem.b, size));
        }
        // the global form says the same, after a solve with M
        CHECK(fil_friction_residual(&made->global, made->r, u, &residual, &error) == FIL_OK);
        CHECK(residual.scaled < 1e-11);
        free(u);
        fil_generated_destroy(made);
    }
}

static void all_regimes_are_drawn(void) {
    const FilGenerateDef def = define(FIL_GENERATE_RIGID, 3000, 2);
    FilGenerated *made = make(&def);
    int open = 0, slide = 0;
    double mean = 0.0;
    for (int i = 0; i < 3000; i++) {
        const double *r = made->r + 3 * i, *u = made->u + 3 * i;
        open += r[0] == 0.0;
        slide += r[0] > 0.0 && (u[1] != 0.0 || u[2] != 0.0);
        mean += r[0] / (0.8 * 3000);
    }
    CHECK_NEAR(open / 3000.0, 0.2, 0.0, 0.03);
    CHECK_NEAR(slide / 3000.0, 0.5, 0.0, 0.04);
    CHECK_NEAR(mean, 1.0, 0.0, 0.07); // exponential, mean 1
    fil_generated_destroy(made);
}

static void both_forms_have_the_same_symmetric_semidefinite_w(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        const FilGenerateDef def = define((FilGenerator)g, 30, 5);
        FilGenerated *made = make(&def);
        const int n = 3 * made->problem.block_count;
        double *W = form_bodies(&made->problem), *V = form_global(&made->global);
        const double unit = largest(W, n * n);
        double off = 0.0, skew = 0.0;
        for (int k = 0; k < n * n; k++) {
            off = fmax(off, fabs(W[k] - V[k]));
            skew = fmax(skew, fabs(W[k] - W[n * (k % n) + k / n]));
        }
        CHECK(off < 1e-12 * unit);
        CHECK(skew < 1e-13 * unit);
        for (int k = 0; k < n; k++) {
            W[(n + 1) * k] += 1e-9 * unit; // boxes have zero eigenvalues
        }
        CHECK(factor(n, W) > 0.0);
        free(W);
        free(V);
        fil_generated_destroy(made);
    }
}

static void a_step_starts_from_velocities(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        FilGenerateDef def = define((FilGenerator)g, 40, 5);
        def.solvable = false;
        FilGenerated *made = make(&def);
        const int n = 3 * made->problem.block_count;
        double *u = calloc((size_t)n, sizeof *u), *r = calloc((size_t)n, sizeof *r);
        FilResidual residual;
        FilError error;
        CHECK(made->r == NULL && made->u == NULL);
        CHECK(fil_friction_residual(&made->global, r, u, &residual, &error) == FIL_OK);
        const double unit = largest(made->problem.b, n);
        for (int k = 0; k < n; k++) {
            CHECK_NEAR(u[k], made->problem.b[k], 0.0, 1e-12 * unit); // w + H^T M^-1 f = b
        }
        CHECK(unit > 0.1);
        free(u);
        free(r);
        fil_generated_destroy(made);
    }
}

// Which segments of a chain an entry of H touches: the first node with a weight.
static int first_node(const double *H) {
    int node = 0;
    while (H[3 * node] == 0.0 && H[3 * node + 1] == 0.0 && H[3 * node + 2] == 0.0) {
        node++;
    }
    return node;
}

static void contacts_of_fibres_are_spread_and_never_within_a_chain(void) {
    for (int nu = 0; nu < 3; nu++) {
        FilGenerateDef def = define(FIL_GENERATE_FIBRES, 1000, 9);
        def.conditioning = (const double[]){0.3, 0.9, 1.3}[nu];
        FilGenerated *made = make(&def);
        const FilBodyRows *bodies = &made->problem.bodies;
        int *used = calloc((size_t)bodies->body_count * 10, sizeof *used), most = 0;
        for (int e = 0; e < 2000; e++) {
            const int node = first_node(bodies->H + (size_t)90 * (size_t)e);
            const int at = 10 * bodies->body[e] + node;
            used[at]++;
            most = used[at] > most ? used[at] : most;
            CHECK(e % 2 == 0 || bodies->body[e] != bodies->body[e - 1]);
        }
        CHECK(most <= 2 * 1000 / (9 * bodies->body_count) + 2);
        free(used);
        fil_generated_destroy(made);
    }
}

static void masses_and_slopes_are_obeyed(void) {
    FilGenerateDef def = define(FIL_GENERATE_SPHERES, 500, 1);
    def.mass_ratio = 1000.0;
    def.slope = 1.0;
    FilGenerated *made = make(&def);
    double least = HUGE_VAL, most = 0.0;
    for (int k = 0; k < made->problem.dof_count; k += 6) {
        least = fmin(least, made->global.global.M.value[k]);
        most = fmax(most, made->global.global.M.value[k]);
    }
    CHECK(least >= 1.0 && most <= 1000.0 && most > 100.0 * least);
    const double mass = made->global.global.M.value[0];
    CHECK_NEAR(made->global.global.f[0] / mass, sqrt(0.5), 0.0, 0.06);
    CHECK_NEAR(made->global.global.f[2] / mass, -sqrt(0.5), 0.0, 0.06);
    fil_generated_destroy(made);
}

static void a_bad_field_is_named(void) {
    const struct {
        const char *field;
        size_t offset;
        double value;
    } bad[] = {
        {"conditioning", offsetof(FilGenerateDef, conditioning), 4.5},
        {"conditioning", offsetof(FilGenerateDef, conditioning), (double)NAN},
        {"mu", offsetof(FilGenerateDef, mu), -0.1},
        {"stretch", offsetof(FilGenerateDef, stretch), -1.0},
        {"bending", offsetof(FilGenerateDef, bending), (double)INFINITY},
        {"density", offsetof(FilGenerateDef, density), 0.0},
        {"mass_ratio", offsetof(FilGenerateDef, mass_ratio), 0.5},
        {"slope", offsetof(FilGenerateDef, slope), (double)NAN},
    };
    FilGenerated *made = NULL;
    FilError error;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
        *(double *)(void *)((char *)&def + bad[k].offset) = bad[k].value;
        CHECK(fil_generate(&def, NULL, &made, &error) == FIL_E_ARGUMENT);
        CHECK(strncmp(error.text, bad[k].field, strlen(bad[k].field)) == 0);
    }
    FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
    def.contact_count = 0;
    CHECK(fil_generate(&def, NULL, &made, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "contact_count", 13) == 0);
    def = fil_generate_def_default(FIL_GENERATOR_COUNT);
    CHECK(fil_generate(&def, NULL, &made, NULL) == FIL_E_ARGUMENT);
    CHECK(made == NULL);
}

static void every_allocation_may_fail(void) {
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        const FilGenerateDef def = define((FilGenerator)g, 300, 1);
        for (int n = 1; n < 1000; n++) {
            FailingAllocator memory = {.fail_at = n};
            const FilAllocator allocator = failing_allocator(&memory);
            FilGenerated *made = NULL;
            const FilStatus status = fil_generate(&def, &allocator, &made, NULL);
            fil_generated_destroy(made);
            CHECK(failing_allocator_is_clean(&memory));
            if (memory.failures == 0) {
                CHECK(status == FIL_OK && n > 2);
                break;
            }
            CHECK(status == FIL_E_NO_MEMORY && made == NULL);
        }
    }
}

static void a_hundred_thousand_contacts_are_no_trouble(void) {
    const FilGenerateDef def = define(FIL_GENERATE_FIBRES, 100000, 1);
    FilGenerated *made = make(&def);
    CHECK(made->problem.block_count == 100000);
    CHECK_NEAR(300000.0 / made->problem.dof_count, 0.9, 0.01, 0.0);
    CHECK(isfinite(largest(made->problem.b, 300000)));
    fil_generated_destroy(made);
}

#define TESTS(X)                                              \
    X(every_generator_has_a_name_and_a_text)                  \
    X(the_same_definition_gives_the_same_bits)                \
    X(the_bits_are_those_of_other_machines)                   \
    X(contacts_and_conditioning_are_what_was_asked_for)       \
    X(the_smallest_problems_can_be_made)                      \
    X(the_lawful_pair_is_lawful)                              \
    X(all_regimes_are_drawn)                                  \
    X(both_forms_have_the_same_symmetric_semidefinite_w)      \
    X(a_step_starts_from_velocities)                          \
    X(contacts_of_fibres_are_spread_and_never_within_a_chain) \
    X(masses_and_slopes_are_obeyed)                           \
    X(a_bad_field_is_named)                                   \
    X(every_allocation_may_fail)                              \
    X(a_hundred_thousand_contacts_are_no_trouble)

CHECK_MAIN(TESTS)
