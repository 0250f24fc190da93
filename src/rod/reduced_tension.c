// reduced_tension.c - the stiffness that tension gives a rod whose unknowns are curvatures.
//
// Forces that pull at a rod hold it straight: an element that is pulled with T along its chord of
// length l resists a turn of the chord by w, across it, with the energy T l w^2 / 2. Gravity, loads
// and velocity terms (a rod that whirls pulls at itself) are taken where a step begins, and without
// that stiffness a step that is long against sqrt(m l / T) throws the rod from one side to the
// other. So A gets dt^2 S,
//     S = T l (1 - e e^T)  on the spin of the chord, w + theta k / 2,
// e its direction, and the right-hand side the same times the velocities of the start: what it
// resists is the change of velocity in the step, of third order in dt. Pressure is left out: it
// makes A no larger. Where the tension is small against inertia nothing is done.
#include "reduced.h"

#include <string.h>

#include "math/vec3.h"

static const double least = 0.1; // of the inertia of an element: below that tension is left out

// The force in the middle of element i of all that is behind, times dt; data->wrench: that on its
// start. Elements behind come first.
static void find_pull(const FilReduced *data, size_t i, double middle[3]) {
    const double *own = data->pull + 3 * i;
    double part[3], *start = data->wrench + 6 * i;
    memset(middle, 0, 3 * sizeof *middle);
    for (int child = data->child[i]; child >= 0; child = data->sibling[child]) {
        fil_apply3(data->turn + 9 * (size_t)child, data->wrench + 6 * (size_t)child, part);
        fil_add3(1.0, part, middle);
    }
    fil_add3(0.5, own, middle);
    fil_copy3(middle, start);
    fil_add3(0.5, own, start);
}

// The tensions of all elements; returns the largest part of an element's inertia that tension in it
// has in a step.
static double find_tensions(const FilRod *rod, double step) {
    const FilReduced *data = fil_reduced(rod);
    double largest = 0.0;
    for (size_t i = (size_t)rod->element_count; i-- > 0;) {
        const double *r = data->end_place + 3 * i, length = fil_norm3(r);
        double middle[3];
        find_pull(data, i, middle);
        const double pull = length > 0.0 ? fil_dot3(middle, r) / length : 0.0;
        data->tension[i] = step * fmax(0.0, pull) * length;
        largest = fmax(largest, data->tension[i] / (data->mass[i] * length * length));
    }
    return largest;
}

// out = S w, times dt^2.
static void resist(const FilReduced *data, size_t i, const double w[3], double out[3]) {
    const double *r = data->end_place + 3 * i, S = data->tension[i];
    const double square = fil_dot3(r, r), along = square > 0.0 ? fil_dot3(r, w) / square : 0.0;
    for (int c = 0; c < 3; c++) {
        out[c] = S * (w[c] - along * r[c]);
    }
}

static void stiffen(const FilReduced *data, size_t i) {
    const size_t d = (size_t)data->d;
    double *ww = data->ww + 6 * i, *kk = data->kk + d * (d + 1) / 2 * i, held[3];
    for (int c = 0, k = 0; c < 3; c++) {
        const double axis[3] = {c == 0, c == 1, c == 2};
        resist(data, i, axis, held);
        for (int j = c; j < 3; j++, k++) {
            ww[k] += held[j];
        }
    }
    for (size_t a = 0, k = 0; a < d; a++) {
        resist(data, i, data->theta + 3 * (d * i + a), held);
        fil_add3(0.5, held, data->wk + 3 * (d * i + a));
        for (size_t b = 0; b <= a; b++, k++) {
            kk[k] += 0.25 * fil_dot3(data->theta + 3 * (d * i + b), held);
        }
    }
}

void fil_reduced_stretch(const FilRod *rod, double dt, double step) {
    FilReduced *data = fil_reduced(rod);
    data->tense = find_tensions(rod, step * step / dt) > least;
    for (size_t i = 0; data->tense && i < (size_t)rod->element_count; i++) {
        stiffen(data, i);
    }
}

// The spin of the start of element i from that of its parent's, in `passed`.
static void hand_spin(const FilReduced *data, size_t i, const double root[3], const double *rate) {
    const size_t d = (size_t)data->d, m = d + 3;
    double *spin = data->passed + m * i;
    if (data->parent[i] < 0) {
        fil_apply_transposed3(data->frame + 9 * i, root, spin);
        return;
    }
    const size_t p = (size_t)data->parent[i];
    double end[3];
    fil_copy3(data->passed + m * p, end);
    for (size_t a = 0; a < d; a++) {
        fil_add3(rate[3 * p + a], data->theta + 3 * (d * p + a), end);
    }
    fil_apply_transposed3(data->turn + 9 * i, end, spin);
}

