// composite.c - the dense step of a reduced rod: the mass matrix by composite bodies, Cholesky.
//
// From the tips to the root all that hangs behind the end of an element, taken as rigid, is one
// body: mass, first moment s and inertia I. A unit rate of one of the element's curvatures gives
// that body and the element a momentum, whose wrench at the starts of the elements before gives the
// column of the mass matrix: O(N^2) for the matrix, O(N^3) for its factor.
#include "reduced.h"

#include <string.h>

#include "math/cholesky.h"
#include "math/vec3.h"

typedef struct Body {
    double mass, s[3], I[9];
} Body;

// out = sum + turned body, moved so that its reference point is r away: v_there = v + w x r.
static void add_body(const Body *body, const double *turn, const double r[3], Body *sum) {
    double s[3], half[9], I[9], turned[9];
    fil_apply3(turn, body->s, s);
    fil_multiply3(turn, body->I, half);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            turned[3 * i + j] = fil_dot3(half + 3 * (size_t)i, turn + 3 * (size_t)j);
        }
    }
    // I' = I - m [r]x^2 - [r]x [s]x - [s]x [r]x
    double m = body->mass, rr = fil_dot3(r, r), rs = fil_dot3(r, s);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            I[3 * i + j] = turned[3 * i + j] + (i == j ? m * rr + 2.0 * rs : 0.0) -
                           m * r[i] * r[j] - r[i] * s[j] - s[i] * r[j];
        }
    }
    sum->mass += m;
    for (int c = 0; c < 3; c++) {
        sum->s[c] += s[c] + m * r[c];
    }
    for (int k = 0; k < 9; k++) {
        sum->I[k] += I[k];
    }
}

// Momentum of a body that moves with (v, w).
static void find_momentum(const Body *body, const double v[3], const double w[3], double out[6]) {
    double ws[3], sv[3];
    fil_cross3(w, body->s, ws);
    fil_cross3(body->s, v, sv);
    fil_apply3(body->I, w, out + 3);
    for (int c = 0; c < 3; c++) {
        out[c] = body->mass * v[c] + ws[c];
        out[3 + c] += sv[c];
    }
}

static void add_both(double *A, size_t n, size_t i, size_t j, double value) {
    A[n * i + j] += value;
    A[n * j + i] += value;
}

// The column of rate a of element i in the elements before it and the root; w is the wrench at the
// start of element i.
static void add_column(const FilRod *rod, int i, size_t column, double w[6], double *A) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, d = (size_t)data->d;
    double force[3], torque[3], arm[3];
    for (;;) {
        fil_apply3(data->turn + 9 * (size_t)i, w, force);
        fil_apply3(data->turn + 9 * (size_t)i, w + 3, torque);
        i = data->parent[i];
        if (i < 0) {
            break;
        }
        size_t p = (size_t)i;
        for (size_t b = 0; b < d; b++) {
            double value = fil_dot3(data->travel + 3 * (d * p + b), force) +
                           fil_dot3(data->theta + 3 * (d * p + b), torque);
            add_both(A, n, (size_t)data->root + 3 * p + b, column, value);
        }
        fil_cross3(data->end_place + 3 * p, force, arm);
        for (int c = 0; c < 3; c++) {
            w[c] = force[c];
            w[3 + c] = torque[c] + arm[c];
        }
    }
    double world[6];
    fil_apply3(data->root_turn, force, world);
    fil_apply3(data->root_turn, torque, world + 3);
    for (int k = 0; k < data->root; k++) {
        add_both(A, n, (size_t)k, column, world[6 - data->root + k]);
    }
}

static void add_element(const FilRod *rod, int element, const Body *behind, double *A) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, d = (size_t)data->d, i = (size_t)element;
    size_t first = (size_t)data->root + 3 * i;
    const double *kk = data->kk + d * (d + 1) / 2 * i;
    for (size_t a = 0; a < d; a++) {
        const double *v = data->travel + 3 * (d * i + a), *w = data->theta + 3 * (d * i + a);
        double momentum[6], arm[3];
        find_momentum(behind, v, w, momentum);
        for (size_t b = 0; b <= a; b++) {
            double value = kk[a * (a + 1) / 2 + b] +
                           fil_dot3(data->travel + 3 * (d * i + b), momentum) +
                           fil_dot3(data->theta + 3 * (d * i + b), momentum + 3);
            A[n * (first + a) + first + b] += value;
            if (b < a) {
                A[n * (first + b) + first + a] += value;
            }
        }
        fil_cross3(data->end_place + 3 * i, momentum, arm);
        fil_add3(1.0, arm, momentum + 3);
        fil_add3(1.0, data->vk + 3 * (d * i + a), momentum);
        fil_add3(1.0, data->wk + 3 * (d * i + a), momentum + 3);
        add_column(rod, element, first + a, momentum, A);
    }
}

