// reduced_look.c - questions to a reduced rod: poses, Jacobians, energies, statics.
//
// A section at x moves with the rates of its own element as element.c says, and rigidly with those
// of an element before it, whose end is at e: velocity D + theta x (x - e), spin theta.
#include "reduced.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

static void place_section(const FilReduced *data, int element, const FilReducedSection *section,
                          FilPose *pose) {
    size_t i = (size_t)element;
    double axes[9], way[3];
    fil_multiply3(data->frame + 9 * i, section->turn, axes);
    fil_apply3(data->frame + 9 * i, section->place, way);
    for (int c = 0; c < 3; c++) {
        pose->position[c] = data->place[3 * i + (size_t)c] + way[c];
        for (int k = 0; k < 3; k++) {
            pose->axis[k][c] = axes[3 * c + k];
        }
    }
}

// How a section moves.
static void move_section(const FilReduced *data, int element, const FilReducedSection *section,
                         FilRate *rate) {
    size_t i = (size_t)element;
    double v[3], w[3];
    fil_cross3(data->motion + 6 * i + 3, section->place, v);
    fil_add3(1.0, data->motion + 6 * i, v);
    fil_copy3(data->motion + 6 * i + 3, w);
    for (int a = 0; a < data->d; a++) {
        fil_add3(data->rate[3 * i + (size_t)a], section->travel[a], v);
        fil_add3(data->rate[3 * i + (size_t)a], section->theta[a], w);
    }
    fil_apply3(data->frame + 9 * i, v, rate->velocity);
    fil_apply3(data->frame + 9 * i, w, rate->spin);
}

void fil_reduced_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    const FilReduced *data = fil_reduced(rod);
    FilReducedSection section;
    fil_reduced_section(rod, element, u, &section);
    place_section(data, element, &section, pose);
    if (rate != NULL) {
        move_section(data, element, &section, rate);
    }
}

// Add the columns of element i: its section (or end) moves by travel and theta, and x rigidly with
// it at `from`.
static void add_columns(const FilRod *rod, int element, const double *travel, const double *theta,
                        const double arm[3], double *jacobian) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, i = (size_t)element;
    for (size_t a = 0; a < (size_t)data->d; a++) {
        double v[3], w[3], swing[3];
        fil_apply3(data->frame + 9 * i, travel + 3 * a, v);
        fil_apply3(data->frame + 9 * i, theta + 3 * a, w);
        fil_cross3(w, arm, swing);
        for (size_t c = 0; c < 3; c++) {
            jacobian[n * c + (size_t)data->root + 3 * i + a] += v[c] + swing[c];
            jacobian[n * (3 + c) + (size_t)data->root + 3 * i + a] += w[c];
        }
    }
}

static void add_root_columns(const FilRod *rod, const double x[3], double *jacobian) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count;
    double arm[3];
    fil_subtract3(x, data->root_place, arm);
    for (int k = 0; k < data->root; k++) {
        double axis[3] = {0.0}, swing[3];
        axis[k % 3] = 1.0;
        if (data->root == 6 && k < 3) {
            jacobian[n * (size_t)k + (size_t)k] = 1.0;
            continue;
        }
        fil_cross3(axis, arm, swing);
        for (size_t c = 0; c < 3; c++) {
            jacobian[n * c + (size_t)k] = swing[c];
            jacobian[n * (3 + c) + (size_t)k] = axis[c];
        }
    }
}

void fil_reduced_jacobian(const FilRod *rod, int element, double u, double *jacobian) {
    const FilReduced *data = fil_reduced(rod);
    static const double zero[3] = {0.0};
    size_t d = (size_t)data->d;
    FilReducedSection section;
    FilPose pose;
    fil_reduced_section(rod, element, u, &section);
    place_section(data, element, &section, &pose);
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)rod->dof_count);
    add_columns(rod, element, section.travel[0], section.theta[0], zero, jacobian);
    for (int i = data->parent[element]; i >= 0; i = data->parent[i]) {
        double end[3], arm[3];
        fil_apply3(data->frame + 9 * (size_t)i, data->end_place + 3 * (size_t)i, end);
        fil_add3(1.0, data->place + 3 * (size_t)i, end);
        fil_subtract3(pose.position, end, arm);
        add_columns(rod, i, data->travel + 3 * d * (size_t)i, data->theta + 3 * d * (size_t)i, arm,
                    jacobian);
    }
    add_root_columns(rod, pose.position, jacobian);
}

// All elements between the root and this one; parents have lower numbers.
void fil_reduced_span(const FilRod *rod, int element, int *first, int *last) {
    const FilReduced *data = fil_reduced(rod);
    *first = 0;
    *last = data->root + 3 * element + data->d;
}

void fil_reduced_curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    const FilReduced *data = fil_reduced(rod);
    const double *k = data->kappa + 3 * (size_t)element;
    for (int c = 0; c < 3; c++) {
        kappa[c] = data->d == 3 ? k[c] : (1.0 - u) * k[c] + u * k[3 + c];
    }
}

