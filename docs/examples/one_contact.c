// A block of 2 kg slides over the ground at 3 m/s. Friction acts for one step of 0.1 s.
#include <filum/filum.h>

#include <stdio.h>

int main(void) {
    const double mass = 2.0, step = 0.1, gravity = 9.81;
    const double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass}; // u = W r + b
    const double b[3] = {-gravity * step, 3.0, 0.0}; // without contact: falls, and slides along x
    const double mu[1] = {0.4};
    const FilFrictionProblem problem = {
        .block_count = 1,
        .block_size = 3, // normal component first, then two tangents
        .mu = mu,
        .form = FIL_FORM_BLOCKS,
        .blocks = {.start = (int[]){0, 1}, .column = (int[]){0}, .value = W},
        .b = b};

    double r[3], u[3];
    FilFrictionSolution solution = {.r = r, .u = u};
    FilFrictionInfo info;
    FilError error;
    if (fil_friction_solve(&problem, NULL, NULL, &solution, &info, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    (void)printf("%s\n", fil_outcome_name(info.outcome)); // and info.residual says how well
    (void)printf("impulse  %6.3f %6.3f %6.3f N s\n", r[0], r[1], r[2]);
    (void)printf("velocity %6.3f %6.3f %6.3f m/s\n", u[0], u[1], u[2]);
    return info.outcome == FIL_CONVERGED ? 0 : 1;
}
