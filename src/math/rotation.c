// rotation.c - rotations as matrices and quaternions.
//
// exp uses I + A [a]x + B [a]x^2 with A = sin t / t, B = (1 - cos t) / t^2 = 2 sin^2(t/2) / t^2,
// both without cancellation. log goes through the quaternion, which keeps every digit near half
// turns, where the antisymmetric part of R vanishes.
#include "rotation.h"

#include "vec3.h"

void fil_rotation_exp(const double a[3], double out[9]) {
    double t = fil_norm3(a);
    double half = 0.5 * t;
    double sine = t > 1e-8 ? sin(half) / half : 1.0; // sin(t/2) / (t/2)
    double A = sine * cos(half);
    double B = 0.5 * sine * sine;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] = B * a[i] * a[j];
        }
    }
    double diagonal = 1.0 - B * t * t;
    out[0] += diagonal;
    out[4] += diagonal;
    out[8] += diagonal;
    out[1] -= A * a[2];
    out[2] += A * a[1];
    out[3] += A * a[2];
    out[5] -= A * a[0];
    out[6] -= A * a[1];
    out[7] += A * a[0];
}

void fil_rotation_log(const double R[9], double a[3]) {
    double q[4];
    fil_rotation_to_quaternion(R, q);
    double sine = fil_norm3(q + 1);
    double factor = sine > 1e-8 ? 2.0 * atan2(sine, q[0]) / sine : 2.0;
    for (int k = 0; k < 3; k++) {
        a[k] = factor * q[k + 1];
    }
}

void fil_rotation_from_quaternion(const double q[4], double R[9]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double s = 2.0 / (w * w + x * x + y * y + z * z);
    R[0] = 1.0 - s * (y * y + z * z);
    R[1] = s * (x * y - w * z);
    R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z);
    R[4] = 1.0 - s * (x * x + z * z);
    R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y);
    R[7] = s * (y * z + w * x);
    R[8] = 1.0 - s * (x * x + y * y);
}

// Four times the square of each component is known from the diagonal; the largest is divided by.
void fil_rotation_to_quaternion(const double R[9], double q[4]) {
    double square[4] = {1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8],
                        1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]};
    int largest = 0;
    for (int k = 1; k < 4; k++) {
        largest = square[k] > square[largest] ? k : largest;
    }
    double product[4][4]; // 4 q_i q_j
    product[0][1] = R[7] - R[5];
    product[0][2] = R[2] - R[6];
    product[0][3] = R[3] - R[1];
    product[1][2] = R[1] + R[3];
    product[1][3] = R[2] + R[6];
    product[2][3] = R[5] + R[7];
    for (int i = 0; i < 4; i++) {
        product[i][i] = square[i];
        for (int j = 0; j < i; j++) {
            product[i][j] = product[j][i];
        }
    }
    double norm = 0.0;
    for (int k = 0; k < 4; k++) {
        q[k] = product[largest][k];
        norm += q[k] * q[k];
    }
    double scale = (q[0] < 0.0 ? -1.0 : 1.0) / sqrt(norm);
    for (int k = 0; k < 4; k++) {
        q[k] *= scale;
    }
}

void fil_quaternion_multiply(const double a[4], const double b[4], double out[4]) {
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// A unit vector at right angles to the unit vector a.
static void find_normal(const double a[3], double out[3]) {
    int smallest = 0;
    for (int k = 1; k < 3; k++) {
        smallest = fabs(a[k]) < fabs(a[smallest]) ? k : smallest;
    }
    double e[3] = {0.0, 0.0, 0.0};
    e[smallest] = 1.0;
    fil_cross3(a, e, out);
    double norm = fil_norm3(out);
    for (int k = 0; k < 3; k++) {
        out[k] /= norm;
    }
}

// The quaternion (1 + a.b, a x b), written as (|m|^2 / 2, a x m) with m = a + b, so that digits
// remain when the two are nearly opposite.
void fil_rotation_between(const double a[3], const double b[3], double R[9]) {
    double m[3], q[4];
    for (int k = 0; k < 3; k++) {
        m[k] = a[k] + b[k];
    }
    q[0] = 0.5 * fil_dot3(m, m);
    fil_cross3(a, m, q + 1);
    if (!(fil_dot3(m, m) > 1e-28)) {
        q[0] = 0.0;
        find_normal(a, q + 1);
    }
    fil_rotation_from_quaternion(q, R);
}

// One step of Newton for the polar factor: R <- R (3 I - R^T R) / 2.
void fil_rotation_polish(double R[9]) {
    double G[9], out[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j];
            G[3 * i + j] = 0.5 * ((i == j ? 3.0 : 0.0) - sum);
        }
    }
    fil_multiply3(R, G, out);
    for (int k = 0; k < 9; k++) {
        R[k] = out[k];
    }
}
