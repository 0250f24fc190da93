// der_energy.c - energy, gradient and Hessian of stretch, bend and twist.
//
// With te, tf the directions of two edges of lengths le, lf, c = 1 + te.tf, b = (te + tf) / c and
// kb, kappa1, kappa2 and the twist m of their joint (der_frames.c):
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
// A torque tau on an edge has the generalised force (tau x t / l, tau . t); the symmetric part of
// its derivative is
//     ee: -((tau x t) t^T + t (tau x t)^T) / l^2,    es: (tau - (tau . t) t) / (2 l).
// The antisymmetric part that second derivatives have in these variables, because transport around
// a loop turns frames, is left out: the Hessian along any one path has none.
#include "der_energy.h"

#include "math/vec3.h"

#define ALWAYS_INLINE __attribute__((always_inline))

// Vectors of the variables of an edge: e in the first three places, s in the last.
typedef struct Four {
    double at[4];
} Four;

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

void fil_stretch_gradient(const FilEdge *edge, const FilEdgeSpring *spring, double g[4]) {
    fil_add3(spring->k * (edge->length - spring->rest), edge->t, g);
}

void fil_stretch_hessian(const FilEdge *edge, const FilEdgeSpring *spring, FilHessianPart part,
                         double H[16]) {
    double across = spring->k * (1.0 - spring->rest / edge->length);
    if (part == FIL_HESSIAN_STRESSFREE || (part == FIL_HESSIAN_CLIPPED && across < 0.0)) {
        across = 0.0;
    }
    double along = spring->k - across;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            H[4 * i + j] += along * edge->t[i] * edge->t[j];
        }
        H[5 * i] += across;
    }
}

void fil_torque_hessian(const FilEdge *edge, const double torque[3], double H[16]) {
    double inverse = 1.0 / edge->length, along = fil_dot3(torque, edge->t), across[3];
    fil_cross3(torque, edge->t, across);
    for (int i = 0; i < 3; i++) {
        double turn = 0.5 * inverse * (torque[i] - along * edge->t[i]);
        for (int j = 0; j < 3; j++) {
            H[4 * i + j] += inverse * inverse * (across[i] * edge->t[j] + edge->t[i] * across[j]);
        }
        H[4 * i + 3] -= turn;
        H[12 + i] -= turn;
    }
}

// What gradient and Hessian share: stresses and the vectors made of them.
typedef struct Joint {
    double b[3];      // (te + tf) / c
    double d2[3];     // te x d1
    double M[3];      // stresses
    double S, across; // M1 kappa1 + M2 kappa2, M1 kappa2 - M2 kappa1
    double w[3], W[3];
} Joint;

static inline ALWAYS_INLINE void start_joint(const FilEdge *e, const FilEdge *f,
                                             const FilBend *bend, const FilBendSpring *spring,
                                             Joint *joint) {
    fil_cross3(e->t, bend->d1, joint->d2);
    for (int k = 0; k < 3; k++) {
        joint->b[k] = (e->t[k] + f->t[k]) * bend->inverse;
        joint->M[k] = spring->k[k] * (bend->kappa[k] - spring->rest[k]);
    }
    const double *M = joint->M, *kappa = bend->kappa;
    joint->S = M[1] * kappa[1] + M[2] * kappa[2];
    joint->across = M[1] * kappa[2] - M[2] * kappa[1];
    for (int k = 0; k < 3; k++) {
        joint->w[k] = M[1] * bend->d1[k] + M[2] * joint->d2[k];
    }
    double along = fil_dot3(joint->w, f->t);
    for (int k = 0; k < 3; k++) {
        joint->W[k] = (2.0 * joint->w[k] - along * joint->b[k]) * bend->inverse;
    }
}

void fil_bend_gradient(const FilEdge *e, const FilEdge *f, const FilBend *bend,
                       const FilBendSpring *spring, double ge[4], double gf[4]) {
    Joint joint;
    start_joint(e, f, bend, spring, &joint);
    double right[3], left[3];
    fil_cross3(f->t, joint.W, right);
    fil_cross3(e->t, joint.W, left);
    double le = 1.0 / e->length, lf = 1.0 / f->length;
    for (int k = 0; k < 3; k++) {
        double twist = 0.5 * joint.M[0] * bend->kb[k], shrink = joint.S * joint.b[k];
        ge[k] += le * (right[k] - shrink + twist);
        gf[k] += lf * (twist - left[k] - shrink);
    }
    ge[3] += 0.5 * joint.across - joint.M[0];
    gf[3] += 0.5 * joint.across + joint.M[0];
}

