// recursive.c - the step of a reduced rod in O(N): elimination element by element from the tips.
//
// A v = x minimises 1/2 v^T A v - x^T v. Written with the motion xi_i = (velocity, spin) of the
// start of each element as an unknown of its own, the quadratic form is a sum over elements of
//     1/2 (xi, k)^T [M_i + stiff K_i] (xi, k),    xi of a child = turn^T (X xi + S k),
// where k are the element's rates, X xi = (v + w x r, w) and S k = (D k, theta k). What hangs
// behind the end of element i has been reduced to a form P over its interface: xi alone for a helix
// (6), xi and the shared curvature rate of the joint for a clothoid (9). Adding it and eliminating
// the last three rates (the helix's own; the clothoid's at the end of the element) leaves the form
// over the interface at the start. With F the form before, e what is eliminated and m the
// interface,
//     F_ee = L L^T,   C = F_me L^-T,   P = F_mm - C C^T.
// That is the articulated-body algorithm (Featherstone 1983) with the implicit elastic terms in
// each element's own inertia, and it is exactly the Cholesky factorisation of A.
//
// A solve takes the right-hand side from the tips to the root and the motion back:
//     y = L^-1 (x_e + ...),   p = ... - C y;      e = L^-T (y - C^T (interface)).
#include "reduced.h"

#include <float.h>
#include <string.h>

#include "math/cholesky.h"
#include "math/vec3.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { INTERFACE = 9, FORM = 12 }; // at most

// out = T A T^T.
static ALWAYS_INLINE void turn_block(const double *T, const double *A, int stride, double *out) {
    double TA[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            TA[3 * i + j] =
                T[3 * i] * A[j] + T[3 * i + 1] * A[stride + j] + T[3 * i + 2] * A[2 * stride + j];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] =
                TA[3 * i] * T[3 * j] + TA[3 * i + 1] * T[3 * j + 1] + TA[3 * i + 2] * T[3 * j + 2];
        }
    }
}

// A form over (v, w) and, for a clothoid, the carried rate: blocks A = vv, B = vw, C = ww,
// G = v and w against the rate, H = the rate.
typedef struct Form {
    double A[9], B[9], C[9], Gv[9], Gw[9], H[9];
} Form;

// Add P (m x m, in the axes of element i) to `sum`, in the axes of its parent.
static ALWAYS_INLINE void add_child(const FilReduced *data, int i, int d, Form *sum) {
    int m = d + 3;
    const double *T = data->turn + 9 * (size_t)i, *P = data->reduced + (size_t)(m * m) * (size_t)i;
    double block[9];
    turn_block(T, P, m, block);
    for (int k = 0; k < 9; k++) {
        sum->A[k] += block[k];
    }
    turn_block(T, P + 3, m, block);
    for (int k = 0; k < 9; k++) {
        sum->B[k] += block[k];
    }
    turn_block(T, P + 3 * m + 3, m, block);
    for (int k = 0; k < 9; k++) {
        sum->C[k] += block[k];
    }
    if (d == 3) {
        return;
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                sum->Gv[3 * r + c] += T[3 * r + k] * P[m * k + 6 + c];
                sum->Gw[3 * r + c] += T[3 * r + k] * P[m * (3 + k) + 6 + c];
            }
            sum->H[3 * r + c] += P[m * (6 + r) + 6 + c];
        }
    }
}

// Q = X^T P X at the start, r away: B' = B - A [r]x, C' = C + [r]x B' - B^T [r]x.
static ALWAYS_INLINE void shift_form(const Form *P, const double *r, double *B, double *C) {
    for (int i = 0; i < 3; i++) { // rows times [r]x: a -> a x r
        fil_cross3(P->A + 3 * i, r, B + 3 * i);
        for (int j = 0; j < 3; j++) {
            B[3 * i + j] = P->B[3 * i + j] - B[3 * i + j];
        }
    }
    for (int j = 0; j < 3; j++) {
        double up[3], column[3] = {B[j], B[3 + j], B[6 + j]};
        fil_cross3(r, column, up); // [r]x B', column j
        for (int i = 0; i < 3; i++) {
            C[3 * i + j] = up[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        double row[3] = {P->B[i], P->B[3 + i], P->B[6 + i]}, across[3];
        fil_cross3(row, r, across); // B^T [r]x, row i
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] += P->C[3 * i + j] - across[j];
        }
    }
}

