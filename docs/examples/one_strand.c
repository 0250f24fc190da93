// A strand of hair, 25 cm long, that curls naturally: where does its tip hang, and how does it
// swing?
#include <filum/filum.h>

#include <stdio.h>

int main(void) {
    FilRodDef hair = fil_rod_def_default(); // round, 50 um, clamped at the origin along x
    hair.model = FIL_ROD_CLOTHOID;
    hair.element_count = 8;
    hair.length = 0.25;
    hair.natural_curvature[1] = 40.0; // 1/m: a curl of 2.5 cm radius
    FilRod *strand = NULL;
    FilStaticsInfo rest;
    FilError error;
    double frequency;
    if (fil_rod_create(&hair, NULL, &strand, &error) != FIL_OK ||
        fil_rod_equilibrium(strand, NULL, &rest, &error) != FIL_OK ||
        fil_rod_frequencies(strand, 1, &frequency, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        fil_rod_destroy(strand);
        return 1;
    }
    FilPose tip;
    fil_rod_at(strand, fil_rod_length(strand), &tip, NULL);
    (void)printf("%s, swings at %.2f Hz\n", rest.stable ? "stable" : "unstable",
                 frequency / 6.2832);
    (void)printf("tip hangs at %.1f mm, %.1f mm\n", 1e3 * tip.position[0], 1e3 * tip.position[2]);

    const double sideways[3] = {9.81, 0.0, 0.0}; // and now gravity turns
    FilStatus status = fil_rod_set_gravity(strand, sideways, &error);
    while (status == FIL_OK && fil_rod_time(strand) < 0.5) {
        status = fil_rod_step(strand, 1e-3, NULL, &error);
    }
    fil_rod_at(strand, fil_rod_length(strand), &tip, NULL);
    (void)printf("0.5 s later  %.1f mm, %.1f mm\n", 1e3 * tip.position[0], 1e3 * tip.position[2]);
    fil_rod_destroy(strand);
    return status == FIL_OK ? 0 : 1;
}