void fil_reduced_add_tension(const FilRod *rod, bool difference) {
    FilReduced *data = fil_reduced(rod);
    const size_t d = (size_t)data->d, m = d + 3;
    const double *before = data->here_state + 18 + data->kappas;
    double root[3], *rate = data->forces; // [kappas], not in use yet
    if (!data->tense) {
        return;
    }
    for (int c = 0; c < 3; c++) {
        const double after = data->after[3 + c];
        const double now = data->root > 0 ? data->here_state[15 + c] : after;
        root[c] = difference ? now - after : now;
    }
    for (int k = 0; k < data->kappas; k++) {
        rate[k] = before[k] - (difference ? data->after[6 + k] : 0.0);
    }
    for (size_t i = 0; i < (size_t)rod->element_count; i++) {
        double w[3], held[3], *h = data->h + (6 + d) * i;
        hand_spin(data, i, root, rate);
        fil_copy3(data->passed + m * i, w);
        for (size_t a = 0; a < d; a++) {
            fil_add3(0.5 * rate[3 * i + a], data->theta + 3 * (d * i + a), w);
        }
        resist(data, i, w, held);
        fil_add3(1.0, held, h + 3);
        for (size_t a = 0; a < d; a++) {
            h[6 + a] += 0.5 * fil_dot3(data->theta + 3 * (d * i + a), held);
        }
    }
}

// --- forces of any direction ---------------------------------------------------------------------

// A force F on what is behind an element does -F . x; where the element turns by w that has the
// Hessian l (F . e |w|^2 - (F . w) (e . w)). With c the cosine between F and e its eigenvalues are
//     |F| l (1 + c) / 2 along f - e,    |F| l (c - 1) / 2 along f + e,    |F| l c along f x e,
// f the direction of F; what is positive is a form S that Newton's method can take.
typedef struct Brace {
    double S[9];
} Brace;

static void add_square(double factor, const double x[3], double S[9]) {
    for (int k = 0; k < 9; k++) {
        S[k] += factor * x[k / 3] * x[k % 3];
    }
}

static Brace find_brace(const double F[3], const double r[3], double length) {
    static const double along = 1e-6; // rad: between F and the element
    const double size = fil_norm3(F), chord = fil_norm3(r);
    Brace brace = {{0.0}};
    double f[3] = {0.0}, e[3] = {0.0}, across[3], apart[3];
    if (!(size > 0.0 && chord > 0.0)) {
        return brace;
    }
    fil_add3(1.0 / size, F, f);
    fil_add3(1.0 / chord, r, e);
    fil_cross3(f, e, across);
    const double c = fil_dot3(f, e), square = fil_dot3(across, across);
    if (square > along * along) {
        fil_subtract3(f, e, apart);
        add_square(0.5 * (1.0 + c) * size * length / fil_dot3(apart, apart), apart, brace.S);
        add_square(fmax(0.0, c) * size * length / square, across, brace.S);
    } else if (c > 0.0) {
        add_square(-size * length, e, brace.S);
        for (int k = 0; k < 9; k += 4) {
            brace.S[k] += size * length;
        }
    }
    return brace;
}

// Half of the turn of an element's end is that of its chord; the rest of its turning has its own
// mean square: for a helix the turn is w + u k, for a clothoid w + (u - u^2/2) k0 + u^2/2 k1, with
// 0
// <= u <= 1 and theta k being all and half of k.
static void add_brace(FilReduced *data, size_t i, const Brace *brace) {
    const size_t d = (size_t)data->d;
    const double own = 0.25 + (d == 3 ? 1.0 / 12.0 : 7.0 / 60.0), other = 0.25 + 1.0 / 20.0;
    double *ww = data->ww + 6 * i, *kk = data->kk + d * (d + 1) / 2 * i, held[3];
    for (int c = 0, k = 0; c < 3; c++) {
        for (int j = c; j < 3; j++, k++) {
            ww[k] += brace->S[3 * c + j];
        }
    }
    for (size_t a = 0, k = 0; a < d; a++) {
        fil_apply3(brace->S, data->theta + 3 * (d * i + a), held);
        fil_add3(0.5, held, data->wk + 3 * (d * i + a));
        for (size_t b = 0; b <= a; b++, k++) {
            const double part = a / 3 == b / 3 ? own : other;
            kk[k] += part * fil_dot3(data->theta + 3 * (d * i + b), held);
        }
    }
}

void fil_reduced_brace(const FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    for (size_t i = (size_t)rod->element_count; i-- > 0;) {
        const double *r = data->end_place + 3 * i, *own = data->pull + 3 * i;
        double pull[3];
        find_pull(data, i, pull);
        // its own forces may act anywhere along it
        fil_add3(fil_dot3(pull, own) < 0.0 ? -0.5 : 0.5, own, pull);
        const Brace brace = find_brace(pull, r, rod->lengths[i]);
        add_brace(data, i, &brace);
    }
}
