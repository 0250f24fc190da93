// held.c - the step of a rod with its ends held, as a linear map of impulses: see held.h.
#include "held.h"

#include <string.h>

#include "math/vector.h"

// S = C A^-1 C^T and S^+, column by column; what depends on other rows stays 0.
static void invert_rows(const FilRod *rod, double *S, double *inverse) {
    int m = rod->row_count, n = rod->dof_count;
    double work[FIL_ROD_ROWS * FIL_ROD_ROWS];
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            S[m * i + j] =
                fil_dot(rod->rows + (size_t)i * (size_t)n, rod->columns + (size_t)j * (size_t)n, n);
        }
    }
    double soft = fil_rod_row_softness(rod, S);
    for (int j = 0; j < m; j++) {
        double unit[FIL_ROD_ROWS] = {0.0};
        unit[j] = 1.0;
        memcpy(work, S, sizeof(double) * (size_t)m * (size_t)m);
        fil_rod_solve_rows(m, work, unit, soft);
        for (int i = 0; i < m; i++) {
            inverse[m * i + j] = unit[i];
        }
    }
}

// x += A^-1 C^T S^+ (wanted - C x).
static void hold(const FilRod *rod, const double *wanted, double *x) {
    int m = rod->row_count, n = rod->dof_count;
    double miss[FIL_ROD_ROWS];
    for (int i = 0; i < m; i++) {
        miss[i] =
            (wanted != NULL ? wanted[i] : 0.0) - fil_dot(rod->rows + (size_t)i * (size_t)n, x, n);
    }
    for (int i = 0; i < m; i++) {
        double lambda = fil_dot(rod->row_inverse + (size_t)i * (size_t)m, miss, m);
        fil_axpy(lambda, rod->columns + (size_t)i * (size_t)n, x, n);
    }
}

// v_free = A^-1 rhs with the ends brought to where they are held at the end of the step.
static void find_free(FilRod *rod, double dt, double *free_velocity) {
    int n = rod->dof_count, m = rod->row_count;
    double error[FIL_ROD_ROWS], wanted[FIL_ROD_ROWS], S[FIL_ROD_ROWS * FIL_ROD_ROWS];
    if (m == 0) {
        return;
    }
    if (rod->table->step_rows != NULL) {
        rod->table->step_rows(rod, rod->state[0] + dt, rod->rows, error);
    } else {
        rod->table->end_rows(rod, rod->state[0] + dt, rod->rows, error);
    }
    memcpy(rod->columns, rod->rows, sizeof(double) * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++) {
        rod->table->solve(rod, rod->columns + (size_t)i * (size_t)n);
        double slope = fil_dot(rod->rows + (size_t)i * (size_t)n, rod->before, n);
        wanted[i] = -(1.0 - rod->theta) * slope / rod->theta;
    }
    invert_rows(rod, S, rod->row_inverse);
    hold(rod, wanted, free_velocity);
    fil_rod_mend_ends(rod, dt, S, error, free_velocity);
}

double fil_rod_prepare_held(FilRod *rod, double dt, const double *guess, double *free_velocity) {
    int n = rod->dof_count;
    size_t bytes = sizeof(double) * (size_t)n;
    rod->table->get_velocity(rod, rod->before);
    rod->touched = true;
    double residual = rod->table->prepare(rod, dt, guess, rod->rhs);
    bool known = rod->table->get_rest != NULL; // A v+ - rhs, to more digits than the difference
    if (known) {
        rod->table->get_rest(rod, free_velocity);
    } else {
        memcpy(free_velocity, rod->rhs, bytes);
    }
    rod->table->solve(rod, free_velocity);
    const double *from = guess != NULL ? guess : rod->before;
    for (int k = 0; known && k < n; k++) {
        free_velocity[k] = from[k] - free_velocity[k];
    }
    find_free(rod, dt, free_velocity);
    return residual;
}

bool fil_rod_correct_held(FilRod *rod, double dt, const double *velocity, const double *push,
                          double *free_velocity) {
    if (rod->table->correct == NULL || !rod->table->correct(rod, dt, velocity, push, rod->rhs)) {
        return false;
    }
    rod->table->get_velocity(rod, rod->before);
    memcpy(free_velocity, rod->rhs, sizeof(double) * (size_t)rod->dof_count);
    rod->table->solve(rod, free_velocity);
    find_free(rod, dt, free_velocity);
    return true;
}

void fil_rod_solve_held(const FilRod *rod, int count, double *x) {
    for (int k = 0; k < count; k++) {
        double *one = x + (size_t)k * (size_t)rod->dof_count;
        rod->table->solve(rod, one);
        if (rod->row_count > 0) {
            hold(rod, NULL, one);
        }
    }
}

bool fil_rod_solve_held_columns(const FilRod *rod, int count, double *x) {
    if (rod->table->solve_columns == NULL || rod->row_count > 0) {
        return false;
    }
    rod->table->solve_columns(rod, count, x);
    return true;
}
