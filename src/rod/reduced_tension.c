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

#include "math/vec3.h"

static const double least = 0.1; // of the inertia of an element: below that tension is left out

// data->wrench: the force on the start of each element of all that is behind, times dt; returns the
// largest part of an element's inertia that tension in it has in a step.
static double find_tensions(const FilRod *rod, double step) {
    const FilReduced *data = fil_reduced(rod);
    double largest = 0.0;
    for (size_t i = (size_t)rod->element_count; i-- > 0;) {
        const double *r = data->end_place + 3 * i, *own = data->pull + 3 * i;
        double behind[3] = {0.0}, part[3], length = fil_norm3(r);
        for (int child = data->child[i]; child >= 0; child = data->sibling[child]) {
            fil_apply3(data->turn + 9 * (size_t)child, data->wrench + 6 * (size_t)child, part);
            fil_add3(1.0, part, behind);
        }
        fil_add3(0.5, own, behind);
        const double pull = length > 0.0 ? fil_dot3(behind, r) / length : 0.0;
        data->tension[i] = step * fmax(0.0, pull) * length;
        largest = fmax(largest, data->tension[i] / (data->mass[i] * length * length));
        fil_add3(0.5, own, behind);
        fil_copy3(behind, data->wrench + 6 * i);
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
