// element.c - one element of a reduced rod: geometry, inertia and velocity terms.
//
// All is seen from the element's own start frame, so that it depends on curvature, length and
// section alone. With kappa(s) = sum_a phi_a(s) k_a (phi = 1 for a helix; 1 - u and u, u = s / l,
// for a clothoid) and t = R e0, along the element
//     R' = R [kappa]x          frame                                   R(0) = 1
//     theta_a' = R phi_a e_a   spin per rate of k_a                    0
//     D_a' = theta_a x t       velocity per rate of k_a                0
// and r, the integral of t, is theta of a uniform twist. A section whose start moves with velocity
// v and spin w moves with
//     v(s) = v + w x r + D k',    w(s) = w + theta k',
// and for a start that is accelerated by (b_v, b_w), and rates k' that stay, it is accelerated by
//     alpha(s) = b_w + w x (theta k') + alpha1,    alpha1' = (theta k') x (R kappa'),
//     a(s) = b_v + b_w x r + w x (w x r + 2 D k') + a1,
//     a1' = alpha1 x t + (theta k') x ((theta k') x t).
// Kinetic energy: half the integral of m |v|^2 + J (w . t)^2; the section's inertia about t makes
// the torque J (t (alpha . t) + (w . t) w x t). Gravity g is the acceleration b_v = -g of the
// start. What is calm leaves a part of the velocity terms out, those with two velocities in them.
//
// Integrals. The integrands are entire functions: Gauss collocation (collocation.c) reaches
// round-off with 4 to 16 nodes; an element that turns by more than the largest rule allows is cut.
// Frames at the nodes: for a helix the closed form in R = 1 + f1 [k]x + f2 [k]x^2 with f1, f2, f3
// as series in (angle)^2, which have no bad case at zero; for a clothoid the power series of the
// quaternion, q' = q (0, kappa) / 2, a recurrence of 4 numbers that grows half as fast as that of
// R.
#include "element.h"

#include <math.h>
#include <stddef.h>

#define ALWAYS_INLINE __attribute__((always_inline))
#define MAX_TERMS 52

static const double inverse_factorial[] = {
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
    1.0 / 87178291200.0,
    1.0 / 1307674368000.0,
    1.0 / 20922789888000.0,
    1.0 / 355687428096000.0,
    1.0 / 6402373705728000.0,
    1.0 / 121645100408832000.0,
    1.0 / 2432902008176640000.0,
    1.0 / 51090942171709440000.0,
    1.0 / 1124000727777607680000.0,
    1.0 / 25852016738884976640000.0,
    1.0 / 620448401733239439360000.0,
    1.0 / 15511210043330985984000000.0,
    1.0 / 403291461126605635584000000.0,
    1.0 / 10888869450418352160768000000.0,
    1.0 / 304888344611713860501504000000.0,
    1.0 / 8841761993739701954543616000000.0,
};

#define FIL_KERNEL_FILE "rod/element_kernels.h"
#include "math/variants.h"

const FilElementKernels *fil_element_variant(int dofs, int index) {
    return CHOOSE_VARIANT(index, kernels[dofs / 3 - 1]);
}

const FilElementKernels *fil_element_kernels(int dofs) {
    return fil_element_variant(dofs, count_variants() - 1);
}

bool fil_element_plan(int dofs, const FilElementIn *in, FilElementWork *work) {
    double largest = 0.0;
    bool sane = true;
    for (int lane = 0; lane < FIL_LANES; lane++) {
        for (int a = 0; a < dofs; a += 3) {
            double x = in->kappa[a][lane], y = in->kappa[a + 1][lane], z = in->kappa[a + 2][lane];
            double turn = sqrt(x * x + y * y + z * z) * in->length[lane];
            sane &= turn <= FIL_ELEMENT_TURN; // false for NaN
            largest = turn > largest ? turn : largest;
        }
    }
    work->segments = 1;
    for (int k = 0; k < FIL_COLLOCATIONS; k++) {
        work->rule = &fil_collocations[k];
        if (largest <= work->rule->angle[dofs / 3 - 1]) {
            return sane;
        }
    }
    if (sane) {
        work->segments = (int)ceil(largest / work->rule->angle[dofs / 3 - 1]);
    }
    return sane;
}