// What the root, as far as it is held, does to the section at `place` in so many seconds.
static void carry(const FilRod *rod, double seconds, const double place[3], FilPose *pose) {
    const FilReduced *data = fil_reduced(rod);
    double rate[6] = {0.0}, arm[3], swing[3], Q[9];
    memcpy(rate, data->root_rate, sizeof(double) * (size_t)(6 - data->root));
    if (!(fil_norm3(rate) + fil_norm3(rate + 3) > 0.0)) {
        return;
    }
    fil_subtract3(place, data->root_place, arm);
    fil_cross3(rate + 3, arm, swing);
    fil_add3(seconds, rate, pose->position);
    fil_add3(seconds, swing, pose->position);
    const double turn[3] = {seconds * rate[3], seconds * rate[4], seconds * rate[5]};
    fil_rotation_exp(turn, Q);
    for (int k = 0; k < 3; k++) {
        double axis[3];
        fil_apply3(Q, pose->axis[k], axis);
        fil_copy3(axis, pose->axis[k]);
    }
}

// Rows at the state, or at the place ahead; errors of the state after the root alone has moved for
// so many seconds.
static void find_end_rows(const FilRod *rod, double time, bool ahead, double seconds, double *rows,
                          double *error) {
    const struct {
        const FilRodEnd *end;
        int element;
        double u;
    } ends[2] = {{&rod->root_end, 0, 0.0}, {&rod->tip_end, rod->element_count - 1, 1.0}};
    FilReduced *data = fil_reduced(rod);
    int count = 0;
    for (int k = 0; k < 2; k++) {
        FilEndKind kind = ends[k].end->kind;
        if (kind == FIL_END_FREE || (k == 0 && kind != FIL_END_SLIDING)) {
            continue;
        }
        FilPose pose, there, held;
        fil_rod_end_pose(rod, ends[k].end, time, &held);
        fil_reduced_at(rod, ends[k].element, ends[k].u, &pose, NULL);
        fil_reduced_use(rod, ahead);
        fil_reduced_view(data, ahead);
        fil_reduced_jacobian(rod, ends[k].element, ends[k].u, data->end_jacobian);
        fil_reduced_at(rod, ends[k].element, ends[k].u, &there, NULL);
        carry(rod, seconds, there.position, &pose);
        fil_reduced_use(rod, false);
        fil_reduced_view(data, false);
        count += fil_rod_hold_rows(rod, kind, &pose, &held, data->end_jacobian,
                                   rows + (size_t)count * (size_t)rod->dof_count, error + count);
    }
}

void fil_reduced_end_rows(const FilRod *rod, double time, double *rows, double *error) {
    find_end_rows(rod, time, false, 0.0, rows, error);
}

void fil_reduced_past_rows(const FilRod *rod, double seconds, double *rows, double *error) {
    find_end_rows(rod, rod->state[0] - seconds, false, -seconds, rows, error);
}

void fil_reduced_step_rows(const FilRod *rod, double time, double *rows, double *error) {
    find_end_rows(rod, time, true, time - rod->state[0], rows, error);
}

// --- energy --------------------------------------------------------------------------------------

double fil_reduced_elastic_at(const FilRod *rod, int element, double u) {
    double kappa[3];
    fil_reduced_curvature_at(rod, element, u, kappa);
    return fil_rod_elastic_density(rod, element, u, kappa);
}

void fil_reduced_add_elastic(const FilRod *rod, int i, FilRodEnergy *energy) {
    const FilReduced *data = fil_reduced(rod);
    const double *K = rod->sections[i].kappa, *natural = rod->natural + 6 * (size_t)i;
    const double *k = data->kappa + 3 * (size_t)i;
    for (int c = 0; c < 3; c++) {
        double e0 = k[c] - natural[c], e1 = k[data->d - 3 + c] - natural[3 + c];
        double part = rod->lengths[i] * K[c] * (e0 * e0 + e0 * e1 + e1 * e1) / 6.0;
        *(c == 0 ? &energy->twist : &energy->bend) += part;
    }
}

void fil_reduced_energy(const FilRod *rod, FilRodEnergy *energy) {
    const FilReduced *data = fil_reduced(rod);
    size_t d = (size_t)data->d;
    fil_reduced_pass(
        rod, &(FilReducedPass){
                 .momentum = 1.0, .moving = true, .sums = true, .parts = FIL_ELEMENT_RIGID});
    for (int i = 0; i < rod->element_count; i++) {
        size_t n = (size_t)i;
        const double *h = data->h + (6 + d) * n, *motion = data->motion + 6 * n;
        double centre[3], work = 0.0;
        for (int k = 0; k < 6; k++) {
            work += h[k] * motion[k];
        }
        for (size_t a = 0; a < d; a++) {
            work += h[6 + a] * data->rate[3 * n + a];
        }
        energy->kinetic += 0.5 * work;
        fil_apply3(data->frame + 9 * n, data->moment + 3 * n, centre);
        fil_add3(data->mass[n], data->place + 3 * n, centre);
        energy->gravity -= fil_dot3(rod->gravity, centre);
        fil_reduced_add_elastic(rod, i, energy);
    }
    for (int k = 0; k < rod->load_count; k++) {
        FilPose pose;
        double u;
        int i = fil_rod_locate(rod, rod->loads[k].s, &u);
        fil_reduced_at(rod, i, u, &pose, NULL);
        energy->loads -= fil_dot3(rod->loads[k].force, pose.position);
    }
}