// The columns of the form for the rates: F(xi, k) and F(k, k).
static ALWAYS_INLINE void add_rates(const FilReduced *data, int i, int d, const Form *P,
                                    double *F) {
    size_t n = (size_t)i;
    int t = d + 6;
    const double *r = data->end_place + 3 * n;
    const double *S = data->theta + (size_t)(3 * d) * n, *D = data->travel + (size_t)(3 * d) * n;
    const double *vk = data->vk + (size_t)(3 * d) * n, *wk = data->wk + (size_t)(3 * d) * n;
    const double *kk = data->kk + (size_t)(d * (d + 1) / 2) * n;
    for (int a = 0; a < d; a++) {
        const double *s = S + 3 * a, *v = D + 3 * a;
        double force[3], torque[3], arm[3];
        for (int c = 0; c < 3; c++) {
            force[c] = P->A[3 * c] * v[0] + P->A[3 * c + 1] * v[1] + P->A[3 * c + 2] * v[2] +
                       P->B[3 * c] * s[0] + P->B[3 * c + 1] * s[1] + P->B[3 * c + 2] * s[2];
            torque[c] = P->B[c] * v[0] + P->B[3 + c] * v[1] + P->B[6 + c] * v[2] +
                        P->C[3 * c] * s[0] + P->C[3 * c + 1] * s[1] + P->C[3 * c + 2] * s[2];
            if (a >= 3) {
                force[c] += P->Gv[3 * c + a - 3];
                torque[c] += P->Gw[3 * c + a - 3];
            }
        }
        for (int b = 0; b <= a; b++) {
            const double *sb = S + 3 * b, *vb = D + 3 * b;
            double sum = kk[a * (a + 1) / 2 + b] + vb[0] * force[0] + vb[1] * force[1] +
                         vb[2] * force[2] + sb[0] * torque[0] + sb[1] * torque[1] +
                         sb[2] * torque[2];
            if (b >= 3) { // then a >= 3 too: G^T S_a + H
                const double *g = P->Gv + b - 3, *q = P->Gw + b - 3;
                sum += g[0] * v[0] + g[3] * v[1] + g[6] * v[2] + q[0] * s[0] + q[3] * s[1] +
                       q[6] * s[2] + P->H[3 * (b - 3) + a - 3];
            }
            F[t * (6 + a) + 6 + b] = sum;
        }
        fil_cross3(r, force, arm);
        for (int c = 0; c < 3; c++) {
            F[t * (6 + a) + c] = vk[3 * a + c] + force[c];
            F[t * (6 + a) + 3 + c] = wk[3 * a + c] + torque[c] + arm[c];
        }
    }
}

