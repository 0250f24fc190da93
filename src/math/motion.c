// motion.c - rigid motions prescribed by keys, swings and constant velocities.
//
// The turn is R = A B C with A = exp(turn of the keys), B = exp(swing), C = exp(spin times time);
// its angular velocity in world axes is w_A + A w_B + A B w_C, where d exp(a)/dt = [w]x exp(a) with
//     w = a' + (1 - cos th)/th^2 a x a' + (th - sin th)/th^3 a x (a x a'),   th = |a|.
//
// Keys. Each of the six numbers goes through its keys on cubics with the slopes of Fritsch and
// Carlson (1980): between two keys no value lies outside theirs, the slope is continuous, and it is
// 0 at extremes and at both ends.
#include "filum/motion.h"

#include <math.h>

#include "math/rotation.h"
#include "math/vec3.h"

typedef struct Vector {
    double value[3], rate[3];
} Vector;

FilMotion fil_motion_default(void) {
    return (FilMotion){.until = INFINITY};
}

// ------------------------------------------------------------------------------------------- keys

static double number_of(const FilMotionKey *key, int k) {
    return k < 3 ? key->at[k] : key->turn[k - 3];
}

static double secant(const FilMotion *m, int i, int k) {
    const FilMotionKey *key = m->keys + i;
    return (number_of(key + 1, k) - number_of(key, k)) / (key[1].time - key[0].time);
}

// Slope at key i: 0 at the ends and where the numbers turn back, else the weighted harmonic mean.
static double slope_at(const FilMotion *m, int i, int k) {
    if (i == 0 || i == m->key_count - 1) {
        return 0.0;
    }
    const double before = secant(m, i - 1, k), after = secant(m, i, k);
    if (!(before * after > 0.0)) {
        return 0.0;
    }
    const double h0 = m->keys[i].time - m->keys[i - 1].time;
    const double h1 = m->keys[i + 1].time - m->keys[i].time;
    return 3.0 * (h0 + h1) / ((2.0 * h1 + h0) / before + (h1 + 2.0 * h0) / after);
}

static void number_between(const FilMotion *m, int i, double time, int k, double out[2]) {
    const FilMotionKey *key = m->keys + i;
    const double h = key[1].time - key[0].time, u = (time - key[0].time) / h;
    const double a = number_of(key, k), d = secant(m, i, k);
    if (m->between == FIL_MOTION_LINEAR) {
        out[0] = a + u * h * d;
        out[1] = d;
        return;
    }
    const double s0 = slope_at(m, i, k), s1 = slope_at(m, i + 1, k);
    const double c2 = 3.0 * d - 2.0 * s0 - s1, c3 = s0 + s1 - 2.0 * d;
    out[0] = a + h * u * (s0 + u * (c2 + u * c3));
    out[1] = s0 + u * (2.0 * c2 + 3.0 * u * c3);
}

static void read_keys(const FilMotion *m, double time, Vector *at, Vector *turn) {
    *at = *turn = (Vector){0};
    if (m->key_count == 0) {
        return;
    }
    int low = 0, high = m->key_count - 1;
    const bool resting = !(time > m->keys[low].time) || time >= m->keys[high].time;
    const int rest = time >= m->keys[high].time ? high : low;
    while (!resting && high - low > 1) {
        const int middle = (low + high) / 2;
        *(m->keys[middle].time <= time ? &low : &high) = middle;
    }
    for (int k = 0; k < 6; k++) {
        double out[2] = {number_of(m->keys + rest, k), 0.0};
        if (!resting) {
            number_between(m, low, time, k, out);
        }
        Vector *vector = k < 3 ? at : turn;
        vector->value[k % 3] = out[0];
        vector->rate[k % 3] = out[1];
    }
}

// ------------------------------------------------------------------------------------ the motion

// The rotation of a rotation vector and its angular velocity.
static void turn_by(const Vector *a, double R[9], double spin[3]) {
    fil_rotation_exp(a->value, R);
    const double angle = fil_norm3(a->value), square = angle * angle;
    double cross[3], twice[3];
    fil_cross3(a->value, a->rate, cross);
    fil_cross3(a->value, cross, twice);
    const double half = sin(0.5 * angle);
    const bool small = angle < 1e-3; // the series is then exact to 1e-13
    const double b = small ? 0.5 - square / 24.0 : 2.0 * half * half / square;
    const double c = small ? 1.0 / 6.0 - square / 120.0 : (angle - sin(angle)) / (square * angle);
    for (int k = 0; k < 3; k++) {
        spin[k] = a->rate[k] + b * cross[k] + c * twice[k];
    }
}

// R <- R exp(a), spin <- spin + R w.
static void turn_further(const Vector *a, double R[9], double spin[3]) {
    double turn[9], product[9], own[3], moved[3];
    turn_by(a, turn, own);
    fil_apply3(R, own, moved);
    fil_add3(1.0, moved, spin);
    fil_multiply3(R, turn, product);
    for (int k = 0; k < 9; k++) {
        R[k] = product[k];
    }
}

// What swings and what goes on constantly.
static void read_swing(const FilMotion *m, double time, Vector *at, Vector *turn) {
    *turn = (Vector){0};
    if (!(m->swing_period > 0.0)) {
        return;
    }
    const double w = 2.0 * 3.14159265358979323846 / m->swing_period;
    const double sine = sin(w * time + m->swing_phase), slope = w * cos(w * time + m->swing_phase);
    for (int k = 0; k < 3; k++) {
        at->value[k] += sine * m->swing_at[k];
        at->rate[k] += slope * m->swing_at[k];
        turn->value[k] = sine * m->swing_turn[k];
        turn->rate[k] = slope * m->swing_turn[k];
    }
}

static void read_constant(const FilMotion *m, double time, Vector *at, Vector *turn) {
    const double passed = fmin(fmax(time, m->from), m->until) - m->from;
    const bool moving = time >= m->from && time < m->until;
    *turn = (Vector){0};
    for (int k = 0; k < 3; k++) {
        at->value[k] += passed * m->velocity[k];
        at->rate[k] += moving ? m->velocity[k] : 0.0;
        turn->value[k] = passed * m->spin[k];
        turn->rate[k] = moving ? m->spin[k] : 0.0;
    }
}

void fil_motion_at(const FilMotion *motion, double time, const FilPose *start, FilPose *pose,
                   FilRate *rate) {
    Vector at, turn;
    double R[9], spin[3], arm[3], moved[3], sweep[3];
    read_keys(motion, time, &at, &turn);
    turn_by(&turn, R, spin);
    read_swing(motion, time, &at, &turn);
    turn_further(&turn, R, spin);
    read_constant(motion, time, &at, &turn);
    turn_further(&turn, R, spin);
    fil_subtract3(start->position, motion->pivot, arm);
    fil_apply3(R, arm, moved);
    if (rate != NULL) {
        fil_cross3(spin, moved, sweep);
        for (int k = 0; k < 3; k++) {
            rate->velocity[k] = at.rate[k] + sweep[k];
            rate->spin[k] = spin[k];
        }
    }
    if (pose != NULL) {
        FilPose result;
        for (int k = 0; k < 3; k++) {
            result.position[k] = motion->pivot[k] + moved[k] + at.value[k];
            fil_apply3(R, start->axis[k], result.axis[k]);
        }
        *pose = result;
    }
}

void fil_motion_apply(void *motion, double time, FilPose *pose) {
    const FilPose start = *pose;
    fil_motion_at(motion, time, &start, pose, NULL);
}
