// der_energy.c - placing edges and joints; energy, gradient and Hessian of stretch, bend and twist.
//
// Frames. Transport without spin from the direction a to the direction b takes a vector n at right
// angles to a to n - (n . b) / (1 + a . b) (a + b): the smallest rotation that turns a into b.
// The curvature binormal of a joint, kb = 2 te x tf / (1 + te . tf), lies along the axis of the
// bend and is 2 tan(angle / 2) long (Bergou et al. 2008). It has the same components in the frame
// of e as in that frame transported to f. The twist m is the angle from there to the frame of f.
// kappa1 and kappa2 are the components of kb in the frame half way, turned by m / 2: in contrast to
// the mean of the two end frames (Bergou et al. 2010) this never shortens kb, however large the
// twist.
//
// Derivatives. With te, tf the directions of two edges of lengths le, lf, c = 1 + te.tf and
// b = (te + tf) / c:
//     d kappa_k / de = (tf x D_k - kappa_k b) / le       D_k = (2 d_k - (d_k . tf) b) / c
//     d kappa_k / df = -(te x D_k + kappa_k b) / lf      d_1, d_2: the frame half way, seen from e
//     d kappa_1 / ds = kappa_2 / 2, d kappa_2 / ds = -kappa_1 / 2, for either edge's turn s
//     dm / de = kb / (2 le), dm / df = kb / (2 lf), dm / dse = -1, dm / dsf = 1.
// The Hessian is sum_k k_k (d kappa_k)(d kappa_k)^T plus the stresses M_k = k_k (kappa_k - rest_k)
// times second derivatives. With w = M_1 d_1 + M_2 d_2 (on e; wf on f), W = (w + wf) / c, S = w.kb,
// Qe = tf x W - S b, Qf = -te x W - S b the second derivatives of S at constant M are
//     ee: (sym(kb w^T)/2 + S/16 kb kb^T - Qe b^T - b Qe^T - S/c (I - te te^T)) / le^2
//     ff: (sym(kb wf^T)/2 + S/16 kb kb^T - Qf b^T - b Qf^T - S/c (I - tf tf^T)) / lf^2
//     ef: (-[W]x + S/16 kb kb^T - Qe b^T - b Qf^T - S/c (I + te tf^T)) / (le lf)
//     es: (M_1 d kappa_2 - M_2 d kappa_1) / 2,  ss: -S / 4,
// and those of m, with sym(A) = (A + A^T) / 2,
//     ee: -sym(kb (te + b)^T) / (2 le^2), ff the same with tf, ef: ([te]x / c - kb b^T / 2) / (le
//     lf).
// The antisymmetric part that second derivatives have in these variables, because transport around
// a loop turns frames, is left out: the Hessian along any one path has none.
#include "der_energy.h"

#include <math.h>

#define ALWAYS_INLINE __attribute__((always_inline))

typedef double Lanes __attribute__((vector_size(32)));
typedef double LooseLanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long LaneBits __attribute__((vector_size(32)));

// The structures of der_energy.h, four side by side.
typedef struct EdgeLanes {
    Lanes t[3], n1[3], length, spin;
} EdgeLanes;

typedef struct BendLanes {
    Lanes kb[3], inverse, d1[3], kappa[3];
} BendLanes;

typedef struct JointLanes {
    EdgeLanes e, f;
    BendLanes bend;
    Lanes spring[6]; // k and rest
} JointLanes;

_Static_assert(sizeof(FilEdge) == 8 * sizeof(double), "an edge is eight numbers");
_Static_assert(sizeof(FilBend) == 10 * sizeof(double), "a bend is ten numbers");
_Static_assert(sizeof(FilBendSpring) == 6 * sizeof(double), "a spring is six numbers");

// What gradient and Hessian share: stresses and the vectors made of them.
typedef struct StressLanes {
    Lanes b[3];        // (te + tf) / c
    Lanes d2[3];       // te x d1
    Lanes M[3];        // stresses
    Lanes S;           // M1 kappa1 + M2 kappa2
    Lanes w[3], wf[3]; // M1 d1 + M2 d2, on e and on f
    Lanes W[3];        // (w + wf) / c
    Lanes inverse[2];  // 1 / length, in the Hessian alone
} StressLanes;

// Blocks of the Hessian of a joint: those of the two edges (upper half, see place_of) and, with
// rows of e and columns of f, the one between them.
typedef struct BlockLanes {
    Lanes own[2][10], between[16];
} BlockLanes;

static const int place_of[4][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}};

static const double two_pi = 6.283185307179586476925;

double fil_stretch_energy(const FilEdge *edge, const FilEdgeSpring *spring) {
    double longer = edge->length - spring->rest;
    return 0.5 * spring->k * longer * longer;
}

double fil_bend_energy(const FilBend *bend, const FilBendSpring *spring) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double strain = bend->kappa[k] - spring->rest[k];
        sum += 0.5 * spring->k[k] * strain * strain;
    }
    return sum;
}

// The angle of (c, s) up to full turns, nearest to `near`, and (cos, sin) of half of it.
static double unwind(double c, double s, double near, double half[2]) {
    double angle = atan2(s, c);
    double turns = rint((near - angle) / two_pi);
    double large = sqrt(0.5 * (1.0 + fabs(c)));
    half[0] = c >= 0.0 ? large : 0.5 * fabs(s) / large;
    half[1] = copysign(c >= 0.0 ? 0.5 * fabs(s) / large : large, s);
    double odd = turns - 2.0 * floor(0.5 * turns);
    half[0] = odd == 0.0 ? half[0] : -half[0];
    half[1] = odd == 0.0 ? half[1] : -half[1];
    return angle + two_pi * turns;
}

#define FIL_KERNEL_FILE "rod/der_kernels.h"
#include "math/variants.h"

const FilDerKernels *fil_der_variant(int index) {
    return CHOOSE_VARIANT(index, kernels);
}

const FilDerKernels *fil_der_kernels(void) {
    return fil_der_variant(count_variants() - 1);
}