static void add_root(const FilRod *rod, const Body *body, double *A) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count;
    static const double zero[3] = {0.0};
    Body world = {0};
    add_body(body, data->root_turn, zero, &world);
    for (int k = 0; k < data->root; k++) {
        double motion[6] = {0.0}, momentum[6];
        motion[6 - data->root + k] = 1.0;
        find_momentum(&world, motion, motion + 3, momentum);
        for (int j = 0; j < data->root; j++) {
            A[n * (size_t)k + (size_t)j] += momentum[6 - data->root + j];
        }
    }
}

static void add_stiffness(const FilRod *rod, double stiff, double *A) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count;
    int ends = data->d / 3;
    for (int i = 0; i < rod->element_count; i++) {
        for (int k = 0; k < 3 * ends * ends; k++) {
            int p = k / 3 / ends, q = k / 3 % ends, c = k % 3;
            size_t row = (size_t)data->root + 3 * (size_t)(i + p) + (size_t)c;
            size_t column = (size_t)data->root + 3 * (size_t)(i + q) + (size_t)c;
            A[n * row + column] +=
                stiff * fil_reduced_hat(rod, i, p, q) * rod->sections[i].kappa[c];
        }
    }
}

void fil_reduced_stiffness(const FilRod *rod, double *stiffness) {
    size_t n = (size_t)rod->dof_count;
    memset(stiffness, 0, sizeof(double) * n * n);
    add_stiffness(rod, 1.0, stiffness);
}

// Bodies of all that hangs behind the starts; those of siblings are summed on the way: the body of
// element i is kept in its (unused) reduced form.
void fil_composite_assemble(const FilRod *rod, double stiff, double *A) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, m = (size_t)data->d + 3;
    static const double zero[3] = {0.0};
    memset(A, 0, sizeof(double) * n * n);
    Body root = {0};
    for (size_t i = (size_t)rod->element_count; i-- > 0;) {
        static const double straight[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
        Body behind = {0}, all = {0};
        for (int child = data->child[i]; child >= 0; child = data->sibling[child]) {
            Body body;
            memcpy(&body, data->reduced + m * m * (size_t)child, sizeof body);
            add_body(&body, data->turn + 9 * (size_t)child, zero, &behind);
        }
        add_element(rod, (int)i, &behind, A);
        const double *I = data->ww + 6 * i, *s = data->moment + 3 * i;
        Body own = {data->mass[i],
                    {s[0], s[1], s[2]},
                    {I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5]}};
        add_body(&own, straight, zero, &all);
        add_body(&behind, straight, data->end_place + 3 * i, &all);
        memcpy(data->reduced + m * m * i, &all, sizeof all);
        if (data->parent[i] < 0) {
            add_body(&all, data->turn + 9 * i, zero, &root);
        }
    }
    add_root(rod, &root, A);
    add_stiffness(rod, stiff, A);
}

void fil_reduced_mass(const FilRod *rod, double *mass) {
    fil_reduced_pass(rod, &(FilReducedPass){.momentum = 1.0, .sums = true});
    fil_composite_assemble(rod, 0.0, mass);
}

void fil_composite_factor(const FilRod *rod, double stiff) {
    const FilReduced *data = fil_reduced(rod);
    fil_composite_assemble(rod, stiff, data->dense);
    fil_cholesky_factor_raised(rod->dof_count, data->dense, data->dense_first, FIL_REDUCED_PIVOT);
}

void fil_composite_solve(const FilRod *rod, double *x) {
    const FilReduced *data = fil_reduced(rod);
    fil_cholesky_solve(rod->dof_count, data->dense, data->dense_first, x);
}
