// corde_energy.c - the elastic energies of positions and quaternions, and their derivatives.
//
// Edge. With e the edge vector, t = e / |e|, l its rest length and n = n0 of its frame,
//     E = EA/2 l (|e|/l - 1)^2 + C/2 l |t - n|^2,      |t - n|^2 = 2 (1 - t.n).
// The coupling (Spillmann and Teschner 2007, their E_p) in the axes of the frame is
// C/2 l |R^T t - e0|^2; the rate of R^T t does not see rigid motions, so its Gauss-Newton matrix
//     C l G^T G,   G (de, w) = P de / |e| - w x t,   P = I - t t^T
// is both the safeguarded Hessian and the matrix of an objective internal damping. Exactly:
//     E_e  = T t - C l P n / |e|,                     T = EA (|e|/l - 1)
//     E_w  = C l t x n
//     E_ee = EA/l t t^T + T/|e| P + C l/|e|^2 ((t.n) P + t (Pn)^T + (Pn) t^T)
//     E_ew = C l/|e| P [n]x
//     E_ww = C l ((t.n) I - (t n^T + n t^T)/2)
// where the last one is along exp(w), which makes it symmetric.
//
// Joint. The turn from frame a to frame b is phi = 2 log(conj(q_a) q_b): for constant curvature it
// is curvature times distance, exactly, up to half a turn (2 Im(conj(q_a) q_b), the other usual
// form, falls short by phi^3/24 and cannot hold a moment above 2 K/l). With stiffness k,
//     E = 1/2 (phi - phi0)^T k (phi - phi0),   dphi = J u,   u = R_a^T (w_b - w_a)
//     J(phi) = I - 1/2 [phi]x + c [phi]x^2,    c = (1 - (p/2) cot(p/2)) / p^2,   p = |phi|.
// So the moment in the axes of a is J^T m, m = k (phi - phi0): equal and opposite on the two
// frames. Its derivative along phi, with J^T m = m + 1/2 phi x m + c phi x (phi x m), is
//     k-part + 1/2 d x m + c'/p (phi.d) phi x (phi x m) + c (d x (phi x m) + phi x (d x m)).
//
// Between frames. The frame R_a exp(x phi) turns with w_a + B d, d = w_b - w_a and, in the axes of
// a, B = x D(x phi) J(phi), D = J^-1 = I + a [psi]x + b [psi]x^2 at psi = x phi. While both frames
// turn uniformly this changes at the rate
//     w_a x B d - B (w_a x d) + x^2 D'(x phi; J d) J d + x D J'(phi; J d) d,
// which, times a torque, is the quadratic form of fil_corde_between_torque().
#include "corde_energy.h"

#include "math/rotation.h"
#include "math/vec3.h"

// --- edges ---------------------------------------------------------------------------------------

// t = e / |e|. An edge shrunk to nothing has no direction: below a millionth of its rest length the
// direction fades out, and nothing divides by zero.
static double find_tangent(const FilCordeEdge *edge, const double e[3], double t[3]) {
    double length = fmax(fil_norm3(e), 1e-6 * edge->length);
    for (int k = 0; k < 3; k++) {
        t[k] = e[k] / length;
    }
    return length;
}

double fil_corde_edge_energy(const FilCordeEdge *edge, const double e[3], const double n[3],
                             double *couple) {
    double t[3], gap[3];
    double length = find_tangent(edge, e, t);
    double strain = (length - edge->length) / edge->length;
    fil_subtract3(t, n, gap);
    *couple = 0.5 * edge->couple * edge->length * fil_dot3(gap, gap);
    return 0.5 * edge->stretch * edge->length * strain * strain;
}

void fil_corde_edge_gradient(const FilCordeEdge *edge, const double e[3], const double n[3],
                             double force[3], double torque[3]) {
    double t[3], turn[3];
    double length = find_tangent(edge, e, t);
    double tension = edge->stretch * (length - edge->length) / edge->length;
    double couple = edge->couple * edge->length;
    double along = fil_dot3(t, n);
    fil_cross3(t, n, turn);
    for (int k = 0; k < 3; k++) {
        force[k] = tension * t[k] - couple / length * (n[k] - along * t[k]);
        torque[k] = couple * turn[k];
    }
}