// The form of element i and all behind it, lower triangle, over (v, w, rates).
static ALWAYS_INLINE void build_form(const FilRod *rod, int i, int d, double stiff, double *F) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)i;
    int t = d + 6;
    Form P;
    memset(&P, 0, sizeof P);
    for (int child = data->child[i]; child >= 0; child = data->sibling[child]) {
        add_child(data, child, d, &P);
    }
    double B[9], C[9];
    shift_form(&P, data->end_place + 3 * n, B, C);
    const double *s = data->moment + 3 * n, *I = data->ww + 6 * n, mass = data->mass[n];
    const double full[9] = {I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5]};
    const double moment[9] = {0.0, -s[2], s[1], s[2], 0.0, -s[0], -s[1], s[0], 0.0};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            F[t * r + c] = P.A[3 * r + c] + (r == c ? mass : 0.0);
            F[t * (3 + c) + r] = B[3 * r + c] - moment[3 * r + c];
            F[t * (3 + r) + 3 + c] = C[3 * r + c] + full[3 * r + c];
        }
    }
    add_rates(data, i, d, &P, F);
    const double *K = rod->sections[i].kappa;
    for (int p = 0; p < d / 3; p++) {
        for (int q = 0; q <= p; q++) {
            double hat = stiff * fil_reduced_hat(rod, i, p, q);
            for (int c = 0; c < 3; c++) {
                F[t * (6 + 3 * p + c) + 6 + 3 * q + c] += hat * K[c];
            }
        }
    }
}

// A pivot that round-off brought to zero or below is kept just above.
static ALWAYS_INLINE double safe_root(double pivot, double before) {
    return sqrt(pivot > 1e-15 * before ? pivot : 1e-15 * before + DBL_MIN);
}

// pivot: L00 L10 L11 L20 L21 L22, with the diagonal inverted.
static ALWAYS_INLINE void factor_pivot(const double *E, int stride, double *L) {
    const double *e1 = E + stride, *e2 = E + 2 * (ptrdiff_t)stride;
    L[0] = 1.0 / safe_root(E[0], E[0]);
    L[1] = e1[0] * L[0];
    L[2] = 1.0 / safe_root(e1[1] - L[1] * L[1], e1[1]);
    L[3] = e2[0] * L[0];
    L[4] = (e2[1] - L[3] * L[1]) * L[2];
    L[5] = 1.0 / safe_root(e2[2] - L[3] * L[3] - L[4] * L[4], e2[2]);
}

static ALWAYS_INLINE void eliminate(const FilRod *rod, int i, int d, double stiff) {
    FilReduced *data = fil_reduced(rod);
    int m = d + 3, t = d + 6;
    double F[FORM * FORM];
    build_form(rod, i, d, stiff, F);
    double *L = data->pivot + 6 * (size_t)i, *C = data->coupling + (size_t)(3 * m) * (size_t)i;
    double *P = data->reduced + (size_t)(m * m) * (size_t)i;
    const double *e0 = F + (ptrdiff_t)t * m, *e1 = e0 + t, *e2 = e1 + t;
    factor_pivot(e0 + m, t, L);
    for (int r = 0; r < m; r++) {
        double c0 = e0[r] * L[0];
        double c1 = (e1[r] - c0 * L[1]) * L[2];
        C[r] = c0;
        C[m + r] = c1;
        C[2 * m + r] = (e2[r] - c0 * L[3] - c1 * L[4]) * L[5];
    }
    for (int r = 0; r < m; r++) {
        for (int c = 0; c <= r; c++) {
            P[m * r + c] =
                F[t * r + c] - C[r] * C[c] - C[m + r] * C[m + c] - C[2 * m + r] * C[2 * m + c];
            P[m * c + r] = P[m * r + c];
        }
    }
}

// --- the root ------------------------------------------------------------------------------------

// Unknowns at the root, by their place in (v, w, carried rate).
static int list_unknowns(const FilReduced *data, int unknown[INTERFACE]) {
    int count = 0;
    for (int k = 6 - data->root; k < data->d + 3; k++) {
        unknown[count++] = k;
    }
    return count;
}

