// zero_modes.c - the motions of a rod that cost no energy: counted, not guessed.
//
// Elastic energy does not change when the rod moves as one rigid piece. Such a motion, velocity t
// of the root and spin w about it, costs nothing at an equilibrium when
// 1. the ends are left where they are held: a place r that is held wants t + w x (r - root) = 0
//    (where the end slides, across its axis), a frame w = 0. A chain has no frames; there a clamp
//    holds the direction n0, w x n0 = 0.
// 2. the loads do not feel it. The elastic forces turn with the rod, dead loads stay: forces out of
//    balance appear unless w x F = 0 for gravity, every force and every torque.
// These are linear equations for (t, w), and what solves them is the first part.
//
// A round rod, straight at rest, may also turn each of its sections about the tangent by the same
// angle, whatever its shape (a flexible shaft), when neither end holds its frame: its curvature is
// turned against the axes of the section, and the energy does not see it. That is the second part.
//
// Both are invariances of the discrete models too, to round-off, so that the Hessian of the energy
// maps these motions to 0. Those that are no motions (a straight chain about itself) or the same (a
// straight rod about itself) are counted once: what remains is a basis.
#include "zero_modes.h"

#include <string.h>

#include "math/vec3.h"
#include "math/vector.h"

static const double independent = 1e-8;
static const double parallel = 1e-12; // of two loads: sine of the angle between them

// Rows of linear equations for (t / length, w), made orthonormal as they come.
typedef struct Equations {
    int rank;
    double row[6][6];
} Equations;

// One more equation, unless those before imply it.
static void add_equation(Equations *equations, const double row[6]) {
    double x[6], before = sqrt(fil_dot(row, row, 6));
    memcpy(x, row, sizeof x);
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < equations->rank; k++) {
            fil_axpy(-fil_dot(equations->row[k], x, 6), equations->row[k], x, 6);
        }
    }
    double left = sqrt(fil_dot(x, x, 6));
    if (!(left > independent * before) || equations->rank == 6) {
        return;
    }
    for (int k = 0; k < 6; k++) {
        equations->row[equations->rank][k] = x[k] / left;
    }
    equations->rank++;
}

// --- what the ends leave -------------------------------------------------------------------------

// direction . (t + w x arm) = 0.
static void hold_place(Equations *equations, const double direction[3], const double arm[3],
                       double length) {
    double row[6], turned[3];
    fil_cross3(arm, direction, turned);
    for (int k = 0; k < 3; k++) {
        row[k] = direction[k];
        row[3 + k] = turned[k] / length;
    }
    add_equation(equations, row);
}

static void hold_spin(Equations *equations, const double direction[3]) {
    const double row[6] = {0.0, 0.0, 0.0, direction[0], direction[1], direction[2]};
    add_equation(equations, row);
}

static void add_end(const FilRod *rod, bool tip, const double root[3], Equations *equations) {
    const FilRodEnd *end = tip ? &rod->tip_end : &rod->root_end;
    FilPose held, now;
    double arm[3];
    if (end->kind == FIL_END_FREE) {
        return;
    }
    fil_rod_end_pose(rod, end, rod->state[0], &held);
    fil_rod_at(rod, tip ? rod->state[1] : 0.0, &now, NULL);
    fil_subtract3(now.position, root, arm);
    for (int k = end->kind == FIL_END_SLIDING ? 1 : 0; k < 3; k++) {
        hold_place(equations, held.axis[k], arm, rod->state[1]);
    }
    for (int k = rod->table->framed ? 0 : 1; end->kind != FIL_END_PINNED && k < 3; k++) {
        hold_spin(equations, held.axis[k]);
    }
}

// --- what the loads leave ------------------------------------------------------------------------

// The line along which all loads act, so far.
typedef struct LoadLine {
    int count; // 0: no load, 1: all along `axis`, 2: more than one line
    double axis[3];
} LoadLine;

static void add_load(LoadLine *line, const double load[3]) {
    double size = fil_norm3(load), across[3];
    if (size == 0.0 || line->count == 2) {
        return;
    }
    if (line->count == 0) {
        *line = (LoadLine){.count = 1};
        fil_add3(1.0 / size, load, line->axis);
        return;
    }
    fil_cross3(line->axis, load, across);
    line->count = fil_norm3(across) > parallel * size ? 2 : 1;
}