void fil_corde_edge_hessian(const FilCordeEdge *edge, const double e[3], const double n[3],
                            FilCordeEdgeHessian *hessian) {
    double t[3], Pn[3], N[9], Pt[9];
    double length = find_tangent(edge, e, t);
    double tension = edge->stretch * (length - edge->length) / edge->length;
    double couple = edge->couple * edge->length;
    double along = fil_dot3(t, n);
    double string = tension / length + couple * along / (length * length);
    for (int k = 0; k < 3; k++) {
        Pn[k] = n[k] - along * t[k];
    }
    fil_cross_matrix3(n, N);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double same = i == j ? 1.0 : 0.0;
            Pt[3 * i + j] = same - t[i] * t[j];
            hessian->ee[3 * i + j] = edge->stretch / edge->length * t[i] * t[j] +
                                     string * Pt[3 * i + j] +
                                     couple / (length * length) * (t[i] * Pn[j] + Pn[i] * t[j]);
            hessian->ww[3 * i + j] = couple * (along * same - 0.5 * (t[i] * n[j] + n[i] * t[j]));
        }
    }
    fil_multiply3(Pt, N, hessian->ew);
    for (int k = 0; k < 9; k++) {
        hessian->ew[k] *= couple / length;
    }
}

void fil_corde_edge_stiffness(const FilCordeEdge *edge, const double e[3], double tension,
                              FilCordeEdgeHessian *hessian) {
    double t[3];
    double length = find_tangent(edge, e, t);
    double couple = edge->couple * edge->length;
    double axial = edge->stretch / edge->length;
    double string = tension / length + couple / (length * length);
    fil_cross_matrix3(t, hessian->ew);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double P = (i == j ? 1.0 : 0.0) - t[i] * t[j];
            hessian->ee[3 * i + j] = axial * t[i] * t[j] + string * P;
            hessian->ew[3 * i + j] *= couple / length;
            hessian->ww[3 * i + j] = couple * P;
        }
    }
}

// The change of R^T t, turned into shape 1, is t1 - R1 R0^T t0.
void fil_corde_edge_change(const FilCordeEdge *edge, const double *const e[2],
                           const double *const R[2], double force[3], double torque[3]) {
    double t[2][3], body[3], old[3], change[3], turn[3];
    double before = find_tangent(edge, e[0], t[0]), length = find_tangent(edge, e[1], t[1]);
    double axial = edge->stretch / edge->length * (length - before);
    double couple = edge->couple * edge->length;
    fil_apply_transposed3(R[0], t[0], body);
    fil_apply3(R[1], body, old);
    fil_subtract3(t[1], old, change);
    double along = fil_dot3(t[1], change);
    fil_cross3(t[1], change, turn);
    for (int k = 0; k < 3; k++) {
        force[k] = axial * t[1][k] + couple / length * (change[k] - along * t[1][k]);
        torque[k] = -couple * turn[k];
    }
}

// --- joints --------------------------------------------------------------------------------------

void fil_corde_turn(const double qa[4], const double qb[4], double turn[3]) {
    const double back[4] = {qa[0], -qa[1], -qa[2], -qa[3]};
    double p[4];
    fil_quaternion_multiply(back, qb, p);
    const double square = fil_dot3(p + 1, p + 1), y = square / (p[0] * p[0]); // tan^2(angle / 2)
    const double sign = p[0] < 0.0 ? -1.0 : 1.0;
    double factor;
    if (y < 2.5e-3) { // where the series of the arc tangent has all digits
        factor = 1.0 / 7.0 - y * (1.0 / 9.0 - y * (1.0 / 11.0 - y * (1.0 / 13.0)));
        factor = 1.0 - y * (1.0 / 3.0 - y * (1.0 / 5.0 - y * factor));
        factor *= 2.0 / fabs(p[0]);
    } else {
        const double sine = sqrt(square);
        factor = 2.0 * atan2(sine, fabs(p[0])) / sine;
    }
    for (int k = 0; k < 3; k++) {
        turn[k] = sign * factor * p[k + 1];
    }
}

// c and c'/p of J for the angle whose square is s. The series loses nothing up to 0.3 rad, where
// the closed forms have lost 3 digits.
static void find_coefficients(double s, double *c, double *slope) {
    if (s < 0.09) {
        static const double a[6] = {1.0 / 12.0,      1.0 / 720.0,      1.0 / 30240.0,
                                    1.0 / 1209600.0, 1.0 / 47900160.0, 691.0 / 1307674368000.0};
        *c = a[0] + s * (a[1] + s * (a[2] + s * (a[3] + s * (a[4] + s * a[5]))));
        *slope =
            2.0 * (a[1] + s * (2.0 * a[2] + s * (3.0 * a[3] + s * (4.0 * a[4] + s * 5.0 * a[5]))));
        return;
    }
    double half = 0.5 * sqrt(s), sine = sin(half);
    double f = half * cos(half) / sine;
    *c = (1.0 - f) / s;
    *slope = (half * half / (sine * sine) - f - 2.0 * (1.0 - f)) / (s * s);
}