static void factor_root(const FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    Form P;
    memset(&P, 0, sizeof P);
    for (int i = data->first; i >= 0; i = data->sibling[i]) {
        add_child(data, i, data->d, &P);
    }
    double full[INTERFACE][INTERFACE];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            full[r][c] = P.A[3 * r + c];
            full[3 + c][r] = P.B[3 * r + c];
            full[3 + r][3 + c] = P.C[3 * r + c];
            full[6 + c][r] = P.Gv[3 * r + c];
            full[6 + c][3 + r] = P.Gw[3 * r + c];
            full[6 + r][6 + c] = P.H[3 * r + c];
        }
    }
    int unknown[INTERFACE], n = list_unknowns(data, unknown);
    for (int r = 0; r < n; r++) {
        for (int c = 0; c <= r; c++) {
            data->root_factor[n * r + c] = full[unknown[r]][unknown[c]];
        }
    }
    fil_cholesky_factor_raised(n, data->root_factor, data->root_first, FIL_REDUCED_PIVOT);
    memcpy(data->root_axes, data->root_turn, sizeof data->root_axes);
}

void fil_recursive_factor(const FilRod *rod, double stiff) {
    int d = fil_reduced(rod)->d;
    for (int i = rod->element_count - 1; i >= 0; i--) {
        if (d == 3) {
            eliminate(rod, i, 3, stiff);
        } else {
            eliminate(rod, i, 6, stiff);
        }
    }
    factor_root(rod);
}

// --- solves --------------------------------------------------------------------------------------

// Bring what comes from the children of element i to its end: wrench w (axes of element i) and, for
// a clothoid, the force on the rate at its end.
static ALWAYS_INLINE void collect(const FilReduced *data, int first, int d, double w[6],
                                  double rate[3]) {
    int m = d + 3;
    memset(w, 0, 6 * sizeof(double));
    memset(rate, 0, 3 * sizeof(double));
    for (int i = first; i >= 0; i = data->sibling[i]) {
        const double *T = data->turn + 9 * (size_t)i, *p = data->passed + (size_t)m * (size_t)i;
        double part[3];
        fil_apply3(T, p, part);
        fil_add3(1.0, part, w);
        fil_apply3(T, p + 3, part);
        fil_add3(1.0, part, w + 3);
        if (d == 6) {
            fil_add3(1.0, p + 6, rate);
        }
    }
}

// Towards the root: x of the eliminated rates becomes y, and what passes to the interface is kept.
static ALWAYS_INLINE void pass_down(FilReduced *data, int i, int d, double *x) {
    size_t n = (size_t)i;
    int m = d + 3;
    double w[6], u[3], arm[3];
    const double *S = data->theta + (size_t)(3 * d) * n, *D = data->travel + (size_t)(3 * d) * n;
    const double *L = data->pivot + 6 * n, *C = data->coupling + (size_t)(3 * m) * n;
    double *p = data->passed + (size_t)m * n, *y = x + data->root + 3 * n + (size_t)(d - 3);
    collect(data, data->child[i], d, w, u);
    for (int c = 0; c < 3; c++) {
        int a = 3 * (d - 3 + c);
        u[c] += y[c] + fil_dot3(D + a, w) + fil_dot3(S + a, w + 3);
    }
    y[0] = u[0] * L[0];
    y[1] = (u[1] - L[1] * y[0]) * L[2];
    y[2] = (u[2] - L[3] * y[0] - L[4] * y[1]) * L[5];
    fil_cross3(data->end_place + 3 * n, w, arm);
    for (int c = 0; c < 3; c++) {
        p[c] = w[c];
        p[3 + c] = w[3 + c] + arm[c];
        if (d == 6) {
            p[6 + c] = fil_dot3(D + 3 * c, w) + fil_dot3(S + 3 * c, w + 3);
        }
    }
    for (int r = 0; r < m; r++) {
        p[r] -= C[r] * y[0] + C[m + r] * y[1] + C[2 * m + r] * y[2];
    }
}

