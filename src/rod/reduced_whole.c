// reduced_whole.c - rods whose unknowns are curvatures as a whole: how they move as one piece,
// their momentum, and what acts on them. A pass over the elements gives the force on each; gathered
// at the root it is the wrench on the rod.
#include <string.h>

#include "math/vec3.h"
#include "reduced.h"

// --- motion --------------------------------------------------------------------------------------

// Curvatures do not change.
void fil_reduced_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                             double *rates) {
    const FilReduced *data = fil_reduced(rod);
    memset(rates, 0, sizeof(double) * (size_t)rod->dof_count);
    if (data->root == 6) {
        fil_copy3(velocity, rates);
    }
    if (data->root > 0) {
        fil_copy3(spin, rates + data->root - 3);
    }
}

// The root spins about its tangent; seen from sections that turn, the curvature turns back.
void fil_reduced_axial_rates(const FilRod *rod, double *rates) {
    const FilReduced *data = fil_reduced(rod);
    for (int k = 0; k < data->root; k++) {
        rates[k] = k < data->root - 3 ? 0.0 : data->root_turn[3 * (k - data->root + 3)];
    }
    for (int k = 0; k < data->kappas; k += 3) {
        double *rate = rates + data->root + k;
        rate[0] = 0.0;
        rate[1] = data->kappa[k + 2];
        rate[2] = -data->kappa[k + 1];
    }
}

// --- the whole -----------------------------------------------------------------------------------

// Add what a pass finds of the rod as a whole, about a place.
static void add_pass(const FilRod *rod, const FilReducedPass *pass, const double about[3],
                     double sum[2][3]) {
    const FilReduced *data = fil_reduced(rod);
    double force[3], moment[3];
    fil_reduced_pass(rod, pass);
    fil_reduced_gather(rod, data->forces);
    fil_apply3(data->root_turn, data->root_wrench, force);
    fil_apply3(data->root_turn, data->root_wrench + 3, moment);
    fil_rod_add_wrench(about, data->root_place, force, moment, sum);
}

void fil_reduced_momentum(const FilRod *rod, const double *state, const double about[3],
                          double linear[3], double angular[3]) {
    FilReduced *data = fil_reduced(rod);
    double sum[2][3] = {{0.0}}, *here = data->here_state;
    data->here_state = (double *)state + FIL_ROD_STATE; // only looked at
    fil_reduced_view(data, false);
    add_pass(rod,
             &(FilReducedPass){
                 .momentum = 1.0, .moving = true, .sums = true, .parts = FIL_ELEMENT_FORCES},
             about, sum);
    data->stale = data->stale || data->here_state != here;
    data->here_state = here;
    fil_reduced_view(data, false);
    fil_copy3(sum[0], linear);
    fil_copy3(sum[1], angular);
}

void fil_reduced_body_wrench(const FilRod *rod, const double about[3], double force[3],
                             double moment[3]) {
    double sum[2][3] = {{0.0}};
    add_pass(rod, &(FilReducedPass){.dt = 1.0, .sums = true, .parts = FIL_ELEMENT_FORCES}, about,
             sum);
    if (rod->drag > 0.0) {
        add_pass(rod,
                 &(FilReducedPass){
                     .resist = 1.0, .moving = true, .sums = true, .parts = FIL_ELEMENT_FORCES},
                 about, sum);
    }
    fil_copy3(sum[0], force);
    fil_copy3(sum[1], moment);
}
