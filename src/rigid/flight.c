// flight.c - the free rotation of a rigid body, in closed form.
//
// In the world the angular momentum L stays; seen from the body, its direction n = R^T L / |L|
// obeys Euler's equations n' = n x w, w_k = |L| n_k / I_k, on the curve where
//     n1^2 + n2^2 + n3^2 = 1,    n1^2 / I1 + n2^2 / I2 + n3^2 / I3 = 2 E / |L|^2.
//
// Two equal moments, I1 = I2: n goes round the axis 3 evenly, and
//     R(t) = exp(t L / I1) R(0) exp(t |L| n3 (1/I3 - 1/I1) e3).
//
// Three different ones: let 2 be the axis of the middle moment, and 3 that of the largest or the
// smallest, whichever n goes round, turned so that n3 > 0. Then (Jacobi, 1849)
//     n = (a1 cn u, a2 sn u, a3 dn u),    u = u0 + s t,    parameter m,
//     D3 = |n1^2 (I1 - I3) / I1 + n2^2 (I2 - I3) / I2|,  a1^2 = D3 I1 / |I1 - I3|,
//     D1 = |n2^2 (I2 - I1) / I2 + n3^2 (I3 - I1) / I3|,  a2^2 = D3 I2 / |I2 - I3|,
//     m = D3 |I1 - I2| / (D1 |I3 - I2|) <= 1,            a3^2 = D1 I3 / |I3 - I1|,
//     s = sign(I3 - I2) |L| sqrt(D1 |I3 - I2| / (I1 I2 I3)).
// D1 and D3 keep their value, and have no cancellation. With A(n) the smallest rotation that turns
// n into the axis 3, and Z(chi) a turn about that axis,
//     R(t) = R(0) A(n(0))^T Z(chi) A(n(t)),    chi' = (2 E + |L| w3) / (|L| + I3 w3),
// which has no singularity. chi is a sum of Gauss over u, whole periods counted, not gone through.
// n(t) lies on the curve to round-off whatever chi is: momentum and energy are kept at any speed.
//
// sn, cn and dn at u0 + x come from those at u0, which are known without u0, and those at x, which
// come from the arithmetic-geometric mean, by the theorem of addition.
#include "flight.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

// Moments closer than this, relative, count as equal: the energy is then kept to as much.
static const double most_different = 1e-13;
// 1 - m at least: the motion between the two ways round, which never comes back, is taken for one
// that does after a very long time.
static const double least_rest = 1e-40;
static const double pi = 3.14159265358979323846;

void fil_rigid_turn(const double turn[3], const double q[4], double out[4]) {
    const double half = 0.5 * fil_norm3(turn);
    if (!(half > 0.0)) { // what is at rest does not change by a bit
        memcpy(out, q, 4 * sizeof *out);
        return;
    }
    const double factor = half > 1e-8 ? 0.5 * sin(half) / half : 0.5;
    const double by[4] = {cos(half), factor * turn[0], factor * turn[1], factor * turn[2]};
    fil_quaternion_multiply(by, q, out);
    const double length = sqrt(out[0] * out[0] + fil_dot3(out + 1, out + 1));
    for (int k = 0; k < 4; k++) {
        out[k] /= length;
    }
}

// ----------------------------------------------------------------------- two moments are equal

static bool are_equal(double a, double b) {
    return fabs(a - b) <= most_different * fmax(a, b);
}

static void fly_round_axis(const double moment[3], int axis, const double L[3], double dt,
                           const double q[4], double out[4]) {
    const double across = moment[(axis + 1) % 3];
    double R[9], own[3], turn[3], turned[4];
    fil_rotation_from_quaternion(q, R);
    fil_apply_transposed3(R, L, own);
    const double half = 0.5 * dt * own[axis] * (1.0 / moment[axis] - 1.0 / across);
    double about[4] = {cos(half), 0.0, 0.0, 0.0};
    about[1 + axis] = sin(half);
    fil_quaternion_multiply(q, about, turned);
    for (int k = 0; k < 3; k++) {
        turn[k] = dt * L[k] / across;
    }
    fil_rigid_turn(turn, turned, out);
}

// --------------------------------------------------------------------------- Jacobi's functions

typedef struct Jacobi {
    double sn, cn, dn;
} Jacobi;

enum { MOST_MEANS = 12 };

typedef struct Means {
    double m, rest; // m, 1 - m
    double a[MOST_MEANS], ratio[MOST_MEANS];
    int last;
    double half_period; // K(m): sn and cn change their sign after two of them
} Means;