// Towards the tips: from the motion of the start (in `passed`, with the carried rate) the rates,
// then the starts of the children.
static ALWAYS_INLINE void pass_up(FilReduced *data, int i, int d, double *x) {
    size_t n = (size_t)i;
    int m = d + 3;
    const double *S = data->theta + (size_t)(3 * d) * n, *D = data->travel + (size_t)(3 * d) * n;
    const double *L = data->pivot + 6 * n, *C = data->coupling + (size_t)(3 * m) * n;
    const double *z = data->passed + (size_t)m * n;
    double *e = x + data->root + 3 * n + (size_t)(d - 3), u[3], end[6];
    for (int c = 0; c < 3; c++) {
        double sum = e[c];
        for (int r = 0; r < m; r++) {
            sum -= C[c * m + r] * z[r];
        }
        u[c] = sum;
    }
    e[2] = u[2] * L[5];
    e[1] = (u[1] - L[4] * e[2]) * L[2];
    e[0] = (u[0] - L[1] * e[1] - L[3] * e[2]) * L[0];
    if (data->child[i] < 0) {
        return;
    }
    fil_cross3(z + 3, data->end_place + 3 * n, end);
    for (int c = 0; c < 3; c++) {
        end[c] += z[c];
        end[3 + c] = z[3 + c];
    }
    const double *k = x + data->root + 3 * n;
    for (int a = 0; a < d; a++) {
        fil_add3(k[a], D + 3 * a, end);
        fil_add3(k[a], S + 3 * a, end + 3);
    }
    for (int child = data->child[i]; child >= 0; child = data->sibling[child]) {
        double *to = data->passed + (size_t)m * (size_t)child;
        const double *T = data->turn + 9 * (size_t)child;
        fil_apply_transposed3(T, end, to);
        fil_apply_transposed3(T, end + 3, to + 3);
        if (d == 6) {
            fil_copy3(e, to + 6);
        }
    }
}

// The unknowns at the root, and the starts of the elements there.
static void solve_root(FilReduced *data, double *x) {
    double motion[INTERFACE], some[INTERFACE], part[3];
    int unknown[INTERFACE], n = list_unknowns(data, unknown), d = data->d;
    collect(data, data->first, d, motion, motion + 6);
    if (data->root == 6) {
        fil_apply_transposed3(data->root_axes, x, part);
        fil_add3(1.0, part, motion);
    }
    if (data->root > 0) {
        fil_apply_transposed3(data->root_axes, x + data->root - 3, part);
        fil_add3(1.0, part, motion + 3);
    }
    if (d == 6) {
        fil_add3(1.0, x + data->root, motion + 6);
    }
    for (int k = 0; k < n; k++) {
        some[k] = motion[unknown[k]];
    }
    fil_cholesky_solve(n, data->root_factor, data->root_first, some);
    memset(motion, 0, sizeof motion);
    for (int k = 0; k < n; k++) {
        motion[unknown[k]] = some[k];
    }
    if (data->root == 6) {
        fil_apply3(data->root_axes, motion, x);
    }
    if (data->root > 0) {
        fil_apply3(data->root_axes, motion + 3, x + data->root - 3);
    }
    if (d == 6) {
        fil_copy3(motion + 6, x + data->root);
    }
    for (int i = data->first; i >= 0; i = data->sibling[i]) {
        double *to = data->passed + (size_t)(d + 3) * (size_t)i;
        const double *T = data->turn + 9 * (size_t)i;
        fil_apply_transposed3(T, motion, to);
        fil_apply_transposed3(T, motion + 3, to + 3);
        if (d == 6) {
            fil_copy3(motion + 6, to + 6);
        }
    }
}

static ALWAYS_INLINE void solve(const FilRod *rod, int d, double *x) {
    FilReduced *data = fil_reduced(rod);
    for (int i = rod->element_count - 1; i >= 0; i--) {
        pass_down(data, i, d, x);
    }
    solve_root(data, x);
    for (int i = 0; i < rod->element_count; i++) {
        pass_up(data, i, d, x);
    }
}

void fil_recursive_solve(const FilRod *rod, double *x) {
    if (fil_reduced(rod)->d == 3) {
        solve(rod, 3, x);
    } else {
        solve(rod, 6, x);
    }
}
