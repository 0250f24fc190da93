// ends.c - where the ends of a rod are held, and the linear rows that hold them.
//
// For a section with pose (r, R) and Jacobian rows J_v, J_w (velocity and spin in world axes), an
// end held at (h, H) wants r = h and R = H. The error in position is r - h; the error in rotation
// is the rotation vector of R H^T, in world axes. A sliding end leaves out the part of r - h along
// H's n0.
#include "rod.h"

#include <float.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

void fil_rod_end_pose(const FilRod *rod, const FilRodEnd *end, double time, FilPose *pose) {
    *pose = end == &rod->root_end ? rod->root_start : rod->tip_start;
    if (end->motion != NULL) {
        end->motion(end->user, time, pose);
    }
}

// Whether ends that begin `far` away, together, go the same way, up to round-off of their places.
static bool is_same_way(const double a[3], const double b[3], double far) {
    double apart[3];
    fil_subtract3(a, b, apart);
    return fil_norm3(apart) <= 4.0 * DBL_EPSILON * (far + fil_norm3(a) + fil_norm3(b));
}

bool fil_rod_find_way(const FilRod *rod, double time, double dt, double velocity[3]) {
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    double first[3] = {0.0}, far = 0.0;
    bool any = false, same = true;
    memset(velocity, 0, 3 * sizeof *velocity);
    for (int k = 0; k < 2; k++) {
        FilPose from, to;
        double way[3];
        if (ends[k]->kind == FIL_END_FREE) {
            continue;
        }
        fil_rod_end_pose(rod, ends[k], time, &from);
        fil_rod_end_pose(rod, ends[k], time + dt, &to);
        fil_subtract3(to.position, from.position, way);
        far += fil_norm3(from.position);
        same = same && (!any || is_same_way(first, way, far));
        for (int c = 0; c < 9; c++) {
            same = same && from.axis[c / 3][c % 3] == to.axis[c / 3][c % 3];
        }
        if (!any) {
            fil_copy3(way, first);
            for (int c = 0; c < 3; c++) {
                velocity[c] = way[c] / dt;
            }
        }
        any = true;
    }
    return same;
}

// R H^T of two poses, whose axes are the columns of R and H.
static void turn_between(const FilPose *pose, const FilPose *held, double a[3]) {
    double Q[9] = {0.0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            fil_add3(pose->axis[k][i], held->axis[k], Q + 3 * i);
        }
    }
    fil_rotation_log(Q, a);
}

// row = sum_k direction[k] jacobian row k.
static void combine(const double direction[3], const double *jacobian, int n, double *row) {
    for (int j = 0; j < n; j++) {
        row[j] = direction[0] * jacobian[j] + direction[1] * jacobian[n + j] +
                 direction[2] * jacobian[2 * n + j];
    }
}

int fil_rod_hold_rows(const FilRod *rod, FilEndKind kind, const FilPose *pose, const FilPose *held,
                      const double *jacobian, double *rows, double *error) {
    int n = rod->dof_count, count = 0;
    double gap[3], turn[3];
    fil_subtract3(pose->position, held->position, gap);
    for (int k = kind == FIL_END_SLIDING ? 1 : 0; kind != FIL_END_FREE && k < 3; k++) {
        combine(held->axis[k], jacobian, n, rows + (size_t)count * (size_t)n);
        error[count++] = fil_dot3(held->axis[k], gap);
    }
    if (kind == FIL_END_SLIDING || kind == FIL_END_CLAMPED) {
        turn_between(pose, held, turn);
        memcpy(rows + (size_t)count * (size_t)n, jacobian + 3 * (size_t)n,
               sizeof(double) * 3 * (size_t)n);
        memcpy(error + count, turn, sizeof turn);
        count += 3;
    }
    return count;
}

int fil_rod_count_rows(const FilRod *rod) {
    return rod->table->rows[0][rod->root_end.kind] + rod->table->rows[1][rod->tip_end.kind];
}

int fil_rod_row_loads(const FilRod *rod, double time, const double *lambda, FilRodLoad *loads) {
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    int count = 0;
    for (int k = 0; k < 2; k++) {
        int rows = rod->table->rows[k][ends[k]->kind];
        if (rows == 0) {
            continue;
        }
        FilRodLoad load = {.s = k == 0 ? 0.0 : rod->state[1]};
        FilPose held;
        fil_rod_end_pose(rod, ends[k], time, &held);
        for (int i = ends[k]->kind == FIL_END_SLIDING ? 1 : 0; i < 3; i++) {
            fil_add3(-*lambda++, held.axis[i], load.force);
        }
        for (int i = 0; rows > 3 && i < 3; i++) {
            load.torque[i] = -*lambda++;
        }
        loads[count++] = load;
    }
    return count;
}
