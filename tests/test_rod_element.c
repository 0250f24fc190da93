// One element of a reduced rod: its integrals keep their digits, its derivatives are right.
#include "check.h"

#include <math.h>

#include "base/random.h"
#include "rod/element.h"

static FilElementIn in;
static FilElementStart start;
static FilElementWork work;

static void fill(int d, double angle, uint64_t seed) {
    FilRandom random = fil_random_make(seed);
    memset(&in, 0, sizeof in);
    for (int lane = 0; lane < FIL_LANES; lane++) {
        in.length[lane] = in.mass[lane] = in.spin[lane] = 1.0;
        in.momentum[lane] = in.spin_momentum[lane] = in.force[lane] = in.spin_force[lane] = 1.0;
        for (int p = 0; p < d; p += 3) {
            double k[3], norm = 0.0;
            for (int c = 0; c < 3; c++) {
                k[c] = fil_random_uniform(&random, -1.0, 1.0);
                norm += k[c] * k[c];
            }
            for (int c = 0; c < 3; c++) {
                in.kappa[p + c][lane] = angle * k[c] / sqrt(norm);
                in.rate[p + c][lane] = fil_random_uniform(&random, -1.0, 1.0);
            }
        }
        for (int c = 0; c < 3; c++) {
            start.v[c][lane] = fil_random_uniform(&random, -1.0, 1.0);
            start.w[c][lane] = fil_random_uniform(&random, -1.0, 1.0);
            start.bv[c][lane] = fil_random_uniform(&random, -1.0, 1.0);
            start.bw[c][lane] = fil_random_uniform(&random, -1.0, 1.0);
        }
    }
}

static double difference(const void *a, const void *b, size_t bytes) {
    const double *x = a, *y = b;
    double most = 0.0, scale = 0.0;
    for (size_t k = 0; k < bytes / sizeof *x; k++) {
        most = fmax(most, fabs(x[k] - y[k]));
        scale = fmax(scale, fabs(y[k]));
    }
    return most / fmax(scale, 1e-300);
}

// sum_j until[i][j] x_j^k = x_i^(k+1) / (k+1) for k < n, and to the end for k < 2 n.
static void the_tables_integrate_polynomials(void) {
    for (int r = 0; r < FIL_COLLOCATIONS; r++) {
        const FilCollocation *rule = &fil_collocations[r];
        int n = rule->count;
        for (int k = 0; k < 2 * n; k++) {
            double all = 0.0;
            for (int i = 0; i < n; i++) {
                double sum = 0.0;
                for (int j = 0; j < n; j++) {
                    sum += rule->until[n * i + j] * pow(rule->nodes[j], k);
                }
                if (k < n) {
                    CHECK_NEAR(sum, pow(rule->nodes[i], k + 1) / (k + 1), 1e-13, 1e-15);
                }
                all += rule->weights[i] * pow(rule->nodes[i], k);
            }
            CHECK_NEAR(all, 1.0 / (k + 1), 1e-14, 0.0);
        }
    }
}

// At its largest angle each rule gives what sixteen nodes on eight parts give.
static void every_rule_keeps_its_digits(void) {
    static FilElementEnd end[2];
    static FilElementSums sums[2];
    for (int d = 3; d <= 6; d += 3) {
        const FilElementKernels *kernels = fil_element_kernels(d);
        for (int r = 0; r < FIL_COLLOCATIONS; r++) {
            double angle = fil_collocations[r].angle[d / 3 - 1];
            for (int trial = 0; angle > 0.0 && trial < 20; trial++) {
                fill(d, angle, (uint64_t)trial);
                for (int k = 0; k < 2; k++) {
                    work.rule = &fil_collocations[k == 0 ? r : FIL_COLLOCATIONS - 1];
                    work.segments = k == 0 ? 1 : 8;
                    kernels->end(&in, &work, &end[k]);
                    kernels->sums(&in, &start, &work, &sums[k]);
                }
                size_t columns = sizeof(FilLanes) * 3 * (size_t)d;
                CHECK(difference(end[0].turn, end[1].turn, sizeof end[0].turn) <= 1e-14);
                CHECK(difference(end[0].theta, end[1].theta, columns) <= 1e-14);
                CHECK(difference(end[0].travel, end[1].travel, columns) <= 2e-14);
                CHECK(difference(end[0].acceleration, end[1].acceleration,
                                 sizeof end[0].acceleration) <= 1e-13);
                CHECK(difference(sums[0].ww, sums[1].ww, sizeof sums[0].ww) <= 1e-14);
                CHECK(difference(sums[0].vk, sums[1].vk, columns) <= 2e-14);
                CHECK(difference(sums[0].wk, sums[1].wk, columns) <= 2e-14);
                CHECK(difference(sums[0].kk, sums[1].kk,
                                 sizeof(FilLanes) * (size_t)(d * (d + 1) / 2)) <= 1e-13);
                CHECK(difference(sums[0].hw, sums[1].hw, sizeof sums[0].hw) <= 1e-13);
                CHECK(difference(sums[0].hk, sums[1].hk, sizeof(FilLanes) * (size_t)d) <= 2e-13);
            }
        }
    }
}