// A force on a place that is held moves nothing.
static bool is_held(const FilRod *rod, double s) {
    const double near = 1e-12 * rod->state[1];
    const FilEndKind root = rod->root_end.kind, tip = rod->tip_end.kind;
    return (s <= near && (root == FIL_END_PINNED || root == FIL_END_CLAMPED)) ||
           (s >= rod->state[1] - near && (tip == FIL_END_PINNED || tip == FIL_END_CLAMPED));
}

static void add_loads(const FilRod *rod, Equations *equations) {
    LoadLine line = {0};
    add_load(&line, rod->gravity);
    for (int k = 0; k < rod->load_count; k++) {
        if (!is_held(rod, rod->loads[k].s)) {
            add_load(&line, rod->loads[k].force);
        }
        add_load(&line, rod->loads[k].torque);
    }
    for (int k = 0; k < 3 && line.count > 0; k++) {
        double axis[3] = {0.0, 0.0, 0.0}, across[3];
        axis[k] = 1.0;
        fil_cross3(line.axis, axis, across);
        hold_spin(equations, line.count == 1 ? across : axis);
    }
}

// --- the basis -----------------------------------------------------------------------------------

static void multiply(int n, const double *matrix, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = fil_dot(matrix + (size_t)i * (size_t)n, x, n);
    }
}

// The mode at place `count` becomes orthonormal to those before; false when nothing is left of it.
// `size`: of a motion that is one, squared.
static bool keep_mode(const FilRod *rod, const double *mass, int count, double size,
                      double *modes) {
    const int n = rod->dof_count;
    double *x = modes + (size_t)count * (size_t)n, *product = rod->trial;
    for (int turn = 0; turn < 2; turn++) {
        multiply(n, mass, x, product);
        for (int k = 0; k < count; k++) {
            const double *before = modes + (size_t)k * (size_t)n;
            fil_axpy(-fil_dot(before, product, n), before, x, n);
        }
    }
    multiply(n, mass, x, product);
    double left = fil_dot(x, product, n);
    if (!(left > independent * independent * size)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        x[i] /= sqrt(left);
    }
    return true;
}

// Round, straight at rest, and its frame is held nowhere.
static bool turns_inside(const FilRod *rod) {
    const FilEndKind ends[2] = {rod->root_end.kind, rod->tip_end.kind};
    bool turns = rod->table->axial_rates != NULL && rod->joints == NULL;
    for (int k = 0; k < 2; k++) {
        turns = turns && (ends[k] == FIL_END_FREE || ends[k] == FIL_END_PINNED);
    }
    for (int i = 0; turns && i < rod->element_count; i++) {
        const double *EI = rod->sections[i].kappa + 1, *natural = rod->natural + 6 * (size_t)i;
        turns = EI[0] == EI[1] && natural[1] == 0.0 && natural[2] == 0.0 && natural[4] == 0.0 &&
                natural[5] == 0.0;
    }
    return turns;
}

// Mass times length squared: what a motion by a length weighs.
static double weigh(const FilRod *rod) {
    double whole = 0.0;
    for (int i = 0; i < rod->element_count; i++) {
        whole += rod->sections[i].mass * rod->lengths[i];
    }
    return whole * rod->state[1] * rod->state[1];
}

int fil_rod_zero_modes(const FilRod *rod, const double *mass, double *modes) {
    const double size = weigh(rod), length = rod->state[1];
    const size_t n = (size_t)rod->dof_count;
    Equations equations = {0};
    FilPose root;
    int count = 0;
    fil_rod_at(rod, 0.0, &root, NULL);
    add_end(rod, false, root.position, &equations);
    add_end(rod, true, root.position, &equations);
    add_loads(rod, &equations);
    for (int k = 0; k < 6 && equations.rank < 6; k++) {
        double axis[6] = {0.0}, motion[6];
        int held = equations.rank;
        axis[k] = 1.0;
        add_equation(&equations, axis); // what is left of the axis solves those before
        if (equations.rank == held) {
            continue;
        }
        memcpy(motion, equations.row[held], sizeof motion);
        for (int c = 0; c < 3; c++) {
            motion[c] *= length;
        }
        rod->table->rigid_rates(rod, motion, motion + 3, modes + n * (size_t)count);
        count += keep_mode(rod, mass, count, size, modes) ? 1 : 0;
    }
    if (turns_inside(rod)) {
        rod->table->axial_rates(rod, modes + n * (size_t)count);
        count += keep_mode(rod, mass, count, size, modes) ? 1 : 0;
    }
    return count;
}