// out = I + a [phi]x + b [phi]x^2.
static void fill_polynomial(const double phi[3], double a, double b, double out[9]) {
    double s = fil_dot3(phi, phi);
    fil_cross_matrix3(phi, out);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double same = i == j ? 1.0 : 0.0;
            out[3 * i + j] = same + a * out[3 * i + j] + b * (phi[i] * phi[j] - s * same);
        }
    }
}

static void fill_J(const double phi[3], double J[9]) {
    double c, slope;
    find_coefficients(fil_dot3(phi, phi), &c, &slope);
    fill_polynomial(phi, -0.5, c, J);
}

static void find_m(const FilCordeJoint *joint, const double turn[3], double m[3]) {
    for (int k = 0; k < 3; k++) {
        m[k] = joint->stiffness[k] * (turn[k] - joint->rest[k]);
    }
}

double fil_corde_joint_bend(const FilCordeJoint *joint, const double turn[3]) {
    double m[3];
    find_m(joint, turn, m);
    return 0.5 * (m[1] * (turn[1] - joint->rest[1]) + m[2] * (turn[2] - joint->rest[2]));
}

double fil_corde_joint_twist(const FilCordeJoint *joint, const double turn[3]) {
    double off = turn[0] - joint->rest[0];
    return 0.5 * joint->stiffness[0] * off * off;
}

void fil_corde_joint_moment(const FilCordeJoint *joint, const double turn[3], double moment[3]) {
    double J[9], m[3];
    fill_J(turn, J);
    find_m(joint, turn, m);
    fil_apply_transposed3(J, m, moment);
}

void fil_corde_joint_change(const FilCordeJoint *joint, const double turn0[3],
                            const double turn1[3], double moment[3]) {
    double J[9], m[3];
    fill_J(turn1, J);
    for (int k = 0; k < 3; k++) {
        m[k] = joint->stiffness[k] * (turn1[k] - turn0[k]);
    }
    fil_apply_transposed3(J, m, moment);
}

void fil_corde_joint_stiffness(const FilCordeJoint *joint, const double turn[3],
                               double stiffness[9]) {
    double J[9];
    fill_J(turn, J);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                sum += J[3 * k + i] * joint->stiffness[k] * J[3 * k + j];
            }
            stiffness[3 * i + j] = sum;
        }
    }
}

// Column d of the derivative of J^T m at constant m.
static void turn_moment(const double phi[3], const double m[3], const double d[3], double out[3]) {
    double c, slope, xm[3], xxm[3], dm[3], dxm[3], xdm[3];
    find_coefficients(fil_dot3(phi, phi), &c, &slope);
    fil_cross3(phi, m, xm);
    fil_cross3(phi, xm, xxm);
    fil_cross3(d, m, dm);
    fil_cross3(d, xm, dxm);
    fil_cross3(phi, dm, xdm);
    double along = slope * fil_dot3(phi, d);
    for (int k = 0; k < 3; k++) {
        out[k] = 0.5 * dm[k] + along * xxm[k] + c * (dxm[k] + xdm[k]);
    }
}

void fil_corde_joint_hessian(const FilCordeJoint *joint, const double turn[3], double hessian[9]) {
    double J[9], m[3], N[9];
    fill_J(turn, J);
    find_m(joint, turn, m);
    fil_corde_joint_stiffness(joint, turn, hessian);
    for (int j = 0; j < 3; j++) {
        double d[3] = {J[j], J[3 + j], J[6 + j]}, column[3];
        turn_moment(turn, m, d, column);
        for (int i = 0; i < 3; i++) {
            N[3 * i + j] = column[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            hessian[3 * i + j] += 0.5 * (N[3 * i + j] + N[3 * j + i]);
        }
    }
}

// --- between frames ------------------------------------------------------------------------------

// a = (1 - cos p) / p^2 and b = (p - sin p) / p^3 for the angle p whose square is s.
static void find_inverse_coefficients(double s, double *a, double *b) {
    double p = sqrt(s), half = p > 1e-8 ? sin(0.5 * p) / p : 0.5;
    *a = 2.0 * half * half;
    *b = s < 0.09 ? 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362880.0))
                  : (p - sin(p)) / (s * p);
}

// The inverse of J: the spin of exp(phi) for a rate of phi. I + a [phi]x + b [phi]x^2.
static void fill_J_inverse(const double phi[3], double out[9]) {
    double a, b;
    find_inverse_coefficients(fil_dot3(phi, phi), &a, &b);
    fill_polynomial(phi, a, b, out);
}