// A thousand turns, cut into hundreds of parts: the frame stays one, and a helix goes where the
// closed form says.
static void a_thousand_turns_keep_a_frame(void) {
    static FilElementEnd end;
    const double angle = 6283.185307179586;
    for (int d = 3; d <= 6; d += 3) {
        fill(d, angle, 3);
        CHECK(fil_element_plan(d, &in, &work));
        CHECK(work.segments > 1000);
        fil_element_kernels(d)->end(&in, &work, &end);
        for (int lane = 0; lane < FIL_LANES; lane++) {
            for (int i = 0; i < 9; i++) {
                double sum = 0.0;
                for (int k = 0; k < 3; k++) {
                    sum += end.turn[3 * (i / 3) + k][lane] * end.turn[3 * (i % 3) + k][lane];
                }
                CHECK_NEAR(sum, i % 4 == 0 ? 1.0 : 0.0, 0.0, 2e-12);
            }
            double k0 = in.kappa[0][lane], t = k0 / angle; // along the axis: n0 . n
            if (d == 3) {
                double along = 0.0;
                for (int c = 0; c < 3; c++) {
                    along += end.place[c][lane] * in.kappa[c][lane] / angle;
                }
                CHECK_NEAR(along, t, 1e-11, 1e-12);
            }
        }
    }
}

static void variants_give_the_same_bits(void) {
    static FilElementEnd end[2];
    static FilElementSums sums[2];
    for (int d = 3; d <= 6; d += 3) {
        for (int index = 1; fil_element_variant(d, index) != NULL; index++) {
            for (int trial = 0; trial < 10; trial++) {
                fill(d, 0.01 * pow(3.0, trial), (uint64_t)trial);
                CHECK(fil_element_plan(d, &in, &work));
                for (int k = 0; k < 2; k++) {
                    const FilElementKernels *kernels = fil_element_variant(d, k * index);
                    kernels->end(&in, &work, &end[k]);
                    kernels->sums(&in, &start, &work, &sums[k]);
                }
                CHECK(check_same_bits(&end[0], &end[1], sizeof end[0]));
                CHECK(check_same_bits(&sums[0], &sums[1], sizeof sums[0]));
            }
        }
    }
}

// The end with kappa moved by `by` times its rates.
static void moved_end(int d, double by, FilElementEnd *end) {
    FilElementIn saved = in;
    for (int a = 0; a < d; a++) {
        in.kappa[a] = in.kappa[a] + by * in.rate[a];
    }
    CHECK(fil_element_plan(d, &in, &work));
    fil_element_kernels(d)->end(&in, &work, end);
    in = saved;
}

// First and second derivatives along the rates, by differences over h: the worst error.
static void derivative_errors(int d, double h, double *first, double *second) {
    static FilElementEnd up, down, here;
    moved_end(d, h, &up);
    moved_end(d, -h, &down);
    moved_end(d, 0.0, &here);
    *first = *second = 0.0;
    for (int lane = 0; lane < FIL_LANES; lane++) {
        double w[3] = {0.0}, v[3] = {0.0};
        for (int a = 0; a < d; a++) {
            for (int c = 0; c < 3; c++) {
                w[c] += here.theta[a][c][lane] * in.rate[a][lane];
                v[c] += here.travel[a][c][lane] * in.rate[a][lane];
            }
        }
        for (int c = 0; c < 3; c++) {
            double u = up.place[c][lane], m = here.place[c][lane], l = down.place[c][lane];
            *first = fmax(*first, fabs((u - l) / (2.0 * h) - v[c]));
            *second = fmax(*second, fabs((u - 2.0 * m + l) / (h * h) - here.acceleration[c][lane]));
        }
        for (int k = 0; k < 9; k++) { // R' = w x R
            int i = k / 3, j = k % 3, next = (i + 1) % 3, last = (i + 2) % 3;
            double want =
                w[next] * here.turn[3 * last + j][lane] - w[last] * here.turn[3 * next + j][lane];
            double got = (up.turn[k][lane] - down.turn[k][lane]) / (2.0 * h);
            *first = fmax(*first, fabs(got - want));
        }
    }
}

static void derivatives_of_place_and_frame_are_right(void) {
    for (int d = 3; d <= 6; d += 3) {
        for (int trial = 0; trial < 4; trial++) {
            fill(d, pow(10.0, trial - 2), 7 + (uint64_t)trial);
            double first[2], second[2];
            derivative_errors(d, 0.08, &first[0], &second[0]);
            derivative_errors(d, 0.04, &first[1], &second[1]);
            CHECK(first[1] < 1e-2);
            CHECK(second[1] < 1e-2);
            CHECK_NEAR(first[0] / first[1], 4.0, 0.1, 0.0);
            CHECK_NEAR(second[0] / second[1], 4.0, 0.1, 0.0);
        }
    }
}

#define TESTS(X)                        \
    X(the_tables_integrate_polynomials) \
    X(every_rule_keeps_its_digits)      \
    X(a_thousand_turns_keep_a_frame)    \
    X(variants_give_the_same_bits)      \
    X(derivatives_of_place_and_frame_are_right)

CHECK_MAIN(TESTS)