static Means find_means(double m, double rest) {
    Means means = {.m = m, .rest = rest};
    double a = 1.0, b = sqrt(rest), c = sqrt(m);
    for (means.last = 0;; means.last++) {
        means.a[means.last] = a;
        means.ratio[means.last] = c / a;
        if (!(c > 1e-17 * a) || means.last == MOST_MEANS - 1) {
            break;
        }
        const double mean = 0.5 * (a + b);
        c = 0.25 * c * c / mean; // (a - b) / 2, without cancellation
        b = sqrt(a * b);
        a = mean;
    }
    means.half_period = 0.5 * pi / a;
    return means;
}

static Jacobi find_jacobi(const Means *means, double u) {
    double angle = ldexp(means->a[means->last] * u, means->last);
    for (int k = means->last; k > 0; k--) {
        angle = 0.5 * (angle + asin(fmax(-1.0, fmin(1.0, means->ratio[k] * sin(angle)))));
    }
    Jacobi j = {.sn = sin(angle), .cn = cos(angle)};
    j.dn = sqrt(j.cn * j.cn + means->rest * j.sn * j.sn);
    return j;
}

// Those at u0 + x, on the circle sn^2 + cn^2 = 1.
static Jacobi add(const Means *means, Jacobi u0, Jacobi x) {
    Jacobi j = {.sn = u0.sn * x.cn * x.dn + x.sn * u0.cn * u0.dn,
                .cn = u0.cn * x.cn - u0.sn * u0.dn * x.sn * x.dn};
    const double size = hypot(j.sn, j.cn);
    j.sn /= size;
    j.cn /= size;
    j.dn = sqrt(j.cn * j.cn + means->rest * j.sn * j.sn);
    return j;
}

// ------------------------------------------------------------------- three different moments

// The body's principal axes in the order of the formulas: number k is `sign[k]` times `axis[k]`.
typedef struct Tumble {
    int axis[3];
    double sign[3];
    double I[3];
    double n[3]; // the direction of the momentum
    double a[3];
    double speed;        // s / |L|
    double twice_energy; // 2 E / |L|^2
    Means means;
} Tumble;

// Axis 2 is that of the middle moment, axis 3 that of the largest or of the smallest; right-handed,
// n3 >= 0.
static void put_in_order(Tumble *t, const double moment[3], const double n[3], bool round_largest) {
    int order[3] = {0, 1, 2}; // from the smallest moment to the largest
    for (int k = 0; k < 3; k++) {
        const int i = k % 2, first = order[i];
        if (moment[first] > moment[order[i + 1]]) {
            order[i] = order[i + 1];
            order[i + 1] = first;
        }
    }
    t->axis[0] = order[round_largest ? 0 : 2];
    t->axis[1] = order[1];
    t->axis[2] = order[round_largest ? 2 : 0];
    t->sign[2] = n[t->axis[2]] < 0.0 ? -1.0 : 1.0;
    t->sign[1] = 1.0;
    const bool even = (t->axis[1] - t->axis[0] + 3) % 3 == 1;
    t->sign[0] = (even ? 1.0 : -1.0) * t->sign[2];
    for (int k = 0; k < 3; k++) {
        t->I[k] = moment[t->axis[k]];
        t->n[k] = t->sign[k] * n[t->axis[k]];
    }
}

// The parameter m of the curve; above 1 n does not go round axis 3, but round the other one.
static double find_curve(Tumble *t) {
    const double *I = t->I;
    const double x = t->n[0] * t->n[0], y = t->n[1] * t->n[1], z = t->n[2] * t->n[2];
    const double I12 = fabs(I[0] - I[1]), I13 = fabs(I[0] - I[2]), I23 = fabs(I[1] - I[2]);
    const double D3 = x * I13 / I[0] + y * I23 / I[1], D1 = y * I12 / I[1] + z * I13 / I[2];
    const double m = D3 * I12 / (D1 * I23);
    // (I2 - I1) n1^2 / I1 and (I2 - I3) n3^2 / I3 have different signs
    const double rest = I13 * (z * I23 / I[2] - x * I12 / I[0]) / (D1 * I23);
    t->a[0] = sqrt(D3 * I[0] / I13);
    t->a[1] = sqrt(D3 * I[1] / I23);
    t->a[2] = sqrt(D1 * I[2] / I13);
    t->speed = copysign(sqrt(D1 * I23 / (I[0] * I[1] * I[2])), I[2] - I[1]);
    t->twice_energy = x / I[0] + y / I[1] + z / I[2];
    t->means = find_means(fmin(m, 1.0), fmax(rest, least_rest));
    return m;
}