// H += factor a b^T, and H += a b^T + b a^T.
static inline ALWAYS_INLINE void add_product(double factor, const Four *a, const Four *b,
                                             double *restrict H) {
    for (int i = 0; i < 4; i++) {
        const double ai = factor * a->at[i];
        for (int j = 0; j < 4; j++) {
            H[4 * i + j] += ai * b->at[j];
        }
    }
}

static inline ALWAYS_INLINE void add_both(const Four *a, const Four *b, double *restrict H) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            H[4 * i + j] += a->at[i] * b->at[j] + b->at[i] * a->at[j];
        }
    }
}

// Derivatives of one of kappa1 and kappa2 by the variables of both edges. `d` is its axis; kappa
// holds it and the derivative of it by a turn of the middle frame.
static inline ALWAYS_INLINE void differentiate(const FilEdge *e, const FilEdge *f,
                                               const Joint *joint, double inverse,
                                               const double d[3], const double kappa[2],
                                               Four out[2]) {
    double D[3], right[3], left[3], along = fil_dot3(d, f->t);
    for (int k = 0; k < 3; k++) {
        D[k] = (2.0 * d[k] - along * joint->b[k]) * inverse;
    }
    fil_cross3(f->t, D, right);
    fil_cross3(e->t, D, left);
    double le = 1.0 / e->length, lf = 1.0 / f->length;
    for (int k = 0; k < 3; k++) {
        out[0].at[k] = le * (right[k] - kappa[0] * joint->b[k]);
        out[1].at[k] = -lf * (left[k] + kappa[0] * joint->b[k]);
    }
    out[0].at[3] = out[1].at[3] = 0.5 * kappa[1];
}

// The products of first derivatives.
static inline ALWAYS_INLINE void add_stiffness(const FilBendSpring *spring, Four grad[3][2],
                                               double *const H[3]) {
    for (int k = 0; k < 3; k++) {
        add_product(spring->k[k], &grad[k][0], &grad[k][0], H[0]);
        add_product(spring->k[k], &grad[k][1], &grad[k][1], H[1]);
        add_product(spring->k[k], &grad[k][0], &grad[k][1], H[2]);
    }
}

// One edge's own block of the second derivatives: `t` and `length` its own, `w` on it, `Q` its
// gradient of S times its length, `cross` its block of d/ds.
static inline ALWAYS_INLINE void add_own(const Joint *joint, const FilBend *bend,
                                         const FilEdge *edge, const double w[3], const Four *Q,
                                         const Four *cross, double *H) {
    double inverse = 1.0 / edge->length, S = joint->S;
    Four kb = {{0.0}}, y = {{0.0}}, b = {{0.0}}, turn = {{0.0, 0.0, 0.0, 1.0}};
    double diagonal = S * bend->inverse * inverse * inverse;
    for (int k = 0; k < 3; k++) {
        kb.at[k] = bend->kb[k] * inverse;
        y.at[k] = inverse * (0.25 * w[k] + S / 32.0 * bend->kb[k] -
                             0.25 * joint->M[0] * (edge->t[k] + joint->b[k]));
        b.at[k] = -inverse * joint->b[k];
    }
    add_both(&kb, &y, H);
    add_both(Q, &b, H); // Q holds 1 / length
    add_both(cross, &turn, H);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            H[4 * i + j] += diagonal * edge->t[i] * edge->t[j];
        }
        H[5 * i] -= diagonal;
    }
    H[15] -= 0.25 * S;
}