// --- statics -------------------------------------------------------------------------------------

// Generalised forces of gravity and loads.
static void find_forces(const FilRod *rod, double *x) {
    fil_reduced_pass(rod, &(FilReducedPass){.dt = 1.0, .sums = true});
    fil_reduced_add_loads(rod, 1.0);
    fil_reduced_gather(rod, x);
}

void fil_reduced_gradient(const FilRod *rod, double *gradient) {
    const FilReduced *data = fil_reduced(rod);
    double force[6];
    find_forces(rod, gradient);
    for (int k = 0; k < rod->dof_count; k++) {
        gradient[k] = -gradient[k];
    }
    for (int i = 0; i < rod->element_count; i++) {
        fil_reduced_elastic(rod, i, force);
        for (int a = 0; a < data->d; a++) {
            gradient[data->root + 3 * i + a] += force[a];
        }
    }
}

// K (q - q_nat) = forces. Clothoid: K is tridiagonal for each of the three curvatures, with the
// hats' l/3 and l/6 times the section's stiffness. The sweep keeps its factors in `passed`.
static void hold_clothoid(FilRod *rod, double *x) {
    FilReduced *data = fil_reduced(rod);
    int n = rod->element_count;
    double *factor = data->reduced; // [n + 1], scratch
    for (int c = 0; c < 3; c++) {
        double *f = x + data->root + c, before = 0.0;
        for (int i = 0; i <= n; i++) {
            double diagonal = 0.0, off = 0.0;
            if (i > 0) {
                diagonal += rod->lengths[i - 1] * rod->sections[i - 1].kappa[c] / 3.0;
            }
            if (i < n) {
                off = rod->lengths[i] * rod->sections[i].kappa[c] / 6.0;
                diagonal += 2.0 * off;
            }
            if (i > 0) {
                diagonal -= before * factor[i - 1];
                f[3 * i] -= before * f[3 * (i - 1)];
            }
            f[3 * i] /= diagonal;
            factor[i] = off / diagonal;
            before = off;
        }
        for (int i = n - 1; i >= 0; i--) {
            f[3 * i] -= factor[i] * f[3 * (i + 1)];
        }
    }
}

void fil_reduced_hold_shape(FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    double *x = rod->trial;
    find_forces(rod, x);
    if (data->d == 6) {
        hold_clothoid(rod, x);
    }
    for (int i = 0; i < rod->element_count; i++) {
        for (int k = 0; k < 6; k++) {
            int a = data->d == 3 ? 3 * i + k % 3 : 3 * i + k;
            double bend = x[data->root + a];
            if (data->d == 3) {
                bend /= rod->lengths[i] * rod->sections[i].kappa[k % 3];
            }
            rod->natural[6 * (size_t)i + (size_t)k] = data->kappa[a] - bend;
        }
    }
}

// Gravity, loads and velocity terms are not in A. Under the tension T that they make in an element,
// transverse waves of wave number q have lambda = (T q^2 - B q^4) / m beyond what the elastic terms
// of A balance, which dt^2 lambda <= 4 would keep bounded; guesses of v+ converge well for a tenth
// of that. And a section must turn by a small angle in the step for its velocity terms to converge.
// theta = 1/2, which damps nothing, forgives half as much. The parts are measured: kicked,
// whirling, spinning and swinging rods, see test_rod_motion.c. Where nothing limits the step it is
// a part of the period of the slowest mode.
double fil_reduced_largest_step(const FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    const double forgive = fmin(0.5, rod->theta - 0.25), part = 0.4 * forgive,
                 angle = 0.05 * forgive;
    double length = rod->state[1], limit = 0.0;
    fil_reduced_pass(rod, &(FilReducedPass){.dt = 1.0, .moving = true, .sums = true});
    double spin = fil_reduced_spin(rod);
    fil_reduced_add_loads(rod, 1.0);
    fil_reduced_gather(rod, data->forces);
    for (int i = 0; i < rod->element_count; i++) {
        const FilStiffness *section = &rod->sections[i];
        double B = fmin(section->kappa[1], section->kappa[2]), m = section->mass;
        double T = fil_norm3(data->wrench + 6 * (size_t)i);
        double least = 3.5 / (length * length), most = 9.9 / (rod->lengths[i] * rod->lengths[i]);
        double q2 = fmax(least, fmin(most, 0.5 * T / B));
        double lambda = q2 * (T - 0.5 * B * q2) / m; // half of B: theta = 1/2 balances less
        double slowest = 0.56 * sqrt(m / B) * length * length;
        limit = fmax(limit, fmax(sqrt(fmax(0.0, lambda)) / part, 1.0 / slowest));
    }
    return 1.0 / fmax(limit, spin / angle);
}