static Jacobi find_start(const Tumble *t) {
    Jacobi j = {.sn = 0.0, .cn = 1.0};
    const double size = t->a[0] > 0.0 ? hypot(t->n[0] / t->a[0], t->n[1] / t->a[1]) : 0.0;
    if (size > 0.0) {
        j.cn = t->n[0] / t->a[0] / size;
        j.sn = t->n[1] / t->a[1] / size;
    }
    j.dn = sqrt(j.cn * j.cn + t->means.rest * j.sn * j.sn);
    return j;
}

// The integral of chi' / |L| over |L| dt from u0 to u0 + x: Gauss's sum on pieces of length 1.
static double find_phase(const Tumble *t, Jacobi u0, double x) {
    static const double at[4] = {0.18343464249564980, 0.52553240991632899, 0.79666647741362674,
                                 0.96028985649753623};
    static const double weight[4] = {0.36268378337836198, 0.31370664587788729, 0.22238103445337447,
                                     0.10122853629037626};
    const int pieces = (int)fmax(1.0, ceil(fabs(x)));
    const double half = 0.5 * x / pieces;
    double sum = 0.0;
    for (int i = 0; i < pieces; i++) {
        for (int k = 0; k < 8; k++) {
            const double from = k % 2 == 0 ? at[k / 2] : -at[k / 2];
            const Jacobi j = add(&t->means, u0, find_jacobi(&t->means, half * (2 * i + 1 + from)));
            const double n3 = t->a[2] * j.dn;
            sum += weight[k / 2] * (t->twice_energy + n3 / t->I[2]) / (1.0 + n3);
        }
    }
    return sum * half / t->speed;
}

// The smallest rotation that turns n, n3 >= 0, into the axis 3.
static void find_section(const double n[3], double q[4]) {
    const double size = sqrt(n[0] * n[0] + n[1] * n[1] + (1.0 + n[2]) * (1.0 + n[2]));
    q[0] = (1.0 + n[2]) / size;
    q[1] = n[1] / size;
    q[2] = -n[0] / size;
    q[3] = 0.0;
}

// How the body turns, seen from its own axes, in those of the formulas.
static void find_turn(const Tumble *t, double size, double dt, double turn[4]) {
    const Jacobi u0 = find_start(t);
    const double period = 2.0 * t->means.half_period, way = t->speed * size * dt;
    const double periods = trunc(way / period), x = fmod(way, period);
    const Jacobi u = add(&t->means, u0, find_jacobi(&t->means, x));
    const double mirror = fmod(periods, 2.0) != 0.0 ? -1.0 : 1.0;
    const double n[3] = {mirror * t->a[0] * u.cn, mirror * t->a[1] * u.sn, t->a[2] * u.dn};
    const double chi =
        find_phase(t, u0, x) + (periods != 0.0 ? periods * find_phase(t, u0, period) : 0.0);
    double from[4], to[4], about[4] = {cos(0.5 * chi), 0.0, 0.0, sin(0.5 * chi)}, half[4];
    find_section(t->n, from);
    find_section(n, to);
    from[1] = -from[1];
    from[2] = -from[2];
    fil_quaternion_multiply(from, about, half);
    fil_quaternion_multiply(half, to, turn);
}

static void tumble(const double moment[3], const double L[3], double dt, const double q[4],
                   double out[4]) {
    const double size = fil_norm3(L);
    double R[9], n[3];
    fil_rotation_from_quaternion(q, R);
    fil_apply_transposed3(R, L, n);
    const double own_size = fil_norm3(n);
    for (int k = 0; k < 3; k++) {
        n[k] /= own_size;
    }
    Tumble t;
    put_in_order(&t, moment, n, true);
    if (!(find_curve(&t) <= 1.0)) {
        put_in_order(&t, moment, n, false);
        (void)find_curve(&t);
    }
    double turn[4], own[4];
    find_turn(&t, size, dt, turn);
    own[0] = turn[0];
    for (int k = 0; k < 3; k++) {
        own[1 + t.axis[k]] = t.sign[k] * turn[1 + k];
    }
    fil_quaternion_multiply(q, own, out);
    const double length = sqrt(out[0] * out[0] + fil_dot3(out + 1, out + 1));
    for (int k = 0; k < 4; k++) {
        out[k] /= length;
    }
}

void fil_rigid_fly(const double moment[3], const double L[3], double dt, const double q[4],
                   double out[4]) {
    if (!(fil_norm3(L) > 0.0)) {
        memcpy(out, q, 4 * sizeof *out);
        return;
    }
    for (int k = 0; k < 3; k++) {
        if (are_equal(moment[(k + 1) % 3], moment[(k + 2) % 3])) {
            fly_round_axis(moment, k, L, dt, q, out);
            return;
        }
    }
    tumble(moment, L, dt, q, out);
}