// The block between the two edges.
static inline ALWAYS_INLINE void add_between(const Joint *joint, const FilBend *bend,
                                             const FilEdge *e, const FilEdge *f, const Four Q[2],
                                             double *H) {
    double le = 1.0 / e->length, lf = 1.0 / f->length, both = le * lf, S = joint->S;
    double diagonal = both * S * bend->inverse, turn[3];
    for (int k = 0; k < 3; k++) { // the axial vector of the antisymmetric part
        turn[k] = both * (joint->M[0] * bend->inverse * e->t[k] - joint->W[k]);
    }
    for (int i = 0; i < 3; i++) {
        double first = both * (S / 16.0 * bend->kb[i]),
               second = 0.5 * both * joint->M[0] * bend->kb[i];
        for (int j = 0; j < 3; j++) {
            H[4 * i + j] += first * bend->kb[j] - second * joint->b[j] -
                            lf * Q[0].at[i] * joint->b[j] - le * joint->b[i] * Q[1].at[j] -
                            diagonal * e->t[i] * f->t[j];
        }
        H[5 * i] -= diagonal;
    }
    H[1] -= turn[2];
    H[2] += turn[1];
    H[4] += turn[2];
    H[6] -= turn[0];
    H[8] -= turn[1];
    H[9] += turn[0];
    H[15] -= 0.25 * S;
}

// The stresses times second derivatives.
static inline ALWAYS_INLINE void add_stresses(const FilEdge *e, const FilEdge *f,
                                              const FilBend *bend, const Joint *joint,
                                              Four grad[3][2], double *const H[3]) {
    const double *M = joint->M;
    Four Q[2], cross[2];
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 2; i++) {
            Q[i].at[k] = M[1] * grad[1][i].at[k] + M[2] * grad[2][i].at[k];
            cross[i].at[k] = 0.5 * (M[1] * grad[2][i].at[k] - M[2] * grad[1][i].at[k]);
        }
    }
    for (int i = 0; i < 2; i++) {
        Q[i].at[3] = 0.0;
        cross[i].at[3] = 0.0;
    }
    double wf[3], along = fil_dot3(joint->w, f->t);
    for (int k = 0; k < 3; k++) {
        wf[k] = joint->w[k] - along * joint->b[k];
    }
    add_own(joint, bend, e, joint->w, &Q[0], &cross[0], H[0]);
    add_own(joint, bend, f, wf, &Q[1], &cross[1], H[1]);
    add_between(joint, bend, e, f, Q, H[2]);
    for (int k = 0; k < 3; k++) {
        H[2][4 * k + 3] += cross[0].at[k];
        H[2][12 + k] += cross[1].at[k];
    }
}

static inline ALWAYS_INLINE void add_bend(const FilEdge *e, const FilEdge *f, const FilBend *bend,
                                          const FilBendSpring *spring, FilHessianPart part,
                                          double *const H[3]) {
    Joint joint;
    Four grad[3][2];
    start_joint(e, f, bend, spring, &joint);
    const double *kappa = bend->kappa;
    for (int k = 0; k < 3; k++) {
        grad[0][0].at[k] = 0.5 * bend->kb[k] / e->length;
        grad[0][1].at[k] = 0.5 * bend->kb[k] / f->length;
    }
    grad[0][0].at[3] = -1.0;
    grad[0][1].at[3] = 1.0;
    const double second[2] = {kappa[2], -kappa[1]};
    differentiate(e, f, &joint, bend->inverse, bend->d1, kappa + 1, grad[1]);
    differentiate(e, f, &joint, bend->inverse, joint.d2, second, grad[2]);
    add_stiffness(spring, grad, H);
    if (part != FIL_HESSIAN_STRESSFREE) {
        add_stresses(e, f, bend, &joint, grad, H);
    }
}

// The same code for two vector lengths; the operations and the bits of their results are the same.
#define DEFINE_BENDS(name, target)                                                          \
    target static void name(int count, const FilEdge *edges, const FilBend *bends,          \
                            const FilBendSpring *springs, FilHessianPart part, double *own, \
                            double *between) {                                              \
        for (int j = 0; j < count; j++) {                                                   \
            double *const H[3] = {own, own + 16, between};                                  \
            add_bend(&edges[j], &edges[j + 1], &bends[j], &springs[j], part, H);            \
            own += 16;                                                                      \
            between += 16;                                                                  \
        }                                                                                   \
    }

DEFINE_BENDS(add_bends, )
#if defined(__x86_64__)
DEFINE_BENDS(add_bends_avx2, __attribute__((target("avx2"))))
#endif

void fil_bends_hessian(int count, const FilEdge *edges, const FilBend *bends,
                       const FilBendSpring *springs, FilHessianPart part, double *own,
                       double *between) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        add_bends_avx2(count, edges, bends, springs, part, own, between);
        return;
    }
#endif
    add_bends(count, edges, bends, springs, part, own, between);
}
