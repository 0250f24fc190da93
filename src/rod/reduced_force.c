// reduced_force.c - what holds the tip of a rod whose unknowns are curvatures.
//
// Nothing of such a rod stretches: the force that a section carries is the sum of all that acts
// beyond it. Where the tip is held, the force of what holds it is among that. It follows from the
// curvatures: with h the generalised forces of gravity, loads, drag, pushes and inertia, and
// accelerations (v+ - v) / dt of the last step, the rod is in balance when
//     C^T mu = K (q - q_nat) + damping K v - h,
// C the rows that hold the ends and mu what they are held with. There are more equations than
// unknowns, and they hold up to the error of a step; mu makes what is left smallest, as a change
// of the shape would measure it: each unknown counts by its compliance. A straight rod does not see
// what pulls at its ends along it, which then remains unknown and is left at 0.
#include <string.h>

#include "math/vec3.h"
#include "math/vector.h"
#include "reduced.h"

enum { REFINEMENTS = 3 };

static void find_push(const FilRod *rod, const FilRodPast *past) {
    FilReduced *data = fil_reduced(rod);
    const size_t kappas = (size_t)data->kappas;
    memset(data->push, 0, sizeof(double) * (6 + kappas));
    if (past->state == NULL) {
        return;
    }
    const double *rates = past->state + FIL_ROD_STATE + 12; // of the root; curvatures; their rates
    for (size_t c = 0; c < 6; c++) {
        data->push[c] = (data->root_rate[c] - rates[c]) / past->dt;
    }
    for (size_t k = 0; k < kappas; k++) {
        data->push[6 + k] = (data->rate[k] - rates[6 + kappas + k]) / past->dt;
    }
}

// Elastic and damping forces less all others.
static void find_rest(const FilRod *rod, const FilRodPast *past, double *rest) {
    const FilReduced *data = fil_reduced(rod);
    FilRodLoad push;
    double elastic[6], resist[6];
    find_push(rod, past);
    fil_reduced_pass(rod, &(FilReducedPass){.dt = 1.0,
                                            .resist = 1.0,
                                            .moving = true,
                                            .pushed = true,
                                            .sums = true,
                                            .parts = FIL_ELEMENT_FORCES});
    fil_reduced_add_loads(rod, 1.0);
    while (past->next != NULL && past->next(past->context, &push)) {
        fil_reduced_add_load(rod, 1.0, &push);
    }
    fil_reduced_gather(rod, rest);
    for (int k = 0; k < rod->dof_count; k++) {
        rest[k] = -rest[k];
    }
    for (int i = 0; i < rod->element_count; i++) {
        fil_reduced_elastic(rod, i, elastic);
        fil_reduced_stiffen(rod, i, data->rate + 3 * (size_t)i, resist);
        for (int a = 0; a < data->d; a++) {
            rest[data->root + 3 * i + a] += elastic[a] + rod->damping * resist[a];
        }
    }
}

// How far an unknown gives way to a force on it.
static double compliance(const FilRod *rod, int k) {
    const FilReduced *data = fil_reduced(rod);
    const double length = rod->state[1], B = rod->sections[0].kappa[1];
    if (k < data->root) {
        return data->root == 6 && k < 3 ? length * length * length / B : length / B;
    }
    const int at = (k - data->root) / 3, last = rod->element_count - 1, e = at < last ? at : last;
    return 1.0 / (rod->lengths[e] * rod->sections[e].kappa[(k - data->root) % 3]);
}

// mu -= S^+ C (compliance) rest and rest += C^T of it, again and again: small pivots give way.
static void find_holding(const FilRod *rod, double *rest, double *mu) {
    const int n = rod->dof_count, m = rod->row_count;
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS] = {0.0}, work[sizeof S / sizeof *S];
    double more[FIL_ROD_ROWS];
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            S[m * i + j] =
                fil_dot(rod->rows + (size_t)i * (size_t)n, rod->columns + (size_t)j * (size_t)n, n);
        }
    }
    memset(mu, 0, sizeof(double) * (size_t)m);
    for (int turn = 0; turn < REFINEMENTS; turn++) {
        for (int i = 0; i < m; i++) {
            more[i] = -fil_dot(rod->columns + (size_t)i * (size_t)n, rest, n);
        }
        memcpy(work, S, sizeof(double) * (size_t)m * (size_t)m);
        fil_rod_solve_rows(m, work, more, fil_rod_row_softness(rod, S));
        for (int i = 0; i < m; i++) {
            fil_axpy(more[i], rod->rows + (size_t)i * (size_t)n, rest, n);
            mu[i] += more[i];
        }
    }
}

void fil_reduced_tip_reaction(const FilRod *rod, const FilRodPast *past, double force[3],
                              double moment[3]) {
    const int n = rod->dof_count, m = rod->row_count;
    double error[FIL_ROD_ROWS], mu[FIL_ROD_ROWS];
    FilRodLoad loads[2];
    memset(force, 0, 3 * sizeof(double));
    memset(moment, 0, 3 * sizeof(double));
    if (rod->table->rows[1][rod->tip_end.kind] == 0) {
        return;
    }
    find_rest(rod, past, rod->trial);
    fil_reduced_end_rows(rod, rod->state[0], rod->rows, error);
    for (int i = 0; i < m; i++) {
        double *column = rod->columns + (size_t)i * (size_t)n;
        for (int k = 0; k < n; k++) {
            column[k] = compliance(rod, k) * rod->rows[(size_t)i * (size_t)n + (size_t)k];
        }
    }
    find_holding(rod, rod->trial, mu); // of the rows: loads are minus them
    const int count = fil_rod_row_loads(rod, rod->state[0], mu, loads);
    fil_copy3(loads[count - 1].force, force);
    fil_copy3(loads[count - 1].torque, moment);
}