// out += factor (u x v) and out += factor (u x (w x v)).
static void add_cross(double factor, const double u[3], const double v[3], double out[3]) {
    double part[3];
    fil_cross3(u, v, part);
    fil_add3(factor, part, out);
}

static void add_twice(double factor, const double u[3], const double w[3], const double v[3],
                      double out[3]) {
    double part[3];
    fil_cross3(w, v, part);
    add_cross(factor, u, part, out);
}

// The derivative along d of (I + a [phi]x + b [phi]x^2) v, where a and b change by their slopes
// times phi . d.
static void vary_polynomial(const double phi[3], const double d[3], const double v[3],
                            const double value[2], const double slope[2], double out[3]) {
    double along = fil_dot3(phi, d);
    out[0] = out[1] = out[2] = 0.0;
    add_cross(value[0], d, v, out);
    add_cross(slope[0] * along, phi, v, out);
    add_twice(value[1], d, phi, v, out);
    add_twice(value[1], phi, d, v, out);
    add_twice(slope[1] * along, phi, phi, v, out);
}

static void vary_J(const double phi[3], const double d[3], const double v[3], double out[3]) {
    double value[2] = {-0.5, 0.0}, slope[2] = {0.0, 0.0};
    find_coefficients(fil_dot3(phi, phi), &value[1], &slope[1]);
    vary_polynomial(phi, d, v, value, slope, out);
}

static void vary_J_inverse(const double phi[3], const double d[3], const double v[3],
                           double out[3]) {
    double s = fil_dot3(phi, phi), value[2], slope[2];
    find_inverse_coefficients(s, &value[0], &value[1]);
    if (s < 0.09) {
        slope[0] = -1.0 / 12.0 + s * (1.0 / 180.0 - s * (1.0 / 6720.0 - s / 453600.0));
        slope[1] = -1.0 / 60.0 + s * (1.0 / 1260.0 - s * (1.0 / 60480.0 - s / 4989600.0));
    } else {
        slope[0] = (sin(sqrt(s)) / sqrt(s) - 2.0 * value[0]) / s;
        slope[1] = (value[0] - 3.0 * value[1]) / s;
    }
    vary_polynomial(phi, d, v, value, slope, out);
}

void fil_corde_between(const double turn[3], double x, double B[9]) {
    double part[3] = {x * turn[0], x * turn[1], x * turn[2]}, inverse[9], J[9];
    fill_J_inverse(part, inverse);
    fill_J(turn, J);
    fil_multiply3(inverse, J, B);
    for (int k = 0; k < 9; k++) {
        B[k] *= x;
    }
}

// The quadratic form for the spins w = (w_a, w_b).
static double spin_torque(const double turn[3], double x, const double torque[3],
                          const double w[6]) {
    double d[3], B[9], J[9], D[9], p[3], Bd[3], wd[3], Bwd[3], sum[3], part[3], turned[3];
    double psi[3] = {x * turn[0], x * turn[1], x * turn[2]};
    fil_subtract3(w + 3, w, d);
    fil_corde_between(turn, x, B);
    fill_J(turn, J);
    fill_J_inverse(psi, D);
    fil_apply3(J, d, p);
    fil_apply3(B, d, Bd);
    fil_cross3(w, Bd, sum);
    fil_cross3(w, d, wd);
    fil_apply3(B, wd, Bwd);
    fil_add3(-1.0, Bwd, sum);
    vary_J_inverse(psi, p, p, part);
    fil_add3(x * x, part, sum);
    vary_J(turn, p, d, part);
    fil_apply3(D, part, turned);
    fil_add3(x, turned, sum);
    return fil_dot3(torque, sum);
}

void fil_corde_between_torque(const double turn[3], double x, const double torque[3],
                              double S[36]) {
    double alone[6];
    for (int i = 0; i < 6; i++) {
        double w[6] = {0.0};
        w[i] = 1.0;
        alone[i] = spin_torque(turn, x, torque, w);
        S[7 * i] = alone[i];
        for (int j = 0; j < i; j++) {
            w[j] = 1.0;
            S[6 * i + j] = 0.5 * (spin_torque(turn, x, torque, w) - alone[i] - alone[j]);
            S[6 * j + i] = S[6 * i + j];
            w[j] = 0.0;
        }
    }
}

void fil_corde_rotate(const double w[3], double q[4]) {
    double angle = fil_norm3(w), p[4], out[4];
    double factor = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5;
    p[0] = cos(0.5 * angle);
    for (int k = 0; k < 3; k++) {
        p[k + 1] = factor * w[k];
    }
    fil_quaternion_multiply(p, q, out);
    double norm = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    for (int k = 0; k < 4; k++) {
        q[k] = out[k] / norm;
    }
}
